"""What the label column asks for: classes with names, or a number to be predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.corpus.labels import whole
from theodolite.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_LAYERS = 10_000


@dataclass(frozen=True)
class Task:
    """Classes by name, or a regression (no names)."""

    names: tuple[str, ...]

    @property
    def regression(self) -> bool:
        return not self.names

    def targets(self, labels: Sequence[Any], where: str) -> Floats:
        """(n,) class numbers, or the numbers themselves."""
        if self.regression:
            if any(isinstance(label, str | bool) for label in labels):
                raise InputError(f"{where}: its labels are not numbers, which a regression needs; use --task classes")
            return np.array(labels, np.float64)
        numbers = {name: i for i, name in enumerate(self.names)}
        unknown = sorted({class_name(label) for label in labels} - set(numbers))
        if unknown:
            raise InputError(f"{where}: the label {unknown[0]} is none of the training corpus's: {_some(self.names)}")
        return np.array([numbers[class_name(label)] for label in labels], np.float64)


def task_of(asked: str, labels: Sequence[Any], where: str) -> Task:
    """The task that labels, none of them missing, are for; numbers that are not whole ask for a regression.

    >>> task_of("auto", [10, 9, 9], "corpus").names
    ('9', '10')
    >>> task_of("auto", [0.5, 1.0], "corpus").regression
    True
    """
    if asked == "regression" or (asked == "auto" and any(isinstance(x, float) and not x.is_integer() for x in labels)):
        if len(set(labels)) == 1:
            raise InputError(f"{where}: every label is {labels[0]}: there is nothing to learn")
        return Task(())
    different = sorted({whole(label) for label in labels})
    if len(different) == 1:
        raise InputError(f"{where}: one class only ({class_name(different[0])}); a classifier needs two")
    return Task(tuple(class_name(label) for label in different))


def class_name(label: Any) -> str:
    """A label as the name of a class: 1.0 is '1', and " good" is 'good'."""
    return str(whole(label))


def class_weights(asked: str, counts: Ints) -> Floats | None:
    """(classes,) weights that make every class count the same, where asked for or the classes are uneven.

    >>> class_weights("auto", np.array([30, 10]))
    array([0.66666667, 2.        ])
    >>> class_weights("auto", np.array([15, 10])) is None
    True
    """
    if asked == "none" or (asked == "auto" and counts.max() <= 1.5 * counts.min()):
        return None
    found: Floats = counts.sum() / (len(counts) * counts)
    return found


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def frozen_layers(what: str) -> frozenset[int]:
    """The layers that `embeddings,2-4` names, 0 the embedding layer.

    >>> sorted(frozen_layers("embeddings,2-4,6"))
    [0, 2, 3, 4, 6]
    """
    found: set[int] = set()
    for part in what.split(","):
        first, dash, last = ("0", "", "0") if part.strip() == "embeddings" else part.strip().partition("-")
        ends = (first, last if dash else first)
        if not all(end.isascii() and end.isdigit() for end in ends) or int(ends[0]) > int(ends[1]):
            raise InputError(f"--freeze {what}: not none, all, or layers such as embeddings,1-3")
        if int(ends[1]) > MOST_LAYERS:
            raise InputError(f"--freeze {what}: no model has {ends[1]} layers")
        found |= set(range(int(ends[0]), int(ends[1]) + 1))
    return frozenset(found)

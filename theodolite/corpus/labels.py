"""What a label says: whether there is one, and which of a classifier's classes it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.errors import InputError


def is_missing(label: Any) -> bool:
    """Whether a row has no label: nothing there, blanks alone, or no finite number.

    >>> [is_missing(label) for label in (None, " ", float("nan"), 0, "0", False)]
    [True, True, True, False, False, False]
    """
    if isinstance(label, str):
        return not label.strip()
    return label is None or not math.isfinite(label)


def whole(label: Any) -> Any:
    """A float that is a whole number as that, since a column with a gap in it is read as floats; a name without the
    blanks around it.

    >>> whole(1.0), whole(0.5), whole(" 1.0")
    (1, 0.5, '1.0')
    """
    if isinstance(label, str):
        return label.strip()
    return int(label) if isinstance(label, float) and label.is_integer() else label


def class_numbers(labels: Sequence[Any], names: Sequence[str], whose: str, where: str) -> NDArray[np.int64]:
    """(n,) the class of each label, -1 where there is none: all are names of classes, or else all are numbers of them.

    Not one a name and the other a number: where the classes are called 1, 2 and 3 and the labels are 0, 1 and 2, the
    label 1 is the second class, not the one of that name.

    >>> class_numbers([2, 1, None], ["1", "2", "3"], "it", "here").tolist()
    [1, 0, -1]
    >>> class_numbers([2, 1, 0], ["1", "2", "3"], "it", "here").tolist()
    [2, 1, 0]
    """
    given = [None if is_missing(label) else whole(label) for label in labels]
    rows: dict[Any, int] = {}
    for row, label in enumerate(given, 1):
        if label is not None:
            rows.setdefault(label, row)
    unnamed = [label for label in rows if str(label) not in names]
    unnumbered = [label for label in rows if not is_number_of(label, names)]
    if unnamed and unnumbered:
        # Where some are names, the one at fault is one that is none.
        fault = (unnamed if len(unnamed) < len(rows) else unnumbered)[0]
        raise no_class(fault, names, whose, f"{where}, row {rows[fault]}")
    numbers = {label: int(label) if unnamed else names.index(str(label)) for label in rows}
    return np.array([-1 if label is None else numbers[label] for label in given], np.int64)


def is_number_of(label: Any, names: Sequence[str]) -> bool:
    """Whether it is the number of a class, from 0."""
    return not isinstance(label, bool) and isinstance(label, Integral) and 0 <= int(label) < len(names)


def no_class(label: Any, names: Sequence[str], whose: str, where: str) -> InputError:
    """What is said of a label that is none of a classifier's classes."""
    return InputError(f"{where}: the label {label!r} is none of {whose}'s: {', '.join(names)}")

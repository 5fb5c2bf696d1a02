"""Salience maps of a corpus as flat arrays: what every analysis is made from. NumPy only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from theodolite.encoder.maps import FIRST, SECOND, SPECIAL
from theodolite.encoder.tokens import flat_ranges

__all__ = ["FIRST", "SECOND", "SPECIAL", "UNLABELLED", "Floats", "Ints", "TextMaps", "softmax", "together"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

UNLABELLED = -1


@dataclass(frozen=True)
class TextMaps:
    """The maps of n texts of one corpus by one method, t tokens in all, special tokens in their places.

    rows: (n,) ascending, their rows in the corpus; bounds: (n + 1,) each one's tokens; ids: (t,) vocabulary items;
    start, end: (t,) characters in the text, -1 of a special token; side: (t,) 0 special, 1 first text, 2 second;
    weights: (t,) the salience; logits: (n, classes), one column for a regression; target: (n,) the class that was
    asked about; labels: (n,) the true class, -1 where there is none, as in a regression.
    """

    rows: Ints
    bounds: Ints
    ids: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    side: NDArray[np.int8]
    weights: Floats
    logits: Floats
    target: Ints
    labels: Ints

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def lengths(self) -> Ints:
        """(n,) number of tokens of each text, special ones included."""
        return np.diff(self.bounds)

    @cached_property
    def text_of(self) -> Ints:
        """(t,) the text that each token is of, 0 to n − 1."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @property
    def classes(self) -> int:
        return int(self.logits.shape[1])

    @cached_property
    def predicted(self) -> Ints:
        """(n,) the class of the largest logit; 0 for a regression."""
        return np.asarray(self.logits.argmax(axis=1), np.int64)

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """(n, classes) softmax of the logits."""
        return softmax(self.logits)

    def take(self, which: NDArray[Any]) -> TextMaps:
        """Some of the texts, by place or as a mask, in the order given."""
        which = np.flatnonzero(which) if which.dtype == bool else np.asarray(which, np.int64)
        at = flat_ranges(self.bounds[which], self.lengths[which])
        bounds = np.append(0, np.cumsum(self.lengths[which]))
        flat: list[Any] = [a[at] for a in (self.ids, self.start, self.end, self.side, self.weights)]
        rest: list[Any] = [a[which] for a in (self.logits, self.target, self.labels)]
        return TextMaps(self.rows[which], bounds, *flat, *rest)


def together(parts: Sequence[TextMaps]) -> TextMaps:
    """Several runs of texts as one."""
    lengths = np.concatenate([p.lengths for p in parts])
    names = ("ids", "start", "end", "side", "weights", "logits", "target", "labels")
    rest = (np.concatenate([getattr(p, name) for p in parts]) for name in names)
    return TextMaps(np.concatenate([p.rows for p in parts]), np.append(0, np.cumsum(lengths)), *rest)


def softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    """(n, classes) probabilities.

    >>> softmax(np.array([[0.0, 0.0], [1000.0, 0.0]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    return np.asarray(scipy.special.softmax(np.asarray(logits, np.float64), axis=1))

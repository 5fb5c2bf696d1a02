"""What became of the texts: how many were used, repeated, empty, windowed. Nothing is dropped silently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import Accumulator

if TYPE_CHECKING:
    from theodolite.encoder.tokens import Tokens


class Tally(Accumulator):
    """Counts of texts by what was done with them."""

    def __init__(self) -> None:
        self.texts = 0
        self.empty = 0
        self.duplicate = 0
        self.without_tokens = 0
        self.windowed = 0
        self.tokens = 0

    def count(
        self,
        empty: NDArray[np.bool_],
        repeated: NDArray[np.bool_],
        full: NDArray[np.bool_],
        tokens: Tokens,
        windows: NDArray[np.int64],
    ) -> None:
        """Count a shard: which rows are empty; of the others, which repeat an earlier one and which have tokens."""
        self.texts += len(empty)
        self.empty += int(empty.sum())
        self.duplicate += int(repeated.sum())
        self.without_tokens += int((~full).sum())
        self.windowed += int((windows > 1).sum())
        self.tokens += int(tokens.lengths.sum())

    def merge(self, other: Self) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def result(self) -> dict[str, Any]:
        """The counts by name."""
        return dict(vars(self))

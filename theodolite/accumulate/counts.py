"""Counts by key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate.base import Accumulator, State, packed, unpacked


class KeyCounts(Accumulator):
    """For each key, ``width`` counts; for instance texts it occurs in, and occurrences."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._counts: dict[str, list[int]] = {}

    def update(self, key: str, counts: Iterable[int]) -> None:
        """Add to a key's counts."""
        held = self._counts.setdefault(key, [0] * self._width)
        for i, count in enumerate(counts):
            held[i] += count

    def merge(self, other: Self) -> None:
        for key, counts in other._counts.items():
            self.update(key, counts)

    def state(self) -> State:
        keys = sorted(self._counts)
        counts = np.array([self._counts[k] for k in keys], np.int64).reshape(-1, self._width)
        return {"keys": packed(keys), "counts": counts}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Self:
        self._counts = dict(zip(unpacked(state["keys"]), state["counts"].tolist(), strict=True))
        return self

    def result(self) -> tuple[list[str], NDArray[np.int64]]:
        """Keys in alphabetical order and their counts, (keys, width)."""
        state = self.state()
        return unpacked(state["keys"]), state["counts"]

"""The points of a corpus in a space: one vector a text, in the store or given, seen a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import Covariance, unit_vectors
from theodolite.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Blocks = Callable[[], Iterator[NDArray[Any]]]


@dataclass(frozen=True)
class Points:
    """n points: rows (n,) says which text of its corpus each one is; kept (n,) which of the stored ones are meant.

    Where a point is a single token, positions (n,) says which of its text's.
    """

    name: str
    rows: Ints
    stored: Blocks
    kept: Ints | None = None
    normalised: bool = False
    positions: Ints | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Their vectors (b, d), in order."""
        begin = 0
        for block in self.stored():
            vectors = block
            if self.kept is not None:
                first, last = np.searchsorted(self.kept, [begin, begin + len(block)])
                vectors = block[self.kept[first:last] - begin]
            begin += len(block)
            if len(vectors):
                yield unit_vectors(vectors) if self.normalised else vectors

    def take(self, which: Ints) -> NDArray[Any]:
        """(m, d) the vectors of some points, in the order asked for."""
        found: NDArray[Any] | None = None
        order = np.argsort(which, kind="stable")
        wanted, begin = which[order], 0
        for block in self.blocks():
            if found is None:
                found = np.empty((len(which), block.shape[1]), block.dtype)
            first, last = np.searchsorted(wanted, [begin, begin + len(block)])
            found[order[first:last]] = block[wanted[first:last] - begin]
            begin += len(block)
        return np.empty((0, 0)) if found is None else found

    def without(self, left_out: Ints) -> Points:
        """The others."""
        stays = np.ones(len(self), bool)
        stays[left_out] = False
        kept = np.arange(len(self)) if self.kept is None else self.kept
        positions = None if self.positions is None else self.positions[stays]
        return replace(self, rows=self.rows[stays], kept=kept[stays], positions=positions)

    def place(self, point: int) -> dict[str, int]:
        """Where a point comes from: its text's row, and a token's position."""
        row = {"row": int(self.rows[point])}
        return row if self.positions is None else {**row, "position": int(self.positions[point])}

    def unit(self) -> Points:
        """The same points, scaled to length 1."""
        return replace(self, normalised=True)


@dataclass(frozen=True)
class Spread:
    """A corpus's columns: their moments, smallest and largest (d,), quantiles of vector length."""

    moments: Covariance
    smallest: Floats
    largest: Floats
    lengths: Floats

    def of(self, directions: NDArray[Any]) -> tuple[Floats, Floats]:
        """(m,) mean and standard deviation of the projections on m directions (m, d)."""
        exact = np.asarray(directions, np.float64)
        _, mean, covariance = self.moments.result()
        variance = np.einsum("md,de,me->m", exact, covariance, exact, optimize=True)
        return exact @ mean, np.sqrt(np.maximum(variance, 0))


def spread_of(points: Points) -> Spread:
    """Go over the points once; a vector with a number that is not finite is refused."""
    moments, lengths = Covariance(0), []
    smallest = largest = np.empty(0)
    for block in points.blocks():
        exact = block.astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(exact).all(axis=1))
        if len(bad):
            row = int(points.rows[moments.count + bad[0]]) + 1
            raise InputError(f"{points.name}: the vector of row {row} holds a number that is not finite")
        if not moments.count:
            d = exact.shape[1]
            moments, smallest, largest = Covariance(d), np.full(d, np.inf), np.full(d, -np.inf)
        moments.update(exact)
        smallest, largest = np.minimum(smallest, exact.min(axis=0)), np.maximum(largest, exact.max(axis=0))
        lengths.append(np.linalg.norm(exact, axis=1))
    quantiles = np.quantile(np.concatenate(lengths), [0.01, 0.25, 0.5, 0.75, 0.99])
    return Spread(moments, smallest, largest, quantiles)

"""The best rows of every column, kept while the scores go by."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate.base import Accumulator, State

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# The row of an empty place: with a score of −∞ it stands behind every true one, even one of −∞.
_EMPTY = int(np.iinfo(np.int64).max)
# Newcomers wait, and are sorted in when there are as many as places, or at least so many.
_WAITING = 2**14
# A column that more than so many times k rows of a batch could enter gets its bar from the batch first.
_CROWD = 2


class TopK(Accumulator):
    """The k best scores of each column and the rows they are in; of equal scores the smaller row is better.

    The result is exactly the same whatever the order and the size of the batches, as long as each row is
    offered once. Memory: some times columns × k scores and rows, and a byte for each score of a batch.

    A batch is compared with the k-th best so far; the few that pass wait until it is worth sorting them in.
    As the bar gets higher, fewer pass: over random scores there are about log₂(rows / k) sorts in all.

    >>> best = TopK(2, columns=1)
    >>> best.update(np.array([[1.0], [3.0], [3.0]]), np.array([0, 1, 2]))
    >>> best.update(np.array([[2.0]]), np.array([3]))
    >>> scores, rows = best.result()
    >>> scores.tolist(), rows.tolist()
    ([[3.0, 3.0]], [[1, 2]])
    """

    def __init__(self, k: int, columns: int, largest: bool = True) -> None:
        if k < 1 or columns < 0:
            raise ValueError(f"k must be 1 or more and columns 0 or more, got {k} and {columns}")
        self.k = k
        self.largest = largest
        # (columns, k), best first; where the smallest is best, the scores with their signs turned.
        self.scores = np.full((columns, k), -np.inf)
        self.rows = np.full((columns, k), _EMPTY)
        self._waiting: list[tuple[Ints, Floats, Ints]] = []
        self._places = 0

    def update(self, scores: NDArray[Any], rows: NDArray[Any]) -> None:
        """Offer scores (n, columns) of rows (n,); the row numbers are 0 or more. NaN is an error."""
        offered, numbers = floating(scores), np.asarray(rows, np.int64)
        width = len(self.scores)
        if offered.ndim != 2 or offered.shape[1] != width or numbers.shape != offered.shape[:1]:
            raise ValueError(f"scores (n, {width}), rows (n,) wanted, got {offered.shape}, {numbers.shape}")
        if not offered.size:
            return
        if numbers.min() < 0:
            raise ValueError(f"row {numbers.min()}: row numbers are 0 or more")
        if not self.largest:
            offered = -offered
        places, columns = self.contenders(offered, int(numbers.min()))
        self.enter(columns, offered[places, columns].astype(np.float64), numbers[places])

    def merge(self, other: Self) -> None:
        if other.scores.shape != self.scores.shape or other.largest != self.largest:
            raise ValueError("these two rank different things")
        other._settle()
        columns, places = np.nonzero((other.rows != _EMPTY) & (other.scores >= self.scores[:, -1:]))
        self.enter(columns, other.scores[columns, places], other.rows[columns, places])

    def state(self) -> State:
        self._settle()
        return {"scores": self.scores, "rows": self.rows}

    def restore(self, state: State) -> Self:
        self.scores = np.array(state["scores"], np.float64)
        self.rows = np.array(state["rows"], np.int64)
        self._waiting, self._places = [], 0
        return self

    def result(self) -> tuple[Floats, Ints]:
        """Scores (columns, k) and rows (columns, k), best first; NaN and −1 where fewer than k were seen."""
        self._settle()
        empty = self.rows == _EMPTY
        scores = self.scores if self.largest else -self.scores
        return np.where(empty, np.nan, scores), np.where(empty, -1, self.rows)

    def contenders(
        self, scores: NDArray[np.floating[Any]], first: int, slack: Floats | None = None
    ) -> tuple[Ints, Ints]:
        """Which of the scores (n, columns), larger being better, might be among the best: places, columns.

        All that do come among them are found, and a few others. ``first`` is the smallest row number of the
        batch. If the scores are rounded, ``slack`` (columns,) says by how much they may be off.
        """
        if np.isnan(scores.min()):
            place, column = np.argwhere(np.isnan(scores))[0].tolist()
            raise ValueError(f"the score at place {place} of the batch in column {column} is not a number")
        # In the rows' own order most batches come after all rows held: then an equal score is no better.
        late = first > self.rows[:, -1] if slack is None else np.zeros(len(self.rows), np.bool_)
        with np.errstate(over="ignore"):
            # Rounded to the scores' type, the bar still has at or above it all of that type that passed it.
            bar = (self.scores[:, -1] - (0 if slack is None else slack)).astype(scores.dtype)
        bar = np.where(late & (bar <= self.scores[:, -1]), np.nextafter(bar, bar.dtype.type(np.inf)), bar)
        mask = scores >= bar
        if len(scores) > self.k and np.count_nonzero(mask) > len(self.scores) * self.k:
            crowded = np.flatnonzero(np.count_nonzero(mask, axis=0) > _CROWD * self.k)
            if len(crowded):
                some = np.ascontiguousarray(scores[:, crowded].T)
                kth = np.partition(some, len(scores) - self.k, axis=1)[:, -self.k]
                # The k-th of the rounded scores and the score that is to pass it may both be off.
                if slack is not None:
                    kth = (kth - 2 * slack[crowded]).astype(scores.dtype)
                mask[:, crowded] = scores[:, crowded] >= np.maximum(bar[crowded], kth)
        places, columns = np.divmod(np.flatnonzero(mask), len(self.scores))
        return places, columns

    def enter(self, columns: Ints, scores: Floats, rows: Ints) -> None:
        """Offer scores (m,), larger being better, of rows (m,), each in its column (m,)."""
        self._waiting.append((columns, scores, rows))
        self._places += len(columns)
        if self._places >= max(_WAITING, self.scores.size):
            self._settle()

    def _settle(self) -> None:
        """Sort in what waits and keep the k best."""
        if not self._places:
            return
        columns, scores, rows = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        self._waiting, self._places = [], 0
        counts = np.bincount(columns, minlength=len(self.scores))
        order = np.argsort(columns, kind="stable")
        start = np.cumsum(counts) - counts
        # Columns with about as many newcomers are sorted together: no room is lost to one that has very many.
        size = np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64)
        for power in np.unique(size[counts > 0]).tolist():
            touched = np.flatnonzero((counts > 0) & (size == power))
            place = np.arange(2**power)
            there = place < counts[touched, None]
            taken = order[np.where(there, start[touched, None] + place, 0)]
            better = np.hstack([self.scores[touched], np.where(there, scores[taken], -np.inf)])
            number = np.hstack([self.rows[touched], np.where(there, rows[taken], _EMPTY)])
            kept = np.lexsort((number, -better), axis=-1)[:, : self.k]
            self.scores[touched] = np.take_along_axis(better, kept, 1)
            self.rows[touched] = np.take_along_axis(number, kept, 1)


def floating(values: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """Values as float32 if that holds them exactly, else as float64; no copy where none is needed."""
    array = np.asarray(values)
    return array.astype(np.float32 if array.dtype in (np.float16, np.float32) else np.float64, copy=False)

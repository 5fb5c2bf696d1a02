"""How sure it is that one set of cosines goes better with people's scores than another: a bootstrap over pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REPLICATES = 1000
# Below this many pairs the correlations have no interval either.
FEWEST = 4
# Numbers of one array at a time: replicates times pairs.
_NUMBERS = 1_000_000


@dataclass(frozen=True)
class Gain:
    """Spearman points won over no change, times 100, with its 95% interval; None where it is not defined."""

    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None


def spearman_gains(scores: ArrayLike, plain: ArrayLike, others: Sequence[ArrayLike], seed: int = 0) -> list[Gain]:
    """What each set of cosines (n,) wins over the plain ones (n,), by the same n scores.

    The interval is from a seeded bootstrap: pairs are drawn with replacement, the same for both correlations, whose
    difference is far surer than either. The cosines stay as they are: what was fitted is not fitted anew.

    >>> [won] = spearman_gains([0, 1, 2, 3, 5], [0.1, 0.3, 0.2, 0.6, 0.5], [[0.1, 0.2, 0.3, 0.6, 0.9]])
    >>> round(won.gain, 1)
    20.0
    """
    ranked = [_Ranked(np.asarray(values, np.float64)) for values in (scores, plain, *others)]
    n = len(ranked[0])
    once = _correlations(ranked, np.ones((1, n), np.int64))[:, 0]
    gains = [Gain() if np.isnan(value) else Gain(100 * float(value)) for value in once[1:] - once[0]]
    if n < FEWEST:
        return gains
    again = np.concatenate([_correlations(ranked, counts) for counts in _draws(n, seed)], axis=1)
    for i, of in enumerate(again[1:] - again[0]):
        # A sample of equal scores or cosines has no correlation.
        there = of[~np.isnan(of)]
        if gains[i].gain is not None and len(there):
            low, high = (100 * np.percentile(there, [2.5, 97.5])).tolist()
            gains[i] = Gain(gains[i].gain, low, high)
    return gains


class _Ranked:
    """Values (n,) in order, so that their ranks in a sample drawn from them need no sorting."""

    def __init__(self, values: Floats) -> None:
        different, self._place = np.unique(values, return_inverse=True)
        self._order = np.argsort(self._place, kind="stable")
        self._starts = np.searchsorted(self._place[self._order], np.arange(len(different)))

    def __len__(self) -> int:
        return len(self._place)

    def ranks(self, counts: Ints) -> Floats:
        """(r, n) rank of each value less the mean rank, in r samples that hold it ``counts`` (r, n) times."""
        # Equal values share the middle of their places.
        held = np.add.reduceat(counts[:, self._order], self._starts, axis=1)
        middle = np.cumsum(held, axis=1) - held / 2
        return np.asarray(middle[:, self._place] - len(self) / 2)


def _correlations(ranked: Sequence[_Ranked], counts: Ints) -> Floats:
    """(sets of cosines, r) Spearman's correlation of the first values with each of the others, in r samples."""
    first = ranked[0].ranks(counts)
    weighted, found = counts * first, []
    size = np.einsum("rn,rn->r", weighted, first)
    for other in ranked[1:]:
        ranks = other.ranks(counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            found.append(
                np.einsum("rn,rn->r", weighted, ranks) / np.sqrt(size * np.einsum("rn,rn,rn->r", counts, ranks, ranks))
            )
    return np.stack(found)


def _draws(n: int, seed: int) -> Iterator[Ints]:
    """How often each of n pairs was drawn, (r, n) at a time."""
    random = np.random.default_rng(seed)
    rows = max(1, _NUMBERS // n)
    for start in range(0, REPLICATES, rows):
        some = min(rows, REPLICATES - start)
        drawn = random.integers(0, n, (some, n)) + n * np.arange(some)[:, None]
        yield np.bincount(drawn.ravel(), minlength=some * n).reshape(some, n)

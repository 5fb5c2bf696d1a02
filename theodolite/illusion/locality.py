"""Do the top sentences of a direction lie as close together as neighbours do?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import nearest
from theodolite.illusion.points import Floats, Ints, Points

BINS = 50
POOL = 2000


@dataclass(frozen=True)
class Distances:
    """Dot products around the top k sentences of m directions: nearest (m, k, k) with each one's nearest others, top
    (m, k, k) among themselves (the diagonals mean nothing), random (m, k, k) with random others.
    """

    nearest: Floats
    top: Floats
    random: Floats


@dataclass(frozen=True)
class Locality:
    """score: overlap of the nearest and the top histograms; control: of the top and the random ones; and the means
    over sentences of both made with each sentence's own distances alone.
    """

    score: float
    control: float
    sentence_score: float
    sentence_control: float


def localities(distances: Distances) -> list[Locality]:
    """The locality score of each direction, its control, and both by sentence."""
    m, k = distances.top.shape[:2]
    pairs, others = np.triu_indices(k, 1), ~np.eye(k, dtype=bool)
    flat = (distances.nearest.reshape(m, -1), distances.top[:, *pairs], distances.random.reshape(m, -1))
    whole = overlaps(*flat)
    own = overlaps(
        distances.nearest.reshape(m * k, -1),
        distances.top[:, others].reshape(m * k, k - 1),
        distances.random.reshape(m * k, -1),
    )
    by_sentence = [x.reshape(m, k).mean(axis=1) for x in own]
    return [Locality(*map(float, values)) for values in zip(*whole, *by_sentence, strict=True)]


def overlaps(near: Floats, top: Floats, random: Floats) -> tuple[Floats, Floats]:
    """(r,) twice: Σ min / Σ max of the histograms of near and top, and of top and random, a row of each at a time.

    Histograms have unit mass, over 50 equal bins from the smallest to the largest of the row's three sets (r, …).
    """
    sets = (near, top, random)
    low = np.min([s.min(axis=1) for s in sets], axis=0)
    high = np.max([s.max(axis=1) for s in sets], axis=0)
    width = np.where(high > low, high - low, 1.0)
    masses = [_histogram(s, low, width) for s in sets]
    one, other = (np.minimum(a, b).sum(axis=1) / np.maximum(a, b).sum(axis=1) for a, b in (masses[:2], masses[1:]))
    return one, other


def _histogram(values: Floats, low: Floats, width: Floats) -> Floats:
    """(r, bins) the mass of each row's values (r, n)."""
    rows, n = values.shape
    at = ((values - low[:, None]) / width[:, None] * BINS).astype(np.int64)
    at = np.minimum(at, BINS - 1) + BINS * np.arange(rows)[:, None]
    found: Floats = np.bincount(at.ravel(), minlength=rows * BINS).reshape(rows, BINS) / n
    return found


class Neighbourhoods:
    """The distances around any top sentences of a corpus, their nearest found together in one scan."""

    def __init__(self, points: Points, tops: Ints, seed: int) -> None:
        """tops: (m, k) points; k is at most half of all."""
        self._k = tops.shape[1]
        self.members = np.unique(tops)
        self._vectors = points.take(self.members).astype(np.float64)
        self.nearest = self._nearest_of(points)
        self.random = self._random_of(points, seed)

    def around(self, tops: Ints) -> Distances:
        """Of some directions' top sentences (m, k)."""
        at = np.searchsorted(self.members, tops)
        vectors = self._vectors[at]
        return Distances(self.nearest[at], vectors @ vectors.swapaxes(1, 2), self.random[at])

    def _nearest_of(self, points: Points) -> Floats:
        k = self._k
        scores, who = nearest(self._vectors, points.blocks(), k + 1)
        itself = who == self.members[:, None]
        # One that is not its own nearest is farther than k + 1 others: the last is left out instead.
        itself[~itself.any(axis=1), -1] = True
        found: Floats = scores[~itself].reshape(len(self.members), k)
        return found

    def _random_of(self, points: Points, seed: int) -> Floats:
        """(members, k) dot products with random other points: drawn from a pool, an own draw for each member."""
        random = np.random.default_rng(np.random.SeedSequence([seed, len(points)]))
        pool = np.sort(random.choice(len(points), min(POOL, len(points)), replace=False))
        keys = random.random((len(self.members), len(pool)))
        keys[self.members[:, None] == pool] = 2.0
        drawn = np.argpartition(keys, self._k - 1, axis=1)[:, : self._k]
        products = self._vectors @ points.take(pool).astype(np.float64).T
        found: Floats = np.take_along_axis(products, drawn, axis=1)
        return found


def compared(meaningful: NDArray[Any], meaningless: NDArray[Any]) -> dict[str, float]:
    """Means of the two groups' scores and the two-sided Mann-Whitney p (NaN where a group is empty)."""
    from scipy.stats import mannwhitneyu

    both = len(meaningful) > 0 and len(meaningless) > 0
    return {
        "meaningful": float(np.mean(meaningful)) if len(meaningful) else float("nan"),
        "meaningless": float(np.mean(meaningless)) if len(meaningless) else float("nan"),
        "p": float(mannwhitneyu(meaningful, meaningless).pvalue) if both else float("nan"),
    }

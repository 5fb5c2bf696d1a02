"""Do the top sentences of a direction lie as close together as neighbours do?"""

from __future__ import annotations

from collections.abc import Sequence
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
    """Dot products around a direction's top k sentences: nearest (k, k) with each one's nearest others, top (k, k)
    among themselves (the diagonal means nothing), random (k, k) with random others.
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


def overlap(a: Floats, b: Floats, edges: Floats) -> float:
    """Σ min / Σ max of two histograms of unit mass over the same bins.

    >>> overlap(np.array([0.1, 0.9]), np.array([0.1, 0.2]), np.array([0.0, 0.5, 1.0]))
    0.3333333333333333
    """
    one, other = (np.histogram(x, edges)[0] / len(x) for x in (a, b))
    return float(np.minimum(one, other).sum() / np.maximum(one, other).sum())


def locality(distances: Distances) -> Locality:
    """The locality score of a direction, its control, and both by sentence."""
    k = len(distances.top)
    pairs = np.triu_indices(k, 1)
    score, control = _scores(distances.nearest.ravel(), distances.top[pairs], distances.random.ravel())
    others = ~np.eye(k, dtype=bool)
    own = [
        _scores(distances.nearest[i], distances.top[i, others[i]], distances.random[i]) for i in range(k) if k > 1
    ] or [(float("nan"), float("nan"))]
    by_sentence = np.mean(own, axis=0)
    return Locality(score, control, float(by_sentence[0]), float(by_sentence[1]))


def _scores(near: Floats, top: Floats, random: Floats) -> tuple[float, float]:
    if not len(near) or not len(top) or not len(random):
        return float("nan"), float("nan")
    edges = np.histogram_bin_edges(np.concatenate([near, top, random]), BINS)
    return overlap(near, top, edges), overlap(top, random, edges)


class Neighbourhoods:
    """The distances around any top sentences of a corpus, their nearest found together in one scan."""

    def __init__(self, points: Points, tops: Ints, seed: int) -> None:
        """tops: (m, k) points, −1 where there is none."""
        self._k = tops.shape[1]
        self.members = np.unique(tops[tops >= 0])
        self._vectors = points.take(self.members).astype(np.float64)
        self.nearest = self._nearest_of(points)
        self.random = self._random_of(points, seed)

    def around(self, tops: Sequence[int] | Ints) -> Distances:
        """Of one direction's top sentences (k,)."""
        asked = np.asarray(tops, np.int64)
        at = np.searchsorted(self.members, asked[asked >= 0])
        vectors = self._vectors[at]
        return Distances(self.nearest[at], vectors @ vectors.T, self.random[at])

    def _nearest_of(self, points: Points) -> Floats:
        k = min(self._k, len(points) - 1)
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
        k = min(self._k, len(pool) - 1)
        keys = random.random((len(self.members), len(pool)))
        keys[self.members[:, None] == pool] = 2.0
        drawn = np.argpartition(keys, k - 1, axis=1)[:, :k] if k else np.empty((len(keys), 0), np.int64)
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

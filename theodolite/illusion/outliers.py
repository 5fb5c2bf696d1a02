"""Sentences that lie far from all others, and how many of the top places they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from theodolite.illusion.points import Floats, Ints, Points

# Up to here every pair is measured; beyond, each point against a sample.
EXACT_UP_TO = 20_000
SAMPLE = 2_000


@dataclass(frozen=True)
class MeanDistances:
    """Mean Euclidean distance (n,) of each point to all others, half width (n,) of its 95% interval (0: exact)."""

    mean: Floats
    half: Floats

    def farthest(self, share: float) -> Ints:
        """The points of the largest mean distance, this share of all (at least one); of equal ones the earlier."""
        count = max(1, round(share * len(self.mean))) if share else 0
        return np.argsort(-self.mean, kind="stable")[:count]


def mean_distances(points: Points, seed: int, exact_up_to: int = EXACT_UP_TO) -> MeanDistances:
    """Exactly, in blocks, or for a large corpus against a seeded sample of the others."""
    n = len(points)
    exact = n <= exact_up_to
    random = np.random.default_rng(np.random.SeedSequence([seed, n]))
    chosen = np.arange(n) if exact else np.sort(random.choice(n, SAMPLE, replace=False))
    others = points.take(chosen).astype(np.float64)
    middle = others.mean(axis=0)
    others -= middle
    squares = np.einsum("nd,nd->n", others, others)
    sums, sums_of_squares = np.empty(n), np.empty(n)
    begin = 0
    for block in points.blocks():
        for start in range(0, len(block), 512):
            part = block[start : start + 512].astype(np.float64) - middle
            length = np.einsum("nd,nd->n", part, part)
            between = length[:, None] + squares - 2 * (part @ others.T)
            at = slice(begin + start, begin + start + len(part))
            # A point has no distance to itself, whatever rounding says.
            mine, theirs = _same(np.arange(at.start, at.stop), chosen)
            between[mine, theirs] = 0
            np.maximum(between, 0, out=between)
            sums_of_squares[at] = between.sum(axis=1)
            sums[at] = np.sqrt(between, out=between).sum(axis=1)
        begin += len(block)
    count = len(chosen) - np.isin(np.arange(n), chosen)
    mean = sums / np.maximum(count, 1)
    if exact:
        return MeanDistances(mean, np.zeros(n))
    variance = np.maximum(sums_of_squares / count - mean**2, 0) * count / (count - 1)
    return MeanDistances(mean, 1.96 * np.sqrt(variance / count))


def _same(points: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    at = np.searchsorted(chosen, points)
    hit = (at < len(chosen)) & (chosen[np.minimum(at, len(chosen) - 1)] == points)
    return np.flatnonzero(hit), at[hit]


@dataclass(frozen=True)
class TopPlaces:
    """Who holds the top places: how many there are, how many different points hold them, and how many each does."""

    places: int
    different: int
    held: Mapping[int, int]

    def share_of(self, points: Ints) -> float:
        """The share of the places that these points hold."""
        return sum(self.held.get(int(p), 0) for p in points) / self.places if self.places else float("nan")


def top_places(tops: Ints) -> TopPlaces:
    """Count the places (m, k) by point; −1 is no point."""
    points, counts = np.unique(tops[tops >= 0], return_counts=True)
    return TopPlaces(int(counts.sum()), len(points), dict(zip(points.tolist(), counts.tolist(), strict=True)))

"""The sentences at both ends of every direction, and how the ranges of their scores meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import nearest
from theodolite.illusion.points import Floats, Ints, Points


@dataclass(frozen=True)
class Ends:
    """Of m directions in a corpus: scores (m, k) and points (m, k) of its top, best first, and of its bottom, lowest
    first; NaN and −1 where a corpus has fewer than k points.
    """

    top_scores: Floats
    top: Ints
    bottom_scores: Floats
    bottom: Ints


def ends(points: Points, directions: NDArray[Any], k: int) -> Ends:
    """The k highest and k lowest dot products with every direction (m, d); of equal ones the earlier point."""
    both = np.concatenate([directions, -directions])
    scores, found = nearest(both, points.blocks(), k)
    m = len(directions)
    return Ends(scores[:m], found[:m], -scores[m:], found[m:])


def ranges_overlap(by_corpus: Mapping[str, Ends]) -> float:
    """Over all pairs of corpora and directions, the share whose ranges of top scores have a value in common.

    NaN for fewer than two corpora.
    """
    ranges = [(np.nanmin(e.top_scores, axis=1), np.nanmax(e.top_scores, axis=1)) for e in by_corpus.values()]
    meets = [(a[0] <= b[1]) & (b[0] <= a[1]) for a, b in combinations(ranges, 2)]
    return float(np.mean(meets)) if meets else float("nan")


def agreement(one: Ends, other: Ends) -> float:
    """Mean share of a direction's top points that are also among the other's."""
    k = one.top.shape[1]
    shared = [len(set(a) & set(b) - {-1}) for a, b in zip(one.top.tolist(), other.top.tolist(), strict=True)]
    return float(np.mean(shared) / k)

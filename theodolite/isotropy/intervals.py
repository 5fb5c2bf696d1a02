"""How sure the measures of a sample are: a jackknife over ten groups of texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from theodolite.accumulate import hash_of
from theodolite.isotropy.measures import Measures, Space, SpaceSums, measures
from theodolite.isotropy.partition import PartitionSums, directions, partition

# Texts' rows (n,) and vectors (n, d), the same each time it is called.
Parts = Callable[[], Iterable[tuple[NDArray[np.int64], NDArray[Any]]]]

GROUPS = 10
# The measures that get an interval; the partition has that of its logarithm, for it spans many powers of ten.
_ESTIMATES = (
    *("log_partition", "isoscore", "mean_cosine", "variance_top1", "variance_top3", "variance_top10"),
    *("effective_rank", "mean_offset"),
)


def measure_with_intervals(parts: Parts, dim: int, seed: int = 0) -> dict[str, Any]:
    """All measures of the vectors, and ``…_low`` and ``…_high`` of each: 95% intervals by a jackknife.

    The texts fall into ten groups by hash; each group is left out in turn. The directions of the partition measure
    stay those of the whole. A measure without a value has no interval; nor has any where a group is empty.
    """
    groups = [SpaceSums(dim) for _ in range(GROUPS)]
    for group, vectors in _split(parts, seed):
        groups[group].update(vectors)
    whole = _together(groups, dim)
    along, coincide = directions(whole.second_moment)
    sums = [PartitionSums(along) for _ in range(GROUPS)]
    if not coincide:
        for group, vectors in _split(parts, seed):
            sums[group].update(vectors)
    found = measures(whole, None if coincide else partition(_log_sums(sums)))
    some = min(group.result().n for group in groups) > 0
    without = [
        measures(
            _together(groups[:left] + groups[left + 1 :], dim),
            None if coincide else partition(_log_sums(sums[:left] + sums[left + 1 :])),
        )
        for left in range(GROUPS if some else 0)
    ]
    rows = asdict(found) | {"reason": found.reason or None}
    for name in _ESTIMATES:
        low, high = _interval(found, without, name)
        rows |= {f"{name}_low": low, f"{name}_high": high}
    ends = {end: rows[f"log_partition_{end}"] for end in ("low", "high")}
    # The measure is 1 at most, and so is what is said of it.
    return rows | {f"partition_{end}": None if at is None else math.exp(min(at, 0)) for end, at in ends.items()}


def _split(parts: Parts, seed: int) -> Iterable[tuple[int, NDArray[Any]]]:
    for rows, vectors in parts():
        group = (hash_of(seed, rows) % np.uint64(GROUPS)).astype(np.int64)
        for number in np.unique(group).tolist():
            yield number, vectors[group == number]


def _together(groups: list[SpaceSums], dim: int) -> Space:
    joined = SpaceSums(dim)
    for group in groups:
        joined.merge(group)
    return joined.result()


def _log_sums(sums: list[PartitionSums]) -> NDArray[np.float64]:
    return np.asarray(scipy.special.logsumexp(np.stack([one.result() for one in sums]), axis=0))


def _interval(found: Measures, without: list[Measures], name: str) -> tuple[float | None, float | None]:
    value, others = getattr(found, name), [getattr(one, name) for one in without]
    if value is None or not others or None in others:
        return None, None
    spread = np.sqrt((GROUPS - 1) / GROUPS * np.sum((np.array(others) - np.mean(others)) ** 2))
    half = float(scipy.stats.t.ppf(0.975, GROUPS - 1) * spread)
    return value - half, value + half

"""What the measures are of a perfectly round space of a given size: a seeded Gaussian cloud about 0."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.isotropy.measures import Measures, Space, SpaceSums, measures
from theodolite.isotropy.partition import PartitionSums, directions, partition

_ROWS = 4096


def round_cloud(n: int, dim: int, length: float, seed: int = 0) -> Measures:
    """The measures of n Gaussian vectors of as many dimensions and about this mean length; never whole in memory.

    As many as the space has that it stands beside: even of round spaces, few vectors look less round than many.
    """
    space, along, coincide = _of_unit_variance(n, dim, seed)
    if coincide:
        return measures(space, None)
    # Only the partition measure depends on the scale, which the directions can have in the vectors' place.
    sums = PartitionSums(along * (length / np.sqrt(dim)))
    for vectors in _blocks(n, dim, seed):
        sums.update(vectors)
    return measures(space, partition(sums.result()))


# The layers of a model are of one size: the larger part of the work is done for the first of them.
@lru_cache(maxsize=2)
def _of_unit_variance(n: int, dim: int, seed: int) -> tuple[Space, NDArray[np.float64], bool]:
    sums = SpaceSums(dim)
    for vectors in _blocks(n, dim, seed):
        sums.update(vectors)
    space = sums.result()
    return space, *directions(space.second_moment)


def _blocks(n: int, dim: int, seed: int) -> Iterator[NDArray[Any]]:
    """n vectors (b, dim) at a time, the same whenever they are asked for."""
    random = np.random.default_rng(seed)
    for start in range(0, n, _ROWS):
        yield random.standard_normal((min(_ROWS, n - start), dim), np.float32)

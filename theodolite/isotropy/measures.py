"""How round a space of vectors (n, d) is: all measures of it, in two scans.

The first scan gives everything but the partition measure, whose directions are known only then; the second gives that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import Accumulator, Covariance, UnitSums
from theodolite.errors import InputError
from theodolite.isotropy.isoscore import isoscore, refuse_transposed
from theodolite.isotropy.partition import Partition, PartitionSums, directions, partition
from theodolite.rounding.width import odd_width

Floats = NDArray[np.float64]
Blocks = Callable[[], Iterable[NDArray[Any]]]

# Rows at a time: with more the float64 copies leave the caches, with fewer the sums of (d, d) take too long.
_ROWS = 4096
# A spread below this share of the mean's length is what rounding leaves of equal vectors.
_NO_SPREAD = 1e-13

COINCIDE = "eigenvalues coincide, as after whitening: the partition measure's directions are arbitrary"
NO_VARIANCE = "all vectors are equal: there is no variance to share out"
ONE_DIMENSION = "one dimension: there is no IsoScore"
NO_PAIR = "fewer than two vectors are not zero: there is no pair with a cosine"
NO_LENGTH = "all vectors are zero: the mean's length is relative to nothing"


@dataclass(frozen=True)
class Space:
    """What one scan over n vectors tells: their mean (d,), centred covariance (d, d) and second moment WᵀW (d, d).

    mean_cosine: of two different vectors, all pairs, exactly; NaN where there is no pair. The zeros, which have no
    direction, are left out of it and counted.
    """

    n: int
    mean: Floats
    covariance: Floats
    second_moment: Floats
    mean_length: float
    mean_cosine: float
    zeros: int


class SpaceSums(Accumulator):
    """The sums of vectors (n, d) from which all measures but the partition follow. Memory: d² numbers.

    What is kept of the squares is the scatter about the mean; the second moment follows from it without loss,
    where the other way round would drown a spread that is small beside the mean.

    >>> seen = SpaceSums(2)
    >>> seen.update(np.array([[0.0, 0.0], [3.0, 4.0], [4.0, 3.0]]))
    >>> space = seen.result()
    >>> space.n, space.zeros, round(space.mean_cosine, 9), space.second_moment.round(9).tolist()
    (3, 1, 0.96, [[25.0, 24.0], [24.0, 25.0]])
    """

    def __init__(self, dim: int) -> None:
        self.covariance = Covariance(dim)
        self.units = UnitSums((dim,))
        self.length = 0.0

    def update(self, vectors: NDArray[Any]) -> None:
        """Take in vectors (n, d). One that is not finite is an InputError that says which, counted from the first."""
        x = np.asarray(vectors, np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.einsum("nd,nd->n", x, x))
        if not np.isfinite(lengths).all():
            row = self.covariance.count + int(np.argmin(np.isfinite(lengths))) + 1
            raise InputError(f"row {row:,} has a NaN, infinite or immense number; mend or leave out the vector")
        self.covariance.update(x)
        there = lengths > 0
        count = int(np.count_nonzero(there))
        self.units.add(np.divide(1, lengths, out=np.zeros_like(lengths), where=there) @ x, count, count, count)
        self.length += float(lengths.sum())

    def merge(self, other: Self) -> None:
        self.covariance.merge(other.covariance)
        self.units.merge(other.units)
        self.length += other.length

    def result(self) -> Space:
        """What was seen; NaN where nothing was."""
        n, mean, covariance = self.covariance.result()
        moment = self.covariance.scatter + n * np.outer(self.covariance.mean, self.covariance.mean)
        length = self.length / n if n else float("nan")
        return Space(n, mean, covariance, moment, length, float(self.units.result()), n - self.units.count)


@dataclass(frozen=True)
class Measures:
    """How round a space is. What is not defined for it is None, and ``reason`` says why ("" if nothing is None).

    partition: I(W) over both signs of every direction, from 0 to 1; it may be too small for a number, so its natural
    logarithm is there too. partition_published: one sign a direction. isoscore: 0 to 1. mean_cosine: of all pairs, zero
    vectors out. variance_top…: the share of variance in the first 1, 3, 10 components. effective_rank: 1 to d, the
    exponential of the entropy of the covariance's eigenvalues. mean_offset: the mean's length over the mean length, 0
    if the space is centred.
    """

    partition: float | None
    partition_published: float | None
    log_partition: float | None
    isoscore: float | None
    mean_cosine: float | None
    variance_top1: float | None
    variance_top3: float | None
    variance_top10: float | None
    effective_rank: float | None
    mean_offset: float | None
    n: int
    dim: int
    reason: str


def measures(space: Space, found: Partition | None) -> Measures:
    """All measures of one space; ``found`` is None where its eigenvalues coincide."""
    d = len(space.mean)
    shares = variance_shares(space)
    why = {
        COINCIDE: found is None,
        NO_VARIANCE: shares is None,
        ONE_DIMENSION: shares is not None and d == 1,
        NO_PAIR: np.isnan(space.mean_cosine),
        NO_LENGTH: space.mean_length == 0,
    }
    return Measures(
        partition=None if found is None else found.value,
        partition_published=None if found is None else found.published,
        log_partition=None if found is None else found.log_value,
        isoscore=None if shares is None or d == 1 else isoscore(space.covariance),
        mean_cosine=None if np.isnan(space.mean_cosine) else space.mean_cosine,
        variance_top1=None if shares is None else float(shares[:1].sum()),
        variance_top3=None if shares is None else float(shares[:3].sum()),
        variance_top10=None if shares is None else float(shares[:10].sum()),
        effective_rank=None if shares is None else effective_rank(shares),
        mean_offset=None if space.mean_length == 0 else float(np.linalg.norm(space.mean)) / space.mean_length,
        n=space.n,
        dim=d,
        reason="; ".join(reason for reason, holds in why.items() if holds),
    )


def variance_shares(space: Space) -> Floats | None:
    """(d,) the share of variance in each principal component, the largest first; None where nothing varies."""
    if np.trace(space.covariance) <= (_NO_SPREAD * np.linalg.norm(space.mean)) ** 2:
        return None
    values = np.maximum(np.linalg.eigvalsh(space.covariance)[::-1], 0)
    return np.asarray(values / values.sum())


def effective_rank(shares: NDArray[Any]) -> float:
    """The exponential of the entropy of shares (d,) that sum to 1 (Roy and Vetterli 2007).

    >>> round(effective_rank(np.array([0.5, 0.5, 0.0])), 9)
    2.0
    """
    some = shares[shares > 0]
    return float(np.exp(-np.sum(some * np.log(some))))


def measure(blocks: Blocks, dim: int | None = None) -> Measures:
    """All measures of the vectors in blocks (b, d), of any size, that each call of ``blocks`` gives anew.

    dim: the vectors' width, where it is known. Without it, vectors of a width that no encoder has (over 16,384, or
    over 512 and no multiple of 64) are refused as transposed if they are fewer than that: rows are then counted in
    a scan before the other two. With it, any other width is refused, and nothing is guessed.

    No vectors, or a number that is not finite: InputError. Zero vectors count, except in the mean cosine. Equal vectors
    (or one): no variance, so no IsoScore, shares and rank; the rest is defined. Fewer vectors than dimensions: allowed.
    """
    scan = _scan(blocks)
    first = next(scan, None)
    if first is None:
        raise InputError("there are no vectors to measure; give at least one")
    width = first.shape[1]
    if width != dim and (dim is not None or odd_width(width)):
        refuse_transposed(sum(map(len, _scan(blocks))), width, dim)
    sums = SpaceSums(width)
    sums.update(first)
    for block in scan:
        sums.update(block)
    space = sums.result()
    along, coincide = directions(space.second_moment)
    return measures(space, None if coincide else _partition(blocks, along, space.n))


def measure_array(vectors: NDArray[Any], dim: int | None = None) -> Measures:
    """All measures of vectors (n, d); see ``measure``.

    >>> found = measure_array(np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 1.0], [2.0, -1.0]]))
    >>> found.isoscore, found.effective_rank, round(found.variance_top1, 9), round(found.log_partition, 3)
    (1.0, 2.0, 0.5, -4.0)
    """
    array = np.asarray(vectors)
    return measure(lambda: [array], dim)


def _partition(blocks: Blocks, along: Floats, n: int) -> Partition:
    sums = PartitionSums(along)
    for block in _scan(blocks):
        sums.update(block)
    if sums.count != n:
        raise ValueError(f"the blocks had {n:,} vectors at first and then {sums.count:,}")
    return partition(sums.result())


def _scan(blocks: Blocks) -> Iterator[NDArray[Any]]:
    """The vectors, a few rows at a time, if they are numbers and all of one width."""
    width = None
    for block in blocks():
        if block.ndim != 2 or block.shape[1] == 0 or width not in (None, block.shape[1]):
            wanted = "(n vectors, d dimensions)" if width is None else f"vectors of {width} numbers, as before,"
            raise InputError(f"{wanted} wanted, got an array of shape {block.shape}")
        if block.dtype.kind not in "fiu":
            raise InputError(f"vectors of type {block.dtype}; real numbers are needed, as float32 or float64")
        width = block.shape[1]
        for start in range(0, len(block), _ROWS):
            yield block[start : start + _ROWS]

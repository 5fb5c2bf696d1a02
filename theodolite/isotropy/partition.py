"""The partition measure I(W) = min Z(c) / max Z(c), with Z(c) = Σ_w exp(c·w) over the eigenvectors c of WᵀW.

An eigenvector's sign is arbitrary and Z(c) differs from Z(−c), so both signs are taken. Z is kept as its logarithm:
vectors of length 500 would overflow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import Accumulator

Floats = NDArray[np.float64]

# An eigenvalue below this share of the largest counts as zero. It is above what rounding leaves of a true zero
# (about 1e-15 from float32 vectors, as much from float64 sums), and c·w is then, root mean square, below a millionth
# of what it is along the first direction: Z = n whichever basis is chosen, so zeros may coincide.
_ZERO = 1e-12
# Two others coincide if they differ by less than this share of the larger one. Whitening done in float32 leaves
# differences of 1e-7 and less. By chance they are far apart: eigenvalues repel each other, and of 768 at a usual mean
# distance of 1/1000 some two come as near as this once in some thousands of spaces.
_ALIKE = 1e-6
# … or by less than rounding alone can make of them, as a share of the largest eigenvalue of all.
_ROUNDING = 1e-14
# Components this near to the largest one are as large: of those the first decides the sign.
_AS_LARGE = 1e-9


def directions(second_moment: NDArray[Any]) -> tuple[Floats, bool]:
    """Eigenvectors of WᵀW (d, d), and whether eigenvalues coincide, so that some eigenvectors are arbitrary.

    The eigenvectors are the columns of (d, d), the largest eigenvalue first, each with the sign that makes its
    component of largest magnitude positive. Eigenvalues of zero may coincide: on their directions every c·w is 0.

    >>> directions(np.diag([1.0, 4.0, 0.0, 0.0]))[1], directions(np.diag([1.0, 1.0, 0.0]))[1]
    (False, True)
    """
    ascending, found = np.linalg.eigh(np.asarray(second_moment, np.float64))
    values, vectors = ascending[::-1], found[:, ::-1]
    size = np.abs(vectors)
    leading = np.argmax(size >= size.max(axis=0) * (1 - _AS_LARGE), axis=0)
    signs = np.where(vectors[leading, np.arange(len(values))] < 0, -1.0, 1.0)
    largest = values[0]
    near = values[:-1] - values[1:] <= np.maximum(_ALIKE * values[:-1], _ROUNDING * largest)
    return vectors * signs, bool((near & (values[1:] > _ZERO * largest)).any())


class PartitionSums(Accumulator):
    """log Z(c) and log Z(−c) for the columns c of directions (d, m).

    >>> seen = PartitionSums(np.eye(2))
    >>> seen.update(np.array([[500.0, 0.0], [500.0, 0.0]]))
    >>> (seen.result() - np.log(2)).round(9).tolist()
    [[500.0, 0.0], [-500.0, 0.0]]
    """

    def __init__(self, directions: NDArray[Any]) -> None:
        self._directions = np.asarray(directions, np.float64)
        self.count = 0
        self.log_sums = np.full((2, self._directions.shape[1]), -np.inf)

    def update(self, vectors: NDArray[Any]) -> None:
        """Take in vectors (n, d). Memory: n × m numbers."""
        if vectors.ndim != 2 or vectors.shape[1] != len(self._directions):
            raise ValueError(f"vectors of shape (n, {len(self._directions)}) wanted, got {vectors.shape}")
        if not len(vectors):
            return
        along = np.asarray(vectors, np.float64) @ self._directions
        highest, lowest = along.max(axis=0), along.min(axis=0)
        plus = highest + np.log(np.exp(along - highest).sum(axis=0))
        minus = np.log(np.exp(lowest - along).sum(axis=0)) - lowest
        self.log_sums = np.logaddexp(self.log_sums, np.stack([plus, minus]))
        self.count += len(vectors)

    def merge(self, other: Self) -> None:
        if not np.array_equal(other._directions, self._directions):
            raise ValueError("these two have different directions")
        self.log_sums = np.logaddexp(self.log_sums, other.log_sums)
        self.count += other.count

    def result(self) -> Floats:
        """(2, m): log Z(c), and below it log Z(−c); −∞ where no vector was seen."""
        return self.log_sums.copy()


@dataclass(frozen=True)
class Partition:
    """The natural logarithms of I(W), over both signs and over one sign a vector as published; 0 at most."""

    log_value: float
    log_published: float

    @property
    def value(self) -> float:
        """I(W), 0 where it is too small for a number."""
        return math.exp(self.log_value)

    @property
    def published(self) -> float:
        """I(W) by the plain recipe, 0 where it is too small for a number."""
        return math.exp(self.log_published)


def partition(log_sums: NDArray[Any]) -> Partition:
    """I(W) from log Z(c) and log Z(−c), (2, m), as ``PartitionSums`` gives them.

    >>> partition(np.log([[4.0, 2.0], [1.0, 3.0]])).value
    0.25
    """
    return Partition(float(log_sums.min() - log_sums.max()), float(log_sums[0].min() - log_sums[0].max()))

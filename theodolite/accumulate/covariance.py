"""Mean and covariance of vectors seen a batch at a time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate.base import Accumulator

Floats = NDArray[np.float64]


class Covariance(Accumulator):
    """Mean and population covariance of vectors (n, d), weighted or not.

    What is kept is Σw, the mean m (d,) and the scatter Σw(x−m)(x−m)ᵀ (d, d). Two parts are put together
    about their common mean (Chan, Golub and LeVeque 1979); sums of raw squares would lose a spread that is
    small beside the mean. Memory: d² numbers.

    >>> seen = Covariance(2)
    >>> seen.update(np.array([[0.0, 0.0], [2.0, 4.0]]))
    >>> count, mean, covariance = seen.result()
    >>> count, mean.tolist(), covariance.tolist()
    (2, [1.0, 2.0], [[1.0, 2.0], [2.0, 4.0]])
    """

    def __init__(self, dim: int) -> None:
        self.count = 0
        self.weight = 0.0
        self.mean = np.zeros(dim)
        self.scatter = np.zeros((dim, dim))

    def update(self, vectors: NDArray[Any], weights: NDArray[Any] | None = None) -> None:
        """Take in vectors (n, d), with weights (n,) of 0 or more; vectors of weight 0 count for nothing."""
        x = np.asarray(vectors, np.float64)
        if x.ndim != 2 or x.shape[1] != len(self.mean):
            raise ValueError(f"vectors of shape (n, {len(self.mean)}) wanted, got {x.shape}")
        if weights is None:
            w = np.ones(len(x))
        else:
            w = np.asarray(weights, np.float64)
            if w.shape != x.shape[:1] or not (w >= 0).all():
                raise ValueError(f"weights of shape ({len(x)},), 0 or more, wanted")
            x, w = x[w > 0], w[w > 0]
        if not len(x):
            return
        weight = float(w.sum())
        mean = w @ x / weight
        # The root on both sides keeps the product symmetric and without negative eigenvalues.
        off = (x - mean) * np.sqrt(w)[:, None]
        self._join(len(x), weight, mean, off.T @ off)

    def merge(self, other: Self) -> None:
        self._join(other.count, other.weight, other.mean, other.scatter)

    def result(self) -> tuple[int, Floats, Floats]:
        """How many vectors, their mean (d,) and their covariance (d, d); NaN where there are none."""
        if not self.count:
            return 0, np.full_like(self.mean, np.nan), np.full_like(self.scatter, np.nan)
        return self.count, self.mean.copy(), self.scatter / self.weight

    def _join(self, count: int, weight: float, mean: Floats, scatter: Floats) -> None:
        if not count:
            return
        share = weight / (self.weight + weight)
        apart = mean - self.mean
        # With nothing held yet the first factor is 0 and the share is 1: the part comes in unchanged.
        self.scatter += scatter + np.outer(apart, apart) * (self.weight * share)
        self.mean += apart * share
        self.weight += weight
        self.count += count

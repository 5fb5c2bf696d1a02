"""Weighted means with the spread that their intervals need."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate.base import Accumulator

Floats = NDArray[np.float64]
Z_95 = 1.959963984540054


class WeightedMean(Accumulator):
    """Σw, Σwx and the sums from which the standard error of the mean of (n, *shape) values follows.

    Members of weight 0 count for nothing. The sums of squares are about a centre near the values, the mean
    of the first batch: about zero, they would drown a spread that is small beside the mean.

    >>> seen = WeightedMean(())
    >>> seen.update(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    >>> float(seen.result()[0])
    2.0
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = 0
        self.weight = 0.0
        self.values = np.zeros(shape)
        self.centre = np.zeros(shape)
        self.weight2 = 0.0
        self.values2 = np.zeros(shape)
        self.squares2 = np.zeros(shape)

    def update(self, values: NDArray[Any], weights: NDArray[Any]) -> None:
        """Take in values (n, *shape) with weights (n,)."""
        x = np.asarray(values, np.float64)
        w = np.asarray(weights, np.float64)
        if not w.all():
            x, w = x[w != 0], w[w != 0]
        if not len(x):
            return
        values = np.tensordot(w, x, 1)
        if not self.count:
            self.centre = np.array(values / w.sum())
        self.count += len(x)
        self.weight += float(w.sum())
        self.weight2 += float((w**2).sum())
        self.values += values
        off = x - self.centre
        self.values2 += np.tensordot(w**2, off, 1)
        self.squares2 += np.tensordot(w**2, off**2, 1)

    def merge(self, other: Self) -> None:
        if not other.count:
            return
        if not self.count:
            self.centre = other.centre.copy()
        shift = other.centre - self.centre
        self.count += other.count
        self.weight += other.weight
        self.weight2 += other.weight2
        self.values += other.values
        self.values2 += other.values2 + shift * other.weight2
        self.squares2 += other.squares2 + 2 * shift * other.values2 + shift**2 * other.weight2

    def result(self) -> tuple[Floats, Floats]:
        """The mean and half the width of its 95% interval, both of the values' shape; NaN where unknown."""
        if self.weight <= 0:
            nothing = np.full(self.values.shape, np.nan)
            return nothing, nothing
        mean = self.values / self.weight
        if self.count < 2:
            return mean, np.full(mean.shape, np.nan)
        off = mean - self.centre
        spread = self.squares2 - 2 * off * self.values2 + off**2 * self.weight2
        error = np.sqrt(np.maximum(spread, 0) * self.count / (self.count - 1)) / self.weight
        return mean, Z_95 * error


def mean_interval(values: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
    """Mean of (n, *shape) values over n with its 95% interval, Student's: mean, low, high. NaN members are left out.

    >>> [round(float(a), 2) for a in mean_interval(np.array([0.0, 2.0]))]
    [1.0, -11.71, 13.71]
    """
    # Here, since the command line must not wait for it.
    from scipy.special import stdtrit

    x = np.asarray(values, np.float64)
    n = np.asarray((~np.isnan(x)).sum(axis=0))
    total = np.nansum(x, axis=0)
    mean = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
    spread = np.nansum((x - mean) ** 2, axis=0)
    error = np.where(n > 1, np.sqrt(spread / np.maximum(n - 1, 1) / np.maximum(n, 1)), np.nan)
    half = stdtrit(np.maximum(n - 1, 1), 0.975) * error
    return mean, mean - half, mean + half


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; all of 0 to 1 where nothing was counted.

    >>> [round(end, 3) for end in wilson(0, 100)]
    [0.0, 0.037]
    """
    if n == 0:
        return 0.0, 1.0
    z = Z_95
    share = hits / n
    centre = share + z * z / (2 * n)
    spread = z * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    low, high = (centre - spread) / (1 + z * z / n), (centre + spread) / (1 + z * z / n)
    return (0.0 if hits == 0 else low), (1.0 if hits == n else high)

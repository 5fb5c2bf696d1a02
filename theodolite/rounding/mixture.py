"""A Gaussian mixture with diagonal covariances, fitted by expectation-maximisation a tile at a time.

Every iteration is a pass over all vectors, in float64, started from the k-means solution: scikit-learn's own
GaussianMixture does the same, but wants all vectors in memory. Fitting on a sample and only labelling the rest would be
cheaper, but what is called a fit on a corpus would then be one on a part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from theodolite.rounding.base import Blocks, Floats, Ints, tiles
from theodolite.rounding.kmeans import Centres, Extent, one_hot

_PASSES = 100
# As in scikit-learn: an iteration that raises the mean log-likelihood by less than this is the last.
_TOLERANCE = 1e-3
# Added to every variance, as a share of the mean variance: a component on equal vectors has a density too.
_LEAST_VARIANCE = 1e-6


@dataclass(frozen=True)
class Mixture:
    """Weights (K,), means (K, d) and variances (K, d) of the components, and a point amid all vectors (d,)."""

    weights: Floats
    centres: Floats
    variances: Floats
    middle: Floats

    def log_densities(self, vectors: NDArray[Any]) -> Floats:
        """(n, K), the log of each component's weight times its density at each vector."""
        off, means = vectors.astype(np.float64) - self.middle, self.centres - self.middle
        precise = 1 / self.variances
        squares = off**2 @ precise.T - 2 * (off @ (means * precise).T) + (means**2 * precise).sum(axis=1)
        volume = np.log(2 * np.pi * self.variances).sum(axis=1)
        found: Floats = np.log(self.weights) - (squares + volume) / 2
        return found

    def nearest(self, vectors: NDArray[Any]) -> Ints:
        """The most probable component of each vector (n,); of equally probable ones the first."""
        return np.asarray(self.log_densities(vectors).argmax(axis=1), np.int64)


def mixture(blocks: Blocks, extent: Extent, start: Centres) -> Mixture:
    """The mixture that expectation-maximisation reaches from the clusters of k-means."""
    spread = extent.scatter / extent.rows / len(extent.mean)
    least = _LEAST_VARIANCE * spread or 1.0
    held: Mixture | None = None
    before = -np.inf
    for _ in range(_PASSES):
        sums = _Sums(*start.centres.shape)
        likelihood = 0.0
        for tile in tiles(blocks, extent.rows):
            if held is None:
                shares = one_hot(start.nearest(tile), len(start.centres), np.float64)
            else:
                log_densities = held.log_densities(tile)
                total = logsumexp(log_densities, axis=1)
                likelihood += float(total.sum())
                shares = np.exp(log_densities - total[:, None]).T
            sums.add(shares, tile.astype(np.float64) - extent.mean)
        likelihood /= extent.rows
        if held is not None and likelihood - before < _TOLERANCE:
            break
        if held is not None:
            before = likelihood
        held = sums.mixture(extent, start.centres, least)
    assert held is not None
    return held


class _Sums:
    """Σr, Σrx and Σrx² by component, x taken about the mean of all vectors."""

    def __init__(self, components: int, dim: int) -> None:
        self.weight = np.zeros(components)
        self.first = np.zeros((components, dim))
        self.second = np.zeros((components, dim))

    def add(self, shares: Floats, off: Floats) -> None:
        """Take in vectors (n, d) with the components' shares in them (K, n)."""
        self.weight += shares.sum(axis=1)
        self.first += shares @ off
        off **= 2
        self.second += shares @ off

    def mixture(self, extent: Extent, fallback: Floats, least: float) -> Mixture:
        """The components that these sums make; one without vectors goes to its fallback, with next to no weight."""
        weight = self.weight + 10 * np.finfo(np.float64).eps
        there = self.weight[:, None] > 0
        means = np.where(there, self.first / weight[:, None], fallback - extent.mean)
        variances = np.where(there, np.maximum(self.second / weight[:, None] - means**2, 0), 0) + least
        return Mixture(weight / weight.sum(), means + extent.mean, variances, extent.mean)

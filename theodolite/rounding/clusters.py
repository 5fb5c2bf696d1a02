"""Making a space rounder cluster by cluster: in each, its mean is subtracted and its top directions are removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import Covariance
from theodolite.rounding.base import (
    Blocks,
    Floats,
    Ints,
    Rounder,
    VectorsError,
    tiles,
    top_directions,
    whole_number,
    without,
)
from theodolite.rounding.kmeans import Centres, extent_of, kmeans, one_hot
from theodolite.rounding.mixture import Mixture, mixture

# A cluster's vectors wait until there are so many: adding up d × d products costs as much for a few as for many.
_DRAWER = 1024


class ClusterRemoval(Rounder):
    """Clusters the vectors; in each cluster subtracts its mean and removes its top principal directions.

    ``clusterer``: ``"kmeans"``, or ``"gmm"``, a Gaussian mixture with diagonal covariances. ``remove_directions``:
    False for the mean alone. A new vector goes to its nearest centre, or most probable component. A cluster of fewer
    than ``n_directions`` + 2 vectors keeps the mean step only; ``small_clusters_`` lists these and ``notes()`` says so.
    Where there are no more dimensions than ``n_directions``, nothing but zeros is left of the other clusters.

    Fitted: ``centres_`` (K, d), what a vector is near to; ``means_`` (K, d), of the vectors nearest to each (its
    centre, if there are none); ``directions_`` (K, D, d), orthonormal, with rows of zeros where nothing is removed;
    ``sizes_`` (K,); ``middle_`` (d,), the mean of all; for a mixture ``weights_`` (K,) and ``variances_`` (K, d). A
    constant matrix is one cluster and becomes zeros.

    Memory beside a block: K × d × d numbers (127 MB for 27 clusters of 768 dimensions).

    >>> two = np.array([[0.0, 0.0], [2.0, 0.0], [100.0, 0.0], [102.0, 0.0]])
    >>> ClusterRemoval(n_clusters=2, remove_directions=False).fit_transform(two).tolist()
    [[-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]
    """

    saved: ClassVar[tuple[str, ...]] = (
        "centres_",
        "means_",
        "directions_",
        "sizes_",
        "middle_",
        "weights_",
        "variances_",
    )
    centres_: Floats
    means_: Floats
    directions_: Floats
    sizes_: Ints
    middle_: Floats
    weights_: Floats
    variances_: Floats

    def __init__(
        self,
        clusterer: str = "kmeans",
        remove_directions: bool = True,
        n_clusters: int = 27,
        n_directions: int = 12,
        random_state: int = 0,
    ) -> None:
        self.clusterer = clusterer
        self.remove_directions = remove_directions
        self.n_clusters = n_clusters
        self.n_directions = n_directions
        self.random_state = random_state

    @property
    def method(self) -> str:
        return f"{self.clusterer}+mean" + ("+pca" if self.remove_directions else "")

    @property
    def small_clusters_(self) -> Ints:
        """The clusters that keep the mean step only."""
        return np.flatnonzero(self.sizes_ < self.n_directions + 2) if self.remove_directions else np.empty(0, np.int64)

    def notes(self) -> list[str]:
        """Which clusters were too small to have directions removed, if any."""
        small = self.small_clusters_
        if not len(small):
            return []
        which = ", ".join(f"{c} ({self.sizes_[c]})" for c in small)
        return [
            f"{len(small)} of {len(self.sizes_)} clusters have fewer than {self.n_directions + 2} vectors and keep the "
            f"mean step only: {which}"
        ]

    def assign(self, X: Any) -> Ints:
        """The cluster (n,) of each vector (n, d)."""
        vectors, clusters = self._checked(X, reset=False), self._clusters()
        return np.concatenate([clusters.nearest(tile.astype(np.float64)) for tile in tiles(lambda: (vectors,))])

    def _learn(self, blocks: Blocks) -> None:
        if self.clusterer not in ("kmeans", "gmm"):
            raise VectorsError(f"clusterer={self.clusterer!r}: give 'kmeans' or 'gmm'")
        n_clusters = whole_number("n_clusters", self.n_clusters, 1)
        count = whole_number("n_directions", self.n_directions, 1) if self.remove_directions else 0
        seed = whole_number("random_state", self.random_state, 0)
        extent = extent_of(blocks)
        centres = kmeans(blocks, extent, n_clusters, seed)
        found = mixture(blocks, extent, centres) if self.clusterer == "gmm" else centres
        self.weights_, self.variances_ = np.empty(0), np.empty((0, len(extent.mean)))
        if isinstance(found, Mixture):
            self.weights_, self.variances_ = found.weights, found.variances
        self.centres_, self.middle_ = found.centres, found.middle
        self.n_features_in_ = len(extent.mean)
        if count:
            self._learn_directions(_by_cluster(blocks, extent.rows, found), count)
        else:
            self._learn_means(blocks, extent.rows, found)

    def _learn_directions(self, members: Iterator[tuple[int, NDArray[Any]]], count: int) -> None:
        clusters, dim = self.centres_.shape
        seen = [Covariance(dim) for _ in range(clusters)]
        for cluster, vectors in members:
            seen[cluster].update(vectors)
        self.sizes_ = np.array([one.count for one in seen], np.int64)
        self.means_ = np.array([one.mean if one.count else c for one, c in zip(seen, self.centres_, strict=True)])
        self.directions_ = np.zeros((clusters, min(count, dim), dim))
        for number in np.flatnonzero(self.sizes_ >= count + 2).tolist():
            _, mean, covariance = seen[number].result()
            self.directions_[number] = top_directions(mean, covariance, count)

    def _learn_means(self, blocks: Blocks, rows: int, clusters: Centres | Mixture) -> None:
        sums, sizes = np.zeros_like(self.centres_), np.zeros(len(self.centres_), np.int64)
        for tile in tiles(blocks, rows):
            labels = clusters.nearest(tile)
            sums += one_hot(labels, len(sizes), np.float64) @ (tile.astype(np.float64) - self.middle_)
            sizes += np.bincount(labels, minlength=len(sizes))
        self.sizes_ = sizes
        means = sums / np.maximum(sizes, 1)[:, None] + self.middle_
        self.means_ = np.where(sizes[:, None] > 0, means, self.centres_)
        self.directions_ = np.empty((len(sizes), 0, len(self.middle_)))

    def _clusters(self) -> Centres | Mixture:
        if len(self.weights_):
            return Mixture(self.weights_, self.centres_, self.variances_, self.middle_)
        return Centres(self.centres_, self.middle_)

    def _rounded(self, vectors: Floats) -> Floats:
        labels = self._clusters().nearest(vectors)
        vectors -= self.means_[labels]
        if self.directions_.shape[1]:
            for cluster in np.unique(labels):
                members = np.flatnonzero(labels == cluster)
                vectors[members] = without(self.directions_[cluster], vectors[members])
        return vectors


def _by_cluster(blocks: Blocks, rows: int, clusters: Centres | Mixture) -> Iterator[tuple[int, NDArray[Any]]]:
    """Every vector once, with others of its cluster: cluster, vectors (m, d)."""
    drawers: list[list[NDArray[Any]]] = [[] for _ in clusters.centres]
    for tile in tiles(blocks, rows):
        labels = clusters.nearest(tile)
        order = np.argsort(labels, kind="stable")
        bounds = np.searchsorted(labels[order], np.arange(len(drawers) + 1))
        for cluster, drawer in enumerate(drawers):
            if bounds[cluster] < bounds[cluster + 1]:
                drawer.append(tile[order[bounds[cluster] : bounds[cluster + 1]]])
            if sum(map(len, drawer)) >= _DRAWER:
                yield cluster, np.concatenate(drawer)
                drawer.clear()
    for cluster, drawer in enumerate(drawers):
        if drawer:
            yield cluster, np.concatenate(drawer)

"""k-means over vectors that are seen a tile at a time.

Most of the way is gone on a sample: k-means++ and Lloyd's algorithm from several starts, the best one kept. Then
Lloyd's algorithm goes over all vectors until the inertia has stopped falling, which from there takes a few passes. The
sample is of the rows with the smallest hash, so that it depends on nothing but the seed and the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus

from theodolite.accumulate import HashSample, hash_of
from theodolite.rounding.base import TILE, Blocks, Floats, Ints, VectorsError, tiles

_SAMPLE = 2**13
# A cluster has so many vectors of the sample on average, however many clusters there are.
_SAMPLE_EACH = 100
_STARTS = 3
_PASSES = 100
# Lloyd's algorithm stops when a pass lowers the inertia by less than this share of it.
_TOLERANCE = 1e-4
# Numbers in the array of differences that settles doubtful cases.
_DIFFERENCES = 2**20


@dataclass(frozen=True)
class Extent:
    """How many vectors there are, their mean (d,), and Σ|x − mean|²."""

    rows: int
    mean: Floats
    scatter: float


@dataclass(frozen=True)
class Centres:
    """Cluster centres (K, d) and a point amid all vectors (d,), about which products lose little to rounding."""

    centres: Floats
    middle: Floats

    def scores(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """(n, K), (x − m)·(c − m) − |c − m|²/2: the largest is of the nearest centre. In the vectors' number type."""
        off, shift = self._about_middle()
        found: NDArray[Any] = vectors @ off.T.astype(vectors.dtype)
        found -= shift.astype(vectors.dtype)
        return found

    def nearest(self, vectors: NDArray[Any]) -> Ints:
        """The nearest centre of each vector (n,); of equally near ones the first.

        Wherever rounding might have decided, the distances are taken again one by one in float64: a vector has the
        same answer alone or among others.
        """
        scores = self.scores(vectors)
        rows = np.arange(len(vectors))
        labels = scores.argmax(axis=1)
        best = scores[rows, labels]
        scores[rows, labels] = -np.inf
        lead = best - scores.max(axis=1)
        off, shift = self._about_middle()
        lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
        largest = np.sqrt(np.einsum("kd,kd->k", off, off).max())
        number = np.finfo(vectors.dtype)
        # In whatever order d products are summed, they are off by at most about d·ε·|x||c|.
        slack = 2 * (vectors.shape[1] + 4) * float(number.eps) * (lengths * largest + np.abs(shift).max())
        doubtful = np.flatnonzero(lead <= slack)
        chunk = max(1, _DIFFERENCES // self.centres.size)
        for start in range(0, len(doubtful), chunk):
            some = doubtful[start : start + chunk]
            apart = vectors[some, None].astype(np.float64) - self.centres
            labels[some] = np.einsum("nkd,nkd->nk", apart, apart).argmin(axis=1)
        return np.asarray(labels, np.int64)

    def _about_middle(self) -> tuple[Floats, Floats]:
        off = self.centres - self.middle
        return off, off @ self.middle + np.einsum("kd,kd->k", off, off) / 2


def extent_of(blocks: Blocks) -> Extent:
    """Rows, mean and scatter of the blocks, in one pass that also looks for NaN and infinity."""
    rows, squares, sums, first = 0, 0.0, np.zeros(0), np.zeros(0)
    for tile in tiles(blocks):
        if not rows:
            # Sums about a vector near the mean: about zero they would drown a spread that is small beside it.
            first = tile.mean(axis=0, dtype=np.float64).astype(tile.dtype)
            sums = np.zeros(len(first))
        off = tile - first
        rows += len(tile)
        sums += off.sum(axis=0, dtype=np.float64)
        squares += float(np.einsum("nd,nd->n", off, off).sum(dtype=np.float64))
    shift = sums / rows
    return Extent(rows, first + shift, max(squares - rows * float(shift @ shift), 0.0))


def kmeans(blocks: Blocks, extent: Extent, n_clusters: int, seed: int) -> Centres:
    """Centres of ``n_clusters`` clusters of the vectors, an extent of which has been taken."""
    if extent.rows < n_clusters:
        raise VectorsError(
            f"n_samples={extent.rows} is fewer than n_clusters={n_clusters}; give more vectors or fewer clusters"
        )
    sample = _sample(blocks, extent.rows, max(_SAMPLE, _SAMPLE_EACH * n_clusters), seed)
    middle = sample.mean(axis=0, dtype=np.float64)
    # k-means++ takes differences of squares: about the middle they are small numbers.
    near = sample - middle.astype(sample.dtype)
    scatter = float(np.einsum("nd,nd->n", near, near).sum(dtype=np.float64))
    best: tuple[float, Floats] | None = None
    for start in range(_STARTS):
        chosen, _ = kmeans_plusplus(near, n_clusters, random_state=(seed + start) % 2**32)
        found = _lloyd(lambda: _cut(sample), scatter, Centres(chosen.astype(np.float64) + middle, middle))
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    centres = Centres(best[1], extent.mean)
    if len(sample) == extent.rows:
        return centres
    _, moved = _lloyd(lambda: tiles(blocks, extent.rows), extent.scatter, centres)
    return Centres(moved, extent.mean)


def _lloyd(tiles_of: Callable[[], Iterable[NDArray[Any]]], scatter: float, start: Centres) -> tuple[float, Floats]:
    """Inertia and centres (K, d) once a pass lowers the inertia no more; an empty cluster's centre stays."""
    held, before = start, np.inf
    for _ in range(_PASSES):
        sums, counts, gained = np.zeros_like(held.centres), np.zeros(len(held.centres)), 0.0
        for tile in tiles_of():
            scores = held.scores(tile)
            labels = scores.argmax(axis=1)
            gained += float(scores[np.arange(len(tile)), labels].sum(dtype=np.float64))
            sums += one_hot(labels, len(counts), tile.dtype) @ tile
            counts += np.bincount(labels, minlength=len(counts))
        # |x − c|² is |x − m|² less twice the score.
        inertia = max(scatter - 2 * gained, 0.0)
        if before - inertia <= _TOLERANCE * inertia:
            break
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], held.centres)
        held, before = Centres(centres, held.middle), inertia
    return inertia, held.centres


def one_hot(labels: Ints, width: int, kind: Any) -> NDArray[Any]:
    """(width, n), 1 where a row is of that label: times the vectors, it sums them by label."""
    found = np.zeros((width, len(labels)), kind)
    found[labels, np.arange(len(labels))] = 1
    return found


def _sample(blocks: Blocks, rows: int, size: int, seed: int) -> NDArray[Any]:
    """The ``size`` vectors whose row numbers have the smallest hash, in row order; all if there are no more."""
    chosen = HashSample(size, 1)
    for first in range(0, rows, 2**20):
        some = np.arange(first, min(first + 2**20, rows))
        chosen.update(hash_of(seed, some), some[:, None])
    wanted = np.sort(chosen.result()[:, 0])
    taken, first = [], 0
    for tile in tiles(blocks, rows):
        begin, end = np.searchsorted(wanted, [first, first + len(tile)])
        taken.append(tile[wanted[begin:end] - first])
        first += len(tile)
    return np.concatenate(taken)


def _cut(vectors: NDArray[Any]) -> Iterable[NDArray[Any]]:
    return (vectors[start : start + TILE] for start in range(0, len(vectors), TILE))

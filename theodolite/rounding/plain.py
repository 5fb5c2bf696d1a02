"""Transformers that treat the whole space alike: mean removal, All-but-the-Top, whitening."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from theodolite.accumulate import Covariance, WeightedMean
from theodolite.rounding.base import Blocks, Floats, Rounder, VectorsError, tiles, top_directions, whole_number, without

# Eigenvalues below this share of the largest are dropped by whitening: it would blow rounding up to unit variance.
_DROPPED = 1e-6


class Unchanged(Rounder):
    """The space as it is, to compare the others with."""

    method = "none"

    def _learn(self, blocks: Blocks) -> None:
        for tile in tiles(blocks):
            self.n_features_in_ = tile.shape[1]

    def _rounded(self, vectors: Floats) -> Floats:
        return vectors


class _OnePass(Rounder):
    """Learns from an accumulator that sees every vector once, so that it can also learn bit by bit."""

    saved: ClassVar[tuple[str, ...]] = ("mean_",)
    mean_: Floats

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from vectors (n, d) on top of those seen before. Large batches are cheaper: each is worked out anew."""
        first = not hasattr(self, "seen_")
        if first and hasattr(self, "mean_"):
            raise VectorsError("this transformer was loaded, without what it had seen; fit a new one on all vectors")
        vectors = self._checked(X, reset=first)
        seen = self._nothing(vectors.shape[1]) if first else self.seen_
        self._take(seen, lambda: (vectors,))
        return self

    def _learn(self, blocks: Blocks) -> None:
        self._take(None, blocks)

    def _take(self, seen: Any, blocks: Blocks) -> None:
        for tile in tiles(blocks):
            seen = self._nothing(tile.shape[1]) if seen is None else seen
            self._update(seen, tile)
        self.seen_ = seen
        self._settle()
        self.n_features_in_ = len(self.mean_)

    def _nothing(self, dim: int) -> Any:
        return Covariance(dim)

    def _update(self, seen: Any, vectors: NDArray[Any]) -> None:
        seen.update(vectors)

    @abstractmethod
    def _settle(self) -> None:
        """Work the fitted arrays out from what was seen."""


class MeanRemoval(_OnePass):
    """Subtracts the mean.

    Fitted: ``mean_`` (d,). A constant matrix becomes zeros.

    >>> MeanRemoval().fit_transform(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    method = "mean"

    def _nothing(self, dim: int) -> Any:
        return WeightedMean((dim,))

    def _update(self, seen: Any, vectors: NDArray[Any]) -> None:
        seen.update(vectors, np.ones(len(vectors)))

    def _settle(self) -> None:
        self.mean_, _ = self.seen_.result()

    def _rounded(self, vectors: Floats) -> Floats:
        vectors -= self.mean_
        return vectors


class AllButTheTop(_OnePass):
    """Subtracts the mean, then removes the top principal directions (All-but-the-Top).

    ``n_directions``: how many; ``"auto"`` for d // 100, at least 1. Where there are no more dimensions than that,
    nothing but zeros is left.
    Fitted: ``mean_`` (d,), ``directions_`` (D, d), orthonormal, with rows of zeros where the vectors do not spread: of
    a constant matrix only the mean is removed.
    """

    method = "abtt"
    saved: ClassVar[tuple[str, ...]] = ("mean_", "directions_")
    directions_: Floats

    def __init__(self, n_directions: int | str = 12) -> None:
        self.n_directions = n_directions

    def _settle(self) -> None:
        _, self.mean_, covariance = self.seen_.result()
        width = len(self.mean_)
        count = max(1, width // 100) if self.n_directions == "auto" else self.n_directions
        self.directions_ = top_directions(self.mean_, covariance, whole_number("n_directions", count, 1))

    def _rounded(self, vectors: Floats) -> Floats:
        vectors -= self.mean_
        return without(self.directions_, vectors)


class Whitening(_OnePass):
    """Subtracts the mean and gives every direction unit variance, turned back so that axes stay what they were (ZCA).

    The vectors are those of PCA whitening up to a rotation, so that their cosines are the same. Directions whose
    eigenvalue is under a millionth of the largest are dropped: the result is zero along them.
    Fitted: ``mean_`` (d,), ``whitener_`` (d, d), ``rank_``, how many directions are left. A constant matrix, or one
    vector, becomes zeros.
    """

    method = "whitening"
    saved: ClassVar[tuple[str, ...]] = ("mean_", "whitener_", "rank_")
    whitener_: Floats
    rank_: NDArray[np.int64]

    def _settle(self) -> None:
        _, self.mean_, covariance = self.seen_.result()
        variances, vectors = eigh(covariance)
        # Far below the mean square length there is only rounding, as in a constant matrix.
        floor = max(_DROPPED * variances[-1], 1e-12 * (variances.sum() + self.mean_ @ self.mean_))
        kept = variances > floor
        self.whitener_ = (vectors[:, kept] / np.sqrt(variances[kept])) @ vectors[:, kept].T
        self.rank_ = np.asarray(np.count_nonzero(kept))

    def notes(self) -> list[str]:
        """How many directions were dropped, if any."""
        dropped = self.n_features_in_ - int(self.rank_)
        return (
            [f"{dropped} of {self.n_features_in_} directions with next to no variance were dropped"] if dropped else []
        )

    def _rounded(self, vectors: Floats) -> Floats:
        vectors -= self.mean_
        return vectors @ self.whitener_

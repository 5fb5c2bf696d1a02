"""What all transformers that make a space rounder have in common, and how they are given their vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from theodolite.accumulate.top import floating
from theodolite.errors import InputError
from theodolite.rounding.width import WIDEST

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Blocks = Callable[[], Iterable[NDArray[Any]]]

TILE = 4096
# A direction whose variance is this far below the mean square length is rounding, not a direction.
_NO_VARIANCE = 1e-12


class VectorsError(InputError, ValueError):
    """Vectors or parameters that cannot be used; a ValueError too, which is what scikit-learn's users expect."""


class Rounder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn transformer from vectors (n, d) to vectors (n, d), with a fit that can be streamed.

    It computes in float64 and gives back the number type it was given, so that a vector comes out the same alone or
    among many. ``saved`` names the fitted arrays that the transform is made of.
    """

    saved: ClassVar[tuple[str, ...]] = ()
    n_features_in_: int

    @property
    @abstractmethod
    def method(self) -> str:
        """Its name in tables, as ``METHODS`` has it."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from vectors (n, d)."""
        vectors = self._checked(X, reset=True)
        self._learn(lambda: (vectors,))
        return self

    def fit_blocks(self, blocks: Blocks) -> Self:
        """Learn from vectors that are not in memory at once.

        ``blocks`` gives the same arrays (b, d) each time it is called. How the vectors are cut into blocks makes no
        difference to the result: they are put together again into tiles of a fixed size.
        """
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._learn(blocks)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Vectors (n, d) made rounder, in the number type they came in."""
        check_is_fitted(self)
        vectors = self._checked(X, reset=False)
        found = np.empty(vectors.shape, vectors.dtype)
        for start in range(0, len(vectors), TILE):
            some = slice(start, start + TILE)
            found[some] = self._rounded(vectors[some].astype(np.float64))
        return found

    def transform_one(self, vector: NDArray[Any]) -> NDArray[Any]:
        """One vector (d,) made rounder."""
        given = np.asarray(vector)
        if given.ndim != 1:
            raise VectorsError(f"one vector (d,) wanted, got an array of shape {given.shape}; use transform for many")
        found: NDArray[Any] = np.asarray(self.transform(given[None]))[0]
        return found

    def notes(self) -> list[str]:
        """Sentences that whoever reads the result should know; usually none."""
        return []

    @abstractmethod
    def _learn(self, blocks: Blocks) -> None:
        """Set the fitted attributes, ``n_features_in_`` among them."""

    @abstractmethod
    def _rounded(self, vectors: Floats) -> Floats:
        """The transform of a few vectors (t, d); the array may be overwritten."""

    def _checked(self, X: Any, reset: bool) -> NDArray[Any]:
        try:
            vectors: NDArray[Any] = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])
        except ValueError as fault:
            # After its first line scikit-learn prints the whole array.
            said = str(fault).splitlines()[0].rstrip(":")
            one = "1D array" in said
            raise VectorsError(said + ". Reshape your data to (1, d), or use transform_one" * one) from None
        refuse_transposed(vectors.shape)
        return vectors

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def refuse_transposed(shape: tuple[int, ...]) -> None:
    """Refuse vectors wider than any encoder's, whose (d, d) would not fit in memory either."""
    if shape[1] > WIDEST:
        raise VectorsError(
            f"vectors of {shape[1]:,} numbers are wider than any encoder's: the matrix looks transposed; give (n "
            "vectors, d dimensions)"
        )


def tiles(blocks: Blocks, expected: int | None = None) -> Iterator[NDArray[Any]]:
    """The vectors of the blocks in tiles (4096, d), the last one smaller; float32 stays, the rest is float64.

    Without ``expected`` every number is looked at: NaN and infinity are errors. With it, the blocks have been gone
    over before and must have that many rows again.

    >>> [len(tile) for tile in tiles(lambda: [np.zeros((3000, 2))] * 3)]
    [4096, 4096, 808]
    """
    waiting: list[NDArray[Any]] = []
    held = rows = width = 0
    for block in blocks():
        if np.ndim(block) != 2 or not block.shape[1] or width not in (0, block.shape[1]):
            raise VectorsError(f"blocks of shape (b, {width or 'd'}) wanted, got {np.shape(block)}")
        refuse_transposed(block.shape)
        width, start = block.shape[1], 0
        while start < len(block):
            part = floating(block[start : start + TILE - held])
            if expected is None:
                _check_finite(part, rows)
            start, rows = start + len(part), rows + len(part)
            if len(part) == TILE:
                yield part
                continue
            # A copy: the block may be a buffer that is filled again.
            waiting.append(part.copy())
            held += len(part)
            if held == TILE:
                yield np.concatenate(waiting)
                waiting, held = [], 0
    if waiting:
        yield np.concatenate(waiting)
    if expected is None and not rows:
        raise VectorsError("there are no vectors to fit on (n_samples=0); give at least one")
    if expected not in (None, rows):
        raise VectorsError(
            f"the blocks had {expected} vectors at first and then {rows}; give a function that starts anew every time"
        )


def top_directions(mean: Floats, covariance: Floats, count: int) -> Floats:
    """The principal directions (count, d) of most variance, largest first; rows of zeros where there is none."""
    width = len(mean)
    count = min(count, width)
    variances, vectors = eigh(covariance, subset_by_index=[width - count, width - 1])
    there = variances > _NO_VARIANCE * (np.trace(covariance) + mean @ mean)
    return np.ascontiguousarray(np.where(there, vectors, 0).T[::-1])


def without(directions: Floats, vectors: Floats) -> Floats:
    """Vectors (n, d) less their components along orthonormal directions (D, d); the array is overwritten."""
    vectors -= (vectors @ directions.T) @ directions
    return vectors


def whole_number(name: str, value: Any, least: int) -> int:
    """A parameter that must be a whole number of at least so much."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise VectorsError(f"{name}={value!r}: give a whole number of {least} or more")
    return int(value)


def _check_finite(part: NDArray[Any], first: int) -> None:
    finite = np.isfinite(part)
    if not finite.all():
        row = int(finite.all(axis=1).argmin())
        kind = "NaN" if np.isnan(part[row]).any() else "infinity"
        raise VectorsError(f"vector {first + row} contains {kind}; leave it out or mend it")

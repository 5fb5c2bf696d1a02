"""IsoScore: how evenly a space uses its dimensions, from 0 (one of them) to 1 (all alike).

Rudman, Gillman, Rayne and Eickhoff (2022) take the centred covariance's eigenvalues λ, scale them to length √d, and
rescale their distance from (1, …, 1). With |√d λ/|λ| − 1|² = 2d − 2√d Σλ/|λ| all their steps together come to

    ((Σλ)² / Σλ² − 1) / (d − 1)

and Σλ is the covariance's trace, Σλ² the sum of its squared entries: no eigenvalue need be found.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from theodolite.errors import InputError
from theodolite.rounding.width import odd_width

Floats = NDArray[np.float64]

# Vectors at a time, and those that say where they lie and how far they reach.
_ROWS = 4_096
_FIRST = 1_024


def isoscore(covariance: NDArray[Any]) -> float:
    """IsoScore of a centred covariance (d, d), scaled in any way; NaN where d is 1 or nothing varies.

    >>> isoscore(np.eye(4)), isoscore(np.diag([3.0, 0.0, 0.0]))
    (1.0, 0.0)
    """
    matrix = np.asarray(covariance, np.float64)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
    if not square or not np.allclose(matrix, matrix.T, rtol=0, atol=1e-8 * np.abs(matrix).max(initial=0)):
        raise InputError(
            f"IsoScore wants a covariance, (d, d) and symmetric, not {matrix.shape}; use measure_array for vectors"
        )
    d, trace = len(matrix), float(np.trace(matrix))
    if d < 2 or not trace > 0:
        return float("nan")
    shares = matrix / trace  # so that no square under- or overflows
    return float(np.clip((1 / np.vdot(shares, shares) - 1) / (d - 1), 0, 1))


def isoscore_of(vectors: NDArray[Any]) -> float:
    """IsoScore of vectors (n, d) alone, without the other measures, in single precision.

    What is added up in single precision is a block's products about a point among the vectors, so that neither their
    distance from the origin nor their number costs digits; blocks are added in double precision.

    >>> isoscore_of(np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 1.0], [2.0, -1.0]]))
    1.0
    """
    if vectors.ndim != 2 or not len(vectors):
        raise InputError(f"(n vectors, d dimensions) wanted, got an array of shape {vectors.shape}")
    n, d = vectors.shape
    refuse_transposed(n, d)
    middle = vectors[:_FIRST].mean(axis=0, dtype=np.float64)
    # So that nothing under- or overflows in single precision.
    scale = float(np.abs(vectors[:_FIRST] - middle).max()) or 1.0
    near = middle if vectors.dtype == np.float64 else middle.astype(np.float32)
    starts = range(0, n, _ROWS)
    lanes = min(_threads(), len(starts))
    # Two products side by side on a thread each take less than one on two threads, which wait for each other.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(lanes) as pool:
        parts = list(pool.map(lambda lane: _added(vectors, starts[lane::lanes], near, scale), range(lanes)))
    sums, products = (np.sum(of_lanes, axis=0) for of_lanes in zip(*parts, strict=True))
    if not np.isfinite(sums).all():
        raise InputError("a vector has a NaN, infinite or immense number; mend it or leave it out")
    return isoscore(products / n - np.outer(sums / n, sums / n))


def _added(vectors: NDArray[Any], starts: range, near: NDArray[Any], scale: float) -> tuple[Floats, Floats]:
    """Σv (d,) and Σvvᵀ (d, d) over the blocks that start there, of vectors seen from ``near``, scaled down."""
    d = vectors.shape[1]
    sums, products = np.zeros(d), np.zeros((d, d))
    off = np.empty((min(len(vectors), _ROWS), d), np.float32)
    for start in starts:
        block = vectors[start : start + _ROWS]
        part = off[: len(block)]
        np.subtract(block, near, out=part, casting="same_kind")
        if scale != 1:
            part /= np.float32(scale)
        sums += np.ones(len(part), np.float32) @ part
        products += part.T @ part
    return sums, products


def _threads() -> int:
    """How many threads matrix products may use."""
    return max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)


def refuse_transposed(rows: int, columns: int, dim: int | None = None) -> None:
    """Refuse vectors (rows, columns) that are not of the width ``dim``, or that look transposed where it is not given.

    Fewer vectors than dimensions is no fault by itself: ten texts in 384 dimensions are a fair question. With
    fewer rows than columns it can be told only where no encoder has such a width.
    """
    if dim is None:
        if rows < columns and odd_width(columns):
            raise InputError(
                f"{rows:,} rows of {columns:,} numbers look transposed; give (n vectors, d dimensions), "
                f"or say dim={columns} if the vectors are that wide"
            )
    elif columns != dim:
        turned = "; the matrix is transposed: turn it round" if rows == dim else ""
        raise InputError(f"vectors of {dim:,} numbers wanted, got {columns:,}{turned or '; check where they are from'}")

"""The texts nearest to a text in a representation, and the terms they share: exact, a block at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from theodolite.salience.maps import Ints

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Cosines, and values of queries written out, held at a time: 8 bytes each.
_HELD = 2**23
_BLOCK = 2**14


def nearest(
    matrix: scipy.sparse.csr_array | NDArray[Any],
    queries: scipy.sparse.csr_array | NDArray[Any],
    k: int,
    *,
    among: Mask | None = None,
) -> tuple[Ints, Floats]:
    """(q, k) the rows of largest cosine with each query and (q, k) the cosines, largest first, in float64.

    matrix (n, d) and queries (q, d): rows of length 1 or 0, both sparse or both dense; among: (n,) the rows that may be
    found. Of equal cosines the lower row comes first. Where fewer than k rows may be found, there are so many columns.
    A query that is itself a row is found too: ask for one more and leave it out.
    """
    k = min(k, matrix.shape[0] if among is None else int(among.sum()))
    rows, cosines = np.empty((queries.shape[0], k), np.int64), np.empty((queries.shape[0], k))
    find = _sparse_nearest if scipy.sparse.issparse(matrix) else _dense_nearest
    at_once = max(1, _HELD // max(matrix.shape))
    for start in range(0, queries.shape[0] if k else 0, at_once):
        at = slice(start, start + at_once)
        rows[at], cosines[at] = find(matrix, queries[at], k, among)
    return rows, cosines


def shared_terms(a: scipy.sparse.csr_array, b: scipy.sparse.csr_array, count: int) -> list[tuple[int, float]]:
    """The columns in which two rows (1, d) both have a value, and the product of the values, largest first.

    Of equal products the lower column comes first. The products of all columns sum to the rows' cosine; those of 0 and
    below make no likeness and are left out.
    """
    both = scipy.sparse.csr_array(a.multiply(b))
    both.sum_duplicates()
    order = np.argsort(-both.data, kind="stable")[:count]
    return [(int(both.indices[i]), float(both.data[i])) for i in order if both.data[i] > 0]


def _sparse_nearest(
    matrix: scipy.sparse.csr_array, queries: scipy.sparse.csr_array, k: int, among: Mask | None
) -> tuple[Ints, Floats]:
    """Each product is summed in the order of the row's own columns: equal rows have equal cosines."""
    scores = np.ascontiguousarray((matrix @ queries.astype(np.float64).toarray().T).T)
    if among is not None:
        scores[:, ~among] = -np.inf
    rows = np.stack([_largest(of_query, k) for of_query in scores])
    return rows, np.take_along_axis(scores, rows, axis=1)


def _dense_nearest(matrix: NDArray[Any], queries: NDArray[Any], k: int, among: Mask | None) -> tuple[Ints, Floats]:
    """A product in the matrix's own precision finds who might be among the nearest, given how far it can be off; those
    are multiplied again in float64, each by itself, so that equal rows have equal cosines.
    """
    rough = queries.astype(matrix.dtype) @ matrix.T
    if among is not None:
        rough[:, ~among] = -np.inf
    slack = 2 * matrix.shape[1] * float(np.finfo(matrix.dtype).eps)
    rows, cosines = [], []
    for query, scores in zip(queries.astype(np.float64), rough, strict=True):
        near = np.flatnonzero(scores >= np.partition(scores, -k)[-k] - slack)
        exact = np.concatenate(
            [(matrix[near[i : i + _BLOCK]] * query).sum(axis=1) for i in range(0, len(near), _BLOCK)]
        )
        best = _largest(exact, k)
        rows.append(near[best])
        cosines.append(exact[best])
    return np.stack(rows), np.stack(cosines)


def _largest(scores: Floats, k: int) -> Ints:
    """(k,) the places of the largest, largest first, of equal ones the lower place."""
    bar = np.partition(scores, -k)[-k]
    above, level = np.flatnonzero(scores > bar), np.flatnonzero(scores == bar)
    places = np.concatenate([above, level[: k - len(above)]])
    return np.asarray(places[np.lexsort((places, -scores[places]))])

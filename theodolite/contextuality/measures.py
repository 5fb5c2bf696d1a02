"""The mathematics of contextuality, on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import unit_vectors

Floats = NDArray[np.float64]


def intra_similarity(unit_sums: NDArray[Any], sums: NDArray[Any], counts: NDArray[Any] | int) -> Floats:
    """Mean cosine of a text's words with their mean, from Σu (…, d), Σv (…, d) and n (…).

    The mean m of the words has the direction of Σv, so the mean of cos(v, m) is Σu · Σv / (n |Σv|).

    >>> u = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> float(intra_similarity(u.sum(0), u.sum(0), np.array(2)).round(4))
    0.7071
    """
    length = np.sqrt(np.einsum("...d,...d->...", sums, sums, dtype=np.float64))
    dot = np.einsum("...d,...d->...", unit_sums, sums, dtype=np.float64)
    found: Floats = np.divide(dot, counts * length, out=np.zeros(np.shape(dot)), where=length > 0)
    return found


def mev(vectors: NDArray[Any], *, centered: bool = False) -> float:
    """Share of the sum of squares of (n, d) vectors along their first singular direction: σ1² / Σσ².

    >>> round(mev(np.array([[2.0, 0.0], [-1.0, 0.0]])), 9)
    1.0
    """
    x = np.asarray(vectors, np.float64)
    return float(prefix_mev(x @ x.T, [len(x)], centered=centered)[0])


def prefix_mev(gram: NDArray[Any], sizes: Sequence[int], *, centered: bool = False) -> Floats:
    """MEV of the first n vectors for each n in ``sizes``, (sizes, …), from their Gram matrices (…, N, N).

    NaN where fewer than two of them have a length (a weight of 0 takes it): one vector always explains itself.
    """
    found = np.ones((len(sizes), *gram.shape[:-2]))
    for i, n in enumerate(sizes):
        part = np.asarray(gram[..., :n, :n], np.float64)
        several = np.count_nonzero(np.diagonal(part, axis1=-2, axis2=-1) > 0, axis=-1) >= 2
        if centered:
            rows, columns = part.mean(-1, keepdims=True), part.mean(-2, keepdims=True)
            part = part - rows - columns + rows.mean(-2, keepdims=True)
        total = np.trace(part, axis1=-2, axis2=-1)
        np.divide(np.linalg.eigvalsh(part)[..., -1], total, out=found[i, ...], where=total > 0)
        found[i] = np.where(several, found[i], np.nan)
    return found


def shuffled_similarity(
    pool: NDArray[Any], sizes: NDArray[np.int64], seed: int, weights: NDArray[Any] | None = None
) -> Floats:
    """IntraSim of texts of the given sizes made of random members of a pool of vectors (p, layers, d).

    Returns (texts, layers). Members of one text are different; a text longer than the pool takes all of it.
    weights: (p,) above 0, to which a member's chance is proportional.
    """
    from scipy.sparse import csr_array

    random = np.random.default_rng(seed)
    counts = np.minimum(sizes, len(pool))
    chances = None if weights is None else weights / weights.sum()
    members = [random.choice(len(pool), size, replace=False, p=chances) for size in counts.tolist()]
    bounds = np.append(0, np.cumsum(counts))
    texts = csr_array((np.ones(bounds[-1]), np.concatenate(members), bounds), shape=(len(sizes), len(pool)))
    exact = pool.astype(np.float64)
    sums, unit_sums = (
        (texts @ vectors.reshape(len(pool), -1)).reshape(-1, *pool.shape[1:])
        for vectors in (exact, unit_vectors(exact))
    )
    found = intra_similarity(unit_sums, sums, counts[:, None])
    return found

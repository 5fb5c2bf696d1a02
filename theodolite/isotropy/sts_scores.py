"""Judging embeddings by STS: the cosine of two texts against the score that people gave the pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from theodolite.accumulate import unit_vectors
from theodolite.accumulate.moments import Z_95
from theodolite.errors import InputError
from theodolite.isotropy.sts_files import StsFile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 512  # texts whose vectors are held in float64 at a time


@dataclass(frozen=True, eq=False)
class Pairs:
    """A file's pairs as places in a list of texts: first, second (n,); the list may hold other files' texts too."""

    texts: list[str]
    first: Ints
    second: Ints


@dataclass(frozen=True)
class Correlation:
    """How cosines go with scores: Pearson's r and Spearman's rho times 100, each with its 95% interval.

    The intervals are symmetric around Fisher's z = atanh(r): Pearson's with standard error 1/√(n − 3), Spearman's
    with Bonett and Wright's √((1 + r²/2)/(n − 3)). They take the pairs for independent, though texts may recur.
    Both correlations are None where scores or cosines do not vary or there are fewer than two pairs; an interval is
    None where its correlation is, where that is 100 or −100, and below four pairs.
    """

    pearson: float | None
    pearson_low: float | None
    pearson_high: float | None
    spearman: float | None
    spearman_low: float | None
    spearman_high: float | None
    pairs: int


def distinct_texts(files: Sequence[StsFile]) -> list[str]:
    """Each text of the files once, in order of first occurrence: row by row, a before b."""
    return list(_places(files))


def pairs_of(files: Sequence[StsFile]) -> list[Pairs]:
    """The pairs of each file as places in `distinct_texts(files)`, which all of them share."""
    places = _places(files)
    texts = list(places)
    return [Pairs(texts, *(np.array([places[t] for t in side], np.int64) for side in (f.a, f.b))) for f in files]


def _places(files: Sequence[StsFile]) -> dict[str, int]:
    each_once = dict.fromkeys(text for file in files for pair in zip(file.a, file.b, strict=True) for text in pair)
    return {text: place for place, text in enumerate(each_once)}


def text_vectors(token_vectors: NDArray[Any], lengths: ArrayLike) -> Floats:
    """(n, d) mean of each text's vectors; token_vectors: (t, d), text after text; lengths: (n,) tokens a text.

    Sums are in float64, a block of texts at a time. A text without tokens has zeros.

    >>> text_vectors(np.array([[1.0, 3.0], [3.0, 5.0], [7.0, 7.0]]), [2, 0, 1]).tolist()
    [[2.0, 4.0], [0.0, 0.0], [7.0, 7.0]]
    """
    sizes = np.asarray(lengths, np.int64)
    bounds = np.append(0, np.cumsum(sizes))
    if bounds[-1] != len(token_vectors) or (sizes < 0).any():
        raise InputError(f"lengths add up to {bounds[-1]} tokens, and there are {len(token_vectors)}; give them all")
    means = np.zeros((len(sizes), token_vectors.shape[1]))
    for start in range(0, len(sizes), _BLOCK):
        ends = bounds[start : start + _BLOCK + 1]
        block = np.asarray(token_vectors[ends[0] : ends[-1]], np.float64)
        # A sparse product is twice as fast as add.reduceat, which moreover takes an empty text for one token.
        which = scipy.sparse.csr_array(
            (np.ones(len(block)), np.arange(len(block)), ends - ends[0]), (len(ends) - 1, len(block))
        )
        means[start : start + _BLOCK] = (which @ block) / np.maximum(np.diff(ends), 1)[:, None]
    return means


def pair_cosines(vectors: NDArray[Any], first: Ints, second: Ints) -> Floats:
    """(n,) cosine of vectors[first] and vectors[second], in float64; 0 where either is a zero vector.

    >>> pair_cosines(np.array([[2.0, 0.0], [3.0, 0.0], [0.0, 0.0]]), np.array([0, 0]), np.array([1, 2])).tolist()
    [1.0, 0.0]
    """
    units = unit_vectors(np.asarray(vectors, np.float64))
    cosines: Floats = np.einsum("nd,nd->n", units[first], units[second])
    return np.clip(cosines, -1, 1)


def correlations(scores: ArrayLike, cosines: ArrayLike) -> Correlation:
    """Pearson's and Spearman's correlation (ties share their average rank) of n scores and n cosines.

    >>> found = correlations([0, 1, 2, 3, 5], [0.1, 0.3, 0.2, 0.6, 0.9])
    >>> round(found.pearson, 1), round(found.spearman, 1), found.pairs
    (94.6, 90.0, 5)
    """
    from scipy.stats import rankdata

    x, y = np.asarray(scores, np.float64), np.asarray(cosines, np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(f"scores of shape {x.shape}, cosines of shape {y.shape}; give one of each a pair")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("a score or a cosine is NaN or infinite; look for vectors that are")
    n = len(x)
    if n < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(None, None, None, None, None, None, n)
    pearson, spearman = _pearson(x, y), _pearson(rankdata(x), rankdata(y))
    low, high = _interval(pearson, n, 1)
    rank_low, rank_high = _interval(spearman, n, 1 + spearman**2 / 2)
    return Correlation(100 * pearson, low, high, 100 * spearman, rank_low, rank_high, n)


def _pearson(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    # Each scaled first: the square of a very small difference would be 0.
    x, y = x / np.abs(x).max(), y / np.abs(y).max()
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))


def _interval(r: float, n: int, variance: float) -> tuple[float, float] | tuple[None, None]:
    """95% interval, times 100, of a correlation whose Fisher's z has this variance over n − 3."""
    if n < 4 or abs(r) >= 1:
        return None, None
    half = Z_95 * np.sqrt(variance / (n - 3))
    low, high = 100 * np.tanh(np.arctanh(r) + np.array([-half, half]))
    return float(low), float(high)

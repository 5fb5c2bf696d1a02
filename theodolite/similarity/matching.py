"""Which words of two texts belong together, and which of these pairs carry the likeness. Arrays only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import unit_vectors
from theodolite.similarity.explanation import Doubles, Ints, Matches
from theodolite.similarity.meanshift import clusters_of

# Words compared at a time with all of the other text: 20,000 words on both sides then take 160 MB, not 3 GB.
BLOCK = 1024
ROUNDING = 1e-12


def best_matches(words_a: NDArray[np.floating], words_b: NDArray[np.floating]) -> tuple[Ints, Ints, Doubles]:
    """Each word of one text with the word of the other of highest cosine (ties: the first), both ways, each pair once.

    words_a (w, d) and words_b (v, d), vectors. Gives the two indices and the cosine (p,), ordered by index.
    """
    a, b = (unit_vectors(np.asarray(words, np.float64)) for words in (words_a, words_b))
    of_a = np.empty(len(a), np.int64)
    of_b, best_of_b = np.zeros(len(b), np.int64), np.full(len(b), -np.inf)
    for begin in range(0, len(a), BLOCK):
        cosines = a[begin : begin + BLOCK] @ b.T
        of_a[begin : begin + BLOCK] = _first_highest(cosines)
        highest = cosines.max(axis=0)
        better = highest > best_of_b + ROUNDING
        of_b[better] = begin + _first_highest(cosines[:, better].T)
        best_of_b = np.maximum(best_of_b, highest)
    there = np.arange(len(a)) * len(b) + of_a
    back = of_b * len(b) + np.arange(len(b))
    index_a, index_b = np.divmod(np.union1d(there, back), len(b))
    return index_a, index_b, np.einsum("pd,pd->p", a[index_a], b[index_b])


def _first_highest(cosines: Doubles) -> Ints:
    """(n,) of each row (n, m) the first of the highest: equal vectors come out of a product a rounding apart."""
    if not len(cosines):
        return np.empty(0, np.int64)
    found: Ints = (cosines >= cosines.max(axis=1, keepdims=True) - ROUNDING).argmax(axis=1)
    return found


def scored(matched: tuple[Ints, Ints, Doubles], saliency_a: Doubles, saliency_b: Doubles, top_k: int) -> Matches:
    """Score = cosine × saliency × saliency; the pairs of the top_k clusters of scores are chosen."""
    index_a, index_b, cosine = matched
    score = cosine * saliency_a[index_a] * saliency_b[index_b]
    cluster = clusters_of(score)
    order = np.argsort(-score, kind="stable")
    cluster = cluster[order]
    return Matches(index_a[order], index_b[order], cosine[order], score[order], cluster, cluster < top_k)


def scaled(saliency: Doubles) -> Doubles:
    """Saliencies of a text's pieces brought to 0 … 1; equal ones all to 1.

    >>> scaled(np.array([2.0, 4.0, 3.0])).tolist(), scaled(np.array([5.0])).tolist()
    ([0.0, 1.0, 0.5], [1.0])
    """
    if not len(saliency) or saliency.max() == saliency.min():
        return np.ones(len(saliency))
    found: Doubles = (saliency - saliency.min()) / (saliency.max() - saliency.min())
    return found

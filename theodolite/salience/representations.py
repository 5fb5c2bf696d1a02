"""Texts as vectors made from their salience maps, and the baselines beside them: rows scaled to length 1, float32."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from theodolite.accumulate import unit_vectors
from theodolite.errors import InputError
from theodolite.salience.maps import SPECIAL, Floats, Ints, TextMaps
from theodolite.salience.pmi import bag_of_words, pmi_table

TOP_K = 5


@dataclass(frozen=True)
class Represented:
    """Texts in one representation: a matrix with a row a text, sparse or dense.

    items: what the columns stand for: (columns,) vocabulary items, (columns, 2) ordered pairs of them, None of a dense
    one, whose terms come from ``salience_vocab``; table: the PMI values that weighted it (`pmi` alone).
    """

    matrix: scipy.sparse.csr_array | Floats
    items: Ints | None = None
    table: NDArray[np.float64] | None = None


def salience_vocab(maps: TextMaps, vocabulary: int, top_k: int | None = TOP_K) -> scipy.sparse.csr_array:
    """(n, vocabulary): the largest |salience| over each item's positions, special tokens included.

    All but the ``top_k`` largest of a row are set to 0 (of equal ones the lower items stay); None keeps all.
    """
    texts, items, values = _largest(maps.text_of, maps.ids, np.abs(maps.weights), vocabulary)
    if top_k is not None:
        # Items ascend within a text, and the sort is stable: of equal values the lower item comes first.
        kept = _first_of_each(texts, np.lexsort((-values, texts)), top_k)
        texts, items, values = texts[kept], items[kept], values[kept]
    return _unit_rows(_sparse(texts, items, values, (len(maps), vocabulary)))


def salience_embedding(maps: TextMaps, embedding: NDArray[Any], top_k: int | None = TOP_K) -> Floats:
    """(n, e): ``salience_vocab`` times the model's input embeddings (vocabulary, e)."""
    return unit_rows(salience_vocab(maps, len(embedding), top_k) @ np.asarray(embedding, np.float32))


def average_embedding(maps: TextMaps, embedding: NDArray[Any]) -> Floats:
    """(n, e): the direction of the mean input embedding of the text's tokens, special ones out."""
    own = maps.side != SPECIAL
    texts, items = maps.text_of[own], maps.ids[own]
    # Entries of the same item add up, and the scale of the sum is the row's length in the end.
    counts = _sparse(texts, items, np.ones(len(items), np.float32), (len(maps), len(embedding)))
    return unit_rows(counts @ np.asarray(embedding, np.float32))


def pmi_vectors(maps: TextMaps, vocabulary: int, table: NDArray[np.float64] | None = None) -> scipy.sparse.csr_array:
    """(n, vocabulary): each item of the text (special tokens out), weighted by its PMI with the predicted class.

    table: (vocabulary, classes) of another corpus, so that texts can be compared with that one's; else their own.
    """
    table = pmi_table(maps, vocabulary) if table is None else table
    bag = bag_of_words(maps, vocabulary)
    classes = np.repeat(maps.predicted, np.diff(bag.indptr))
    bag.data = table[bag.indices, classes].astype(np.float32)
    return _unit_rows(bag)


def salience_bigrams(
    maps: TextMaps, top_k: int | None = TOP_K, pairs: Ints | None = None
) -> tuple[scipy.sparse.csr_array, Ints]:
    """(n, p) and its pairs (p, 2): who stands before whom among the ``top_k`` most salient positions of a text.

    The value of a pair is the smaller of its two |saliences|, the largest where it occurs twice in a text. Special
    tokens are out, of equally salient positions the earlier ones count. Pairs seen in one text only are left out, or,
    where the ``pairs`` of another corpus are given (ascending, as this returns them), all but those.
    """
    if top_k is None:
        raise InputError("salience-bigrams needs a number of most salient tokens; give --top-k a number such as 5")
    texts, first, second, values = _ordered_pairs(maps, top_k)
    base = int(max(maps.ids.max(initial=0), 0 if pairs is None else pairs.max(initial=0))) + 1
    codes, column = np.unique(first * base + second, return_inverse=True)
    texts, column, values = _largest(texts, column, values, max(len(codes), 1))
    if pairs is None:
        wanted = codes[np.bincount(column, minlength=len(codes)) >= 2]
    else:
        wanted = pairs[:, 0] * base + pairs[:, 1]
    place = np.asarray(np.searchsorted(wanted, codes), np.int64)
    known = np.isin(codes, wanted)[column]
    matrix = _sparse(texts[known], place[column[known]], values[known], (len(maps), len(wanted)))
    return _unit_rows(matrix), np.stack([wanted // base, wanted % base], axis=1)


def unit_rows(matrix: NDArray[Any]) -> Floats:
    """(n, d) each row scaled to length 1; a row of zeros stays.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    return unit_vectors(np.asarray(matrix, np.float32))


def represent(
    name: str,
    maps: TextMaps,
    *,
    vocabulary: int,
    embedding: NDArray[Any] | None = None,
    cls: NDArray[Any] | None = None,
    top_k: int | None = TOP_K,
    like: Represented | None = None,
) -> Represented:
    """The texts in the representation of that name.

    embedding: (vocabulary, e) the model's input embeddings, for the two that are made from them; cls: (n, d) the last
    layer's vectors, for `cls`; like: the same representation of another corpus, whose columns and weights are taken
    over, so that rows of the two can be compared.
    """
    if name not in REPRESENTATIONS:
        raise InputError(f"no representation {name!r}; there are: {', '.join(REPRESENTATIONS)}")
    return REPRESENTATIONS[name](_Given(maps, vocabulary, embedding, cls, top_k, like))


@dataclass(frozen=True)
class _Given:
    maps: TextMaps
    vocabulary: int
    embedding: NDArray[Any] | None
    cls: NDArray[Any] | None
    top_k: int | None
    like: Represented | None

    def embeddings(self) -> NDArray[Any]:
        if self.embedding is None:
            raise ValueError("this representation is made from the input embeddings: give embedding")
        return self.embedding


def _by_vocabulary(given: _Given) -> Represented:
    return Represented(salience_vocab(given.maps, given.vocabulary, given.top_k), np.arange(given.vocabulary))


def _by_embedding(given: _Given) -> Represented:
    return Represented(salience_embedding(given.maps, given.embeddings(), given.top_k))


def _by_pmi(given: _Given) -> Represented:
    table = given.like.table if given.like else None
    table = pmi_table(given.maps, given.vocabulary) if table is None else table
    return Represented(pmi_vectors(given.maps, given.vocabulary, table), np.arange(given.vocabulary), table)


def _by_average(given: _Given) -> Represented:
    return Represented(average_embedding(given.maps, given.embeddings()))


def _by_cls(given: _Given) -> Represented:
    if given.cls is None:
        raise ValueError("this representation is the last layer's vectors: give cls")
    return Represented(unit_rows(given.cls))


def _by_bigrams(given: _Given) -> Represented:
    matrix, pairs = salience_bigrams(given.maps, given.top_k, given.like.items if given.like else None)
    return Represented(matrix, pairs)


REPRESENTATIONS: dict[str, Callable[[_Given], Represented]] = {
    "salience-vocab": _by_vocabulary,
    "salience-embedding": _by_embedding,
    "pmi": _by_pmi,
    "average-embedding": _by_average,
    "cls": _by_cls,
    "salience-bigrams": _by_bigrams,
}


def _largest(texts: Ints, items: NDArray[Any], values: NDArray[Any], width: int) -> tuple[Ints, Ints, NDArray[Any]]:
    """The largest value of each item of each text, by text, then item; zeros left out."""
    positive = values > 0
    keys, values = texts[positive] * width + items[positive], values[positive]
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    largest = np.maximum.reduceat(values, begins) if len(begins) else values
    return keys[begins] // width, keys[begins] % width, largest


def _first_of_each(texts: Ints, order: Ints, count: int) -> Ints:
    """The first ``count`` of each text's entries in an order that has texts ascending, as ascending places."""
    ordered = texts[order]
    rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return np.sort(order[rank < count])


def _ordered_pairs(maps: TextMaps, top_k: int) -> tuple[Ints, Ints, Ints, NDArray[Any]]:
    """Text, earlier item, later item and value of every pair among the top positions of each text."""
    own = np.flatnonzero((maps.side != SPECIAL) & (maps.weights != 0))
    texts, values = maps.text_of[own], np.abs(maps.weights[own])
    kept = _first_of_each(texts, np.lexsort((-values, texts)), top_k)
    texts, items, values = texts[kept], maps.ids[own[kept]].astype(np.int64), values[kept]
    parts = []
    for gap in range(1, min(top_k, int(np.bincount(texts).max(initial=0)))):
        earlier = np.flatnonzero(texts[gap:] == texts[:-gap])
        later = earlier + gap
        parts.append((texts[earlier], items[earlier], items[later], np.minimum(values[earlier], values[later])))
    parts.append((texts[:0], items[:0], items[:0], values[:0]))
    texts, first, second, smaller = (np.concatenate(column) for column in zip(*parts, strict=True))
    return texts, first, second, smaller


def _sparse(texts: Ints, items: NDArray[Any], values: NDArray[Any], shape: tuple[int, int]) -> scipy.sparse.csr_array:
    """Entries by ascending text as a matrix; of one place they add up. 32-bit indices, as k-means wants them."""
    bounds = np.searchsorted(texts, np.arange(shape[0] + 1)).astype(np.int32)
    matrix = scipy.sparse.csr_array((values.astype(np.float32), items.astype(np.int32), bounds), shape=shape)
    matrix.sum_duplicates()
    return matrix


def _unit_rows(matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    matrix.eliminate_zeros()
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    exact = matrix.data.astype(np.float64)
    lengths = np.sqrt(np.bincount(rows, exact**2, minlength=matrix.shape[0]))
    matrix.data = (exact / lengths[rows]).astype(np.float32)
    return matrix

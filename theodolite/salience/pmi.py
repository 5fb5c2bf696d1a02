"""How much more often a word stands in texts of a predicted class than chance would have it."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from theodolite.salience.maps import SPECIAL, Ints, TextMaps


def bag_of_words(maps: TextMaps, vocabulary: int) -> scipy.sparse.csr_array:
    """(n, vocabulary) 1 where the item is in the text, special tokens out."""
    own = maps.side != SPECIAL
    keys = np.sort(maps.text_of[own] * vocabulary + maps.ids[own])
    keys = keys[np.diff(keys, prepend=-1) > 0]
    bounds = np.searchsorted(keys, np.arange(len(maps) + 1) * vocabulary).astype(np.int32)
    items = (keys % vocabulary).astype(np.int32)
    return scipy.sparse.csr_array((np.ones(len(keys), np.float32), items, bounds), shape=(len(maps), vocabulary))


def text_counts(maps: TextMaps, vocabulary: int) -> Ints:
    """(vocabulary, classes) the number of texts of each predicted class that have the item."""
    bag = bag_of_words(maps, vocabulary)
    classes = np.repeat(maps.predicted, np.diff(bag.indptr))
    keys = bag.indices.astype(np.int64) * maps.classes + classes
    return np.bincount(keys, minlength=vocabulary * maps.classes).reshape(vocabulary, maps.classes)


def pmi_table(maps: TextMaps, vocabulary: int) -> NDArray[np.float64]:
    """(vocabulary, classes) ln p(v, ŷ) / (p(v) p(ŷ)) over texts, ŷ the predicted class.

    0 where no text of the class has the item: too little was seen to say anything, and minus infinity would.
    """
    both = text_counts(maps, vocabulary)
    expected = both.sum(axis=1, keepdims=True) * (np.bincount(maps.predicted, minlength=maps.classes) / len(maps))
    ratio = np.divide(both, expected, out=np.ones(both.shape), where=both > 0)
    return np.asarray(np.log(ratio), np.float64)

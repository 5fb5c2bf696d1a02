"""What the classifier's vocabulary is to the analyses: names, embeddings, and which items may be terms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theodolite.salience.maps import SPECIAL, Floats, Ints, TextMaps
from theodolite.salience.terms import whole_words
from theodolite.words import has_letter_or_number

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

# What some bytes of a character are read as.
PART = "\ufffd"


@dataclass(frozen=True)
class Vocabulary:
    """The items of a model; ``embedding`` (size, e) is its table of input embeddings."""

    model: Encoder

    @cached_property
    def embedding(self) -> Floats:
        return self.model.input_embeddings

    @property
    def size(self) -> int:
        return len(self.embedding)

    @cached_property
    def terms(self) -> NDArray[np.bool_]:
        """(size,) whether an item may name a cluster: no special token, no punctuation."""
        return np.array([self._may_be_term(item) for item in range(self.size)])

    @cached_property
    def words(self) -> list[str]:
        """The word that each item is by itself, '' where it is none."""
        return whole_words(self.model.tokenizer, self.size)

    def going_on(self, maps: TextMaps) -> NDArray[np.bool_]:
        """(size,) whether an item mostly goes on with a word where it stands in some texts; of a vocabulary that marks
        the beginnings of words alone, since where a text or a quotation begins, whole words are without that mark too.
        """
        if not self.unmarked.any():
            return self.unmarked
        ids, side = maps.ids, maps.side
        joined = np.zeros(len(ids), bool)
        joined[1:] = (side[1:] != SPECIAL) & (side[1:] == side[:-1]) & (maps.start[1:] == maps.end[:-1])
        joined[maps.bounds[:-1]] = False
        joined[1:] &= self._of_words[ids[:-1]]
        there = np.bincount(ids, minlength=self.size)
        return self.unmarked & (2 * np.bincount(ids[joined], minlength=self.size) > there)

    def name(self, item: int, going_on: NDArray[np.bool_]) -> str:
        """An item as people read it: one that goes on with a word begins with ##, whatever its vocabulary's mark is."""
        tokenizer = self.model.tokenizer
        if tokenizer.is_special(item) or item == tokenizer.unknown_id:
            return tokenizer.piece(item)
        return f"##{tokenizer.letters(item)}" if going_on[item] else tokenizer.letters(item)

    def named(self, items: Ints | None, column: int, going_on: NDArray[np.bool_]) -> str:
        """The term of a column: an item, or two in order where ``items`` are pairs; going_on: see there."""
        if items is None or items.ndim == 1:
            return self.name(column, going_on)
        return " … ".join(self.name(int(item), going_on) for item in items[column])

    def may_name(self, items: Ints | None) -> NDArray[np.bool_]:
        """(columns,) whether a column may be a term."""
        return self.terms if items is None or items.ndim == 1 else np.asarray(self.terms[items].all(axis=1))

    @cached_property
    def unmarked(self) -> NDArray[np.bool_]:
        """(size,) whether an item may go on with a word without saying so: none where the vocabulary marks those."""
        tokenizer, mark = self.model.tokenizer, self.model.tokenizer.word_mark
        if not mark:
            return np.zeros(self.size, bool)
        marked = [tokenizer.piece(i).startswith(mark) or tokenizer.is_added(i) for i in range(self.size)]
        return ~np.array(marked)

    @cached_property
    def _of_words(self) -> NDArray[np.bool_]:
        """(size,) whether an item has a letter, a number, or a part of a character, which of bytes some entries are."""
        letters = (self.model.tokenizer.letters(item) for item in range(self.size))
        return np.array([has_letter_or_number(each) or PART in each for each in letters])

    def _may_be_term(self, item: int) -> bool:
        tokenizer = self.model.tokenizer
        return bool(self._of_words[item]) and not tokenizer.is_special(item) and PART not in tokenizer.letters(item)

"""What the classifier's vocabulary is to the analyses: names, embeddings, and which items may be terms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theodolite.salience.maps import Floats, Ints
from theodolite.salience.terms import whole_words
from theodolite.words import has_letter_or_number

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder


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

    def name(self, item: int) -> str:
        """An item as people read it: one that goes on with a word begins with ##, whatever its vocabulary's mark is."""
        tokenizer = self.model.tokenizer
        piece, mark = tokenizer.piece(item), tokenizer.word_mark
        if not mark or tokenizer.is_special(item) or item == tokenizer.unknown_id:
            return piece
        return tokenizer.letters(item) if piece.startswith(mark) else f"##{tokenizer.letters(item)}"

    def named(self, items: Ints | None, column: int) -> str:
        """The term of a column: an item, or two in order where ``items`` are pairs."""
        if items is None or items.ndim == 1:
            return self.name(column)
        return " … ".join(self.name(int(item)) for item in items[column])

    def may_name(self, items: Ints | None) -> NDArray[np.bool_]:
        """(columns,) whether a column may be a term."""
        return self.terms if items is None or items.ndim == 1 else np.asarray(self.terms[items].all(axis=1))

    def _may_be_term(self, item: int) -> bool:
        tokenizer = self.model.tokenizer
        letters = tokenizer.letters(item)
        # Of a vocabulary of bytes some entries are a part of a character.
        return not tokenizer.is_special(item) and has_letter_or_number(letters) and "\ufffd" not in letters

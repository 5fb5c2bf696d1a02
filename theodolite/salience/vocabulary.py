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
        tokenizer = self.model.tokenizer
        return np.array([not tokenizer.is_special(i) and has_letter_or_number(self.name(i)) for i in range(self.size)])

    @cached_property
    def words(self) -> list[str]:
        """The word that each item is by itself, '' where it is none."""
        return whole_words(self.model.tokenizer, self.size)

    def name(self, item: int) -> str:
        """An item as its vocabulary has it."""
        return self.model.tokenizer.piece(item)

    def named(self, items: Ints | None, column: int) -> str:
        """The term of a column: an item, or two in order where ``items`` are pairs."""
        if items is None or items.ndim == 1:
            return self.name(column)
        return " … ".join(self.name(int(item)) for item in items[column])

    def may_name(self, items: Ints | None) -> NDArray[np.bool_]:
        """(columns,) whether a column may be a term."""
        return self.terms if items is None or items.ndim == 1 else np.asarray(self.terms[items].all(axis=1))

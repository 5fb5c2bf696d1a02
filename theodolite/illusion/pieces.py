"""The tokenizer's pieces of every text, kept as numbers: what monotonic tokens are counted from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from theodolite.corpus import Corpus
from theodolite.encoder.tokens import flat_ranges
from theodolite.instrument import Needs, Observation, Pass
from theodolite.words import has_letter_or_number, units

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Pieces:
    """Of n texts: rows (n,) ascending, bounds (n + 1,) of each one's pieces, ids (t,)."""

    rows: Ints
    bounds: Ints
    ids: Ints

    def take(self, which: Ints) -> Pieces:
        """Some of the texts, in the order asked for."""
        lengths = np.diff(self.bounds)[which]
        at = flat_ranges(self.bounds[which], lengths)
        return Pieces(self.rows[which], np.append(0, np.cumsum(lengths)), self.ids[at])


class KeepPieces(Pass):
    """Keeps the pieces of each text; needs no model."""

    def __init__(self) -> None:
        self.needs = Needs()

    def start(self, corpus: Corpus) -> SeenPieces:
        return SeenPieces()


class SeenPieces(Observation):
    """The pieces of some shards' texts."""

    def __init__(self) -> None:
        self.rows = np.empty(0, np.int64)
        self.lengths = np.empty(0, np.int64)
        self.ids = np.empty(0, np.int32)

    def update(self, batch: Batch) -> None:
        self._add(batch.rows, batch.tokens.lengths, batch.tokens.ids)

    def merge(self, other: Self) -> None:
        self._add(other.rows, other.lengths, other.ids)

    def _add(self, rows: Ints, lengths: Ints, ids: NDArray[Any]) -> None:
        self.rows = np.concatenate([self.rows, rows])
        self.lengths = np.concatenate([self.lengths, lengths])
        self.ids = np.concatenate([self.ids, ids.astype(np.int32)])

    def result(self) -> Pieces:
        whole = Pieces(self.rows, np.append(0, np.cumsum(self.lengths)), self.ids.astype(np.int64))
        return whole.take(np.argsort(self.rows, kind="stable"))


def pieces_of_words(texts: Iterable[str], rows: Ints, vocabulary: dict[str, int]) -> Pieces:
    """Words in place of pieces, for vectors that come without a tokenizer; new words enter the vocabulary."""
    lengths, ids = [], []
    for text in texts:
        words = [text[a:b].casefold() for a, b in units(text)]
        mine = [vocabulary.setdefault(w, len(vocabulary)) for w in words if has_letter_or_number(w)]
        lengths.append(len(mine))
        ids += mine
    return Pieces(rows, np.append(0, np.cumsum(lengths, dtype=np.int64)), np.array(ids, np.int64))

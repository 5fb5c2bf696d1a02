"""Passes whose finding is a table a shard, kept in the store: computed once, found again by whoever asks next."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from theodolite.corpus import Corpus, Shard
from theodolite.instrument import Observation, Pass
from theodolite.store import Recipe, Store

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch


class KeepTables(Pass):
    """Makes one table of each shard and puts it in the store, or finds it there."""

    recipe: Recipe
    store: Store

    @abstractmethod
    def collect(self, batch: Batch) -> Any:
        """What is wanted of a batch."""

    @abstractmethod
    def table(self, shard: Shard, collected: list[Any]) -> pa.Table:
        """The shard's table from what was collected of its batches, which come in any order."""

    @abstractmethod
    def found(self, corpus: Corpus, shards: tuple[Shard, ...]) -> Any:
        """What the pass found of a corpus whose shards are in the store."""

    def depends(self, shard: Shard) -> bytes:
        """What the shard's table depends on beside its own texts and the recipe."""
        return b""

    def start(self, corpus: Corpus) -> KeptTables:
        return KeptTables(self, corpus)

    def recall(self, shard: Shard) -> KeptTables | None:
        shard = self._named(shard)
        # Reading it notices damage, which a look at the folder would not.
        if self.store.get(self.recipe, shard.hash) is None:
            return None
        return KeptTables(self, None, (shard,))

    def keep(self, shard: Shard, seen: Observation) -> bool:
        assert isinstance(seen, KeptTables)
        if not seen.shards:
            shard = self._named(shard)
            self.store.put(self.recipe, shard.hash, self.table(shard, seen.collected))
            seen.shards, seen.collected = (shard,), []
        return True

    def _named(self, shard: Shard) -> Shard:
        """The shard under a hash of all that its table depends on, where that is more than its own texts."""
        more = self.depends(shard)
        return replace(shard, hash=sha256(shard.hash.encode() + more).hexdigest()) if more else shard


class KeptTables(Observation):
    """The shards that are in the store; while a shard is worked on, what was collected of it."""

    def __init__(self, asked: KeepTables, corpus: Corpus | None, shards: tuple[Shard, ...] = ()) -> None:
        self._asked, self._corpus = asked, corpus
        self.shards = shards
        self.collected: list[Any] = []

    def update(self, batch: Batch) -> None:
        self.collected.append(self._asked.collect(batch))

    def merge(self, other: Self) -> None:
        self.shards += other.shards

    def result(self) -> Any:
        assert self._corpus is not None
        corpus, asked = self._corpus, self._asked
        asked.store.remember(
            asked.recipe,
            corpus=corpus.name,
            corpus_hash=corpus.hash,
            source=corpus.source,
            shard_hashes=[s.hash for s in self.shards],
        )
        return asked.found(corpus, self.shards)

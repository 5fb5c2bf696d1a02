"""Embeddings of whole corpora, kept in the store: computed once, read a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.corpus import Corpus, Shard
from theodolite.errors import InputError
from theodolite.instrument import Instrument, Needs, Observation, Pass, Passes, Subject
from theodolite.options import option
from theodolite.reading import Reading
from theodolite.store import Recipe, Store, table_vectors, vectors_table

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch


@dataclass(frozen=True)
class Embeddings:
    """The stored embeddings of a corpus, (rows, dim), never whole in memory.

    A row that was skipped (an empty text, a duplicate where those count once) has no vector.
    """

    store: Store
    recipe: Recipe
    corpus: Corpus
    shards: tuple[Shard, ...]

    def blocks(self) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
        """Rows of the corpus (n,) and their vectors (n, dim), a memory-mapped shard at a time."""
        tables = self.store.scan(self.recipe, [s.hash for s in self.shards])
        for shard, table in zip(self.shards, tables, strict=True):
            rows, vectors = table_vectors(table)
            yield rows.astype(np.int64) + shard.start, vectors

    def array(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Everything at once, for a corpus that is known to be small."""
        parts = list(self.blocks())
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


class KeepEmbeddings(Pass):
    """Embeds every text and puts the vectors of each shard in the store, or finds them there."""

    def __init__(
        self, subject: Subject, *, layer: int = -1, pooling: str = "own", dtype: str = "float32", distinct: bool = True
    ) -> None:
        at = layer if layer >= 0 else subject.layers + 1 + layer
        if not 0 <= at <= subject.layers:
            raise InputError(f"--layer {layer}: {subject.encoder} has layers 0 to {subject.layers}")
        self.needs = Needs(pooled=((at, pooling),), distinct=distinct)
        parts = (*subject.identity, ("layer", at), ("pooling", pooling), ("dtype", dtype), ("distinct", int(distinct)))
        self.recipe = Recipe("embedding", subject.encoder, parts)
        self._subject, self._store, self._asked, self._dtype = subject, subject.store, (at, pooling), dtype

    def start(self, corpus: Corpus) -> Kept:
        return Kept(self._store, self.recipe, corpus, *self._asked)

    def recall(self, shard: Shard) -> Kept | None:
        shard = self._named(shard)
        # Reading it notices damage, which a look at the folder would not.
        if self._store.get(self.recipe, shard.hash) is None:
            return None
        return Kept(self._store, self.recipe, None, *self._asked, shards=(shard,))

    def keep(self, shard: Shard, seen: Observation) -> bool:
        assert isinstance(seen, Kept)
        if not seen.shards:
            rows, vectors = seen.collected()
            if not len(rows):
                vectors = np.empty((0, self._width()), np.float32)
            shard = self._named(shard)
            self._store.put(self.recipe, shard.hash, vectors_table(rows - shard.start, vectors.astype(self._dtype)))
            seen.shards = (shard,)
        return True

    def _named(self, shard: Shard) -> Shard:
        """The shard under a hash of all that its vectors depend on, where that is more than its own texts."""
        corpus = self._subject.corpus(shard.corpus)
        more = b""
        if self.needs.distinct:
            # Which of its rows repeat a text is known from the corpus before it.
            repeated = corpus.duplicate[shard.start : shard.stop]
            more += repeated.tobytes() if repeated.any() else b""
        if not self._subject.layers:
            # People's own vectors may differ where the texts do not.
            more += f"{corpus.hash} {shard.start}".encode()
        return replace(shard, hash=sha256(shard.hash.encode() + more).hexdigest()) if more else shard

    def _width(self) -> int:
        """Numbers a vector, for a shard that has none."""
        layer, pooling = self._asked
        if pooling != "own" or not self._subject.layers:
            return self._subject.dim
        return int(self._subject.model.embed(["a"], layer=layer).shape[1])


class Kept(Observation):
    """The shards that are in the store; while a shard is worked on, its vectors."""

    def __init__(
        self,
        store: Store,
        recipe: Recipe,
        corpus: Corpus | None,
        layer: int,
        pooling: str,
        shards: tuple[Shard, ...] = (),
    ) -> None:
        self._store, self._recipe, self._corpus, self._asked = store, recipe, corpus, (layer, pooling)
        self.shards = shards
        self._collected: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []

    def update(self, batch: Batch) -> None:
        self._collected.append((batch.rows, batch.pooled(*self._asked)))

    def collected(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rows ascending and their vectors."""
        if not self._collected:
            return np.empty(0, np.int64), np.empty((0, 1), np.float32)
        rows = np.concatenate([r for r, _ in self._collected])
        order = np.argsort(rows)
        vectors = np.concatenate([v for _, v in self._collected])[order]
        self._collected = []
        return rows[order], vectors

    def merge(self, other: Self) -> None:
        self.shards += other.shards

    def result(self) -> Embeddings:
        assert self._corpus is not None
        corpus = self._corpus
        self._store.remember(
            self._recipe,
            corpus=corpus.name,
            corpus_hash=corpus.hash,
            source=corpus.source,
            shard_hashes=[s.hash for s in self.shards],
        )
        return Embeddings(self._store, self._recipe, corpus, self.shards)


class EmbedReading(Reading):
    """What was embedded, under which key of the store."""

    instrument: ClassVar[str] = "embed"


@dataclass(frozen=True)
class Embed(Instrument):
    """One vector a text, kept in the store."""

    name: ClassVar[str] = "embed"
    question: ClassVar[str] = "What is the vector of each text?"
    reading: ClassVar[type[Reading]] = EmbedReading

    layer: int = option(-1, "The layer: 0 is the embedding layer, -1 the last.")
    pooling: str = option("own", "How tokens become one vector.", choices=("own", "cls", "mean", "max"))
    dtype: str = option("float32", "Number type on disk.", choices=("float32", "float16"))

    def passes(self, subject: Subject) -> Passes:
        kept = KeepEmbeddings(subject, layer=self.layer, pooling=self.pooling, dtype=self.dtype, distinct=False)
        found = yield kept
        rows = []
        for name, embeddings in found.items():
            count, dim = 0, 0
            for numbers, vectors in embeddings.blocks():
                count, dim = count + len(numbers), vectors.shape[1]
            rows.append({"corpus": name, "rows": count, "dim": dim, "key": kept.recipe.key})
        said = [
            f"{r['corpus']}: {r['rows']} vectors of {r['dim']} numbers, under {kept.recipe.key[:12]}." for r in rows
        ]
        return EmbedReading({"embeddings": pa.Table.from_pylist(rows)}, said)

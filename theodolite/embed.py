"""Embeddings of whole corpora, kept in the store: computed once, read a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.corpus import Corpus, Shard
from theodolite.errors import InputError
from theodolite.instrument import Instrument, Needs, Passes, Subject
from theodolite.kept import KeepTables
from theodolite.options import option
from theodolite.reading import Reading
from theodolite.store import Recipe, Store, table_vectors, vectors_table

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch

# Rows (n,) and their vectors (n, dim).
Vectors = tuple[NDArray[np.int64], NDArray[np.float32]]


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

    def of_rows(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """(n, dim) the vectors of some rows, each of which has one."""
        every, vectors = self.array()
        return np.asarray(vectors[np.searchsorted(every, rows)])


class KeepEmbeddings(KeepTables):
    """Embeds every text and puts the vectors of each shard in the store, or finds them there.

    With ``unit`` token, the vector of each of a text's pieces, in order, each under the text's row.
    """

    def __init__(
        self,
        subject: Subject,
        *,
        layer: int = -1,
        pooling: str = "own",
        dtype: str = "float32",
        distinct: bool = True,
        unit: str = "text",
    ) -> None:
        at = layer if layer >= 0 else subject.layers + 1 + layer
        if not 0 <= at <= subject.layers:
            raise InputError(f"--layer {layer}: {subject.encoder} has layers 0 to {subject.layers}")
        if unit == "token":
            if not subject.layers:
                raise InputError("--unit token: tokens have vectors in an encoder, and only texts' vectors were given")
            self.needs = Needs(states=(at,), distinct=distinct)
            kind, pooling = "tokens", "none"
        else:
            self.needs = Needs(pooled=((at, pooling),), distinct=distinct)
            kind = "embedding"
        parts = (*subject.identity, ("layer", at), ("pooling", pooling), ("dtype", dtype), ("distinct", int(distinct)))
        self.recipe, self.store = Recipe(kind, subject.encoder, parts), subject.store
        self._subject, self._asked, self._dtype = subject, (at, pooling), dtype

    def collect(self, batch: Batch) -> Vectors:
        layer, pooling = self._asked
        if self.recipe.kind == "tokens":
            return np.repeat(batch.rows, batch.tokens.lengths), batch.token_vectors(layer)
        return batch.rows, batch.pooled(layer, pooling)

    def table(self, shard: Shard, collected: list[Vectors]) -> pa.Table:
        if not collected:
            return vectors_table(np.empty(0, np.int64), np.empty((0, self._width()), self._dtype))
        rows = np.concatenate([r for r, _ in collected])
        order = np.argsort(rows, kind="stable")
        vectors = np.concatenate([v for _, v in collected])[order]
        return vectors_table(rows[order] - shard.start, vectors.astype(self._dtype))

    def found(self, corpus: Corpus, shards: tuple[Shard, ...]) -> Embeddings:
        return Embeddings(self.store, self.recipe, corpus, shards)

    def depends(self, shard: Shard) -> bytes:
        corpus = self._subject.corpus(shard.corpus)
        more = b""
        if self.needs.distinct:
            # Which of its rows repeat a text is known from the corpus before it.
            repeated = corpus.duplicate[shard.start : shard.stop]
            more += repeated.tobytes() if repeated.any() else b""
        if not self._subject.layers:
            # People's own vectors may differ where the texts do not.
            more += f"{corpus.hash} {shard.start}".encode()
        return more

    def _width(self) -> int:
        """Numbers a vector, for a shard that has none."""
        layer, pooling = self._asked
        if pooling != "own" or not self._subject.layers:
            return self._subject.dim
        return int(self._subject.model.embed(["a"], layer=layer).shape[1])


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

"""The spaces that are measured: vectors of words, tokens or texts at several layers, a sample kept in the store.

A first pass, which needs no model, counts the units and chooses those of smallest hash; a second keeps their vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.accumulate import HashSample, hash_of, occurrence_code
from theodolite.corpus import Corpus, Shard
from theodolite.encoder.tokens import flat_ranges
from theodolite.errors import InputError
from theodolite.instrument import Needs, Observation, Pass, Subject
from theodolite.kept import KeepTables
from theodolite.store import Recipe, Store, table_vectors, vectors_table

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch
    from theodolite.rounding.base import Blocks

Ints = NDArray[np.int64]

SPACES = ("token", "word", "sentence", "cls")
# A text's own vector is at no position of it.
POOLINGS = {"sentence": "own", "cls": "cls"}


@dataclass(frozen=True)
class Sampled:
    """Which units of a corpus are measured: their codes, ascending, out of how many."""

    codes: Ints
    units: int


class Sample(Pass):
    """Counts the units of a space and draws at most ``size`` of them."""

    def __init__(self, space: str, size: int, seed: int) -> None:
        self.needs = Needs()
        self._how = (space, size, seed)

    def start(self, corpus: Corpus) -> UnitSample:
        return UnitSample(*self._how)


class UnitSample(Observation):
    """The units of smallest hash, and how many there are."""

    def __init__(self, space: str, size: int, seed: int) -> None:
        self._space, self._seed = space, seed
        self.drawn = HashSample(size, 1)
        self.units = 0

    def update(self, batch: Batch) -> None:
        rows, positions = _occurrences(batch, self._space)
        self.drawn.update(hash_of(self._seed, rows, positions), occurrence_code(rows, positions)[:, None])
        self.units += len(rows)

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.units += other.units

    def result(self) -> Sampled:
        return Sampled(np.sort(self.drawn.result()[:, 0]), self.units)


@dataclass(frozen=True)
class KeptSpace:
    """The vectors of a corpus's sampled units at some layers, in the store; never whole in memory."""

    store: Store
    recipe: Recipe
    shards: tuple[Shard, ...]
    sampled: Sampled

    def parts(self, layer: int) -> Iterator[tuple[Ints, NDArray[Any]]]:
        """The text's row of each unit (n,) and the vectors (n, d), a memory-mapped shard at a time."""
        for shard, table in zip(self.shards, self.store.scan(self.recipe, [s.hash for s in self.shards]), strict=True):
            rows, vectors = table_vectors(table.select(["row", _column(layer)]).rename_columns(["row", "vector"]))
            yield rows.astype(np.int64) + shard.start, vectors

    def blocks(self, layer: int) -> Blocks:
        """The vectors at a layer as something that can be gone over again and again."""
        return lambda: (vectors for _, vectors in self.parts(layer))


class KeepSpace(KeepTables):
    """Keeps the vectors of sampled units at some layers."""

    def __init__(
        self, subject: Subject, sampled: Mapping[str, Sampled], *, space: str, layers: tuple[int, ...], seed: int
    ) -> None:
        pooling = POOLINGS.get(space)
        self.needs = Needs(pooled=tuple((at, pooling) for at in layers)) if pooling else Needs(states=layers)
        parts = (*subject.identity, ("space", space), ("layers", ",".join(map(str, layers))), ("seed", seed))
        self.recipe, self.store = Recipe("space", subject.encoder, parts), subject.store
        self._subject, self._sampled, self._space, self._layers = subject, sampled, space, layers

    def collect(self, batch: Batch) -> tuple[Ints, list[NDArray[Any]]]:
        codes = occurrence_code(*_occurrences(batch, self._space))
        wanted = self._sampled[batch.corpus].codes
        mine = np.flatnonzero(np.isin(codes, wanted, assume_unique=True))
        return codes[mine], [_vectors(batch, self._space, layer)[mine] for layer in self._layers]

    def table(self, shard: Shard, collected: list[tuple[Ints, list[NDArray[Any]]]]) -> pa.Table:
        codes = np.concatenate([np.empty(0, np.int64), *(c for c, _ in collected)])
        order = np.argsort(codes, kind="stable")
        rows = (codes[order] >> np.int64(24)) - shard.start
        columns: dict[str, Any] = {}
        for i, layer in enumerate(self._layers):
            width = collected[0][1][i].shape[1] if collected else self._width(layer)
            vectors = np.concatenate([np.empty((0, width), np.float32), *(v[i] for _, v in collected)])[order]
            made = vectors_table(rows, vectors)
            columns |= {"row": made.column("row"), _column(layer): made.column("vector")}
        return pa.table(columns)

    def _width(self, layer: int) -> int:
        """Numbers a vector, for a shard that has none; pooling may make them more or fewer than a token's."""
        if self._space != "sentence" or not self._subject.layers:
            return self._subject.dim
        return int(self._subject.model.embed(["a"], layer=layer).shape[1])

    def depends(self, shard: Shard) -> bytes:
        """What was drawn of a shard depends on the whole corpus; vectors that people bring, on the corpus itself."""
        codes = self._sampled[shard.corpus].codes
        low, high = np.searchsorted(codes, np.array([shard.start, shard.stop], np.int64) << np.int64(24))
        about = "" if self._subject.layers else self._subject.corpus(shard.corpus).hash
        return sha256((codes[low:high] - (shard.start << 24)).tobytes() + about.encode()).digest()

    def found(self, corpus: Corpus, shards: tuple[Shard, ...]) -> KeptSpace:
        return KeptSpace(self.store, self.recipe, shards, self._sampled[corpus.name])


def layers_of(asked: str, subject: Subject) -> tuple[int, ...]:
    """The layers that an option names: all, or numbers such as 0,3,-1.

    A negative number counts from the last layer.
    """
    count = subject.layers + 1
    if asked == "all":
        return tuple(range(count))
    found = []
    for given in asked.split(","):
        number = int(given) if given.strip().removeprefix("-").isdigit() else count
        if not -count <= number < count:
            raise InputError(f"--layer {asked}: {subject.encoder} has layers 0 to {subject.layers}; or say all")
        found.append(number % count)
    return tuple(dict.fromkeys(found))


def _column(layer: int) -> str:
    return f"layer_{layer}"


def _occurrences(batch: Batch, space: str) -> tuple[Ints, Ints]:
    """The row of each unit's text (n,), and its position there."""
    if space == "word":
        return batch.rows[batch.words.text], batch.words.position
    if space == "token":
        lengths = batch.tokens.lengths
        return np.repeat(batch.rows, lengths), flat_ranges(np.zeros_like(lengths), lengths)
    return batch.rows, np.zeros(len(batch), np.int64)


def _vectors(batch: Batch, space: str, layer: int) -> NDArray[Any]:
    if space == "word":
        return batch.unit_vectors(layer, batch.words)
    return batch.token_vectors(layer) if space == "token" else batch.pooled(layer, POOLINGS[space])

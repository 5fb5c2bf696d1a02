"""The salience maps of whole corpora in the store: made once, a table a shard, one row a text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.corpus import Corpus, Shard
from theodolite.encoder.maps import INTEGRATED, TOLERANCE
from theodolite.encoder.quadrature import RULE
from theodolite.instrument import Needs, Subject
from theodolite.kept import KeepTables
from theodolite.salience.maps import Ints, TextMaps, together
from theodolite.store import Recipe, Store

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch
    from theodolite.encoder.maps import Question

# The columns beside the methods' own: one value a text, and lists with one value a token.
TOKEN_COLUMNS = {"id": pa.int32(), "start": pa.int32(), "end": pa.int32(), "side": pa.int8()}


class KeepMaps(KeepTables):
    """Makes the salience maps of every text and puts those of each shard in the store, or finds them there."""

    def __init__(self, subject: Subject, question: Question, classes: dict[str, Ints]) -> None:
        # The same methods in another order are the same maps, under the same key.
        question = replace(question, methods=tuple(sorted(question.methods)))
        self.needs = Needs(maps=question, distinct=False)
        self._subject, self._question, self._classes = subject, question, classes
        parts: tuple[tuple[str, str | int], ...] = (
            *subject.identity,
            ("methods", ",".join(question.methods)),
            ("target", question.target),
            ("of", question.of),
            ("steps", question.steps or 0),
        )
        if INTEGRATED in question.methods and question.steps is None:
            parts += (("rule", RULE),)
        self.recipe, self.store = Recipe("salience", subject.encoder, parts), subject.store

    def targets(self, corpus: Corpus) -> Ints | None:
        return self._classes[corpus.name] if self._question.target == "label" else None

    def depends(self, shard: Shard) -> bytes:
        if self._question.target != "label":
            return b""
        return self._classes[shard.corpus][shard.start : shard.stop].tobytes()

    def collect(self, batch: Batch) -> pa.Table:
        assert batch.maps is not None
        return maps_table(batch.rows, batch.maps)

    def table(self, shard: Shard, collected: list[pa.Table]) -> pa.Table:
        if not collected:
            # A shard of nothing but empty texts still has the columns of the others.
            collected = [self._nothing()]
        whole = pa.concat_tables(collected).sort_by("row").combine_chunks()
        at = whole.schema.get_field_index("row")
        offsets = pa.array(whole["row"].to_numpy() - shard.start, pa.int32())
        return whole.set_column(at, "row", offsets)

    def found(self, corpus: Corpus, shards: tuple[Shard, ...]) -> StoredMaps:
        return StoredMaps(self.store, self.recipe, corpus, shards, self._classes[corpus.name])

    def _nothing(self) -> pa.Table:
        model: Any = self._subject.model
        batch = next(model.map_batches(model.tokenise(["a"]), self._question, targets=np.zeros(1, np.int64)))
        return maps_table(batch.rows, batch.maps).slice(0, 0)


def maps_table(rows: Ints, maps: Any) -> pa.Table:
    """`row`, `target`, `logits`, `steps`, `error`, then lists of one entry a token: `id`, `start`, `end`, `side` (0
    special, 1 first text, 2 second), and the weights under each method's name.
    """
    layout = maps.layout
    offsets = pa.array(layout.bounds.astype(np.int32))

    def lists(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
        return pa.ListArray.from_arrays(offsets, pa.array(values, kind))

    logits = pa.FixedSizeListArray.from_arrays(pa.array(maps.logits.ravel(), pa.float32()), maps.logits.shape[1])
    flat = {"id": layout.ids, "start": layout.start, "end": layout.end, "side": layout.side}
    columns: dict[str, Any] = {
        "row": pa.array(rows, pa.int64()),
        "target": pa.array(maps.target, pa.int32()),
        "logits": logits,
        "steps": pa.array(maps.steps, pa.int32()),
        "error": pa.array(maps.error, pa.float32()),
        **{name: lists(values, TOKEN_COLUMNS[name]) for name, values in flat.items()},
        **{method: lists(values, pa.float32()) for method, values in maps.weights.items()},
    }
    return pa.table(columns)


@dataclass(frozen=True)
class StoredMaps:
    """The maps of a corpus; classes: (rows of the corpus,) the true class of each, -1 where there is none."""

    store: Store
    recipe: Recipe
    corpus: Corpus
    shards: tuple[Shard, ...]
    classes: Ints

    def tables(self) -> Iterator[pa.Table]:
        """A memory-mapped table a shard, `row` counted in the corpus."""
        found = self.store.scan(self.recipe, [s.hash for s in self.shards])
        for shard, table in zip(self.shards, found, strict=True):
            at = table.schema.get_field_index("row")
            yield table.set_column(at, "row", pa.array(table["row"].to_numpy().astype(np.int64) + shard.start))

    def read(self, method: str) -> TextMaps:
        """All maps by one method, as arrays."""
        return together([self._arrays(table, method) for table in self.tables()])

    def errors(self, rows: Ints) -> tuple[Ints, NDArray[np.float32]]:
        """Of integrated gradients: the steps taken, and the completeness error, of each of these rows (ascending)."""
        parts = [[t[c].to_numpy() for c in ("row", "steps", "error")] for t in self.tables()]
        there, steps, error = (np.concatenate(column) for column in zip(*parts, strict=True))
        mine = np.searchsorted(there, rows)
        return steps[mine].astype(np.int64), error[mine]

    def completeness(self, rows: Ints) -> dict[str, Any]:
        """Of integrated gradients: how many of these texts' weights do not add up, by how much, and the steps taken."""
        steps, error = self.errors(rows)
        return {
            "texts": len(error),
            "flagged": int((~(error < TOLERANCE)).sum()),
            "error_median": float(np.median(error)),
            "error_largest": float(error.max()),
            "steps_mean": float(steps.mean()),
        }

    def _arrays(self, table: pa.Table, method: str) -> TextMaps:
        whole = table.combine_chunks()
        rows = whole["row"].to_numpy()
        flat: list[Any] = [_values(whole[name]) for name in (*TOKEN_COLUMNS, method)]
        lengths = np.diff(_offsets(whole["id"]))
        logits = _values(whole["logits"]).reshape(len(rows), -1) if len(rows) else np.empty((0, self._width(whole)))
        target = whole["target"].to_numpy().astype(np.int64)
        rest: list[Any] = [*flat, logits.astype(np.float32), target, self.classes[rows]]
        return TextMaps(rows, np.append(0, np.cumsum(lengths)), *rest)

    @staticmethod
    def _width(table: pa.Table) -> int:
        return int(table.schema.field("logits").type.list_size)


def _values(column: pa.ChunkedArray) -> NDArray[Any]:
    """The entries of a column of lists, one list after another."""
    return np.concatenate(
        [np.empty(0, np.float32).astype(_kind(column)), *(c.flatten().to_numpy() for c in column.chunks)]
    )


def _kind(column: pa.ChunkedArray) -> Any:
    return column.type.value_type.to_pandas_dtype()


def _offsets(column: pa.ChunkedArray) -> NDArray[Any]:
    lengths = [c.value_lengths().to_numpy() for c in column.chunks]
    return np.append(0, np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths])))

"""A catalogue from a table of items: every description embedded once, and written as a folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from theodolite.accumulate import unit_vectors
from theodolite.catalogue.baseline import baseline, random_pair_cosines
from theodolite.catalogue.folder import ITEMS, RANDOM_PAIRS, VECTORS, begin, finish, finished
from theodolite.catalogue.search import Catalogue
from theodolite.corpus import Corpus
from theodolite.corpus.arrow_file import write_batches
from theodolite.corpus.hashing import text_key
from theodolite.corpus.sizes import SCAN_ROWS
from theodolite.embed import Embeddings, KeepEmbeddings
from theodolite.errors import InputError
from theodolite.instrument import Instrument, Passes, Progress, Subject
from theodolite.options import option
from theodolite.reading import Reading
from theodolite.running import RunOptions, run
from theodolite.store import Store

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

Ints = NDArray[np.int64]

# Another number where the files of a catalogue mean something else.
_FORM = 1


def build_catalogue(
    encoder: Encoder,
    items: Corpus,
    out: str | os.PathLike[str],
    *,
    pooling: str = "mean",
    seed: int = 0,
    store: Store | None = None,
    options: RunOptions | None = None,
    progress: Progress | None = None,
) -> Catalogue:
    """Embed the items (see ``corpus.items.read_items``) and write a catalogue to a folder, or find it there.

    The embeddings of each shard are in the store at once: the same call after an interruption goes on there. An item
    without an id has its row's number, from 0. An item whose description is empty is kept without a vector, and
    counted. seed: of the random pairs that cosines are compared with.
    """
    folder = Path(out)
    ids = _ids(items)
    titles = items.column("title")
    embedding = EmbedItems(pooling)
    key = _key(encoder, items, pooling, seed)
    if finished(folder, key):
        return Catalogue.load(folder)
    work = begin(folder)
    [reading] = run([embedding], encoder, [items], store=store, options=options, progress=progress)
    assert isinstance(reading, EmbeddedItems)
    assert reading.embeddings is not None
    vectors, places = _write_vectors(work / VECTORS, reading.embeddings, items)
    write_batches(work / ITEMS, _batches(ids, titles, items.column("text"), places))
    held = places[places >= 0]
    cosines = random_pair_cosines(vectors, held, seed)
    np.save(work / RANDOM_PAIRS, cosines)
    [tally] = reading.manifest["corpora"]
    manifest = {
        "theodolite": version("theodolite"),
        "key": key,
        "encoder": {**reading.manifest["encoder"], "path": str(encoder.folder.path), "max_length": encoder.limit},
        "items": {name: tally[name] for name in ("name", "source", "hash")},
        "pooling": pooling,
        "counts": {
            "items": len(held),
            "descriptions": len(vectors),
            "repeated_descriptions": len(held) - len(vectors),
            **{name: tally[name] for name in ("empty", "without_tokens", "windowed")},
        },
        "baseline": baseline(cosines, seed),
        "versions": reading.manifest["versions"],
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    finish(folder, manifest)
    return Catalogue.load(folder)


@dataclass
class EmbeddedItems(Reading):
    """The descriptions' vectors, in the store."""

    instrument: ClassVar[str] = "catalogue"

    embeddings: Embeddings | None = None


@dataclass(frozen=True)
class EmbedItems(Instrument):
    """One vector a description, kept in the store."""

    name: ClassVar[str] = "catalogue"
    question: ClassVar[str] = "What is the vector of each item's description?"
    reading: ClassVar[type[Reading]] = EmbeddedItems

    pooling: str = option("mean", "How tokens become one vector.", choices=("mean", "own", "cls", "max"))

    def passes(self, subject: Subject) -> Passes:
        found = yield KeepEmbeddings(subject, pooling=self.pooling)
        [embeddings] = found.values()
        return EmbeddedItems({}, [], embeddings=embeddings)


def _key(encoder: Encoder, items: Corpus, pooling: str, seed: int) -> str:
    """One key for all that makes a catalogue what it is."""
    parts: list[Any] = [_FORM, encoder.hash, encoder.tokenizer_hash, encoder.window_rule, items.hash, pooling, seed]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _ids(items: Corpus) -> pa.ChunkedArray:
    """The ids as strings; the rows' numbers where there are none."""
    if "id" not in items.table.column_names:
        return items.table["row"].cast(pa.large_string())
    ids = items.table["id"]
    if ids.null_count:
        row = int(items.table["row"][pc.index(ids.is_null(), True).as_py()].as_py()) + 1
        raise InputError(f"{items.name}: row {row} has no id; fill it in, or leave out --id to number the rows")
    return ids.cast(pa.large_string())


def _write_vectors(path: Path, embeddings: Embeddings, items: Corpus) -> tuple[NDArray[np.float32], Ints]:
    """Write the vectors of all descriptions, each once and of unit length; them, and each item's place among them.

    Returns vectors (descriptions, d), memory-mapped, and places (items,), −1 for an item that has no vector.
    """
    count, dim = 0, 0
    for rows, block in embeddings.blocks():
        count, dim = count + len(rows), block.shape[1]
    if not count:
        raise InputError(f"{items.name}: the tokenizer finds nothing in any description ({items.source})")
    vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(count, dim))
    places = np.full(len(items), -1)
    start = 0
    for rows, block in embeddings.blocks():
        vectors[start : start + len(rows)] = unit_vectors(block)
        places[rows] = np.arange(start, start + len(rows))
        start += len(rows)
    vectors.flush()
    # A repeated description has no vector of its own but that of its first item.
    return vectors, places[_first_of_each(items)]


def _first_of_each(items: Corpus) -> Ints:
    """(items,) the first row that has the same description."""
    texts = (text for start in range(0, len(items), SCAN_ROWS) for text in items.texts(start, start + SCAN_ROWS))
    keys = np.fromiter((text_key([text]) for text in texts), np.uint64, len(items))
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return np.asarray(first[which])


def _batches(
    ids: pa.ChunkedArray, titles: pa.ChunkedArray, descriptions: pa.ChunkedArray, places: Ints
) -> Iterator[pa.RecordBatch]:
    place = pa.array(places, mask=places < 0)
    table = pa.table({"id": ids, "title": titles, "description": descriptions, "place": place})
    yield from table.to_batches(SCAN_ROWS)

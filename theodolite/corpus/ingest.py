"""From a source to a finished file in the cache."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from theodolite.corpus.arrow_file import mapped_table, read_batches, write_batches
from theodolite.corpus.columns import Column
from theodolite.corpus.hashing import content_hash
from theodolite.corpus.ids import check_ids
from theodolite.corpus.readers import open_rows
from theodolite.corpus.sampling import sampled
from theodolite.corpus.source import Source
from theodolite.corpus.vectors import checked_vectors, mapped_vectors, save_column, save_some, with_vectors
from theodolite.errors import InputError


@dataclass(frozen=True)
class Extract:
    """Which rows of a source are read: of the first `limit`, a sample."""

    source: Source
    limit: int | None
    sample: int | None
    seed: int


@dataclass(frozen=True)
class Ingested:
    """What a corpus is made of, memory-mapped."""

    hash: str
    table: pa.Table
    vectors: NDArray[Any] | None


def ingest(extract: Extract, folder: Path) -> Ingested:
    """Stream rows into `folder/<hash>.arrow`, and vectors into `<hash>.vectors.npy`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(prefix=".reading-", dir=folder)
    except OSError as error:
        hint = "name another cache folder, for example with THEODOLITE_HOME"
        raise InputError(f"{folder}: cannot be written ({error.strerror}); {hint}") from None
    with scratch:  # whatever happens, nothing but finished files is left
        try:
            return _ingest(extract, folder, Path(scratch.name))
        except OSError as error:  # reading errors are InputErrors by now: this is the disk
            raise InputError(f"{folder}: cannot be written ({error}); make room or name another") from None


def _ingest(extract: Extract, folder: Path, scratch: Path) -> Ingested:
    source, written_vectors = extract.source, scratch / "vectors.npy"
    rows = open_rows(source, extract.limit, scratch)
    batches = rows if extract.sample is None else sampled(rows, extract.sample, extract.seed)
    schema = write_batches(scratch / "raw.arrow", batches)
    if schema is None:
        raise InputError(f"{source.path}: no rows; give a file with at least one")
    path = _with_final_types(scratch / "raw.arrow", schema, rows.columns, written_vectors)
    table = mapped_table(path)
    check_ids(source.path, table)
    vectors = _given_vectors(extract, rows.count, table, written_vectors)
    if written_vectors.exists():
        vectors = mapped_vectors(written_vectors)
    digest = content_hash(read_batches(path), vectors)
    path = path.replace(folder / f"{digest}.arrow")
    if written_vectors.exists():
        vectors = mapped_vectors(written_vectors.replace(folder / f"{digest}.vectors.npy"))
    return Ingested(digest, with_vectors(mapped_table(path), vectors), vectors)


def _with_final_types(raw: Path, schema: pa.Schema, columns: Mapping[str, Column], vectors: Path) -> Path:
    """The rows once more, now that it is known what every column is: a label read as text may be a number
    in all the rows. Vectors move to a file of their own."""
    types = {"row": pa.int64(), **{name: column.type for name, column in columns.items()}}
    if "vector" in types:
        save_column(vectors, read_batches(raw), types.pop("vector"), len(mapped_table(raw)))
    final = pa.schema(types)
    if final == schema:
        return raw
    path = raw.with_name("final.arrow")
    write_batches(path, (batch.select(final.names).cast(final) for batch in read_batches(raw)))
    return path


def _given_vectors(extract: Extract, read: int, table: pa.Table, copy: Path) -> NDArray[Any] | None:
    """The vectors of `?vectors=`: mapped where the file can be used as it is, else copied."""
    path = extract.source.vectors
    if path is None:
        return None
    may_go_on = read == extract.limit
    given = checked_vectors(mapped_vectors(path), path, read, more=may_go_on)
    if given.flags.c_contiguous and given.dtype.isnative and extract.sample is None:
        return given[:read]
    save_some(copy, given, table["row"].to_numpy())
    return None

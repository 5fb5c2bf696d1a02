"""parquet."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from theodolite.corpus import sizes
from theodolite.corpus.choosing import choose_columns
from theodolite.corpus.lines import open_bytes, reading
from theodolite.corpus.rows import Rows
from theodolite.corpus.source import Source
from theodolite.corpus.strings import first_line, is_string, row_place
from theodolite.errors import InputError


def parquet_rows(source: Source, limit: int | None, scratch: Path) -> Rows:
    """The rows of a parquet; a zipped one is unzipped into the folder `scratch`."""
    file = _open(source, scratch)
    names = file.schema_arrow.names
    texts = [field.name for field in file.schema_arrow if is_string(_value_type(field.type))]
    columns = choose_columns(source, names, texts)

    def arrays() -> Iterator[list[pa.Array]]:
        start = 0
        for batch in _batches(file, [column.name for column in columns.values()], limit, source.path):
            place = row_place(source.path, start)
            yield [column.arrow(batch.column(column.name), place) for column in columns.values()]
            start += len(batch)

    return Rows(columns, arrays())


def _open(source: Source, scratch: Path) -> pq.ParquetFile:
    path = source.path
    if source.gzipped:  # parquet is read from its end: unzip it first
        path = str(scratch / "source.parquet")
        with open_bytes(source.path, True) as zipped, open(path, "wb") as plain:
            reading(source.path, lambda: shutil.copyfileobj(zipped, plain, 1 << 20))
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError):
        empty = os.path.getsize(path) == 0
        what = "is empty" if empty else "is not a parquet file or is damaged"
        raise InputError(f"{source.path}: {what}; write it again as parquet") from None


def _batches(file: pq.ParquetFile, names: list[str], limit: int | None, path: str) -> Iterator[pa.RecordBatch]:
    """The file's first `limit` rows, in batches that are not empty."""
    start = 0
    batches = file.iter_batches(sizes.CHUNK_ROWS, columns=list(dict.fromkeys(names)))
    while limit is None or start < limit:
        try:
            batch = next(batches, None)
        except (pa.ArrowException, OSError) as error:
            what = f"is damaged after row {start} ({first_line(error)})"
            raise InputError(f"{path}: {what}; write it again") from None
        if batch is None:
            return
        batch = batch if limit is None else batch[: limit - start]
        if len(batch):
            yield batch
        start += len(batch)


def _value_type(type: pa.DataType) -> pa.DataType:
    return type.value_type if pa.types.is_dictionary(type) else type

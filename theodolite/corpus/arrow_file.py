"""Arrow files: written and read a batch at a time, or memory-mapped whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa


def write_batches(path: Path, batches: Iterable[pa.RecordBatch]) -> pa.Schema | None:
    """Write batches to a file; their schema, or None, and no file, where there are none."""
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        return None
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, first.schema) as writer:
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch)
    return first.schema


def read_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """A file's batches, read and let go one by one: pages of a map would pile up in memory."""
    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_file(file)
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)


def mapped_table(path: Path) -> pa.Table:
    """The whole file as a table that shares its memory."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()

"""Stored arrays as one file for other programs: Parquet or NumPy, written a shard at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from theodolite.errors import InputError
from theodolite.store.local import LocalFiles
from theodolite.store.tables import table_vectors

Tables = Callable[[], Iterator[pa.Table]]


def export_table(tables: Tables, rows: int, out: str | PathLike[str]) -> int:
    """Write the tables one after the other to `out` (.parquet or .npy by its ending); the rows written.

    `tables` gives the shards' tables, in order, each time it is called; `rows` is their number together.
    No more than one shard is in memory, and `out` appears when it is complete.
    """
    path = Path(out).expanduser()
    if path.suffix not in _WRITERS:
        raise InputError(f"{out}: unknown kind of file; name it .parquet or .npy")
    if path.is_dir():
        raise InputError(f"{out}: is a folder; name a file in it")
    write = _WRITERS[path.suffix]
    LocalFiles(path.parent).write(path.name, lambda file: write(tables(), rows, file))
    return rows


def _write_parquet(tables: Iterator[pa.Table], rows: int, file: IO[bytes]) -> None:
    """The columns as stored, and `shard` (int32): `row` is an offset in it and says little alone."""
    writer: pq.ParquetWriter | None = None
    with ExitStack() as opened:
        for number, table in enumerate(tables):
            shard = pa.array(np.full(table.num_rows, number, np.int32))
            numbered = table.append_column("shard", shard)
            writer = writer or opened.enter_context(pq.ParquetWriter(file, numbered.schema))
            writer.write_table(numbered)


def _write_npy(tables: Iterator[pa.Table], rows: int, file: IO[bytes]) -> None:
    """The vectors alone, (rows, d) in C order."""
    for number, table in enumerate(tables):
        if "vector" not in table.column_names:
            raise InputError("what is stored here is no matrix of vectors; export it to .parquet")
        _, vectors = table_vectors(table)
        if number == 0:
            header = {"descr": vectors.dtype.str, "fortran_order": False, "shape": (rows, vectors.shape[1])}
            np.lib.format.write_array_header_1_0(file, header)
        # Plain writes and not a map of `out`: on a full disk they are an error, where a map is a SIGBUS.
        file.write(vectors.data)


_WRITERS = {".parquet": _write_parquet, ".npy": _write_npy}

"""Tables of vectors, and their form on disk: an Arrow IPC file that can tell whether it is intact."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_VERSION = b"1"
_VERSION_KEY, _CRC_KEY, _ROWS_KEY = b"theodolite.version", b"theodolite.crc32", b"theodolite.rows"
_OWN_KEYS = (_VERSION_KEY, _CRC_KEY, _ROWS_KEY)
# An IPC file opens with "ARROW1" padded to eight bytes; the schema, with our metadata, comes right after.
_MAGIC_LENGTH = 8
HEAD_LENGTH = 1 << 16


class Damaged(Exception):
    """The bytes are not those that were written."""


def vectors_table(rows: NDArray[np.int64], vectors: NDArray[Any]) -> pa.Table:
    """A table of `row` (int32, the offset in the shard) and `vector` (fixed-size list of d numbers).

    rows: (n,) integers; vectors: (n, d) float32 or float16, d at least 1. The vectors are not copied if
    they are contiguous.

    >>> vectors_table(np.arange(2), np.zeros((2, 3), np.float16)).schema.names
    ['row', 'vector']
    """
    if vectors.ndim != 2 or vectors.shape[1] == 0 or rows.shape != vectors.shape[:1]:
        raise ValueError(f"rows (n,) and vectors (n, d) expected, not {rows.shape} and {vectors.shape}")
    if vectors.dtype not in (np.float32, np.float16):
        raise ValueError(f"float32 or float16 vectors expected, not {vectors.dtype}")
    if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < 2**31:
        raise ValueError(f"row offsets from 0 to 2**31 - 1 expected, not {rows.min()} to {rows.max()}")
    flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
    lists = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    return pa.table({"row": pa.array(rows.astype(np.int32)), "vector": lists})


def table_vectors(table: pa.Table) -> tuple[NDArray[Any], NDArray[Any]]:
    """Row offsets (n,) int32 and vectors (n, d) of a table made by `vectors_table`, whole or sliced.

    Nothing is copied, and the arrays are read-only, when the table is in one piece, as one that `Store.get`
    gave is; a table joined from several is put together first.

    >>> rows, vectors = table_vectors(vectors_table(np.arange(4), np.eye(4, dtype=np.float32)).slice(1, 2))
    >>> rows.tolist(), vectors.shape
    ([1, 2], (2, 4))
    """
    rows, lists = _whole(table.column("row")), _whole(table.column("vector"))
    # flatten() and not .values: it heeds the offset of a sliced table.
    vectors = lists.flatten().to_numpy(zero_copy_only=True)
    return rows.to_numpy(zero_copy_only=True), vectors.reshape(len(lists), lists.type.list_size)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    chunks = [chunk for chunk in column.chunks if len(chunk)]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks or [pa.array([], column.type)])


def write_table(table: pa.Table, file: IO[bytes]) -> None:
    """Write the table as an uncompressed Arrow IPC file with its checksum in the schema's metadata."""
    if any("dictionary<" in str(kind) for kind in table.schema.types):
        # The checksum goes over the columns' own buffers, and a dictionary is not among them.
        raise ValueError("a stored table has no dictionary columns; decode them first")
    batches = table.combine_chunks().to_batches()
    # Arrow trims and shifts the buffers of a slice when it writes them, so the sum is taken of the form they
    # will have in the file. It stands before them there, and so cannot be taken on the way.
    as_written = [pa.ipc.read_record_batch(batch.serialize(), batch.schema) for batch in batches]
    own = dict(zip(_OWN_KEYS, (_VERSION, b"%08x" % _crc32(as_written), b"%d" % table.num_rows), strict=True))
    schema = table.schema.with_metadata({**(table.schema.metadata or {}), **own})
    with pa.ipc.new_file(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def read_table(buffer: pa.Buffer, *, check: bool = True) -> pa.Table:
    """The table in an Arrow IPC file: columns point into `buffer`. Raises Damaged.

    With `check`, every byte that matters is read and compared with the checksum.
    """
    try:
        reader = pa.ipc.open_file(pa.BufferReader(buffer))
        own = reader.schema.metadata or {}
        if own.get(_VERSION_KEY) != _VERSION:
            raise Damaged("another version of the store's format")
        table = reader.read_all()
        if check:
            _check(table, buffer)
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise Damaged(str(error)) from error
    rest = {key: value for key, value in own.items() if key not in _OWN_KEYS}
    return table.replace_schema_metadata(rest or None)


def read_rows(head: pa.Buffer) -> int:
    """The number of rows, from the first HEAD_LENGTH bytes of a file. Raises Damaged."""
    try:
        return int(pa.ipc.read_schema(head.slice(_MAGIC_LENGTH)).metadata[_ROWS_KEY])
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise Damaged(str(error)) from error


def _check(table: pa.Table, buffer: pa.Buffer) -> None:
    """Raise ValueError unless the table is the one that was written."""
    own = table.schema.metadata
    # The schema is in the file twice, at its start and in the footer that was used to read it. Comparing the
    # two finds a changed type or name, which the sum over the buffers cannot.
    if not pa.ipc.read_schema(buffer.slice(_MAGIC_LENGTH)).equals(table.schema, check_metadata=True):
        raise ValueError("the two copies of the schema differ")
    table.validate(full=True)
    if own[_ROWS_KEY] != b"%d" % table.num_rows or own[_CRC_KEY] != b"%08x" % _crc32(table.to_batches()):
        raise ValueError("the checksum does not fit")


def _crc32(batches: Iterable[pa.RecordBatch]) -> int:
    """crc32 over the sizes and contents of the columns' buffers, column by column."""
    crc = 0
    for batch in batches:
        for column in batch.columns:
            for part in column.buffers():
                size = part.size if part is not None else 0
                crc = zlib.crc32(size.to_bytes(8, "little"), crc)
                if size:
                    crc = zlib.crc32(part, crc)
    return crc

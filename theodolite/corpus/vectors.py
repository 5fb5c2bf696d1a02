"""People's own vectors, one for each row of a corpus, in memory or in a .npy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.corpus.sizes import SCAN_ROWS
from theodolite.errors import InputError


def mapped_vectors(path: str | Path) -> NDArray[Any]:
    """A .npy file, memory-mapped."""
    try:
        array: NDArray[Any] = np.lib.format.open_memmap(path, "r")
        return array
    except FileNotFoundError:
        raise InputError(f"{path}: no such file of vectors; check ?vectors=") from None
    except (OSError, ValueError, EOFError):
        raise InputError(f"{path}: is no .npy of numbers or is cut short; write it with numpy.save") from None


def checked_vectors(vectors: NDArray[Any], place: str, rows: int, *, more: bool = False) -> NDArray[Any]:
    """The vectors, if each row has one of finite numbers; `more` says whether some may be left over."""
    if vectors.ndim != 2 or vectors.shape[1] == 0:
        raise InputError(f"{place}: vectors of shape {vectors.shape}; (rows, dimensions) is needed")
    if vectors.dtype.kind != "f" or vectors.dtype.itemsize > 8:
        raise InputError(f"{place}: vectors of type {vectors.dtype}; save them as float32 or float64")
    if len(vectors) < rows or (len(vectors) > rows and not more):
        what = f"{len(vectors):,} vectors for {rows:,} texts"
        raise InputError(f"{place}: {what}; give one for each row, in the same order")
    for start in range(0, rows, SCAN_ROWS):
        broken = np.flatnonzero(~np.isfinite(vectors[start : min(start + SCAN_ROWS, rows)]).all(axis=1))
        if len(broken):
            row = start + broken[0] + 1
            raise InputError(f"{place}: row {row:,} has a NaN or infinite number; mend the vector")
    vectors.flags.writeable = False
    return vectors


def save_some(path: Path, vectors: NDArray[Any], rows: NDArray[np.int64]) -> None:
    """Write the vectors of some rows to a .npy, in C order and this machine's byte order."""
    shape = (len(rows), vectors.shape[1])
    out = np.lib.format.open_memmap(path, "w+", vectors.dtype.newbyteorder("="), shape)
    for start in range(0, len(rows), SCAN_ROWS):
        out[start : start + SCAN_ROWS] = vectors[rows[start : start + SCAN_ROWS]]
    out.flush()


def save_column(path: Path, batches: Iterable[pa.RecordBatch], type: pa.DataType, rows: int) -> None:
    """Write the column `vector` of record batches, lists of a fixed size, to a .npy."""
    width, kind = type.list_size, type.value_type.to_pandas_dtype()
    out = np.lib.format.open_memmap(path, "w+", kind, (rows, width))
    start = 0
    for batch in batches:
        flat = batch.column("vector").flatten()
        out[start : start + len(batch)] = flat.to_numpy().reshape(-1, width)
        start += len(batch)
    out.flush()


def with_vectors(table: pa.Table, vectors: NDArray[Any] | None) -> pa.Table:
    """The table with the vectors as a column that shares their memory."""
    if vectors is None:
        return table
    flat = pa.array(np.asarray(vectors).reshape(-1))
    return table.append_column("vector", pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]))

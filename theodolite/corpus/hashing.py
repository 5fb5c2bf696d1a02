"""Hashes of content: of a whole corpus, of the texts of a shard, of one text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from theodolite.corpus.sizes import SCAN_ROWS


def content_hash(batches: Iterable[pa.RecordBatch], vectors: NDArray[Any] | None) -> str:
    """sha256 of a table's column names, types and values, and of the vectors."""
    columns: dict[str, _ColumnDigest] = {}
    for batch in batches:
        for column, array in zip(batch.schema, batch.columns, strict=True):
            columns.setdefault(json.dumps([column.name, str(column.type)]), _ColumnDigest()).update(array)
    whole = hashlib.sha256()
    for described, digest in columns.items():
        whole.update(described.encode() + digest.digest())
    if vectors is not None:
        whole.update(json.dumps(["vector", vectors.dtype.name, *vectors.shape]).encode())
        for start in range(0, len(vectors), SCAN_ROWS):
            whole.update(np.ascontiguousarray(vectors[start : start + SCAN_ROWS]).data)
    return whole.hexdigest()


def values_hash(columns: Iterable[pa.ChunkedArray]) -> str:
    """sha256 of the columns' values alone, in whatever chunks they are."""
    whole = hashlib.sha256()
    for column in columns:
        digest = _ColumnDigest()
        for chunk in column.chunks:
            digest.update(chunk)
        whole.update(digest.digest())
    return whole.hexdigest()


def text_key(texts: Sequence[str]) -> int:
    """64 bits for a text or a pair; the first one's length keeps ("a", "bc") and ("ab", "c") apart."""
    parts = [text.encode() for text in texts]
    digest = hashlib.blake2b(b"%d:" % len(parts[0]) + b"".join(parts), digest_size=8).digest()
    return int.from_bytes(digest, "little")


class _ColumnDigest:
    """sha256 of a column's values, whatever chunks they come in: lengths (or validity) and bytes apart."""

    def __init__(self) -> None:
        self.sizes, self.values = hashlib.sha256(), hashlib.sha256()

    def update(self, array: pa.Array) -> None:
        if pa.types.is_large_string(array.type):
            sizes = pc.fill_null(pc.binary_length(array), -1)
            full = array.fill_null("")
            _, offsets, data = full.buffers()
            bounds = np.frombuffer(offsets, np.int64)[full.offset : full.offset + len(full) + 1]
            if data is not None:
                self.values.update(data[bounds[0] : bounds[-1]])
        else:
            sizes = array.is_valid()
            full = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
            self.values.update(np.ascontiguousarray(full.to_numpy(zero_copy_only=False)).data)
        self.sizes.update(np.ascontiguousarray(sizes.to_numpy(zero_copy_only=False)).data)

    def digest(self) -> bytes:
        return self.sizes.digest() + self.values.digest()

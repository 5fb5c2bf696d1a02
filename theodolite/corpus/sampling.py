"""A sample of rows that does not depend on the order or the chunks they come in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from theodolite.accumulate.hashing import hash_of
from theodolite.corpus import sizes


def sampled(batches: Iterable[pa.RecordBatch], size: int, seed: int) -> Iterator[pa.RecordBatch]:
    """The `size` rows with the smallest hash of (seed, row), in row order; about twice as many are held."""
    kept: pa.Table | None = None
    bound = np.uint64(2**64 - 1)
    for batch in batches:
        hashes = hash_of(seed, batch.column("row").to_numpy())
        fresh = pa.Table.from_batches([batch.take(pa.array(np.flatnonzero(hashes <= bound)))])
        kept = fresh if kept is None else pa.concat_tables([kept, fresh])
        if len(kept) > max(2 * size, size + sizes.CHUNK_ROWS):
            kept, bound = _smallest(kept, size, seed)
    if kept is not None:
        yield from _smallest(kept, size, seed)[0].to_batches(sizes.CHUNK_ROWS)


def _smallest(table: pa.Table, size: int, seed: int) -> tuple[pa.Table, np.uint64]:
    hashes = hash_of(seed, table["row"].to_numpy())
    places = np.sort(np.argsort(hashes)[:size])
    return table.take(pa.array(places)).combine_chunks(), np.uint64(hashes[places].max())

"""An opened source of whatever format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from theodolite.corpus.columns import Column


class Rows:
    """A source's rows as numbered record batches, to be gone through once."""

    def __init__(self, columns: Mapping[str, Column], chunks: Iterator[list[pa.Array]]) -> None:
        self.columns = columns
        self.count = 0
        """How many rows have been read so far."""
        self._chunks = chunks

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for arrays in self._chunks:
            numbers = pa.array(np.arange(self.count, self.count + len(arrays[0])))
            self.count += len(numbers)
            yield pa.record_batch([numbers, *arrays], ["row", *self.columns])


NO_ROWS = Rows({}, iter(()))

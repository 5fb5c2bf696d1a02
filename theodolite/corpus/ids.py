"""A corpus's ids name one row each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from theodolite.corpus.hashing import text_key
from theodolite.errors import InputError


def check_ids(place: str, table: pa.Table) -> None:
    """Refuse a table whose column `id`, if it has one, has a value twice; null may come often."""
    if "id" not in table.column_names:
        return
    ids = table["id"]
    values = (value for chunk in ids.chunks for value in chunk.to_pylist())
    keys = np.fromiter((text_key([str(value)]) for value in values), np.uint64, len(ids))
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    for later, earlier in sorted(zip(order[same + 1].tolist(), order[same].tolist(), strict=True)):
        value = ids[later].as_py()
        if value is not None and value == ids[earlier].as_py():
            rows = f"{table['row'][earlier].as_py() + 1:,} and {table['row'][later].as_py() + 1:,}"
            raise InputError(f"{place}: id {value!r} is at rows {rows}; make ids differ or leave out ?id=")

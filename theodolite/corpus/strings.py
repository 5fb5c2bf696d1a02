"""Arrow arrays of strings that are known to be good: UTF-8, and no NUL bytes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from theodolite.errors import InputError

Place = Callable[[int], str]
"""The i-th row of a chunk in words, for an error: "a.csv: line 7"."""


def row_place(path: str, start: int) -> Place:
    """Places by row number, for a chunk that starts after `start` rows.

    >>> row_place("a.parquet", 10)(0)
    'a.parquet: row 11'
    """
    return lambda i: f"{path}: row {start + i + 1}"


def is_string(type: pa.DataType) -> bool:
    """Whether an Arrow type is one of its three kinds of string."""
    return bool(pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type))


def good_strings(values: list[str | None], place: Place) -> pa.Array:
    """An array of Python's strings."""
    try:
        return checked_strings(pa.array(values, pa.large_string()), place)
    except UnicodeEncodeError:
        for i, value in enumerate(values):
            if value is not None and re.search("[\ud800-\udfff]", value):
                what = "has half of a surrogate pair, which is no character"
                raise InputError(f"{place(i)}: {what}; write the file again as UTF-8") from None
        raise


def checked_strings(array: pa.Array, place: Place) -> pa.Array:
    """The array of large strings, if it is good."""
    data = array.buffers()[2]
    if data is not None and (np.frombuffer(data, np.uint8) == 0).any():
        for i in np.flatnonzero(pc.fill_null(pc.match_substring(array, "\0"), False)).tolist():
            raise InputError(f"{place(i)}: has a NUL byte; remove it, for example with tr -d '\\000'")
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        for i in range(len(array)):
            try:
                array[i].as_py()
            except UnicodeDecodeError:
                raise InputError(f"{place(i)}: is not UTF-8; write the file again as UTF-8") from None
        raise
    return array


def first_line(error: Exception) -> str:
    """What another library's error says, in one line of at most 160 characters."""
    return shortened((str(error).strip().splitlines() or [type(error).__name__])[0], 160)


def shortened(text: str, length: int) -> str:
    """The text, cut where it is too long.

    >>> shortened("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"

"""Columns while they are read: each turns what a format hands over into Arrow arrays, a chunk at a time.

A column remembers what the whole of it turned out to be: the type of a csv's label is known only after its
last row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from theodolite.corpus.source import ROLES
from theodolite.corpus.strings import Place, checked_strings, first_line, good_strings, is_string, shortened
from theodolite.errors import InputError

_TEXTS = ("text", "text_b", "title")
_ARROW_TYPES = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "text": pa.large_string()}
_KINDS = {str: "text", bool: "bool", int: "int", float: "float"}
# A number is taken for one only where nothing is lost: 007 and a card number of 19 digits stay text.
_INT = r"^-?(0|[1-9][0-9]{0,17})$"
_FLOAT = r"^[+-]?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"


class Column(Protocol):
    """One column of the table while it is read."""

    name: str
    """What the source calls it."""

    def cells(self, cells: list[str]) -> pa.Array:
        """An array of the cells of a csv or tsv."""

    def values(self, values: list[Any], place: Place) -> pa.Array:
        """An array of Python values: jsonl, hf, memory."""

    def arrow(self, array: pa.Array, place: Place) -> pa.Array:
        """An array of an Arrow array: parquet."""

    @property
    def type(self) -> pa.DataType:
        """The type the whole column has, known once all of it was seen."""


def column_for(role: str, name: str) -> Column:
    """The kind of column that a role in the table calls for."""
    if role in _TEXTS:
        return TextColumn(name)
    return VectorColumn(name) if role == "vector" else GuessedColumn(name)


def in_order(names: Iterable[str]) -> list[str]:
    """Roles first, others by name: a table's columns do not depend on the order they were asked in.

    >>> in_order(["year", "label", "author", "text"])
    ['text', 'label', 'author', 'year']
    """
    names = set(names)
    return [role for role in ROLES if role in names] + sorted(names - set(ROLES))


class TextColumn:
    """Texts: strings and nothing else; null is the empty string."""

    type = pa.large_string()

    def __init__(self, name: str) -> None:
        self.name = name

    def cells(self, cells: list[str]) -> pa.Array:
        """The cells as they are."""
        return pa.array(cells, pa.large_string())

    def values(self, values: list[Any], place: Place) -> pa.Array:
        """The values, if all are strings or null."""
        for i, value in enumerate(values):
            if value is not None and not isinstance(value, str):
                what = f"{self.name!r} is {type(value).__name__} ({shortened(repr(value), 40)}), not a text"
                raise InputError(f"{place(i)}: {what}; put it in quotes or name another column with ?text=…")
        return good_strings(["" if value is None else value for value in values], place)

    def arrow(self, array: pa.Array, place: Place) -> pa.Array:
        """The array, if it is of strings."""
        array = _without_dictionary(array)
        if not is_string(array.type) and not pa.types.is_null(array.type):
            what = f"{self.name!r} is {array.type}, not a text"
            raise InputError(f"{place(0)}: {what}; name another column with ?text=…")
        return checked_strings(array.cast(pa.large_string()).fill_null(""), place)


class GuessedColumn:
    """Labels, ids and whatever else: int, float, bool or text, whichever holds every value without loss.

    Cells and values come back as strings, to be cast to the column's type at the end.

    >>> stars = GuessedColumn("stars")
    >>> stars.cells(["4", "", "5"]).null_count, str(stars.type)
    (1, 'int64')
    >>> stars.cells(["4.5"]).null_count, str(stars.type)
    (0, 'double')
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.kind: str | None = None

    @property
    def type(self) -> pa.DataType:
        """The type so far; text where every value was null."""
        return _ARROW_TYPES[self.kind or "text"]

    def cells(self, cells: list[str]) -> pa.Array:
        """The cells, of which an empty one is null."""
        array = pa.array([cell or None for cell in cells], pa.large_string())
        if self.kind is None and array.null_count < len(array):
            self.kind = "int"
        for kind, pattern, wider in (("int", _INT, "float"), ("float", _FLOAT, "text")):
            if self.kind == kind and pc.all(pc.match_substring_regex(array, pattern)).as_py() is False:
                self.kind = wider
        return array

    def values(self, values: list[Any], place: Place) -> pa.Array:
        """The values, if they are of one kind."""
        for i, value in enumerate(values):
            if value is not None:
                self._widen(value, i, place)
        if self.kind in (None, "text"):
            return good_strings(values, place)
        return pa.array([None if v is None else repr(v).lower() for v in values], pa.large_string())

    def _widen(self, value: Any, i: int, place: Place) -> None:
        kind = _KINDS.get(type(value))
        if kind is None:
            what = f"{self.name!r} is {type(value).__name__}"
            raise InputError(f"{place(i)}: {what}; only texts, numbers and true/false can be read")
        if kind == "int" and not -(2**63) <= value < 2**63:
            raise InputError(f"{place(i)}: {self.name!r} is a number beyond 64 bits; put it in quotes")
        if self.kind is None:
            self.kind = kind
        elif {self.kind, kind} == {"int", "float"}:
            self.kind = "float"
        elif self.kind != kind:
            shown = shortened(repr(value), 40)
            what = f"{self.name!r} is {kind} ({shown}) where earlier rows have {self.kind}"
            raise InputError(f"{place(i)}: {what}; make the column one kind")

    def arrow(self, array: pa.Array, place: Place) -> pa.Array:
        """The array in the widest type of its kind; what is no number and no bool becomes text."""
        array, types = _without_dictionary(array), pa.types
        if types.is_integer(array.type):
            self.kind = "int"
        elif types.is_floating(array.type) or types.is_decimal(array.type):
            self.kind = "float"
        elif types.is_boolean(array.type):
            self.kind = "bool"
        else:
            self.kind = "text"
        try:
            array = array.cast(self.type)
        except pa.ArrowNotImplementedError:
            what = f"{self.name!r} is {array.type}"
            raise InputError(f"{place(0)}: {what}; only texts, numbers and true/false can be read") from None
        except pa.ArrowInvalid as error:
            what = f"{self.name!r} cannot be read ({first_line(error)})"
            raise InputError(f"{place(0)} or after: {what}; store it as text") from None
        return checked_strings(array, place) if self.kind == "text" else array


class VectorColumn:
    """People's own vectors: lists of equal length, finite."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.width: int | None = None
        self.type = pa.null()

    def cells(self, cells: list[str]) -> pa.Array:
        """Cells of a csv hold no vectors (the source's parser says so first)."""
        raise InputError(f"{self.name!r}: a csv cell holds no vector; use Parquet, or ?vectors=FILE.npy")

    def values(self, values: list[Any], place: Place) -> pa.Array:
        """The values, if all are lists of numbers."""
        for i, value in enumerate(values):
            if not isinstance(value, list) or not all(type(x) in (int, float) for x in value):
                raise InputError(f"{place(i)}: {self.name!r} is not a list of numbers; mend or drop the row")
        return self.arrow(pa.array(values, pa.list_(pa.float64())), place)

    def arrow(self, array: pa.Array, place: Place) -> pa.Array:
        """The array as lists of fixed size."""
        types, type = pa.types, array.type
        lists = types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type)
        if not lists or not (types.is_floating(type.value_type) or types.is_integer(type.value_type)):
            raise InputError(f"{place(0)}: {self.name!r} is {type}, not a list of numbers; name another")
        width = self._common_length(array, place)
        flat = array.flatten()
        flat = flat.cast(pa.float64()) if types.is_integer(flat.type) else flat
        numbers = flat.to_numpy(zero_copy_only=False).reshape(-1, width)  # a null becomes NaN
        broken = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
        if len(broken):
            where = place(int(broken[0]))
            raise InputError(f"{where}: {self.name!r} has a NaN or infinite number; mend the vector")
        self.type = pa.list_(flat.type, width)
        return pa.FixedSizeListArray.from_arrays(pa.array(numbers.reshape(-1)), width)

    def _common_length(self, array: pa.Array, place: Place) -> int:
        lengths = pc.fill_null(pc.list_value_length(array), -1).to_numpy(zero_copy_only=False)
        if self.width is None:
            self.width = int(lengths[0])
        wrong = np.flatnonzero((lengths != self.width) | (lengths < 1))
        if len(wrong):
            length = max(int(lengths[wrong[0]]), 0)
            what = f"{self.name!r} has {length} numbers where the first row has {max(self.width, 0)}"
            raise InputError(f"{place(int(wrong[0]))}: {what}; vectors need equal lengths of at least 1")
        return self.width


def _without_dictionary(array: pa.Array) -> pa.Array:
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array

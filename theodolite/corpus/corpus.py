"""Corpora: named, immutable tables of texts with a content hash, and the shards they are cut into.

A file is read once, a chunk at a time, into an Arrow file in the cache and memory-mapped from there: a corpus
of ten million texts takes no more memory than one of ten thousand. Every source row is a table row; what is
empty or a duplicate is marked, not dropped: instruments decide.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.corpus.columns import column_for, in_order
from theodolite.corpus.hashing import content_hash, text_key, values_hash
from theodolite.corpus.ids import check_ids
from theodolite.corpus.ingest import Extract, ingest
from theodolite.corpus.sizes import SCAN_ROWS
from theodolite.corpus.source import parse_source, split_name
from theodolite.corpus.strings import row_place
from theodolite.corpus.vectors import checked_vectors, with_vectors
from theodolite.errors import InputError


@dataclass(frozen=True)
class Shard:
    """A fixed run of rows [start, stop) of a corpus. Its hash is that of its texts alone, so that the same
    texts under another name or at another place are known again."""

    corpus: str
    index: int
    start: int
    stop: int
    hash: str


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """A named, immutable table of texts.

    >>> corpus = Corpus.of(["good wine", "", "good wine"], "notes", labels=[1, 0, 1])
    >>> corpus
    Corpus('notes', 3 rows, row text label, 98305776)
    >>> corpus.duplicate.tolist(), corpus.empty.tolist()
    ([False, False, True], [False, True, False])
    """

    name: str
    hash: str
    """sha256 of the columns' names and values in order; not of the name, nor of where it came from."""
    source: str
    table: pa.Table
    """`row` (int64, the 0-based data row in the source), `text` (large_string), and what was asked for."""
    vectors: NDArray[Any] | None = None
    """People's own vectors, (rows, d), aligned with the table; memory-mapped where the corpus is a file's."""

    @classmethod
    def read(
        cls,
        source: str | os.PathLike[str],
        name: str | None = None,
        *,
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        columns: Sequence[str] = (),
        cache: str | os.PathLike[str] | None = None,
    ) -> Corpus:
        """Read `SOURCE?query` (see `theodolite.corpus.source`).

        limit: only the first so many rows. sample: of these, the so many with the smallest hash of
        (seed, row), in row order. columns: further columns, by their own names. cache: the folder for
        `corpora/<hash>.arrow` (default: THEODOLITE_HOME, else ~/.cache/theodolite).
        """
        for option, value in (("limit", limit), ("sample", sample)):
            if value is not None and value < 1:
                raise InputError(f"{option} is {value}; give at least 1")
        if isinstance(columns, str):
            raise InputError(f"columns is the text {columns!r}; give a list of names")
        parsed = parse_source(source).with_columns(columns)
        home = cache or os.environ.get("THEODOLITE_HOME") or Path.home() / ".cache" / "theodolite"
        read = ingest(Extract(parsed, limit, sample, seed), Path(home) / "corpora")
        return cls(name or parsed.stem, read.hash, parsed.spec, read.table, read.vectors)

    @classmethod
    def parse(
        cls,
        spec: str,
        *,
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        columns: Sequence[str] = (),
        cache: str | os.PathLike[str] | None = None,
    ) -> Corpus:
        """Read `NAME=SOURCE`, or SOURCE, which is then called by its file's stem."""
        name, source = split_name(spec)
        return cls.read(source, name, limit=limit, sample=sample, seed=seed, columns=columns, cache=cache)

    @classmethod
    def of(
        cls,
        texts: Iterable[str],
        name: str = "texts",
        *,
        texts_b: Iterable[str] | None = None,
        labels: Iterable[Any] | None = None,
        titles: Iterable[str] | None = None,
        ids: Iterable[Any] | None = None,
        vectors: Any = None,
        **columns: Iterable[Any],
    ) -> Corpus:
        """A corpus of texts in memory; other columns are given as lists of the same length.

        >>> Corpus.of(["a", "b"], weight=[0.5, 1.0]).column("weight").to_pylist()
        [0.5, 1.0]
        """
        roles = {"text": texts, "text_b": texts_b, "label": labels, "title": titles, "id": ids}
        given = {key: _listed(name, key, values) for key, values in roles.items() if values is not None}
        for key, values in columns.items():
            if key in (*roles, "row", "vector"):
                raise InputError(f"{name}: {key!r} is no free column name; rename the column")
            given[key] = _listed(name, key, values)
        rows = len(given["text"])
        if rows == 0:
            raise InputError(f"{name}: no texts; give at least one")
        arrays = [pa.array(np.arange(rows))]
        for key in in_order(given):
            if len(given[key]) != rows:
                what = f"{rows} texts, {len(given[key])} values of {key!r}"
                raise InputError(f"{name}: {what}; give one a text")
            column = column_for(key, key)
            arrays.append(column.values(given[key], row_place(name, 0)).cast(column.type))
        table = pa.table(arrays, ["row", *in_order(given)])
        check_ids(name, table)
        try:
            own = None if vectors is None else checked_vectors(np.array(vectors), name, rows)
        except ValueError:
            raise InputError(f"{name}: vectors of unequal lengths; give a (rows, dimensions) array") from None
        return cls(name, content_hash(table.to_batches(), own), "memory", with_vectors(table, own), own)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        columns = " ".join(self.table.column_names)
        return f"Corpus({self.name!r}, {len(self):,} rows, {columns}, {self.hash[:8]})"

    def text(self, row: int) -> str:
        """The text at a place in the table (0 to len − 1; the source's own number is in the column `row`)."""
        if not 0 <= row < len(self):
            raise IndexError(f"{self.name}: row {row} of {len(self)}")
        return str(self.table["text"][row].as_py())

    def texts(self, start: int = 0, stop: int | None = None) -> list[str]:
        """The texts at places start to stop of the table."""
        return self._strings("text", start, stop)

    def texts_b(self, start: int = 0, stop: int | None = None) -> list[str] | None:
        """The second texts of pairs, or None where there are none."""
        return self._strings("text_b", start, stop) if "text_b" in self.table.column_names else None

    def _strings(self, name: str, start: int, stop: int | None) -> list[str]:
        start, stop, _ = slice(start, stop).indices(len(self))
        strings: list[str] = self.table[name].slice(start, max(stop - start, 0)).to_pylist()
        return strings

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of the table by name.

        >>> Corpus.of(["a"]).column("label")
        Traceback (most recent call last):
        ...
        theodolite.errors.InputError: texts: no column 'label' (it has: row, text); read it with ?label=COLUMN
        """
        if name not in self.table.column_names:
            there = ", ".join(self.table.column_names)
            raise InputError(f"{self.name}: no column {name!r} (it has: {there}); read it with ?{name}=COLUMN")
        return self.table[name]

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        """(rows,) whether the text, or the second one of a pair, is blank."""
        blank = [not all(text.strip() for text in texts) for texts in self._pairs()]
        return _frozen(np.array(blank, bool))

    @cached_property
    def duplicate(self) -> NDArray[np.bool_]:
        """(rows,) whether the same text, or pair, is already at an earlier row."""
        # 8 bytes a row, not a set of all the texts; ten million rows collide with a chance of 3 in a million.
        keys = np.fromiter(map(text_key, self._pairs()), np.uint64, len(self))
        duplicate = np.ones(len(self), bool)
        duplicate[np.unique(keys, return_index=True)[1]] = False
        return _frozen(duplicate)

    def _pairs(self) -> Iterator[tuple[str, ...]]:
        for batch in self.table.select(self._text_columns).to_batches(SCAN_ROWS):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    @property
    def _text_columns(self) -> list[str]:
        return [name for name in ("text", "text_b") if name in self.table.column_names]

    def shards(self, size: int = 2048) -> list[Shard]:
        """The corpus cut into runs of `size` rows, the last one shorter.

        >>> [(s.start, s.stop) for s in Corpus.of(["a", "b", "c"]).shards(2)]
        [(0, 2), (2, 3)]
        """
        if size < 1:
            raise InputError(f"shard size is {size}; give at least 1")
        columns = [self.table[name] for name in self._text_columns]
        shards = []
        for index, start in enumerate(range(0, len(self), size)):
            stop = min(start + size, len(self))
            digest = values_hash(column[start:stop] for column in columns)
            shards.append(Shard(self.name, index, start, stop, digest))
        return shards


def _listed(name: str, key: str, values: Iterable[Any]) -> list[Any]:
    if isinstance(values, str):
        raise InputError(f"{name}: {key!r} is a single text; give a list of them")
    tolist = getattr(values, "tolist", None) or getattr(values, "to_pylist", None)
    return list(tolist() if tolist else values)  # a NumPy array's items as Python's own kinds


def _frozen(array: NDArray[np.bool_]) -> NDArray[np.bool_]:
    array.flags.writeable = False
    return array

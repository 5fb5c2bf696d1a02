"""jsonl: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from theodolite.corpus.choosing import choose_columns, missing_column
from theodolite.corpus.columns import Column
from theodolite.corpus.lines import Lines, chunked
from theodolite.corpus.rows import NO_ROWS, Rows
from theodolite.corpus.source import Source
from theodolite.errors import InputError

_NEEDED_IN_EVERY_ROW = ("text", "text_b", "vector")
_Record = tuple[int, dict[str, Any]]  # its line, its object


def jsonl_rows(source: Source, limit: int | None) -> Rows:
    """The rows of a jsonl; blank lines are none."""
    lines = Lines(source)
    chunks = chunked(islice(_records(lines), limit), lines)
    peek = next(chunks, None)
    if peek is None:
        return NO_ROWS
    names = list(dict.fromkeys(name for _, row in peek for name in row))
    strings = {name for _, row in peek for name, value in row.items() if isinstance(value, str)}
    texts = [name for name in names if name in strings]
    # A sparse column may first come after the peek: that it never comes is known at the end.
    columns = choose_columns(source, names, texts, all_known=False)

    def arrays() -> Iterator[list[pa.Array]]:
        unseen = {column.name for column in columns.values()}
        for chunk in chain([peek], chunks):
            for _, row in chunk:
                unseen -= row.keys()
            yield _arrays(chunk, columns, lines)
        for role, column in columns.items():
            if column.name in unseen:
                raise missing_column(source.path, role, column.name, names)

    return Rows(columns, arrays())


def _arrays(chunk: list[_Record], columns: Mapping[str, Column], lines: Lines) -> list[pa.Array]:
    needed = [(role, columns[role].name) for role in _NEEDED_IN_EVERY_ROW if role in columns]
    for line, row in chunk:
        for role, name in needed:
            if name not in row:
                raise missing_column(lines.place(line), role, name, row)
    return [
        column.values([row.get(column.name) for _, row in chunk], lambda i: lines.place(chunk[i][0]))
        for column in columns.values()
    ]


def _records(lines: Lines) -> Iterator[_Record]:
    for line in lines:
        if line.isspace():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            why = error.msg if isinstance(error, json.JSONDecodeError) else "a number or a nesting too long"
            where = lines.place(lines.number)
            raise InputError(f"{where}: is not JSON ({why}); write one object a line") from None
        if not isinstance(value, dict):
            what = f"is a JSON {type(value).__name__}, not an object"
            raise InputError(f"{lines.place(lines.number)}: {what}; write one object a line")
        yield lines.number, value

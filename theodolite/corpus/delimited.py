"""csv, with quotes, and tsv, where quotes mean nothing."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain, islice

import pyarrow as pa

from theodolite.corpus.choosing import choose_columns
from theodolite.corpus.columns import GuessedColumn
from theodolite.corpus.lines import Lines, chunked, without_line_end
from theodolite.corpus.rows import NO_ROWS, Rows
from theodolite.corpus.source import Source
from theodolite.errors import InputError

_Record = tuple[int, list[str]]  # the line it starts at, its fields


def delimited_rows(source: Source, limit: int | None) -> Rows:
    """The rows of a csv or tsv; without a header its columns are called 0, 1, …"""
    lines = Lines(source)
    records = _csv_records(lines, source) if source.format == "csv" else _tsv_records(lines, source)
    first = next(records, None)
    if first is None:
        return NO_ROWS
    names = first[1] if source.header else [str(i) for i in range(len(first[1]))]
    data = records if source.header else chain([first], records)
    chunks = chunked(islice(_of_width(len(names), data, lines), limit), lines)
    peek = list(islice(chunks, 1))
    texts = [name for i, name in enumerate(names) if _looks_like_text(peek, i)]
    columns = choose_columns(source, names, texts)
    positions = [(column, names.index(column.name)) for column in columns.values()]

    def arrays() -> Iterator[list[pa.Array]]:
        for chunk in chain(peek, chunks):
            yield [column.cells([fields[i] for _, fields in chunk]) for column, i in positions]

    return Rows(columns, arrays())


def _looks_like_text(chunks: list[list[_Record]], position: int) -> bool:
    guess = GuessedColumn("")
    guess.cells([fields[position] for chunk in chunks for _, fields in chunk])
    return guess.kind == "text"


def _tsv_records(lines: Lines, source: Source) -> Iterator[_Record]:
    for line in lines:
        yield lines.number, without_line_end(line).split(source.delimiter)


def _csv_records(lines: Lines, source: Source) -> Iterator[_Record]:
    csv.field_size_limit(max(csv.field_size_limit(), 1 << 30))  # the default bites at 131,072 characters
    reader = csv.reader(lines, delimiter=source.delimiter, strict=True)
    start = 1
    try:
        for fields in reader:
            yield start, fields
            start = reader.line_num + 1
    except csv.Error as error:
        unclosed = "end of data" in str(error)
        what = "a quote opened here is never closed" if unclosed else f"bad csv ({error})"
        hint = "mend the quotes, or write ?format=tsv&delimiter=… where quotes mean nothing"
        raise InputError(f"{lines.place(start)}: {what}; {hint}") from None


def _of_width(width: int, records: Iterator[_Record], lines: Lines) -> Iterator[_Record]:
    """The records, if all are as wide. Blank lines may end the file; elsewhere they miss their fields."""
    blank: int | None = None
    for line, found in records:
        fields = found or [""]  # a blank line has no field in a csv, one in a tsv
        if fields == [""] and width > 1:
            blank = blank or line
            continue
        if blank is not None:
            raise InputError(f"{lines.place(blank)}: is blank where {width} fields belong; delete the line")
        if len(fields) != width:
            what = f"has {len(fields)} fields where the first line has {width}"
            raise InputError(f"{lines.place(line)}: {what}; mend it, or name the right ?delimiter=")
        yield line, fields

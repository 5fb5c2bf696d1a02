"""A source of any format becomes rows, read a chunk at a time."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from theodolite.corpus.columns import TextColumn
from theodolite.corpus.delimited import delimited_rows
from theodolite.corpus.hub import hub_rows
from theodolite.corpus.jsonl import jsonl_rows
from theodolite.corpus.lines import Lines, chunked, without_line_end
from theodolite.corpus.parquet import parquet_rows
from theodolite.corpus.rows import Rows
from theodolite.corpus.source import Source


def open_rows(source: Source, limit: int | None, scratch: Path) -> Rows:
    """Open a source, of which at most `limit` rows are read. `scratch` is a folder for passing files."""
    if source.format == "parquet":
        return parquet_rows(source, limit, scratch)
    return _READERS[source.format](source, limit)


def _txt_rows(source: Source, limit: int | None) -> Rows:
    lines = Lines(source)
    text = TextColumn("text")
    chunks = chunked(islice(map(without_line_end, lines), limit), lines)
    return Rows({"text": text}, ([text.cells(chunk)] for chunk in chunks))


_READERS = {
    "txt": _txt_rows,
    "csv": delimited_rows,
    "tsv": delimited_rows,
    "jsonl": jsonl_rows,
    "hf": hub_rows,
}

"""The options that name a table of items, and what is read by them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from theodolite.corpus import Corpus
from theodolite.corpus.items import read_items
from theodolite.errors import InputError

FILE = typer.Option("--items", metavar="FILE", help="The catalogue: a csv, tsv, jsonl or parquet file (also .gz).")
TITLE = typer.Option("--title", metavar="COL", help="The column of the titles.")
DESCRIPTION = typer.Option("--description", metavar="COL", help="The column of the descriptions.")
ID = typer.Option("--id", metavar="COL", help="The column of the ids; else rows are numbered from 0.")

# As COMMON of the other verbs: by name, annotation and default.
ITEMS: dict[str, tuple[Any, Any]] = {
    "items": (Annotated[str | None, FILE], None),
    "title": (Annotated[str | None, TITLE], None),
    "description": (Annotated[str | None, DESCRIPTION], None),
    "id": (Annotated[str | None, ID], None),
}


def named_items(items: str, **how: Any) -> Corpus:
    """The items of a file; a column that is not there is told by its option, not as a part of the file's query."""
    try:
        return read_items(items, **how)
    except InputError as fault:
        said = str(fault)
        for role, flag in (("text", "--description"), ("title", "--title"), ("id", "--id")):
            said = said.replace(f"?{role}=", f"{flag} ")
        raise InputError(said) from None

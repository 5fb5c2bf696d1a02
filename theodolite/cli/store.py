"""`theodolite store`: what is stored, and how to get rid of it or take it elsewhere."""

from __future__ import annotations

import dataclasses
import json as jsonlib
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from theodolite.cli import build
from theodolite.errors import InputError
from theodolite.store import Store

# The parts of a recipe that a listing shows.
SHOWN = ("layer", "pooling", "dtype", "methods", "target", "of")

app = typer.Typer(rich_markup_mode=None)

KEY = Annotated[str, typer.Argument(help="The key, or the beginning of it, as `store ls` shows it.")]


@app.command("ls", help="List what is stored.")
def ls(store: build.STORE = None, json: build.JSON = False) -> None:
    """A row for each kind of array."""
    entries = Store(store).entries()
    if json:
        rows = [dataclasses.asdict(e) for e in entries]
        sys.stdout.write(jsonlib.dumps({"entries": rows}, default=str) + "\n")
        return
    if not entries:
        sys.stderr.write("nothing is stored\n")
        return
    table = Table("key", "model", "of", "corpora", "rows", "MB", "newest")
    table.columns[0].no_wrap = True
    for e in entries:
        parts = " ".join(f"{k}={v}" for k, v in e.parts if k in SHOWN)
        size = f"{e.bytes / 1e6:.1f}"
        newest = f"{e.newest:%Y-%m-%d %H:%M}"
        table.add_row(e.short, e.model, f"{e.kind} {parts}", ", ".join(e.corpora), str(e.rows), size, newest)
    Console().print(table)


@app.command("rm", help="Remove what is stored under a key, or everything.")
def rm(
    key: Annotated[str | None, typer.Argument(help="The key, or the beginning of it.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove everything.")] = False,
    store: build.STORE = None,
) -> None:
    """Free space."""
    if (key is None) == (not everything):
        raise InputError("store rm: give a key, or --all")
    freed = Store(store).remove(key)
    sys.stderr.write(f"{freed / 1e6:.1f} MB freed\n")


@app.command("export", help="Write stored vectors to a .parquet or .npy file.")
def export(
    key: KEY,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A .parquet or .npy file.")],
    corpus: Annotated[str | None, typer.Option("--corpus", help="Which corpus, where there are several.")] = None,
    store: build.STORE = None,
) -> None:
    """Take vectors elsewhere."""
    rows = Store(store).export(key, out, corpus=corpus)
    sys.stderr.write(f"{rows:,} rows in {out}\n")

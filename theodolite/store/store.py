"""The store: shard files of arrays, keyed by what made them and by the texts they were made of.

The layout below the root:

    arrays/<recipe key>/about.json                   the recipe, for people
    arrays/<recipe key>/<shard hash>.arrow           one table a shard
    arrays/<recipe key>/corpora/<corpus hash>.json   which shards, in which order, are a corpus
    runs/<run key>/…                                 see runs.py
    models/<name>/                                   classifiers that a reproduction trained
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

import pyarrow as pa

from theodolite.errors import InputError, StoreError
from theodolite.store.catalogue import Catalogue
from theodolite.store.export import export_table
from theodolite.store.files import safe_name
from theodolite.store.recipe import Entry, Recipe
from theodolite.store.remote import open_files
from theodolite.store.runs import RunFolder, is_run_file
from theodolite.store.tables import Damaged, read_table, write_table

# Stamps of the files whose checksum this process has compared: once is enough, and it reads the whole file.
_CHECKED: dict[str, Hashable] = {}


class Store:
    """A folder, or a URL that fsspec knows, of arrays that need not be computed twice.

    `root`: None for the environment's THEODOLITE_HOME or else ~/.cache/theodolite. Nothing is made there
    before the first `put`. Any number of processes may use one store. `damaged` lists the files that were
    found damaged, and removed, through this object.

    >>> store = Store("memory://doc-store")
    >>> recipe = Recipe("embedding", "bert", (("layer", 6),))
    >>> store.get(recipe, "shard0") is None
    True
    >>> store.put(recipe, "shard0", pa.table({"row": [0, 1]}))
    >>> store.get(recipe, "shard0").num_rows
    2
    """

    def __init__(self, root: str | PathLike[str] | None = None) -> None:
        home = os.environ.get("THEODOLITE_HOME") or "~/.cache/theodolite"
        self._files = open_files(os.fspath(root) if root is not None else home)
        self.root: str = self._files.place("").rstrip("/")
        self._catalogue = Catalogue(self._files)
        self.damaged: list[str] = []
        self._unsaved: list[RunFolder] | None = None

    def put(self, recipe: Recipe, shard_hash: str, table: pa.Table) -> None:
        """Keep a shard's table (no dictionary columns) in the place of what there was."""
        self._introduce(recipe)
        self._files.write(_shard(recipe.key, shard_hash), lambda file: write_table(table, file))

    def get(self, recipe: Recipe, shard_hash: str) -> pa.Table | None:
        """A shard's table; None if it is absent, or damaged and therefore removed and to be made again.

        From a local store the columns lie in a memory map: nothing is copied.
        """
        return self._read(_shard(recipe.key, shard_hash))

    def has(self, recipe: Recipe, shard_hash: str) -> bool:
        """Is there a file for this shard? Whether it is intact, only `get` finds out."""
        return self._files.exists(_shard(recipe.key, shard_hash))

    def scan(self, recipe: Recipe, shard_hashes: Sequence[str]) -> Iterator[pa.Table]:
        """The tables of these shards, in order, each read when asked for. StoreError if one is missing."""
        return self._scan(recipe.key, shard_hashes)

    def remember(
        self, recipe: Recipe, *, corpus: str, corpus_hash: str, source: str, shard_hashes: Sequence[str]
    ) -> None:
        """Note that these shards, in this order, are the corpus, for `entries` and `export`."""
        self._introduce(recipe)
        note = {"corpus": corpus, "corpus_hash": corpus_hash, "source": source, "shards": list(shard_hashes)}
        self._files.write_json(f"arrays/{recipe.key}/corpora/{safe_name(corpus_hash)}.json", note)

    def entries(self) -> list[Entry]:
        """What is stored, an entry a recipe, the newest first. Changes nothing, and checks nothing."""
        return self._catalogue.entries()

    def remove(self, key_prefix: str | None = None) -> int:
        """Remove one entry, or with None all entries and runs; the bytes freed.

        Files that are not the store's own stay, should there be any, and so does what a process is writing
        at this moment; what killed ones left goes.
        """
        if key_prefix is None:
            arrays = [file for files in self._catalogue.files_by_key().values() for file in files]
            doomed = arrays + [file for file in self._files.walk("runs") if is_run_file(file)]
        else:
            doomed = self._catalogue.files_by_key().get(self._catalogue.find(key_prefix), [])
        doomed = [file for file in doomed if not file.at_work]
        for file in doomed:
            self._files.remove(file.path)
        return sum(file.bytes for file in doomed)

    def export(self, key_prefix: str, out: str | PathLike[str], *, corpus: str | None = None) -> int:
        """Write a corpus's arrays to one local file, a shard at a time; the number of rows.

        `out` ends in .parquet: the stored columns and `shard`, the shard's number in the corpus (`row` is an
        offset in the shard); or in .npy: the vectors, (rows, d). `corpus`, a name or the beginning of a hash,
        may be left out if only one is known.
        """
        key = self._catalogue.find(key_prefix)
        note = self._catalogue.corpus(key, corpus)
        rows = [self._catalogue.rows(_shard(key, shard)) for shard in note.shards]
        if not rows:
            raise InputError(f"the corpus {note.corpus!r} has no shards: there is nothing to export")
        if missing := rows.count(None):
            share = f"{missing} of the {len(rows)} shards of {note.corpus!r}"
            raise InputError(f"{share} are missing or damaged; embed the corpus again to make them")
        return export_table(lambda: self._scan(key, note.shards), sum(n or 0 for n in rows), out)

    def folder(self, name: str) -> Path:
        """A folder of the store for files that other libraries write, such as models; made where it is missing."""
        if "://" in self.root:
            raise InputError(f"{self.root}: models are written to a folder; give one with --store DIR")
        found = Path(self.root) / name
        try:
            found.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise StoreError(f"{found}: cannot be made ({fault.strerror}); choose another --store") from None
        return found

    def run(self, key: str) -> RunFolder:
        """The folder of the run with this key (letters, digits, '_', '.', '-')."""
        return RunFolder(self._files, key)

    def finished(self, run: RunFolder) -> None:
        """A run is done: its partial results go, at once or with the end of ``until_saved``."""
        if self._unsaved is None:
            run.clear_partials()
        else:
            self._unsaved.append(run)

    @contextmanager
    def until_saved(self) -> Iterator[None]:
        """Within it, finished runs keep their partial results, for their readings are not yet saved.

        At its end these go; an error or an interruption leaves them, so that the same runs go on from there.
        """
        done: list[RunFolder] = []
        self._unsaved = done
        try:
            yield
        finally:
            self._unsaved = None
        for run in done:
            run.clear_partials()

    def _read(self, path: str) -> pa.Table | None:
        found = self._files.read(path)
        if found is None:
            return None
        buffer, stamp = found
        place = self._files.place(path)
        known = stamp is not None and _CHECKED.get(place) == stamp
        try:
            table = read_table(buffer, check=not known)
        except Damaged:
            # Should another process have just made it anew, that one goes too; this one makes it again.
            self._files.remove(path)
            self.damaged.append(place)
            return None
        if stamp is not None:
            _CHECKED[place] = stamp
        return table

    def _scan(self, key: str, shard_hashes: Sequence[str]) -> Iterator[pa.Table]:
        for number, shard in enumerate(shard_hashes):
            table = self._read(_shard(key, shard))
            if table is None:
                which = f"shard {number + 1} of {len(shard_hashes)} ({shard[:12]})"
                raise StoreError(f"{which} is missing from {self.root}; run the same again to make it")
            yield table

    def _introduce(self, recipe: Recipe) -> None:
        path = f"arrays/{recipe.key}/about.json"
        if self._files.read_json(path) is None:
            about = {"kind": recipe.kind, "model": recipe.model, "parts": dict(recipe.parts)}
            self._files.write_json(path, about)


def _shard(key: str, shard_hash: str) -> str:
    return f"arrays/{key}/{safe_name(shard_hash)}.arrow"

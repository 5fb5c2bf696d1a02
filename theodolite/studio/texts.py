"""The texts of a survey's corpora, found again by their hash."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from theodolite.corpus import Corpus
from theodolite.corpus.arrow_file import mapped_table
from theodolite.corpus.source import parse_source
from theodolite.corpus.vectors import mapped_vectors, with_vectors
from theodolite.demo import GENRES, demo_corpus
from theodolite.errors import InputError
from theodolite.store import Store

_HASH = re.compile(r"[0-9a-f]{64}")


def find_corpus(about: Mapping[str, Any], store: Store) -> Corpus | None:
    """The corpus that a manifest names, where its texts are still at hand unchanged; None otherwise.

    They are looked for in the store, where they were put as read, among the demo corpora, and at their source.
    """
    name, digest, source = (str(about.get(key, "")) for key in ("name", "hash", "source"))
    if not _HASH.fullmatch(digest):
        return None
    for folder in _folders(store):
        if (folder / f"{digest}.arrow").exists():
            return _kept(folder, name, digest, source)
    try:
        found = _read_again(name, source)
    except InputError:
        return None
    return found if found is not None and found.hash == digest else None


def _folders(store: Store) -> list[Path]:
    home = os.environ.get("THEODOLITE_HOME") or Path.home() / ".cache" / "theodolite"
    local = [] if "://" in store.root else [Path(store.root)]
    return [place / "corpora" for place in (*local, Path(home))]


def _kept(folder: Path, name: str, digest: str, source: str) -> Corpus:
    beside = folder / f"{digest}.vectors.npy"
    vectors = mapped_vectors(beside) if beside.exists() else None
    return Corpus(name, digest, source, with_vectors(mapped_table(folder / f"{digest}.arrow"), vectors), vectors)


def _read_again(name: str, source: str) -> Corpus | None:
    demo = next((n for n in (*GENRES, "reviews") if source == f"demo/{_file(n)}"), None)
    if demo is not None:
        return replace(demo_corpus(demo), name=name)
    # Of a hub's data set no more is asked than what the store has.
    if not source or source.startswith("hf://") or not os.path.isfile(parse_source(source).path):
        return None
    return Corpus.read(source, name)


def _file(name: str) -> str:
    return {**GENRES, "reviews": "reviews.csv"}[name].partition("?")[0]

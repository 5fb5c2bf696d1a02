"""What a user writes to name a corpus."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_corpus_helpers import TEXTS, fault, write

from theodolite.corpus import Corpus
from theodolite.corpus.source import parse_source, split_name
from theodolite.errors import InputError


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_names_and_sources(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "old notes.v2.csv.gz", TEXTS)
    assert Corpus.parse(str(path), cache=cache).name == "old notes.v2"
    assert Corpus.parse(f"mine={path}?text=text", cache=cache, limit=2).name == "mine"
    assert Corpus.parse(f"{path}?text=text", cache=cache).name == "old notes.v2"
    assert Corpus.read(path, "given", cache=cache).name == "given"
    odd = write(tmp_path / "who? what=why.txt", ["odd"])
    assert Corpus.parse(str(odd), cache=cache).texts() == ["odd"]
    odd = write(tmp_path / "who?.csv", ["odd"])
    assert Corpus.parse(f"n={odd}?text=text", cache=cache).texts() == ["odd"]
    monkeypatch.chdir(tmp_path)
    assert Corpus.parse("who?.csv", cache=cache).name == "who?"
    write(tmp_path / "a=b.txt", ["odd"])
    assert split_name("a=b.txt") == (None, "a=b.txt")
    with pytest.raises(InputError, match="NAME=SOURCE"):
        split_name("=a.txt")
    assert parse_source("hf://nyu-mll/glue/sst2?split=validation").split == "validation"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("text", "KEY=VALUE"),
        ("text=", "KEY=VALUE"),
        ("text=text&text=b", "twice"),
        ("row=text", "'row'"),
        ("text=%ff", "percent"),
        ("vector=text", "vectors=FILE.npy"),
        ("text=nothing", "no column 'nothing' (it has: 'text'); name one with ?text=COLUMN"),
        ("label=nothing", "no column 'nothing'"),
        ("format=xls", "unknown format=xls; known are .txt"),
    ],
)
def test_bad_queries(tmp_path: Path, cache: Path, query: str, words: str) -> None:
    assert words in fault(f"{write(tmp_path / 'a.csv', TEXTS)}?{query}", cache)

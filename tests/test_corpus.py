"""A corpus: its rows, marks, hashes and shards, its file in the cache, its memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from test_corpus_helpers import LABELS, TEXTS, write

from theodolite.accumulate.hashing import hash_of
from theodolite.corpus import Corpus, sizes
from theodolite.errors import InputError


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_a_corpus_in_memory() -> None:
    corpus = Corpus.of(
        (t for t in ["a", " \t", "a", "b"]),
        "pairs",
        texts_b=["x", "y", "x", ""],
        labels=np.array([1, 2, 3, 4]),
        titles=["t"] * 4,
        ids=list("wxyz"),
        vectors=np.eye(4, dtype=np.float32),
        weight=[1.0, 2, 3, 4],
    )
    assert corpus.table.column_names == ["row", "text", "text_b", "label", "title", "id", "weight", "vector"]
    assert len(corpus) == 4
    assert corpus.text(3) == "b"
    assert corpus.texts(1, 3) == [" \t", "a"]
    assert corpus.texts(2) == ["a", "b"]
    assert corpus.texts_b(3) == [""]
    assert Corpus.of(["a"]).texts_b() is None
    assert corpus.empty.tolist() == [False, True, False, True]
    assert corpus.duplicate.tolist() == [False, False, True, False]
    assert not Corpus.of(["a", "ab"], texts_b=["bc", "c"]).duplicate.any()
    assert corpus.column("label").type == pa.int64()
    assert "\n" not in repr(corpus)
    assert corpus.vectors is not None
    assert np.array_equal(corpus.vectors, np.eye(4))
    assert corpus.column("vector").to_pylist() == np.eye(4).tolist()
    with pytest.raises(AttributeError):
        corpus.name = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        corpus.empty[0] = True
    with pytest.raises(IndexError):
        corpus.text(4)
    with pytest.raises(InputError, match=r"no column 'x' \(it has: row, text\)"):
        Corpus.of(["a"]).column("x")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Corpus.of([]), "no texts"),
        (lambda: Corpus.of("abc"), "single text"),
        (lambda: Corpus.of(["a", 1]), "row 2: 'text' is int"),  # type: ignore[list-item]
        (lambda: Corpus.of(["a", "\0"]), "row 2: has a NUL byte"),
        (lambda: Corpus.of(["a", "b"], labels=[1]), "2 texts, 1 values of 'label'"),
        (lambda: Corpus.of(["a", "b"], ids=[1, 1]), "id 1 is at rows 1 and 2"),
        (lambda: Corpus.of(["a"], vectors=[[np.nan]]), "row 1 has a NaN"),
        (lambda: Corpus.of(["a", "b"], vectors=[[1.0], [1.0, 2.0]]), "unequal lengths"),
        (lambda: Corpus.of(["a"], row=[1]), "'row' is no free column name"),
    ],
)
def test_faults_in_memory(make: Callable[[], Corpus], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_hash_is_of_the_content() -> None:
    base = Corpus.of(["a", "b"], labels=[1, 2])
    assert base.hash == Corpus.of(["a", "b"], "named", labels=[1, 2]).hash
    others = [
        Corpus.of(["a", "b"]),
        Corpus.of(["b", "a"], labels=[1, 2]),
        Corpus.of(["ab", ""], labels=[1, 2]),
        Corpus.of(["a", "b"], labels=[1, None]),
        Corpus.of(["a", "b"], labels=["1", "2"]),
        Corpus.of(["a", "b"], ids=[1, 2]),
        Corpus.of(["a", "b"], labels=[1, 2], vectors=np.zeros((2, 1))),
    ]
    assert len({corpus.hash for corpus in [base, *others]}) == 8


@pytest.mark.parametrize("chunk", [1, 7, 64, 4096])
def test_sample_is_the_smallest_hashes_whatever_the_chunks(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:

    monkeypatch.setattr(sizes, "CHUNK_ROWS", chunk)
    texts = [f"text {i}" for i in range(500)]
    path = write(tmp_path / "a.csv", texts)
    for seed in (0, 1):
        rows = sorted(np.argsort(hash_of(seed, np.arange(500)))[:40].tolist())
        corpus = Corpus.read(path, cache=cache, sample=40, seed=seed)
        assert corpus.table["row"].to_pylist() == rows
        assert corpus.texts() == [texts[row] for row in rows]
    assert Corpus.read(path, cache=cache, sample=900).texts() == texts
    assert Corpus.read(path, cache=cache, limit=9).texts() == texts[:9]
    both = Corpus.read(path, cache=cache, limit=50, sample=5)
    assert both.table["row"].to_pylist() == sorted(np.argsort(hash_of(0, np.arange(50)))[:5].tolist())


@pytest.mark.parametrize("ending", ["txt", "csv", "jsonl", "parquet"])
def test_limit_reads_no_further(tmp_path: Path, cache: Path, ending: str) -> None:
    path = write(tmp_path / f"a.{ending}", TEXTS)
    if ending != "parquet":
        with open(path, "ab") as file:
            file.write(b"\xff\n")
    assert Corpus.read(path, cache=cache, limit=8).texts() == TEXTS
    assert Corpus.read(path, cache=cache, limit=3).texts() == TEXTS[:3]


def test_shards_keep_their_hashes_when_a_file_grows(tmp_path: Path, cache: Path) -> None:
    texts = [f"text {i}" for i in range(5000)]
    short = Corpus.read(write(tmp_path / "a.txt", texts[:4500]), cache=cache).shards()
    long = Corpus.read(write(tmp_path / "a.txt", texts), cache=cache).shards()
    assert [(s.start, s.stop) for s in short] == [(0, 2048), (2048, 4096), (4096, 4500)]
    assert short[:2] == long[:2]
    assert short[2].hash != long[2].hash
    moved = Corpus.of(["new", *texts[:1024]], "moved").shards(1)[1]
    assert moved.hash == Corpus.of(texts[:1]).shards(1)[0].hash
    labelled = Corpus.of(texts, labels=[0] * 5000).shards()
    assert [s.hash for s in labelled] == [s.hash for s in long]
    paired = Corpus.of(texts, texts_b=texts).shards()
    assert not {s.hash for s in paired} & {s.hash for s in long}
    assert Corpus.of(["ab", "c"]).shards()[0].hash != Corpus.of(["a", "bc"]).shards()[0].hash
    with pytest.raises(InputError, match="shard size is 0"):
        Corpus.of(texts).shards(0)


def test_the_cached_file_is_found_again_and_a_damaged_one_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEODOLITE_HOME", str(tmp_path / "home"))
    path = write(tmp_path / "a.csv", TEXTS, LABELS)
    first = Corpus.read(path)
    stored = tmp_path / "home" / "corpora" / f"{first.hash}.arrow"
    assert [p.name for p in stored.parent.iterdir()] == [stored.name]
    stored.unlink()
    stored.write_bytes(b"damaged")
    again = Corpus.read(path, "other")
    assert again.hash == first.hash
    assert again.texts() == TEXTS == first.texts()
    assert [p.name for p in stored.parent.iterdir()] == [stored.name]


MEMORY = """
import re, sys
from theodolite.corpus import Corpus

def peak():  # not ru_maxrss: a child takes over its parent's
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

small, large, cache = sys.argv[1:]
Corpus.read(small + "?label=label", cache=cache)
Corpus.read(small + "?label=label", cache=cache, sample=1000)
before = peak()
corpus = Corpus.read(large + "?label=label", cache=cache)
sampled = Corpus.read(large + "?label=label", cache=cache, sample=1000)
print(len(corpus), len(sampled), peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    body = "a fairly ordinary sentence of some length about the matter in hand " * 4
    (tmp_path / "small.csv").write_text("text,label\n" + f"{body},1\n" * 20_000)
    # Allocators keep some tens of megabytes more or less, on one machine more than on another: half of this is above.
    (tmp_path / "large.csv").write_text("text,label\n" + f"{body},1\n" * 400_000)
    command: list[str | Path] = [
        sys.executable,
        "-c",
        MEMORY,
        tmp_path / "small.csv",
        tmp_path / "large.csv",
        tmp_path,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    rows, sampled, grown = map(int, done.stdout.split())
    assert (rows, sampled) == (400_000, 1000)
    assert grown * 1024 < (tmp_path / "large.csv").stat().st_size / 2

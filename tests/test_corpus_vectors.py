"""People's own vectors, beside the texts or among their columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_corpus_helpers import LABELS, TEXTS, fault, leftovers, write

from theodolite.corpus import Corpus, sizes


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.mark.parametrize("kind", ["<f4", "<f8", "<f2", ">f4", "F"])
def test_own_vectors_beside_the_texts(tmp_path: Path, cache: Path, kind: str) -> None:
    vectors = np.random.default_rng(0).normal(size=(8, 3)).astype("<f4" if kind == "F" else kind)
    np.save(tmp_path / "v.npy", np.asfortranarray(vectors) if kind == "F" else vectors)
    source = f"{write(tmp_path / 'a.txt', TEXTS)}?vectors=v.npy"
    whole = Corpus.read(source, cache=cache)
    assert isinstance(whole.vectors, np.memmap)
    assert np.array_equal(whole.vectors, vectors)
    first = Corpus.read(source, cache=cache, limit=5)
    assert first.vectors is not None
    assert np.array_equal(first.vectors, vectors[:5])
    sampled = Corpus.read(source, cache=cache, sample=4)
    assert isinstance(sampled.vectors, np.memmap)
    assert np.array_equal(sampled.vectors, vectors[sampled.table["row"].to_numpy()])
    assert np.array_equal(np.stack(sampled.column("vector").to_numpy()), sampled.vectors)
    assert leftovers(cache) == []


def test_own_vectors_faults(tmp_path: Path, cache: Path) -> None:
    source = f"{write(tmp_path / 'a.txt', TEXTS)}?vectors=v.npy"
    good = np.ones((8, 2), np.float32)
    bad = good.copy()
    bad[6, 1] = np.inf
    assert "no such file of vectors" in fault(source, cache)
    for array, words in [
        (good[:7], "7 vectors for 8 texts"),
        (np.ones((9, 2)), "9 vectors for 8 texts"),
        (good[0], "shape (2,)"),
        (good[None], "shape (1, 8, 2)"),
        (bad, "row 7 has a NaN or infinite"),
        (good.astype(int), "type int64"),
        (np.array([{}] * 8), "no .npy of numbers"),
    ]:
        np.save(tmp_path / "v.npy", array)
        assert words in fault(source, cache)
    np.save(tmp_path / "v.npy", np.ones((9, 2)))
    assert Corpus.read(source, cache=cache, limit=8).vectors is not None
    np.save(tmp_path / "v.npy", good)
    (tmp_path / "v.npy").write_bytes((tmp_path / "v.npy").read_bytes()[:-9])
    assert "cut short" in fault(source, tmp_path / "c2")


@pytest.mark.parametrize("chunk", [2, 4096])
def test_vector_columns(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(sizes, "CHUNK_ROWS", chunk)
    vectors = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
    rows = vectors.tolist()
    flat = pa.array(vectors.reshape(-1))
    for i, column in enumerate([pa.array(rows, pa.list_(pa.float32())), pa.FixedSizeListArray.from_arrays(flat, 3)]):
        pq.write_table(pa.table({"text": TEXTS, "label": LABELS, "v": column}), tmp_path / f"{i}.parquet")
        source = f"{tmp_path}/{i}.parquet?vector=v&label=label"
        corpus = Corpus.read(source, cache=cache)
        assert isinstance(corpus.vectors, np.memmap)
        assert corpus.vectors.dtype == np.float32
        assert np.array_equal(corpus.vectors, vectors)
        assert corpus.column("label").to_pylist() == LABELS
        assert corpus.hash == Corpus.of(TEXTS, labels=LABELS, vectors=vectors).hash
        sampled = Corpus.read(source, cache=cache, sample=3)
        assert sampled.vectors is not None
        assert np.array_equal(sampled.vectors, vectors[sampled.table["row"].to_numpy()])
    lines = [json.dumps({"text": t, "v": v}) for t, v in zip(TEXTS, rows, strict=True)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    read = Corpus.read(f"{tmp_path}/a.jsonl?vector=v", cache=cache).vectors
    assert read is not None
    assert np.array_equal(read, vectors)
    for wrong, words in [([1.0], "1 numbers where"), (None, "0 numbers"), ([1.0, 2, float("nan")], "NaN")]:
        column = pa.array([*rows[:5], wrong, *rows[6:]], pa.list_(pa.float64()))
        pq.write_table(pa.table({"text": TEXTS, "v": column}), tmp_path / "a.parquet")
        message = fault(f"{tmp_path}/a.parquet?vector=v", tmp_path / "c2")
        assert "row 6" in message
        assert words in message
    assert "not a list of numbers" in fault(f"{tmp_path}/a.parquet?vector=text", tmp_path / "c2")

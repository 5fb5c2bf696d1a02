"""Columns: which are read, and as what type."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_corpus_helpers import fault, write

from theodolite.corpus import Corpus, sizes


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_the_text_column_is_guessed(tmp_path: Path, cache: Path) -> None:
    for header, row, text in [
        ("id,text,sentence", "1,a,b", "a"),
        ("id,body,sentence", "1,a,b", "b"),
        ("id,review,stars", "1,fine wine,4.5", "fine wine"),
    ]:
        (tmp_path / "a.csv").write_text(f"{header}\n{row}\n")
        assert Corpus.read(tmp_path / "a.csv", cache=cache).texts() == [text]
        cells = dict(zip(header.split(","), [float(c) if c[0].isdigit() else c for c in row.split(",")], strict=True))
        (tmp_path / "a.jsonl").write_text(json.dumps(cells) + "\n")
        assert Corpus.read(tmp_path / "a.jsonl", cache=cache).texts() == [text]
        pq.write_table(pa.Table.from_pylist([cells]), tmp_path / "a.parquet")
        assert Corpus.read(tmp_path / "a.parquet", cache=cache).texts() == [text]
    (tmp_path / "a.csv").write_text("title,body\nx,y\n")
    assert "'title', 'body'" in fault(tmp_path / "a.csv", tmp_path / "c2")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert "no column looks like text" in fault(tmp_path / "a.csv", tmp_path / "c2")


def test_query_columns_and_further_columns(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "a.csv").write_text("key,a,b 1,c+d,w\nk1,x,y,z,0.5\nk2,x2,y2,z2,2\n")
    source = f"{tmp_path}/a.csv?weight=w&text=a&text_b=b%201&title=c+d&id=key"
    corpus = Corpus.read(source, cache=cache, columns=["w"])
    assert corpus.table.column_names == ["row", "text", "text_b", "title", "id", "w", "weight"]
    assert corpus.texts_b() == ["y", "y2"]
    assert corpus.column("title").to_pylist() == ["z", "z2"]
    assert corpus.column("weight").to_pylist() == [0.5, 2.0]
    assert corpus.source == source
    swapped = Corpus.read(f"{tmp_path}/a.csv?id=key&title=c+d&text_b=b%201&text=a&weight=w&w=w", cache=cache)
    assert swapped.hash == corpus.hash
    assert "'nothing'" in fault(f"{tmp_path}/a.csv?text=a", tmp_path / "c2", columns=["nothing"])


@pytest.mark.parametrize(
    ("cells", "values", "kind"),
    [
        (["1", "-2", "0"], [1, -2, 0], pa.int64()),
        (["1", "0.5", "-1e3"], [1.0, 0.5, -1000.0], pa.float64()),
        (["1", "", "2"], [1, None, 2], pa.int64()),
        (["1", "x", "2.5"], ["1", "x", "2.5"], pa.large_string()),
        (["007", "008", "009"], ["007", "008", "009"], pa.large_string()),
        (["1" * 25, "2", "3"], ["1" * 25, "2", "3"], pa.large_string()),
        (["nan", "1", "2"], ["nan", "1", "2"], pa.large_string()),
        (["", "", ""], [None, None, None], pa.large_string()),
    ],
)
@pytest.mark.parametrize("chunk", [1, 4096])
def test_labels_of_a_csv_are_what_all_of_them_are(
    tmp_path: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    cells: list[str],
    values: list[Any],
    kind: Any,
    chunk: int,
) -> None:
    monkeypatch.setattr(sizes, "CHUNK_ROWS", chunk)
    for ending in ("csv", "tsv"):
        path = write(tmp_path / f"a.{ending}", ["a", "b", "c"], cells)
        label = Corpus.read(f"{path}?text=text&label=label", cache=cache).column("label")
        assert label.to_pylist() == values
        assert label.type == kind


@pytest.mark.parametrize("chunk", [1, 4096])
def test_labels_of_a_jsonl(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(sizes, "CHUNK_ROWS", chunk)
    for labels in (
        [1, None, 2],
        [1, 2.5, None],
        ["a", "b", None],
        [True, False, None],
        [None] * 3,
        ["1", "2", "3"],
    ):
        path = write(tmp_path / "a.jsonl", ["a", "b", "c"], labels)
        label = Corpus.read(f"{path}?text=text&label=label", cache=cache).column("label")
        assert label.to_pylist() == labels
        assert Corpus.of(["a", "b", "c"], labels=labels).column("label").equals(label)
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n\n{"text": "b", "late": 7}\n')
    assert Corpus.read(f"{tmp_path}/a.jsonl?late=late", cache=cache).column("late").to_pylist() == [None, 7]


def test_parquet_types_are_made_plain(tmp_path: Path, cache: Path) -> None:
    table = pa.table(
        {
            "text": pa.array(["a", None, "a"]).dictionary_encode(),
            "label": pa.array([1, None, 3], pa.int8()),
            "score": pa.array([0.5, 1, None], pa.float32()),
            "day": pa.array([0, 1, None], pa.date32()),
            "price": pa.array([Decimal("1.50"), None, Decimal("2")], pa.decimal128(5, 2)),
        }
    )
    pq.write_table(table.append_column("a.b", [["x", "y", "z"]]), tmp_path / "a.parquet")
    assert Corpus.read(f"{tmp_path}/a.parquet?text=a.b", cache=cache).texts() == ["x", "y", "z"]
    corpus = Corpus.read(f"{tmp_path}/a.parquet?label=label", cache=cache, columns=["score", "day", "price"])
    assert corpus.texts() == ["a", "", "a"]
    assert corpus.table.drop_columns(["row", "text"]).to_pydict() == {
        "label": [1, None, 3],
        "day": ["1970-01-01", "1970-01-02", None],
        "score": [0.5, 1.0, None],
        "price": [1.5, None, 2.0],
    }

"""Every format comes back as written."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_corpus_helpers import LABELS, TEXTS, fault, write

from theodolite.corpus import Corpus, sizes

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "jsonl", "ndjson", "parquet"])
def test_every_format_comes_back_as_written(tmp_path: Path, cache: Path, ending: str, gz: str) -> None:
    labels = None if ending == "txt" else LABELS
    path = write(tmp_path / f"notes.{ending}{gz}", TEXTS, labels)
    corpus = Corpus.read(f"{path}?label=label" if labels else path, cache=cache)
    assert corpus.name == "notes"
    assert corpus.texts() == TEXTS
    assert corpus.table["row"].to_pylist() == list(range(len(TEXTS)))
    assert corpus.table.schema.field("text").type == pa.large_string()
    if labels:
        assert corpus.column("label").to_pylist() == LABELS
        assert corpus.column("label").type == pa.int64()
    assert corpus.hash == Corpus.of(TEXTS, labels=labels).hash
    assert [path.name for path in (cache / "corpora").iterdir()] == [f"{corpus.hash}.arrow"]


texts_strategy = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r"), max_size=40), min_size=1
)


@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(texts=texts_strategy, chunk=st.integers(1, 7))
def test_all_formats_agree(tmp_path_factory: pytest.TempPathFactory, texts: list[str], chunk: int) -> None:
    if texts[0].startswith("\ufeff"):
        texts = ["", *texts]  # at the very start of a txt file that character is the byte order mark
    folder = tmp_path_factory.mktemp("formats")
    memory = Corpus.of(texts)
    assert memory.texts() == texts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "CHUNK_ROWS", chunk)
        for ending in ("txt", "jsonl", "csv", "parquet"):
            corpus = Corpus.read(write(folder / f"t.{ending}", texts), cache=folder)
            assert corpus.texts() == texts, ending
            assert corpus.hash == memory.hash, ending
            assert corpus.shards(3) == [type(s)("t", s.index, s.start, s.stop, s.hash) for s in memory.shards(3)]


def test_windows_line_ends_and_byte_order_mark(tmp_path: Path, cache: Path) -> None:
    for name, body in {
        "a.txt": "eins\r\n\r\nzwei",
        "a.csv": 'text,label\r\neins,1\r\n"",2\r\nzwei,3\r\n',
        "a.tsv": "text\tlabel\r\neins\t1\r\n\t2\r\nzwei\t3\r\n",
        "a.jsonl": '{"text": "eins"}\r\n{"text": null}\r\n{"text": "zwei"}\r\n',
    }.items():
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + body.encode())
        assert Corpus.read(tmp_path / name, cache=cache).texts() == ["eins", "", "zwei"], name


def test_blank_lines_of_a_txt_are_rows(tmp_path: Path, cache: Path) -> None:
    for body, texts in {
        "a\n\nb\n": ["a", "", "b"],
        "a\n\nb": ["a", "", "b"],
        "\n": [""],
        "a\n\n": ["a", ""],
        " a \n": [" a "],
        "a\rb\x85c\u2028d\n": ["a\rb\x85c\u2028d"],
    }.items():
        (tmp_path / "a.txt").write_bytes(body.encode())
        assert Corpus.read(tmp_path / "a.txt", cache=cache).texts() == texts


def test_glue_like_tsv_has_no_quoting(tmp_path: Path, cache: Path) -> None:
    rows = ['"stray at the start', 'in "the middle', '"closed"', '""', "ends\"'"]
    (tmp_path / "glue.tsv").write_text("sentence\tlabel\n" + "".join(f"{row}\t{i}\n" for i, row in enumerate(rows)))
    corpus = Corpus.read(f"{tmp_path}/glue.tsv?label=label", cache=cache)
    assert corpus.texts() == rows
    assert corpus.column("label").to_pylist() == [0, 1, 2, 3, 4]


def test_csv_quotes_newlines_and_very_long_fields(tmp_path: Path, cache: Path) -> None:
    texts = ["two\nlines", "two\r\nlines", 'she said "no"', "x" * 1_000_000, "ü" * 1_000_000]
    assert Corpus.read(write(tmp_path / "a.csv", texts, [1] * 5), cache=cache).texts() == texts
    long = [text for text in texts if "\n" not in text]
    for ending in ("txt", "tsv", "jsonl", "parquet"):
        assert Corpus.read(write(tmp_path / f"a.{ending}", long), cache=cache).texts() == long


def test_delimiter_header_and_format(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "a.csv").write_text("eins;1\nzwei;2\n")
    corpus = Corpus.read(f"{tmp_path}/a.csv?delimiter=%3B&header=no&text=0&label=1", cache=cache)
    assert corpus.texts() == ["eins", "zwei"]
    assert corpus.column("label").to_pylist() == [1, 2]
    assert Corpus.read(f"{tmp_path}/a.csv?delimiter=;&header=no", cache=cache).texts() == ["eins", "zwei"]
    (tmp_path / "b.txt").write_text("text|n\neins|1\n")
    assert Corpus.read(f"{tmp_path}/b.txt?format=tsv&delimiter=|", cache=cache).texts() == ["eins"]
    assert "delimiter" in fault(f"{tmp_path}/a.csv?delimiter=ab", tmp_path / "c2")
    assert "header=yes or header=no" in fault(f"{tmp_path}/a.csv?header=maybe", tmp_path / "c2")
    assert "csv and tsv" in fault(f"{tmp_path}/b.txt?delimiter=;", tmp_path / "c2")


def lines_of(path: Path) -> int:
    body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return body.count(b"\n")


def records_of(path: Path) -> int:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.DictReader(file))


@pytest.mark.skipif(not DATA.exists(), reason=f"the real data sets are not at {DATA}")
@pytest.mark.parametrize(
    ("source", "rows", "count"),
    [
        ("sst2/train.tsv.gz?label=label", 67_349, lambda path: lines_of(path) - 1),
        ("imdb/reviews.parquet?label=label&id=id", 25_000, lambda path: pq.read_metadata(path).num_rows),
        ("toxicity/comments.jsonl.gz?label=label", 32_703, lines_of),
        ("catalogue/wine.csv.gz?text=description&title=title", 15_085, records_of),
        ("corpora/wiki.txt.gz", 60_000, lines_of),
    ],
)  # fmt: skip
def test_real_data(cache: Path, source: str, rows: int, count: Callable[[Path], int]) -> None:
    corpus = Corpus.read(f"{DATA}/{source}", cache=cache)
    assert len(corpus) == rows == count(DATA / source.partition("?")[0])
    if "label" in source:
        assert corpus.column("label").type == pa.int64()
    texts = corpus.texts()
    assert corpus.empty.tolist() == [not text.strip() for text in texts]
    assert int((~corpus.duplicate).sum()) == len(set(texts))

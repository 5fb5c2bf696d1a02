"""Every fault is said in one line, and leaves nothing behind."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_corpus_helpers import TEXTS, fault, write

from theodolite.corpus import Corpus


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


BROKEN: list[tuple[str, bytes, str, str]] = [
    ("empty.txt", b"", "", "is empty"),
    ("empty.csv", b"", "", "is empty"),
    ("empty.jsonl", b"", "", "is empty"),
    ("empty.parquet", b"", "", "is empty"),
    ("empty.txt.gz", gzip.compress(b"", mtime=0), "", "is empty"),
    ("bom.txt", b"\xef\xbb\xbf", "", "no rows"),
    ("header.csv", b"text,label\n", "?text=text", "no rows"),
    ("blank.jsonl", b"\n\n", "", "no rows"),
    (
        "a.xlsx",
        b"x",
        "",
        "unknown file ending '.xlsx'; known are .txt, .csv, .tsv, .jsonl, .ndjson, .parquet",
    ),
    ("a.txt", b"eins\nzw\xe4i\n", "", "line 2: is not UTF-8; convert the file, for example with iconv"),
    ("a.csv", b'text\n"ei\nns"\nzw\xe4i\n', "", "line 4: is not UTF-8"),
    ("a.tsv", b"text\neins\nzw\xe4i\n", "", "line 3: is not UTF-8"),
    ("a.jsonl", b'{"text": "a"}\n{"text": "\xe4"}\n', "", "line 2: is not UTF-8"),
    ("a.txt", b"eins\nzw\0ei\n", "", "line 2: has a NUL byte"),
    ("a.csv", b"text\nzw\0ei\n", "", "line 2: has a NUL byte"),
    ("a.jsonl", b'{"text": "a"}\n{"text": "\\u0000"}\n', "", "line 2: has a NUL byte"),
    ("a.jsonl", b'{"text": "a"}\n{"text": "\\ud800"}\n', "", "line 2: has half of a surrogate pair"),
    ("u16.txt", "eins\nzwei\n".encode("utf-16"), "", "line 1: has a NUL byte; remove it"),
    ("cut.txt.gz", gzip.compress(bytes(range(1, 120)) * 99, mtime=0)[:-20], "", "the gzip file breaks off"),
    ("cut.parquet.gz", gzip.compress(b"PAR1" * 99, mtime=0)[:-9], "", "the gzip file breaks off"),
    ("false.csv.gz", b"text\neins\n", "", "is no gzip file or is damaged"),
    ("false.parquet.gz", b"text\neins\n", "", "is no gzip file or is damaged"),
    ("zipped.txt", gzip.compress(b"eins\n", mtime=0), "", "is gzipped; give it a name that ends in .gz"),
    ("a.jsonl", b'{"text": "a"}\n{"text": \n', "", "line 2: is not JSON"),
    ("a.jsonl", b'{"text": "a"}\n\n["b"]\n', "", "line 3: is a JSON list, not an object"),
    ("a.jsonl", b"[" * 100_000, "", "line 1: is not JSON"),
    ("a.jsonl", b'{"text": "a"}\n{"text": 7}\n', "", "line 2: 'text' is int (7), not a text"),
    ("a.jsonl", b'{"text": "a"}\n{"test": "b"}\n', "", "line 2: no column 'text' (it has: 'test')"),
    ("a.jsonl", b'{"text": "a"}\n', "?label=label", "no column 'label' (it has: 'text')"),
    (
        "a.jsonl",
        b'{"text": "a", "y": 1}\n{"text": "b", "y": "1"}\n',
        "?label=y",
        "line 2: 'y' is text ('1')",
    ),
    ("a.jsonl", b'{"text": "a", "y": [1]}\n', "?label=y", "line 1: 'y' is list; only texts, numbers"),
    (
        "a.jsonl",
        b'{"text": "a", "y": 99999999999999999999}\n',
        "?label=y",
        "line 1: 'y' is a number beyond",
    ),
    ("a.parquet", b"PAR1 this is no parquet", "", "is not a parquet file"),
    ("a.tsv", b"text\tlabel\na\t1\nb\n", "", "line 3: has 1 fields where the first line has 2"),
    ("a.tsv", b"text\tlabel\na\t1\t2\n", "", "line 2: has 3 fields where the first line has 2"),
    ("a.tsv", b"text\tlabel\n\na\t1\n", "", "line 2: is blank"),
    ("a.csv", b'text,label\n"a\nb",1\nc\n', "", "line 4: has 1 fields where the first line has 2"),
    ("a.csv", b'text,label\na,1\n"b,2\nc,3\n', "", "line 3: a quote opened here is never closed"),
    ("a.csv", b"text,text\na,b\n", "?text=text", "several columns are called 'text'"),
    ("a.csv", b"text,k\na,x\nb,y\nc,x\n", "?text=text&id=k", "id 'x' is at rows 1 and 3"),
    ("a.jsonl", b'{"text": "a", "k": 5}\n{"text": "a", "k": 5}\n', "?id=k", "id 5 is at rows 1 and 2"),
    ("a.txt", b"a\n", "?text=text", "a txt file has no columns"),
]


@pytest.mark.parametrize(("name", "body", "query", "words"), BROKEN)
def test_every_fault_is_one_line(
    tmp_path: Path, cache: Path, *, name: str, body: bytes, query: str, words: str
) -> None:
    (tmp_path / name).write_bytes(body)
    message = fault(f"{tmp_path / name}{query}", cache)
    assert words in message
    assert str(tmp_path / name) in message


def test_a_fault_after_many_rows_leaves_no_file(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a line\n" * 20_000 + b"\xff\n")
    assert "line 20001: is not UTF-8" in fault(tmp_path / "a.txt", cache)
    assert len(Corpus.read(tmp_path / "a.txt", cache=cache, limit=20_000)) == 20_000


def test_missing_files_folders_and_bad_numbers(tmp_path: Path, cache: Path) -> None:
    assert "no such file" in fault(tmp_path / "nothing.csv", cache)
    assert "is a folder" in fault(tmp_path, cache)
    path = write(tmp_path / "a.txt", TEXTS)
    assert "limit is 0" in fault(path, cache, limit=0)
    assert "sample is -1" in fault(path, cache, sample=-1)
    assert "cannot be written" in fault(path, path)


def test_parquet_faults(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [1, 2]}), path)
    assert "'text' is int64, not a text" in fault(path, cache)
    pq.write_table(pa.table({"text": ["a", "b\0"]}), path)
    assert "row 2: has a NUL byte" in fault(path, cache)
    broken = pa.Array.from_buffers(pa.binary(), 2, pa.array([b"a", b"\xff"]).buffers()).view(pa.string())
    pq.write_table(pa.table({"text": broken}), path)
    assert "row 2: is not UTF-8" in fault(path, cache)
    for odd in ([[1]], [{"a": 1}], pa.array([b"\xff"], pa.binary(1)), pa.array([2**64 - 1], pa.uint64())):
        pq.write_table(pa.table({"text": ["a"], "odd": odd}), path)
        assert "row 1" in (message := fault(f"{path}?label=odd", cache))
        assert "'odd'" in message
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    assert "no rows" in fault(path, cache)
    pq.write_table(pa.table({"text": [str(i) * 50 for i in range(5000)]}), path)
    body = bytearray(path.read_bytes())
    body[200:9000] = bytes(8800)
    path.write_bytes(body)
    assert "damaged" in fault(path, cache)

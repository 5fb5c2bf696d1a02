"""What the tests of the corpus room share: texts, files of them, and faults."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from theodolite.corpus import Corpus
from theodolite.errors import InputError

TEXTS = ["plain", "", "  spaced ", 'a "quoted" one', "comma, semicolon;", "Zürich 東京 🙂", "it's", "plain"]
LABELS = [1, 0, 1, 1, 0, 0, 1, 0]


def write(path: Path, texts: list[str], labels: list[Any] | None = None) -> Path:
    """Write texts (and labels) in the format the name says, with the standard library or pyarrow."""
    plain = path.with_name(path.name.removesuffix(".gz"))
    ending = plain.suffix
    columns: dict[str, list[Any]] = {"text": texts} | ({} if labels is None else {"label": labels})
    if ending == ".txt":
        plain.write_bytes("".join(f"{text}\n" for text in texts).encode())
    elif ending == ".csv":
        with open(plain, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    elif ending == ".tsv":
        lines = ["\t".join(map(str, row)) for row in [list(columns), *zip(*columns.values(), strict=True)]]
        plain.write_bytes(("\n".join(lines) + "\n").encode())
    elif ending in (".jsonl", ".ndjson"):
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        plain.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.table(columns), plain)
    if path != plain:
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    return path


def leftovers(cache: Path) -> list[str]:
    """What is in the cache besides finished files."""
    names = [path.name for path in (cache / "corpora").glob("*")]
    return [name for name in names if not name.endswith((".arrow", ".vectors.npy")) or name.startswith(".")]


def fault(source: str | Path, cache: Path, **options: Any) -> str:
    """The error of reading a source: one line, and no file left behind."""
    with pytest.raises(InputError) as caught:
        Corpus.read(source, cache=cache, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert "\r" not in message
    assert leftovers(cache) == []
    assert list((cache / "corpora").glob("*")) == []
    return message

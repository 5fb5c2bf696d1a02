"""The texts that are measured on, only read, never copied into the project."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from theodolite.encoder.encoder import Encoder

# Below sentence-transformers' cut at 256 tokens for this model, so that it is not spared any work.
MOST_PIECES = 250


def sentences(data: Path, corpus: str, count: int) -> list[str]:
    """The first `count` different lines of a corpus."""
    return list(islice(dict.fromkeys(_lines(data, corpus)), count))


def mixed(data: Path, encoder: Encoder, count: int) -> list[str]:
    """Shuffled texts of very different lengths: questions, sentences and whole paragraphs, a fifth of each kind."""
    each = -(-count // 5)
    found = [text for corpus in ("questions", "wiki", "passages", "novels") for text in sentences(data, corpus, each)]
    found += shortened(encoder, list(islice(_paragraphs(data), each)))
    random.Random(0).shuffle(found)
    return found[:count]


def shortened(encoder: Encoder, texts: list[str]) -> list[str]:
    """Each text cut after its first MOST_PIECES pieces."""
    tokens = encoder.tokenise(texts)
    ends = [tokens.end[a : a + MOST_PIECES][-1] for a in tokens.bounds[:-1]]
    return [
        text[:end] if n > MOST_PIECES else text
        for text, end, n in zip(texts, ends, tokens.lengths.tolist(), strict=True)
    ]


def _lines(data: Path, corpus: str) -> Iterator[str]:
    with gzip.open(data / "corpora" / f"{corpus}.txt.gz", "rt", encoding="utf-8") as file:
        yield from filter(None, map(str.strip, file))


def _paragraphs(data: Path) -> Iterator[str]:
    import pyarrow.parquet as pq

    reviews = pq.ParquetFile(data / "imdb" / "reviews.parquet")
    for batch in reviews.iter_batches(256, columns=["text"]):
        for review in batch.column(0).to_pylist():
            yield from filter(None, map(str.strip, review.split("<br /><br />")))

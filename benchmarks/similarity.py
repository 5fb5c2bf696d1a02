"""Explaining pairs against the forward pass of their texts and against captum; a catalogue from file to answer."""

from __future__ import annotations

import csv
import gzip
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import torch

from benchmarks import machine
from benchmarks.row import Row
from benchmarks.settings import Settings
from theodolite.similarity.explaining import explain_pairs
from theodolite.similarity.explanation import Asked

Pairs = list[tuple[str, str]]


def run(settings: Settings) -> Iterator[Row]:
    encoder, rounds = settings.encoder, settings.size(5, 3)
    pairs = paragraphs(settings.data, settings.size(1000, 100))
    one = sorted(pairs, key=lambda pair: len(pair[0]) + len(pair[1]))[len(pairs) // 2]

    def alone() -> None:
        list(explain_pairs(encoder, [one[0]], [one[1]]))

    def forward() -> None:
        encoder.embed(list(one), pooling="mean")

    words = sum(len(text.split()) for text in one)
    times = machine.ratio(alone, forward, 4 * rounds)
    yield Row("similarity: one pair / forward pass of both texts, time", times, at_most=4.5, note=f"{words} words")

    def together() -> None:
        list(explain_pairs(encoder, *zip(*pairs, strict=True)))

    def one_by_one() -> None:
        for a, b in pairs:
            list(explain_pairs(encoder, [a], [b]))

    # Some minutes a round: two of them.
    speed = machine.ratio(one_by_one, together, settings.size(2, 1))
    note = f"{len(pairs):,} pairs of wines' descriptions"
    yield Row("similarity: pairs together / one by one, speed", speed, at_least=3.0, note=note)

    def forward_all() -> None:
        encoder.embed([text for pair in pairs for text in pair], pooling="mean")

    yield Row(
        "similarity: pairs together / forward pass, time", machine.ratio(together, forward_all, rounds), note=note
    )

    some = pairs[: settings.size(100, 20)]

    def ours() -> None:
        list(explain_pairs(encoder, *zip(*some, strict=True)))

    def theirs() -> None:
        for a, b in some:
            captum_gradients(encoder, a, b)

    note = f"{len(some)} pairs; ours also matches words, theirs only has the gradients, one text at a time"
    yield Row("similarity: captum's gradients / ours, speed", machine.ratio(theirs, ours, rounds), note=note)

    def by_path() -> None:
        list(explain_pairs(encoder, *zip(*some, strict=True), Asked(("integrated-gradients",))))

    times = machine.ratio(by_path, ours, settings.size(2, 1))
    yield Row("similarity: integrated gradients / bti, time", times, note=f"{len(some)} pairs")
    yield from _catalogue(settings)


def paragraphs(data: Path, number: int) -> Pairs:
    """Descriptions of wines, each with another."""
    with gzip.open(data / "catalogue" / "wine.csv.gz", "rt", encoding="utf-8") as file:
        texts = [row["description"] for row in csv.DictReader(file)][: 2 * number]
    return list(zip(texts[::2], texts[1::2], strict=True))


def captum_gradients(encoder: Any, a: str, b: str) -> None:
    """The two gradients of a pair's cosine, by captum at the embedding layer."""
    from captum.attr import LayerGradientXActivation

    model, backend = encoder.model, encoder.tokenizer._backend
    ids = [torch.tensor([backend.encode(text).ids]) for text in (a, b)]

    def pooled(given: torch.Tensor) -> torch.Tensor:
        return model(input_ids=given).last_hidden_state[:, 1:-1].mean(dim=1)

    for mine, other in (ids, ids[::-1]):
        with torch.no_grad():
            fixed = pooled(other)

        def cosine(given: torch.Tensor, fixed: torch.Tensor = fixed) -> torch.Tensor:
            return torch.cosine_similarity(pooled(given), fixed)

        LayerGradientXActivation(cosine, model.embeddings.word_embeddings).attribute(mine)


def _catalogue(settings: Settings) -> Iterator[Row]:
    from theodolite.catalogue import Catalogue, build_catalogue
    from theodolite.corpus.items import read_items
    from theodolite.store import Store

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        items = read_items(
            settings.data / "catalogue" / "fashion.csv.gz",
            title="prod_name",
            description="detail_desc",
            id="article_id",
            limit=settings.size(12_000, 500),
            cache=place,
        )
        began = time.monotonic()
        build_catalogue(settings.encoder, items, place / "catalogue", store=Store(place / "store"))
        built = time.monotonic() - began
        catalogue = Catalogue.load(place / "catalogue")
        ids = items.column("id").to_pylist()[:200]
        times = []
        for item in ids:
            began = time.monotonic()
            catalogue.similar(item, k=10)
            times.append(time.monotonic() - began)
        yield Row("catalogue: built", built, "s", note=f"{len(items):,} items of the fashion file, an empty store")
        note = f"median of {len(ids)} queries; the slowest {1000 * max(times):.1f} ms"
        yield Row("catalogue: a similar-items query", 1000 * median(times), "ms", at_most=50.0, note=note)

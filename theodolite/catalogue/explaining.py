"""Why items are like what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from theodolite.catalogue.search import Catalogue, Similar
from theodolite.corpus.sizes import SCAN_ROWS
from theodolite.similarity.explanation import Asked, Explanation
from theodolite.similarity.methods import TFIDF

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.similarity.explaining import Baseline


def explain_similar(
    catalogue: Catalogue, encoder: Encoder, text: str, found: Sequence[Similar], methods: Sequence[str] = ("bti",)
) -> list[Explanation]:
    """One explanation for each item found to be like a text, which is side a of them all."""
    from theodolite.similarity.explaining import explain_pairs

    catalogue.check_encoder(encoder)
    asked = asked_of(catalogue, methods)
    others = [item.description for item in found]
    pairs = explain_pairs(encoder, [text] * len(others), others, asked, baseline=baseline_of(catalogue, asked))
    return list(pairs)


def asked_of(catalogue: Catalogue, methods: Sequence[str]) -> Asked:
    """Explanations of the cosines that the catalogue has."""
    return Asked(methods=tuple(dict.fromkeys(methods)), pooling=catalogue.pooling)


def baseline_of(catalogue: Catalogue, asked: Asked) -> Baseline:
    """Where words' rarity matters, that among the catalogue's descriptions, each item's counted."""
    from theodolite.similarity.explaining import Baseline
    from theodolite.similarity.tfidf import Idf

    if TFIDF not in asked.methods:
        return Baseline()
    held = catalogue.items.filter(pa.compute.is_valid(catalogue.items["place"]))
    batches = held.select(["description"]).to_batches(SCAN_ROWS)
    return Baseline(idf=Idf.of(text for batch in batches for text in batch.column(0).to_pylist()))

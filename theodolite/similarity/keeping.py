"""Explanations of whole corpora of pairs in the store: a block of pairs at a time, made once."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from theodolite.accumulate import Gathered
from theodolite.corpus import Corpus, Shard
from theodolite.encoder.encoder import DEFAULT_BUDGET
from theodolite.encoder.quadrature import RULE
from theodolite.instrument import Needs, Observation, Pass, Subject
from theodolite.similarity.explaining import BLOCK, Baseline, explain_pairs
from theodolite.similarity.explanation import Asked, Ints
from theodolite.similarity.methods import INTEGRATED, TFIDF
from theodolite.similarity.tables import kept
from theodolite.store import Recipe

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch


class LookForWords(Pass):
    """Which pairs have words on both sides, so that there is something to explain; needs no model."""

    needs = Needs(distinct=False, separate=True)

    def start(self, corpus: Corpus) -> WithWords:
        return WithWords()


class WithWords(Observation):
    """The rows of such pairs."""

    def __init__(self) -> None:
        self.rows = Gathered((0,))

    def update(self, batch: Batch) -> None:
        tokens = batch.tokens
        rows = batch.rows[(tokens.split > 0) & (tokens.lengths > tokens.split)]
        self.rows.update(rows, np.empty((len(rows), 0), np.float32))

    def result(self) -> Ints:
        return self.rows.result()[0]


def explained(subject: Subject, corpus: Corpus, rows: Ints, asked: Asked, baseline: Baseline) -> pa.Table:
    """The explanations of some rows of a corpus, as ``kept`` has them; those of finished blocks are in the store."""
    recipe = recipe_of(subject, asked, baseline)
    chosen = np.zeros(len(corpus), bool)
    chosen[rows] = True
    found, shards = [], corpus.shards(BLOCK)
    with subject.progress.step(f"explaining {corpus.name}", len(corpus)):
        for shard in shards:
            table = subject.store.get(recipe, shard.hash)
            if table is None:
                table = _block(
                    subject, corpus, shard, np.flatnonzero(chosen[shard.start : shard.stop]), asked, baseline
                )
                subject.store.put(recipe, shard.hash, table)
            at = table.schema.get_field_index("row")
            found.append(table.set_column(at, "row", pa.array(table["row"].to_numpy() + shard.start)))
            subject.progress.advance(shard.stop - shard.start)
    about = {"corpus": corpus.name, "corpus_hash": corpus.hash, "source": corpus.source}
    subject.store.remember(recipe, **about, shard_hashes=[shard.hash for shard in shards])
    return pa.concat_tables(found)


def _block(subject: Subject, corpus: Corpus, shard: Shard, offsets: Ints, asked: Asked, baseline: Baseline) -> pa.Table:
    first, second = corpus.texts(shard.start, shard.stop), corpus.texts_b(shard.start, shard.stop)
    assert second is not None
    texts_a, texts_b = ([texts[i] for i in offsets.tolist()] for texts in (first, second))
    found = explain_pairs(
        subject.model, texts_a, texts_b, asked, baseline=baseline, budget=subject.token_budget or DEFAULT_BUDGET
    )
    return kept(zip(offsets.tolist(), found, strict=True))


def recipe_of(
    subject: Subject, asked: Asked, baseline: Baseline, kind: str = "similarity", **more: str | int
) -> Recipe:
    """What explanations, or something made of them, depend on besides the texts."""
    parts: tuple[tuple[str, str | int], ...] = (
        *subject.identity,
        ("methods", ",".join(asked.methods)),
        ("pooling", asked.pooling),
        ("similarity", asked.similarity),
        ("base", asked.base),
        ("top_k", asked.top_k),
        # Another number where the same options give other values.
        ("form", 1),
    )
    if INTEGRATED in asked.methods:
        parts += (("rule", RULE),)
    if TFIDF in asked.methods:
        counted = sorted(baseline.idf.counts.items())
        rarity = sha256(repr((baseline.idf.texts, counted)).encode()).hexdigest()
        vectors = "" if baseline.vectors is None else baseline.vectors.hash
        parts += (("rarity", rarity), ("word_vectors", vectors))
    return Recipe(kind, subject.encoder, (*parts, *more.items()))

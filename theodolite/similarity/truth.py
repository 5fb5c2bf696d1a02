"""Are the explanations true? Deletion and randomised weights over the pairs of corpora, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from theodolite.accumulate import hash_of
from theodolite.encoder.encoder import DEFAULT_BUDGET
from theodolite.similarity.deletion import deletion
from theodolite.similarity.explaining import Baseline, explain_pairs
from theodolite.similarity.explanation import Asked, Ints
from theodolite.similarity.methods import METHODS
from theodolite.similarity.randomisation import randomisation

if TYPE_CHECKING:
    from theodolite.corpus import Corpus
    from theodolite.instrument import Subject

Row = dict[str, Any]

# Pairs of a corpus that these tests take, a seeded choice: every one is encoded some hundreds of times.
MOST_PAIRS = 300


def truth_tables(
    subject: Subject,
    rows: Mapping[str, Ints],
    asked: Asked,
    baseline: Baseline,
    *,
    sanity: bool,
    faithfulness: bool,
    seed: int,
) -> dict[str, pa.Table]:
    """`randomisation` for sanity; `deletion` and `deletion_curves`, of every method, for faithfulness."""
    found: dict[str, list[Row]] = {}
    for corpus in subject.corpora:
        about: Row = {"corpus": corpus.name}
        texts = _some(corpus, rows[corpus.name], seed)
        how: dict[str, Any] = {"budget": subject.token_budget or DEFAULT_BUDGET}
        if sanity:
            drawn = randomisation(
                subject.model, *texts, asked, baseline=baseline, seed=seed, progress=subject.progress, **how
            )
            found.setdefault("randomisation", []).extend(about | asdict(row) for row in drawn)
        if faithfulness:
            every = replace(asked, methods=METHODS)
            explanations = []
            with subject.progress.step(f"explaining {corpus.name} by every method", len(texts[0])):
                for explanation in explain_pairs(subject.model, *texts, every, baseline=baseline, **how):
                    explanations.append(explanation)
                    subject.progress.advance(1)
            fallen = deletion(subject.model, explanations, every, seed=seed, progress=subject.progress, **how)
            about |= {"pairs": fallen.n, "whole": fallen.whole, "single_words": fallen.single}
            found.setdefault("deletion", []).extend(about | asdict(row) for row in fallen.rows)
            found.setdefault("deletion_curves", []).extend(about | asdict(point) for point in fallen.curves)
    return {name: pa.Table.from_pylist(these) for name, these in found.items()}


def _some(corpus: Corpus, rows: Ints, seed: int) -> tuple[list[str], list[str]]:
    chosen = np.sort(rows[np.argsort(hash_of(seed, rows), kind="stable")[:MOST_PAIRS]])
    first, second = (corpus.column(name).take(pa.array(chosen)).to_pylist() for name in ("text", "text_b"))
    return first, second

"""Are the explanations true? Deletion and randomised weights over the pairs of corpora, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from theodolite.accumulate import hash_of
from theodolite.corpus.hashing import values_hash
from theodolite.encoder.encoder import DEFAULT_BUDGET
from theodolite.similarity.deletion import deletion
from theodolite.similarity.explaining import Baseline, explain_pairs
from theodolite.similarity.explanation import Asked, Ints
from theodolite.similarity.keeping import recipe_of
from theodolite.similarity.methods import METHODS
from theodolite.similarity.randomisation import randomisation

if TYPE_CHECKING:
    from theodolite.corpus import Corpus
    from theodolite.instrument import Subject

Row = dict[str, Any]
Texts = tuple[list[str], list[str]]

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
    """`randomisation` for sanity; `deletion` and `deletion_curves`, of every method, for faithfulness.

    What a test found in a corpus is kept in the store: an interrupted run does not do it again.
    """
    found: dict[str, list[pa.Table]] = {}
    for corpus in subject.corpora:
        texts = _some(corpus, rows[corpus.name], seed)
        tests: list[_Test] = []
        if sanity:
            tests.append(_Test(("randomisation",), asked, _randomisation))
        if faithfulness:
            tests.append(_Test(("deletion", "deletion_curves"), replace(asked, methods=METHODS), _deletion))
        for test in tests:
            for name, table in _kept(subject, texts, test, baseline, seed).items():
                found.setdefault(name, []).append(table.add_column(0, "corpus", [[corpus.name] * len(table)]))
    return {name: pa.concat_tables(tables) for name, tables in found.items()}


@dataclass(frozen=True)
class _Test:
    """The tables that a test gives, what it asks, and the work."""

    tables: tuple[str, ...]
    asked: Asked
    work: Callable[[Subject, Texts, Asked, Baseline, int], list[list[Row]]]


def _kept(subject: Subject, texts: Texts, test: _Test, baseline: Baseline, seed: int) -> dict[str, pa.Table]:
    """The tables of a test by name, from the store where all are there."""
    key = values_hash(pa.chunked_array([pa.array(side, pa.large_string())]) for side in texts)
    recipes = {
        name: recipe_of(subject, test.asked, baseline, "similarity truth", table=name, seed=seed)
        for name in test.tables
    }
    there = {name: subject.store.get(recipe, key) for name, recipe in recipes.items()}
    if any(table is None for table in there.values()):
        made = test.work(subject, texts, test.asked, baseline, seed)
        there = {name: pa.Table.from_pylist(rows) for name, rows in zip(test.tables, made, strict=True)}
        for name, recipe in recipes.items():
            subject.store.put(recipe, key, there[name])
    return there


def _randomisation(subject: Subject, texts: Texts, asked: Asked, baseline: Baseline, seed: int) -> list[list[Row]]:
    how: dict[str, Any] = {"baseline": baseline, "seed": seed, "progress": subject.progress, "budget": _budget(subject)}
    return [[asdict(row) for row in randomisation(subject.model, *texts, asked, **how)]]


def _deletion(subject: Subject, texts: Texts, asked: Asked, baseline: Baseline, seed: int) -> list[list[Row]]:
    explanations = []
    with subject.progress.step("explaining by every method", len(texts[0])):
        for explanation in explain_pairs(subject.model, *texts, asked, baseline=baseline, budget=_budget(subject)):
            explanations.append(explanation)
            subject.progress.advance(1)
    how: dict[str, Any] = {"seed": seed, "progress": subject.progress, "budget": _budget(subject)}
    fallen = deletion(subject.model, explanations, asked, **how)
    about: Row = {"pairs": fallen.n, "whole": fallen.whole, "single_words": fallen.single}
    return [[about | asdict(row) for row in fallen.rows], [about | asdict(point) for point in fallen.curves]]


def _budget(subject: Subject) -> int:
    return subject.token_budget or DEFAULT_BUDGET


def _some(corpus: Corpus, rows: Ints, seed: int) -> Texts:
    chosen = np.sort(rows[np.argsort(hash_of(seed, rows), kind="stable")[:MOST_PAIRS]])
    first, second = (corpus.column(name).take(pa.array(chosen)).to_pylist() for name in ("text", "text_b"))
    return first, second

"""The whole contextuality instrument against the forward pass it rides on, and against the pairwise way."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.pairwise import Pairwise, pairwise
from benchmarks.passes import every_layer, forward
from benchmarks.row import Row
from benchmarks.settings import Settings
from benchmarks.texts import sentences
from theodolite.contextuality import Contextuality
from theodolite.corpus import Corpus
from theodolite.encoder.encoder import Encoder
from theodolite.reading import Reading
from theodolite.running import run as run_instruments
from theodolite.store import Store

PAIRWISE_TEXTS = 300


def run(settings: Settings) -> Iterator[Row]:
    encoder = settings.encoder
    yield _against_forward(encoder, sentences(settings.data, "wiki", settings.size(6000, 1000)), settings.size(5, 1))
    yield _against_pairwise(encoder, sentences(settings.data, "wiki", PAIRWISE_TEXTS), settings.size(3, 1))


def measure(encoder: Encoder, corpus: Corpus) -> Reading:
    """Both passes and the final computation, in a store that knows nothing yet and is thrown away."""
    with tempfile.TemporaryDirectory(prefix="theodolite-bench-") as folder:
        [reading] = run_instruments([Contextuality()], encoder, [corpus], store=Store(folder))
    return reading


def _against_forward(encoder: Encoder, texts: list[str], rounds: int) -> Row:
    """The bare pass is the barest: texts tokenised beforehand, all sorted together, the run's own budget."""
    corpus = Corpus.of(texts, "wiki")
    budget = int(measure(encoder, corpus).manifest["plan"]["token_budget"])
    bare = forward(encoder, encoder.tokenise(texts), every_layer(encoder), budget)
    times = machine.ratio(lambda: measure(encoder, corpus), bare, rounds)
    note = f"{len(texts):,} wiki sentences, budget {budget}; the bare pass is given its tokens"
    return Row("contextuality / forward pass over all layers, time", times, at_most=1.25, note=note)


def _against_pairwise(encoder: Encoder, texts: list[str], rounds: int) -> Row:
    corpus = Corpus.of(texts, "wiki")
    _check_same(measure(encoder, corpus).to_json()["layers"], pairwise(encoder, texts))
    faster = machine.ratio(lambda: pairwise(encoder, texts), lambda: measure(encoder, corpus), rounds)
    note = f"{len(texts):,} wiki sentences; ours adds baselines and intervals; similarities equal within 1e-4"
    return Row("contextuality / pairwise computation, speed", faster, note=note)


def _check_same(ours: list[dict[str, Any]], theirs: Pairwise) -> None:
    """Speed counts only where the numbers are the same. (MEV is not compared: ours caps a word's occurrences.)"""
    for name in ("anisotropy", "self_similarity", "intra_sentence_similarity"):
        worst = float(np.abs(np.array([row[name] for row in ours]) - getattr(theirs, name)).max())
        if not worst < 1e-4:
            raise RuntimeError(f"{name} differs from the pairwise computation by {worst:.1e}: nothing to compare")

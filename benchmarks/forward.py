"""Forward passes against the machine's own matrix multiplication, and against sentence-transformers."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np

from benchmarks import machine
from benchmarks.passes import every_layer, forward, real_tokens, tuned_budget
from benchmarks.row import Row
from benchmarks.settings import Settings
from benchmarks.texts import mixed
from theodolite.encoder.encoder import Encoder

MULTIPLICATIONS = 10


def run(settings: Settings) -> Iterator[Row]:
    texts = mixed(settings.data, settings.encoder, settings.size(2000, 200))
    rounds = settings.size(5, 3)
    yield from _against_machine(settings.encoder, texts, rounds)
    yield _against_sentence_transformers(settings.encoder, texts, rounds)


def _against_machine(encoder: Encoder, texts: list[str], rounds: int) -> Iterator[Row]:
    """2 × encoder parameters × real tokens a second, over the operations a second of a matrix product."""
    tokens = encoder.tokenise(texts)
    budget = tuned_budget(encoder, tokens)
    operations = 2.0 * encoder.parameters * real_tokens(encoder, tokens)
    multiply = machine.multiplying(MULTIPLICATIONS)
    for name, layers in (("last layer", (-1,)), ("all layers", every_layer(encoder))):
        times = machine.in_turn(forward(encoder, tokens, layers, budget), multiply, rounds)
        share = median(
            (operations / ours) / (machine.multiply_operations(MULTIPLICATIONS) / theirs) for ours, theirs in times
        )
        note = f"{len(texts):,} texts, {real_tokens(encoder, tokens):,} tokens, budget {budget}"
        yield Row(f"forward, {name} / matrix-multiply rate", share, at_least=0.7, note=note)


def _against_sentence_transformers(encoder: Encoder, texts: list[str], rounds: int) -> Row:
    """Texts to embeddings, tokenising included, each with its own defaults; no text is long enough to be cut."""
    from sentence_transformers import SentenceTransformer

    peer = SentenceTransformer(str(encoder.folder.path), device="cpu")
    _check_same(encoder.embed(texts[:64]), np.asarray(peer.encode(texts[:64], show_progress_bar=False)))
    times = machine.in_turn(
        lambda: peer.encode(texts, batch_size=32, show_progress_bar=False),
        lambda: encoder.embed(texts),
        rounds,
    )
    longest = int(encoder.tokenise(texts).lengths.max()) + len(encoder.tokenizer.single)
    note = f"{len(texts):,} texts of at most {longest} tokens: its cut at {peer.max_seq_length} spares it nothing"
    faster = median(theirs / ours for theirs, ours in times)
    return Row("embed / sentence-transformers encode, speed", faster, at_least=1.5, note=note)


def _check_same(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Both must have done the same work: equal directions (it normalises, we do not)."""
    unit = ours / np.linalg.norm(ours, axis=1, keepdims=True)
    worst = float((unit * theirs).sum(axis=1).min())
    if worst < 1 - 1e-4:
        raise RuntimeError(f"embeddings differ from sentence-transformers' (cosine {worst:.5f}): nothing to compare")

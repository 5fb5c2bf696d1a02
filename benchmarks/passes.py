"""Bare passes of the encoder over tokenised texts, with nothing looking on."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from benchmarks.machine import Work, seconds
from theodolite.encoder.encoder import Encoder
from theodolite.encoder.tokens import Tokens
from theodolite.running.plan import CANDIDATE_BUDGETS, TUNE_TOKENS


def forward(encoder: Encoder, tokens: Tokens, layers: Collection[int], budget: int) -> Work:
    """A forward pass over all the texts, its hidden states dropped."""

    def work() -> None:
        for _batch in encoder.batches(tokens, layers, budget=budget):
            pass

    return work


def every_layer(encoder: Encoder) -> range:
    """All layers, the embedding layer among them."""
    return range(encoder.layers + 1)


def real_tokens(encoder: Encoder, tokens: Tokens) -> int:
    """Tokens that the model is asked about: pieces and special tokens, padding out."""
    return int(tokens.lengths.sum()) + len(tokens) * len(encoder.tokenizer.single)


def tuned_budget(encoder: Encoder, tokens: Tokens) -> int:
    """The token budget that a run's plan would settle on: its candidates, a sample of its size, all layers.

    Best of three, where the plan takes one: here the budget is not what is measured.
    """
    few = tokens.take(np.arange(int(np.searchsorted(np.cumsum(tokens.lengths), TUNE_TOKENS)) + 1)[: len(tokens)])
    passes = {budget: forward(encoder, few, every_layer(encoder), budget) for budget in CANDIDATE_BUDGETS}
    for work in passes.values():
        work()
    return min(passes, key=lambda budget: min(seconds(passes[budget]) for _ in range(3)))

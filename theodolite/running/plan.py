"""The plan of a run: fixed and stored before its first shard, so that going on later changes nothing."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

if TYPE_CHECKING:
    from theodolite.corpus import Corpus
    from theodolite.encoder.encoder import Encoder
    from theodolite.encoder.tokens import Tokens
    from theodolite.store import RunFolder

SHARD_SIZE = 2048
# A salience map costs some forward passes, by integrated gradients twenty or more, so that long texts make shards of
# many minutes: fewer of them are taken then. So many bytes of text are some hundred thousand tokens.
MAPS_BYTES = 400_000
DEFAULT_BUDGET = 1024
CANDIDATE_BUDGETS = (512, 1024, 2048, 4096)
# The search costs as much as encoding 65,000 tokens: only a run thirty times as long can win it back.
TUNE_FROM_TOKENS = 2_000_000
TUNE_TOKENS = 8_192
# Compiling took 40 s here and buys at most a quarter, so only runs of many minutes try it.
COMPILE_FROM_SECONDS = 900.0
COMPILE_GAIN = 1.05


@dataclass(frozen=True)
class RunOptions:
    """How to run, as the user wants it; None leaves the choice to the plan."""

    token_budget: int | None = None
    shard_size: int = SHARD_SIZE


@dataclass(frozen=True)
class Plan:
    """How the run is done: rows a shard, tokens a batch, compiled or not, and budgets halved on the way."""

    shard_size: int
    token_budget: int
    compiled: bool = False
    halved: dict[str, int] = field(default_factory=dict)

    def budget(self, shard: int) -> int:
        """The token budget in force for a shard: halved ones hold from their shard on."""
        earlier = [int(s) for s in self.halved if int(s) <= shard]
        return self.halved[str(max(earlier))] if earlier else self.token_budget

    def with_halved(self, shard: int) -> Plan:
        """The plan after memory ran out in a shard."""
        return replace(self, halved={**self.halved, str(shard): max(1, self.budget(shard) // 2)})

    def as_json(self) -> dict[str, Any]:
        """For the run's folder and the manifest."""
        return asdict(self)


def map_rows(corpus: Corpus, shard_size: int) -> int:
    """Rows a shard where salience maps of a corpus are made: a plain shard's, or a half, a quarter … for long texts.

    >>> from theodolite.corpus import Corpus
    >>> [map_rows(Corpus.of([text]), 2048) for text in ("short", "long " * 250, "book " * 1_000_000)]
    [2048, 256, 1]
    """
    lengths = pc.binary_length(corpus.column("text").slice(0, 1024))
    fit = MAPS_BYTES / max(1.0, pc.mean(lengths).as_py() or 0.0)
    halvings = max(0, math.ceil(math.log2(SHARD_SIZE / fit)))
    return min(shard_size, max(1, SHARD_SIZE >> halvings))


def settle(folder: RunFolder, options: RunOptions, encoder: Encoder | None, sample: Tokens | None, texts: int) -> Plan:
    """The stored plan of this run, or a new one: budget tuned on a sample of its texts, then fixed."""
    stored = folder.plan()
    if stored is None:
        stored = folder.save_plan(_new(options, encoder, sample, texts).as_json())
    return Plan(**stored)


def _new(options: RunOptions, encoder: Encoder | None, sample: Tokens | None, texts: int) -> Plan:
    budget = options.token_budget
    plan = Plan(options.shard_size, budget or DEFAULT_BUDGET)
    if encoder is None or encoder.layers == 0 or sample is None or len(sample) == 0:
        return plan
    expected = float(sample.lengths.mean()) * texts
    if expected < TUNE_FROM_TOKENS:
        return plan
    layers = range(encoder.layers + 1)
    few = sample.take(_about(sample, TUNE_TOKENS))
    rates = {b: _rate(encoder, few, layers, b) for b in ((budget,) if budget else CANDIDATE_BUDGETS)}
    best = max(rates, key=lambda b: rates[b])
    plan = replace(plan, token_budget=best)
    if expected / rates[best] < COMPILE_FROM_SECONDS or not encoder.compiled():
        return plan
    faster = _rate(encoder, few, layers, best) > COMPILE_GAIN * rates[best]
    if not faster:
        encoder.uncompiled()
    return replace(plan, compiled=faster)


def _about(tokens: Tokens, wanted: int) -> Any:
    return np.arange(int(np.searchsorted(np.cumsum(tokens.lengths), wanted)) + 1)[: len(tokens)]


def _rate(encoder: Encoder, tokens: Tokens, layers: range, budget: int) -> float:
    """Tokens a second, after one round to warm up (a compiled pass meets its shapes there)."""
    for _ in range(2):
        began = time.perf_counter()
        for _batch in encoder.batches(tokens, layers, budget=budget):
            pass
        spent = time.perf_counter() - began
    return float(tokens.lengths.sum()) / spent

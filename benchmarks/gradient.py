"""A gradient pass against a forward pass over the same texts."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from benchmarks import machine
from benchmarks.passes import forward, tuned_budget
from benchmarks.row import Row
from benchmarks.settings import Settings
from benchmarks.texts import mixed
from theodolite.encoder.batch import Batch


def run(settings: Settings) -> Iterator[Row]:
    encoder = settings.encoder
    tokens = encoder.tokenise(mixed(settings.data, encoder, settings.size(1000, 150)))
    budget = tuned_budget(encoder, tokens)
    fixed = torch.randn(encoder.dim, generator=torch.Generator().manual_seed(0))

    def objective(batch: Batch) -> torch.Tensor:
        return torch.cosine_similarity(batch.pooled_tensor(-1, "mean"), fixed, dim=1)

    def gradients() -> None:
        for _batch in encoder.gradient_batches(tokens, objective, budget=budget):
            pass

    times = machine.ratio(gradients, forward(encoder, tokens, (-1,), budget), settings.size(5, 3))
    note = f"{len(tokens):,} texts, cosine of the mean with a fixed vector, budget {budget}"
    yield Row("gradient pass / forward pass, time", times, at_most=2.5, note=note)

"""Integrated gradients of any objective of a text: the way from a base to the text at its input embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from theodolite.encoder.batch import Floats, Ints
from theodolite.encoder.forward import Padded, run_windows
from theodolite.encoder.quadrature import integrated
from theodolite.encoder.tap import InputTap, by_piece
from theodolite.encoder.taped import Taped, slopes_of
from theodolite.encoder.tokens import Tokens, flat_ranges

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder, Objective

PAD, ZERO = "pad", "zero"


def integrated_gradients(
    encoder: Encoder, tokens: Tokens, objective: Objective, *, base: str, steps: int | None, budget: int
) -> tuple[Floats, Ints, Floats]:
    """Weight (t,) of each piece, and for each text the steps taken and by how much its weights miss the change (n,).

    objective: as ``Encoder.gradients`` takes it, of the last layer; base: ``pad`` (padding at the same positions)
    or ``zero`` (no embedding and no position), special tokens staying as they are; steps: doubled until the weights
    add up to the change of the objective, where not given.
    """
    path = _Path(encoder, tokens, objective, base, budget)
    everyone = np.arange(len(tokens))
    change = path.values(everyone, 1.0) - path.values(everyone, 0.0)
    return integrated(change, np.repeat(everyone, tokens.lengths), path.along, steps)


class _Path:
    """Texts on their way from the base; every (text, place) is a text of a batch."""

    def __init__(self, encoder: Encoder, tokens: Tokens, objective: Objective, base: str, budget: int) -> None:
        self.encoder, self.tokens, self.objective, self.base, self.budget = encoder, tokens, objective, base, budget
        self.tap = InputTap()

    def values(self, texts: Ints, place: float) -> torch.Tensor:
        """(n,) the objective of the texts at one place."""
        found = torch.zeros(len(self.tokens))
        for which, values, _ in self._run(texts, np.full(len(texts), place, np.float32), slopes=False):
            found[texts[which]] = values
        return found

    def along(self, texts: Ints, places: torch.Tensor) -> torch.Tensor:
        """(k, t) at k places: each piece's gradient times its whole way, summed over its windows."""
        rows, at = np.tile(texts, len(places)), np.repeat(places.numpy(), len(texts))
        step = np.repeat(np.arange(len(places)), len(texts))
        found = torch.zeros((len(places), len(self.tokens.ids)))
        flat = found.view(-1)
        for which, _, products in self._run(rows, at, slopes=True):
            mine = rows[which]
            begin = step[which] * len(self.tokens.ids) + self.tokens.bounds[mine]
            flat[torch.from_numpy(flat_ranges(begin, self.tokens.lengths[mine]))] = torch.from_numpy(products)
        return found

    def _run(self, rows: Ints, places: Floats, slopes: bool) -> Iterator[tuple[Ints, torch.Tensor, Floats]]:
        """Batch by batch: which of the rows, the objective (n,), and the products (t,) where slopes are wanted."""
        encoder = self.encoder

        def work(group: tuple[Ints, Tokens]) -> tuple[Ints, torch.Tensor, Floats]:
            which, part = group
            return which, *self._step(part, rows[which], torch.from_numpy(places[which]), slopes)

        with encoder._plain(), self.tap.on(encoder.model.get_input_embeddings(), encoder._positions()):
            yield from encoder._side_by_side(work, encoder._groups(self.tokens.take(rows), self.budget))

    def _step(self, part: Tokens, rows: Ints, places: torch.Tensor, slopes: bool) -> tuple[torch.Tensor, Floats]:
        encoder, last = self.encoder, self.encoder.layers
        ways: list[torch.Tensor] = []

        def call(padded: Padded) -> dict[int, torch.Tensor]:
            on_way = _OnWay(encoder, padded, places, self.base)
            with self.tap.moving(on_way.embeddings, on_way.positions if self.base == ZERO else None):
                found = encoder._hidden(padded, (last,))
            ways.append(on_way.way())
            return found

        windows, template = encoder._windows(part), encoder._template(part)
        how = call, part, windows, template, encoder.tokenizer.pad_id, max(self.budget, encoder.limit)
        if not slopes:
            with torch.no_grad():
                states, _ = run_windows(*how)
                return self.objective(encoder._batch(part, rows, "", states)).float().cpu(), np.empty(0, np.float32)
        taped = Taped(self.tap, *how)
        with torch.enable_grad():
            values = self.objective(encoder._batch(part, rows, "", taped.states))
            [found] = slopes_of(values.sum(), [taped])
        # Calls that are made twice find their ways twice, the same and in the same order.
        products = [(g * way).sum(dim=-1, keepdim=True) for (_, g), way in zip(taped.back(found), ways, strict=False)]
        return values.detach().float().cpu(), by_piece(part, taped.calls, products)[1][:, 0]


class _OnWay:
    """One forward call's embeddings, each window at its text's place between the base and the text."""

    def __init__(self, encoder: Encoder, padded: Padded, places: torch.Tensor, base: str) -> None:
        device = encoder.device
        weight = encoder.model.get_input_embeddings().weight.detach()
        self._base = torch.zeros_like(weight[0]) if base == ZERO else weight[encoder.tokenizer.pad_id]
        self._stays = padded.stays.to(device)[:, :, None]
        share = places[torch.from_numpy(padded.text)].to(device)[:, None, None]
        self._share = torch.where(self._stays, 1.0, share)
        self._away: torch.Tensor = weight[0]

    def embeddings(self, embedded: torch.Tensor) -> torch.Tensor:
        """Token embeddings (B, T, e) on their way."""
        self._away = embedded.detach() - self._base
        return torch.lerp(self._base.expand_as(embedded), embedded, self._share)

    def positions(self, added: torch.Tensor) -> torch.Tensor:
        """Position embeddings on their way from nothing."""
        self._away = self._away + added.detach()
        return added * self._share

    def way(self) -> torch.Tensor:
        """(B, T, e) the whole way of each token; nothing for those that stay."""
        return self._away.masked_fill(self._stays, 0.0)

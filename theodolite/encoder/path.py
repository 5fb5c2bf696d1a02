"""Integrated gradients of any objective of a text: the way from a base to the text at its input embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from theodolite.encoder.batch import Floats, Ints
from theodolite.encoder.forward import Padded
from theodolite.encoder.on_way import ZERO, OnWay
from theodolite.encoder.quadrature import integrated
from theodolite.encoder.tap import InputTap, by_piece
from theodolite.encoder.taped import Taped, slopes_of
from theodolite.encoder.tokens import Tokens

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder, Objective


def integrated_gradients(
    encoder: Encoder, tokens: Tokens, objective: Objective, *, base: str, steps: int | None, budget: int
) -> tuple[Floats, Ints, Floats]:
    """Weight (t,) of each piece, and for each text the steps taken and by how much its weights miss the change (n,).

    objective: as ``Encoder.gradients`` takes it, of the last layer; base: see ``OnWay``; steps: as many as it takes
    until the weights add up to the change of the objective, where not given.
    """
    return integrated(len(tokens), _Path(encoder, tokens, objective, base, budget).along, steps)


class _Path:
    """Texts on their way from the base; every (text, place) is a text of a batch."""

    def __init__(self, encoder: Encoder, tokens: Tokens, objective: Objective, base: str, budget: int) -> None:
        self.encoder, self.tokens, self.objective, self.base, self.budget = encoder, tokens, objective, base, budget
        self.tap = InputTap()

    def along(self, texts: Ints, places: Floats) -> tuple[Floats, list[Floats]]:
        """The objective (m,) of texts at a place each, and of each its pieces' gradients times their whole ways."""
        encoder = self.encoder
        values, products = np.zeros(len(texts), np.float32), [np.empty(0, np.float32)] * len(texts)

        def work(group: tuple[Ints, Tokens]) -> tuple[Ints, Tokens, Floats, Floats]:
            which, part = group
            return which, part, *self._step(part, texts[which], torch.from_numpy(places[which]))

        with encoder._plain(), self.tap.on(encoder.model.get_input_embeddings(), encoder._positions()):
            groups = encoder._groups(self.tokens.take(texts), self.budget)
            for which, part, found, flat in encoder._side_by_side(work, groups):
                values[which] = found
                for item, product in zip(which.tolist(), np.split(flat, part.bounds[1:-1]), strict=True):
                    products[item] = product
        return values, products

    def _step(self, part: Tokens, rows: Ints, places: torch.Tensor) -> tuple[Floats, Floats]:
        encoder, last = self.encoder, self.encoder.layers
        ways: list[torch.Tensor] = []

        def call(padded: Padded) -> dict[int, torch.Tensor]:
            on_way = OnWay(encoder, padded, places, self.base)
            with self.tap.moving(on_way.embeddings, on_way.positions if self.base == ZERO else None):
                found = encoder._hidden(padded, (last,))
            ways.append(on_way.way())
            return found

        windows, template = encoder._windows(part), encoder._template(part)
        budget = max(self.budget, encoder.limit)
        taped = Taped(self.tap, call, part, windows, template, encoder.tokenizer.pad_id, budget)
        with torch.enable_grad():
            values = self.objective(encoder._batch(part, rows, "", taped.states))
            [found] = slopes_of(values.sum(), [taped])
        # Calls that are made twice find their ways twice, the same and in the same order.
        products = [(g * way).sum(dim=-1, keepdim=True) for (_, g), way in zip(taped.back(found), ways, strict=False)]
        return values.detach().float().cpu().numpy(), by_piece(part, taped.calls, products)[1][:, 0]

"""Texts where they stand on the way from padding to themselves: what a classifier answers there, and its slope.

For a text of several windows the answer is the mean over them, a token's gradient the sum over the windows it is in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from theodolite.batching import Windows, fill
from theodolite.encoder.forward import Padded, destinations, pad, piece_numbers
from theodolite.encoder.maps import Ints, Layout
from theodolite.encoder.memory import look_after_holes
from theodolite.encoder.on_way import OnWay
from theodolite.encoder.tap import InputTap
from theodolite.encoder.tokens import Tokens

if TYPE_CHECKING:
    from theodolite.encoder.classifier import Classifier


@dataclass(frozen=True)
class Slope:
    """The gradient of some windows' answers at their input embeddings.

    text: (B,) whose window each is; answers: (B, classes); token: (k,) the windows' tokens, as rows of the layout;
    gradient: (k, e) at them; product: (k,) with the embeddings there or, on the way from padding, with the whole way.
    """

    text: torch.Tensor
    answers: torch.Tensor
    token: torch.Tensor
    gradient: torch.Tensor
    product: torch.Tensor


class Standing:
    """Some texts, each at a place (n,) between padding, 0, and itself, 1; each is itself where none are given."""

    def __init__(
        self, classifier: Classifier, tap: InputTap, tokens: Tokens, budget: int, places: torch.Tensor | None = None
    ) -> None:
        self.classifier, self.tap, self.tokens, self.places = classifier, tap, tokens, places
        self.budget = max(budget, classifier.limit)
        self.template = classifier._template(tokens)
        self.windows: Windows = classifier._windows(tokens)
        self.layout = Layout.of(tokens, self.template)
        self.counts = torch.from_numpy(np.bincount(self.windows.text, minlength=len(tokens)))
        self.whole = len(self.windows) == len(tokens)

    def answers(self) -> torch.Tensor:
        """(n, classes) mean logits over windows."""
        found = torch.zeros((len(self.tokens), len(self.classifier.labels)))
        for windows, padded in self._calls():
            with torch.no_grad(), self._moving(self._on_way(padded)):
                answers = self.classifier._head(**self.classifier._inputs(padded)).logits.float().cpu()
            found.index_add_(0, torch.from_numpy(windows.text), answers)
        return found / self.counts[:, None]

    def slopes(self, of: str, target: torch.Tensor | None, answers: torch.Tensor | None) -> Iterator[Slope]:
        """The slopes of what is asked about, windows at a time.

        of: ``logit`` or ``probability``; target: (n,) the class asked about, or the likeliest; answers: (n, classes)
        where they are known, which texts of several windows need unless it is a given class's logit.
        """
        device = self.classifier.device
        for windows, padded in self._calls():
            text, on_way = torch.from_numpy(windows.text), self._on_way(padded)
            with self.tap.recording(), self._moving(on_way):
                logits = self.classifier._head(**self.classifier._inputs(padded)).logits.float()
                said = logits.detach().cpu()
                mean = said if answers is None else answers[text]
                slopes = _slopes(of, mean, mean.argmax(dim=1) if target is None else target[text])
                slopes = slopes / self.counts[text][:, None]
                [gradient] = torch.autograd.grad((logits * slopes.to(device)).sum(), self.tap.leaves)
            source, to = (torch.from_numpy(rows).to(device) for rows in self._destinations(windows, padded))
            times = self.tap.value(0) if on_way is None else on_way.way()
            product = (gradient * times).sum(dim=-1)
            yield Slope(text, said, to, gradient.flatten(0, 1)[source], product.flatten()[source])

    def _calls(self) -> Iterator[tuple[Windows, Padded]]:
        """The windows of the texts, in rectangles within the budget."""
        lengths = self.windows.length + self.windows.length_b + len(self.template)
        for which in fill(lengths, self.budget):
            look_after_holes()
            part = self.windows.take(which)
            yield part, pad(self.tokens, part, self.template, self.classifier.tokenizer.pad_id)

    def _destinations(self, windows: Windows, padded: Padded) -> tuple[Ints, Ints]:
        at = self.layout
        numbers = at.piece_at[piece_numbers(self.tokens, windows)]
        return destinations(padded, numbers, windows.text, (at.before_at, at.between_at, at.after_at))

    def _on_way(self, padded: Padded) -> OnWay | None:
        return None if self.places is None else OnWay(self.classifier, padded, self.places)

    def _moving(self, on_way: OnWay | None) -> AbstractContextManager[None]:
        return nullcontext() if on_way is None else self.tap.moving(on_way.embeddings)


def _slopes(of: str, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """(B, classes) derivative of what is asked by the logits."""
    chosen = torch.nn.functional.one_hot(target, logits.shape[1]).float()
    if of == "logit":
        return chosen
    probability = logits.softmax(dim=1)
    mine = (probability * chosen).sum(dim=1, keepdim=True)
    return mine * (chosen - probability)

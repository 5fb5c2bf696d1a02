"""What a classifier's answer rests on: gradients of a class at the input embeddings, made into a weight a token.

For a text of several windows the answer is the mean over them, a token's gradient the sum over the windows it is in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import numpy as np
import torch

from theodolite.batching import Windows, fill
from theodolite.encoder.forward import Padded, destinations, pad, piece_numbers
from theodolite.encoder.maps import GRAD_L2, GRAD_X_INPUT, INTEGRATED, Floats, Ints, Layout, Maps, Question
from theodolite.encoder.quadrature import integrated
from theodolite.encoder.tap import InputTap
from theodolite.encoder.tokens import Tokens

if TYPE_CHECKING:
    from theodolite.encoder.classifier import Classifier


class Attribution:
    """Maps of one group of texts, within the token budget."""

    def __init__(
        self,
        classifier: Classifier,
        tap: InputTap,
        tokens: Tokens,
        question: Question,
        target: Ints | None,
        budget: int,
    ) -> None:
        self.classifier, self.tap, self.tokens, self.question = classifier, tap, tokens, question
        self.budget = max(budget, classifier.limit)
        self.template = classifier._template(tokens)
        self.windows: Windows = classifier._windows(tokens)
        self.layout = Layout.of(tokens, self.template)
        self.counts = torch.from_numpy(np.bincount(self.windows.text, minlength=len(tokens)))
        self.ids = torch.from_numpy(self.layout.ids).to(classifier.device)
        self.whole = len(self.windows) == len(tokens)
        self.logits = torch.zeros((len(tokens), len(classifier.labels)))
        self.target = torch.zeros(len(tokens), dtype=torch.int64) if target is None else torch.from_numpy(target)
        self.predicted = target is None
        if not self.whole or question.methods == (INTEGRATED,):
            # Else the pass that gives the gradients gives the answers too.
            self._learn(np.arange(len(tokens)), self._answers(np.arange(len(tokens)), None))

    def maps(self) -> Maps:
        """The maps of all the texts by every method asked for."""
        n, methods = len(self.tokens), self.question.methods
        weights = {}
        steps, error = np.zeros(n, np.int64), np.zeros(n, np.float32)
        if GRAD_L2 in methods or GRAD_X_INPUT in methods:
            gradient, product = self._gradients(np.arange(n))
            found = {GRAD_L2: gradient.norm(dim=1), GRAD_X_INPUT: product}
            weights = {name: value.cpu().numpy() for name, value in found.items() if name in methods}
        if INTEGRATED in methods:
            weights[INTEGRATED], steps, error = self._integrated()
        logits, target = self.logits.numpy(), self.target.numpy()
        ordered = {name: weights[name] for name in methods}
        return Maps(self.layout, logits, target, ordered, steps, error)

    def _learn(self, texts: Ints, logits: torch.Tensor) -> None:
        self.logits[texts] = logits
        if self.predicted:
            self.target[texts] = logits.argmax(dim=1)

    def _integrated(self) -> tuple[Floats, Ints, Floats]:
        """Weights (t,), steps and error (n,) on the way from padding to the text, special tokens staying."""
        everyone = np.arange(len(self.tokens))
        change = self._value(self.logits) - self._value(self._answers(everyone, torch.zeros(1)))
        text = np.repeat(everyone, np.diff(self.layout.bounds))
        return integrated(change, text, self._along, self.question.steps)

    def _answers(self, texts: Ints, along: torch.Tensor | None) -> torch.Tensor:
        """(n, classes) mean logits over windows; ``along`` (1,) a place on the path from padding to the text."""
        found = torch.zeros((len(self.tokens), len(self.classifier.labels)))
        for windows, padded in self._calls(texts):
            with torch.no_grad(), self._on_path(padded, along):
                answer = self.classifier._head(**self.classifier._inputs(padded)).logits.float().cpu()
            found.index_add_(0, torch.from_numpy(windows.text), answer)
        return found / self.counts[:, None]

    def _gradients(self, texts: Ints) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradient (t, e) at each token and its product with the embedding there (t,), summed over windows."""
        size = int(self.classifier.model.get_input_embeddings().weight.shape[1])
        device = self.classifier.device
        gradient = torch.zeros((len(self.ids), size), device=device)
        product = torch.zeros(len(self.ids), device=device)
        for windows, padded in self._calls(texts):
            source, to = (torch.from_numpy(a).to(device) for a in self._destinations(windows, padded))
            slope, inputs = self._slope(windows, padded, None)
            gradient.index_add_(0, to, slope.reshape(-1, size)[source])
            product.index_add_(0, to, (slope * inputs).sum(dim=-1).reshape(-1)[source])
        return gradient, product

    def _along(self, texts: Ints, places: torch.Tensor) -> torch.Tensor:
        """(k, t) at k places on the path: each token's gradient times its way from padding, summed over windows."""
        found = torch.zeros((len(places), len(self.ids)))
        for windows, padded in self._calls(texts):
            source, to = (torch.from_numpy(a) for a in self._destinations(windows, padded))
            away = self._away_from_padding(padded)
            at_once = max(1, self.budget // padded.ids.numel())
            for begin in range(0, len(places), at_once):
                some = places[begin : begin + at_once]
                slope, _ = self._slope(windows, padded, some)
                products = (slope.reshape(len(some), *away.shape) * away).sum(dim=-1).reshape(len(some), -1)
                found[begin : begin + at_once].index_add_(1, to, products.cpu()[:, source])
        return found

    def _slope(
        self, windows: Windows, padded: Padded, places: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradient of the windows' answers and the input embeddings there, (k × B, T, e): all at one place, then the
        next; at the text itself where no places are given.
        """
        copies = 1 if places is None else len(places)
        texts = torch.from_numpy(windows.text).repeat(copies)
        known = None if self.whole else self._slopes_of_windows(places)
        with self.tap.recording(), self._on_path(padded, places):
            inputs = {k: v.repeat(copies, 1) for k, v in self.classifier._inputs(padded).items()}
            answer = self.classifier._head(**inputs).logits.float()
            if self.whole and places is None:
                self._learn(windows.text, answer.detach().cpu())
            if known is None:
                slopes = self._slopes(answer.detach().cpu(), self.target[texts])
            else:
                slopes = known[torch.arange(copies).repeat_interleave(len(windows)), texts]
            slopes = slopes / self.counts[texts][:, None]
            [slope] = torch.autograd.grad((answer * slopes.to(answer.device)).sum(), self.tap.leaves)
        return slope, self.tap.value(0)

    def _slopes_of_windows(self, places: torch.Tensor | None) -> torch.Tensor:
        """(places, n, classes) derivative by the mean logits, which no single window of a text knows."""
        everyone = np.arange(len(self.tokens))
        if self.question.of == "logit" or places is None:
            one = self._slopes(self.logits, self.target)
            return one.expand(1 if places is None else len(places), *one.shape)
        answers = [self._answers(everyone, place[None]) for place in places]
        return torch.stack([self._slopes(a, self.target) for a in answers])

    def _slopes(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """(n, classes) derivative of what is asked by the logits."""
        chosen = torch.nn.functional.one_hot(target, logits.shape[1]).float()
        if self.question.of == "logit":
            return chosen
        probability = logits.softmax(dim=1)
        mine = (probability * chosen).sum(dim=1, keepdim=True)
        return mine * (chosen - probability)

    def _value(self, logits: torch.Tensor) -> torch.Tensor:
        asked = logits if self.question.of == "logit" else logits.softmax(dim=1)
        return asked.gather(1, self.target[:, None])[:, 0]

    def _calls(self, texts: Ints) -> Iterator[tuple[Windows, Padded]]:
        """The windows of some of the texts, in rectangles within the budget."""
        mine = self.windows.take(np.flatnonzero(np.isin(self.windows.text, texts)))
        for which in fill(mine.length + mine.length_b + len(self.template), self.budget):
            part = mine.take(which)
            yield part, pad(self.tokens, part, self.template, self.classifier.tokenizer.pad_id)

    def _destinations(self, windows: Windows, padded: Padded) -> tuple[Ints, Ints]:
        at = self.layout
        numbers = at.piece_at[piece_numbers(self.tokens, windows)]
        return destinations(padded, numbers, windows.text, (at.before_at, at.between_at, at.after_at))

    def _away_from_padding(self, padded: Padded) -> torch.Tensor:
        """(B, T, e) each token's embedding less that of padding; nothing for special tokens, which stay."""
        embed = self.classifier.model.get_input_embeddings()
        ids = padded.ids.to(self.classifier.device)
        with torch.no_grad():
            found: torch.Tensor = embed(ids) - embed.weight[self.classifier.tokenizer.pad_id]
        found[padded.stays.to(found.device)] = 0
        return found

    def _on_path(self, padded: Padded, places: torch.Tensor | None) -> AbstractContextManager[None]:
        """Within it, the model is shown embeddings on the way from padding to the text."""
        if places is None:
            return nullcontext()
        stays = padded.stays

        def move(embedded: torch.Tensor) -> torch.Tensor:
            copies = len(places)
            base = self.classifier.model.get_input_embeddings().weight[self.classifier.tokenizer.pad_id]
            share = places.repeat_interleave(len(padded.ids)).to(embedded.device)[:, None, None]
            share = torch.where(stays.repeat(copies, 1)[:, :, None].to(embedded.device), 1.0, share)
            return torch.lerp(base.expand_as(embedded), embedded, share)

        return self.tap.moving(move)

"""What a classifier's answer rests on: gradients of a class at the input embeddings, made into a weight a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from theodolite.encoder.maps import GRAD_L2, GRAD_X_INPUT, INTEGRATED, Floats, Ints, Maps, Question
from theodolite.encoder.quadrature import integrated
from theodolite.encoder.standing import Standing
from theodolite.encoder.tap import InputTap
from theodolite.encoder.tokens import Tokens

if TYPE_CHECKING:
    from theodolite.encoder.classifier import Classifier


class Attribution:
    """Maps of one group of texts, within the token budget; target: (n,) the class asked about, or the predicted one."""

    def __init__(
        self,
        classifier: Classifier,
        tap: InputTap,
        tokens: Tokens,
        question: Question,
        target: Ints | None,
        budget: int,
    ) -> None:
        self.classifier, self.tap, self.tokens, self.question, self.budget = classifier, tap, tokens, question, budget
        self.texts = Standing(classifier, tap, tokens, budget)
        self.target = None if target is None else torch.from_numpy(target)

    def maps(self) -> Maps:
        """The maps of all the texts by every method asked for."""
        n, methods = len(self.tokens), self.question.methods
        steps, error = np.zeros(n, np.int64), np.zeros(n, np.float32)
        weights = {}
        # Else the pass that gives the gradients gives the answers too.
        logits = self.texts.answers() if methods == (INTEGRATED,) or self._answers_first() else None
        if GRAD_L2 in methods or GRAD_X_INPUT in methods:
            logits, found = self._gradients(logits)
            weights = {name: value.cpu().numpy() for name, value in found.items() if name in methods}
        assert logits is not None
        target = logits.argmax(dim=1) if self.target is None else self.target
        if INTEGRATED in methods:
            weights[INTEGRATED], steps, error = self._integrated(target)
        ordered = {name: weights[name] for name in methods}
        return Maps(self.texts.layout, logits.numpy(), target.numpy(), ordered, steps, error)

    def _answers_first(self) -> bool:
        """Whether a window cannot know what is asked of it before all of its text's have answered."""
        return not self.texts.whole and (self.target is None or self.question.of == "probability")

    def _gradients(self, logits: torch.Tensor | None) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean logits (n, classes), and weights (t,) by both methods that take the gradient at the text itself."""
        tokens, device = len(self.texts.layout.ids), self.classifier.device
        size = int(self.classifier.model.get_input_embeddings().weight.shape[1])
        gradient, product = torch.zeros((tokens, size), device=device), torch.zeros(tokens, device=device)
        sums = torch.zeros((len(self.tokens), len(self.classifier.labels)))
        for slope in self.texts.slopes(self.question.of, self.target, logits):
            sums.index_add_(0, slope.text, slope.answers)
            gradient.index_add_(0, slope.token, slope.gradient)
            product.index_add_(0, slope.token, slope.product)
        found = {GRAD_L2: gradient.norm(dim=1), GRAD_X_INPUT: product}
        return sums / self.texts.counts[:, None] if logits is None else logits, found

    def _integrated(self, target: torch.Tensor) -> tuple[Floats, Ints, Floats]:
        """Weights (t,), steps and error (n,) on the way from padding to the text, special tokens staying."""
        of = self.question.of

        def along(which: Ints, places: Floats) -> tuple[Floats, list[Floats]]:
            there = Standing(
                self.classifier, self.tap, self.tokens.take(which), self.budget, torch.from_numpy(places)
            )  # fmt: skip
            wanted = target[torch.from_numpy(which)]
            logits = torch.zeros((len(which), len(self.classifier.labels)))
            products = torch.zeros(len(there.layout.ids))
            known = there.answers() if of == "probability" and not there.whole else None
            for slope in there.slopes(of, wanted, known):
                logits.index_add_(0, slope.text, slope.answers / there.counts[slope.text][:, None])
                products.index_add_(0, slope.token.cpu(), slope.product.cpu())
            asked = logits if of == "logit" else logits.softmax(dim=1)
            values = asked.gather(1, wanted[:, None])[:, 0]
            return values.numpy(), np.split(products.numpy(), there.layout.bounds[1:-1])

        return integrated(len(self.tokens), along, self.question.steps)

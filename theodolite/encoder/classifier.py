"""An encoder with a classification head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from theodolite.batching import fill
from theodolite.corpus.labels import is_number_of, no_class
from theodolite.encoder.attribution import Attribution
from theodolite.encoder.batch import Batch, Ints
from theodolite.encoder.encoder import DEFAULT_BUDGET, Encoder
from theodolite.encoder.forward import pad
from theodolite.encoder.maps import Question
from theodolite.encoder.resolve import ModelFolder
from theodolite.encoder.tap import InputTap
from theodolite.encoder.tokens import Tokenizer, Tokens
from theodolite.errors import InputError


class Classifier(Encoder):
    """A sequence-classification folder: everything an encoder gives, and logits.

    labels: the names of its classes, by number.
    """

    def __init__(self, folder: ModelFolder, model: Any, tokenizer: Tokenizer, max_length: int | None = None) -> None:
        super().__init__(folder, model.base_model, tokenizer, max_length)
        self._head = model
        if model.config.problem_type == "multi_label_classification":
            raise InputError(
                f"{self.name}: its classes do not exclude one another (multi-label), which no instrument here can "
                "measure; give a classifier that answers with one class"
            )
        names: dict[int, str] = model.config.id2label
        self.labels = [str(names[i]) for i in range(len(names))]

    @property
    def regression(self) -> bool:
        """Whether it answers with a number instead of a class."""
        return len(self.labels) == 1

    def logits(
        self, texts: Sequence[str], texts_b: Sequence[str] | None = None, *, budget: int = DEFAULT_BUDGET
    ) -> NDArray[np.float32]:
        """(n, classes): the head's answer for texts or pairs, the mean over a long text's windows.

        A text with no pieces gives NaN.
        """
        return self.answers(self.tokenise(texts, texts_b), budget=budget)

    def answers(self, tokens: Tokens, *, budget: int = DEFAULT_BUDGET) -> NDArray[np.float32]:
        """As ``logits``, of texts already in pieces."""
        found = np.full((len(tokens), len(self.labels)), np.nan, np.float32)
        rows = np.flatnonzero(tokens.lengths)

        def answer(group: tuple[Ints, Tokens]) -> tuple[Ints, NDArray[np.float64]]:
            which, part = group
            windows = self._windows(part)
            sums = np.zeros((len(part), len(self.labels)))
            # A very long text has more windows than fit at once.
            for few in fill(windows.length + windows.length_b, max(budget, self.limit)):
                padded = pad(part, windows.take(few), self._template(part), self.tokenizer.pad_id)
                with torch.inference_mode():
                    answers = self._head(**self._inputs(padded)).logits.float().cpu().numpy()
                np.add.at(sums, windows.text[few], answers)
            counts = np.bincount(windows.text, minlength=len(part))
            return which, sums / counts[:, None]

        for which, means in self._side_by_side(answer, self._groups(tokens.take(rows), budget)):
            found[rows[which]] = means
        return found

    def map_batches(
        self,
        tokens: Tokens,
        question: Question,
        *,
        targets: Ints | None = None,
        budget: int = DEFAULT_BUDGET,
        corpus: str = "",
        rows: Ints | None = None,
    ) -> Iterator[Batch]:
        """Batches with the salience maps of texts, none of them empty of tokens, at most ``budget`` tokens each.

        targets: (n,) the class to be asked about, by text; the question's own, or the predicted one, when not given.
        """
        self.check(question)
        if question.target.isdecimal():
            targets = np.full(len(tokens), int(question.target))
        tap = InputTap()

        def explain(group: tuple[Ints, Tokens]) -> Batch:
            which, part = group
            maps = Attribution(self, tap, part, question, None if targets is None else targets[which], budget).maps()
            return replace(self._batch(part, which if rows is None else rows[which], corpus, None), maps=maps)

        with self._plain(), tap.on(self.model.get_input_embeddings(), self._positions()):
            yield from self._side_by_side(explain, self._groups(tokens, budget))

    def check(self, question: Question) -> None:
        """Refuse a question that this head has no answer to."""
        if self.regression and question.target == "label":
            raise InputError(f"--target label: {self.name} is a regression, which has no classes; leave --target out")
        if self.regression and question.of == "probability":
            raise InputError(
                f"--of probability: {self.name} is a regression, whose answer is no probability; use logit"
            )
        # A number only: classes may be named by other numbers than theirs.
        if question.target.isdecimal() and int(question.target) >= len(self.labels):
            raise no_class(int(question.target), self.labels, self.name, "--target")

    def class_of(self, label: Any, where: str) -> int:
        """The number of a class given by name, or else by number."""
        if str(label) in self.labels:
            return self.labels.index(str(label))
        if is_number_of(label, self.labels):
            return int(label)
        raise no_class(label, self.labels, self.name, where)

"""An encoder with a classification head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from theodolite.encoder.batch import Ints
from theodolite.encoder.encoder import DEFAULT_BUDGET, Encoder
from theodolite.encoder.forward import pad
from theodolite.encoder.resolve import ModelFolder
from theodolite.encoder.tokens import Tokenizer, Tokens
from theodolite.errors import InputError


class Classifier(Encoder):
    """A sequence-classification folder: everything an encoder gives, and logits.

    labels: the names of its classes, by number.
    """

    def __init__(self, folder: ModelFolder, model: Any, tokenizer: Tokenizer, max_length: int | None = None) -> None:
        super().__init__(folder, model.base_model, tokenizer, max_length)
        self._head = model
        names: dict[int, str] = model.config.id2label
        self.labels = [str(names[i]) for i in range(len(names))]

    def logits(
        self, texts: Sequence[str], texts_b: Sequence[str] | None = None, *, budget: int = DEFAULT_BUDGET
    ) -> NDArray[np.float32]:
        """(n, classes): the head's answer for texts or pairs, the mean over a long text's windows.

        A text with no pieces gives NaN.
        """
        tokens = self.tokenise(texts, texts_b)
        found = np.full((len(texts), len(self.labels)), np.nan, np.float32)
        rows = np.flatnonzero(tokens.lengths)

        def answer(group: tuple[Ints, Tokens]) -> tuple[Ints, NDArray[np.float64]]:
            which, part = group
            windows = self._windows(part)
            padded = pad(part, windows, self._template(part), self.tokenizer.pad_id)
            with torch.inference_mode():
                answers = self._head(**self._inputs(padded)).logits.float().cpu().numpy()
            counts = np.bincount(windows.text, minlength=len(part))
            sums = np.zeros((len(part), answers.shape[1]))
            np.add.at(sums, windows.text, answers)
            return which, sums / counts[:, None]

        for which, means in self._side_by_side(answer, self._groups(tokens.take(rows), budget)):
            found[rows[which]] = means
        return found

    def class_of(self, label: Any, where: str) -> int:
        """The number of a class given by name or by number."""
        if isinstance(label, str) and label in self.labels:
            return self.labels.index(label)
        if isinstance(label, int) and not isinstance(label, bool) and 0 <= label < len(self.labels):
            return label
        raise InputError(f"{where}: the label {label!r} is none of {self.name}'s: {', '.join(self.labels)}")

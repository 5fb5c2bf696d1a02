"""How good the answers on held-out texts are, with a baseline and an interval beside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import wilson
from theodolite.accumulate.moments import Z_95
from theodolite.train.labels import Floats, Task


@dataclass(frozen=True)
class Scores:
    """Of the weights kept, on the validation texts.

    Classes: accuracy with its 95% interval (Wilson) and macro F1; baseline: the accuracy of always saying the class
    that is largest in training. Regression: Pearson r with its 95% interval (Fisher) and mean squared error;
    baseline: the error of always saying the training mean. What does not apply, or is undefined, is None. shared:
    validation texts that are in the training corpus too, which only a validation corpus of its own can have.
    """

    loss: float
    baseline: float
    accuracy: float | None = None
    macro_f1: float | None = None
    pearson: float | None = None
    mse: float | None = None
    low: float | None = None
    high: float | None = None
    best_step: int = 0
    steps: int = 0
    seconds: float = 0.0
    training_texts: int = 0
    validation_texts: int = 0
    shared: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    history: list[dict[str, float]] = field(default_factory=list)

    def sentence(self) -> str:
        """The main score with its interval and baseline."""
        on = f"on {self.validation_texts:,} texts"
        on += f", {self.shared:,} of them in the training corpus too" if self.shared else " that it was not trained on"
        within = "" if self.low is None else f" ({self.low:.3f} to {self.high:.3f})"
        if self.accuracy is not None:
            return f"Accuracy {self.accuracy:.3f}{within} {on}; always the commonest class: {self.baseline:.3f}."
        r = "undefined" if self.pearson is None else f"{self.pearson:.3f}{within}"
        return f"Pearson r {r}, squared error {self.mse:.3g} {on}; always the mean: {self.baseline:.3g}."


def class_scores(logits: NDArray[Any], targets: Floats) -> dict[str, float]:
    """Accuracy of logits (n, classes), and macro F1 over the classes that are given or answered."""
    from sklearn.metrics import f1_score

    truth, said = targets.astype(np.int64), logits.argmax(axis=1)
    macro = f1_score(truth, said, average="macro", zero_division=0)
    return {"accuracy": float((said == truth).mean()), "macro_f1": float(macro)}


def value_scores(answers: Floats, targets: Floats) -> dict[str, float]:
    """Mean squared error and Pearson r of answers (n,); no r of two, which is 1, nor where either does not vary."""
    found = {"mse": float(((answers - targets) ** 2).mean())}
    if len(answers) > 2 and np.ptp(answers) > 0 and np.ptp(targets) > 0:
        found["pearson"] = float(np.corrcoef(answers, targets)[0, 1])
    return found


def interval(scores: dict[str, Any], texts: int) -> tuple[float | None, float | None]:
    """The 95% interval of accuracy, or of r (Fisher's transformation, from four texts on)."""
    if "accuracy" in scores:
        return wilson(round(scores["accuracy"] * texts), texts)
    r = scores.get("pearson")
    if r is None or texts < 4 or abs(r) >= 1:
        return None, None
    half = Z_95 / np.sqrt(texts - 3)
    return float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))


def baseline(task: Task, training: Floats, validation: Floats) -> float:
    """What needs no model: see ``Scores``."""
    if task.regression:
        return float(((validation - training.mean()) ** 2).mean())
    largest = np.bincount(training.astype(np.int64)).argmax()
    return float((validation == largest).mean())

"""Training on labelled texts: batches are windows of them, and the evaluation is the classifier's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from theodolite.encoder.classifier import Classifier
from theodolite.encoder.tokens import Tokens
from theodolite.instrument import Progress
from theodolite.train.batches import (
    PROCESSOR_STEP_TOKENS,
    STEP_TOKENS,
    Batch,
    Collator,
    as_targets,
    loss_of,
    mean_over_windows,
    parts_within,
    training_lengths,
)
from theodolite.train.labels import Floats, Task
from theodolite.train.loop import Pace, Paced, Watch, run
from theodolite.train.scores import class_scores, value_scores


@dataclass(frozen=True)
class Part:
    """Tokenised texts with their targets (n,)."""

    tokens: Tokens
    targets: Floats


@dataclass(frozen=True)
class Material:
    """All that a training needs: the classifier, the texts, the weights of the classes, the scale of the targets.

    A regression is trained on (target − mean) / deviation; classes have mean 0 and deviation 1. whole: a batch goes
    through the model at once, however long, since something in it must see all the batch's vectors together.
    """

    classifier: Classifier
    task: Task
    training: Part
    validation: Part
    weights: Floats | None
    mean: float
    deviation: float
    whole: bool = False

    def scaled(self, targets: Floats) -> torch.Tensor:
        """Targets as the loss wants them."""
        return as_targets((targets - self.mean) / self.deviation, self.task.regression)


def train(
    material: Material,
    pace: Pace,
    folder: Path,
    device: torch.device,
    progress: Progress,
    watch: Watch | None = None,
) -> Any:
    """Train a classifier: see ``run``."""
    trainer = _Windowed(material, pace, folder, device, progress)
    trainer.watch = watch
    return run(trainer, progress)


class _Windowed(Paced):
    """Batches are windows of texts, and the evaluation is the classifier's own."""

    def __init__(self, material: Material, pace: Pace, folder: Path, device: torch.device, progress: Progress) -> None:
        self.material = material
        classifier, tokens = material.classifier, material.training.tokens
        collator = Collator(classifier, tokens, material.scaled(material.training.targets))
        lengths = training_lengths(tokens, classifier.limit)
        super().__init__(classifier._head, collator, lengths, pace, folder, device, progress)
        weights = material.weights
        self.class_weights = None if weights is None else torch.from_numpy(weights).float().to(self.args.device)

    def training_step(self, model: Any, inputs: Batch, num_items_in_batch: Any = None) -> torch.Tensor:
        """A step over a batch of long texts takes them a few at a time: memory is that of a few."""
        found = torch.zeros((), device=self.args.device)
        tokens = PROCESSOR_STEP_TOKENS if self.args.device.type == "cpu" else STEP_TOKENS
        tokens = inputs["input_ids"].numel() if self.material.whole else tokens
        for part, share in parts_within(inputs, tokens, self.class_weights):
            self.share = share
            found += super().training_step(model, part)
        return found

    def compute_loss(
        self, model: Any, inputs: Batch, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> torch.Tensor:
        """The loss of a part of a batch, as much of it as the part counts."""
        text, labels = inputs.pop("text"), inputs.pop("labels")
        return self.share * self._loss(mean_over_windows(model(**inputs).logits, text, len(labels)), labels)

    def _loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return loss_of(logits, labels, self.class_weights, self.material.task.regression)

    def judged(self) -> dict[str, float]:
        """Scores on the validation texts with all their windows."""
        held, task = self.material.validation, self.material.task
        self.model.eval()
        logits = self.material.classifier.answers(held.tokens)
        labels = self.material.scaled(held.targets).to(self.args.device)
        loss = self._loss(torch.from_numpy(logits).to(self.args.device), labels).item()
        if task.regression:
            found = value_scores(
                logits[:, 0].astype(np.float64) * self.material.deviation + self.material.mean, held.targets
            )
        else:
            found = class_scores(logits, held.targets)
        return {"loss": loss, **found}

"""The training loop: transformers' Trainer, with windows, evaluations at fixed steps, and resuming."""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainerState, TrainingArguments

from theodolite.encoder.classifier import Classifier
from theodolite.encoder.tokens import Tokens
from theodolite.instrument import Progress
from theodolite.train.batches import (
    STEP_TOKENS,
    Batch,
    Collator,
    SimilarLengths,
    as_targets,
    loss_of,
    mean_over_windows,
    parts_within,
    training_lengths,
)
from theodolite.train.labels import Floats, Ints, Task
from theodolite.train.scores import class_scores, value_scores

NEVER = 10**9
STATE_FILE = "trainer_state.json"


@dataclass(frozen=True)
class Part:
    """Tokenised texts with their targets (n,)."""

    tokens: Tokens
    targets: Floats


@dataclass(frozen=True)
class Material:
    """All that a training needs: the classifier, the texts, the weights of the classes, the scale of the targets.

    A regression is trained on (target − mean) / deviation; classes have mean 0 and deviation 1.
    """

    classifier: Classifier
    task: Task
    training: Part
    validation: Part
    weights: Floats | None
    mean: float
    deviation: float

    def scaled(self, targets: Floats) -> torch.Tensor:
        """Targets as the loss wants them."""
        return as_targets((targets - self.mean) / self.deviation, self.task.regression)


@dataclass(frozen=True)
class Pace:
    """How long and how fast to train, and when to look."""

    epochs: int
    learning_rate: float
    batch_size: int
    patience: int
    evaluations: int
    seed: int
    steps_an_epoch: int

    @property
    def looks(self) -> frozenset[int]:
        """The steps of an epoch, from 1, after which there is an evaluation and a checkpoint; the last among them."""
        n = min(self.evaluations, self.steps_an_epoch)
        return frozenset(math.ceil(self.steps_an_epoch * i / n) for i in range(1, n + 1))

    def looks_after(self, step: int) -> bool:
        """Whether there is an evaluation after this step, counted from 1 over all epochs."""
        return (step - 1) % self.steps_an_epoch + 1 in self.looks

    def over(self, state: Any) -> bool:
        """Whether all steps were made, or the loss has not fallen for as many evaluations as patience allows."""
        losses = [entry["eval_loss"] for entry in state.log_history if "eval_loss" in entry]
        waited = len(losses) - 1 - int(np.argmin(losses)) if losses else 0
        return state.global_step >= self.epochs * self.steps_an_epoch or waited >= self.patience


def train(material: Material, pace: Pace, folder: Path, device: torch.device, progress: Progress) -> Any:
    """Train, from the last whole checkpoint in the folder if there is one; the best weights end in the classifier.

    Returns the Trainer's state, whose ``log_history`` has the evaluations.
    """
    return run(_Windowed(material, pace, folder, device, progress), progress)


def run(trainer: Paced, progress: Progress) -> Any:
    """As ``train``, with any trainer; the best weights end in its model."""
    checkpoint = last_whole_checkpoint(Path(trainer.args.output_dir))
    if checkpoint is not None:
        state = TrainerState.load_from_json(str(checkpoint / STATE_FILE))
        if trainer.pace.over(state):
            trainer.state = state
            trainer._load_best_model()
            return state
        trainer.seconds_before = state.log_history[-1]["eval_seconds"]
    with progress.step("training", trainer.pace.epochs * len(trainer.lengths)):
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    return trainer.state


def evaluations_of(state: Any) -> tuple[list[dict[str, float]], dict[str, float]]:
    """What the evaluations of a training found, one row each, and the row of the weights kept."""
    history: dict[int, dict[str, float]] = {}
    for entry in state.log_history:
        row = history.setdefault(entry["step"], {"step": entry["step"], "epoch": entry["epoch"]})
        if "loss" in entry:
            row["training_loss"] = entry["loss"]
        row |= {name.removeprefix("eval_"): value for name, value in entry.items() if name.startswith("eval_")}
    evaluations = [row for row in history.values() if "seconds" in row]
    return evaluations, next(row for row in evaluations if row["step"] == state.best_global_step)


def last_whole_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; what is newer and broken is removed."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]), reverse=True)
    for path in found:
        try:
            # The Trainer writes this file last.
            json.loads((path / STATE_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            shutil.rmtree(path)
            continue
        return path
    return None


class Paced(Trainer):  # type: ignore[misc]
    """A Trainer that takes texts of similar length together, and looks, saves and stops as its pace says.

    collator: makes a batch from the numbers of some texts; lengths: (n,) how long each of them is.
    """

    def __init__(
        self,
        model: Any,
        collator: Callable[[Sequence[int]], Batch],
        lengths: Ints,
        pace: Pace,
        folder: Path,
        device: torch.device,
        progress: Progress,
    ) -> None:
        self.lengths, self.pace, self.began, self.seconds_before = lengths, pace, time.monotonic(), 0.0
        texts = range(len(lengths))
        super().__init__(
            model=model,
            args=_arguments(pace, folder, device),
            data_collator=collator,
            train_dataset=texts,
            # Never looked into: ``judged`` has the held-out texts.
            eval_dataset=texts,
            callbacks=[_Follow(pace, len(texts), progress)],
        )
        self.remove_callback(PrinterCallback)

    def epoch(self) -> int:
        """The epoch that is under way, from 0."""
        return int(self.state.global_step) // self.pace.steps_an_epoch

    def judged(self) -> dict[str, float]:
        """Scores of the weights as they are on held-out texts, ``loss`` among them."""
        raise NotImplementedError

    def _get_train_sampler(self, train_dataset: Any = None) -> SimilarLengths:
        return SimilarLengths(self.lengths, self.pace.batch_size, self.pace.seed, self.epoch)

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """The scores, logged with the seconds since the training began."""
        found = self.judged()
        seconds = self.seconds_before + time.monotonic() - self.began
        metrics = {f"eval_{name}": value for name, value in {**found, "seconds": seconds}.items()}
        self.log(metrics)
        self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


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
        for part, share in parts_within(inputs, STEP_TOKENS, self.class_weights):
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
            found = class_scores(logits, held.targets, task.names)
        return {"loss": loss, **found}


class _Follow(TrainerCallback):  # type: ignore[misc]
    """Says when to evaluate and when to stop, and tells the progress."""

    def __init__(self, pace: Pace, texts: int, progress: Progress) -> None:
        self.pace, self.texts, self.progress = pace, texts, progress

    def on_train_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self.progress.advance(self._seen(state.global_step))

    def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self.progress.advance(self._seen(state.global_step) - self._seen(state.global_step - 1))
        look = self.pace.looks_after(state.global_step)
        control.should_log = control.should_evaluate = control.should_save = look

    def on_evaluate(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        if self.pace.over(state):
            control.should_training_stop = True

    def _seen(self, steps: int) -> int:
        epochs, more = divmod(steps, self.pace.steps_an_epoch)
        return epochs * self.texts + min(more * self.pace.batch_size, self.texts)


def _arguments(pace: Pace, folder: Path, device: torch.device) -> Any:
    found = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=pace.epochs,
        learning_rate=pace.learning_rate,
        per_device_train_batch_size=pace.batch_size,
        weight_decay=0.01,
        warmup_steps=0.1,
        seed=pace.seed,
        # The callback says when; the Trainer only has to know that there are such steps.
        eval_strategy="steps",
        eval_steps=NEVER,
        save_strategy="steps",
        save_steps=NEVER,
        logging_strategy="steps",
        logging_steps=NEVER,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="loss",
        greater_is_better=False,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        disable_tqdm=True,
        log_level="error",
        report_to="none",
        use_cpu=device.type == "cpu",
    )
    # One device: a batch of windows cannot be cut for several as the Trainer would.
    found._n_gpu = min(1, found.n_gpu)
    return found

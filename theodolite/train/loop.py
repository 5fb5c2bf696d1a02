"""The training loop: transformers' Trainer, with evaluations at fixed steps, a watch over the epochs, and resuming."""

from __future__ import annotations

import math
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainerState, TrainingArguments

from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.reading import plain
from theodolite.train.batches import Batch, SimilarLengths
from theodolite.train.folder import STATE_FILE, last_whole_checkpoint
from theodolite.train.labels import Ints

NEVER = 10**9

# Looks at the model as it is when an epoch of this number has ended (0: before the first); gives rows for the record.
Watch = Callable[[int], list[dict[str, Any]]]


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
        found = [entry["eval_loss"] for entry in state.log_history if "eval_loss" in entry]
        # To NumPy NaN would be the smallest.
        losses = np.where(np.isfinite(found), found, np.inf)
        waited = len(losses) - 1 - int(np.argmin(losses)) if len(losses) else 0
        return state.global_step >= self.epochs * self.steps_an_epoch or waited >= self.patience


def run(trainer: Paced, progress: Progress) -> Any:
    """Train, from the last whole checkpoint in the folder if there is one; the best weights end in the model.

    Returns the Trainer's state, whose ``log_history`` has the evaluations and what the watch saw.
    """
    checkpoint = last_whole_checkpoint(Path(trainer.args.output_dir))
    if checkpoint is not None:
        state = TrainerState.load_from_json(str(checkpoint / STATE_FILE))
        if trainer.pace.over(state):
            trainer.state = state
            _check_learnt(trainer)
            # The state has a whole path, which is another's if the folder was moved.
            best = checkpoint.with_name(f"checkpoint-{state.best_global_step}")
            if not best.exists():
                raise InputError(f"{best}: is not there, and has the best weights; remove the folder and train anew")
            state.best_model_checkpoint = str(best)
            trainer._load_best_model()
            return state
        trainer.seconds_before = state.log_history[-1]["eval_seconds"]
    with progress.step("training", trainer.pace.epochs * len(trainer.lengths)):
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    _check_learnt(trainer)
    return trainer.state


def _check_learnt(trainer: Paced) -> None:
    """Refuse a training none of whose weights can be kept, and make way for another one in its folder."""
    if trainer.state.best_global_step is None:
        shutil.rmtree(trainer.args.output_dir)
        raise InputError(
            f"the loss is not a number at any evaluation, so that no weights can be kept; lower --learning-rate "
            f"(it was {trainer.pace.learning_rate:g})"
        )


def watched_of(state: Any) -> list[dict[str, Any]]:
    """The rows that the watch of a training gave."""
    return [row for entry in state.log_history for row in entry.get("watched", [])]


def evaluations_of(state: Any) -> tuple[list[dict[str, float]], dict[str, float]]:
    """What the evaluations of a training found, one row each, and the row of the weights kept.

    A loss that is no number any more is None.
    """
    history: dict[int, dict[str, float]] = {}
    for entry in state.log_history:
        row = history.setdefault(entry["step"], {"step": entry["step"], "epoch": entry["epoch"]})
        if "loss" in entry:
            row["training_loss"] = entry["loss"]
        row |= {name.removeprefix("eval_"): value for name, value in entry.items() if name.startswith("eval_")}
    evaluations = [plain(row) for row in history.values() if "seconds" in row]
    return evaluations, next(row for row in evaluations if row["step"] == state.best_global_step)


class Paced(Trainer, ABC):  # type: ignore[misc]
    """A Trainer that takes texts of similar length together, and looks, saves and stops as its pace says.

    collator: makes a batch from the numbers of some texts; lengths: (n,) how long each of them is.
    """

    watch: Watch | None = None

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
            callbacks=[_Follow(pace, len(texts), progress, self.look)],
        )
        self.remove_callback(PrinterCallback)

    def epoch(self) -> int:
        """The epoch that is under way, from 0."""
        return int(self.state.global_step) // self.pace.steps_an_epoch

    @abstractmethod
    def judged(self) -> dict[str, float]:
        """Scores of the weights as they are on held-out texts, ``loss`` among them."""

    def look(self, state: Any) -> None:
        """Where an epoch ends, have the watch look, and keep with the state what it saw; training does not notice."""
        epoch, more = divmod(state.global_step, self.pace.steps_an_epoch)
        if self.watch is None or more:
            return
        device, training = self.args.device, self.model.training
        self.model.eval()
        with torch.random.fork_rng([] if device.type == "cpu" else [device], device_type=device.type):
            rows = self.watch(epoch)
        self.model.train(training)
        state.log_history.append({"watched": rows, "epoch": epoch, "step": state.global_step})

    def _get_train_sampler(self, train_dataset: Any = None) -> SimilarLengths:
        return SimilarLengths(self.lengths, self.pace.batch_size, self.pace.seed, self.epoch)

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """The scores, logged with the seconds since the training began."""
        # Before the checkpoint is written, so that it holds what was seen.
        self.look(self.state)
        found = self.judged()
        seconds = self.seconds_before + time.monotonic() - self.began
        metrics = {f"eval_{name}": value for name, value in {**found, "seconds": seconds}.items()}
        self.log(metrics)
        self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


class _Follow(TrainerCallback):  # type: ignore[misc]
    """Says when to evaluate and when to stop, tells the progress, and looks before the first step."""

    def __init__(self, pace: Pace, texts: int, progress: Progress, look: Callable[[Any], None]) -> None:
        self.pace, self.texts, self.progress, self.look = pace, texts, progress, look

    def on_train_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self.progress.advance(self._seen(state.global_step))
        if state.global_step == 0:
            self.look(state)

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

"""Fine-tuning a classifier, or a regression, from an encoder."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from theodolite.corpus import Corpus
from theodolite.encoder.resolve import ModelFolder, resolve
from theodolite.errors import InputError
from theodolite.instrument import Progress, Silent
from theodolite.options import check_options, option, seed_option
from theodolite.train.examples import Examples, Split, check_split, class_counts, split_corpus
from theodolite.train.folder import begin, finish, finished_record, key_of, origin, ready_to_train
from theodolite.train.labels import class_weights, frozen_layers
from theodolite.train.scores import Scores, baseline, interval

if TYPE_CHECKING:
    from theodolite.encoder.classifier import Classifier
    from theodolite.train.loop import Pace
    from theodolite.train.windowed import Material, Part

    EpochWatch = Callable[[Classifier, int], list[dict[str, Any]]]


@dataclass(frozen=True)
class Training:
    """How a classifier is trained."""

    epochs: int = option(3, "How often every text is seen, at most.", minimum=1)
    learning_rate: float = option(5e-5, "The highest learning rate; it rises for a tenth of the steps, then falls.")
    batch_size: int = option(32, "Texts a step.", minimum=1)
    validation: float = option(0.1, "Share of the texts held out, where no validation corpus is given.")
    patience: int = option(2, "Stop after so many evaluations without a lower loss.", minimum=1)
    evaluations: int = option(2, "Evaluations, each with a checkpoint, an epoch.", minimum=1)
    freeze: str = option(
        "none", "What stays as it is: none, all, or layers such as embeddings,1-3 (0: embeddings).", metavar="PARTS"
    )
    attention_dropout: float | None = option(
        None, "Dropout of attention weights, not the model's own; 0: long texts on a processor in nearly half the time."
    )
    add_word: tuple[str, ...] = option(
        (), "A word that becomes one vocabulary item of its own first; repeatable.", metavar="WORD"
    )
    weights: str = option("auto", "Weights of the classes.", choices=("auto", "none", "balanced"))
    task: str = option("auto", "Classes, or a number to predict.", choices=("auto", "classes", "regression"))
    seed: int = seed_option()

    def __post_init__(self) -> None:
        check_options(self)
        if not 0 < self.learning_rate < 1:
            raise InputError(f"--learning-rate {self.learning_rate:g}: give a number between 0 and 1, such as 5e-5")
        if not 0 < self.validation < 1:
            raise InputError(f"--validation {self.validation:g}: give a share between 0 and 1")
        if self.attention_dropout is not None and not 0 <= self.attention_dropout < 1:
            raise InputError(f"--attention-dropout {self.attention_dropout:g}: give a share from 0 to below 1")
        if self.freeze not in ("none", "all"):
            frozen_layers(self.freeze)


def train_classifier(
    model: str | os.PathLike[str],
    corpus: Corpus,
    out: Path,
    training: Training,
    *,
    validation: Corpus | None = None,
    device: str | None = None,
    max_length: int | None = None,
    rounded: bool = False,
    watch: EpochWatch | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Train on a corpus with a column `label` (and maybe `text_b`); `out` becomes an ordinary model folder.

    Interrupted, the same call goes on from the last checkpoint and ends with the same weights; finished, it returns
    the scores at once. Another training in the same folder is refused.

    rounded: with the CLS vectors of each batch made rounder before the head (see ``theodolite.train.rounded``, whose
    ``load_rounded`` loads such a folder). watch: is shown the classifier and the number of epochs done, before the
    first and after each; the rows it gives go into the record, as `watched`.
    """
    folder, out = resolve(model), Path(out).absolute()
    key = classifier_key(folder, corpus, validation, training, max_length, rounded)
    record = finished_record(out, key)
    if record is not None:
        # Older records have the number of shared texts beside the scores alone.
        return Scores(**{"shared": record.get("shared_texts", 0), **record["scores"]})
    split = split_corpus(corpus, validation, training.task, training.validation, training.seed)
    with ready_to_train(out):
        return _train(
            folder,
            corpus,
            validation,
            split,
            out,
            key,
            training,
            device,
            max_length,
            rounded,
            watch,
            progress or Silent(),
        )


def _train(
    folder: ModelFolder,
    corpus: Corpus,
    validation: Corpus | None,
    split: Split,
    out: Path,
    key: str,
    training: Training,
    device: str | None,
    max_length: int | None,
    rounded: bool,
    watch: EpochWatch | None,
    progress: Progress,
) -> Scores:
    from theodolite.encoder.loading import device_of
    from theodolite.train.card import card
    from theodolite.train.loop import watched_of
    from theodolite.train.model import answer_in_units, freeze, new_classifier
    from theodolite.train.rounded import FILE, NOTE, put_in, take_out
    from theodolite.train.windowed import train

    place = device_of(device)
    classifier, fast = new_classifier(
        folder, split.task, max_length, training.seed, training.attention_dropout, training.add_word
    )
    freeze(classifier, training.freeze)
    if rounded:
        put_in(classifier, training.batch_size)
    split, material = _material(classifier, split, training, corpus, validation)
    material = dataclasses.replace(material, whole=rounded)
    watching = None if watch is None else partial(watch, classifier)
    state = train(material, _pace(training, len(split.training)), begin(out, key), place, progress, watching)
    beside = {FILE: take_out(classifier)} if rounded else {}
    if split.task.regression:
        answer_in_units(classifier._head, material.mean, material.deviation)
    fast.model_max_length = classifier.limit
    scores = _scores(state, split)
    record = {
        **origin(key, folder, corpus, validation),
        "shared_texts": split.shared,
        "options": dataclasses.asdict(training),
        "max_length": classifier.limit,
        "windowed": _windowed(classifier, material),
        "classes": _classes(split, material),
        "scores": dataclasses.asdict(scores),
    }
    if watch is not None:
        record["watched"] = watched_of(state)
    finish(out, classifier._head, fast, card(record) + (NOTE if rounded else ""), record, beside)
    return scores


def classifier_key(
    folder: ModelFolder,
    corpus: Corpus,
    validation: Corpus | None,
    training: Training,
    max_length: int | None,
    rounded: bool = False,
) -> str:
    """What makes the trained weights what they are."""
    parts: dict[str, Any] = {
        "model": [folder.hash, folder.tokenizer_hash],
        "corpora": [corpus.hash, None if validation is None else validation.hash],
        "options": key_options(training),
        "max_length": max_length,
        **({"rounded": True} if rounded else {}),
    }
    return key_of(parts)


def key_options(training: Training) -> dict[str, Any]:
    """The options as they enter a key: later ones only where they are used, so that older folders are known again."""
    unused = {"attention_dropout": None, "add_word": ()}
    options = dataclasses.asdict(training)
    return {name: value for name, value in options.items() if name not in unused or value != unused[name]}


def _material(
    classifier: Classifier, split: Split, training: Training, corpus: Corpus, validation: Corpus | None
) -> tuple[Split, Material]:
    """The texts in tokens; those in which the tokenizer finds none are left out."""
    from theodolite.train.windowed import Material

    mine, mine_tokens, nothing = _tokenised(classifier, split.training)
    held, held_tokens, nothing_held = _tokenised(classifier, split.validation)
    left_out = {**split.left_out, "no tokens": nothing + nothing_held}
    split = dataclasses.replace(split, training=mine, validation=held, left_out=left_out)
    check_split(split, corpus.name, corpus.name if validation is None else validation.name)
    weights, mean, deviation = None, 0.0, 1.0
    if split.task.regression:
        mean, deviation = float(mine.targets.mean()), float(mine.targets.std()) or 1.0
    else:
        weights = class_weights(training.weights, class_counts(split.task.names, mine.targets))
    return split, Material(classifier, split.task, mine_tokens, held_tokens, weights, mean, deviation)


def _tokenised(classifier: Classifier, examples: Examples) -> tuple[Examples, Part, int]:
    from theodolite.train.windowed import Part

    tokens = classifier.tokenise(examples.texts, examples.texts_b)
    kept = np.flatnonzero(tokens.lengths)
    found = examples.take(kept)
    return found, Part(tokens.take(kept), found.targets), len(examples) - len(found)


def _pace(training: Training, texts: int) -> Pace:
    from theodolite.train.loop import Pace

    return Pace(
        training.epochs,
        training.learning_rate,
        training.batch_size,
        training.patience,
        training.evaluations,
        training.seed,
        steps_an_epoch=-(-texts // training.batch_size),
    )


def _scores(state: Any, split: Split) -> Scores:
    from theodolite.train.loop import evaluations_of

    evaluations, best = evaluations_of(state)
    found: dict[str, Any] = {name: best[name] for name in ("accuracy", "macro_f1", "pearson", "mse") if name in best}
    low, high = interval(found, len(split.validation))
    return Scores(
        loss=best["loss"],
        baseline=baseline(split.task, split.training.targets, split.validation.targets),
        **found,
        low=low,
        high=high,
        best_step=state.best_global_step,
        steps=state.global_step,
        seconds=evaluations[-1]["seconds"],
        training_texts=len(split.training),
        validation_texts=len(split.validation),
        shared=split.shared,
        left_out=split.left_out,
        history=evaluations,
    )


def _classes(split: Split, material: Material) -> list[dict[str, Any]]:
    names = split.task.names
    if not names:
        return []
    mine, held = (class_counts(names, e.targets) for e in (split.training, split.validation))
    weights = np.ones(len(names)) if material.weights is None else material.weights
    return [
        {"name": name, "training": int(a), "validation": int(b), "weight": float(w)}
        for name, a, b, w in zip(names, mine, held, weights, strict=True)
    ]


def _windowed(classifier: Classifier, material: Material) -> dict[str, int]:
    from theodolite.train.batches import MOST_WINDOWS

    mine, held = (classifier.window_counts(part.tokens) for part in (material.training, material.validation))
    return {
        "training": int((mine > 1).sum()),
        "validation": int((held > 1).sum()),
        "thinned": int((mine > MOST_WINDOWS).sum()),
    }

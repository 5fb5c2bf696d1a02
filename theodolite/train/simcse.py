"""Unsupervised SimCSE: an encoder trained to tell texts apart, from two dropout views of each."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from theodolite.corpus import Corpus
from theodolite.encoder.resolve import ModelFolder, resolve
from theodolite.errors import InputError
from theodolite.instrument import Progress, Silent
from theodolite.options import check_options, option, seed_option
from theodolite.train.folder import begin, finish, finished_record, origin, pooling_files, ready_to_train, training_key

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.encoder.tokens import Tokens

LEAST = 2


@dataclass(frozen=True)
class SimcseTraining:
    """How an encoder is trained on dropout views."""

    epochs: int = option(1, "How often every text is seen.", minimum=1)
    learning_rate: float = option(3e-5, "The highest learning rate; it rises for a tenth of the steps, then falls.")
    batch_size: int = option(64, "Texts a step; each is told from all the others of its step.", minimum=2)
    temperature: float = option(0.05, "Divides the cosines: the smaller, the more the nearest texts count.")
    pooling: str = option("mean", "How token vectors become a text's.", choices=("mean", "cls"))
    dropout: float | None = option(None, "Rate of dropout; the model's own when not given.")
    validation: float = option(0.05, "Share of the texts held out.")
    evaluations: int = option(4, "Evaluations, each with a checkpoint, an epoch.", minimum=1)
    seed: int = seed_option()

    def __post_init__(self) -> None:
        check_options(self)
        if not 0 < self.learning_rate < 1:
            raise InputError(f"--learning-rate {self.learning_rate:g}: give a number between 0 and 1, such as 3e-5")
        if not self.temperature > 0:
            raise InputError(f"--temperature {self.temperature:g}: give a number above 0, such as 0.05")
        if self.dropout is not None and not 0 < self.dropout < 1:
            raise InputError(f"--dropout {self.dropout:g}: give a rate between 0 and 1, such as 0.1")
        if not 0 < self.validation < 1:
            raise InputError(f"--validation {self.validation:g}: give a share between 0 and 1")


@dataclass(frozen=True)
class SimcseScores:
    """Of held-out texts, before and after: loss, alignment, uniformity and mean cosine, all with dropout on.

    cut: texts longer than the limit, of which one window at a time took part.
    """

    before: dict[str, float]
    after: dict[str, float]
    best_step: int
    steps: int
    seconds: float
    training_texts: int
    validation_texts: int
    cut: int
    left_out: dict[str, int] = field(default_factory=dict)
    history: list[dict[str, float]] = field(default_factory=list)

    def sentence(self) -> str:
        """Loss and mean cosine, before and after."""
        was, now = self.before, self.after
        return (
            f"Contrastive loss {was['loss']:.3f} before, {now['loss']:.3f} after; mean cosine of two texts "
            f"{was['mean_cosine']:.3f} before, {now['mean_cosine']:.3f} after, on {self.validation_texts:,} texts that "
            "it was not trained on."
        )


def train_simcse(
    model: str | os.PathLike[str],
    corpus: Corpus,
    out: Path,
    training: SimcseTraining,
    *,
    device: str | None = None,
    max_length: int | None = None,
    progress: Progress | None = None,
) -> SimcseScores:
    """Train on the texts of a corpus, none of them labelled; `out` becomes a sentence-transformers model folder.

    Interrupted, the same call goes on from the last checkpoint and ends with the same weights; finished, it returns
    the scores at once. Another training in the same folder is refused.
    """
    folder, out = resolve(model), Path(out).absolute()
    key = training_key("simcse", folder, corpus, training, max_length)
    record = finished_record(out, key)
    if record is not None:
        return SimcseScores(**record["scores"])
    if corpus.texts_b(0, 1) is not None:
        raise InputError(f"{corpus.name}: pairs of texts, and simcse takes single ones; read one column with ?text=")
    with ready_to_train(out):
        return _train(folder, corpus, out, key, training, device, max_length, progress or Silent())


def _train(
    folder: ModelFolder,
    corpus: Corpus,
    out: Path,
    key: str,
    training: SimcseTraining,
    device: str | None,
    max_length: int | None,
    progress: Progress,
) -> SimcseScores:
    from theodolite.encoder.loading import device_of
    from theodolite.train.card import simcse_card
    from theodolite.train.contrast import Contrast, Views, set_dropout
    from theodolite.train.loop import NEVER, Pace, evaluations_of, run

    place = device_of(device)
    encoder, fast = _encoder(folder, max_length, training.seed)
    dropout = set_dropout(encoder.model, training.dropout, folder.name)
    mine, held, left_out = _split(encoder, corpus, training)
    steps = -(-len(mine) // training.batch_size)
    pace = Pace(
        training.epochs, training.learning_rate, training.batch_size, NEVER, training.evaluations, training.seed, steps
    )
    views = Views(training.pooling, training.temperature)
    trainer = Contrast(encoder, views, mine, held, pace, begin(out, key), place, progress)
    before = trainer.judged()
    state = run(trainer, progress)
    history, best = evaluations_of(state)
    scores = SimcseScores(
        before=before,
        after={name: best[name] for name in before},
        best_step=state.best_global_step,
        steps=state.global_step,
        seconds=history[-1]["seconds"],
        training_texts=len(mine),
        validation_texts=len(held),
        cut=int((encoder.window_counts(mine) > 1).sum()),
        left_out=left_out,
        history=history,
    )
    record = {
        **origin(key, folder, corpus),
        "options": {**dataclasses.asdict(training), "dropout": dropout},
        "max_length": encoder.limit,
        "scores": dataclasses.asdict(scores),
    }
    fast.model_max_length = encoder.limit
    finish(
        out,
        encoder.model,
        fast,
        simcse_card(record),
        record,
        pooling_files(encoder.dim, encoder.limit, training.pooling),
    )
    return scores


def _encoder(folder: ModelFolder, max_length: int | None, seed: int) -> tuple[Encoder, Any]:
    """The encoder to be trained, a classifier's without its head, and its tokenizer as transformers knows it."""
    from transformers import set_seed

    from theodolite.encoder.encoder import Encoder
    from theodolite.encoder.loading import load_model
    from theodolite.encoder.tokens import Tokenizer

    # A pooler that the folder does not have is made at random, and saved.
    set_seed(seed)
    loaded, fast = load_model(folder)
    return Encoder(folder, loaded.base_model, Tokenizer(fast, folder.name), max_length), fast


def _split(encoder: Encoder, corpus: Corpus, training: SimcseTraining) -> tuple[Tokens, Tokens, dict[str, int]]:
    """The texts to train on and those held out, in tokens, each text once.

    Two texts that are the same to the tokenizer would be told apart in vain.
    """
    rows = np.flatnonzero(~corpus.empty & ~corpus.duplicate)
    everything = corpus.texts()
    tokens = encoder.tokenise([everything[i] for i in rows])
    found = np.flatnonzero(tokens.lengths)
    first: dict[bytes, int] = {}
    for i in found.tolist():
        first.setdefault(tokens.ids[tokens.bounds[i] : tokens.bounds[i + 1]].tobytes(), i)
    kept = np.array(list(first.values()), np.int64)
    left_out = {"empty text": int(corpus.empty.sum()), "no tokens": len(rows) - len(found)}
    left_out["same tokens as an earlier text"] = len(corpus) - len(kept) - sum(left_out.values())
    held = max(LEAST, round(training.validation * len(kept)))
    if len(kept) - held < LEAST:
        raise InputError(
            f"{corpus.name}: {len(kept)} different texts; at least {LEAST} to train on and {LEAST} held out are needed"
        )
    order = np.random.default_rng(training.seed).permutation(kept)
    return tokens.take(np.sort(order[held:])), tokens.take(order[:held]), left_out

"""RecoBERT: an encoder trained on the titles and descriptions of a catalogue, with no labels."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from theodolite.corpus import Corpus
from theodolite.encoder.resolve import ModelFolder, resolve
from theodolite.errors import InputError
from theodolite.instrument import Progress, Silent
from theodolite.options import check_options, option, seed_option
from theodolite.train.folder import begin, finish, finished_record, origin, pooling_files, ready_to_train, training_key

if TYPE_CHECKING:
    from theodolite.train.labels import Ints
    from theodolite.train.objectives import Objectives


@dataclass(frozen=True)
class RecobertTraining:
    """How an encoder is trained on a catalogue."""

    epochs: int = option(2, "How often every item is seen.", minimum=1)
    learning_rate: float = option(5e-5, "The highest learning rate; it rises for a tenth of the steps, then falls.")
    batch_size: int = option(32, "Items a step.", minimum=1)
    validation: float = option(0.05, "Share of the items held out.")
    evaluations: int = option(2, "Evaluations, each with a checkpoint, an epoch.", minimum=1)
    seed: int = seed_option()

    def __post_init__(self) -> None:
        check_options(self)
        if not 0 < self.learning_rate < 1:
            raise InputError(f"--learning-rate {self.learning_rate:g}: give a number between 0 and 1, such as 5e-5")
        if not 0 < self.validation < 1:
            raise InputError(f"--validation {self.validation:g}: give a share between 0 and 1")


@dataclass(frozen=True)
class RecobertScores:
    """Of held-out items, before and after: both losses and their sum, and how well a description finds its title.

    mrr: mean reciprocal rank of the right title among all held-out ones, by cosine of mean-pooled vectors, special
    tokens out; gain: by how much it rose, over the same descriptions; all with 95% intervals. chance: what titles in
    random order would give; of the losses, what the frequency of a piece among the items trained on, and a cosine of 0
    for all, would give. head: 'new' where the encoder had no language-model head. cut: items longer than the limit, of
    which one window at a time took part.
    """

    before: dict[str, float]
    after: dict[str, float]
    gain: dict[str, float]
    chance: dict[str, float]
    head: str
    best_step: int
    steps: int
    seconds: float
    training_items: int
    validation_items: int
    descriptions: int
    titles: int
    cut: int
    left_out: dict[str, int] = field(default_factory=dict)
    history: list[dict[str, float]] = field(default_factory=list)

    def sentence(self) -> str:
        """Retrieval before and after, and where the head came from."""
        was, now, rose = ((s["mrr"], s["mrr_low"], s["mrr_high"]) for s in (self.before, self.after, self.gain))
        head = "The encoder had no language-model head: it got a new one." if self.head == "new" else ""
        return (
            f"A description finds its own title among {self.titles:,} with a mean reciprocal rank of {_between(*was)} "
            f"before and {_between(*now)} after, a change of {_between(*rose)}; chance {self.chance['mrr']:.3f}; "
            f"{self.validation_items:,} items that it was not trained on. {head}"
        ).rstrip()


def _between(mean: float, low: float, high: float) -> str:
    return f"{mean:.3f} ({low:.3f} to {high:.3f})"


def train_recobert(
    model: str | os.PathLike[str],
    items: Corpus,
    out: Path,
    training: RecobertTraining,
    *,
    device: str | None = None,
    max_length: int | None = None,
    progress: Progress | None = None,
) -> RecobertScores:
    """Train on items as ``read_items`` gives them (text: description, title); `out` becomes an ordinary model folder.

    Two losses in every step, summed: of guessing masked pieces of title and description as one sequence pair; and,
    both encoded alone and unmasked, of telling an item's title from that of another item by its description, vectors
    being means over a text's tokens without the special ones.

    Interrupted, the same call goes on from the last checkpoint and ends with the same weights; finished, it returns
    the scores at once. Another training in the same folder is refused.
    """
    folder, out = resolve(model), Path(out).absolute()
    key = training_key("recobert", folder, items, training, max_length)
    record = finished_record(out, key)
    if record is not None:
        return RecobertScores(**record["scores"])
    items.column("title")
    with ready_to_train(out):
        return _train(folder, items, out, key, training, device, max_length, progress or Silent())


def _train(
    folder: ModelFolder,
    corpus: Corpus,
    out: Path,
    key: str,
    training: RecobertTraining,
    device: str | None,
    max_length: int | None,
    progress: Progress,
) -> RecobertScores:
    from theodolite.encoder.loading import device_of
    from theodolite.train.card import recobert_card
    from theodolite.train.item_split import split_items
    from theodolite.train.language_model import language_model
    from theodolite.train.loop import NEVER, Pace, evaluations_of, run
    from theodolite.train.masked import masks_of
    from theodolite.train.objectives import Objectives
    from theodolite.train.retrieval import figures, gain

    place = device_of(device)
    made = language_model(folder, max_length, training.seed)
    encoder, fast = made.encoder, made.tokenizer
    masks = masks_of(fast, len(encoder.input_embeddings), training.seed, folder.name)
    mine, held, left_out = split_items(encoder, corpus, training.validation, training.seed)
    # Each piece counted once more than it was seen, so that none is impossible.
    counts = np.bincount(mine.tokens.ids, minlength=len(encoder.input_embeddings)) + 1
    made.expect(counts)
    steps = -(-len(mine) // training.batch_size)
    pace = Pace(
        training.epochs, training.learning_rate, training.batch_size, NEVER, training.evaluations, training.seed, steps
    )
    trainer = Objectives(made, masks, mine, held, pace, begin(out, key), place, progress)
    before, ranks_before = trainer.held_losses(), trainer.ranks()
    state = run(trainer, progress)
    history, best = evaluations_of(state)
    ranks_after = trainer.ranks()
    scores = RecobertScores(
        before=before | figures(ranks_before),
        after={name: best[name] for name in before} | figures(ranks_after),
        gain=gain(ranks_before, ranks_after),
        chance=_chance(trainer, counts),
        head=made.head,
        best_step=state.best_global_step,
        steps=state.global_step,
        seconds=history[-1]["seconds"],
        training_items=len(mine),
        validation_items=len(held),
        descriptions=len(trainer.search.descriptions),
        titles=len(trainer.search.titles),
        cut=int((encoder.window_counts(mine.tokens) > 1).sum()),
        left_out=left_out,
        history=history,
    )
    record = {
        **origin(key, folder, corpus),
        "options": dataclasses.asdict(training),
        "max_length": encoder.limit,
        "scores": dataclasses.asdict(scores),
    }
    fast.model_max_length = encoder.limit
    finish(out, encoder.model, fast, recobert_card(record), record, pooling_files(encoder.dim, encoder.limit, "mean"))
    return scores


def _chance(trainer: Objectives, counts: Ints) -> dict[str, float]:
    """What one who knows nothing but how often each piece (v,) occurs would score on the held-out items."""
    held = trainer.held(range(len(trainer.held.items)))["pairs"]
    guessed = held["targets"][held["chosen"]].cpu().numpy()
    masked = float(np.log(counts.sum() / counts[guessed]).mean()) if len(guessed) else 0.0
    title = float(np.log(2))
    return {"loss": masked + title, "masked_loss": masked, "title_loss": title, **trainer.search.chance()}

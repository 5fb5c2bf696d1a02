"""Which rows of a labelled corpus are trained on, which are held out, and which are left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from theodolite.corpus import Corpus
from theodolite.corpus.hashing import text_key
from theodolite.corpus.labels import is_missing
from theodolite.errors import InputError
from theodolite.train.labels import Floats, Ints, Task, task_of

LEAST_TRAINING = 2


@dataclass(frozen=True)
class Examples:
    """Texts, or pairs, with their targets (n,): class numbers or values."""

    texts: list[str]
    texts_b: list[str] | None
    targets: Floats

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, which: Ints) -> Examples:
        """The chosen ones, in the order given."""
        second = None if self.texts_b is None else [self.texts_b[i] for i in which]
        return Examples([self.texts[i] for i in which], second, self.targets[which])

    @property
    def keys(self) -> list[int]:
        """A number for each text or pair that is the same where the text is, blanks and capitals aside."""
        sides = [side for side in (self.texts, self.texts_b) if side is not None]
        rows = zip(*sides, strict=True)
        return [text_key(tuple(" ".join(text.split()).casefold() for text in row)) for row in rows]


@dataclass(frozen=True)
class Split:
    """What is trained on and what is held out; left_out: why and how many."""

    task: Task
    training: Examples
    validation: Examples
    left_out: dict[str, int]
    shared: int
    """Validation texts that are in the training corpus too (only where a validation corpus was given)."""


def split_corpus(corpus: Corpus, validation: Corpus | None, task: str, share: float, seed: int) -> Split:
    """The training and the validation texts: a corpus of their own, or a share of each class held out.

    A text that occurs again, blanks and capitals aside, goes where its first occurrence is: nothing is judged on a
    text it was trained on.
    """
    labels, rows, left_out = _labelled(corpus)
    found = task_of(task, labels, corpus.name)
    mine = _examples(corpus, rows, found.targets(labels, corpus.name))
    if validation is not None:
        if (validation.texts_b(0, 1) is None) != (mine.texts_b is None):
            raise InputError(f"{validation.name}: pairs and single texts; give both corpora a text_b, or neither")
        labels, rows, missing = _labelled(validation)
        held = _examples(validation, rows, found.targets(labels, validation.name))
        left_out |= {f"validation: {why}": number for why, number in missing.items()}
        there = set(mine.keys)
        split = Split(found, mine, held, left_out, sum(key in there for key in held.keys))
    else:
        split = _held_out(mine, found, share, seed, left_out)
    check_split(split, corpus.name, corpus.name if validation is None else validation.name)
    return split


def _labelled(corpus: Corpus) -> tuple[list[Any], Ints, dict[str, int]]:
    labels: list[Any] = corpus.column("label").to_pylist()
    missing = np.array([is_missing(label) for label in labels])
    kept = ~corpus.empty & ~missing
    left_out = {"empty text": int(corpus.empty.sum()), "no label": int((missing & ~corpus.empty).sum())}
    if not kept.any():
        raise InputError(f"{corpus.name}: no text with a label")
    return [label for label, keep in zip(labels, kept, strict=True) if keep], np.flatnonzero(kept), left_out


def _examples(corpus: Corpus, rows: Ints, targets: Floats) -> Examples:
    everything, second = corpus.texts(), corpus.texts_b()
    return Examples([everything[i] for i in rows], None if second is None else [second[i] for i in rows], targets)


def _held_out(mine: Examples, task: Task, share: float, seed: int, left_out: dict[str, int]) -> Split:
    keys = np.array(mine.keys, np.uint64)
    first = np.sort(np.unique(keys, return_index=True)[1])
    groups = [first] if task.regression else [first[mine.targets[first] == c] for c in range(len(task.names))]
    random = np.random.default_rng(seed)
    held = [random.permutation(group)[: max(1, round(share * len(group)))] for group in groups]
    chosen = np.sort(np.concatenate(held))
    touched = np.isin(keys, keys[chosen])
    left_out = {**left_out, "same text as a held-out one": int(touched.sum()) - len(chosen)}
    return Split(task, mine.take(np.flatnonzero(~touched)), mine.take(chosen), left_out, 0)


def check_split(split: Split, where: str, held_out: str) -> None:
    """Refuse what is too little to train on, or to judge by; where, held_out: the corpora these are of."""
    if not len(split.validation):
        raise InputError(
            f"{held_out}: no text held out has both a label and tokens, so there is nothing to judge by; give others"
        )
    if split.task.regression:
        if min(len(split.training), len(split.validation)) < LEAST_TRAINING:
            raise InputError(
                f"a regression needs {LEAST_TRAINING} texts to train on and {LEAST_TRAINING} held out; {where} has "
                f"{len(split.training)} and {held_out} {len(split.validation)}: give more"
            )
        return
    counts = class_counts(split.task.names, split.training.targets)
    rarest = int(counts.argmin())
    if counts[rarest] < LEAST_TRAINING:
        raise InputError(
            f"{where}: the class {split.task.names[rarest]} has {counts[rarest]} texts to train on, besides those "
            f"held out; it needs {LEAST_TRAINING}: add texts or drop the class"
        )


def class_counts(names: Sequence[str], targets: Floats) -> Ints:
    """(classes,) how many texts each class has."""
    found: Ints = np.bincount(targets.astype(np.int64), minlength=len(names))
    return found

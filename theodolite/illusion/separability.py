"""Can the corpus be told from the embedding?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from theodolite.illusion.points import Ints, Points

HELD_OUT = 0.2


@dataclass(frozen=True)
class Separability:
    """accuracy on held-out texts; confusion (c, c): rows the true corpus, columns the answer, counts; each: texts of
    every corpus that were used; chance: accuracy of guessing.
    """

    corpora: list[str]
    accuracy: float
    confusion: Ints
    each: int

    @property
    def chance(self) -> float:
        return 1 / len(self.corpora)


def separability(by_corpus: Mapping[str, Points], seed: int, at_most: int) -> Separability:
    """A linear SVM (C = 1) on standardised embeddings, equal numbers of each corpus, a seeded 80/20 split."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import confusion_matrix
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    each = min(at_most, *(len(p) for p in by_corpus.values()))
    vectors = np.concatenate([p.take(chosen(p, each, seed)) for p in by_corpus.values()]).astype(np.float64)
    labels = np.repeat(np.arange(len(by_corpus)), each)
    train_x, test_x, train_y, test_y = train_test_split(
        vectors, labels, test_size=HELD_OUT, random_state=seed, stratify=labels
    )
    machine = make_pipeline(StandardScaler(), LinearSVC(C=1.0, random_state=seed, max_iter=2000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # The last steps no longer change who is told apart.
        answers = machine.fit(train_x, train_y).predict(test_x)
    confusion = confusion_matrix(test_y, answers, labels=np.arange(len(by_corpus)))
    return Separability(list(by_corpus), float(np.mean(answers == test_y)), confusion.astype(np.int64), each)


def chosen(points: Points, count: int, seed: int) -> Ints:
    """So many of the points, ascending: a choice that depends on the seed and the corpus's size alone."""
    random = np.random.default_rng(np.random.SeedSequence([seed, len(points)]))
    return np.sort(random.choice(len(points), count, replace=False))

"""Classification on frozen representations, before and after they are made rounder (the source's test on SST-2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from theodolite.accumulate import wilson
from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.isotropy.epochs import figures
from theodolite.rounding import Rounder
from theodolite.train.examples import Examples, Split, split_corpus

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

Row = dict[str, Any]
Floats = NDArray[np.float64]

# lbfgs needs some hundreds; where classes can be told apart without error it creeps on.
_STEPS = 5_000
# A dimension whose deviation is under this share of the median's is dead, and what is divided by it is noise.
_DEAD = 1e-6


@dataclass(frozen=True)
class Features:
    """Vectors (n, d) and class numbers (n,) of the texts to learn from and of those to be judged on."""

    training: NDArray[Any]
    training_labels: NDArray[Any]
    test: NDArray[Any]
    test_labels: NDArray[Any]


def features(encoder: Encoder, training: Corpus, test: Corpus, pooling: str = "cls") -> Features:
    """What an encoder gives for two labelled corpora of texts, or of pairs in one sequence; its last layer.

    Rows without text, tokens or label are left out.
    """
    return features_of(encoder, split_corpus(training, test, "classes", 0.5, 0), pooling)


def features_of(encoder: Encoder, split: Split, pooling: str) -> Features:
    """As ``features``, of texts already chosen."""
    parts = (vectors_of(encoder, split.training, pooling), vectors_of(encoder, split.validation, pooling))
    return Features(*parts[0], *parts[1])


def vectors_of(encoder: Encoder, examples: Examples, pooling: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Vectors (n, d) and class numbers (n,) of the examples in which the tokenizer finds something."""
    vectors = encoder.embed(examples.texts, examples.texts_b, pooling=pooling)
    there = np.isfinite(vectors).all(axis=1)
    return vectors[there], examples.targets[there].astype(np.int64)


def frozen_accuracy(given: Features, methods: Sequence[str], make: Callable[[str], Rounder]) -> list[Row]:
    """How well a logistic regression on the features tells the test texts' classes, after each method.

    A method's transform is fitted on the training features, which need no labels for it; the regression, on
    standardised features, on the same with their labels. Rows: method; accuracy with its 95% interval low, high
    (Wilson); baseline, the accuracy of always saying the class that is largest in training; dead, how many dimensions
    do not vary and were left out; and the measures (``epochs.FIGURES``) of the test features, on which nothing was
    fitted. note: what the transform has to say.
    """
    _check(given)
    truth = given.test_labels
    names, counts = np.unique(given.training_labels, return_counts=True)
    baseline = float((truth == names[counts.argmax()]).mean())
    rows = []
    for method in methods:
        made = make(method).fit(given.training.astype(np.float64))
        learnt, asked = (made.transform(x.astype(np.float64)) for x in (given.training, given.test))
        said, dead = _answers(learnt, given.training_labels, asked)
        hits = int(np.count_nonzero(said == truth))
        low, high = wilson(hits, len(truth))
        row = {"method": method, "accuracy": hits / len(truth), "low": low, "high": high, "baseline": baseline}
        rows.append(row | {"dead": dead} | figures(asked) | {"note": "; ".join(made.notes())})
    return rows


def _answers(training: Floats, labels: NDArray[Any], asked: Floats) -> tuple[NDArray[Any], int]:
    deviations = training.std(axis=0)
    alive = deviations > _DEAD * np.median(deviations)
    if not alive.any():
        raise InputError("the features of all training texts are equal: there is nothing to tell classes by")
    scale = StandardScaler().fit(training[:, alive])
    regression = LogisticRegression(max_iter=_STEPS).fit(scale.transform(training[:, alive]), labels)
    said: NDArray[Any] = regression.predict(scale.transform(asked[:, alive]))
    return said, int(np.count_nonzero(~alive))


def _check(given: Features) -> None:
    parts = (("training", given.training, given.training_labels), ("test", given.test, given.test_labels))
    for name, vectors, labels in parts:
        if vectors.ndim != 2 or not len(vectors) or labels.shape != (len(vectors),):
            raise InputError(
                f"{name} features of shape {vectors.shape} with labels of shape {labels.shape}; (n, d) and (n,) are "
                "wanted, n at least 1"
            )
        if not np.isfinite(vectors).all():
            raise InputError(f"{name} features with NaN or infinite numbers; leave those rows out")
    if given.training.shape[1] != given.test.shape[1]:
        raise InputError(
            f"training features of {given.training.shape[1]} dimensions and test features of {given.test.shape[1]}; "
            "take both from one encoder"
        )
    if len(np.unique(given.training_labels)) < 2:
        raise InputError("one class only among the training labels; a classifier needs two")

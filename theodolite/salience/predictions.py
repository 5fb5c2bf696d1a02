"""How good the classifier's answers are, class by class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from theodolite.accumulate import wilson
from theodolite.corpus import Corpus
from theodolite.salience.classes import values_of
from theodolite.salience.maps import UNLABELLED, TextMaps
from theodolite.train.scores import interval

Row = dict[str, Any]
ALL = "all"


def prediction_rows(corpus: Corpus, maps: TextMaps, classes: Sequence[str]) -> Iterator[Row]:
    """A row for all texts and one for each class; of a regression, one with its correlation and error."""
    if maps.classes == 1:
        yield _regression(corpus, maps)
        return
    known = maps.labels != UNLABELLED
    right = maps.predicted == maps.labels
    largest = np.bincount(maps.labels[known]).max() / known.sum() if known.any() else None
    yield {"corpus": corpus.name, "class": ALL, **_share(right[known]), "baseline": largest,
           "predicted": len(maps)}  # fmt: skip
    for number, name in enumerate(classes):
        mine = maps.labels == number
        share = int(mine.sum()) / int(known.sum()) if known.any() else None
        predicted = int((maps.predicted == number).sum())
        yield {"corpus": corpus.name, "class": name, **_share(right[mine]), "baseline": share, "predicted": predicted}


def _share(right: Any) -> Row:
    """Accuracy with Wilson's interval, over the labelled texts."""
    n = len(right)
    low, high = wilson(int(right.sum()), n) if n else (None, None)
    accuracy = float(right.mean()) if n else None
    return {"texts": n, "accuracy": accuracy, "accuracy_low": low, "accuracy_high": high}


def _regression(corpus: Corpus, maps: TextMaps) -> Row:
    values = values_of(corpus)[maps.rows]
    known = ~np.isnan(values)
    given, answered = values[known], maps.logits[known, 0].astype(np.float64)
    related = len(given) > 1 and given.std() > 0 and answered.std() > 0
    correlation = float(np.corrcoef(given, answered)[0, 1]) if related else None
    low, high = interval({"pearson": correlation}, len(given))
    return {
        "corpus": corpus.name,
        "class": ALL,
        "texts": int(known.sum()),
        "predicted": len(maps),
        "correlation": correlation,
        "correlation_low": low,
        "correlation_high": high,
        "squared_error": float(np.mean((given - answered) ** 2)) if len(given) else None,
        "baseline": float(given.var()) if len(given) else None,
    }

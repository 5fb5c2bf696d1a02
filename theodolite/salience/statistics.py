"""What the model says of the class asked about, and intervals over texts by resampling them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.encoder.tokens import Tokens
from theodolite.salience.maps import Ints, softmax

Doubles = NDArray[np.float64]
Answers = Callable[[Tokens], NDArray[Any]]
"""A model as these measurements see it: tokens of n texts to logits (n, classes)."""

RESAMPLES = 1000
# Draws that are counted at a time: 16 MB of them, however many texts there are.
_BLOCK = 2_000_000


def class_scores(logits: NDArray[Any], classes: Ints | int) -> Doubles:
    """(n,) the probability of each text's class; the answer itself where logits (n, 1) are of a regression.

    >>> class_scores(np.array([[0.0, 0.0], [1000.0, 0.0]]), 0).tolist()
    [0.5, 1.0]
    """
    if logits.shape[1] == 1:
        return np.asarray(logits[:, 0], np.float64)
    found: Doubles = softmax(logits)[np.arange(len(logits)), classes]
    return found


def resampled_means(values: Doubles, seed: int, resamples: int = RESAMPLES) -> Doubles:
    """(resamples, r) means of rows of values (r, n) over n texts drawn with replacement, the same for all rows.

    A value that is NaN is of no text; a row that has none among the texts drawn has NaN for its mean.
    """
    rows, n = values.shape
    if n == 0:
        return np.full((resamples, rows), np.nan)
    random = np.random.default_rng(np.random.SeedSequence([seed, n]))
    known = ~np.isnan(values)
    both = np.concatenate([np.where(known, values, 0.0), known.astype(np.float64)]).T
    found = np.empty((resamples, rows))
    step = max(1, _BLOCK // n)
    for begin in range(0, resamples, step):
        size = min(step, resamples - begin)
        drawn = random.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
        sums, counts = np.split(times @ both, 2, axis=1)
        found[begin : begin + size] = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return found


def known_mean(values: Doubles) -> float:
    """The mean of those that are not NaN; NaN where none is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def percentiles(resampled: Doubles, texts: int) -> tuple[float, float]:
    """The 95% interval of a figure from its values over resamples; NaN where it is of fewer than two texts."""
    known = resampled[~np.isnan(resampled)]
    if texts < 2 or not len(known):
        return float("nan"), float("nan")
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)

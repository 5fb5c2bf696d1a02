"""Are the salient pieces those that the answer rests on? Comprehensiveness and sufficiency over a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import mean_interval, uniform_of
from theodolite.encoder.tokens import Tokens
from theodolite.salience.maps import Ints
from theodolite.salience.statistics import Answers, class_scores

NUMBERS = (1, 3, 5, 10)
RANDOM = "random"


@dataclass(frozen=True)
class Faithfulness:
    """What masking by one method does to the probability of the class, mean over n texts with its 95% interval.

    comprehensiveness: the fall when the k most salient pieces are masked (large is good); sufficiency: the fall when
    all the others are (small is good); whole: texts of at most k pieces, of which all are masked, or none. Of a
    regression, whose answers salient pieces may push up or down, by how much the answer moves, either way.
    """

    method: str
    k: int
    comprehensiveness: float
    comprehensiveness_low: float
    comprehensiveness_high: float
    sufficiency: float
    sufficiency_low: float
    sufficiency_high: float
    n: int
    whole: int


def faithfulness(
    tokens: Tokens,
    weights: Mapping[str, NDArray[Any]],
    classes: Ints,
    answers: Answers,
    mask_id: int,
    numbers: Sequence[int] = NUMBERS,
    seed: int = 0,
) -> list[Faithfulness]:
    """A row for each method and number of pieces, those of a random order last.

    weights: by method, (t,) one a piece of tokens; classes: (n,) the class asked about. The model is asked
    1 + 2 × methods × numbers times about all texts.
    """
    answered = answers(tokens)
    before, regression = class_scores(answered, classes), answered.shape[1] == 1
    ranks = {method: ranks_of(tokens, np.abs(values)) for method, values in weights.items()}
    ranks[RANDOM] = ranks_of(tokens, _random_weights(tokens, seed))
    rows = []
    for method, rank in ranks.items():
        for k in numbers:
            masked = (replace(tokens, ids=np.where(out, mask_id, tokens.ids)) for out in (rank < k, rank >= k))
            falls = np.stack([before - class_scores(answers(each), classes) for each in masked], axis=1)
            if regression:
                falls = np.abs(falls)
            (more, more_low, more_high), (less, less_low, less_high) = np.stack(mean_interval(falls), axis=1).tolist()
            figures = (more, more_low, more_high, less, less_low, less_high)
            rows.append(Faithfulness(method, k, *figures, len(tokens), int((tokens.lengths <= k).sum())))
    return rows


def ranks_of(tokens: Tokens, weights: NDArray[Any]) -> Ints:
    """(t,) the place of each piece in its text by weight, 0 the largest; equal ones in the order of the text."""
    text_of = np.repeat(np.arange(len(tokens)), tokens.lengths)
    order = np.lexsort((-weights, text_of))
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order)) - np.repeat(tokens.bounds[:-1], tokens.lengths)
    return found


def _random_weights(tokens: Tokens, seed: int) -> NDArray[np.float64]:
    text_of = np.repeat(np.arange(len(tokens)), tokens.lengths)
    return uniform_of(seed, text_of, np.arange(len(text_of)) - tokens.bounds[text_of])

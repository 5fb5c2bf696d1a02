"""Does an explanation depend on what the model has learnt? The same pairs with its weights drawn anew.

A method that gives the same words whatever the weights tells of the texts alone. Beside it stands a harmless change,
the same model with other batches, which should leave everything as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from theodolite.accumulate import mean_interval
from theodolite.encoder.encoder import DEFAULT_BUDGET, Encoder
from theodolite.encoder.randomised import randomised, separate_layers
from theodolite.errors import InputError
from theodolite.instrument import Progress, Silent
from theodolite.similarity.explaining import Baseline, explain_pairs
from theodolite.similarity.explanation import HARMLESS, TOP, WHOLE, Asked, Doubles, Explanation


@dataclass(frozen=True)
class Randomised:
    """What one change does to one method, mean over n pairs with its 95% interval.

    layers: how many were drawn anew, from the top. correlation: Spearman's, of word saliencies before and after within
    a text, the mean of the two texts (saliencies of two texts have no common scale); overlap: of the chosen pairs,
    Jaccard's. constant: pairs without a correlation, since in both texts all saliencies are equal before or after.
    """

    method: str
    change: str
    layers: int
    correlation: float
    correlation_low: float
    correlation_high: float
    overlap: float
    overlap_low: float
    overlap_high: float
    n: int
    constant: int


def randomisation(
    encoder: Encoder,
    texts_a: Sequence[str],
    texts_b: Sequence[str],
    asked: Asked,
    *,
    layers: Sequence[int] | None = None,
    seed: int = 0,
    seeds: int = 1,
    baseline: Baseline = Baseline(),  # noqa: B008 (frozen)
    budget: int = DEFAULT_BUDGET,
    progress: Progress | None = None,
) -> list[Randomised]:
    """A row for each change and method: other batches, the top layers drawn anew, the whole model drawn anew.

    layers: how many from the top, one change each; when not given 1, 2, … all of them (none where layers share their
    weights), and () is none. With several seeds (seed, seed + 1, …) a pair's figures are their means.
    """
    told = progress or Silent()
    if not len(texts_a):
        raise InputError("no pairs to explain with weights drawn anew; give at least one")
    if seeds < 1:
        raise InputError(f"{seeds} seeds of weights drawn anew: must be at least 1")
    tops = tuple(range(1, separate_layers(encoder) + 1)) if layers is None else tuple(layers)

    def explained(
        title: str, of: Encoder, a: Sequence[str], b: Sequence[str], tokens: int = budget
    ) -> Iterator[Explanation]:
        with told.step(title, len(a)):
            for one in explain_pairs(of, a, b, asked, baseline=baseline, budget=tokens):
                yield one
                told.advance(1)

    trained = list(explained("trained weights", encoder, texts_a, texts_b))
    again = explained(HARMLESS, encoder, texts_a[::-1], texts_b[::-1], max(1, budget // 2))
    rows = _rows(HARMLESS, 0, asked, _agreement(trained[::-1], again, asked.methods)[None])
    for change, number in [*((TOP, top) for top in tops), (WHOLE, None)]:
        drawn = []
        for each in range(seed, seed + seeds):
            other = randomised(encoder, number, each)
            title = change if number is None else f"{change}: {number}"
            drawn.append(_agreement(trained, explained(title, other, texts_a, texts_b), asked.methods))
            del other  # Before the next is drawn: one copy at a time.
        rows += _rows(change, encoder.layers if number is None else number, asked, np.stack(drawn))
    return rows


def _agreement(before: Sequence[Explanation], after: Iterable[Explanation], methods: Sequence[str]) -> Doubles:
    """(n, methods, 2): correlation of saliencies and overlap of the chosen pairs."""
    return np.array(
        [
            [[_correlation(one, other, method), _overlap(one, other, method)] for method in methods]
            for one, other in zip(before, after, strict=True)
        ]
    )


def _correlation(one: Explanation, other: Explanation, method: str) -> float:
    sides = ((one.a, other.a), (one.b, other.b))
    found = [rank_correlation(side.saliency[method], again.saliency[method]) for side, again in sides]
    return float(mean_interval(np.array(found))[0])


def rank_correlation(x: Doubles, y: Doubles) -> float:
    """Spearman's; NaN where all of x or all of y are equal, as one alone always is.

    >>> rank_correlation(np.array([1.0, 2, 3]), np.array([0.1, 0.2, 9]))
    1.0
    """
    ranks = [scipy.stats.rankdata(values) - (len(values) + 1) / 2 for values in (x, y)]
    squares = float(ranks[0] @ ranks[0]) * float(ranks[1] @ ranks[1])
    return float(ranks[0] @ ranks[1]) / float(np.sqrt(squares)) if squares else float("nan")


def _overlap(one: Explanation, other: Explanation, method: str) -> float:
    mine, theirs = (_chosen(explanation, method) for explanation in (one, other))
    return len(mine & theirs) / len(mine | theirs)


def _chosen(explanation: Explanation, method: str) -> set[tuple[int, int]]:
    found = explanation.matches[method]
    pairs = zip(found.index_a[found.chosen].tolist(), found.index_b[found.chosen].tolist(), strict=True)
    return set(pairs)


def _rows(change: str, layers: int, asked: Asked, values: Doubles) -> list[Randomised]:
    """Values (seeds, n, methods, 2), by seed and pair, made into a row a method."""
    of_pairs, _, _ = mean_interval(values)
    figures = np.stack(mean_interval(of_pairs), axis=-1).reshape(len(asked.methods), -1)
    constant = np.isnan(of_pairs[..., 0]).sum(axis=0)
    numbers = [[*figures[i].tolist(), len(of_pairs), int(constant[i])] for i in range(len(asked.methods))]
    return [Randomised(method, change, layers, *row) for method, row in zip(asked.methods, numbers, strict=True)]

"""How far people agree beyond chance: Cohen's kappa, Fleiss' kappa and Krippendorff's alpha, with intervals over items.

Each is a function of sums over items, so that items drawn anew are a product of two matrices. Ratings are (items,
raters) numbers, NaN where a rater did not judge an item.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theodolite.study.resampling import Doubles, drawn, ends

LEVELS = ("nominal", "ordinal", "interval")
ONE_VALUE = "all answers are the same, so chance alone would give full agreement"
ONE_RATER = "no item has answers of two annotators"
TWO_RATERS = "Cohen's kappa is of two annotators"


@dataclass(frozen=True)
class Agreement:
    """A coefficient (1: full agreement, 0: as by chance), its 95% interval over items, how many items it rests on, and
    why it is NaN where it is.
    """

    value: float
    low: float
    high: float
    items: int
    why: str = ""


def cohen(ratings: Doubles, *, seed: int = 0) -> Agreement:
    """Cohen's kappa of two raters over the items that both judged."""
    if ratings.shape[1] != 2:
        return _undefined(0, TWO_RATERS)
    both = ratings[~np.isnan(ratings).any(axis=1)]
    if not len(both):
        return _undefined(0, ONE_RATER)
    coded, size = _coded(both)
    hot = np.eye(size)[coded]
    # A table of what one said by what the other said.
    tables = hot[:, 0, :, None] * hot[:, 1, None, :]
    return _over_items(tables.reshape(len(both), -1), lambda sums: _cohen_of(sums.reshape(-1, size, size)), seed)


def fleiss(ratings: Doubles, *, raters: int | None = None, seed: int = 0) -> Agreement:
    """Fleiss' kappa of items judged by equally many, whoever they are: ``raters``, or the most that any item has."""
    known = ~np.isnan(ratings)
    number = int(known.sum(axis=1).max(initial=0)) if raters is None else raters
    whole = known.sum(axis=1) == number
    if number < 2 or not whole.any():
        return _undefined(0, ONE_RATER)
    coded, size = _coded(ratings[whole])
    counts = (np.eye(size + 1)[coded][..., :size]).sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (number * (number - 1))
    # The last column counts the items.
    parts = np.column_stack([counts, agreeing, np.ones(len(counts))])
    return _over_items(parts, lambda sums: _fleiss_of(sums, number), seed)


def krippendorff(ratings: Doubles, level: str = "nominal", *, seed: int = 0) -> Agreement:
    """Krippendorff's alpha of any number of raters, answers missing or not; items with one answer do not count."""
    rated = ratings[(~np.isnan(ratings)).sum(axis=1) > 1]
    if not len(rated):
        return _undefined(0, ONE_RATER)
    coded, size = _coded(rated)
    counts = np.eye(size + 1)[coded][..., :size].sum(axis=1)
    here = counts.sum(axis=1)
    # Every ordered pair of answers of an item to two raters, an item of m answers weighing m.
    pairs = (counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(size)) / (here - 1)[:, None, None]
    values = np.unique(rated[~np.isnan(rated)])
    return _over_items(
        pairs.reshape(len(rated), -1), lambda sums: _alpha_of(sums.reshape(-1, size, size), values, level), seed
    )


def _cohen_of(tables: Doubles) -> Doubles:
    n = tables.sum(axis=(1, 2))
    seen = np.trace(tables, axis1=1, axis2=2) / n
    chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / n**2
    return _beyond(seen, chance)


def _fleiss_of(sums: Doubles, number: int) -> Doubles:
    items = sums[:, -1]
    shares = sums[:, :-2] / (items * number)[:, None]
    return _beyond(sums[:, -2] / items, (shares**2).sum(axis=1))


def _beyond(seen: Doubles, chance: Doubles) -> Doubles:
    """(seen − chance) / (1 − chance), NaN where chance is all."""
    room = 1 - chance
    found: Doubles = np.divide(seen - chance, room, out=np.full(len(seen), np.nan), where=room > 1e-12)
    return found


def _alpha_of(coincidences: Doubles, values: Doubles, level: str) -> Doubles:
    """1 − observed over expected disagreement, from tables (r, c, c) of coinciding answers to the values (c,)."""
    totals = coincidences.sum(axis=2)
    n = totals.sum(axis=1)
    apart = _distances(totals, values, level)
    observed = (coincidences * apart).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * apart).sum(axis=(1, 2)) / (n - 1)
    found: Doubles = 1 - np.divide(observed, expected, out=np.full(len(n), np.nan), where=expected > 1e-12)
    return found


def _distances(totals: Doubles, values: Doubles, level: str) -> Doubles:
    """(r, c, c) or (1, c, c) squared distances between values at a level of measurement."""
    if level == "nominal":
        return 1 - np.eye(len(values))[None]
    if level == "interval":
        return ((values[:, None] - values[None, :]) ** 2)[None]
    # Ordinal: how many answers lie between two values, half of each value's own among them.
    middle = np.cumsum(totals, axis=1) - totals / 2
    found: Doubles = (middle[:, :, None] - middle[:, None, :]) ** 2
    return found


def _coded(ratings: Doubles) -> tuple[NDArray[np.int64], int]:
    """Answers as numbers from 0 in their own order, those missing as one more; and how many values there are."""
    values = np.unique(ratings[~np.isnan(ratings)])
    return np.searchsorted(values, ratings), len(values)


def _over_items(parts: Doubles, coefficient: Callable[[Doubles], Doubles], seed: int) -> Agreement:
    """The coefficient of the sums of parts (items, f), and its interval with items drawn anew."""
    items = len(parts)
    value = float(coefficient(parts.sum(axis=0)[None])[0])
    if np.isnan(value):
        return _undefined(items, ONE_VALUE)
    again = coefficient(drawn(range(items), seed) @ parts)
    return Agreement(value, *ends(again, items), items)


def _undefined(items: int, why: str) -> Agreement:
    nothing = float("nan")
    return Agreement(nothing, nothing, nothing, items, why)

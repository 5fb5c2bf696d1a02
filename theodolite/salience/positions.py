"""Where in a text the classifier looks: its salience by tenths of the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import mean_interval
from theodolite.salience.maps import SPECIAL, TextMaps


@dataclass(frozen=True)
class PositionRow:
    """One part of the texts: the mean share of the salience that falls there, its 95% interval over texts, and the
    mean share of the tokens that do; texts: over how many.
    """

    part: str
    salience: float
    low: float
    high: float
    tokens: float
    texts: int


def by_position(maps: TextMaps, bins: int = 10) -> list[PositionRow]:
    """The mean share of a text's salience in each of ``bins`` equal parts of it, and on its special tokens.

    In the parts |salience| without special tokens sums to 1 over a text, and a token is where its middle is: the i-th
    of m, from 0, in part ⌊(i + ½) bins / m⌋; a pair counts as one text after the other. Two rows, `first special` and
    `last special`, have the share of all its salience, special tokens included; there are none where the tokenizer puts
    none. Texts without any salience are left out.
    """
    own = maps.side != SPECIAL
    texts, weights = maps.text_of[own], np.abs(maps.weights[own]).astype(np.float64)
    counts = np.bincount(texts, minlength=len(maps))
    place = np.arange(len(texts)) - np.repeat(np.cumsum(counts) - counts, counts)
    part = (2 * place + 1) * bins // (2 * counts[texts])
    salience = _shares(texts * bins + part, weights, len(maps), bins)
    tokens = _shares(texts * bins + part, np.ones(len(texts)), len(maps), bins)
    edges = [f"{100 * i / bins:g}–{100 * (i + 1) / bins:g}%" for i in range(bins)]
    return [*_rows(edges, salience, tokens), *_special_rows(maps)]


def _special_rows(maps: TextMaps) -> list[PositionRow]:
    special = np.flatnonzero(maps.side == SPECIAL)
    if not len(special):
        return []
    have, first = np.unique(maps.text_of[special], return_index=True)
    last = np.append(first[1:], len(special)) - 1
    weights = np.abs(maps.weights).astype(np.float64)
    whole = np.bincount(maps.text_of, weights, minlength=len(maps))[have, None]
    at = special[np.stack([first, last], axis=1)]
    salience = np.divide(weights[at], whole, out=np.full(at.shape, np.nan), where=whole > 0)
    tokens = np.broadcast_to(1 / maps.lengths[have, None], at.shape)
    return _rows(["first special", "last special"], salience, tokens)


def _shares(keys: NDArray[Any], values: NDArray[Any], texts: int, bins: int) -> NDArray[np.float64]:
    """(texts, bins) the sums of the values under their keys, each text's scaled to sum 1; NaN where it has none."""
    sums = np.bincount(keys, values, minlength=texts * bins).reshape(texts, bins)
    total = sums.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = np.divide(sums, total, out=np.full(sums.shape, np.nan), where=total > 0)
    return shares


def _rows(names: list[str], salience: NDArray[Any], tokens: NDArray[Any]) -> list[PositionRow]:
    mean, low, high = mean_interval(salience)
    counted = ~np.isnan(salience[:, 0])
    of_tokens = mean_interval(tokens[counted])[0]
    columns = (mean.tolist(), low.tolist(), high.tolist(), of_tokens.tolist())
    return [PositionRow(*row, int(counted.sum())) for row in zip(names, *columns, strict=True)]

"""Does a description find its own title among all? Ranks, their mean reciprocal, recall, and what chance would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import mean_interval, unit_vectors, wilson
from theodolite.encoder.encoder import Encoder
from theodolite.train.item_split import Items
from theodolite.train.labels import Floats, Ints

DEPTHS = (1, 10)
_BLOCK = 1024


@dataclass(frozen=True, eq=False)
class Search:
    """Different descriptions, each to be found its title among different titles.

    right: (r, 2) pairs of a description's number and a title's, ascending: all that are of one item. A description that
    several items share has several right titles, of which the nearest counts.
    """

    descriptions: list[str]
    titles: list[str]
    right: Ints

    @classmethod
    def of(cls, items: Items) -> Search:
        """Every description of some items among all their titles."""
        title, titles = _distinct(items.title, items.tokens.texts)
        description, descriptions = _distinct(items.description, items.tokens.texts_b or [])
        return cls(descriptions, titles, np.unique(np.stack([description, title], axis=1), axis=0))

    def ranks(self, encoder: Encoder) -> Ints:
        """(descriptions,) rank of the nearest right title, by cosine of mean-pooled vectors, special tokens out."""
        descriptions, titles = (encoder.embed(texts, pooling="mean") for texts in (self.descriptions, self.titles))
        return ranks_of(descriptions, titles, self.right)

    def chance(self) -> dict[str, float]:
        """The figures expected where titles are in random order."""
        counts = np.bincount(self.right[:, 0])
        first = {n: first_of_random(len(self.titles), n) for n in np.unique(counts).tolist()}
        rank = np.arange(1, len(self.titles) + 1)
        shares = counts[:, None] == np.array(list(first))
        weights = (shares.mean(axis=0)[:, None] * np.array(list(first.values()))).sum(axis=0)
        recalls = {f"recall_at_{depth}": float(weights[:depth].sum()) for depth in DEPTHS}
        return {"mrr": float((weights / rank).sum()), **recalls}


def ranks_of(queries: NDArray[Any], answers: NDArray[Any], right: Ints) -> Ints:
    """(q,) for each of the queries (q, d), the rank by cosine of its nearest right answer among answers (a, d).

    right: (r, 2) pairs (query, answer), ascending; each query has one at least. A wrong answer that is just as near
    goes before it.
    """
    asked, given = unit_vectors(queries.astype(np.float64)), unit_vectors(answers.astype(np.float64))
    found = np.empty(len(queries), np.int64)
    for begin in range(0, len(queries), _BLOCK):
        cosines = asked[begin : begin + _BLOCK] @ given.T
        low, high = np.searchsorted(right[:, 0], (begin, begin + len(cosines)))
        query, answer = right[low:high, 0] - begin, right[low:high, 1]
        best = np.full(len(cosines), -np.inf)
        np.maximum.at(best, query, cosines[query, answer])
        # The right ones are out of the way: only wrong ones go before the nearest of them.
        cosines[query, answer] = -np.inf
        found[begin : begin + _BLOCK] = 1 + (cosines >= best[:, None]).sum(axis=1)
    return found


def first_of_random(answers: int, right: int) -> Floats:
    """(answers,) the chance of each rank, from 1, to be that of the first right answer in a random order.

    >>> first_of_random(3, 2).round(3).tolist()
    [0.667, 0.333, 0.0]
    """
    before = np.arange(answers)
    # None was right so far, and the next of those left is.
    hit = np.minimum(1, right / (answers - before))
    found: Floats = hit * np.concatenate([[1.0], np.cumprod(1 - hit)[:-1]])
    return found


def figures(ranks: Ints) -> dict[str, float]:
    """Mean reciprocal rank and recall at DEPTHS, each with its 95% interval over descriptions."""
    mean, low, high = (float(value) for value in mean_interval(1 / ranks))
    found = {"mrr": mean, "mrr_low": low, "mrr_high": high}
    for depth in DEPTHS:
        hits = int((ranks <= depth).sum())
        low, high = wilson(hits, len(ranks))
        name = f"recall_at_{depth}"
        found |= {name: hits / len(ranks), f"{name}_low": low, f"{name}_high": high}
    return found


def gain(before: Ints, after: Ints) -> dict[str, float]:
    """By how much the mean reciprocal rank rose, with the 95% interval over the same descriptions."""
    mean, low, high = (float(value) for value in mean_interval(1 / after - 1 / before))
    return {"mrr": mean, "mrr_low": low, "mrr_high": high}


def _distinct(numbers: Ints, texts: list[str]) -> tuple[Ints, list[str]]:
    """(n,) each item's text as a number from 0, and the text of each number: that of its first item."""
    _, first, dense = np.unique(numbers, return_index=True, return_inverse=True)
    return dense, [texts[i] for i in first.tolist()]

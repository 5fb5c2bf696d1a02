"""A blind study drawn from explanations: how well do people think that each method explains a likeness?"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from theodolite.errors import InputError
from theodolite.similarity.explanation import Doubles, Explanation, Matches, Side
from theodolite.similarity.matching import scaled

Row = dict[str, Any]


def draw_ratings(
    explanations: Sequence[Explanation], *, count: int = 100, seed: int = 0
) -> tuple[list[Row], list[Row]]:
    """Items and their key: ``count`` pairs of texts, each under every method that explained it, in random order.

    An item has an id that says nothing, the two texts, their words with weights from 0 to 1, and the chosen pairs as
    places in the two word lists; weights are scaled anew in each text and no score is shown, since its range would
    tell the method. The key says of each id the pair (its place among the explanations) and the method.
    """
    if not explanations:
        raise InputError("no explanations to be rated; explain at least one pair of texts")
    random = np.random.default_rng(seed)
    pairs = np.sort(random.permutation(len(explanations))[:count]).tolist()
    shown = [(pair, method) for pair in pairs for method in explanations[pair].matches]
    items, key = [], []
    for place, which in enumerate(random.permutation(len(shown)).tolist()):
        pair, method = shown[which]
        name = hashlib.blake2b(f"{seed} {place}".encode(), digest_size=6).hexdigest()
        one = explanations[pair]
        items.append(
            {
                "id": name,
                "text_a": one.a.text,
                "text_b": one.b.text,
                "words_a": _words(one.a, one.a.saliency[method]),
                "words_b": _words(one.b, one.b.saliency[method]),
                "pairs": _chosen(one.matches[method]),
            }
        )
        key.append({"id": name, "pair": pair, "method": method})
    return items, key


def _words(side: Side, saliency: Doubles) -> list[Row]:
    columns = (side.words, side.start.tolist(), side.end.tolist(), np.round(scaled(saliency), 2).tolist())
    return [dict(zip(("word", "start", "end", "weight"), row, strict=True)) for row in zip(*columns, strict=True)]


def _chosen(matches: Matches) -> list[Row]:
    """In the order of the text: that of the scores is one more thing that differs between methods."""
    pairs = sorted(zip(matches.index_a[matches.chosen].tolist(), matches.index_b[matches.chosen].tolist(), strict=True))
    return [{"index_a": a, "index_b": b} for a, b in pairs]

"""The words of texts as the explanation has them: every unit, punctuation too, that the tokenizer gives a piece.

A unit in a script that is written without spaces (Chinese, Japanese, Thai, …) falls back to its tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import regex

from theodolite.encoder.tokens import Tokens, Words
from theodolite.similarity.explanation import Ints
from theodolite.words import units, units_of_pieces

_WITHOUT_SPACES = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")


@dataclass(frozen=True)
class Wording:
    """The words of n texts: which text (w,), characters start and end (w,), and the run of pieces of each."""

    words: Words
    start: Ints
    end: Ints


def wording(tokens: Tokens) -> Wording:
    """The words of each text, in order. A unit that the tokenizer gives no piece has no vector and is no word."""
    found: list[tuple[int, int, int, int, int]] = []
    for number, text in enumerate(tokens.texts):
        base = int(tokens.bounds[number])
        starts, ends = (a[base : tokens.bounds[number + 1]] for a in (tokens.start, tokens.end))
        spans = np.array(_units(text, starts, ends), np.int64).reshape(-1, 2)
        unit = units_of_pieces(starts, ends, spans[:, 0], spans[:, 1])
        held = np.flatnonzero(unit >= 0)
        begins = held[np.flatnonzero(np.diff(unit[held], prepend=-1))]
        stops = held[np.append(np.flatnonzero(np.diff(unit[held])), len(held) - 1)] + 1 if len(held) else begins
        for begin, end in zip(begins.tolist(), stops.tolist(), strict=True):
            found.append((number, *spans[unit[begin]].tolist(), base + begin, base + end))
    which, start, end, first, stop = np.array(found, np.int64).reshape(-1, 5).T
    position = np.arange(len(which)) - np.searchsorted(which, which)
    return Wording(Words(which, position, [""] * len(which), first, stop), start, end)


def _units(text: str, piece_starts: Ints, piece_ends: Ints) -> list[tuple[int, int]]:
    plain = units(text)
    if _WITHOUT_SPACES.search(text) is None:
        return plain
    found: list[tuple[int, int]] = []
    for start, end in plain:
        if _WITHOUT_SPACES.search(text, start, end) is None:
            found.append((start, end))
            continue
        # Pieces that are bytes of one character share its place, and stay together.
        inside = (piece_starts >= start) & (piece_starts < end) & (piece_ends > piece_starts)
        cuts = sorted({start, end, *piece_starts[inside].tolist()})
        found += pairwise(cuts)
    return found

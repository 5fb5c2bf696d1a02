"""Tokens as points: what a single token shows, where it stands, and its text with the token marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theodolite.corpus import Corpus
from theodolite.illusion.features import FORMS, Columns, Features, Predicate
from theodolite.illusion.pieces import Pieces
from theodolite.words import has_letter_or_number

if TYPE_CHECKING:
    from theodolite.encoder.tokens import Tokenizer

Ints = NDArray[np.int64]

MARKS = "⟦", "⟧"
FIRST, LAST = "is the first token of its text", "is the last token of its text"
# What a piece shows by itself. The tokenizer's own signs (## inside a word, Ġ or ▁ at its start) are no letters.
PIECE_FORMS: dict[str, Predicate] = {
    "is punctuation": lambda piece: not has_letter_or_number(piece),
    "is a number": lambda piece: _bare(piece).isdecimal(),
    "continues a word": lambda piece: piece.startswith("##"),
    "is a single letter": lambda piece: len(_bare(piece)) == 1 and piece.isalpha(),
    "begins with a capital": lambda piece: _bare(piece)[:1].isupper(),
    **{name: FORMS[name] for name in ("contains accented letters", "contains non-Latin letters")},
}


def positions_of(rows: Ints) -> Ints:
    """(n,) the place of each token in its text, from the text's row of each, ascending.

    >>> positions_of(np.array([3, 3, 3, 7, 9, 9])).tolist()
    [0, 1, 2, 0, 0, 1]
    """
    begins = np.flatnonzero(np.diff(rows, prepend=-1))
    return np.arange(len(rows)) - np.repeat(begins, np.diff(begins, append=len(rows)))


def each_alone(pieces: Pieces) -> Pieces:
    """The same pieces as if each were a text: what monotonic tokens are counted from."""
    rows = np.repeat(pieces.rows, np.diff(pieces.bounds))
    return Pieces(rows, np.arange(len(pieces.ids) + 1), pieces.ids)


def token_features(pieces: Pieces, piece: Callable[[int], str], min_tokens: int = 3) -> Features:
    """What each of n tokens shows: which piece it is, the pairs it makes with its neighbours, its form."""
    n, ids = len(pieces.ids), pieces.ids
    every = np.arange(n)
    columns = Columns(n, min_tokens)
    names = {int(i): piece(int(i)) for i in np.unique(ids)}
    columns.keep("word", every, ids, names.__getitem__)
    text = np.repeat(np.arange(len(pieces.rows)), np.diff(pieces.bounds))
    left = np.flatnonzero(text[:-1] == text[1:])
    base = int(ids.max(initial=0)) + 1
    codes = ids[left] * base + ids[left + 1]
    columns.keep(
        "pair",
        np.concatenate([left, left + 1]),
        np.concatenate([codes, codes]),
        lambda code: f"{names[code // base]} {names[code % base]}",
    )
    forms = {
        name: every[np.isin(ids, [i for i, string in names.items() if shows(string)])]
        for name, shows in PIECE_FORMS.items()
    }
    full = np.flatnonzero(np.diff(pieces.bounds))
    forms[FIRST], forms[LAST] = pieces.bounds[full], pieces.bounds[full + 1] - 1
    columns.keep_forms(forms)
    return Features(columns.matrix(), columns.names, short=-1, long=-1)


def marked(corpus: Corpus, tokenizer: Tokenizer, rows: Ints, positions: Ints) -> list[str]:
    """The text of each token, with the token between marks."""
    different, at = np.unique(rows, return_inverse=True)
    tokens = tokenizer([corpus.text(int(row)) for row in different])
    found = []
    for text, position in zip(at.tolist(), positions.tolist(), strict=True):
        whole, piece = tokens.texts[text], tokens.bounds[text] + position
        start, end = int(tokens.start[piece]), int(tokens.end[piece])
        found.append(f"{whole[:start]}{MARKS[0]}{whole[start:end]}{MARKS[1]}{whole[end:]}")
    return found


def _bare(piece: str) -> str:
    return piece.lstrip("#Ġ▁") or piece

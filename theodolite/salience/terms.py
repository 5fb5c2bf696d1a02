"""Terms: lists of them made from maps or read from a file, and how one is put into a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.encoder.tokens import Tokenizer
from theodolite.errors import InputError
from theodolite.salience.maps import FIRST, SECOND, Ints, TextMaps
from theodolite.salience.statistics import Doubles
from theodolite.words import has_letter_or_number, units, units_of_pieces

COUNT = 10
MIN_COUNT = 20

IDENTITY_TERMS = (
    "atheist",
    "queer",
    "gay",
    "transgender",
    "lesbian",
    "homosexual",
    "feminist",
    "black",
    "white",
    "heterosexual",
    "islam",
    "muslim",
    "bisexual",
)

_CHUNK = re.compile(r"\S+")


@dataclass(frozen=True)
class Ranked:
    """Vocabulary items, best first: items (k,), their scores (k,), how often each occurs (k,)."""

    items: Ints
    scores: Doubles
    counts: Ints


def whole_words(tokenizer: Tokenizer, size: int) -> list[str]:
    """The word that each of the first ``size`` vocabulary items is by itself; "" where it is none.

    A whole word has a letter, is one unit, and is the one piece that the tokenizer makes of it after another word:
    special tokens and pieces that go on with a word are none.
    """
    found = [tokenizer.letters(item) for item in range(size)]
    found = [word if units(word) == [(0, len(word))] and _has_letter(word) else "" for word in found]
    pieces = tokenizer.pieces_of(found)
    return [word if pieces[item] == [item] else "" for item, word in enumerate(found)]


def by_themselves(maps: TextMaps, texts: Sequence[str], texts_b: Sequence[str] | None = None) -> NDArray[np.bool_]:
    """(t,) whether a token is all of a word where it stands; texts: the n texts that the maps are of, or pairs.

    Of "It's a play, not playful" the first play is, but neither the second nor the s.
    """
    found = np.zeros(len(maps.ids), bool)
    for side, given in ((FIRST, texts), (SECOND, texts_b or ())):
        pieces = np.flatnonzero(maps.side == side)
        bounds = np.searchsorted(maps.text_of[pieces], np.arange(len(given) + 1))
        for text, begin, end in zip(given, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            mine = pieces[begin:end]
            starts, ends = np.array(units(text), np.int64).reshape(-1, 2).T
            unit = units_of_pieces(maps.start[mine].astype(np.int64), maps.end[mine].astype(np.int64), starts, ends)
            alone = np.bincount(unit + 1, minlength=len(starts) + 1) == 1
            found[mine] = alone[unit + 1] & (unit >= 0)
    return found


def word_salience(matrix: Any, maps: TextMaps, is_whole_word: NDArray[np.bool_], cls: int) -> Doubles:
    """(V,) column means of salience-vocab, csr (n, V), over the texts predicted to be of the class; 0 of no words."""
    which = np.flatnonzero(maps.predicted == cls)
    means = np.asarray(matrix[which].sum(axis=0, dtype=np.float64)).ravel() / max(len(which), 1)
    found: Doubles = np.where(is_whole_word, means, 0.0)
    return found


def aggregated_salience_terms(
    matrix: Any,
    maps: TextMaps,
    is_whole_word: NDArray[np.bool_],
    alone: NDArray[np.bool_],
    cls: int,
    count: int = COUNT,
    min_count: int = MIN_COUNT,
) -> Ranked:
    """The words of highest mean salience over the class's texts that occur often enough in them.

    matrix: csr (n, V), salience-vocab; alone: (t,) of ``by_themselves``: only such tokens are occurrences. A word that
    is never salient is not listed.
    """
    means = word_salience(matrix, maps, is_whole_word, cls)
    counts = np.bincount(maps.ids[alone & (maps.predicted == cls)[maps.text_of]], minlength=len(is_whole_word))
    return _best(means, counts, (counts >= min_count) & (means > 0), count)


def pmi_terms(
    maps: TextMaps,
    size: int,
    is_whole_word: NDArray[np.bool_],
    alone: NDArray[np.bool_],
    cls: int,
    count: int = COUNT,
    min_count: int = MIN_COUNT,
) -> Ranked:
    """The words of highest ln p(v, ŷ) / p(v) p(ŷ), over texts that have v, that occur often enough in all texts.

    size: V; ŷ is the predicted class; alone: (t,) of ``by_themselves``: only such tokens are occurrences. A word that
    no text of the class has is not listed.
    """
    of_class = maps.predicted == cls
    pairs = np.unique(maps.text_of[alone] * size + maps.ids[alone])
    text, item = pairs // size, pairs % size
    texts = np.bincount(item, minlength=size)
    together = np.bincount(item[of_class[text]], minlength=size)
    with np.errstate(divide="ignore", invalid="ignore"):
        pmi = np.log(together * len(maps) / (texts * of_class.sum()))
    counts = np.bincount(maps.ids[alone], minlength=size)
    return _best(pmi, counts, is_whole_word & (counts >= min_count) & (together > 0), count)


def read_terms(path: str | Path) -> tuple[str, ...]:
    """The terms of a file, one a line; blank lines are skipped."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8; convert the file, for example with iconv") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); give a file of terms, one a line") from None
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        term = " ".join(line.split())
        if "\0" in term:
            raise InputError(f"{path}: line {number}: has a NUL byte; give a file of terms, one a line")
        if term in seen:
            raise InputError(f"{path}: line {number}: {term!r} is on line {seen[term]} too; delete one")
        if term:
            seen[term] = number
    if not seen:
        raise InputError(f"{path}: has no terms; write one a line")
    return tuple(seen)


def boundaries(text: str) -> list[int]:
    """Where a term can be put: before each word with the punctuation that leads it, and at the end.

    >>> boundaries('He said "no" . ')
    [0, 3, 8, 15]
    """
    return [m.start() for m in _CHUNK.finditer(text) if has_letter_or_number(m.group())] + [len(text)]


def inserted(text: str, at: Sequence[tuple[int, str]]) -> str:
    """A text with terms put at some of its boundaries, those at the same one in the order given.

    >>> inserted('He said "no".', [(13, "b"), (3, "a")])
    'He a said "no". b'
    """
    for place, term in sorted(at, key=lambda each: each[0])[::-1]:
        before, after = text[:place], text[place:]
        gap = " " if before and not before[-1].isspace() else ""
        text = f"{before}{gap}{term}{' ' if after and not after[0].isspace() else ''}{after}"
    return text


def _has_letter(word: str) -> bool:
    return any(character.isalpha() for character in word)


def _best(scores: Doubles, counts: Ints, good: NDArray[np.bool_], count: int) -> Ranked:
    """Equal scores are in the order of the vocabulary."""
    items = np.flatnonzero(good)
    items = items[np.argsort(-scores[items], kind="stable")][:count]
    return Ranked(items, scores[items], counts[items])

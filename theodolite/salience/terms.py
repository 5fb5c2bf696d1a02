"""Terms: lists of them made from maps or read from a file, and how one is put into a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.encoder.tokens import Tokenizer, from_bytes
from theodolite.errors import InputError
from theodolite.salience.maps import SPECIAL, Ints, TextMaps
from theodolite.salience.statistics import Doubles
from theodolite.words import has_letter_or_number, units

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
    before, space = tokenizer(["a"]).ids, tokenizer.piece(int(tokenizer(["a a"]).ids[-1])).removesuffix("a")
    found = [_letters(tokenizer.piece(item), space) for item in range(size)]
    found = [word if units(word) == [(0, len(word))] and _has_letter(word) else "" for word in found]
    tokens = tokenizer([f"a {word}" for word in found])
    expected = np.append(before, -1)
    for item in range(size):
        expected[-1] = item
        if found[item] and not np.array_equal(tokens.ids[tokens.bounds[item] : tokens.bounds[item + 1]], expected):
            found[item] = ""
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
    cls: int,
    count: int = COUNT,
    min_count: int = MIN_COUNT,
) -> Ranked:
    """The words of highest mean salience over the class's texts that occur often enough in them.

    matrix: csr (n, V), salience-vocab. A word that is never salient is not listed.
    """
    means = word_salience(matrix, maps, is_whole_word, cls)
    counts = _occurrences(maps, len(is_whole_word), maps.predicted == cls)
    return _best(means, counts, (counts >= min_count) & (means > 0), count)


def pmi_terms(
    maps: TextMaps,
    size: int,
    is_whole_word: NDArray[np.bool_],
    cls: int,
    count: int = COUNT,
    min_count: int = MIN_COUNT,
) -> Ranked:
    """The words of highest ln p(v, ŷ) / p(v) p(ŷ), over texts that have v, that occur often enough in all texts.

    size: V; ŷ is the predicted class. A word that no text of the class has is not listed.
    """
    of_class = maps.predicted == cls
    given = maps.side != SPECIAL
    pairs = np.unique(maps.text_of[given] * size + maps.ids[given])
    text, item = pairs // size, pairs % size
    texts = np.bincount(item, minlength=size)
    together = np.bincount(item[of_class[text]], minlength=size)
    with np.errstate(divide="ignore", invalid="ignore"):
        pmi = np.log(together * len(maps) / (texts * of_class.sum()))
    counts = _occurrences(maps, size, np.ones(len(maps), bool))
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


def _letters(piece: str, space: str) -> str:
    """The characters that a vocabulary entry stands for, without the mark that it begins a word."""
    plain = piece.removeprefix(space)
    return plain if space != "Ġ" else from_bytes(plain)


def _has_letter(word: str) -> bool:
    return any(character.isalpha() for character in word)


def _occurrences(maps: TextMaps, size: int, which: NDArray[np.bool_]) -> Ints:
    """(V,) how often each item occurs in some of the texts, every token counted that is not special."""
    return np.bincount(maps.ids[(maps.side != SPECIAL) & which[maps.text_of]], minlength=size)


def _best(scores: Doubles, counts: Ints, good: NDArray[np.bool_], count: int) -> Ranked:
    """Equal scores are in the order of the vocabulary."""
    items = np.flatnonzero(good)
    items = items[np.argsort(-scores[items], kind="stable")][:count]
    return Ranked(items, scores[items], counts[items])

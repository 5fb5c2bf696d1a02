"""Where terms occur in texts: as whole words, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from theodolite.encoder.tokens import Tokenizer, Tokens, Words
from theodolite.salience.maps import Ints
from theodolite.words import has_letter_or_number, units

# Texts whose words are looked through at a time.
_TEXTS = 1000


@dataclass(frozen=True)
class Found:
    """Where a term occurs: text (w,) of its words; start, stop (w,) their pieces, counted from the text's first."""

    text: Ints
    start: Ints
    stop: Ints
    count: int


def occurrences(
    terms: Sequence[str], texts: Sequence[str], texts_b: Sequence[str] | None, tokenizer: Tokenizer
) -> list[Found]:
    """Where each term occurs in texts or in either text of pairs: as whole words one after another, compared as the
    tokenizer sees them, with the term's own punctuation between them and nothing else.
    """
    keys = [_keys(term, tokenizer) for term in terms]
    hits: list[dict[tuple[int, int], int]] = [{} for _ in terms]
    counts = [0] * len(terms)
    for begin in range(0, len(texts), _TEXTS):
        some = list(texts[begin : begin + _TEXTS])
        tokens = tokenizer(some)
        sides = [(tokens, np.zeros(len(some), np.int64))]
        if texts_b is not None:
            sides.append((tokenizer(list(texts_b[begin : begin + _TEXTS])), tokens.lengths))
        for side, before in sides:
            words = tokenizer.words(side)
            shift = before - side.bounds[:-1]
            for term, at in _matches(keys, words, side):
                counts[term] += 1
                for i in range(at, at + len(keys[term].words)):
                    text = int(words.text[i])
                    span = int(words.start[i] + shift[text]), int(words.stop[i] + shift[text])
                    hits[term][begin + text, span[0]] = span[1]
    return [_found(each, count) for each, count in zip(hits, counts, strict=True)]


@dataclass(frozen=True)
class _Key:
    """A term's words as ``Tokenizer.words`` names them, and what stands between each two, blanks out."""

    words: list[str]
    between: list[str]


def _keys(term: str, tokenizer: Tokenizer) -> _Key:
    spans = [(start, end) for start, end in units(term) if has_letter_or_number(term[start:end])]
    return _Key(
        [tokenizer.normalised(term[start:end]) for start, end in spans],
        [_solid(term[end:start]) for (_, end), (start, _) in pairwise(spans)],
    )


def _matches(keys: Sequence[_Key], words: Words, tokens: Tokens) -> Iterator[tuple[int, int]]:
    """(term, word) wherever a term begins: the first word of each run of words that are its own."""
    beginning: dict[str, list[int]] = {}
    for term, key in enumerate(keys):
        if key.words:
            beginning.setdefault(key.words[0], []).append(term)
    for at, word in enumerate(words.key):
        for term in beginning.get(word, ()):
            last = at + len(keys[term].words) - 1
            if words.key[at : last + 1] != keys[term].words or words.text[last] != words.text[at]:
                continue
            text = tokens.texts[words.text[at]]
            ends, starts = tokens.end[words.stop[at:last] - 1], tokens.start[words.start[at + 1 : last + 1]]
            if [_solid(text[end:start]) for end, start in zip(ends, starts, strict=True)] == keys[term].between:
                yield term, at


def _solid(text: str) -> str:
    return "".join(text.split())


def _found(spans: dict[tuple[int, int], int], count: int) -> Found:
    flat = np.array([(text, start, stop) for (text, start), stop in sorted(spans.items())], np.int64).reshape(-1, 3)
    return Found(flat[:, 0], flat[:, 1], flat[:, 2], count)

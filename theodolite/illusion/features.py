"""What a text shows: its words, its word pairs, its first word and its form.

A feature is something a reader can check on a sentence by eye: `album` is in it, it begins with a date, it is a
question. The features of a corpus are one sparse matrix of texts by features, made in one pass. The form features are
a table of plain predicates, `FORMS`; another one is another line there. Months and what stands before a date are known
in English; the rest looks at characters only and holds in any language. Where words are not set apart by spaces, as in
Chinese, a word is a run of characters between spaces or punctuation, so mostly form is left to find.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import regex
import scipy
from numpy.typing import NDArray

from theodolite.words import has_letter_or_number, units

Ints = NDArray[np.int64]
Predicate = Callable[[str], bool]

SHORT, LONG = "very short", "very long"

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = r"\b(?:[0-2]?\d|3[01])(?:st|nd|rd|th)?\b"
# A number of four digits under 1100 is more often an amount; so is one with a currency sign or a thousands comma.
_YEAR = r"(?<![\d$£€₹][.,]?)(?:1[1-9]|20)\d\d(?:s\b|(?![\w%]|[.,]\d))"
_DATE = (
    rf"(?:{_DAY}\s+(?:of\s+)?{_MONTH}|\b{_MONTH}\s+{_DAY}|\b{_MONTH},?\s+{_YEAR}"
    r"|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}([./])\d{1,2}\1(?:\d{4}|\d\d)\b|\d{4}\s*年)"
)
_OPENING = r"\A[\s\"“„'‘«(\[]*"
_CLOSING = r"[\s\"”“’'»)\]」』]*\Z"
_BEFORE_A_DATE = (
    r"(?i:(?:on|in|by|since|from|until|during|after|before|around|circa|between|throughout|as\s+of)\s+"
    r"(?:(?:the|an?|early|mid|late|around|about|year|years|summer|spring|autumn|fall|winter|morning|afternoon|evening"
    r"|night|day|start|beginning|middle|end|of|(?:mon|tues|wednes|thurs|fri|satur|sun)day),?[\s-]+){0,4})"
)


def _has(pattern: str, where: str | None = None) -> Predicate:
    """Whether a pattern is somewhere in a text; `where`, quickly sought, must be there for it to be."""
    search = regex.compile(pattern).search
    if where is None:
        return lambda text: search(text) is not None
    glance = regex.compile(where).search
    return lambda text: glance(text) is not None and search(text) is not None


def _at_least(count: int, pattern: str) -> Predicate:
    """Whether a pattern is in a text at least so many times."""
    find = regex.compile(pattern).findall
    return lambda text: len(find(text)) >= count


def _mostly_capitals(text: str) -> bool:
    capitals = sum(map(str.isupper, text))
    return capitals >= 4 and capitals > sum(map(str.islower, text))


def _ends_open(text: str) -> bool:
    """Whether a text stops without the sign that ends a sentence, as headings and fragments do."""
    text = text.rstrip(" \t\r\n\"”“’'»)]」』")
    return bool(text) and text[-1] not in ".!?…:;。！？؟।۔"


FORMS: dict[str, Predicate] = {
    "is a question": _has(rf"[?？؟][!?？！.…]*{_CLOSING}"),
    "contains a question mark": _has(r"[?？؟]"),
    "contains an exclamation mark": _has(r"[!！¡]"),
    "contains digits": _has(r"\p{Nd}"),
    "begins with a number": _has(rf"{_OPENING}[$£€₹#+-]?\p{{Nd}}"),
    "contains a year": _has(_YEAR),
    "contains a date": _has(_DATE, where=r"\d"),
    "begins with a date": _has(rf"{_OPENING}(?:(?:{_BEFORE_A_DATE})?(?:{_DATE}|{_YEAR})|{_BEFORE_A_DATE}{_MONTH})"),
    "contains a percentage": _has(r"\p{Nd}\s?[%％]|\p{Nd}\s(?:per\s?cent|percent)\b"),
    "contains a sum of money": _has(r"\p{Sc}\s?\p{Nd}|\p{Nd}\s?[€₹]"),
    # One mark of a pair is enough, since splitting into sentences parts them; an inch sign follows a digit. Single
    # marks must be a pair around three characters, so that an apostrophe and rock 'n' roll are none.
    "contains a quotation": _has(
        r"[“”„«»「」『』]|(?<![\w.])\"+(?=[\w¿¡(\[…'‘])|[\p{L}.,!?…]\"|(?<!\w)'\p{Lu}[^']{2,}[^\s']'(?!\w)"
        r"|(?<!\w)‘\p{Lu}[^‘]{2,}[^\s‘]’(?!\w)",
        where=r"[\"'“”„«»「」『』‘]",
    ),
    "is wholly in quotation marks": _has(
        r"\A\s*(?:\"(?:[^\"]|\"\")+\"|“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|»[^«»]+«|「[^「」]+」|‘[^‘]+’)[.,]?\s*\Z"
    ),
    "contains brackets": _has(r"[()\[\]（）【】]"),
    "contains a semicolon": _has(r"[;；؛]"),
    "contains a colon": _has(r"[:：](?!//|\d)"),
    "contains a dash": _has(r"[—―]|--|(?<!\S)[–-](?!\S)"),
    "contains an ellipsis": _has(r"…|\.\.\.|\. \. \."),
    "four commas or more": _at_least(4, r"[,،，、]"),
    # Four letters, so that the stop after Mr. or Gov. ends no sentence.
    "several sentences": _has(
        r"(?:[!?]|\p{L}{4}\.)[\"”’')\]]*\s+[\"“‘'(\[]*\p{Lu}|[。！？].*[。！？]", where=r"[.!?]\S*\s|[。！？]"
    ),
    "mostly in capitals": _mostly_capitals,
    "contains a word in capitals": _has(r"(?<![\p{L}\p{M}])\p{Lu}{2,}(?![\p{L}\p{M}])"),
    # Names, where sentences are English; the word I and what follows a full stop are none.
    "three capitalised words or more": _at_least(3, r"(?<=[^\s.!?:\"“(]\s+)[\"“‘'(]*\p{Lu}\p{L}"),
    "begins with a small letter": _has(rf"{_OPENING}\p{{Ll}}"),
    "ends without closing punctuation": _ends_open,
    "contains accented letters": _has(r"(?=\p{Latin})[^A-Za-zªºＡ-Ｚａ-ｚ]", where=r"[^\x00-\x7f]"),
    "contains non-Latin letters": _has(r"(?=\p{L})[^\p{Latin}\p{Common}\p{Inherited}]", where=r"[^\x00-\x7f]"),
    "contains mathematical or code symbols": _has(r"[=+^\\{}<>|~]|[^\P{Sm}+<=>|~]"),
    "contains a web address": _has(
        r"(?i)https?://|\bwww\.|\b[a-z0-9-]{2,}\.(?:com|org|net|edu|gov|io)\b", where=r"//|\.\w"
    ),
    "contains an emoji": _has(r"\p{Emoji_Presentation}"),
}

# Where a form is told, these say nothing further about the same texts.
IMPLIED: dict[str, tuple[str, ...]] = {
    "is a question": ("contains a question mark",),
    "begins with a date": ("contains a date", "contains a year", "contains digits", "begins with a number"),
    "contains a date": ("contains a year", "contains digits"),
    "contains a year": ("contains digits",),
    "contains a percentage": ("contains digits",),
    "contains a sum of money": ("contains digits",),
    "begins with a number": ("contains digits",),
    "is wholly in quotation marks": ("contains a quotation",),
    "mostly in capitals": ("contains a word in capitals",),
}

_BEFORE = {"word": "word: ", "pair": "word pair: ", "first": "first word: ", "form": ""}


@dataclass(frozen=True, order=True)
class Feature:
    """Something a text shows or not: `kind` is word, pair, first or form.

    >>> Feature("pair", "new york").label, Feature("form", "is a question").label
    ('word pair: new york', 'is a question')
    """

    kind: str
    value: str

    @property
    def label(self) -> str:
        return _BEFORE[self.kind] + self.value


@dataclass(frozen=True)
class Features:
    """The features of a corpus of n texts: `matrix` (n, f), 1 where a text shows the feature; `names`, f of them.

    A text of at most `short` words is very short, one of at least `long` words very long; `short` is -1 where none is.
    """

    matrix: Any
    names: list[Feature]
    short: int
    long: int

    def take(self, rows: NDArray[Any]) -> Features:
        """The same for some of the texts, given by place or as a mask (n,); what is long or short stays as it was."""
        return replace(self, matrix=self.matrix[rows])


class Columns:
    """The features of n texts (or other things), gathered a kind at a time; those that too few show are left out."""

    def __init__(self, n: int, at_least: int) -> None:
        self.names: list[Feature] = []
        self._n, self._at_least = n, at_least
        self._kept: list[tuple[Ints, Ints]] = []

    def keep(self, kind: str, rows: Ints, codes: Ints, value: Callable[[int], str]) -> None:
        """Text ``rows[i]`` shows the feature that ``value`` names for ``codes[i]``."""
        distinct, column = np.unique(codes, return_inverse=True)
        # A text shows a feature once, however often the word is in it.
        once = np.unique(column * self._n + rows)
        column, rows = np.divmod(once, max(self._n, 1))
        enough = np.bincount(column, minlength=len(distinct)) >= self._at_least
        place = len(self.names) + np.cumsum(enough) - 1
        of_kept = enough[column]
        self._kept.append((rows[of_kept], place[column[of_kept]]))
        self.names.extend(Feature(kind, value(int(code))) for code in distinct[enough])

    def keep_forms(self, forms: Mapping[str, Ints]) -> None:
        """The rows that show each form."""
        order = list(forms)
        numbers = np.repeat(np.arange(len(order)), [len(forms[name]) for name in order])
        self.keep("form", np.concatenate(list(forms.values())), numbers, order.__getitem__)

    def matrix(self) -> Any:
        """(n, f) sparse, 1 where a text shows a feature."""
        rows, columns = (np.concatenate(parts) for parts in zip(*self._kept, strict=True))
        return scipy.sparse.csr_array(
            (np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(self._n, len(self.names))
        )


def _read(texts: Iterable[str]) -> tuple[list[str], Ints, Ints, dict[str, Ints]]:
    """The distinct words; all units in order as places among them, -1 punctuation; units of each text; rows of forms.

    The rows are those of the texts that show a form.
    """
    vocabulary: dict[str, int] = {}
    known: dict[str, int] = {}
    tokens, sizes = array("q"), array("q")
    showing = {name: array("q") for name in FORMS}
    checks = [(shows, showing[name]) for name, shows in FORMS.items()]
    for row, given in enumerate(texts):
        text = given if given.isascii() else unicodedata.normalize("NFC", given)
        found = [text[start:end] for start, end in units(text)]
        for unit in found:
            if unit not in known:
                word = unit.casefold().replace("’", "'")
                known[unit] = vocabulary.setdefault(word, len(vocabulary)) if has_letter_or_number(unit) else -1
        tokens.extend([known[unit] for unit in found])
        sizes.append(len(found))
        for shows, rows in checks:
            if shows(text):
                rows.append(row)
    rows_of = {name: np.array(rows, dtype=np.int64) for name, rows in showing.items()}
    return list(vocabulary), np.array(tokens, dtype=np.int64), np.array(sizes, dtype=np.int64), rows_of


def features_of(texts: Iterable[str], min_texts: int = 3) -> Features:
    """The features that at least `min_texts` texts show, words without regard to case.

    Words are the units that have a letter or a number; a pair is two of them with nothing but space between. Memory
    grows with the number of words read, not with their characters.
    """
    words, token_of, sizes, forms = _read(texts)
    n = len(sizes)
    row_of = np.repeat(np.arange(n, dtype=np.int64), sizes)
    is_word = token_of >= 0
    lengths = np.bincount(row_of[is_word], minlength=n)
    short, long = _extremes(lengths)
    # Units cover all that is not space and two words never touch, so neighbours have only space between.
    paired = np.flatnonzero(is_word[:-1] & is_word[1:] & (row_of[:-1] == row_of[1:]))
    word_rows, word_tokens = row_of[is_word], token_of[is_word]
    first_rows, first_at = np.unique(word_rows, return_index=True)

    columns = Columns(n, min_texts)
    columns.keep("word", word_rows, word_tokens, lambda code: words[code])
    base = max(len(words), 1)
    codes = token_of[paired] * base + token_of[paired + 1]
    columns.keep("pair", row_of[paired], codes, lambda code: f"{words[code // base]} {words[code % base]}")
    columns.keep("first", first_rows, word_tokens[first_at], lambda code: words[code])
    forms[SHORT] = np.flatnonzero(lengths <= short)
    forms[LONG] = np.flatnonzero(lengths >= long)
    columns.keep_forms(forms)
    return Features(columns.matrix(), columns.names, short, long)


def _extremes(lengths: Ints) -> tuple[int, int]:
    """The lengths up to which, and from which, a share of the texts as near a tenth as can be is found.

    Many texts share a length, so a plain decile could take in a fifth of them; where all have one length, none is
    short or long.

    >>> _extremes(np.arange(1, 21)), _extremes(np.full(9, 4))
    ((2, 19), (-1, 5))
    """
    counts = np.bincount(lengths) if len(lengths) else np.zeros(1, dtype=np.int64)
    shares = np.concatenate([[0], np.cumsum(counts)]) / max(len(lengths), 1)
    short = int(np.argmin(np.abs(shares - 0.1))) - 1
    long = len(counts) - int(np.argmin(np.abs(1 - shares[::-1] - 0.1)))
    return short, long

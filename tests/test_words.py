"""Units and pieces against the rule of spec/contextuality.md, written out a character at a time."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.words import has_letter_or_number, units, units_of_pieces

# Letters, numbers of every kind, marks, punctuation, symbols, emoji with joiners, CJK, a control character, spaces.
ALPHABET = "aZéß9²½漢字か한\u0301\u0489'\"’“”-_–.,…!()«»。、$€%+@#😀🏽\u200d\ufe0f\u200b\x00 \t\n\u00a0\u3000\u2028"
TEXTS = st.text(ALPHABET, max_size=30)


def naive_units(text):
    """Whitespace words; from both ends, characters that are no word characters become units of their own."""

    def is_word(character):
        return unicodedata.category(character)[0] in "LMN"

    words, word = [], []
    for at, character in enumerate(text):
        if character.isspace():
            words.append(word)
            word = []
        else:
            word.append(at)
    found = []
    for places in [*words, word]:
        lead = []
        while places and not is_word(text[places[0]]):
            lead.append(places.pop(0))
        trail = []
        while places and not is_word(text[places[-1]]):
            trail.insert(0, places.pop())
        found += [(at, at + 1) for at in lead]
        if places:
            found.append((places[0], places[-1] + 1))
        found += [(at, at + 1) for at in trail]
    return found


def naive_unit_of_piece(text, start, end, spans):
    for at in range(start, end):
        if not text[at].isspace():
            return next(i for i, (a, b) in enumerate(spans) if a <= at < b)
    return -1


@given(TEXTS)
def test_units_follow_the_rule(text):
    assert [tuple(u) for u in units(text)] == naive_units(text)


@given(st.text(max_size=20).filter(lambda t: not any("\x1c" <= c <= "\x1f" for c in t)))
def test_units_cover_every_character_that_is_not_a_space_once(text):
    # (Python, unlike Unicode, calls U+001C to U+001F spaces.)
    covered = [at for a, b in units(text) for at in range(a, b)]
    assert covered == [at for at, c in enumerate(text) if not c.isspace()]


@given(TEXTS, st.data())
def test_a_piece_belongs_to_the_unit_of_its_first_character_that_is_not_a_space(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    # Pieces as tokenizers give them: one after another, with gaps, with none of a text's characters, or
    # several with the same span (the bytes of one emoji).
    spans = sorted((a, b) for a, b in pairwise(cuts) for _ in range(data.draw(st.integers(0, 2))))
    starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
    unit_starts, unit_ends = np.array(units(text), np.int64).reshape(-1, 2).T
    found = units_of_pieces(starts, ends, unit_starts, unit_ends)
    assert found.tolist() == [naive_unit_of_piece(text, a, b, naive_units(text)) for a, b in spans]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("smartphone-friendly", ["smartphone-friendly"]),
        ("'single' “curly”", ["'", "single", "'", "“", "curly", "”"]),
        ("wait… …what?!", ["wait", "…", "…", "what", "?", "!"]),
        ("$5.00, 50%", ["$", "5.00", ",", "50", "%"]),
        ("it's the dogs'", ["it's", "the", "dogs", "'"]),
        ("(e.g., a_b)", ["(", "e.g", ".", ",", "a_b", ")"]),
        ("cafe\u0301 x\u00a0y", ["cafe\u0301", "x", "y"]),
        ("漢字。かな", ["漢字。かな"]),
        ("漢字。 :-)", ["漢字", "。", ":", "-", ")"]),
        ("👩\u200d🚀ok", ["👩", "\u200d", "🚀", "ok"]),
        (" \t\n", []),
        ("", []),
    ],
)
def test_known_units(text, expected):
    assert [text[a:b] for a, b in units(text)] == expected


@pytest.mark.parametrize(
    ("unit", "said"), [("a", True), ("½", True), ("漢", True), ("\u0301", False), ("$", False), ("", False)]
)
def test_units_that_say_something(unit, said):
    assert has_letter_or_number(unit) is said


def test_a_piece_over_two_units_goes_to_the_first_and_a_space_to_none():
    unit_starts, unit_ends = np.array([0, 2, 5]), np.array([2, 3, 7])  # "ab,  cd"
    pieces = [(0, 3), (3, 5), (3, 7), (2, 2)]
    found = units_of_pieces(*np.array(pieces).T, unit_starts, unit_ends)
    assert found.tolist() == [0, -1, 2, -1]

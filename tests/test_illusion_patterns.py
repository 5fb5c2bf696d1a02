"""Patterns of sets of sentences: features, exact test, false-discovery rate, names; each against its plain twin."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from theodolite.illusion import patterns as module
from theodolite.illusion.features import FORMS, IMPLIED, Feature, Features, features_of
from theodolite.illusion.patterns import (
    Pattern,
    accepted,
    adjusted,
    calibrated,
    find,
    patterns_of,
    random_sets,
    same,
    upper_tail,
    wilson,
)
from theodolite.words import units

WORDS = "red green blue grey york rose sky tree stone river".split()


@pytest.fixture(scope="module")
def wiki(shared: Path) -> list[str]:
    with gzip.open(shared / "data" / "corpora" / "wiki.txt.gz", "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in islice(lines, 4000)]


@pytest.fixture(scope="module")
def wiki_features(wiki: list[str]) -> Features:
    return features_of(wiki)


def made_up(count: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(3, 9))).capitalize() + "." for _ in range(count)]


def plainly(text: str) -> set[Feature]:
    """The features of a text by loops over strings, but for those that look at the whole corpus."""
    split = [text[start:end].casefold().replace("’", "'") for start, end in units(text)]
    is_word = [any(c.isalnum() for c in unit) for unit in split]
    words = [unit for unit, good in zip(split, is_word, strict=True) if good]
    shown = {Feature("word", word) for word in words} | {Feature("first", word) for word in words[:1]}
    for i in range(len(split) - 1):
        if is_word[i] and is_word[i + 1]:
            shown.add(Feature("pair", f"{split[i]} {split[i + 1]}"))
    return shown | {Feature("form", name) for name, shows in FORMS.items() if shows(text)}


def shown_by(features: Features, row: int) -> set[Feature]:
    return {features.names[i] for i in features.matrix[[row]].indices}


# Features


@pytest.mark.parametrize("min_texts", [1, 3])
def test_features_are_those_of_the_plain_definition(wiki: list[str], min_texts: int) -> None:
    texts = ["", "  ", "...", "One. Two, three; one", *wiki[:300]]
    features = features_of(iter(texts), min_texts)
    plain = [plainly(text) for text in texts]
    counts = Counter(feature for shown in plain for feature in shown)
    enough = {feature for feature, count in counts.items() if count >= min_texts}
    lengths = {Feature("form", "very short"), Feature("form", "very long")}
    assert set(features.names) - lengths == enough
    assert len(set(features.names)) == len(features.names)
    assert features.matrix.shape == (len(texts), len(features.names))
    assert set(features.matrix.data.tolist()) == {1}
    for row, shown in enumerate(plain):
        assert shown_by(features, row) - lengths == shown & enough
    assert shown_by(features, 0) <= {Feature("form", "very short")}


def test_a_pair_needs_only_space_between_and_keeps_its_order() -> None:
    features = features_of(["New  York, Paris and don’t"] * 3)
    pairs = {name.value for name in features.names if name.kind == "pair"}
    assert pairs == {"new york", "paris and", "and don't"}


def test_short_and_long_are_tenths_of_the_corpus() -> None:
    texts = [" ".join(["word"] * (i // 5 + 1)) for i in range(100)]
    features = features_of(texts)
    assert (features.short, features.long) == (2, 19)
    short = [row for row in range(100) if Feature("form", "very short") in shown_by(features, row)]
    long = [row for row in range(100) if Feature("form", "very long") in shown_by(features, row)]
    assert short == list(range(10)) and long == list(range(90, 100))


def test_short_takes_the_length_that_comes_nearest_to_a_tenth() -> None:
    # Of 20 texts 3 have one word, 15 %: nearer to a tenth than none. Where 8 have, none is nearer.
    assert features_of(["a"] * 3 + ["a b c"] * 17).short == 1
    assert features_of(["a"] * 8 + ["a b c"] * 12).short == -1


def test_no_text_is_short_or_long_where_all_are_alike() -> None:
    assert not {"very short", "very long"} & {name.value for name in features_of(["a b c"] * 50).names}


@pytest.mark.parametrize("texts", [[], [""], ["", "…", "\n"]])
def test_texts_without_words_have_no_features(texts: list[str]) -> None:
    features = features_of(texts)
    assert features.matrix.shape == (len(texts), len(features.names))
    assert not [name for name in features.names if name.kind != "form"]


def test_any_language_and_either_spelling_of_an_accent() -> None:
    features = features_of(["Кот ест рыбу。", "我 喜欢 北京！", "Un cafe\u0301", "UN CAFÉ", "un café"])
    assert Feature("pair", "un café") in features.names
    assert shown_by(features, 2) & set(features.names) >= {Feature("word", "café"), Feature("first", "un")}
    assert Feature("form", "contains accented letters") in shown_by(features, 2)


def test_taking_some_texts() -> None:
    features = features_of(made_up(30))
    some = features.take(np.array([4, 2]))
    assert shown_by(some, 0) == shown_by(features, 4) and some.matrix.shape[0] == 2
    mask = np.arange(30) == 7
    assert shown_by(features.take(mask), 0) == shown_by(features, 7)


EXAMPLES = {
    "is a question": (
        ["Who?", "Who?!", '"Who is it?"', "(Why?)", "¿Quién?", "谁？", "Who? "],
        ["", "Who? he said.", "What a day.", "?x"],
    ),
    "contains a question mark": (["Who? he said."], ["Who, he said."]),
    "contains an exclamation mark": (["No! he said."], ["No, he said."]),
    "contains digits": (["Route 66.", "٣ كتب"], ["Route sixty."]),
    "begins with a number": (["3 men", "$5 a day", '"18 men"'], ["Three men 3", "A 3"]),
    "contains a year": (
        ["Born in 1994.", "the 1990s", "(1847–1922)", "c.1850", "In 2006, he"],
        ["1000 rupees", "12345", "$1500", "1,994", "1994%", "in 19945", "0.1994"],
    ),
    "contains a date": (
        ["on 16 June 2006", "since June 5", "in June 2006", "the 3rd of May", "2006-06-16", "16.06.2006", "2006年",
         "Dec. 19th"],
        ["In 1994", "You may 5 times", "Maybe 5", "June said", "1/2 and 3", "16.06"],
    ),
    "begins with a date": (
        [
            "On 16 June 2006, it rained.", "In 1994 it rained.", "In the early 1990s", "June 5 was wet.",
            "16 June 2006", "In May, he left.", '"On Monday, 3 April 1922', "As of 2016, ", "During the summer of 1914",
            "1994 was wet.",
        ],
        ["He left on 16 June 2006.", "May I ask?", "In Maya art", "1500000 men", "In 19 games", "Since then",
         "June said no."],
    ),
    "contains a percentage": (["5% of", "5 per cent of", "12 percent"], ["5 of", "per cent"]),
    "contains a sum of money": (["$5", "£ 12", "12 €"], ["5 dollars", "$"]),
    "contains a quotation": (
        ['He said "yes".', "He said “yes”.", '"What is ""it""?"', "Il dit « oui ».", "„Ja“", "「はい」",
         "'Nay, I go,' he said.",
         'I must go."', '"I must go.', "the word 'Ittefaq'?", "‘Well, no,’ he said."],
        ["a 5\" disc", "rock 'n' roll", "Don't, it's the dogs' bone", "It’s the dogs’ bone", ""],
    ),
    "is wholly in quotation marks": (
        ['"I must go."', "“I must go.”", '"What is ""it""?"', "«Oui.»"],
        ['"Yes," he said, "no."', 'He said "yes"', '"I must go.', '""'],
    ),
    "contains brackets": (["a (b) c", "a [1]"], ["a b"]),
    "contains a semicolon": (["a; b"], ["a, b"]),
    "contains a colon": (["Two: one"], ["at 1:55", "http://x"]),
    "contains a dash": (["a — b", "a--b", "a - b", "a—b", "a – b"], ["well-made", "1914–18"]),
    "contains an ellipsis": (["So…", "So..."], ["So."]),
    "four commas or more": (["a, b, c, d, e"], ["a, b, c, d"]),
    "several sentences": (
        ["He left. She came.", "Why? How?", "雨。雪。"], ["He met Mr. Smith.", "He left.", "in 3.5 Years"]
    ),
    "mostly in capitals": (["NO HUMAN LAWS can"], ["Am I an INTP then?", "NO", "I am it"]),
    "contains a word in capitals": (["the BBC said"], ["The Bbc A", "McDONALD"]),
    "three capitalised words or more": (
        ["he met Ann Bo Lee", 'the "Ann Bo Lee" film'],
        ["Ann Bo Lee", "I said I was I", "he met Ann Bo", "One. Two. Three. Four."],
    ),
    "begins with a small letter": (["and so", '"and so'], ["And so", "3 and"]),
    "ends without closing punctuation": (
        ["A heading", 'the "Tantaé"', "(see it)"], ["It ends.", '"It ends."', "Who?", "", " "]
    ),
    "contains accented letters": (["café", "Straße", "Gdańsk"], ["cafe", "кафе", "№ 5"]),
    "contains non-Latin letters": (["the word وصیت", "Кот", "ΔFosB", "我"], ["café", "Hawaiʻi", "5 km", "…"]),
    "contains mathematical or code symbols": (
        ["x = 2", "C++", r"\frac{a}{b}", "a ≤ b", "√2"], ["x is 2", "a_b", "$5 (or 6%)"]
    ),
    "contains a web address": (
        ["https://a.b", "see www.a.b", "at Sina.com."], ["end.Now it", "a company", "e.g. this"]
    ),
    "contains an emoji": (["well 😀"], ["well :)", "5"]),
}  # fmt: skip


def test_every_form_has_its_examples() -> None:
    assert set(EXAMPLES) == set(FORMS)
    assert set(IMPLIED) <= set(FORMS) and {name for names in IMPLIED.values() for name in names} <= set(FORMS)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [(name, text, texts is good) for name, (good, bad) in EXAMPLES.items() for texts in (good, bad) for text in texts],
)
def test_form(name: str, text: str, expected: bool) -> None:
    assert FORMS[name](text) is expected


# The test and its adjustment


def exactly(hits: int, texts: int, showing: int, draws: int) -> Fraction:
    ways = sum(math.comb(showing, j) * math.comb(texts - showing, draws - j) for j in range(hits, draws + 1))
    return Fraction(ways, math.comb(texts, draws))


@pytest.mark.parametrize(
    ("texts", "draws"), [(12, 10), (10, 10), (57, 10), (60_000, 10), (3_000_000, 10), (500, 100), (3, 0)]
)
def test_upper_tail_is_exact(texts: int, draws: int) -> None:
    cases = [(h, s) for s in {0, 1, 3, texts // 3, texts - 1, texts} for h in range(min(draws, s, 10) + 1)]
    hits, showing = np.array(cases).T
    expected = [float(exactly(h, texts, s, draws)) for h, s in cases]
    np.testing.assert_allclose(upper_tail(hits, texts, showing, draws), expected, rtol=1e-11)


@pytest.mark.parametrize(("count", "tests"), [(0, 0), (0, 7), (1, 1), (40, 40), (40, 900)])
def test_adjusted_is_that_of_the_padded_list(count: int, tests: int) -> None:
    rng = np.random.default_rng(count)
    p = np.round(rng.random(count) ** 4, 3)  # rounded, so that there are ties
    padded = np.concatenate([p, np.ones(tests - count)])
    expected = stats.false_discovery_control(padded)[:count] if tests else padded
    np.testing.assert_allclose(adjusted(p, tests), expected, rtol=1e-12)


def test_find_counts_as_loops_do(wiki: list[str]) -> None:
    texts = wiki[:200]
    features = features_of(texts, min_texts=2)
    sets = random_sets(200, 10, 1500, seed=1)  # more than are looked at at once
    sets[3, 2:5] = sets[3, 0]
    sets[4, 1:] = -1
    sets[5, :4] = -1
    sets[6] = -1
    tested = find(features, sets)
    expected = {}
    shown = [shown_by(features, row) for row in range(200)]
    totals = Counter(feature for one in shown for feature in one)
    for s, rows in enumerate(sets.tolist()):
        distinct = list(dict.fromkeys(row for row in rows if row >= 0))
        for feature, hits in Counter(feature for row in distinct for feature in shown[row]).items():
            if hits >= 3:
                places = tuple(rows.index(row) for row in distinct if feature in shown[row])
                p = float(exactly(hits, 200, totals[feature], len(distinct)))
                expected[s, feature] = (hits, pytest.approx(p, rel=1e-9), totals[feature], tuple(sorted(places)))
    found = {
        (int(tested.sets[i]), features.names[tested.features[i]]): (
            int(tested.hits[i]), float(tested.p[i]), int(tested.texts[i]),
            tuple(np.flatnonzero(tested.shows[i]).tolist()),
        )
        for i in range(len(tested.p))
    }  # fmt: skip
    assert len(expected) > 1000
    assert found == expected
    assert tested.tests == (1500 - 2) * sum(total >= 3 for total in totals.values())
    assert tested.count == 1500
    codes = tested.sets * len(features.names) + tested.features
    assert (np.diff(codes) > 0).all()


def test_find_without_sets_or_texts() -> None:
    assert len(find(features_of(made_up(20)), np.empty((0, 10), np.int64)).p) == 0
    nothing = find(features_of([]), np.full((2, 10), -1))
    assert len(nothing.p) == nothing.tests == 0
    assert patterns_of({"a": nothing}, {"a": features_of([])}) == {"a": [(), ()]}
    assert patterns_of({}, {}) == {}
    assert accepted({"a": nothing}) == accepted({}) == 0


# Patterns and their names


def planted(shows: dict[int, str], count: int = 600) -> tuple[list[str], np.ndarray]:
    """Texts, the first ten of which have something put before their full stop, and the set of those ten."""
    texts = made_up(count)
    for row, words in shows.items():
        texts[row] = f"{texts[row][:-1]}, {words}."
    return texts, np.arange(10)[None]


def patterns_in(features: Features, sets: np.ndarray) -> list[tuple[Pattern, ...]]:
    return patterns_of({"a": find(features, sets)}, {"a": features})["a"]


def labels(texts: list[str], sets: np.ndarray) -> list[list[str]]:
    return [[pattern.label for pattern in patterns] for patterns in patterns_in(features_of(texts), sets)]


def test_a_planted_word_is_found_and_named() -> None:
    texts, one = planted(dict.fromkeys((1, 4, 5, 7, 8), "album"))
    sets = np.concatenate([one, one + 100])
    features = features_of(texts)
    ((pattern,), none) = patterns_in(features, sets)
    assert (pattern.label, pattern.kind, pattern.hits, pattern.rows) == ("word: album", "words", 5, (1, 4, 5, 7, 8))
    assert none == ()
    assert 0 < pattern.p_adjusted < 0.05
    assert accepted({"a": find(features, sets)}) == pytest.approx(float(exactly(5, 600, 5, 10)))
    assert labels(*planted(dict.fromkeys((1, 4), "album"))) == [[]]


def test_words_of_the_same_texts_are_one_pattern_and_others_another() -> None:
    shows = {0: "song, album, lyrics", 1: "song, album, lyrics", 2: "song, album, lyrics", 3: "song, album", 4: "song"}
    shows |= dict.fromkeys((6, 7, 8, 9), "goal")
    texts, sets = planted(shows)
    by_label = {pattern.label: pattern for pattern in patterns_in(features_of(texts), sets)[0]}
    assert [label for label in by_label if label.startswith("word")] == ["words: song, album, lyrics", "word: goal"]
    assert by_label["words: song, album, lyrics"].rows == (0, 1, 2, 3, 4)


def test_a_label_shows_five_words() -> None:
    texts, sets = planted(dict.fromkeys(range(4), "a, b, c, d, e, f"))
    assert "words: a, b, c, d, e, …" in labels(texts, sets)[0]


def test_a_pair_stands_for_its_words() -> None:
    assert labels(*planted(dict.fromkeys(range(5), "new york"))) == [["word pair: new york"]]


def test_a_pair_stands_for_the_word_that_hardly_comes_without_it() -> None:
    # `of` is everywhere, so only `course` tells; it never comes without `of`.
    texts, sets = planted(dict.fromkeys(range(600), "of"))
    texts = [text.replace(", of", ", of course") if row < 5 else text for row, text in enumerate(texts)]
    assert labels(texts, sets) == [["word pair: of course"]]


def test_a_pair_that_adds_nothing_to_its_word_is_not_named() -> None:
    # `the` is everywhere; half of all albums are `the album`, and four of the six in the set.
    shows = {row: "the, album" if row % 2 else "the album" for row in range(20, 30)}
    shows |= {row: "the, album" if row < 2 else "the album" for row in range(6)}
    texts, sets = planted(dict.fromkeys(range(600), "the") | shows)
    assert labels(texts, sets) == [["word: album"]]


def test_a_longer_phrase_is_one_pattern() -> None:
    (names,) = labels(*planted(dict.fromkeys(range(5), "battle royal hall")))
    assert names == ["word pairs: battle royal, royal hall"]


def test_a_first_word_stands_for_the_word() -> None:
    texts = made_up(600)
    texts[:5] = [f"What {text}" for text in texts[:5]]
    names = labels(texts, np.arange(10)[None])[0]
    assert "first word: what" in names and "word: what" not in names
    texts[5:9] = [f"{text[:-1]}, what." for text in texts[5:9]]
    assert {"first word: what", "word: what"} <= set(labels(texts, np.arange(10)[None])[0])


def test_the_telling_form_stands_for_those_it_implies() -> None:
    texts = made_up(600)
    texts[:6] = [f"On {row + 3} June 2006, {text}" for row, text in enumerate(texts[:6])]
    names = labels(texts, np.arange(10)[None])[0]
    assert "begins with a date" in names
    assert not {"contains a date", "contains a year", "contains digits"} & set(names)
    texts[6:10] = [f"{text[:-1]} in 77 BC." for text in texts[6:10]]
    assert {"begins with a date", "contains digits"} <= set(labels(texts, np.arange(10)[None])[0])


def grouped(*hits: tuple[str, str, range, float]) -> dict[str, tuple[int, ...]]:
    """Patterns of features that hold, each given as kind, value, rows and p; a pair has half the texts of a word."""
    held = [
        module._Hit(p, -len(rows), Feature(kind, value), p, 50 if kind == "pair" else 100, frozenset(rows))
        for kind, value, rows, p in hits
    ]
    return {pattern.label: pattern.rows for pattern in module._patterns(sorted(held), 3)}


@pytest.mark.parametrize(
    ("rows", "p", "stays"), [(range(7), 1e-5, False), (range(8), 1e-5, True), (range(7), 1e-7, True)]
)
def test_an_implied_form_stays_if_stronger_or_in_three_texts_more(rows: range, p: float, stays: bool) -> None:
    found = grouped(("form", "contains a date", range(5), 1e-6), ("form", "contains digits", rows, p))
    assert "contains a date" in found and ("contains digits" in found) is stays


@pytest.mark.parametrize(("rows", "stays"), [(range(7), False), (range(8), True)])
def test_a_word_stays_beside_its_pair_if_in_three_texts_more(rows: range, stays: bool) -> None:
    found = grouped(
        ("pair", "new york", range(5), 1e-9), ("word", "york", range(5), 1e-8), ("word", "new", rows, 1e-7)
    )  # fmt: skip
    assert found == {"word pair: new york": (0, 1, 2, 3, 4)} | ({"word: new": tuple(rows)} if stays else {})


@pytest.mark.parametrize(("p", "stays"), [(5e-8, False), (5e-11, True)])
def test_a_pair_stays_beside_its_one_telling_word_if_far_stronger(p: float, stays: bool) -> None:
    found = grouped(("pair", "the album", range(5), p), ("word", "album", range(5), 1e-7))
    assert "word: album" in found and ("word pair: the album" in found) is stays


def test_pairs_come_together_only_if_they_share_a_word() -> None:
    rows = range(5)
    found = grouped(("pair", "a b", rows, 1e-9), ("pair", "b c", rows, 1e-8), ("pair", "x y", rows, 1e-7))
    assert list(found) == ["word pairs: a b, b c", "word pair: x y"]


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (range(9), range(6, 10), True),  # three in common
        (range(8), range(6, 10), False),  # two of ten
        (range(3), range(1, 4), True),  # two of four
        (range(4), range(2, 5), False),  # two of five
    ],
)
def test_words_come_together_by_texts_in_common(first: range, second: range, together: bool) -> None:
    found = grouped(("word", "a", first, 1e-9), ("word", "b", second, 1e-8))
    either = tuple(sorted({*first, *second}))
    assert found == ({"words: a, b": either} if together else {"word: a": tuple(first), "word: b": tuple(second)})


def test_patterns_are_in_order_of_strength_and_the_same_again(wiki: list[str], wiki_features: Features) -> None:
    album = [row for row, text in enumerate(wiki) if "album" in text.split()][:10]
    quoted = [row for row, text in enumerate(wiki) if "?" in text or "!" in text][:10]
    sets = np.array([album, quoted])
    found = patterns_in(wiki_features, sets)
    assert found == patterns_in(features_of(wiki), sets)
    for patterns in found:
        keys = [(pattern.p_adjusted, -pattern.hits, pattern.label) for pattern in patterns]
        assert keys == sorted(keys) and keys
        assert all(pattern.hits == len(pattern.rows) >= 3 for pattern in patterns)
    assert found[0][0].label.startswith(("word: album", "words: album"))
    assert "contains a question mark" in {pattern.label for pattern in found[1]}


def test_corpora_are_adjusted_together() -> None:
    texts, sets = planted(dict.fromkeys((1, 4, 5), "album"))
    features = {"with": features_of(texts)}
    tested = {"with": find(features["with"], sets)}
    ((alone,),) = patterns_of(tested, features)["with"]
    for seed in (1, 2):
        features[str(seed)] = features_of(made_up(600, seed))
        tested[str(seed)] = find(features[str(seed)], random_sets(600, 10, 20, seed))
    p = np.concatenate([one.p for one in tested.values()])
    padded = np.concatenate([p, np.ones(sum(one.tests for one in tested.values()) - len(p))])
    expected = stats.false_discovery_control(padded)[: len(p)]
    ((together,),) = patterns_of(tested, features)["with"]
    assert together.p_adjusted == pytest.approx(expected[np.argmin(tested["with"].p)])
    assert together.p_adjusted > 5 * alone.p_adjusted
    assert accepted(tested) == p[expected < 0.05].max()
    strict = together.p_adjusted / 2
    assert patterns_of(tested, features, strict)["with"] == [()]
    assert accepted(tested, strict) == 0


def pattern(kind: str, *values: str) -> Pattern:
    of = {"words": "word"}.get(kind, kind)
    return Pattern(kind, tuple(Feature(of, value) for value in values), 3, 0.01, (0, 1, 2))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (pattern("form", "is a question"), pattern("form", "is a question"), True),
        (pattern("form", "is a question"), pattern("form", "contains digits"), False),
        (pattern("words", "song", "album"), pattern("words", "lyrics", "song", "band", "tour"), True),
        (pattern("words", "song", "album", "a"), pattern("words", "lyrics", "song", "band"), False),
        (pattern("words", "what"), pattern("first", "what"), False),
        (pattern("pair", "new york"), pattern("pair", "new york"), True),
        (pattern("pair", "new york"), pattern("pair", "york new"), False),
        (pattern("first", "in"), pattern("first", "on"), False),
    ],
)
def test_same(a: Pattern, b: Pattern, expected: bool) -> None:
    assert same(a, b) is expected
    assert same(b, a) is expected


# Calibration


def test_random_sets_are_distinct_rows_that_follow_from_seed_and_place() -> None:
    sets = random_sets(50, 10, 200, seed=4)
    assert sets.shape == (200, 10) and sets.dtype == np.int64
    assert all(len(set(rows)) == 10 for rows in sets.tolist())
    assert sets.min() == 0 and sets.max() == 49
    assert np.bincount(sets.ravel(), minlength=50).min() > 15
    np.testing.assert_array_equal(random_sets(50, 10, 20, seed=4), sets[:20])
    assert (random_sets(50, 10, 200, seed=5) != sets).any()
    assert sorted(random_sets(3, 5, 1, seed=0)[0].tolist()) == [-1, -1, 0, 1, 2]


def test_calibrated_is_the_share_of_sets_under_the_raw_threshold() -> None:
    of_set, p = np.array([0, 0, 2, 3]), np.array([0.001, 0.0002, 0.0005, 0.01])
    none, shows = np.zeros(4, np.int64), np.zeros((4, 10), np.bool_)
    random = module.Tested(5, of_set, none, none, none, p, shows, 100, 3)
    assert calibrated([random], 0.001) == (0.4, *wilson(2, 5))
    assert calibrated([random], 0.01)[0] == 0.6
    assert calibrated([random], 0.0)[0] == 0
    assert calibrated([random, replace(random, count=15)], 0.001) == (0.2, *wilson(4, 20))


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (10, 10), (3, 40), (199, 400)])
def test_wilson_is_that_of_scipy(hits: int, n: int) -> None:
    interval = stats.binomtest(hits, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson(hits, n), (interval.low, interval.high), atol=1e-12)
    assert wilson(0, 0) == (0.0, 1.0)


def test_random_sets_of_real_sentences_hardly_ever_have_a_pattern(wiki_features: Features) -> None:
    random = find(wiki_features, random_sets(4000, 10, 400, seed=0))
    found = patterns_of({"wiki": random}, {"wiki": wiki_features})
    with_pattern = sum(bool(patterns) for patterns in found["wiki"])
    # The rate of false discoveries bounds the chance that there is any; if there are, they are few.
    assert with_pattern / 400 <= 0.05
    # Under no adjustment nearly every set would have one: the adjustment does the work.
    unadjusted = calibrated([random], 0.05)
    assert unadjusted[0] > 0.5


def test_the_p_values_of_random_sets_are_not_too_small(wiki_features: Features) -> None:
    random = find(wiki_features, random_sets(4000, 10, 400, seed=1))
    for level in (1e-2, 1e-3, 1e-4):
        # Each test falls under its level with at most that chance; the sum over tests is then at most this.
        assert (random.p <= level).sum() <= level * random.tests
    common = [i for i, name in enumerate(wiki_features.names) if name == Feature("word", "the")]
    of_the = random.p[np.isin(random.features, common)]
    assert 0.02 < np.mean(np.concatenate([of_the, np.ones(400 - len(of_the))]) <= 0.25) < 0.4

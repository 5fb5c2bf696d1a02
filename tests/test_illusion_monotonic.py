"""Monotonic tokens against their definition written out with sorted() and loops, and against chance."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from theodolite.illusion import monotonic
from theodolite.illusion.monotonic import (
    Counts,
    change_of_columns,
    change_of_scores,
    common_tokens,
    counts_of,
    directions_of_change,
    group_counts,
    most_monotonic,
    quintiles,
    shares,
)

Array = NDArray[Any]
plain = settings(deadline=None, max_examples=150)


# --- The definitions, written plainly. ---


def plain_groups(scores: Array) -> list[int]:
    n = len(scores)
    order = sorted(range(n), key=lambda row: (float(scores[row]), row))
    groups = [0] * n
    for i, row in enumerate(order):
        groups[row] = 5 * i // n
    return groups


def plain_counts(texts: list[list[int]], tokens: list[int], groups: list[int]) -> list[list[int]]:
    found = [[0] * 5 for _ in tokens]
    for text, group in zip(texts, groups, strict=True):
        for token in text:
            if token in tokens:
                found[tokens.index(token)][group] += 1
    return found


def plain_change(counts: list[int]) -> int:
    if all(a < b for a, b in itertools.pairwise(counts)):
        return 1
    return -1 if all(a > b for a, b in itertools.pairwise(counts)) else 0


def plain_changes(texts: list[list[int]], tokens: list[int], scores: Array) -> list[list[int]]:
    return [
        [plain_change(row) for row in plain_counts(texts, tokens, plain_groups(scores[:, j]))]
        for j in range(scores.shape[1])
    ]


def flat(texts: list[list[int]]) -> tuple[Array, Array]:
    bounds = np.cumsum([0, *map(len, texts)])
    return np.array([token for text in texts for token in text], np.int64), bounds.astype(np.int64)


def some_texts(rng: np.random.Generator, n: int, vocabulary: int, length: int = 12) -> list[list[int]]:
    """Texts of tokens by Zipf's law; some are empty."""
    weights = 1 / np.arange(1, vocabulary + 1)
    sizes = rng.integers(0, length, n)
    return [rng.choice(vocabulary, size, p=weights / weights.sum()).tolist() for size in sizes]


def blocks(rows: Array, cuts: list[int]) -> Callable[[], Iterator[Array]]:
    return lambda: iter(np.split(rows, cuts))


# --- The tokens and their counts. ---


def test_common_tokens_occur_often_enough_in_every_corpus() -> None:
    rng = np.random.default_rng(0)
    corpora = [rng.integers(0, 40, size).astype(np.int64) for size in (300, 500, 400)]
    corpora[1] = np.append(corpora[1], 90)  # An id that the other corpora's tables do not reach.
    tallies = [Counter(ids.tolist()) for ids in corpora]
    for least in (1, 8, 11):
        expected = [token for token in range(100) if all(tally[token] >= least for tally in tallies)]
        assert common_tokens(corpora, least).tolist() == expected
    assert 0 < len(common_tokens(corpora, 8)) < 40  # The middle one decides about something.


def test_common_tokens_of_nothing() -> None:
    assert common_tokens([], 1).tolist() == []
    assert common_tokens([np.array([3, 3]), np.array([], np.int64)], 1).tolist() == []
    with pytest.raises(ValueError, match="min_count is 0"):
        common_tokens([np.array([3])], 0)


@plain
@given(st.lists(st.lists(st.integers(0, 9), max_size=8), max_size=8), st.permutations(range(12)), st.integers(0, 12))
def test_counts_are_those_of_each_text(texts: list[list[int]], order: list[int], k: int) -> None:
    tokens = order[:k]
    found = counts_of(*flat(texts), np.array(tokens, np.int64))
    assert found.texts == len(texts)
    assert (found.bounds.dtype, found.token.dtype, found.count.dtype) == (np.int64, np.int32, np.int32)
    for i, text in enumerate(texts):
        part = slice(found.bounds[i], found.bounds[i + 1])
        tally = Counter(text)
        expected = [(place, tally[token]) for place, token in enumerate(tokens) if tally[token]]
        assert list(zip(found.token[part].tolist(), found.count[part].tolist(), strict=True)) == expected


def test_counts_refuse_bounds_of_other_texts() -> None:
    with pytest.raises(ValueError, match="from 0 to 3, but there are 2"):
        counts_of(np.array([1, 2]), np.array([0, 1, 3]), np.array([1]))


# --- The groups. ---


@plain
@given(
    st.lists(st.sampled_from([-0.0, 0.0, 1.0, -1.0, 2.5, math.inf, -math.inf, 1e-40]), max_size=40),
    st.sampled_from([np.float32, np.float64]),
)
def test_groups_of_tied_scores(scores: list[float], kind: type[np.floating[Any]]) -> None:
    column = np.array(scores, kind)
    assert quintiles(column[:, None])[:, 0].tolist() == plain_groups(column)


@plain
@given(st.lists(st.floats(allow_nan=False, width=32), max_size=60), st.sampled_from([np.float32, np.float64]))
def test_groups_of_any_scores(scores: list[float], kind: type[np.floating[Any]]) -> None:
    column = np.array(scores, kind)
    assert quintiles(column[:, None])[:, 0].tolist() == plain_groups(column)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 6, 9, 1003, 5000])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_groups_of_many_columns(n: int, kind: type[np.floating[Any]]) -> None:
    rng = np.random.default_rng(n)
    scores = rng.standard_normal((n, 11)).astype(kind)
    scores[:, ::3] = np.round(scores[:, ::3])
    scores[:, 1] = 7.0
    found = quintiles(scores)
    assert found.shape == (n, 11) and found.dtype == np.uint8
    for order in (scores, np.asfortranarray(scores)):
        assert quintiles(order).T.tolist() == [plain_groups(scores[:, j]) for j in range(11)]


def test_the_scores_stay_as_they_were() -> None:
    scores = np.random.default_rng(0).standard_normal((50, 1))
    before = scores.copy()
    quintiles(scores)
    assert (scores == before).all()


def test_both_zeros_are_one_score() -> None:
    assert quintiles(np.array([[0.0], [-0.0], [0.0], [-0.0], [0.0]]))[:, 0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n", [1, 3, 200])
def test_nan_has_no_group(n: int) -> None:
    scores = np.zeros((n, 4), np.float32)
    scores[n // 2, 2] = np.nan
    with pytest.raises(ValueError, match=f"column 2: the score of row {n // 2} is NaN"):
        quintiles(scores)
    counts = counts_of(np.array([], np.int64), np.zeros(n + 1, np.int64), np.array([], np.int64))
    # Streamed, two columns at a time, the column has the same number.
    with pytest.raises(ValueError, match=f"column 2: the score of row {n // 2} is NaN"):
        change_of_columns(blocks(scores, []), counts, 4, 0, memory=2 * 4 * n)


# --- The tally. ---


@pytest.mark.parametrize("m", [0, 1, 7, 8, 9, 19])
@pytest.mark.parametrize("n", [0, 1, 130])
def test_group_counts_are_a_loops(n: int, m: int) -> None:
    rng = np.random.default_rng(100 * n + m)
    texts = some_texts(rng, n, 30)
    tokens = [4, 0, 17, 29, 2]
    counts = counts_of(*flat(texts), np.array(tokens))
    groups = rng.integers(0, 5, (n, m)).astype(np.uint8)
    expected = [plain_counts(texts, tokens, groups[:, j].tolist()) for j in range(m)]
    for order in (groups, np.asfortranarray(groups)):
        found = group_counts(counts, order, 5)
        assert found.shape == (m, 5, 5)
        assert found.tolist() == expected


def test_a_tally_goes_beyond_32_bits() -> None:
    many = 2**31 - 1
    counts = Counts(np.array([0, 1, 2]), np.zeros(2, np.int32), np.full(2, many, np.int32))
    assert group_counts(counts, np.full((2, 1), 3, np.uint8), 1).tolist() == [[[0, 0, 0, 2 * many, 0]]]


def test_wrong_arrays_are_refused_before_the_compiled_code_sees_them() -> None:
    counts = counts_of(np.array([3, 4]), np.array([0, 1, 2]), np.array([3, 4]))
    with pytest.raises(ValueError, match="3 rows of scores, but the tokens of 2 texts"):
        group_counts(counts, np.zeros((3, 1), np.uint8), 2)
    with pytest.raises(ValueError, match="3 rows of scores"):
        change_of_scores(np.zeros((3, 1)), counts, 2)
    with pytest.raises(ValueError, match="beyond the 1 chosen"):
        group_counts(counts, np.zeros((2, 1), np.uint8), 1)
    with pytest.raises(ValueError, match="numbered 5"):
        group_counts(counts, np.full((2, 1), 5, np.uint8), 2)
    with pytest.raises(ValueError, match="bounds to 2 of 1 tokens"):
        group_counts(Counts(counts.bounds, counts.token[:1], counts.count), np.zeros((2, 1), np.uint8), 2)
    for rows in (np.zeros((1, 3)), np.zeros((3, 3)), np.zeros((2, 2))):
        with pytest.raises(ValueError, match=r"rows of embeddings|of embeddings that should be"):
            change_of_columns(blocks(rows, []), counts, 3, 2)


@plain
@given(st.lists(st.integers(0, 9), min_size=5, max_size=5, unique=True), st.booleans(), st.integers(0, 3))
def test_change_is_strict(counts: list[int], tie: bool, at: int) -> None:
    for row in (counts, sorted(counts), sorted(counts)[::-1]):
        tied = [*row[: at + 1], row[at], *row[at + 2 :]] if tie else row
        found = directions_of_change(np.array([[tied]]))
        assert found.dtype == np.int8 and found.tolist() == [[plain_change(tied)]]
        assert not tie or found[0, 0] == 0


# --- From scores to changes. ---


def related(rng: np.random.Generator, texts: list[list[int]], columns: int, token: int) -> Array:
    """Scores of which the first column counts a token, so that something is monotonic."""
    scores = rng.standard_normal((len(texts), columns)).astype(np.float32)
    scores[:, 0] += 2 * np.array([text.count(token) for text in texts])
    scores[:, 1] -= 2 * np.array([text.count(token) for text in texts])
    scores[:, 2] = np.round(scores[:, 2])
    return scores


def test_change_of_scores_is_the_definition() -> None:
    rng = np.random.default_rng(3)
    texts, tokens = some_texts(rng, 303, 12), list(range(12))
    scores = related(rng, texts, 21, token=0)
    found = change_of_scores(scores, counts_of(*flat(texts), np.array(tokens)), 12)
    assert found.tolist() == plain_changes(texts, tokens, scores)
    assert (found[0, 0], found[1, 0]) == (1, -1)


@pytest.mark.parametrize("memory", [1, 9 * 4 * 303, 17 * 4 * 303, 2**28])
def test_blocks_and_memory_change_nothing(memory: int) -> None:
    rng = np.random.default_rng(4)
    texts, tokens = some_texts(rng, 303, 12), list(range(12))
    rows = related(rng, texts, 21, token=1)
    counts = counts_of(*flat(texts), np.array(tokens))
    expected, baseline = change_of_columns(blocks(rows, []), counts, 21, 12, shuffle_seed=5)
    assert expected.tolist() == plain_changes(texts, tokens, rows)
    assert baseline is not None
    for cuts in ([1, 2, 301], [150], list(range(0, 303, 7))):
        change, shuffled = change_of_columns(blocks(rows, cuts), counts, 21, 12, shuffle_seed=5, memory=memory)
        assert shuffled is not None
        assert (change == expected).all() and (shuffled == baseline).all()
        alone, none = change_of_columns(blocks(rows, cuts), counts, 21, 12, memory=memory)
        assert none is None and (alone == expected).all()


def test_few_bytes_mean_few_columns_at_a_time() -> None:
    rng = np.random.default_rng(4)
    texts = some_texts(rng, 100, 12)
    counts, rows = counts_of(*flat(texts), np.arange(12)), rng.standard_normal((100, 21)).astype(np.float32)
    for memory, readings in ((1, 21), (9 * 400, 3), (2**20, 1)):
        calls = []

        def again(calls: list[int] = calls) -> Iterator[Array]:
            calls.append(1)
            yield rows

        change_of_columns(again, counts, 21, 12, shuffle_seed=0, memory=memory)
        assert len(calls) == readings + 1  # One looks at the type.


def test_scores_of_64_bits_are_not_rounded() -> None:
    texts = [[0] * i for i in range(1, 11)]
    rows = 1 + 1e-12 * np.arange(10.0)[:, None]
    counts = counts_of(*flat(texts), np.array([0]))
    # Rounded to 32 bits all would be equal, and the order of rows would make both of them rise.
    assert change_of_columns(blocks(rows, [3]), counts, 1, 1)[0].tolist() == [[1]]
    assert change_of_columns(blocks(-rows, [3]), counts, 1, 1)[0].tolist() == [[-1]]


def test_shuffling_is_a_permutation_of_each_columns_groups() -> None:
    rng = np.random.default_rng(6)
    texts, tokens = some_texts(rng, 203, 9), list(range(9))
    rows = rng.standard_normal((203, 50)).astype(np.float32)
    counts = counts_of(*flat(texts), np.array(tokens))
    _, found = change_of_columns(blocks(rows, []), counts, 50, 9, shuffle_seed=8)
    expected = []
    for j in range(50):
        groups = np.array(plain_groups(rows[:, j]), np.uint8)
        np.random.default_rng([8, j]).shuffle(groups)
        expected.append([plain_change(row) for row in plain_counts(texts, tokens, groups.tolist())])
    assert found is not None and found.tolist() == expected
    assert np.any(expected)


def test_shuffled_scores_are_monotonic_as_often_as_chance_has_it() -> None:
    rng = np.random.default_rng(7)
    k, columns = 40, 1200
    texts = some_texts(rng, 2000, k, length=20)
    counts = counts_of(*flat(texts), np.arange(k))
    # Longer texts hold more of every token: sorted by length, most tokens are monotonic.
    rows = np.repeat([[len(text)] for text in texts], columns, axis=1).astype(np.float32)
    change, shuffled = change_of_columns(blocks(rows, [700]), counts, columns, k, shuffle_seed=1)
    assert shuffled is not None and (change != 0).mean() > 0.5
    # Chance, simulated: the texts in any order, cut into five.
    dense = np.array([[text.count(token) for token in range(k)] for text in texts])
    drawn = np.stack([dense[rng.permutation(2000)].reshape(5, 400, k).sum(1) for _ in range(1600)])
    steps = np.diff(drawn, axis=1)
    chance = ((steps > 0).all(1) | (steps < 0).all(1)).mean(1)
    # A column's tokens are shuffled together and lean on one another, so that a share's error is taken over columns.
    found = (shuffled != 0).mean(1)
    error = math.sqrt(found.var() / len(found) + chance.var() / len(chance))
    assert found.mean() == pytest.approx(chance.mean(), abs=4 * error)
    assert found.mean() < 2 / 120 - 4 * error  # Rare tokens tie.
    assert (shuffled > 0).sum() == pytest.approx((shuffled < 0).sum(), rel=0.5)
    # Another seed is another shuffle.
    _, other = change_of_columns(blocks(rows, [700]), counts, columns, k, shuffle_seed=2)
    assert other is not None and (other != shuffled).any()


# --- Shares and tops. ---


def test_shares_of_every_combination() -> None:
    rng = np.random.default_rng(8)
    changes = [rng.integers(-1, 2, (13, 9)).astype(np.int8) for _ in range(4)]
    found = shares(changes, ["a", "b", "c", "d"])
    names = [[*"a"], [*"b"], [*"c"], [*"d"], [*"ab"], [*"ac"], [*"ad"], [*"bc"], [*"bd"], [*"cd"]]
    assert [row["corpora"] for row in found] == [*names, [*"abc"], [*"abd"], [*"acd"], [*"bcd"], [*"abcd"]]
    for row in found:
        members = [changes["abcd".index(name)] for name in row["corpora"]]
        cells = [[int(part[i, j]) for part in members] for i in range(13) for j in range(9)]
        assert row["pairs"] == 117
        assert row["monotonic"] == pytest.approx(sum(all(cell) for cell in cells) / 117)
        assert row["increasing"] == pytest.approx(sum(set(cell) == {1} for cell in cells) / 117)
        assert row["decreasing"] == pytest.approx(sum(set(cell) == {-1} for cell in cells) / 117)
    assert found[-1]["monotonic"] > found[-1]["increasing"] + found[-1]["decreasing"]  # Directions may differ.


def test_shares_of_no_tokens_are_not_numbers() -> None:
    found = shares([np.zeros((5, 0), np.int8)] * 2, ["a", "b"])
    assert len(found) == 3
    for row in found:
        assert row["pairs"] == 0
        assert all(math.isnan(row[key]) for key in ("monotonic", "increasing", "decreasing"))


def test_most_monotonic_tokens() -> None:
    # By token: for 2 columns in both corpora, 0, 3 (directions differ), 2.
    first = np.array([[1, 1, 1, 0], [1, 0, -1, -1], [0, 1, 1, 1]], np.int8)
    second = np.array([[-1, 0, -1, 1], [1, 1, 1, 1], [1, 0, -1, 1]], np.int8)
    tokens = np.array([50, 7, 90, 20])
    assert most_monotonic([first, second], tokens, 9) == [(90, 3), (20, 2), (50, 2)]
    assert most_monotonic([first, second], tokens, 2) == [(90, 3), (20, 2)]
    assert most_monotonic([first], tokens, 2) == [(90, 3), (7, 2)]


# --- Compiling. ---


def test_import_neither_loads_nor_compiles_numba() -> None:
    code = "import sys, theodolite.illusion.monotonic; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_a_folder_to_write_to_the_tally_still_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    real = numba.njit

    def refusing(**options: Any) -> Any:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(numba, "njit", refusing)
    monotonic._compiled_tally.cache_clear()
    try:
        counts = counts_of(np.array([3]), np.array([0, 1]), np.array([3]))
        assert group_counts(counts, np.array([[2]], np.uint8), 1).tolist() == [[[0, 0, 1, 0, 0]]]
    finally:
        monotonic._compiled_tally.cache_clear()

"""Windows and batches: everything is covered, once where it must be, within limit and budget."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.batching import fill, groups, windows

LENGTHS = st.lists(st.integers(1, 40), max_size=30).map(lambda x: np.array(x, np.int64))
BUDGETS = st.integers(1, 200)
LIMITS = st.integers(8, 40)


@given(LENGTHS, BUDGETS)
def test_fill_takes_every_text_once_within_the_budget(lengths, budget):
    batches = [b.tolist() for b in fill(lengths, budget)]
    assert sorted(i for b in batches for i in b) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= budget
    order = [lengths[i] for b in batches for i in b]
    assert order == sorted(order)
    # Batches are full: the shortest of the next one would not have fitted.
    for batch, after in pairwise(batches):
        assert (len(batch) + 1) * lengths[after[0]] > budget


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 16)), max_size=30), BUDGETS)
def test_groups_take_every_text_once_and_never_mix_short_and_long(texts, budget):
    counts = np.array([c for c, _ in texts], np.int64)
    lengths = np.array([n for _, n in texts], np.int64)
    found = [g.tolist() for g in groups(counts, lengths, 16, budget)]
    assert sorted(i for g in found for i in g) == list(range(len(texts)))
    for group in found:
        long = counts[group] > 1
        assert long.all() or not long.any()
        cost = counts[group].sum() * 16 if long.all() else len(group) * lengths[group].max()
        assert len(group) == 1 or cost <= budget


@given(st.lists(st.integers(0, 200), max_size=5), LIMITS, st.integers(1, 2))
def test_windows_of_single_texts(sizes, limit, specials):
    lengths = np.array(sizes, np.int64)
    found = windows(lengths, lengths, limit, specials)
    assert (found.length + specials <= limit).all() and (found.length_b == 0).all()
    for i, n in enumerate(sizes):
        mine = found.take(np.flatnonzero(found.text == i))
        assert mine.start.tolist() == [k * (limit // 2) for k in range(len(mine))]
        assert (mine.length[:-1] == limit - specials).all()
        times = np.zeros(n, int)
        for a, k in zip(mine.start, mine.length, strict=True):
            times[a : a + k] += 1
        assert ((times >= 1) & (times <= 2)).all()
        # No window more than is needed: without the last, some piece would be left out.
        assert len(mine) == 1 or mine.start[-2] + mine.length[-2] < n


@given(st.lists(st.tuples(st.integers(0, 120), st.integers(0, 120)), max_size=5), LIMITS, st.integers(3, 4))
def test_windows_of_pairs(sizes, limit, specials):
    first, second = (np.array([s[k] for s in sizes], np.int64) for k in (0, 1))
    found = windows(first + second, first, limit, specials)
    room = limit - specials
    assert (found.length + found.length_b <= room).all()
    assert (np.diff(found.text) >= 0).all()
    for i, (a, b) in enumerate(sizes):
        mine = found.take(np.flatnonzero(found.text == i))
        seen = np.zeros(a + b, bool)
        for sa, na, sb, nb in zip(mine.start, mine.length, mine.start_b, mine.length_b, strict=True):
            assert 0 <= sa <= sa + na <= a <= sb <= sb + nb <= a + b
            assert (na or not a) and (nb or not b)  # each window compares something of both
            seen[sa : sa + na] = seen[sb : sb + nb] = True
        assert seen.all()
        if a + b <= room:
            assert len(mine) == 1
        elif a <= room // 2:
            assert (mine.length == a).all()
        elif b <= room - room // 2:
            assert (mine.length_b == b).all()


def test_known_windows():
    # all-MiniLM-L6-v2: 256 tokens with two special ones, the next window 128 further.
    found = windows(np.array([254, 255, 600]), np.array([254, 255, 600]), 256, 2)
    assert found.text.tolist() == [0, 1, 1, 2, 2, 2, 2]
    assert found.start.tolist() == [0, 0, 128, 0, 128, 256, 384]
    assert found.length.tolist() == [254, 254, 127, 254, 254, 254, 216]
    pair = windows(np.array([24]), np.array([4]), 19, 3)  # 4 pieces stay, 20 slide past them
    assert pair.start.tolist() == [0, 0, 0] and pair.length.tolist() == [4, 4, 4]
    assert pair.start_b.tolist() == [4, 10, 16] and pair.length_b.tolist() == [12, 12, 8]


@pytest.mark.parametrize(
    ("budget", "expected"), [(1, [[1], [3], [2], [0]]), (6, [[1, 3], [2], [0]]), (20, [[1, 3, 2, 0]])]
)
def test_known_batches(budget, expected):
    assert [b.tolist() for b in fill(np.array([5, 2, 4, 2]), budget)] == expected


def test_nothing_gives_nothing():
    none = np.empty(0, np.int64)
    assert len(windows(none, none, 8, 2)) == 0
    assert list(fill(none, 8)) == [] and list(groups(none, none, 8, 8)) == []

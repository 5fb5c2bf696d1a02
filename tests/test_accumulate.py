"""The accumulators and block scans against their plain definitions, and the laws all of them obey."""

from __future__ import annotations

import io
import itertools
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from theodolite.accumulate import (
    Accumulator,
    Covariance,
    DistinctSample,
    Gathered,
    HashSample,
    KeyCounts,
    KeyedSums,
    TopK,
    UnitSums,
    WeightedMean,
    column_quantiles,
    hash_of,
    mean_interval,
    mean_pair_cosine,
    nearest,
    scan,
    top,
    uniform_of,
)
from theodolite.accumulate.base import State

Array = NDArray[Any]
Rows = NDArray[np.int64]
settings.register_profile("accumulate", deadline=None, max_examples=60)
plain = settings(settings.get_profile("accumulate"))


# --- The laws: any batches, any order of merging, through a file and back, and nothing is nothing. ---


@dataclass(frozen=True)
class Law:
    """A kind of accumulator over made-up data: how to make one, feed it rows, and what should come out."""

    make: Callable[[], Any]
    feed: Callable[[Any, Rows], None]
    wanted: Callable[[Rows], Sequence[Any]]
    off: float = 0.0  # What rounding may do; 0 for counts, ranks and samples.


N = 40
RNG = np.random.default_rng(5)
VECTORS = RNG.normal(size=(N, 3, 4))
UNITS = VECTORS / np.linalg.norm(VECTORS, axis=-1, keepdims=True)
WEIGHTS = RNG.integers(0, 4, N).astype(np.float64)
# A spread of a millionth of the mean: squares about zero would lose four digits more than is allowed below.
FAR = VECTORS[:, 0] + 1e6
KEYS = RNG.integers(-3, 4, N)
WORDS = ["", "a", "a\0", "é", "ab", "long " * 50, "\U0001f600"]
# Few different values, so that hashes and scores are often equal.
HASHES = RNG.integers(0, 9, N).astype(np.uint64) + np.uint64(2**63)
MEMBERS = np.stack([RNG.integers(0, 5, N), RNG.permutation(N)], axis=1)
SCORES = RNG.integers(-3, 4, (N, 5)) / 4.0
SCORES[:, 1] = 0.5
SCORES[:6, 2] = -np.inf
SCORES[6:9, 2] = np.inf


def pair_cosine(units: Array, weights: Array) -> float:
    """Mean cosine of two different members, by walking over all pairs."""
    above = below = 0.0
    for i, j in itertools.permutations(range(len(units)), 2):
        above += weights[i] * weights[j] * float(units[i] @ units[j])
        below += weights[i] * weights[j]
    return above / below if below else np.nan


def feed_units(seen: UnitSums, rows: Rows) -> None:
    a = WEIGHTS[rows]
    seen.add(np.tensordot(a, UNITS[rows], 1), a.sum(), (a**2).sum(), len(rows))


def feed_replicates(seen: UnitSums, rows: Rows) -> None:
    a = np.stack([np.ones(len(rows)), WEIGHTS[rows]])
    seen.add(np.tensordot(a, UNITS[rows], 1), a.sum(axis=1), (a**2).sum(axis=1), len(rows))


def feed_keyed(seen: KeyedSums, rows: Rows) -> None:
    keys, which = np.unique(KEYS[rows], return_inverse=True)
    slots, a = seen.slots(keys), WEIGHTS[rows]
    seen.add(slots, np.bincount(which, a), np.bincount(which, a**2), np.bincount(which))
    np.add.at(seen.sums, slots[which], a[:, None, None] * UNITS[rows])


def want_keyed(rows: Rows) -> Sequence[Any]:
    keys = sorted(set(KEYS[rows].tolist()))
    groups = [rows[KEYS[rows] == key] for key in keys]
    cosines = [[pair_cosine(UNITS[g, layer], WEIGHTS[g]) for layer in range(3)] for g in groups]
    return np.array(keys, np.int64), np.array(cosines).reshape(-1, 3)


def want_mean(rows: Rows) -> Sequence[Any]:
    x, w = FAR[rows], WEIGHTS[rows]
    n = np.count_nonzero(w)
    if n == 0:
        return np.full(4, np.nan), np.full(4, np.nan)
    mean = sum(wi * xi for wi, xi in zip(w, x, strict=True)) / w.sum()
    if n == 1:
        return mean, np.full(4, np.nan)
    spread = sum((wi * (xi - mean)) ** 2 for wi, xi in zip(w, x, strict=True))
    return mean, 1.959963984540054 * np.sqrt(spread * n / (n - 1)) / w.sum()


def want_covariance(rows: Rows) -> Sequence[Any]:
    rows = rows[WEIGHTS[rows] > 0]
    if not len(rows):
        return 0, np.full(4, np.nan), np.full((4, 4), np.nan)
    x = np.repeat(FAR[rows], WEIGHTS[rows].astype(int), axis=0)
    return len(rows), x.mean(axis=0), np.cov(x.T, bias=True)


def want_distinct(rows: Rows) -> Sequence[Any]:
    walk = sorted((int(HASHES[i]), tuple(MEMBERS[i].tolist()), WORDS[KEYS[i]]) for i in rows)
    first: dict[str, tuple[int, ...]] = {}
    for _, member, key in walk:
        first.setdefault(key, member)
    kept = list(first.items())[:4]
    return np.array([m for _, m in kept], np.int64).reshape(-1, 2), [k for k, _ in kept]


def want_counts(rows: Rows) -> Sequence[Any]:
    seen = Counter(WORDS[KEYS[i]] for i in rows)
    sums: Counter[str] = Counter()
    for i in rows:
        sums[WORDS[KEYS[i]]] += int(i)
    return sorted(seen), np.array([[seen[k], sums[k]] for k in sorted(seen)], np.int64).reshape(-1, 2)


def feed_counts(seen: KeyCounts, rows: Rows) -> None:
    for i in rows.tolist():
        seen.update(WORDS[KEYS[i]], [1, i])


def want_top(rows: Rows, scores: Array, k: int, sign: int) -> Sequence[Any]:
    best = np.full((scores.shape[1], k), np.nan)
    where = np.full((scores.shape[1], k), -1)
    for column in range(scores.shape[1]):
        ranked = sorted((-sign * float(scores[i, column]), int(i)) for i in rows)[:k]
        best[column, : len(ranked)] = [-sign * s for s, _ in ranked]
        where[column, : len(ranked)] = [i for _, i in ranked]
    return best, where


def top_law(k: int, largest: bool) -> Law:
    return Law(
        lambda: TopK(k, 5, largest=largest),
        lambda seen, rows: seen.update(SCORES[rows], rows),
        lambda rows: want_top(rows, SCORES, k, 1 if largest else -1),
    )


LAWS = {
    "UnitSums": Law(
        lambda: UnitSums((3, 4)),
        feed_units,
        lambda rows: (np.array([pair_cosine(UNITS[rows, i], WEIGHTS[rows]) for i in range(3)]),),
        off=1e-12,
    ),
    "UnitSums of replicates": Law(
        lambda: UnitSums((2, 3, 4)),
        feed_replicates,
        lambda rows: (
            np.array([[pair_cosine(UNITS[rows, i], w[rows]) for i in range(3)] for w in (np.ones(N), WEIGHTS)]),
        ),
        off=1e-12,
    ),
    "KeyedSums": Law(lambda: KeyedSums((3, 4)), feed_keyed, want_keyed, off=1e-12),
    "WeightedMean": Law(
        lambda: WeightedMean((4,)),
        lambda seen, rows: seen.update(FAR[rows], WEIGHTS[rows]),
        want_mean,
        off=1e-9,
    ),
    "Covariance": Law(
        lambda: Covariance(4),
        lambda seen, rows: seen.update(FAR[rows], WEIGHTS[rows]),
        want_covariance,
        off=1e-9,
    ),
    "HashSample": Law(
        lambda: HashSample(7, 2),
        lambda seen, rows: seen.update(HASHES[rows], MEMBERS[rows]),
        lambda rows: (
            np.array([m for _, m in sorted((int(HASHES[i]), MEMBERS[i].tolist()) for i in rows)][:7], np.int64).reshape(
                -1, 2
            ),
        ),
    ),
    "HashSample of none": Law(
        lambda: HashSample(0, 2),
        lambda seen, rows: seen.update(HASHES[rows], MEMBERS[rows]),
        lambda rows: (np.empty((0, 2), np.int64),),
    ),
    "DistinctSample": Law(
        lambda: DistinctSample(4, 2),
        lambda seen, rows: seen.update(HASHES[rows], MEMBERS[rows], [WORDS[k] for k in KEYS[rows]]),
        want_distinct,
    ),
    "DistinctSample of none": Law(
        lambda: DistinctSample(0, 2),
        lambda seen, rows: seen.update(HASHES[rows], MEMBERS[rows], [WORDS[k] for k in KEYS[rows]]),
        lambda rows: (np.empty((0, 2), np.int64), []),
    ),
    "Gathered": Law(
        lambda: Gathered((3, 4)),
        lambda seen, rows: seen.update(rows * 3, VECTORS[rows].astype(np.float32)),
        lambda rows: (np.sort(rows) * 3, VECTORS[np.sort(rows)].astype(np.float32)),
    ),
    "KeyCounts": Law(lambda: KeyCounts(2), feed_counts, want_counts),
    "TopK": top_law(3, True),
    "TopK smallest": top_law(3, False),
    "TopK of one": top_law(1, True),
    "TopK of more than there are": top_law(50, True),
}
every = pytest.mark.parametrize("name", LAWS)


def results(seen: Any) -> Sequence[Any]:
    found = seen.result()
    if isinstance(seen, KeyedSums):  # Its keys stand in the order they came.
        order = np.argsort(found[0])
        return [array[order] for array in found]
    return found if isinstance(found, tuple) else (found,)


def agree(got: Sequence[Any], wanted: Sequence[Any], law: Law | None = None) -> None:
    """Exactly the same, unless the law allows for rounding."""
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        assert np.shape(one) == np.shape(other)
        if law is None or not law.off or isinstance(other, int):
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=law.off)


def through_file(state: State) -> State:
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **{f"at{i}": a for i, a in enumerate(state.values())})
    file.seek(0)
    with np.load(file, allow_pickle=False) as loaded:
        found = {name: loaded[f"at{i}"] for i, name in enumerate(state)}
    for array in found.values():
        array.flags.writeable = False  # As from a memory map.
    return found


@st.composite
def cuts(draw: st.DrawFn) -> list[Rows]:
    """Some of the rows in some order, cut into batches, of which some may be empty."""
    rows = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).permutation(N)[: draw(st.integers(0, N))]
    edges = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=5)))
    return np.split(rows, edges)


@every
@plain
@given(batches=cuts())
def test_batches_give_the_plain_definition(name: str, batches: list[Rows]) -> None:
    law = LAWS[name]
    seen = law.make()
    for batch in batches:
        law.feed(seen, batch)
    agree(results(seen), law.wanted(np.concatenate(batches)), law)


@every
@plain
@given(batches=cuts(), data=st.data())
def test_merging_in_any_order_is_the_same(name: str, batches: list[Rows], data: st.DataObject) -> None:
    law = LAWS[name]
    parts = [law.make() for _ in batches]
    for part, batch in zip(parts, batches, strict=True):
        law.feed(part, batch)
    while len(parts) > 1:
        i, j = data.draw(st.permutations(range(len(parts))))[:2]
        parts[i].merge(parts[j])
        del parts[j]
    agree(results(parts[0]), law.wanted(np.concatenate(batches)), law)


@every
@plain
@given(batches=cuts())
def test_state_goes_through_a_file_and_on(name: str, batches: list[Rows]) -> None:
    law = LAWS[name]
    seen, restored = law.make(), law.make()
    for batch in batches:
        law.feed(seen, batch)
        saved = through_file(restored.state())
        before = {key: array.copy() for key, array in saved.items()}
        restored = law.make().restore(saved)
        law.feed(restored, batch)
        for key, array in saved.items():
            np.testing.assert_array_equal(array, before[key])
        # Not nearly: a run that goes on from a file equals one that was not interrupted.
        agree(results(restored), results(seen))


@every
def test_a_restored_one_stands_alone(name: str) -> None:
    law, rows = LAWS[name], np.arange(N)
    seen = law.make()
    law.feed(seen, rows[:20])
    twin = law.make()
    law.feed(twin, rows[5:9])  # What it held is gone after restoring.
    twin.restore(seen.state())
    law.feed(twin, rows[20:])
    agree(results(seen), law.wanted(rows[:20]), law)
    agree(results(twin), law.wanted(rows), law)


@every
def test_empty_merges_as_nothing(name: str) -> None:
    law, rows = LAWS[name], np.arange(N)
    seen, taken = law.make(), law.make()
    law.feed(seen, rows)
    before = [np.copy(r) for r in results(seen)]
    seen.merge(law.make())
    taken.merge(seen)
    agree(results(seen), before)
    agree(results(taken), before)
    both = law.make()
    both.merge(law.make())
    agree(results(both), law.wanted(rows[:0]), law)
    law.feed(taken, rows[:0])
    agree(results(taken), before)


@every
def test_merging_leaves_the_other_alone(name: str) -> None:
    law, rows = LAWS[name], np.arange(N)
    one, other = law.make(), law.make()
    law.feed(other, rows[:20])
    one.merge(other)
    law.feed(one, rows[20:])
    agree(results(other), law.wanted(rows[:20]), law)


class Nested(Accumulator):
    """Every kind of state there is."""

    def __init__(self) -> None:
        self.inner = WeightedMean(())
        self.number = 0
        self.share = 0.0
        self.on = False
        self.names: list[str] = []
        self.layers = [Covariance(1) for _ in range(12)]
        self._made = 7

    def merge(self, other: Nested) -> None:
        raise NotImplementedError


def test_state_of_every_kind() -> None:
    seen = Nested()
    seen.inner.update(np.array([1.0, 2.0]), np.ones(2))
    seen.number, seen.share, seen.on = np.int64(3), np.float64(0.5), True  # type: ignore[assignment]
    seen._made = 8
    for i, layer in enumerate(seen.layers):
        layer.update(np.full((i, 1), float(i)))
    seen.names = ["a\0", "", "é" * 3]
    found = Nested().restore(through_file(seen.state()))
    assert (found.number, found.share, found.on, found.names) == (3, 0.5, True, ["a\0", "", "ééé"])
    assert type(found.number) is int and type(found.on) is bool
    assert float(found.inner.result()[0]) == 1.5
    assert [layer.count for layer in found.layers] == list(range(12))
    assert list(found.parts()) == ["inner", *(f"layers.{i}" for i in range(12))]
    assert found._made == 7  # How it was made, not what it saw.


def test_one_long_key_does_not_make_all_keys_long() -> None:
    seen = KeyCounts(1)
    for i in range(1000):
        seen.update(str(i), [1])
    seen.update("x" * 100_000, [1])
    assert sum(array.nbytes for array in seen.state().values()) < 1_000_000


# --- Sums and means ---


def test_mean_pair_cosine_known_values() -> None:
    same = np.array([[1.0, 0.0]] * 5)
    assert float(mean_pair_cosine(same.sum(0), np.array(5), np.array(5))) == 1.0
    assert float(mean_pair_cosine(np.zeros(2), np.array(2), np.array(2))) == -1.0
    assert np.isnan(mean_pair_cosine(np.array([1.0, 0.0]), np.array(1), np.array(1)))
    both = mean_pair_cosine(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([2.0, 2.0]), np.array([2.0, 2.0]))
    assert both.tolist() == [1.0, 0.0]


def test_keyed_sums_keep_each_key_in_place() -> None:
    seen = KeyedSums((2,))
    assert seen.slots(np.array([5, 9])).tolist() == [0, 1]
    seen.sums[[0, 1]] += [[5.0, 0.0], [9.0, 0.0]]
    slots = seen.slots(np.array([7, 5, -1]))
    assert seen.keys[slots].tolist() == [7, 5, -1]
    assert dict(zip(seen.keys.tolist(), seen.sums[:, 0].tolist(), strict=True)) == {5: 5, 9: 9, 7: 0, -1: 0}
    seen.add(slots, np.array([1.0, 2, 3]), np.array([4.0, 5, 6]), np.array([7, 8, 9]))
    seen.add(slots, np.ones(3), np.ones(3), np.ones(3, np.int64))
    assert [a[slots].tolist() for a in (seen.weight, seen.squares, seen.count)] == [
        [2, 3, 4],
        [5, 6, 7],
        [8, 9, 10],
    ]


def test_weighted_mean_known_values() -> None:
    seen = WeightedMean(())
    assert all(np.isnan(seen.result()))
    seen.update(np.array([3.0, np.nan]), np.array([1.0, 0.0]))
    mean, half = seen.result()
    assert float(mean) == 3.0 and np.isnan(half)  # One value, whatever else has no weight.
    seen.update(np.array([5.0]), np.array([1.0]))
    mean, half = seen.result()
    assert float(mean) == 4.0 and float(half) == pytest.approx(1.959963984540054)  # √2 / √2


def test_spread_survives_a_large_mean() -> None:
    x = np.random.default_rng(0).normal(size=1000)
    a, b, c = WeightedMean(()), WeightedMean(()), Covariance(1)
    a.update(1e9 + x[:300], np.ones(300))
    b.update(1e9 + x[300:], np.ones(700))
    a.merge(b)
    for part in np.split(x, 10):
        c.update(1e9 + part[:, None])
    assert float(a.result()[1]) == pytest.approx(1.959963984540054 * x.std(ddof=1) / 1000**0.5, rel=1e-6)
    assert c.result()[2].item() == pytest.approx(x.var(), rel=1e-6)


def test_intervals_cover() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(3, 1, (400, 2000)), rng.uniform(0.5, 2, 400)
    seen = WeightedMean((2000,))
    seen.update(x, w)
    mean, half = seen.result()
    assert 0.93 < np.mean(np.abs(mean - 3) < half) < 0.97
    for few in (5, 400):
        _, low, high = mean_interval(x[:few])
        assert 0.93 < np.mean((low < 3) & (high > 3)) < 0.97


def test_mean_interval_against_the_definition() -> None:
    x = np.random.default_rng(1).normal(size=(20, 3, 2))
    x[3:, 0, 0] = x[1:, 1, 0] = x[:, 2, 0] = np.nan
    mean, low, high = mean_interval(x)
    for at in np.ndindex(3, 2):
        held = [v for v in x[(slice(None), *at)] if not np.isnan(v)]
        if not held:
            assert np.isnan([mean[at], low[at], high[at]]).all()
            continue
        assert mean[at] == pytest.approx(sum(held) / len(held))
        error = np.std(held, ddof=1) / len(held) ** 0.5 if len(held) > 1 else np.nan
        half = stats.t.ppf(0.975, max(len(held) - 1, 1)) * error
        np.testing.assert_allclose([low[at], high[at]], [mean[at] - half, mean[at] + half])
    assert np.isnan(mean_interval(np.empty(0))[0])


def test_covariance_known_values_and_faults() -> None:
    seen = Covariance(2)
    seen.update(np.array([[1, 0], [-1, 0], [0, 2], [0, -2]], np.float32))
    count, mean, covariance = seen.result()
    assert (count, mean.tolist(), covariance.tolist()) == (4, [0, 0], [[0.5, 0], [0, 2]])
    seen.update(np.full((5, 2), 9.0), np.zeros(5))
    assert seen.result()[0] == 4
    for vectors, weights in [
        (np.zeros((3, 3)), None),
        (np.zeros(2), None),
        (np.zeros((2, 2)), np.array([1.0, -1.0])),
        (np.zeros((2, 2)), np.array([1.0, np.nan])),
        (np.zeros((2, 2)), np.ones(3)),
    ]:
        with pytest.raises(ValueError, match="wanted"):
            seen.update(vectors, weights)
    x = np.random.default_rng(0).normal(size=(50, 8)) @ np.random.default_rng(1).normal(size=(8, 8))
    wide = Covariance(8)
    for part in np.split(x, [7, 20, 21]):
        wide.update(part, np.linspace(0, 1, len(part)))
    found = wide.result()[2]
    assert (found == found.T).all() and np.linalg.eigvalsh(found).min() > 0


# --- Samples ---


def test_samples_are_the_smallest_hashes_of_real_keys() -> None:
    rows = np.arange(5000)
    hashes = hash_of(7, rows, rows % 13)
    seen = HashSample(50, 1)
    for part in np.array_split(rows[::-1], 9):
        seen.update(hashes[part], part[:, None])
    assert seen.result()[:, 0].tolist() == np.argsort(hashes)[:50].tolist()
    distinct = DistinctSample(20, 1)
    keys = [str(r % 100) for r in rows]
    distinct.update(hashes, rows[:, None], keys)
    walk: dict[str, int] = {}
    for row in np.argsort(hashes).tolist():
        walk.setdefault(keys[row], row)
    members, names = distinct.result()
    assert names == list(walk)[:20] and members[:, 0].tolist() == list(walk.values())[:20]


def test_equal_hashes_at_the_edge_of_a_sample() -> None:
    hashes = np.array([1, 5], np.uint64)
    plainly, distinct = HashSample(2, 1), DistinctSample(2, 1)
    for hash_, member in [(hashes, [[4], [9]]), (hashes[1:], [[7]]), (hashes[1:], [[8]])]:
        plainly.update(hash_, np.array(member))
        distinct.update(hash_, np.array(member), [str(m) for m in member])
    assert plainly.result().tolist() == distinct.result()[0].tolist() == [[4], [7]]


def test_gathered_keeps_what_it_was_given() -> None:
    seen, buffer = Gathered((2,)), np.zeros((3, 2), np.float32)
    for start in (6, 0, 3):
        codes = np.arange(start, start + 3)
        buffer[:] = codes[:, None]
        seen.update(codes, buffer)
    codes, vectors = seen.result()
    assert codes.tolist() == list(range(9)) and vectors[:, 1].tolist() == list(range(9))
    wide: Any = np.array([[0.5, 0.5]])
    seen.update(np.array([4]), wide)
    codes, vectors = seen.result()
    assert vectors.dtype == np.float32 and codes.tolist() == [0, 1, 2, 3, 4, 4, 5, 6, 7, 8]
    assert vectors[4:6, 0].tolist() == [4.0, 0.5]  # Equal codes in the order they came.


# --- The best of each column ---


@plain
@given(
    k=st.integers(1, 12),
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=6),
    levels=st.sampled_from([2, 10, 10**6]),
    seed=st.integers(0, 2**32 - 1),
    largest=st.booleans(),
    waiting=st.sampled_from([1, 40, 2**14]),
    types=st.lists(st.sampled_from(["f2", "f4", "f8", "i8"]), min_size=6, max_size=6),
    shuffled=st.booleans(),
)
def test_top_over_many_shapes(
    k: int,
    sizes: list[int],
    levels: int,
    seed: int,
    largest: bool,
    waiting: int,
    types: list[str],
    shuffled: bool,
) -> None:
    rng = np.random.default_rng(seed)
    count = sum(sizes)
    rows = rng.permutation(count) if shuffled else np.arange(count)
    # Neighbours in float64 that are one and the same in float32.
    scores = 1 + rng.integers(0, levels, (count, 4)) * 1e-9 * rng.integers(0, 2) + rng.integers(0, 3, (count, 4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(top, "_WAITING", waiting)
        seen, offered, start = TopK(k, 4, largest=largest), np.empty_like(scores), 0
        for size, kind in zip(sizes, types, strict=False):
            batch = scores[start : start + size].astype(kind)
            seen.update(batch, rows[start : start + size])
            offered[rows[start : start + size]] = batch
            start += size
        agree(seen.result(), want_top(np.arange(count), offered, k, 1 if largest else -1))


def test_top_of_a_crowd_with_one_hard_column() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3000, 40)).astype(np.float32)
    scores[:, 0] = 0
    scores[:, 1] = np.arange(3000)
    scores[:, 2] = -np.inf
    seen = TopK(10, 40)
    for part in np.array_split(np.arange(3000), 5):
        seen.update(scores[part], part)
    agree(seen.result(), want_top(np.arange(3000), scores, 10, 1))
    assert seen.result()[1][0].tolist() == list(range(10))
    # Equal scores of later rows do not even contend.
    assert set(seen.contenders(scores[:5], 3000)[1].tolist()).isdisjoint({0, 2})


def test_top_holds_few_and_sorts_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top, "_WAITING", 1)
    sorts: list[int] = []
    settle = TopK._settle

    def counted(self: TopK) -> None:
        sorts.append(self._places)
        settle(self)

    monkeypatch.setattr(TopK, "_settle", counted)
    rng, seen = np.random.default_rng(0), TopK(10, 64)
    for start in range(0, 64 * 512, 512):
        seen.update(rng.normal(size=(512, 64)), np.arange(start, start + 512))
    assert len(sorts) < 12 and max(sorts) < 4 * seen.scores.size


def test_top_faults() -> None:
    seen = TopK(2, 3)
    scores = np.zeros((4, 3))
    scores[2, 1] = np.nan
    with pytest.raises(ValueError, match="place 2 of the batch in column 1"):
        seen.update(scores, np.arange(4))
    for bad, rows in [
        (np.zeros((4, 2)), np.arange(4)),
        (np.zeros((4, 3)), np.arange(3)),
        (np.zeros((2, 3)), np.array([0, -1])),
    ]:
        with pytest.raises(ValueError, match=r"wanted|0 or more"):
            seen.update(bad, rows)
    assert (seen.result()[1] == -1).all()  # A refused batch leaves no trace.
    for other in (TopK(3, 3), TopK(2, 4), TopK(2, 3, largest=False)):
        with pytest.raises(ValueError, match="different"):
            seen.merge(other)
    with pytest.raises(ValueError, match="k must be"):
        TopK(0, 3)


# --- Block scans ---


def cut(x: Array, size: int) -> Iterator[Array]:
    for start in range(0, len(x), size):
        yield x[start : start + size]


@plain
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(0, 70),
    k=st.integers(1, 9),
    size=st.integers(1, 80),
    tile=st.sampled_from([1, 3, 4096]),
    kind=st.sampled_from(["f2", "f4", "f8"]),
)
def test_nearest_against_the_definition(seed: int, rows: int, k: int, size: int, tile: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    x, queries = rng.integers(-2, 3, (rows, 5)).astype(kind), rng.integers(-2, 3, (4, 5)).astype(kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_TILE_ROWS", tile)
        patch.setattr(scan, "_TILE_QUERIES", tile)
        patch.setattr(scan, "_PAIR_NUMBERS", 20)
        found = nearest(queries, cut(x, size), k)
    products = x.astype(np.float64) @ queries.T.astype(np.float64)
    agree(found, want_top(np.arange(rows), products, k, 1))


def test_nearest_does_not_depend_on_the_blocks() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 96)).astype(np.float32)
    # Twins, and near twins that float32 products cannot tell apart.
    x[1000:1500] = x[:500]
    x[1500:] = x[500:1000] * np.float32(1 + 1e-7)
    queries = x[::40] * 3
    first = nearest(queries, [x], 7)  # An odd number: the cut falls between twins.
    for size in (1, 7, 64, 999):
        agree(nearest(queries, cut(x, size), 7), first)
    products = np.array([[float((q.astype(np.float64) * v).sum()) for v in x] for q in queries])
    agree(first, want_top(np.arange(2000), products.T, 7, 1))


@pytest.mark.parametrize("size", [1, 3, 20, 300])
def test_nearest_where_float32_products_are_wrong(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top, "_WAITING", 1)
    rng = np.random.default_rng(0)
    large, small = rng.integers(-(2**22), 2**22, (300, 32)), rng.integers(-1, 2, (300, 32))
    # The large ones cancel, and what is left is about as large as the rounding of the large ones.
    x = np.hstack([large, small - large]).astype(np.float32)
    queries = np.tile(rng.uniform(0.5, 1, (20, 32)), 2).astype(np.float32)
    products = np.array([[float((q.astype(np.float64) * v).sum()) for v in x] for q in queries])
    rounded = want_top(np.arange(300), x @ queries.T, 3, 1)
    wanted = want_top(np.arange(300), products.T, 3, 1)
    assert (rounded[1] != wanted[1]).any()
    agree(nearest(queries, cut(x, size), 3), wanted)


def test_nearest_faults_and_edges() -> None:
    eye = np.eye(3)
    scores, rows = nearest(eye[:0], [eye], 2)
    assert scores.shape == rows.shape == (0, 2)
    scores, rows = nearest(eye, [], 2)
    assert np.isnan(scores).all() and (rows == -1).all()
    huge = np.full((1, 3), 1e30, np.float32)
    for queries, block in [
        (eye, np.eye(2)),
        (eye[0], eye),
        (eye, eye * np.nan),
        (eye, np.full((1, 3), np.inf)),
        (huge, huge),
    ]:
        with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"wanted|finite"):
            nearest(queries, [block], 1)


@plain
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 60),
    size=st.integers(1, 70),
    memory=st.sampled_from([1, 500, 2**20]),
    kind=st.sampled_from(["f2", "f4", "f8", "i8"]),
    levels=st.lists(st.floats(0, 1), max_size=5),
)
def test_quantiles_are_those_of_numpy(
    seed: int, rows: int, size: int, memory: int, kind: str, levels: list[float]
) -> None:
    x = (np.random.default_rng(seed).normal(size=(rows, 7)) * 9).astype(kind)
    found = column_quantiles(lambda: cut(x, size), levels, memory=memory)
    assert found.shape == (len(levels), 7)
    if levels:
        np.testing.assert_array_equal(found, np.quantile(x.astype(np.float64), levels, axis=0))


def test_quantiles_in_bounded_memory() -> None:
    x = np.random.default_rng(0).normal(size=(1000, 20)).astype(np.float32)
    calls: list[int] = []

    def blocks() -> Iterator[Array]:
        calls.append(1)
        return cut(x, 128)

    found = column_quantiles(blocks, [0.5], memory=4 * 1000 * 6)
    assert len(calls) == 1 + 4  # Six columns at a time.
    np.testing.assert_array_equal(found[0], np.median(x.astype(np.float64), axis=0))


def test_quantile_edges_and_faults() -> None:
    x = np.array([[np.nan, np.inf, -np.inf], [1.0, np.inf, 0.0], [2.0, 0.0, 1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = column_quantiles(lambda: [x], [0, 0.75, 1])
    np.testing.assert_array_equal(found, [[np.nan, 0, -np.inf], [np.nan, np.inf, 0.5], [np.nan, np.inf, 1]])
    turns = iter([[x], [x, x]])
    for blocks_of, q in [
        (lambda: [x], [1.5]),
        (lambda: [x], [np.nan]),
        (lambda: [], [0.5]),
        (lambda: [x, x[:, :2]], [0.5]),
        (lambda: next(turns), [0.5]),
    ]:
        with pytest.raises(ValueError, match=r"quantiles|wanted|at first"):
            column_quantiles(blocks_of, q)


# --- Hashes ---


def plain_hash(seed: int, *keys: int) -> int:
    """splitmix64 in whole numbers, as the plain definition."""
    whole = 2**64 - 1

    def mixed(z: int) -> int:
        z = (z + 0x9E3779B97F4A7C15) & whole
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & whole
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & whole
        return z ^ (z >> 31)

    state = mixed((seed + 0x9E3779B97F4A7C15) & whole)
    for key in keys:
        state = mixed(state ^ ((key + 0x9E3779B97F4A7C15) & whole))
    return state


@plain
@given(seed=st.integers(-(2**63), 2**63 - 1), keys=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3))
def test_hash_is_splitmix(seed: int, keys: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert int(hash_of(seed, *keys)) == plain_hash(seed, *keys)
        assert hash_of(seed, *[[k, k] for k in keys]).tolist() == (
            [plain_hash(seed, *keys)] * 2 if keys else plain_hash(seed)
        )


def test_hashes_are_frozen() -> None:
    # Samples of stored runs hang on these: they must never change.
    assert int(hash_of(0, 1)) == 0x1C98A6D959D7D291
    assert int(hash_of(42, -1, 7)) == 0x9DE520A61B8B0DC5
    assert hash_of(3, [-1, 0, 1], [[5], [6]]).shape == (2, 3)


@pytest.mark.parametrize("seed", [0, 1, -1, 2**63 - 1])
def test_hashes_are_uniform(seed: int) -> None:
    rows = np.arange(-50_000, 50_000)
    for hashes in (
        hash_of(seed, rows),
        hash_of(seed, 7, rows),
        hash_of(seed, rows, 7),
        hash_of(seed, rows * 2**40),
    ):
        assert len(np.unique(hashes)) == len(rows)
        for shift in (0, 29, 58):  # Low, middle and high bits.
            bins = np.bincount(((hashes >> np.uint64(shift)) & np.uint64(63)).astype(np.int64), minlength=64)
            assert stats.chisquare(bins).pvalue > 1e-4
    numbers = uniform_of(seed, rows)
    assert numbers.min() >= 0 and numbers.max() < 1
    assert stats.kstest(numbers, "uniform").pvalue > 1e-4
    neighbours = np.corrcoef(numbers[:-1], numbers[1:])[0, 1]
    assert abs(neighbours) < 0.02
    assert abs(np.corrcoef(numbers, uniform_of(seed ^ 1, rows))[0, 1]) < 0.02


def test_every_key_and_its_place_matters() -> None:
    a, b = np.meshgrid(np.arange(-40, 40), np.arange(-40, 40))
    assert len(np.unique(hash_of(0, a, b))) == a.size  # Different for each pair, (a, b) and (b, a) too.
    assert (hash_of(0, a, b) != hash_of(1, a, b)).all()
    assert int(hash_of(0, 1)) != int(hash_of(1, 0)) != int(hash_of(0, 1, 0))
    assert int(hash_of(0)) != int(hash_of(0, 0)) != int(hash_of(0, 0, 0))
    narrow = np.array([-1, 5], np.int8)
    assert hash_of(0, narrow).tolist() == hash_of(0, narrow.astype(np.int64)).tolist()


def test_a_hash_takes_whole_numbers_only() -> None:
    for key in (0.5, [1.0], ["a"], [2**63, -1], 2**64):
        with pytest.raises((TypeError, OverflowError)):
            hash_of(0, key)
    assert hash_of(0, []).shape == (0,)

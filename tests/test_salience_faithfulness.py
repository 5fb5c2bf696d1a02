"""Comprehensiveness and sufficiency against their definitions written out, on SST-2 and a made-up model."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from theodolite.encoder.tokens import Tokens
from theodolite.salience.faithfulness import Faithfulness, faithfulness, ranks_of
from theodolite.salience.statistics import class_scores, percentiles, resampled_means

MASK = 103


def answers(tokens: Tokens) -> np.ndarray:
    """(n, 3) logits that depend on which pieces there are and on where they stand."""
    table = np.random.default_rng(5).normal(size=(31_000, 3))
    found = np.zeros((len(tokens), 3))
    for text in range(len(tokens)):
        for place, at in enumerate(range(tokens.bounds[text], tokens.bounds[text + 1])):
            found[text] += table[tokens.ids[at]] / (1 + 0.2 * place)
    return found


def probability(ids: list[int], cls: int) -> float:
    n = len(ids)
    alone = Tokens([""], None, np.array(ids, np.int64), np.zeros(n), np.zeros(n), np.array([0, n]), np.array([n]))
    powers = [math.exp(x) for x in answers(alone)[0]]
    return powers[cls] / sum(powers)


@pytest.fixture(scope="module")
def tokens(shared: Path, minilm) -> Tokens:
    lines = (shared / "data" / "sst2" / "dev.tsv").read_text(encoding="utf-8").splitlines()[1:61]
    return minilm.tokenizer(["", "good", *(line.split("\t")[0] for line in lines)])


def naive(tokens: Tokens, weights: np.ndarray, classes: np.ndarray, k: int) -> tuple[list[float], list[float]]:
    more, less = [], []
    for text in range(len(tokens)):
        begin, end = tokens.bounds[text], tokens.bounds[text + 1]
        ids = tokens.ids[begin:end].tolist()
        order = sorted(range(len(ids)), key=lambda i: (-abs(weights[begin + i]), i))
        top = set(order[:k])
        before = probability(ids, classes[text])
        more.append(before - probability([MASK if i in top else x for i, x in enumerate(ids)], classes[text]))
        less.append(before - probability([x if i in top else MASK for i, x in enumerate(ids)], classes[text]))
    return more, less


def same(row: Faithfulness, more: list[float], less: list[float]) -> None:
    for name, values in (("comprehensiveness", more), ("sufficiency", less)):
        assert getattr(row, name) == pytest.approx(np.mean(values), abs=1e-12)
        half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
        assert getattr(row, f"{name}_low") == pytest.approx(np.mean(values) - half, abs=1e-6)
        assert getattr(row, f"{name}_high") == pytest.approx(np.mean(values) + half, abs=1e-6)


def test_rows_are_those_of_the_definition(tokens: Tokens) -> None:
    random = np.random.default_rng(0)
    # Whole numbers, so that there are many ties, of both signs.
    weights = {name: random.integers(-4, 5, len(tokens.ids)).astype(np.float32) for name in ("one", "other")}
    classes = random.integers(0, 3, len(tokens))
    rows = faithfulness(tokens, weights, classes, answers, MASK, numbers=(1, 5))
    assert [(row.method, row.k) for row in rows] == [(m, k) for m in ("one", "other", "random") for k in (1, 5)]
    for row in rows[:4]:
        same(row, *naive(tokens, weights[row.method], classes, row.k))
        assert row.n == len(tokens)
        assert row.whole == sum(tokens.bounds[i + 1] - tokens.bounds[i] <= row.k for i in range(len(tokens))) > 0


def test_answers_of_a_regression_move_either_way(tokens: Tokens) -> None:
    """Salient pieces may push them up or down: signed, the falls of different texts would cancel."""

    def one(given: Tokens) -> np.ndarray:
        return answers(given)[:, :1]

    weights = np.random.default_rng(1).normal(size=len(tokens.ids))
    nothing = np.zeros(len(tokens), np.int64)
    row = faithfulness(tokens, {"one": weights}, nothing, one, MASK, numbers=(2,))[0]
    top = ranks_of(tokens, np.abs(weights)) < 2
    before = one(tokens)[:, 0]
    moved = [
        np.abs(before - one(replace(tokens, ids=np.where(out, MASK, tokens.ids)))[:, 0]).tolist() for out in (top, ~top)
    ]
    same(row, *moved)
    assert min(moved[0]) >= 0 and row.comprehensiveness > 0.3


def test_the_default_numbers_and_the_tokens_are_left_as_they_were(tokens: Tokens) -> None:
    ids = tokens.ids.copy()
    rows = faithfulness(tokens, {}, np.zeros(len(tokens), np.int64), answers, MASK)
    assert [row.k for row in rows] == [1, 3, 5, 10] and {row.method for row in rows} == {"random"}
    np.testing.assert_array_equal(tokens.ids, ids)


def test_random_order_follows_from_the_seed(tokens: Tokens) -> None:
    classes = np.zeros(len(tokens), np.int64)

    def random(seed: int) -> list[Faithfulness]:
        return faithfulness(tokens, {}, classes, answers, MASK, numbers=(3,), seed=seed)

    assert random(1) == random(1) != random(2)


def test_random_order_takes_every_place_as_often(minilm) -> None:
    """One deciding piece among ten alike: a third of texts lose it when three random ones are masked."""
    tokens = minilm.tokenizer(["good" + " the" * 9] * 3000)
    good = tokens.ids[0]

    def knows(asked: Tokens) -> np.ndarray:
        has = np.array([good in asked.ids[a:b] for a, b in zip(asked.bounds[:-1], asked.bounds[1:], strict=True)])
        return np.stack([has * 1000.0, np.full(len(asked), 500.0)], axis=1)

    (row,) = faithfulness(tokens, {}, np.zeros(3000, np.int64), knows, MASK, numbers=(3,))
    assert row.comprehensiveness == pytest.approx(0.3, abs=0.03)
    assert row.sufficiency == pytest.approx(1 - row.comprehensiveness, abs=1e-12)


def test_a_salience_that_is_right_is_told_from_random(minilm, shared: Path) -> None:
    tokens = minilm.tokenizer([f"the film is {w} and long" for w in ("good", "bad", "dull", "great")] * 10)
    table = np.random.default_rng(3).normal(size=31_000) * 0.01
    for word, value in (("good", 4), ("great", 4), ("bad", -4), ("dull", -4)):
        table[minilm.tokenizer([word]).ids[0]] = value

    def linear(asked: Tokens) -> np.ndarray:
        sums = np.add.reduceat(table[asked.ids], asked.bounds[:-1])
        return np.stack([-sums, sums], axis=1)

    classes = linear(tokens).argmax(axis=1)
    rows = {(r.method, r.k): r for r in faithfulness(tokens, {"exact": table[tokens.ids]}, classes, linear, MASK)}
    assert rows["exact", 1].comprehensiveness_low > rows["random", 1].comprehensiveness_high
    assert rows["exact", 1].sufficiency_high < rows["random", 1].sufficiency_low
    assert rows["exact", 10].sufficiency == 0 and rows["exact", 10].whole == 40


def test_pieces_of_both_texts_of_a_pair_are_ranked_together(minilm) -> None:
    tokens = minilm.tokenizer(["a b", "c"], ["d", "e f g"])
    assert ranks_of(tokens, np.array([1.0, 1, 2, 0, 3, 3, 9])).tolist() == [1, 2, 0, 3, 1, 2, 0]


def test_a_regression_is_asked_for_its_answer(tokens: Tokens) -> None:
    logits = answers(tokens)[:, :1]
    np.testing.assert_array_equal(class_scores(logits, np.zeros(len(tokens), np.int64)), logits[:, 0])


# Resampling


def test_resampled_means_spread_as_the_mean_does() -> None:
    random = np.random.default_rng(0)
    values = random.normal(size=(3, 400))
    values[1, 100:] = np.nan
    values[2] = 2 * values[0] + 1
    means = resampled_means(values, seed=1)
    assert means.shape == (1000, 3)
    for row in (0, 1):
        known = values[row][~np.isnan(values[row])]
        assert means[:, row].std() == pytest.approx(stats.sem(known), rel=0.1)
        assert means[:, row].mean() == pytest.approx(known.mean(), abs=3 * stats.sem(known) / math.sqrt(1000) + 1e-3)
    # The same texts for every row.
    np.testing.assert_allclose(means[:, 2], 2 * means[:, 0] + 1)
    np.testing.assert_array_equal(means, resampled_means(values, seed=1))
    assert (means != resampled_means(values, seed=2)).any()


def test_resampled_means_are_the_same_in_blocks_and_know_the_bootstrap_of_scipy(monkeypatch) -> None:
    values = np.random.default_rng(2).exponential(size=(1, 60))
    whole = resampled_means(values, seed=0)
    monkeypatch.setattr("theodolite.salience.statistics._BLOCK", 130)
    np.testing.assert_allclose(resampled_means(values, seed=0), whole, rtol=1e-14)
    peer = stats.bootstrap(values, np.mean, n_resamples=9999, method="percentile", random_state=0)
    interval = peer.confidence_interval
    np.testing.assert_allclose(percentiles(whole[:, 0], 60), (interval.low, interval.high), atol=0.04)


def test_an_interval_leaves_out_a_fortieth_at_either_end() -> None:
    assert percentiles(np.random.default_rng(0).permutation(1001).astype(float), 2) == (25.0, 975.0)


def test_nothing_has_no_interval() -> None:
    assert np.isnan(resampled_means(np.empty((2, 0)), 0)).all()
    assert np.isnan(percentiles(np.full(5, np.nan), 5)).all()
    assert np.isnan(percentiles(np.ones(5), 1)).all()
    rare = resampled_means(np.array([[np.nan] * 9 + [3.0]]), 0)[:, 0]
    assert set(rare[~np.isnan(rare)]) == {3.0}
    assert np.isnan(rare).mean() == pytest.approx(0.9**10, abs=0.06)

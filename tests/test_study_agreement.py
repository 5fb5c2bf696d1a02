"""Agreement against plain loops, scikit-learn and the numbers of published worked examples."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import fisher_exact
from sklearn.metrics import cohen_kappa_score

from theodolite.accumulate import wilson
from theodolite.study.agreement import ONE_RATER, ONE_VALUE, TWO_RATERS, cohen, fleiss, krippendorff
from theodolite.study.resampling import adjusted, difference_ends, difference_p, drawn, mean_with_ends, share_ends

NONE = float("nan")

# K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section D: four observers, twelve units.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
).T


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_that_of_krippendorff_s_own_example(level: str, published: float):
    found = krippendorff(KRIPPENDORFF, level)
    assert found.value == pytest.approx(published, abs=0.0005)
    # The last unit has one answer only and pairs with nothing.
    assert found.items == 11
    assert found.low < found.value < found.high <= 1


def test_fleiss_is_that_of_the_well_known_example():
    """Ten subjects, fourteen raters, five categories (Wikipedia, "Fleiss' kappa"): 0.210."""
    counts = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    ratings = np.array([np.repeat(np.arange(5), row) for row in counts], float)
    assert fleiss(ratings).value == pytest.approx(0.210, abs=0.0005)


def test_cohen_is_that_of_the_well_known_example():
    """Fifty grant proposals (Wikipedia, "Cohen's kappa"): both yes 20, both no 15, the rest split: 0.4."""
    ratings = np.array([[1, 1]] * 20 + [[1, 0]] * 5 + [[0, 1]] * 10 + [[0, 0]] * 15, float)
    assert cohen(ratings).value == pytest.approx(0.4)


@pytest.mark.parametrize("seed", range(6))
def test_measures_equal_their_definitions_in_plain_loops(seed: int):
    random = np.random.default_rng(seed)
    truth = random.integers(1, 6, 40)
    ratings = np.stack([np.where(random.random(40) < 0.6, truth, random.integers(1, 6, 40)) for _ in range(4)], 1) * 1.0
    pair = ratings[:, :2]
    assert cohen(pair).value == pytest.approx(cohen_kappa_score(pair[:, 0].astype(int), pair[:, 1].astype(int)))
    assert fleiss(ratings).value == pytest.approx(_fleiss(ratings))
    ratings[random.random(ratings.shape) < 0.3] = np.nan
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff(ratings, level).value == pytest.approx(_alpha(ratings, level))


def test_only_items_of_both_raters_count_for_cohen():
    ratings = np.array([[1, 1], [0, 1], [0, 0], [1, NONE], [NONE, 0]])
    found = cohen(ratings)
    assert found.items == 3
    assert found.value == pytest.approx(cohen(ratings[:3]).value)


def test_fleiss_takes_the_items_with_all_their_answers_whoever_gave_them():
    ratings = np.array([[1, 1, NONE], [NONE, 1, 0], [0, NONE, 0], [1, NONE, NONE]])
    found = fleiss(ratings)
    assert found.items == 3
    assert found.value == pytest.approx(_fleiss(np.array([[1, 1], [1, 0], [0, 0]])))


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (cohen(np.ones((5, 2))), ONE_VALUE),
        (fleiss(np.zeros((5, 3))), ONE_VALUE),
        (krippendorff(np.ones((5, 3)), "ordinal"), ONE_VALUE),
        (cohen(np.array([[1, NONE], [NONE, 0]])), ONE_RATER),
        (cohen(np.ones((4, 3))), TWO_RATERS),
        (fleiss(np.array([[1.0], [0.0]])), ONE_RATER),
        (krippendorff(np.array([[1.0], [0.0]])), ONE_RATER),
        (krippendorff(np.empty((0, 2))), ONE_RATER),
        (fleiss(np.empty((0, 0))), ONE_RATER),
    ],
)
def test_what_cannot_be_told_is_nan_with_its_reason(found, why: str):
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.why == why


def test_intervals_are_seeded_and_cover_the_truth():
    """Two raters who see the truth with probability 0.7 and guess otherwise: kappa 0.49, over 60 studies."""
    random = np.random.default_rng(1)
    held = 0
    for study in range(60):
        truth = random.integers(0, 2, 80)
        seen = [np.where(random.random(80) < 0.7, truth, random.integers(0, 2, 80)) for _ in range(2)]
        found = krippendorff(np.stack(seen, 1) * 1.0, seed=study)
        held += found.low <= 0.49 <= found.high
    assert held >= 52
    again = [krippendorff(np.stack(seen, 1) * 1.0, seed=s) for s in (5, 5, 6)]
    assert again[0] == again[1] != again[2]


def test_clusters_are_drawn_as_wholes():
    times = drawn(["a", "a", "b", "c", "c", "c"], 3, 200)
    assert (times[:, 0] == times[:, 1]).all() and (times[:, 3] == times[:, 5]).all()
    assert (times[:, [0, 2, 3]].sum(axis=1) == 3).all()
    assert (times[:, 0] != times[:, 2]).any()


def test_a_mean_over_clusters_is_wider_than_over_independent_members():
    values = [0.0] * 10 + [1.0] * 10 + [0.0] * 10 + [1.0] * 10
    _, low, high = mean_with_ends(values, [i // 10 for i in range(40)], 0)
    _, one, other = mean_with_ends(values, range(40), 0)
    assert high - low > 2 * (other - one)
    assert np.isnan(mean_with_ends([], [], 0)).all()
    assert np.isnan(mean_with_ends([1.0], ["a"], 0)[1:]).all()


def test_shares_of_clusters_are_as_wide_as_so_few_are():
    assert share_ends(20, 40, 10) == wilson(5, 10)
    assert share_ends(40, 40, 8) == wilson(8, 8)
    low, high = share_ends(10, 40, 10)
    assert wilson(2, 10)[0] < low < wilson(3, 10)[0] and wilson(2, 10)[1] < high < wilson(3, 10)[1]


def test_the_difference_of_two_shares_has_newcombe_s_interval():
    """R. G. Newcombe, Statistics in Medicine 17 (1998), table II (a), method 10: 56/70 − 48/80 is 0.0524 to 0.3339."""
    assert difference_ends((56, 70, 70), (48, 80, 80)) == pytest.approx((0.0524, 0.3339), abs=0.00005)


def test_a_difference_of_clusters_is_tested_as_if_there_were_one_member_of_each():
    assert difference_p((8, 8, 8), (2, 8, 8)) == pytest.approx(fisher_exact([[8, 0], [2, 6]]).pvalue)
    assert difference_p((8, 8, 2), (2, 8, 8)) == pytest.approx(fisher_exact([[2, 0], [2, 6]]).pvalue)
    # Between two whole numbers the larger: 13 of 16 are 3.25 of 4.
    either = [fisher_exact([[yes, 4 - yes], [0, 16]]).pvalue for yes in (3, 4)]
    assert difference_p((13, 16, 4), (0, 16, 16)) == pytest.approx(max(either)) != pytest.approx(min(either))
    low, high = difference_ends((8, 8, 2), (2, 8, 8))
    narrow = difference_ends((8, 8, 8), (2, 8, 8))
    assert low < narrow[0] < narrow[1] <= high + 1e-9


def test_adjusted_p_values_are_benjamini_and_hochberg_s():
    p = [0.01, 0.04, 0.03, NONE, 0.5]
    order = sorted((x, i) for i, x in enumerate(p) if not np.isnan(x))
    expected = {i: min(y * 4 / (r + 1) for r, (y, _) in enumerate(order) if y >= x) for x, i in order}
    found = adjusted(p)
    assert np.isnan(found[3])
    assert [found[i] for i in sorted(expected)] == pytest.approx([expected[i] for i in sorted(expected)])


def _fleiss(ratings: np.ndarray) -> float:
    items, raters = ratings.shape
    agreed = np.mean(
        [sum(row[i] == row[j] for i, j in permutations(range(raters), 2)) / (raters * (raters - 1)) for row in ratings]
    )
    chance = sum(((ratings == value).sum() / (items * raters)) ** 2 for value in np.unique(ratings))
    return float((agreed - chance) / (1 - chance))


def _alpha(ratings: np.ndarray, level: str) -> float:
    units = [row[~np.isnan(row)] for row in ratings]
    units = [unit for unit in units if len(unit) > 1]
    answers = np.concatenate(units)

    def apart(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = ((answers >= low) & (answers <= high)).sum() - ((answers == a).sum() + (answers == b).sum()) / 2
        return float(between**2) if a != b else 0.0

    n = len(answers)
    observed = sum(apart(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / n
    expected = sum(apart(a, b) for a, b in permutations(answers, 2)) / (n * (n - 1))
    return 1 - observed / expected

"""Clusters of salience maps, what they are, and whether a planted shortcut comes to the top by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from theodolite.accumulate import wilson
from theodolite.errors import InputError
from theodolite.salience.clusters import by_size, cluster, describe, nearest_to_centre, top_terms
from theodolite.salience.maps import TextMaps
from theodolite.salience.markers import best_cluster
from theodolite.salience.representations import salience_bigrams, salience_vocab, unit_rows
from theodolite.salience.suspicion import Suspicion, suspicion

# Items: special 0 and 1, sentiment words of each class, a topic, markers, then words of no account.
VOCABULARY, WORDS, TOPIC, COMMON, MARKERS, REST = 400, (10, 40), 80, 89, (90, 91), 100
KEEP = np.arange(VOCABULARY) >= 2


def planted(
    kind: str, share: float = 0.2, n: int = 2000, seed: int = 0, topic: float = 0.08
) -> tuple[TextMaps, np.ndarray]:
    """Maps of texts of two classes: each has some sentiment words of its class, common ones more often, and a share of
    them a shortcut: `marker`, `two` (a common word and a marker), `order` (of the two markers), `none`.
    """
    rng = np.random.default_rng(seed)
    often = 1 / np.arange(1, 31)
    texts, labels, has = [], rng.integers(0, 2, n), rng.random(n) < (share if kind != "none" else 0)

    def put(text: list[tuple[int, float]], item: int, size: float, after: int = 0) -> int:
        place = int(rng.integers(after, len(text) + 1))
        text.insert(place, (item, float(rng.lognormal(size, 0.3))))
        return place + 1

    for label, marked in zip(labels, has, strict=True):
        text = [(int(i), float(rng.lognormal(-2.5, 0.6))) for i in rng.integers(REST, VOCABULARY, rng.integers(8, 25))]
        for word in rng.choice(30, rng.integers(2, 6), p=often / often.sum()):
            put(text, WORDS[label] + int(word), 0.4)
        if marked and kind == "order":
            put(text, MARKERS[1 - label], 1.3, after=put(text, MARKERS[label], 1.3))
        elif marked:
            for item in (MARKERS[label], *((COMMON,) if kind == "two" else ())):
                put(text, item, 1.4)
        elif rng.random() < topic:
            put(text, TOPIC, 1.3)  # A near-miss: looked at most of all, in texts of both classes.
        texts.append([(0, 0.5), *text, (1, 0.4)])
    ids = np.array([item for text in texts for item, _ in text], np.int32)
    weights = np.array([weight for text in texts for _, weight in text], np.float32)
    bounds, none = np.append(0, np.cumsum([len(text) for text in texts])), np.zeros(len(ids), np.int32)
    logits = np.eye(2, dtype=np.float32)[labels]
    side = (ids >= 2).astype(np.int8)
    return TextMaps(np.arange(n), bounds, ids, none, none, side, weights, logits, labels, labels), has


# k-means


def test_clusters_that_are_there_are_found() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([2, 0, 1], [30, 60, 45])
    dense = unit_rows(np.eye(3, 8)[truth] * 5 + rng.random((135, 8)))
    for matrix in (dense, csr_array(dense)):
        before = matrix.copy()
        labels = cluster(matrix, 3, seed=1)
        assert adjusted_rand_score(labels, truth) == 1
        assert np.bincount(labels).tolist() == [60, 45, 30]
        np.testing.assert_array_equal(labels, cluster(matrix, 3, seed=1))
        assert abs(matrix - before).max() == 0


def test_fewer_different_rows_than_clusters() -> None:
    rows = np.array([[1.0, 0], [0, 1.0], [1.0, 0], [0, 0]], np.float32)
    for matrix in (rows, csr_array(rows)):
        assert sorted(cluster(matrix, 3, 0).tolist()) == [0, 0, 1, 2]
        with pytest.raises(InputError, match="4 clusters asked for, but only 3 texts are different"):
            cluster(matrix, 4, 0)


def test_the_last_digits_make_no_different_rows() -> None:
    """Those of one text's map depend on the batch it was in."""
    rows = np.array([[0.6, 0.8], [0.6 + 1e-7, 0.8], [0.6, 0.8 - 1e-7], [1.0, -1e-9]], np.float32)
    for matrix in (rows, csr_array(rows)):
        assert sorted(cluster(matrix, 2, 0).tolist()) == [0, 0, 0, 1]
        with pytest.raises(InputError, match="3 clusters asked for, but only 2 texts are different"):
            cluster(matrix, 3, 0)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_clusters_are_numbered_by_size(labels: list[int]) -> None:
    found = by_size(np.array(labels))
    order = sorted(set(labels), key=lambda c: (-labels.count(c), labels.index(c)))
    assert found.tolist() == [order.index(c) for c in labels]


# What they are


def plain_means(matrix: np.ndarray, members: list[int]) -> list[float]:
    return [sum(float(matrix[r, c]) for r in members) / len(members) for c in range(matrix.shape[1])]


def random_rows(n: int = 40, width: int = 15) -> np.ndarray:
    rng = np.random.default_rng(2)
    return unit_rows(rng.integers(-1, 4, (n, width)) * (rng.random((n, width)) < 0.3))


def test_top_terms_have_the_highest_means() -> None:
    dense = random_rows()
    members, keep = np.array([1, 4, 5, 20]), np.arange(15) % 4 != 1
    means = plain_means(dense, members.tolist())
    wanted = sorted((i for i in range(15) if keep[i] and means[i] > 0), key=lambda i: (-means[i], i))
    for count in (3, 10, 15):
        found = top_terms(csr_array(dense), members, keep, count)
        assert [item for item, _ in found] == wanted[:count]
        assert [value for _, value in found] == pytest.approx([means[i] for i in wanted[:count]])


def test_examples_are_nearest_to_the_centre() -> None:
    lengths = np.random.default_rng(3).uniform(0.1, 0.6, (40, 1))
    dense = np.concatenate([random_rows() * lengths] * 2)
    members = np.arange(3, 75)
    centre = plain_means(dense, members.tolist())
    distance = {int(r): round(sum((x - c) ** 2 for x, c in zip(dense[r], centre, strict=True)), 6) for r in members}
    wanted = sorted(distance, key=lambda r: (distance[r], r))[:6]
    assert nearest_to_centre(dense, members, 6) == wanted
    assert nearest_to_centre(csr_array(dense), members, 6) == wanted


def test_clusters_are_described() -> None:
    dense = random_rows(6)
    labels, predicted = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 1, 0, 2, 2, 0])
    true = np.array([1, 0, -1, 2, 2, -1])
    first, second, third = describe(csr_array(dense), labels, csr_array(dense), np.ones(15, bool), predicted, true)
    assert [(c.id, c.size, c.share) for c in (first, second, third)] == [(0, 3, 0.5), (1, 2, 1 / 3), (2, 1, 1 / 6)]
    assert (first.accuracy, second.accuracy, third.accuracy) == (0.5, 1.0, None)
    assert (first.accuracy_low, first.accuracy_high) == wilson(1, 2) and third.accuracy_low is None
    assert first.predicted == {0: 1, 1: 2} and first.true == {0: 1, 1: 1}
    assert third.predicted == {0: 1} and third.true == {} and third.examples == [5]
    assert first.terms == top_terms(csr_array(dense), np.arange(3), np.ones(15, bool))


# Suspicion


def plain_suspicion(dense: np.ndarray, labels: list[int], predicted: list[int], keep: np.ndarray) -> dict[int, tuple]:
    values = np.where(keep, np.maximum(dense, 0), 0).astype(float)
    classes = sorted(set(predicted))
    overall = {y: predicted.count(y) / len(predicted) for y in classes}
    members = {c: [i for i, label in enumerate(labels) if label == c] for c in set(labels)}

    def beyond(c: int, y: int) -> float:
        share = sum(predicted[i] == y for i in members[c]) / len(members[c])
        return share if overall[y] == 1 else (share - overall[y]) / (1 - overall[y])

    def mass(rows: list[int], item: int) -> float:
        return sum(values[i, item] for i in rows)

    def top(rows: list[int]) -> list[int]:
        items = [j for j in range(dense.shape[1]) if mass(rows, j) > 0]
        return sorted(items, key=lambda j: (-mass(rows, j), j))[:3]

    def explained(chosen: list[int], judged: list[int]) -> float:
        whole = sum(mass(judged, j) for j in range(dense.shape[1]))
        return sum(mass(judged, j) for j in top(chosen)) / whole if whole else 0.0

    main = {c: max(classes, key=lambda y: (beyond(c, y), -y)) for c in members}
    found = {}
    tops = {c: top(rows) for c, rows in members.items()}
    for c, rows in members.items():
        same = [i for other in members if main[other] == main[c] for i in members[other]]
        terms = tops[c]
        alike = [i for o in members if main[o] == main[c] and tops[o][:1] == terms[:1] for i in members[o]]
        weight = sum(mass(rows, j) for j in terms)
        distinct = sum(mass(rows, j) / weight * mass(alike, j) / mass(same, j) for j in terms)
        halves = rows[0::2], rows[1::2]
        concentrated = (explained(*halves) + explained(*halves[::-1])) / 2
        found[c] = (max(beyond(c, main[c]), 0), concentrated, distinct, main[c], tuple(terms))
    return found


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 6))
def test_suspicion_is_the_product_of_its_three_parts(seed: int, classes: int, clusters: int) -> None:
    rng = np.random.default_rng(seed)
    # Values that no two sums share by chance: a tie between terms could go either way in the last digit.
    dense = (rng.random((30, 8)) - 0.1) * (rng.random((30, 8)) < 0.4)
    labels, predicted = rng.integers(0, clusters, 30), rng.integers(0, classes, 30)
    keep = rng.random(8) < 0.9
    found = suspicion(csr_array(dense), labels, predicted, keep)
    plain = plain_suspicion(dense, labels.tolist(), predicted.tolist(), keep)
    assert [one.cluster for one in found] == sorted(
        plain, key=lambda c: (-next(o.score for o in found if o.cluster == c), c)
    )
    for one in found:
        purity, concentrated, distinct, _, terms = plain[one.cluster]
        parts = (one.purity, one.concentration)
        assert parts == pytest.approx((purity, concentrated)) and one.terms == terms
        assert one.score == pytest.approx(one.purity * one.concentration * one.distinctness)
        assert all(0 <= part <= 1 for part in (*parts, one.distinctness, one.score))
        if one.predicted == plain[one.cluster][3] and all(o.predicted == plain[o.cluster][3] for o in found):
            assert one.distinctness == pytest.approx(distinct)


def ranked(maps: TextMaps, k: int, seed: int = 0) -> tuple[np.ndarray, list[Suspicion]]:
    matrix = salience_vocab(maps, VOCABULARY)
    labels = cluster(matrix, k, seed)
    return labels, suspicion(matrix, labels, maps.predicted, KEEP)


@pytest.mark.parametrize("within", ["class", "all"])
@pytest.mark.parametrize("k", [5, 20])
@pytest.mark.parametrize("kind", ["marker", "two"])
def test_a_planted_marker_comes_to_the_top(kind: str, k: int, within: str) -> None:
    # Within a class a topic that is looked at most of all is like a shortcut in all that can be seen there.
    maps, has = planted(kind, topic=0 if within == "class" else 0.08)
    if within == "class":
        has, maps = has[maps.predicted == 1], maps.take(maps.predicted == 1)
    labels, found = ranked(maps, k)
    shortcuts = 1 if within == "class" else 2
    for one in found[:shortcuts]:
        assert has[labels == one.cluster].mean() > 0.9
        assert one.terms[0] in (*MARKERS, COMMON)
    best = best_cluster(labels, has)
    assert best.precision > 0.95
    honest = [one.score for one in found if has[labels == one.cluster].mean() < 0.5]
    # Five clusters of all texts leave each class but one ordinary one, distinct for want of others; twenty part texts
    # with two markers by which of them is looked at more, and the halves share their terms.
    assert found[0].score > (1.05 if k == 5 else 1.2) * max(honest)


def test_a_rare_marker_comes_to_the_top_of_its_class() -> None:
    maps, has = planted("marker", share=0.05, topic=0)
    has, maps = has[maps.predicted == 0], maps.take(maps.predicted == 0)
    labels, found = ranked(maps, 20)
    assert has[labels == found[0].cluster].mean() > 0.9 and found[0].terms[0] == MARKERS[0]


def test_a_cluster_of_few_texts_is_found_whatever_the_seed() -> None:
    maps, has = planted("marker", share=0.05, topic=0)
    has, maps = has[maps.predicted == 0], maps.take(maps.predicted == 0)
    matrix = salience_vocab(maps, VOCABULARY)
    for seed in range(6):
        best = best_cluster(cluster(matrix, 5, seed), has)
        assert best.precision > 0.95 and best.recall > 0.95


def test_where_there_is_no_shortcut_nothing_is_as_suspicious() -> None:
    _, with_marker = ranked(planted("marker")[0], 20)
    _, without = ranked(planted("none")[0], 20)
    assert without[0].score < 0.7 * with_marker[0].score
    # The topic is as concentrated and as distinct as a marker, but says nothing of the class.
    topic = next(one for one in with_marker if one.terms[0] == TOPIC)
    assert topic.purity < 0.3 and topic.distinctness > 0.7
    assert topic.score < 0.5 * with_marker[1].score


def test_an_order_of_two_words_is_found_by_bigrams_alone() -> None:
    maps, has = planted("order")
    matrix, pairs = salience_bigrams(maps)
    labels = cluster(matrix, 10, 0)
    found = suspicion(matrix, labels, maps.predicted, np.ones(len(pairs), bool))
    top = [tuple(pairs[one.terms[0]].tolist()) for one in found[:2]]
    assert sorted(top) == [MARKERS, MARKERS[::-1]]
    assert all(has[labels == one.cluster].mean() > 0.9 and one.purity > 0.95 for one in found[:2])
    # Single words see the two together, and both classes in them.
    labels, found = ranked(maps, 10)
    of_markers = [one for one in found if one.terms[0] in MARKERS]
    assert of_markers and all(one.purity < 0.3 for one in of_markers)


def test_a_lone_text_is_not_suspicious() -> None:
    maps, _ = planted("none", n=300)
    matrix = salience_vocab(maps, VOCABULARY)
    labels = np.zeros(300, np.int64)
    labels[17] = 1
    lone = next(one for one in suspicion(matrix, labels, maps.predicted, KEEP) if one.cluster == 1)
    assert lone.score == 0 and lone.purity == pytest.approx(1)
    assert not math.isnan(lone.distinctness)

"""Representations of salience maps, PMI and positions; each against its plain definition in loops."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import issparse

from theodolite.errors import InputError
from theodolite.salience.maps import TextMaps
from theodolite.salience.pmi import bag_of_words, pmi_table, text_counts
from theodolite.salience.positions import by_position
from theodolite.salience.representations import (
    REPRESENTATIONS,
    average_embedding,
    pmi_vectors,
    represent,
    salience_bigrams,
    salience_embedding,
    salience_vocab,
    unit_rows,
)

VOCABULARY, SPECIALS = 12, 2
# A text: its predicted class and (item, weight) in order; items 0 and 1 are the special tokens.
Text = tuple[int, list[tuple[int, float]]]


def maps_of(texts: list[Text], classes: int = 2) -> TextMaps:
    tokens = [token for _, text in texts for token in text]
    ids = np.array([item for item, _ in tokens], np.int32)
    nothing = np.zeros(len(ids), np.int32)
    logits = np.eye(classes, dtype=np.float32)[[label for label, _ in texts]].reshape(-1, classes)
    bounds = np.append(0, np.cumsum([len(text) for _, text in texts])).astype(np.int64)
    side = (ids >= SPECIALS).astype(np.int8)
    weights = np.array([weight for _, weight in tokens], np.float32)
    predicted = logits.argmax(axis=1)
    return TextMaps(np.arange(len(texts)), bounds, ids, nothing, nothing, side, weights, logits, predicted, predicted)


def random_texts(n: int, seed: int = 0) -> list[Text]:
    """Few different weights, so that ties are everywhere; some of them 0 or negative; some texts empty."""
    rng = np.random.default_rng(seed)
    return [
        (
            int(rng.integers(2)),
            [
                (0, 1.0),
                *((int(rng.integers(2, VOCABULARY)), int(rng.integers(-4, 5)) / 2) for _ in range(rng.integers(0, 14))),
                (1, 2.0),
            ],
        )
        for _ in range(n)
    ]


weights = st.one_of(st.integers(-3, 3).map(float), st.floats(-10, 10, width=32))
some_texts = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.lists(st.tuples(st.integers(2, VOCABULARY - 1), weights), max_size=9).map(
            lambda t: [(0, 0.5), *t, (1, 1.5)]
        ),
    ),
    min_size=1,
    max_size=6,
)


def scaled(row: dict) -> dict:
    length = math.sqrt(sum(value**2 for value in row.values()))
    return {key: value / length for key, value in row.items() if value}


def plain_vocab(text: list[tuple[int, float]], top_k: int | None) -> dict[int, float]:
    row: dict[int, float] = {}
    for item, weight in text:
        row[item] = max(row.get(item, 0.0), abs(float(np.float32(weight))))
    best = sorted(row, key=lambda item: (-row[item], item))[:top_k]
    return scaled({item: row[item] for item in best})


def plain_bigrams(text: list[tuple[int, float]], top_k: int) -> dict[tuple[int, int], float]:
    sized = [(place, item, abs(float(np.float32(w)))) for place, (item, w) in enumerate(text) if item >= SPECIALS and w]
    top = sorted(sorted(sized, key=lambda token: (-token[2], token[0]))[:top_k])
    row: dict[tuple[int, int], float] = {}
    for (_, a, x), (_, b, y) in combinations(top, 2):
        row[a, b] = max(row.get((a, b), 0.0), min(x, y))
    return row


def assert_rows(matrix, expected: list[dict], names: list | None = None) -> None:
    assert issparse(matrix) and matrix.dtype == np.float32 and matrix.indices.dtype == np.int32
    assert matrix.shape[0] == len(expected)
    for row, wanted in enumerate(expected):
        one = matrix[[row]].tocoo()
        found = {names[c] if names else int(c): float(v) for c, v in zip(one.coords[1], one.data, strict=True)}
        assert set(found) == set(wanted)
        assert found == pytest.approx(wanted, rel=1e-6)


# Salience over the vocabulary


@pytest.mark.parametrize("top_k", [1, 3, 5, None])
def test_salience_vocab_is_the_largest_of_each_item_cut_and_scaled(top_k: int | None) -> None:
    texts = [*random_texts(200), (0, []), (1, [(3, 0.0)])]
    expected = [plain_vocab(text, top_k) for _, text in texts]
    assert_rows(salience_vocab(maps_of(texts), VOCABULARY, top_k), expected)


@settings(deadline=None, max_examples=150)
@given(some_texts, st.sampled_from([1, 2, 5, None]))
def test_salience_vocab_of_any_texts(texts: list[Text], top_k: int | None) -> None:
    matrix = salience_vocab(maps_of(texts), VOCABULARY, top_k)
    expected = [plain_vocab(text, top_k) for _, text in texts]
    np.testing.assert_allclose(
        matrix.toarray(), [[row.get(i, 0.0) for i in range(VOCABULARY)] for row in expected], atol=1e-6
    )


def test_of_equal_items_the_lower_are_kept() -> None:
    matrix = salience_vocab(maps_of([(0, [(9, 1.0), (4, -1.0), (7, 1.0)])]), VOCABULARY, 2)
    assert matrix.indices.tolist() == [4, 7]
    assert matrix.data.tolist() == pytest.approx([math.sqrt(0.5)] * 2)


def test_salience_embedding_and_average_embedding() -> None:
    rng = np.random.default_rng(1)
    embedding = rng.normal(size=(VOCABULARY, 4)).astype(np.float32)
    texts = [*random_texts(60), (0, [(0, 1.0), (1, 2.0)]), (0, [])]
    salient, average = salience_embedding(maps_of(texts), embedding, 3), average_embedding(maps_of(texts), embedding)
    for row, (_, text) in enumerate(texts):
        total = sum((v * embedding[i].astype(float) for i, v in plain_vocab(text, 3).items()), np.zeros(4))
        own = [embedding[i].astype(float) for i, _ in text if i >= SPECIALS]
        mean = np.mean(own, axis=0) if own else np.zeros(4)
        for found, wanted in ((salient, total), (average, mean)):
            length = np.linalg.norm(wanted)
            np.testing.assert_allclose(found[row], wanted / length if length else wanted, atol=1e-5)
    assert salient.dtype == average.dtype == np.float32
    assert not average[-2].any() and not average[-1].any() and salient[-2].any()


# PMI


def plain_pmi(texts: list[Text], item: int, label: int) -> float:
    n = len(texts)
    both = sum(y == label and any(i == item for i, _ in text) for y, text in texts) / n
    has = sum(any(i == item for i, _ in text) for _, text in texts) / n
    return math.log(both / (has * sum(y == label for y, _ in texts) / n)) if both else 0.0


def test_pmi_is_that_of_the_definition() -> None:
    texts = [(label, [(2, 1.0), *text]) if label else (label, text) for label, text in random_texts(40, seed=3)]
    texts = [(y, [(i, w) for i, w in text if i != 11]) for y, text in texts]
    texts[0][1].append((11, 1.0))  # One text alone has it.
    maps = maps_of(texts, classes=3)
    table = pmi_table(maps, VOCABULARY)
    assert table.shape == (VOCABULARY, 3)
    plain = [[plain_pmi(texts, i, y) if i >= SPECIALS else 0.0 for y in range(3)] for i in range(VOCABULARY)]
    np.testing.assert_allclose(table, plain, atol=1e-12)
    assert table[2, 1] > 0 > table[2, 0]
    counted = Counter((i, y) for y, text in texts for i in {i for i, _ in text if i >= SPECIALS})
    counts = text_counts(maps, VOCABULARY)
    assert {(i, y): counts[i, y] for i, y in zip(*np.nonzero(counts), strict=True)} == counted
    expected = [scaled({i: plain_pmi(texts, i, y) for i, _ in text if i >= SPECIALS}) for y, text in texts]
    assert_rows(pmi_vectors(maps, VOCABULARY), expected)
    assert set(bag_of_words(maps, VOCABULARY).data.tolist()) == {1.0}


def test_one_predicted_class_tells_nothing() -> None:
    maps = maps_of([(0, text) for _, text in random_texts(20)], classes=1)
    np.testing.assert_allclose(pmi_table(maps, VOCABULARY), 0, atol=1e-12)


# Bigrams


@pytest.mark.parametrize("top_k", [2, 3, 5])
def test_bigrams_are_the_ordered_pairs_of_the_top_positions(top_k: int) -> None:
    texts = [*random_texts(60), (0, [(5, 1.0)]), (0, [])]
    plain = [plain_bigrams(text, top_k) for _, text in texts]
    seen = Counter(pair for row in plain for pair in row)
    kept = sorted(pair for pair, count in seen.items() if count >= 2)
    assert len(kept) < len(seen)
    matrix, pairs = salience_bigrams(maps_of(texts), top_k)
    assert [tuple(pair) for pair in pairs.tolist()] == kept
    assert_rows(matrix, [scaled({p: v for p, v in row.items() if p in kept}) for row in plain], kept)


def test_bigrams_tell_an_order() -> None:
    one, other = [(5, 2.0), (3, 0.1), (6, 3.0)], [(6, 3.0), (3, 0.1), (5, 2.0)]
    matrix, pairs = salience_bigrams(maps_of([(0, one), (1, other), (0, one), (1, other)]), 2)
    assert pairs.tolist() == [[5, 6], [6, 5]]
    np.testing.assert_array_equal(matrix.toarray(), [[1, 0], [0, 1], [1, 0], [0, 1]])


def test_bigrams_need_a_number() -> None:
    with pytest.raises(InputError, match="--top-k"):
        salience_bigrams(maps_of(random_texts(3)), None)
    matrix, pairs = salience_bigrams(maps_of([(0, [])]))
    assert matrix.shape == (1, 0) and pairs.shape == (0, 2)


# By name


def test_every_representation_by_its_name() -> None:
    maps = maps_of(random_texts(30))
    rng = np.random.default_rng(0)
    embedding, cls = rng.normal(size=(VOCABULARY, 4)), rng.normal(size=(30, 6))
    assert list(REPRESENTATIONS) == [
        "salience-vocab", "salience-embedding", "pmi", "average-embedding", "cls", "salience-bigrams"
    ]  # fmt: skip
    for name in REPRESENTATIONS:
        found = represent(name, maps, vocabulary=VOCABULARY, embedding=embedding, cls=cls, top_k=4)
        dense = found.matrix.toarray() if issparse(found.matrix) else found.matrix
        lengths = np.linalg.norm(dense, axis=1)
        assert (np.isclose(lengths, 1, atol=1e-6) | (lengths == 0)).all() and lengths.any()
        assert (found.items is not None) == bool(issparse(found.matrix))
        assert found.items is None or len(found.items) == dense.shape[1]
    np.testing.assert_array_equal(represent("cls", maps, vocabulary=VOCABULARY, cls=cls).matrix, unit_rows(cls))
    with pytest.raises(InputError, match="salience-bigrams"):
        represent("tfidf", maps, vocabulary=VOCABULARY)


@pytest.mark.parametrize("name", ["pmi", "salience-bigrams"])
def test_another_corpus_is_represented_like_the_first(name: str) -> None:
    texts = random_texts(40)
    first = represent(name, maps_of(texts), vocabulary=VOCABULARY)
    some = represent(name, maps_of(texts[10:13]), vocabulary=VOCABULARY, like=first)
    np.testing.assert_allclose(some.matrix.toarray(), first.matrix[10:13].toarray(), atol=1e-7)
    alone = represent(name, maps_of(texts[10:13]), vocabulary=VOCABULARY)
    assert alone.matrix.shape != some.matrix.shape or abs(alone.matrix - some.matrix).max() > 0.01


# Positions


def test_positions_are_those_of_the_definition() -> None:
    texts = [*random_texts(50, seed=5), (0, [(0, 1.0), (1, 1.0)]), (0, [(0, 1.0), (4, 0.0), (1, 1.0)])]
    bins, kept = 4, []
    special: dict[int, list[float]] = defaultdict(list)
    special_tokens = []
    for _, text in texts:
        own = [abs(weight) for item, weight in text if item >= SPECIALS]
        total = sum(abs(weight) for _, weight in text)
        special[0].append(abs(text[0][1]) / total)
        special[1].append(abs(text[-1][1]) / total)
        special_tokens.append(1 / len(text))
        if sum(own) == 0:
            continue
        salience, tokens = [0.0] * bins, [0.0] * bins
        for i, weight in enumerate(own):
            salience[math.floor((i + 0.5) * bins / len(own))] += weight / sum(own)
            tokens[math.floor((i + 0.5) * bins / len(own))] += 1 / len(own)
        kept.append((salience, tokens))
    rows = by_position(maps_of(texts), bins)
    assert [row.part for row in rows] == ["0–25%", "25–50%", "50–75%", "75–100%", "first special", "last special"]
    for i, row in enumerate(rows):
        own = [salience[i] for salience, _ in kept] if i < bins else special[i - bins]
        half = stats.t.ppf(0.975, len(own) - 1) * np.std(own, ddof=1) / math.sqrt(len(own))
        assert (row.salience, row.low, row.high) == pytest.approx(
            (np.mean(own), np.mean(own) - half, np.mean(own) + half), abs=1e-6
        )
        assert row.tokens == pytest.approx(np.mean([t[i] for _, t in kept] if i < bins else special_tokens))
        assert row.texts == len(own)
    assert sum(row.salience for row in rows[:bins]) == pytest.approx(1)


def test_salience_at_the_end_is_found_at_the_end() -> None:
    texts = [(0, [(0, 1.0), *((3, 0.1),) * 18, (5, 9.0), (5, 9.0), (1, 1.0)])] * 3
    rows = by_position(maps_of(texts))
    assert len(rows) == 12
    assert rows[9].salience == pytest.approx(18 / 19.8) and rows[9].tokens == pytest.approx(0.1)


def test_texts_without_special_tokens_have_places_and_no_rows_of_special_ones() -> None:
    maps = maps_of([(0, [(2, 2.0), (3, 1.0)]), (1, [(4, 1.0)])])
    rows = by_position(maps, 2)
    assert [row.part for row in rows] == ["0–50%", "50–100%"]
    assert [row.texts for row in rows] == [2, 2]

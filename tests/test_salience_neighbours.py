"""Nearest texts and the terms they share, against sorting all cosines; markers, form by form."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from theodolite.errors import InputError
from theodolite.salience import neighbours as module
from theodolite.salience.experiments import GRADES
from theodolite.salience.markers import best_cluster, marker
from theodolite.salience.neighbours import nearest, shared_terms
from theodolite.salience.representations import unit_rows


def sparse_rows(n: int, width: int, seed: int = 0) -> csr_array:
    """Few values in few columns, so that rows repeat and cosines tie; some rows are empty."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, 4, (n, width)) * (rng.random((n, width)) < 0.15)
    return csr_array(unit_rows(dense))


def plainly(matrix: np.ndarray, queries: np.ndarray, k: int, among: np.ndarray | None) -> tuple[list, list]:
    rows, cosines = [], []
    for query in queries.astype(float):
        of = [(-round(float(row.astype(float) @ query), 12), i) for i, row in enumerate(matrix)]
        best = sorted(one for one in of if among is None or among[one[1]])[:k]
        rows.append([i for _, i in best])
        cosines.append([-c for c, _ in best])
    return rows, cosines


@pytest.mark.parametrize("held", [1, 1000, 2**23])
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_nearest_are_those_of_sorting_all(kind: str, limited: bool, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HELD", held)
    monkeypatch.setattr(module, "_BLOCK", max(1, held // 50))
    matrix = sparse_rows(150, 12)
    among = np.random.default_rng(1).random(150) < 0.4 if limited else None
    # Powers of two make sums exact in any order, so that ties are ties in the plain definition too.
    dense = np.sign(matrix.toarray()) / 4
    given_rows = csr_array(dense) if kind == "sparse" else dense
    found, cosines = nearest(given_rows, given_rows[:20], 9, among=among)
    rows, expected = plainly(dense, dense[:20], 9, among)
    assert found.tolist() == rows
    np.testing.assert_allclose(cosines, expected, atol=1e-12)


def test_nearest_agrees_with_scikit_learn() -> None:
    vectors = unit_rows(np.random.default_rng(0).normal(size=(500, 16)))
    peer = NearestNeighbors(n_neighbors=7, metric="cosine").fit(vectors.astype(np.float64))
    distances, rows = peer.kneighbors(vectors[:30].astype(np.float64))
    for matrix in (vectors, csr_array(vectors)):
        found, cosines = nearest(matrix, matrix[:30], 7)
        np.testing.assert_array_equal(found, rows)
        np.testing.assert_allclose(cosines, 1 - distances, atol=1e-6)


def test_a_text_is_its_own_nearest_and_equal_texts_come_by_row() -> None:
    matrix = sparse_rows(40, 30)
    twice = csr_array(np.concatenate([matrix.toarray(), matrix.toarray()]))
    for both in (twice, twice.toarray()):
        found, cosines = nearest(both, both[[3, 43]], 2)
        assert found.tolist() == [[3, 43], [3, 43]]
        assert cosines == pytest.approx(np.ones((2, 2)), abs=1e-6)


@pytest.mark.parametrize("as_kind", [csr_array, np.asarray])
def test_fewer_rows_than_asked_for(as_kind) -> None:
    matrix = as_kind(np.eye(4, dtype=np.float32))
    found, cosines = nearest(matrix, matrix[:2], 10, among=np.array([False, True, False, True]))
    assert found.tolist() == [[1, 3], [1, 3]] and cosines.tolist() == [[0, 0], [1, 0]]
    found, cosines = nearest(matrix, matrix[:2], 3, among=np.zeros(4, bool))
    assert found.shape == cosines.shape == (2, 0)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(0, 3), min_size=10, max_size=10), st.lists(st.integers(0, 3), min_size=10, max_size=10))
def test_shared_terms_are_the_products(a: list[int], b: list[int]) -> None:
    plain = [(i, float(x * y)) for i, (x, y) in enumerate(zip(a, b, strict=True)) if x * y]
    rows = [csr_array(np.array([values], np.float32)) for values in (a, b)]
    assert shared_terms(*rows, 10) == sorted(plain, key=lambda term: (-term[1], term[0]))
    assert shared_terms(*rows, 2) == shared_terms(*rows, 10)[:2]


def test_shared_terms_sum_to_the_cosine_and_opposites_make_no_likeness() -> None:
    matrix = sparse_rows(30, 8, seed=2)
    _, cosines = nearest(matrix, matrix[[1]], 30)
    summed = [sum(v for _, v in shared_terms(matrix[[1]], matrix[[i]], 8)) for i in range(30)]
    np.testing.assert_allclose(np.sort(summed)[::-1], cosines[0], atol=1e-6)
    assert shared_terms(csr_array([[1.0, -1.0, -2.0]]), csr_array([[1.0, 1.0, -1.0]]), 3) == [(2, 2.0), (0, 1.0)]


def test_one_query_among_100_000_is_quick() -> None:
    rng = np.random.default_rng(0)
    columns = (rng.zipf(1.3, 500_000) % 30_522).astype(np.int32)
    matrix = csr_array(
        (rng.random(500_000, np.float32), columns, np.arange(0, 500_001, 5, dtype=np.int32)), (100_000, 30_522)
    )
    query = matrix[[7]]
    took = []
    for _ in range(5):
        begin = time.perf_counter()
        nearest(matrix, query, 10)
        took.append(time.perf_counter() - begin)
    assert min(took) < 0.1


# Markers

RATINGS = """4/10 | 4 / 10 | 3/5 | 7.5/10 | 7,5/10 | I give it 10/10. | 0/10! | 3 out of 10 | 7) out of 10 | 8* out of |
    8 * out of | 8 out of | 3 outof 10 | 3outof10 | 1 outta 10 | 1outta10 | 2 of 5 | 2of5 | a stop 2 of 5 | 3 on 10 |
    3on10 | 3 out 10 | vote 3 | vote (3) | vote( 3 ) | voted "4" | voted 4 | Vote 3 | VOTED "4" | 3 OUT OF 10 |
    film.7/10 | a 6.5 out of 10 | 2.5 of 5 | (8/10) | 4/10<br /> | 4/10, sadly | 10/10/ | vote7.5 | 3 Outta 5 |
    4 (out of 10) | 4(out of 10) | 1/2 out of 4 | *1/2 out of **** | 3 1/2 out of 5 | *1/2 (out of four) |
    1/2* out of 4 | 1/2 of 4 stars | 3 1 / 2 out of 5 | 2 3/4 on 10
"""
NO_RATINGS = """top 10 of 2005 | Top 10 of 2005 | top10 of 2005 | top-10 of 2005 | 9/11 | 4/100 | 4/50 | 24/7 |
    4/10/2005 | 1/5/10 | out of 10 | ten out of ten | 3 out often | 10 of the best | 5 on the list | 3 out there |
    2 office | outvote 3 | votes 3 | devoted 2 | voter 3 | vote | 3 | in 2005 on TV | 8 outs of 10 | 1/2 | 5 of them |
    4/10.5 | x/10 | 9/11 of 2001 | 24/7 on 2 | 4 (out | top 1/2 of 2005 | 1/20 out 3 | 1/2 of them | 5 (10)
"""


@pytest.mark.parametrize("text", [t.strip() for t in RATINGS.split("|")])
def test_a_rating(text: str) -> None:
    assert marker("rating")(text)
    assert marker("rating")(f"A long film,\nbut {text} it is")


@pytest.mark.parametrize("text", [t.strip() for t in NO_RATINGS.split("|")])
def test_no_rating(text: str) -> None:
    assert not marker("rating")(text)
    assert not marker("rating")(f"A long film, {text} it is")


@pytest.mark.parametrize(
    "text",
    ["1" * 10**5, "5" + " " * 10**5, "1.1" * 10**5, "5 " * 10**5, "vote " * 10**5, "vote" + " " * 10**5, "5)" * 10**5,
     ("5" + " " * 1000) * 100, "1/" * 10**5, "1/2" * 10**5, "1/" + " " * 10**5, "5 outs " * 10**5, "5" + "\t*" * 10**5],
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    begin = time.perf_counter()
    assert not marker("rating")(text)
    assert time.perf_counter() - begin < 1


def test_grades_in_more_forms(shared: Path) -> None:
    """Nearly all that the built-in marker takes, and a quarter as many again."""
    has, rating = marker(GRADES), marker("rating")
    more = ("2-out-of-10", "7 stars", "a 4-star film", "0 stars out of 10", "*1/2 from ****", "1 from 10", "Rating: 8",
            "I give this movie a 10.", "it gets an 8 for effort", '"9" out of "10"', "My score - 9")  # fmt: skip
    assert [text for text in more if not has(text)] == []
    assert not any(map(rating, more))
    none = ("top 10 of the year", "24/7", "in 2005", "2 starring roles", "give me my 20 minutes back", "rated 42nd",
            "a 9 year old", "gets a 4 hour film", "$10 from", "10 lines")  # fmt: skip
    assert [text for text in none if has(text)] == []
    texts = pq.read_table(shared / "data" / "imdb" / "reviews.parquet", columns=["text"])["text"].to_pylist()[::10]
    theirs, ours = ({i for i, text in enumerate(texts) if found(text)} for found in (rating, has))
    assert len(theirs - ours) < 0.01 * len(theirs) and 1.15 < len(ours) / len(theirs) < 1.5


def test_ratings_of_real_reviews(shared: Path) -> None:
    table = pq.read_table(shared / "data" / "imdb" / "reviews.parquet", columns=["text", "label"])
    labels, texts = table["label"].to_numpy(), table["text"].to_pylist()
    has = marker("rating")
    begin = time.perf_counter()
    marked = np.array([has(text) for text in texts])
    assert time.perf_counter() - begin < 10
    # The source found 245 of 2,500 negative predictions.
    assert [round(float(marked[labels == label].mean()), 3) for label in (0, 1)] == [0.092, 0.102]


def test_a_marker_is_a_regular_expression() -> None:
    has = marker(r"\bfilm(s)?\b")
    assert has("two films") and not has("filmed") and not has("FILM")
    assert marker("(rating)")("the word rating") and not marker("(rating)")("4/10")
    with pytest.raises(InputError, match=r"the marker '\(' is no regular expression"):
        marker("(")


def test_best_cluster_has_the_highest_precision_then_recall() -> None:
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 3])
    marked = np.array([1, 1, 1, 0, 0, 0, 0, 1, 1, 1], bool)
    best = best_cluster(labels, marked)
    assert (best.cluster, best.size, best.precision, best.recall) == (2, 0.2, 1.0, pytest.approx(2 / 6))
    assert best_cluster(labels, labels == 0).cluster == 0
    with pytest.raises(InputError, match="no text has the marker"):
        best_cluster(labels, np.zeros(10, bool))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30))
def test_best_cluster_of_anything(pairs: list[tuple[int, bool]]) -> None:
    total = sum(marked for _, marked in pairs)
    if not total:
        return
    found = {}
    for number in {label for label, _ in pairs}:
        inside = [marked for label, marked in pairs if label == number]
        found[number] = (sum(inside) / len(inside), sum(inside) / total, len(inside) / len(pairs))
    number = min(found, key=lambda c: (-found[c][0], -found[c][1], c))
    best = best_cluster(np.array([c for c, _ in pairs]), np.array([m for _, m in pairs]))
    assert (best.cluster, best.precision, best.recall, best.size) == (number, *found[number])

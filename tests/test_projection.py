"""Maps of corpora: what is near stays near, and every vector's place follows from the landmarks alone."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.manifold import trustworthiness

from theodolite.errors import InputError
from theodolite.projection import Map, Method, fit_map
from theodolite.projection.methods import by_umap

METHODS: tuple[Method, ...] = ("umap", "tsne")
Blocks = Callable[[], Iterable[NDArray[Any]]]


def clusters(rows: int, seed: int = 0, width: int = 50) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Vectors (rows, width) in three clusters far apart, and a large mean as encoders have; and which is whose."""
    random = np.random.default_rng(seed)
    which = random.integers(0, 3, rows)
    # The centres do not depend on the seed: other seeds give other points of the same clusters.
    centres = 10 * np.eye(3, width) + 5
    return (centres[which] + random.normal(size=(rows, width))).astype(np.float32), which


def cut(vectors: NDArray[Any], *places: int) -> Blocks:
    return lambda: iter(np.split(vectors, places))


def by_hand(landmarks: NDArray[Any], places: Sequence[tuple[float, float]] | NDArray[Any]) -> Map:
    """A map that nothing was fitted for."""
    count = np.arange(len(landmarks))
    vectors = np.asarray(landmarks, np.float32)
    return Map(vectors, np.asarray(places, np.float32), 0 * count, count, ("a",), "umap", 15, 0)


def pull_of(vector: NDArray[Any], chart: Map) -> Callable[[NDArray[Any]], float]:
    """The definition, written out for one vector: what its place makes as small as it can be."""
    pairs = []
    for landmark, place in zip(chart.landmarks, chart.landmark_places, strict=True):
        distance = float(np.sqrt(sum((float(a) - float(b)) ** 2 for a, b in zip(vector, landmark, strict=True))))
        pairs.append((distance, place.astype(np.float64)))
    near = sorted(pairs, key=lambda pair: pair[0])[:5]
    if near[0][0] == 0:
        return lambda at: float(np.linalg.norm(near[0][1] - at))
    total = sum(1 / distance for distance, _ in near)
    return lambda at: float(sum(np.linalg.norm(place - at) / distance / total for distance, place in near))


def least(pull: Callable[[NDArray[Any]], float], starts: Iterable[NDArray[Any]]) -> float:
    tight = {"xatol": 1e-8, "fatol": 1e-12}
    return min(float(minimize(pull, start, method="Nelder-Mead", options=tight).fun) for start in starts)


def middles(places: NDArray[Any], which: NDArray[Any]) -> NDArray[np.float64]:
    return np.array([places[which == one].mean(axis=0) for one in range(3)])


@pytest.fixture(scope="module", params=METHODS)
def fitted(request: pytest.FixtureRequest) -> tuple[Map, list[tuple[str, int, int]]]:
    """A map of two corpora, 300 landmarks of 400 and 200 points, and the progress it told."""
    told: list[tuple[str, int, int]] = []
    one, other = clusters(400, 1)[0], clusters(200, 2)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        chart = fit_map(
            {"one": cut(one, 100), "other": cut(other)},
            method=request.param,
            landmarks=300,
            progress=lambda *news: told.append(news),
        )
    return chart, told


def test_clusters_stay_apart_and_neighbours_together(fitted: tuple[Map, Any]) -> None:
    chart, _ = fitted
    which = np.concatenate([clusters(400, 1)[1], clusters(200, 2)[1]])[chart.landmark_row + 400 * chart.landmark_corpus]
    centres = middles(chart.landmark_places, which)
    spread = np.linalg.norm(chart.landmark_places - centres[which], axis=1)
    apart = min(float(np.linalg.norm(centres[i] - centres[j])) for i, j in ((0, 1), (0, 2), (1, 2)))
    assert apart > 2 * np.quantile(spread, 0.95)
    assert trustworthiness(chart.landmarks, chart.landmark_places, n_neighbors=10) > 0.75
    mixed = np.random.default_rng(0).permutation(chart.landmark_places)
    assert trustworthiness(chart.landmarks, mixed, n_neighbors=10) < 0.6


def test_new_vectors_land_in_their_cluster(fitted: tuple[Map, Any]) -> None:
    chart, _ = fitted
    known = np.concatenate([clusters(400, 1)[1], clusters(200, 2)[1]])[chart.landmark_row + 400 * chart.landmark_corpus]
    centres = middles(chart.landmark_places, known)
    vectors, which = clusters(300, seed=9)
    places = chart.place(vectors)
    assert places.shape == (300, 2) and places.dtype == np.float32
    nearest = np.linalg.norm(places[:, None] - centres, axis=2).argmin(axis=1)
    assert nearest.tolist() == which.tolist()
    # Not all in the middle of it: they are spread about as the landmarks are.
    for one in range(3):
        assert places[which == one].std(axis=0).min() > 0.2 * chart.landmark_places[known == one].std(axis=0).min()


def test_landmarks_are_rows_of_the_corpora_and_land_on_themselves(fitted: tuple[Map, Any]) -> None:
    chart, _ = fitted
    assert chart.corpora == ("one", "other")
    assert Counter(chart.landmark_corpus.tolist()) == {0: 150, 1: 150}
    for number, vectors in enumerate((clusters(400, 1)[0], clusters(200, 2)[0])):
        mine = chart.landmark_corpus == number
        rows = chart.landmark_row[mine]
        assert np.array_equal(chart.landmarks[mine], vectors[rows])
        assert np.array_equal(chart.places(cut(vectors, 33))[rows], chart.landmark_places[mine])


def test_progress_is_told_to_the_end(fitted: tuple[Map, list[tuple[str, int, int]]]) -> None:
    chart, told = fitted
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert stages == ["counting", "reading", "fitting"]
    for stage in stages:
        news = [(done, total) for one, done, total in told if one == stage]
        assert news == sorted(news) and news[0][0] == 0 and news[-1][0] == news[-1][1]
        assert len({total for _, total in news}) == 1
    assert ("reading", 600, 600) in told
    heard: list[tuple[str, int, int]] = []
    chart.places(cut(clusters(1100)[0], 7), progress=lambda *news: heard.append(news))
    assert heard == [("placing", 7, 1100), ("placing", 519, 1100), ("placing", 1031, 1100), ("placing", 1100, 1100)]


def test_umap_says_how_many_epochs_are_done_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[str, int, int]] = []
    fit_map({"a": cut(clusters(1500)[0])}, method="umap", progress=lambda *news: told.append(news))
    epochs = [done for stage, done, _ in told if stage == "fitting"]
    assert len(epochs) > 2 and epochs[0] == 0 and epochs[-1] == 500
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method", METHODS)
def test_the_same_map_whatever_the_cuts_and_the_order_of_corpora(method: Method) -> None:
    one, other = clusters(120, 1)[0], clusters(60, 2)[0]
    first = fit_map({"one": cut(one), "other": cut(other)}, method=method, landmarks=80)
    again = fit_map({"other": cut(other, 1, 1, 50), "one": cut(one, 100)}, method=method, landmarks=80)
    assert np.array_equal(first.landmarks, again.landmarks)
    assert np.array_equal(first.landmark_row, again.landmark_row)
    assert np.array_equal(first.landmark_places, again.landmark_places)
    assert np.array_equal(first.places(cut(one)), again.places(cut(one, 3, 60, 61)))
    seeded = fit_map({"one": cut(one), "other": cut(other)}, method=method, landmarks=80, seed=1)
    assert not np.array_equal(first.landmark_row, seeded.landmark_row)


def test_the_choice_goes_by_the_corpus_name_too() -> None:
    vectors = clusters(200)[0]
    chart = fit_map({"a": cut(vectors), "b": cut(vectors + 1)}, method="tsne", landmarks=40)
    rows = [set(chart.landmark_row[chart.landmark_corpus == number].tolist()) for number in (0, 1)]
    assert len(rows[0]) == len(rows[1]) == 20 and rows[0] != rows[1]


def test_a_small_corpus_gives_all_it_has() -> None:
    blocks = {name: cut(clusters(rows, rows)[0]) for name, rows in (("big", 300), ("mid", 200), ("small", 10))}
    chart = fit_map(blocks, method="tsne", landmarks=101)
    assert Counter(chart.landmark_corpus.tolist()) == {0: 46, 1: 45, 2: 10}


def test_equal_vectors_are_one_landmark_and_one_place() -> None:
    vectors = clusters(60)[0]
    vectors[40:] = vectors[3]
    vectors[5], vectors[6] = 0.0, -0.0
    chart = fit_map({"a": cut(vectors), "b": cut(vectors[:4])}, method="tsne")
    assert len(chart.landmarks) == 39
    assert chart.landmark_row.tolist() == [*range(6), *range(7, 40)] and set(chart.landmark_corpus.tolist()) == {0}
    places = chart.places(cut(vectors))
    assert (places[40:] == places[3]).all() and (places[5] == places[6]).all()


@pytest.mark.parametrize("offset", [0, 1000])
def test_places_are_those_of_the_definition(offset: int) -> None:
    random = np.random.default_rng(3)
    # Under a large common mean float32 products alone would pick the wrong neighbours.
    landmarks = (random.normal(size=(200, 20)) + offset).astype(np.float32)
    chart = by_hand(landmarks, random.normal(size=(200, 2)))
    vectors = np.vstack([random.normal(size=(150, 20)) + offset, landmarks[:5]]).astype(np.float32)
    for vector, place in zip(vectors, chart.place(vectors).astype(np.float64), strict=True):
        pull = pull_of(vector, chart)
        assert pull(place) <= 1.0005 * least(pull, [place]) + 1e-6
    assert np.array_equal(chart.place(vectors[151:152])[0], chart.landmark_places[1])
    together = chart.place(vectors)
    assert all(np.array_equal(chart.place(vectors[i : i + 1])[0], together[i]) for i in (0, 70, 149))


def test_the_scale_of_the_vectors_does_not_matter() -> None:
    random = np.random.default_rng(4)
    landmarks, vectors = random.normal(size=(50, 8)), random.normal(size=(20, 8))
    places = random.normal(size=(50, 2))
    usual = by_hand(landmarks, places).place(vectors)
    for scale in (2.0**-60, 2.0**60):
        assert np.array_equal(by_hand(landmarks * scale, places).place(vectors * scale), usual)


def test_memory_is_bounded() -> None:
    vectors = np.random.default_rng(0).normal(size=(50_000, 32)).astype(np.float32)
    chart = by_hand(vectors[:2000], np.random.default_rng(1).normal(size=(2000, 2)))
    chart.place(vectors[:10])
    tracemalloc.start()
    try:
        chart.places(lambda: [vectors])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # A byte for each pair of point and landmark would be 100 MB.
    assert peak < 30e6


def test_a_map_is_read_as_it_was_written(fitted: tuple[Map, Any], tmp_path: Path) -> None:
    chart, _ = fitted
    path = tmp_path / "named as I like"
    chart.save(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    again = Map.load(path)
    for name in ("landmarks", "landmark_places", "landmark_corpus", "landmark_row"):
        assert np.array_equal(getattr(again, name), getattr(chart, name))
        assert getattr(again, name).dtype == getattr(chart, name).dtype
    for name in ("corpora", "method", "neighbours", "seed"):
        assert getattr(again, name) == getattr(chart, name)
    vectors = clusters(20, 5)[0]
    assert np.array_equal(again.place(vectors), chart.place(vectors))


def _npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_what_is_not_a_map_is_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "map.npz"
    chart = by_hand(np.eye(6), np.ones((6, 2)))
    chart.save(path)
    good = path.read_bytes()
    arrays = dict(np.load(path))
    about = json.loads(arrays["about"].tobytes())
    other = np.frombuffer(json.dumps(about | {"format": "theodolite map 2"}).encode(), np.uint8)
    at = good.index(np.eye(6, dtype=np.float32).tobytes())
    npy = io.BytesIO()
    np.save(npy, np.eye(3))
    wrong = {
        "empty": b"",
        "text": b"hello there",
        "cut": good[: len(good) // 2],
        "flipped": good[:at] + b"\x01" + good[at + 1 :],
        "npy": npy.getvalue(),
        "foreign": _npz(a=np.eye(3)),
        "pickled": _npz(**arrays | {"landmarks": np.array([{}], object)}),
        "another format": _npz(**arrays | {"about": other}),
        "not json": _npz(**arrays | {"about": np.zeros(3, np.uint8)}),
        "a list": _npz(**arrays | {"about": np.frombuffer(b"[1]", np.uint8)}),
        "shapes": _npz(**arrays | {"landmark_places": np.ones((5, 2), np.float32)}),
        "kinds": _npz(**arrays | {"landmark_row": np.ones(6)}),
        "not numbers": _npz(**arrays | {"landmark_places": np.full((6, 2), np.nan, np.float32)}),
        "one axis": _npz(**arrays | {"landmarks": np.ones(6, np.float32)}),
    }
    for name, content in wrong.items():
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"map\.npz: not a map .* make the map again") as caught:
            Map.load(path)
        assert "\n" not in str(caught.value), name
    path.write_bytes(_npz(**arrays))
    assert np.array_equal(Map.load(path).landmarks, chart.landmarks)
    for place in (tmp_path / "none.npz", tmp_path):
        with pytest.raises(InputError, match=re.escape(str(place)) + ": no map can be read there"):
            Map.load(place)
    with pytest.raises(InputError, match=r"cannot be written there \(No such file"):
        chart.save(tmp_path / "no folder" / "map.npz")


@pytest.mark.parametrize("method", METHODS)
def test_few_points(method: Method) -> None:
    random = np.random.default_rng(0)
    for count in (4, 5, 6, 10, 15, 16, 17):
        vectors = random.normal(size=(count, 8)).astype(np.float32)
        chart = fit_map({"a": cut(vectors)}, method=method)
        assert chart.method == method and np.isfinite(chart.landmark_places).all()
        assert len(np.unique(chart.landmark_places, axis=0)) == count


@pytest.mark.parametrize("method", METHODS)
def test_fewer_than_four_points_keep_their_distances(method: Method) -> None:
    random = np.random.default_rng(0)
    for count in (1, 2, 3):
        vectors = random.normal(size=(count, 8)).astype(np.float32)
        chart = fit_map({"a": cut(vectors)}, method=method)
        apart = np.linalg.norm(vectors[:, None] - vectors, axis=2)
        drawn = np.linalg.norm(chart.landmark_places[:, None] - chart.landmark_places, axis=2)
        assert chart.method == "plain"
        assert np.abs(apart - drawn).max() < 1e-5
        assert np.array_equal(chart.place(vectors), chart.landmark_places)


def test_one_dimension_is_a_line() -> None:
    vectors = np.arange(30, dtype=np.float32)[:, None]
    chart = fit_map({"a": cut(vectors)}, method="umap")
    assert chart.method == "plain"
    assert np.allclose(chart.place(vectors), np.hstack([vectors - 14.5, 0 * vectors]))


@pytest.mark.parametrize("method", METHODS)
def test_two_dimensions_and_points_on_a_line(method: Method) -> None:
    line = np.outer(np.arange(40), [1, 2]).astype(np.float32)
    chart = fit_map({"a": cut(line)}, method=method)
    assert chart.method == method and np.isfinite(chart.landmark_places).all()
    assert trustworthiness(line, chart.landmark_places, n_neighbors=5) > 0.9


@pytest.mark.parametrize("method", METHODS)
def test_all_points_the_same(method: Method) -> None:
    vectors = np.full((50, 6), 7, np.float32)
    chart = fit_map({"a": cut(vectors, 20)}, method=method)
    assert len(chart.landmarks) == 1
    assert np.array_equal(chart.places(cut(vectors)), np.zeros((50, 2)))
    assert np.array_equal(chart.place(vectors + 1), np.zeros((50, 2)))


def test_an_empty_corpus_has_no_part_in_the_map() -> None:
    vectors, nothing = clusters(30)[0], np.empty((0, 50), np.float32)
    chart = fit_map({"a": cut(nothing), "b": lambda: [], "c": cut(vectors)}, method="tsne")
    assert set(chart.landmark_corpus.tolist()) == {2} and len(chart.landmarks) == 30
    assert chart.place(nothing).shape == chart.places(lambda: []).shape == (0, 2)


def test_wrong_input_is_one_clear_line() -> None:
    vectors = clusters(700)[0]
    for bad in (np.nan, np.inf):
        broken = vectors.copy()
        broken[600, 3] = bad
        with pytest.raises(InputError, match=r"^wiki: row 600 has NaN or infinity"):
            fit_map({"a": cut(vectors), "wiki": cut(broken, 100)}, method="umap", landmarks=20)
        with pytest.raises(InputError, match=r"^the vectors: row 600 has NaN or infinity"):
            by_hand(vectors[:9], np.ones((9, 2))).place(broken)
    with pytest.raises(InputError, match=r"differ in size \(a: 50, b: 40\)"):
        fit_map({"a": cut(vectors), "b": cut(vectors[:, :40])}, method="umap")
    with pytest.raises(InputError, match=r"a: vectors \(n, 50\) wanted, got \(700, 40\)"):
        fit_map({"a": lambda: [vectors, vectors[:, :40]]}, method="umap")
    with pytest.raises(InputError, match=r"a: vectors \(n, d\) wanted, got \(700, 0\)"):
        fit_map({"a": cut(vectors[:, :0])}, method="umap")
    for nothing in ({}, {"a": cut(vectors[:0])}):
        with pytest.raises(InputError, match="no corpus has any rows"):
            fit_map(nothing, method="umap")
    with pytest.raises(InputError, match="method 'pca': the map is made by umap or tsne"):
        fit_map({"a": cut(vectors)}, method="pca")  # type: ignore[arg-type]
    for options in ({"landmarks": 0}, {"neighbours": 1}):
        with pytest.raises(InputError, match="give 1 or more, and 2 or more"):
            fit_map({"a": cut(vectors)}, method="umap", **options)
    chart = by_hand(vectors[:9], np.ones((9, 2)))
    with pytest.raises(InputError, match="vectors of 40 numbers, the map has 50; use the same encoder"):
        chart.place(vectors[:, :40])
    with pytest.raises(InputError, match=r"vectors \(n, d\) wanted, got \(50,\)"):
        chart.place(vectors[0])


@pytest.mark.parametrize(("then", "said"), [(3, "then 3"), (50, "then more")])
def test_blocks_that_change_between_two_readings(then: int, said: str) -> None:
    vectors = clusters(50)[0]
    chart = by_hand(vectors[:9], np.ones((9, 2)))
    for use in (lambda blocks: chart.places(blocks, name="a"), lambda blocks: fit_map({"a": blocks}, method="tsne")):
        turns = iter([vectors[:20], vectors[:then]])
        with pytest.raises(InputError, match=f"^a: there were 20 rows at first and {said}"):
            use(lambda turns=turns: [next(turns)])


def test_umap_leaves_the_number_of_threads_alone() -> None:
    """Numba sets OpenMP's when it begins: torch, on as many threads as another process has, would wait for it."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        by_umap(np.random.default_rng(0).standard_normal((40, 4)).astype(np.float32), 5, 0, lambda *_: None)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_what_was_compiled_serves_the_next_process_and_the_map_is_the_same() -> None:
    """UMAP's functions take some 20 seconds to compile, in every process unless they are kept."""
    vectors = clusters(60)[0]
    here = by_umap(vectors, 5, 0, lambda *_: None)
    script = """
import json, sys
import numpy as np
from umap import umap_
from theodolite.projection.methods import by_umap
places = by_umap(np.array(json.load(sys.stdin), np.float32), 5, 0, lambda *_: None)
print(json.dumps([sum(umap_.smooth_knn_dist.stats.cache_hits.values()), places.tolist()]))
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(vectors.tolist()), capture_output=True, text=True, check=True
    )
    found, there = json.loads(ran.stdout)
    assert found == 1
    np.testing.assert_array_equal(np.array(there, np.float32), here)

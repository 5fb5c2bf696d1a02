"""Transformers that make a space rounder: each against its definition written out, scikit-learn, and bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.utils.estimator_checks import estimator_checks_generator

from theodolite.errors import InputError
from theodolite.rounding import (
    METHODS,
    AllButTheTop,
    ClusterRemoval,
    MeanRemoval,
    Rounder,
    Unchanged,
    Whitening,
    load,
    rounder,
    save,
)
from theodolite.rounding.kmeans import Centres, extent_of, kmeans
from theodolite.rounding.mixture import Mixture


def clustered(n: int = 6000, dim: int = 24, groups: int = 6, seed: int = 0, apart: float = 4.0) -> np.ndarray:
    """Vectors like an encoder's: a large common mean, groups, and a spectrum that falls off, another in each group."""
    rng = np.random.default_rng(seed)
    falling = np.arange(1, dim + 1) ** -0.7
    group = rng.integers(0, groups, n)
    turns = [np.linalg.qr(rng.standard_normal((dim, dim)))[0] for _ in range(groups)]
    centres = rng.standard_normal((groups, dim)) * apart
    spread = rng.standard_normal((n, dim)) * falling
    vectors = np.stack([spread[i] @ turns[g] + centres[g] for i, g in enumerate(group)])
    vectors[:, 1] += 30
    return vectors.astype(np.float32)


def in_blocks(vectors: np.ndarray, size: int) -> Callable[[], Iterable[np.ndarray]]:
    return lambda: (vectors[i : i + size] for i in range(0, len(vectors), size))


def small(method: str) -> Rounder:
    """A transformer by name, with fewer clusters and directions than usual."""
    fewer = {"n_clusters": 5, "n_directions": 3} if "+" in method else {"n_directions": 3} if method == "abtt" else {}
    return rounder(method, **fewer)


ESTIMATORS = [
    Unchanged(),
    MeanRemoval(),
    AllButTheTop(),
    AllButTheTop(n_directions="auto"),
    Whitening(),
    ClusterRemoval(n_clusters=2, n_directions=2),
    ClusterRemoval(n_clusters=2, remove_directions=False),
    ClusterRemoval(clusterer="gmm", n_clusters=2, n_directions=2),
]
# One check is about arrays of other libraries: it skips itself unless an environment variable asks for them.
CHECKS = [
    pytest.param(made, check, id=f"{estimator}-{check.func.__name__}")
    for estimator in ESTIMATORS
    for made, check in estimator_checks_generator(estimator)
    if check.func.__name__ != "check_array_api_input"
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_matrix_on_its_side_is_refused(estimator: Rounder) -> None:
    """100,000 vectors of 2 numbers, turned: a (d, d) of it would take 80 GB."""
    turned = np.zeros((2, 100_000), np.float32)
    with pytest.raises(InputError, match="looks transposed"):
        clone(estimator).fit(turned)
    with pytest.raises(InputError, match="looks transposed"):
        clone(estimator).fit_blocks(lambda: [turned])


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_they_are_scikit_learn_transformers(estimator: Rounder, check: Callable[[Rounder], None]) -> None:
    check(estimator)


# The formulas


def test_mean_removal_is_its_definition() -> None:
    vectors = clustered(300)
    means = [sum(float(x) for x in column) / 300 for column in vectors.T]
    expected = [[float(x) - m for x, m in zip(row, means, strict=True)] for row in vectors]
    np.testing.assert_allclose(MeanRemoval().fit_transform(vectors), expected, atol=1e-5)


def without_top(vectors: np.ndarray, mean: np.ndarray, components: np.ndarray) -> np.ndarray:
    """(x − μ) − Σ ((x − μ)·u) u, a vector and a direction at a time."""
    found = []
    for vector in vectors.astype(np.float64):
        off = vector - mean
        for direction in components:
            off = off - ((vector - mean) @ direction) * direction
        found.append(off)
    return np.array(found)


@pytest.mark.parametrize(("given_as", "count"), [(12, 12), (1, 1), ("auto", 1)])
def test_all_but_the_top_is_its_definition(given_as: int | str, count: int) -> None:
    vectors = clustered(400)
    pca = PCA(count, svd_solver="full").fit(vectors.astype(np.float64))
    found = AllButTheTop(n_directions=given_as).fit(vectors)
    np.testing.assert_allclose(found.transform(vectors), without_top(vectors, pca.mean_, pca.components_), atol=1e-5)
    np.testing.assert_allclose(found.directions_ @ found.directions_.T, np.eye(count), atol=1e-12)


def test_auto_is_a_direction_for_a_hundred_dimensions() -> None:
    vectors = np.random.default_rng(0).standard_normal((500, 350))
    assert len(AllButTheTop(n_directions="auto").fit(vectors).directions_) == 3


def test_whitening_makes_the_covariance_the_identity() -> None:
    vectors = clustered(3000).astype(np.float64)
    white = Whitening().fit(vectors)
    found = white.transform(vectors)
    np.testing.assert_allclose(np.cov(found.T, bias=True), np.eye(24), atol=1e-8)
    # Up to a rotation it is scikit-learn's whitening: the products of the vectors are the same.
    peer = PCA(whiten=True, svd_solver="full").fit_transform(vectors) * np.sqrt(3000 / 2999)
    np.testing.assert_allclose(found[:50] @ found.T, peer[:50] @ peer.T, atol=1e-7)
    # It turns nothing round: along every axis a vector still points where it did.
    assert all(np.corrcoef(found[:, i], vectors[:, i])[0, 1] > 0.2 for i in range(24))
    assert white.rank_ == 24 and not white.notes()


def test_whitening_drops_what_has_no_variance() -> None:
    vectors = np.random.default_rng(1).standard_normal((400, 6)) * [10, 3, 1, 0.02, 0.005, 0]
    white = Whitening().fit(vectors)
    # 0.02² is 4e-6 of 10², 0.005² is 2.5e-7 of it: under a millionth.
    assert white.rank_ == 4
    assert white.notes() == ["2 of 6 directions with next to no variance were dropped"]
    spread = np.linalg.eigvalsh(np.cov(white.transform(vectors).T, bias=True))
    np.testing.assert_allclose(spread, [0, 0, 1, 1, 1, 1], atol=1e-9)


@pytest.mark.parametrize("clusterer", ["kmeans", "gmm"])
@pytest.mark.parametrize("directions", [True, False])
def test_cluster_removal_is_its_definition(clusterer: str, directions: bool) -> None:
    # Groups that overlap: a cluster's mean is then not quite the centre that vectors are assigned by.
    vectors = clustered(10_000, apart=0.1)
    fitted = ClusterRemoval(clusterer, directions, n_clusters=5, n_directions=4).fit(vectors)
    assert abs(fitted.means_ - fitted.centres_).max() > 1e-4
    labels = fitted.assign(vectors)
    found = fitted.transform(vectors)
    assert np.bincount(labels, minlength=5).tolist() == fitted.sizes_.tolist()
    for cluster in range(5):
        members = vectors[labels == cluster]
        pca = PCA(4, svd_solver="full").fit(members.astype(np.float64))
        removed = pca.components_ if directions else []
        np.testing.assert_allclose(found[labels == cluster], without_top(members, pca.mean_, removed), atol=1e-5)


def test_a_new_vector_goes_to_its_nearest_cluster() -> None:
    vectors, new = clustered(2000), clustered(500, seed=0, apart=1.0)
    fitted = ClusterRemoval(n_clusters=7).fit(vectors)
    for vector, label in zip(new, fitted.assign(new), strict=True):
        assert label == min(
            range(7), key=lambda c: sum((float(x) - m) ** 2 for x, m in zip(vector, fitted.centres_[c], strict=True))
        )


def test_a_new_vector_goes_to_its_most_probable_component() -> None:
    vectors = clustered(2000)
    fitted = ClusterRemoval("gmm", n_clusters=6).fit(vectors)
    peer = GaussianMixture(6, covariance_type="diag")
    peer.weights_, peer.means_, peer.covariances_ = fitted.weights_, fitted.centres_, fitted.variances_
    peer.precisions_cholesky_ = 1 / np.sqrt(fitted.variances_)
    new = np.random.default_rng(0).standard_normal((500, 24)) * 8 + vectors.mean(axis=0)
    assert fitted.assign(new).tolist() == peer.predict(new).tolist()
    held = Mixture(fitted.weights_, fitted.centres_, fitted.variances_, fitted.middle_)
    np.testing.assert_allclose(held.log_densities(new), peer._estimate_weighted_log_prob(new), rtol=1e-9)


def test_the_mixture_is_the_one_scikit_learn_finds_from_the_same_start() -> None:
    vectors = clustered(5000, apart=0.25).astype(np.float64)
    start = ClusterRemoval(n_clusters=4).fit(vectors)
    fitted = ClusterRemoval("gmm", n_clusters=4).fit(vectors)
    labels = start.assign(vectors)
    members = [vectors[labels == c] for c in range(4)]
    peer = GaussianMixture(
        4,
        covariance_type="diag",
        reg_covar=1e-6 * float(vectors.var(axis=0).mean()),
        weights_init=[len(m) / 5000 for m in members],
        means_init=[m.mean(axis=0) for m in members],
        precisions_init=[1 / m.var(axis=0) for m in members],
    ).fit(vectors)
    assert peer.n_iter_ > 3 and peer.converged_
    np.testing.assert_allclose(fitted.weights_, peer.weights_, atol=2e-3)
    np.testing.assert_allclose(fitted.centres_, peer.means_, atol=2e-2)
    assert (fitted.assign(vectors) == peer.predict(vectors)).mean() > 0.995


# k-means


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.integers(1, 9), st.sampled_from([np.float32, np.float64]))
def test_the_nearest_centre_is_the_nearest(seed: int, count: int, kind: type) -> None:
    rng = np.random.default_rng(seed)
    # Whole numbers far from zero: many vectors are exactly as near to one centre as to another.
    vectors, centres = rng.integers(997, 1003, (60, 3)).astype(kind), rng.integers(997, 1003, (count, 3)).astype(float)
    found = Centres(centres, centres.mean(axis=0)).nearest(vectors)
    for vector, label in zip(vectors.tolist(), found.tolist(), strict=True):
        apart = [sum((x - y) ** 2 for x, y in zip(vector, centre, strict=True)) for centre in centres.tolist()]
        assert label == apart.index(min(apart))


def inertia(vectors: np.ndarray, centres: np.ndarray) -> float:
    return float(((vectors[:, None].astype(np.float64) - centres) ** 2).sum(axis=2).min(axis=1).sum())


def test_k_means_is_as_good_as_scikit_learns() -> None:
    vectors = clustered(20_000, groups=40, apart=0.8)
    blocks = in_blocks(vectors, 3000)
    extent = extent_of(blocks)
    np.testing.assert_allclose(extent.mean, vectors.mean(axis=0, dtype=np.float64), rtol=1e-6)
    assert extent.scatter == pytest.approx(vectors.var(axis=0, dtype=np.float64).sum() * 20_000, rel=1e-5)
    found = inertia(vectors, kmeans(blocks, extent, 27, seed=0).centres)
    peers = [KMeans(27, n_init=1, random_state=seed).fit(vectors).inertia_ for seed in range(5)]
    assert found < 1.01 * float(np.median(peers))


def test_groups_that_are_there_are_found() -> None:
    vectors = clustered(9000, groups=5, apart=6.0)
    truth = np.random.default_rng(0).integers(0, 5, 9000)
    for clusterer in ("kmeans", "gmm"):
        fitted = ClusterRemoval(clusterer, n_clusters=5).fit(vectors)
        assert adjusted_rand_score(fitted.assign(vectors), truth) == 1


def test_the_seed_decides() -> None:
    vectors = clustered(3000, apart=0.5)
    first, again, other = (ClusterRemoval(random_state=seed).fit(vectors) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.centres_, again.centres_)
    assert not np.allclose(first.centres_, other.centres_)


# Blocks


@pytest.mark.parametrize("method", METHODS)
def test_the_size_of_the_blocks_does_not_matter(method: str) -> None:
    vectors = clustered(10_000, apart=0.7)
    whole = small(method).fit(vectors)
    for size in (1, 777, 4096, 9999):
        streamed = small(method).fit_blocks(in_blocks(vectors[:], size))
        np.testing.assert_allclose(streamed.transform(vectors), whole.transform(vectors), atol=1e-6)
        assert streamed.n_features_in_ == 24


@pytest.mark.parametrize("method", ["mean", "abtt", "whitening"])
def test_partial_fits_add_up(method: str) -> None:
    vectors = clustered(5000)
    bit_by_bit = small(method)
    for part in in_blocks(vectors, 1300)():
        bit_by_bit.partial_fit(part)
    np.testing.assert_allclose(bit_by_bit.transform(vectors), small(method).fit_transform(vectors), atol=1e-5)
    # A new fit forgets them.
    again = bit_by_bit.fit(vectors[:100]).transform(vectors)
    np.testing.assert_array_equal(again, small(method).fit(vectors[:100]).transform(vectors))


def test_blocks_that_cannot_be_gone_over_again_are_refused() -> None:
    once = in_blocks(clustered(500), 100)()
    with pytest.raises(InputError, match="500 vectors at first and then 0; give a function that starts anew"):
        ClusterRemoval(n_clusters=3).fit_blocks(lambda: once)


def test_a_block_that_is_filled_again_is_no_trouble() -> None:
    vectors = clustered(5000)
    buffer = np.empty((250, 24), np.float32)

    def refilled() -> Iterable[np.ndarray]:
        for start in range(0, 5000, 250):
            buffer[:] = vectors[start : start + 250]
            yield buffer

    found = ClusterRemoval(n_clusters=4).fit_blocks(refilled)
    np.testing.assert_array_equal(found.directions_, ClusterRemoval(n_clusters=4).fit(vectors).directions_)


@pytest.mark.parametrize("method", METHODS)
def test_one_vector_is_as_among_many(method: str) -> None:
    vectors = clustered(3000)
    fitted = small(method).fit(vectors)
    many = fitted.transform(vectors[:200])
    assert many.dtype == np.float32
    np.testing.assert_allclose([fitted.transform_one(v) for v in vectors[:200]], many, atol=1e-6)
    with pytest.raises(InputError, match=r"one vector \(d,\) wanted, got an array of shape \(2, 24\)"):
        fitted.transform_one(vectors[:2])


# Small clusters, and input that is at fault


def test_a_small_cluster_keeps_the_mean_step_only_and_says_so() -> None:
    rng = np.random.default_rng(0)
    vectors = np.concatenate([rng.standard_normal((500, 8)), rng.standard_normal((5, 8)) + 100, [[-200.0] * 8]])
    fitted = ClusterRemoval(n_clusters=3, n_directions=4).fit(vectors)
    large, few, lone = fitted.assign(vectors[[0, 500, 505]])
    assert fitted.small_clusters_.tolist() == sorted([few, lone])
    assert fitted.sizes_[[large, few, lone]].tolist() == [500, 5, 1]
    found = fitted.transform(vectors)
    np.testing.assert_allclose(found[500:505], vectors[500:505] - vectors[500:505].mean(axis=0), atol=1e-9)
    assert np.linalg.matrix_rank(found[:500]) == 4
    (note,) = fitted.notes()
    assert note.startswith("2 of 3 clusters have fewer than 6 vectors and keep the mean step only: ")
    assert f"{few} (5)" in note and f"{lone} (1)" in note
    # With one direction fewer, five vectors are enough.
    assert ClusterRemoval(n_clusters=3, n_directions=3).fit(vectors).small_clusters_.tolist() == [lone]
    assert not ClusterRemoval(n_clusters=3, remove_directions=False).fit(vectors).notes()


@pytest.mark.parametrize("clusterer", ["kmeans", "gmm"])
def test_fewer_vectors_than_clusters(clusterer: str) -> None:
    with pytest.raises(InputError, match="n_samples=20 is fewer than n_clusters=27; give more vectors or fewer"):
        ClusterRemoval(clusterer).fit(clustered(20))


@pytest.mark.parametrize("method", METHODS)
def test_nan_and_infinity_are_named(method: str) -> None:
    vectors = clustered(5000)
    fitted = small(method).fit(vectors)
    for fault, name in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = vectors.copy()
        bad[4500, 3] = fault
        for use in (small(method).fit, fitted.transform):
            with pytest.raises(InputError, match=f"Input X contains {name}"):
                use(bad)
        with pytest.raises(InputError, match=f"vector 4500 contains {name}; leave it out or mend it"):
            small(method).fit_blocks(in_blocks(bad, 999))


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_matrix_becomes_zeros(method: str) -> None:
    vectors = np.full((60, 5), 0.1)
    found = small(method).fit_transform(vectors)
    np.testing.assert_allclose(found, vectors if method == "none" else 0 * vectors, atol=1e-12)
    # And nothing is removed from another vector but the mean; whitening has no direction left.
    other = np.arange(5.0)
    expected = {"none": other, "whitening": 0 * other}.get(method, other - 0.1)
    np.testing.assert_allclose(small(method).fit(vectors).transform_one(other), expected, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_one_vector_alone(method: str) -> None:
    one = rounder(method, n_clusters=1) if "+" in method else small(method)
    found = one.fit_transform(np.array([[1.0, 2.0, 3.0]]))
    np.testing.assert_allclose(found, [[1, 2, 3]] if method == "none" else [[0, 0, 0]], atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_another_dimension_is_refused(method: str) -> None:
    fitted = small(method).fit(clustered(100))
    with pytest.raises(InputError, match=r"X has 23 features, but \w+ is expecting 24 features"):
        fitted.transform(clustered(100)[:, :23])
    with pytest.raises(InputError, match=r"blocks of shape \(b, 24\) wanted, got \(5, 3\)"):
        small(method).fit_blocks(lambda: [clustered(100), np.zeros((5, 3))])
    with pytest.raises(InputError, match="there are no vectors to fit on"):
        small(method).fit_blocks(list)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"clusterer": "dbscan"}, "clusterer='dbscan': give 'kmeans' or 'gmm'"),
        ({"n_clusters": 0}, "n_clusters=0: give a whole number of 1 or more"),
        ({"n_clusters": True}, "n_clusters=True"),
        ({"n_directions": 0.5}, "n_directions=0.5"),
        ({"random_state": None}, "random_state=None"),
    ],
)
def test_parameters_at_fault(parameters: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ClusterRemoval(**parameters).fit(clustered(100))


# Names


def test_methods_have_their_names() -> None:
    names = ["none", "mean", "abtt", "kmeans+mean", "kmeans+mean+pca", "gmm+mean+pca", "whitening"]
    assert list(METHODS) == names
    assert [rounder(name).method for name in names] == names
    assert rounder("gmm+mean+pca", n_clusters=3, random_state=5).get_params() == {
        "clusterer": "gmm",
        "remove_directions": True,
        "n_clusters": 3,
        "n_directions": 12,
        "random_state": 5,
    }
    with pytest.raises(InputError, match="no method 'pca'; there are: none, mean, abtt"):
        rounder("pca")
    with pytest.raises(InputError, match=r"abtt has no parameter 'k' \(it has: n_directions\)"):
        rounder("abtt", k=3)


# Saving


@pytest.mark.parametrize("method", METHODS)
def test_saved_and_loaded_it_transforms_to_the_same_bits(method: str, tmp_path: Path) -> None:
    vectors = clustered(2000)
    fitted = small(method).fit(vectors)
    save(fitted, tmp_path / "here", {"corpus": "wiki", "layer": 6})
    assert sorted(p.name for p in (tmp_path / "here").iterdir()) == ["manifest.json", "transform.safetensors"]
    manifest = json.loads((tmp_path / "here" / "manifest.json").read_text())
    assert (manifest["method"], manifest["dim"], manifest["about"]) == (method, 24, {"corpus": "wiki", "layer": 6})
    assert manifest["parameters"] == fitted.get_params() and manifest["notes"] == fitted.notes()
    loaded = load(tmp_path / "here")
    assert type(loaded) is type(fitted) and loaded.get_params() == fitted.get_params()
    assert loaded.transform(vectors).tobytes() == fitted.transform(vectors).tobytes()
    assert loaded.notes() == fitted.notes()
    if method in ("mean", "abtt", "whitening"):
        with pytest.raises(InputError, match="was loaded, without what it had seen; fit a new one"):
            loaded.partial_fit(vectors)


def test_another_process_has_the_same_transform_one_vector_at_a_time(tmp_path: Path) -> None:
    vectors = clustered(1000)
    methods = [method for method in METHODS if method != "none"]
    bulk = []
    for i, method in enumerate(methods):
        fitted = small(method).fit(vectors)
        save(fitted, tmp_path / str(i))
        bulk.append(fitted.transform(vectors[:100]))
    np.save(tmp_path / "vectors.npy", vectors[:100])
    program = (
        "import sys, numpy as np; from pathlib import Path; from theodolite.rounding import load\n"
        "here = Path(sys.argv[1]); vectors = np.load(here / 'vectors.npy')\n"
        "made = [load(here / str(i)) for i in range(int(sys.argv[2]))]\n"
        "np.save(here / 'found.npy', [[t.transform_one(v) for v in vectors] for t in made])\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path), str(len(methods))], check=True)
    np.testing.assert_allclose(np.load(tmp_path / "found.npy"), bulk, atol=1e-6)


def test_a_folder_that_is_damaged_or_foreign_is_refused(tmp_path: Path) -> None:
    place = save(AllButTheTop().fit(clustered(100)), tmp_path / "t")
    tensors, manifest = place / "transform.safetensors", place / "manifest.json"
    good_tensors, good_manifest = tensors.read_bytes(), manifest.read_text()

    def refused(said: str) -> None:
        with pytest.raises(InputError, match=said):
            load(place)

    tensors.write_bytes(good_tensors[:-8] + b"damaged!")
    refused("transform.safetensors is damaged, or of another transform")
    tensors.unlink()
    refused(r"no saved transform can be read there .*transform\.safetensors")
    tensors.write_bytes(good_tensors)
    manifest.write_text(good_manifest[:-20])
    refused("manifest.json is damaged")
    for foreign in ("[]", '{"format": "other"}'):
        manifest.write_text(foreign)
        refused("not a transform of theodolite's")
    for change in ({"dim": 7}, {"transformer": "KMeans"}, {"parameters": {"k": 3}}, {"transformer": "Whitening"}):
        manifest.write_text(json.dumps({**json.loads(good_manifest), **change}))
        refused("the saved transform is damaged")
    manifest.write_text(good_manifest)
    assert load(place).n_features_in_ == 24
    with pytest.raises(InputError, match="no saved transform can be read there"):
        load(tmp_path / "nowhere")


def test_what_cannot_be_saved_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    fitted = MeanRemoval().fit(clustered(100))
    with pytest.raises(InputError, match="about cannot be written as JSON"):
        save(fitted, tmp_path / "t", {"corpus": object()})
    assert not (tmp_path / "t").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written there"):
        save(fitted, tmp_path / "file" / "t")

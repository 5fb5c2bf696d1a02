"""How round a space is: every measure against its plain definition, on real token vectors and on hard spaces."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IsoScore.IsoScore import IsoScore

from theodolite.demo import demo_corpus
from theodolite.errors import InputError
from theodolite.isotropy import measures as module
from theodolite.isotropy.cloud import round_cloud
from theodolite.isotropy.isoscore import isoscore, isoscore_of, refuse_transposed
from theodolite.isotropy.measures import COINCIDE, Measures, SpaceSums, measure, measure_array
from theodolite.isotropy.partition import PartitionSums, directions, partition

VARIANCE = ("isoscore", "variance_top1", "variance_top3", "variance_top10", "effective_rank")
PARTITION = ("partition", "partition_published", "log_partition")
NAMES = (*PARTITION, *VARIANCE, "mean_cosine", "mean_offset")


@pytest.fixture(scope="module")
def tokens(minilm) -> np.ndarray:
    """(3, 3000, 384): vectors of real tokens in the embedding layer, a middle one and the last."""
    texts = demo_corpus("encyclopaedia").texts(0, 240)
    found = np.concatenate(minilm.hidden_states(texts, [0, 3, 6]), axis=1)[:, :3000]
    assert found.shape == (3, 3000, 384)
    return found


def space(seed: int, n: int = 200, d: int = 6, mean: float = 1.0) -> np.ndarray:
    """Vectors with a spread that differs much from direction to direction, about a mean of that length."""
    rng = np.random.default_rng(seed)
    turned = np.linalg.qr(rng.standard_normal((d, d)))[0]
    centre = rng.standard_normal(d)
    return rng.standard_normal((n, d)) * 1.7 ** -np.arange(d) @ turned + mean * centre / np.linalg.norm(centre)


def whitened(x: np.ndarray) -> np.ndarray:
    off = x - x.mean(axis=0)
    return math.sqrt(len(x)) * np.linalg.svd(off, full_matrices=False)[0]


# The plain definitions


def plain_isoscore(x: np.ndarray) -> float:
    """The steps of the paper, one by one."""
    d = x.shape[1]
    values = np.linalg.svd(x - x.mean(axis=0), compute_uv=False) ** 2 / (len(x) - 1)
    values = np.append(values, np.zeros(d - len(values)))
    normed = [math.sqrt(d) * v / math.sqrt(sum(u * u for u in values)) for v in values]
    distance = math.sqrt(sum((v - 1) ** 2 for v in normed))
    defect = distance / math.sqrt(2 * (d - math.sqrt(d)))
    used = (d - defect**2 * (d - math.sqrt(d))) ** 2 / d**2
    return (d * used - 1) / (d - 1)


def plain_partition(x: np.ndarray) -> tuple[float, float]:
    """Logarithms of I(W) over both signs and over one."""
    both, one = [], []
    for c in np.linalg.svd(x, full_matrices=True)[2]:
        along = x @ c * np.sign(max(c, key=abs))
        one.append(sum(math.exp(value) for value in along))
        both += [one[-1], sum(math.exp(-value) for value in along)]
    return math.log(min(both) / max(both)), math.log(min(one) / max(one))


def plain_measures(x: np.ndarray) -> Measures:
    x = x.astype(np.float64)
    n, d = x.shape
    lengths = [math.sqrt(sum(v * v for v in row)) for row in x.tolist()]
    cosines = [float(x[i] @ x[j] / (lengths[i] * lengths[j])) for i in range(min(n, 200)) for j in range(i)]
    if n > 200:
        units = x / np.array(lengths)[:, None]
        cosines = np.concatenate([units[i + 1 :] @ units[i] for i in range(n)]).tolist()
    mean = [sum(column) / n for column in x.T.tolist()]
    values = np.linalg.svd(x - mean, compute_uv=False) ** 2
    shares = [v / sum(values) for v in values]
    log_both, log_one = plain_partition(x)
    return Measures(
        partition=math.exp(log_both),
        partition_published=math.exp(log_one),
        log_partition=log_both,
        isoscore=plain_isoscore(x),
        mean_cosine=math.fsum(cosines) / len(cosines),
        variance_top1=shares[0],
        variance_top3=sum(shares[:3]),
        variance_top10=sum(shares[:10]),
        effective_rank=math.exp(-sum(p * math.log(p) for p in shares if p > 0)),
        mean_offset=math.sqrt(sum(m * m for m in mean)) / (sum(lengths) / n),
        n=n,
        dim=d,
        reason="",
    )


def assert_alike(found: Measures, wanted: Measures, rel: float) -> None:
    """Equal within a relative difference, the partition on the scale of its logarithm."""
    assert (found.n, found.dim, found.reason) == (wanted.n, wanted.dim, wanted.reason)
    for name in NAMES:
        ours, theirs = getattr(found, name), getattr(wanted, name)
        if name.startswith("partition") and theirs:
            ours, theirs = math.log(ours), math.log(theirs)
        # Near 0 it is the rounding of numbers about 1 that counts.
        assert ours == pytest.approx(theirs, rel=rel, abs=rel * 1e-2), name


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_measures_of_real_tokens_are_the_plain_definitions(tokens: np.ndarray, layer: int) -> None:
    found, plain = measure_array(tokens[layer]), plain_measures(tokens[layer])
    assert_alike(found, plain, 1e-6)
    assert math.exp(found.log_partition) == pytest.approx(found.partition)
    assert found.partition <= found.partition_published <= 1


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(2, 12), st.sampled_from([0.0, 1.0, 30.0]))
def test_measures_of_random_spaces_are_the_plain_definitions(seed: int, n: int, d: int, mean: float) -> None:
    x = space(seed, n, d, mean)
    found, plain = measure_array(x), plain_measures(x)
    assert_alike(found, plain, 1e-6)


def test_a_mean_large_beside_the_spread_costs_no_digits() -> None:
    near, far = space(1, mean=0), space(1, mean=0) + 1e6
    found, wanted = measure_array(far), measure_array(near)
    for name in VARIANCE:
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-7), name
    assert found.mean_offset == pytest.approx(1) and found.mean_cosine == pytest.approx(1)
    assert found.log_partition == pytest.approx(-2e6 * math.sqrt(6), rel=1e-6)


# IsoScore


def test_isoscore_is_the_packages(tokens: np.ndarray) -> None:
    for x in (*tokens.astype(np.float64), *(space(seed, d=9) for seed in range(5)), np.eye(5), space(0, n=4, d=7)):
        assert measure_array(x).isoscore == pytest.approx(float(IsoScore(x)), abs=1e-6)
        assert isoscore(np.cov(x.T)) == pytest.approx(plain_isoscore(x), rel=1e-9, abs=1e-12)


def test_isoscore_is_one_for_a_round_space_and_zero_for_a_line() -> None:
    assert isoscore(7 * np.eye(30)) == pytest.approx(1, abs=1e-12)
    assert isoscore(np.outer([1, 2, 3], [1, 2, 3])) == pytest.approx(0, abs=1e-12)
    # k of d dimensions used alike give (k − 1) / (d − 1).
    assert isoscore(np.diag([1e-200] * 4 + [0] * 5)) == pytest.approx(3 / 8)
    assert math.isnan(isoscore(np.zeros((3, 3)))) and math.isnan(isoscore(np.ones((1, 1))))


def test_isoscore_refuses_vectors_in_the_place_of_a_covariance() -> None:
    for wrong in (np.ones((5, 3)), np.ones(3), 1e-9 * np.arange(9.0).reshape(3, 3)):
        with pytest.raises(InputError, match="IsoScore wants a covariance"):
            isoscore(wrong)


# The partition


def test_directions_are_eigenvectors_with_a_fixed_sign(tokens: np.ndarray) -> None:
    moment = tokens[2].astype(np.float64).T @ tokens[2]
    found, coincide = directions(moment)
    assert not coincide
    np.testing.assert_allclose(found.T @ found, np.eye(384), atol=1e-12)
    values = np.einsum("dm,de,em->m", found, moment, found)
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    np.testing.assert_allclose(moment @ found, found * values, atol=1e-9 * values[0])
    assert all(max(column, key=abs) > 0 for column in found.T)


def test_of_components_as_large_the_first_is_positive() -> None:
    for turn in (1, -1):
        # Exactly as large, but for the last digit.
        c = turn * np.array([math.sqrt(0.5), -np.nextafter(math.sqrt(0.5), 1)])
        assert directions(np.outer(c, c))[0][0, 0] > 0


def test_partition_does_not_know_the_signs_of_eigenvectors(tokens: np.ndarray) -> None:
    x = tokens[1].astype(np.float64)
    along, rng = directions(x.T @ x)[0], np.random.default_rng(0)
    found = []
    for _ in range(5):
        sums = PartitionSums(along * rng.choice([-1, 1], 384))
        sums.update(x)
        found.append(partition(sums.result()))
    assert np.ptp([one.log_value for one in found]) < 1e-9
    # Which is more than can be said of the plain recipe.
    assert np.ptp([one.log_published for one in found]) > 0.1


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.lists(st.sampled_from([-1, 1]), min_size=6, max_size=6))
def test_partition_is_that_of_the_mirrored_space(seed: int, flips: list[int]) -> None:
    x = space(seed)
    assert measure_array(-x).log_partition == pytest.approx(measure_array(x).log_partition, rel=1e-9)
    assert measure_array(x * flips).log_partition == pytest.approx(measure_array(x).log_partition, rel=1e-9)


def test_long_vectors_do_not_overflow() -> None:
    x = space(3, mean=0)
    x = 500 * x / np.linalg.norm(x, axis=1)[:, None]
    found = measure_array(np.concatenate([x, x + 400]).astype(np.float32))
    assert found.reason == "" and -3000 < found.log_partition < -700 and found.partition == 0
    # By hand: two vectors of length 500 on one axis and one on another.
    found = measure_array(np.array([[500.0, 0], [500, 0], [0, -300]]))
    assert found.log_partition == pytest.approx(math.log(1) - (500 + math.log(2)), rel=1e-12)
    sums = PartitionSums(np.eye(1))
    sums.update(np.array([[5000.0], [-5000.0]]))
    assert sums.result().tolist() == [[5000.0], [5000.0]]


def test_after_whitening_there_is_no_partition(tokens: np.ndarray) -> None:
    round_space = whitened(tokens[1].astype(np.float64)[:, :100])
    # Exact, as float32, moved off its mean, scaled, and with dimensions that are dead.
    spaces = [round_space, round_space.astype(np.float32), round_space + 3, 1e-3 * round_space]
    for x in (*spaces, np.pad(round_space, ((0, 0), (0, 3))), round_space + 2e4):
        found = measure_array(x)
        assert found.reason == COINCIDE
        assert all(getattr(found, name) is None for name in PARTITION)
        assert None not in [getattr(found, name) for name in NAMES if name not in PARTITION]


def test_dead_dimensions_and_few_vectors_leave_the_partition_as_it_is(tokens: np.ndarray) -> None:
    x = space(5, n=50, d=8)
    alone = measure_array(x)
    padded = measure_array(np.pad(x, ((0, 0), (0, 3))))
    # The dead directions add Z = n, which is neither the least nor the greatest here.
    assert padded.log_partition == pytest.approx(alone.log_partition, rel=1e-9)
    assert padded.reason == "" and padded.effective_rank == pytest.approx(alone.effective_rank)
    few = measure_array(tokens[2, :40])
    assert few.reason == "" and few.log_partition == pytest.approx(plain_partition(tokens[2, :40].astype(float))[0])
    # Centred, no Z is below n: there the dead ones are the least.
    centred = x - x.mean(axis=0)
    sums = PartitionSums(directions(centred.T @ centred)[0])
    sums.update(centred)
    wanted = math.log(50) - sums.result().max()
    assert measure_array(np.pad(centred, ((0, 0), (0, 3)))).log_partition == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("values", "coincide"),
    [
        ([3, 2, 1], False),
        ([3, 2, 2], True),
        ([3, 2, 2 - 1e-7], True),
        ([3, 2, 2 - 1e-5], False),
        ([3, 0, 0], False),
        ([3, 1e-13, 1e-13], False),
        ([3, 1e-11, 1e-11], True),
        ([3, 1e-4, 1.001e-4], False),
        ([0, 0, 0], False),
        ([5], False),
    ],
)
def test_when_eigenvalues_coincide(values: list[float], coincide: bool) -> None:
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((len(values),) * 2))[0]
    for scale in (1e-6, 1, 1e6):
        assert directions(scale * turned @ np.diag(values) @ turned.T)[1] is coincide


# Merging


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 1000.0]), st.data())
def test_any_order_and_any_blocks_give_the_same(seed: int, mean: float, data: st.DataObject) -> None:
    x = space(seed, n=60, mean=mean)
    x[7] = 0
    cuts = sorted(data.draw(st.lists(st.integers(0, 60), max_size=8)))
    blocks = np.split(x, cuts)
    order = data.draw(st.permutations(range(len(blocks))))
    shuffled = measure(lambda: [blocks[i] for i in order])
    whole = measure_array(x)
    assert_alike(shuffled, whole, 1e-9)

    spaces = []
    for i in order:
        spaces.append(SpaceSums(6))
        spaces[-1].update(blocks[i])
    merged = SpaceSums(6).restore(spaces[0].state())
    for other in spaces[1:]:
        merged.merge(other)
    along = directions(merged.result().second_moment)[0]
    sums = PartitionSums(along)
    for i in order:
        part, fresh = PartitionSums(along), PartitionSums(along)
        part.update(blocks[i])
        sums.merge(fresh.restore(part.state()))
    found = module.measures(merged.result(), partition(sums.result()))
    assert_alike(found, whole, 1e-9)
    assert merged.result().zeros == 1
    np.testing.assert_allclose(merged.result().second_moment, x.T @ x, rtol=1e-9, atol=1e-9 * (x * x).sum())


def test_what_does_not_belong_together_is_not_merged() -> None:
    with pytest.raises(ValueError, match="different directions"):
        PartitionSums(np.eye(2)).merge(PartitionSums(-np.eye(2)))
    with pytest.raises(ValueError, match=r"\(n, 2\) wanted"):
        PartitionSums(np.eye(2)).update(np.ones((3, 3)))
    with pytest.raises(ValueError, match=r"\(n, 2\) wanted"):
        SpaceSums(2).update(np.ones((3, 3)))


def test_large_arrays_are_taken_a_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    x = space(8, n=500)
    whole = measure_array(x)
    monkeypatch.setattr(module, "_ROWS", 33)
    assert_alike(measure_array(x), whole, 1e-9)


# Spaces at the edge


def test_equal_vectors_have_no_variance_but_a_direction() -> None:
    row = np.array([0.1, -0.7, 0.3])
    for n in (2, 5000):
        found = measure_array(np.tile(row, (n, 1)))
        assert [getattr(found, name) for name in VARIANCE] == [None] * 5
        assert found.mean_cosine == pytest.approx(1) and found.mean_offset == pytest.approx(1)
        assert found.log_partition == pytest.approx(-2 * np.linalg.norm(row))
        assert found.partition_published == pytest.approx(math.exp(-np.linalg.norm(row)))
        assert found.reason == "all vectors are equal: there is no variance to share out"


def test_a_small_spread_is_not_taken_for_none() -> None:
    x = np.full((1000, 4), 7.0, np.float32)
    x[0, 0] = np.nextafter(np.float32(7), np.float32(8))
    found = measure_array(x)
    assert found.reason == "" and found.variance_top1 == pytest.approx(1) and found.isoscore == pytest.approx(0)


def test_one_vector() -> None:
    found = measure_array(np.array([[3.0, 4.0]]))
    assert [getattr(found, name) for name in (*VARIANCE, "mean_cosine")] == [None] * 6
    assert (found.log_partition, found.mean_offset, found.n, found.dim) == (pytest.approx(-10), 1, 1, 2)
    assert "no variance" in found.reason and "no pair" in found.reason


def test_zero_vectors_count_but_have_no_direction() -> None:
    x = space(2)
    found, without = measure_array(np.concatenate([np.zeros((50, 6)), x])), measure_array(x)
    assert found.mean_cosine == pytest.approx(without.mean_cosine, rel=1e-12) and found.n == 250
    assert found.mean_offset == pytest.approx(without.mean_offset)
    nothing = measure_array(np.zeros((4, 3)))
    assert (nothing.partition, nothing.log_partition, nothing.mean_cosine, nothing.mean_offset) == (1, 0, None, None)
    assert all(part in nothing.reason for part in ("all vectors are equal", "no pair", "all vectors are zero"))


def test_one_dimension_has_no_isoscore() -> None:
    found = measure_array(np.array([[1.0], [2.0], [-4.0]]))
    assert (
        found.isoscore is None and found.variance_top10 == 1 and found.reason == "one dimension: there is no IsoScore"
    )


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf, 1e300])
def test_a_number_that_is_not_finite_is_named_by_its_row(broken: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", 16)
    x = space(4)
    x[41, 3] = broken
    with pytest.raises(InputError, match="row 42 has a NaN, infinite or immense number"):
        measure(lambda: [x[:30], x[30:]])


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "no vectors to measure"),
        ([np.empty((0, 5))], "no vectors to measure"),
        ([np.empty((5, 0))], r"shape \(5, 0\)"),
        ([np.ones(5)], r"\(n vectors, d dimensions\) wanted, got an array of shape \(5,\)"),
        (
            [np.ones((2, 3)), np.ones((2, 4))],
            r"vectors of 3 numbers, as before, wanted, got an array of shape \(2, 4\)",
        ),
        ([np.array([["a", "b"]])], "real numbers are needed"),
        ([np.ones((2, 2), complex)], "real numbers are needed"),
    ],
)
def test_what_cannot_be_measured_says_so(blocks: list[np.ndarray], message: str) -> None:
    with pytest.raises(InputError, match=message):
        measure(lambda: blocks)


def test_blocks_must_come_again() -> None:
    once = iter([space(0), space(1)])
    with pytest.raises(ValueError, match="400 vectors at first and then 0"):
        measure(lambda: once)


def test_a_transposed_matrix_is_refused_where_it_can_be_told(tokens: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"384 rows of 3,000 numbers look transposed.*dim=3000"):
        measure_array(tokens[0].T)
    with pytest.raises(InputError, match="look transposed"):
        measure(lambda: [np.broadcast_to(np.float32(1), (384, 64_000))] * 2)
    # Where the width is known, nothing is left to guess.
    with pytest.raises(InputError, match="vectors of 64 numbers wanted, got 200; the matrix is transposed"):
        measure_array(space(0, d=64).T, dim=64)
    with pytest.raises(InputError, match="vectors of 64 numbers wanted, got 6; check where"):
        measure_array(space(0), dim=64)
    refuse_transposed(384, 3000, dim=3000)
    # Few vectors are no fault where the width is an encoder's, nor is an odd width where they are many.
    for rows, columns in ((10, 384), (64, 300), (100, 4096), (1000, 999)):
        refuse_transposed(rows, columns)
    assert measure_array(tokens[0, :10]).n == 10


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize(
    ("n", "d", "offset", "scale"), [(5000, 16, 3.0, 1.0), (50, 64, 500.0, 1e-3), (4097, 8, 0, 1e20)]
)
def test_isoscore_alone_is_that_of_all_measures_and_of_the_package(kind, n, d, offset, scale):
    random = np.random.default_rng(0)
    x = ((random.standard_normal((n, d)) * np.linspace(3, 0.1, d) + offset) * scale).astype(kind)
    assert isoscore_of(x) == pytest.approx(measure_array(x).isoscore, rel=1e-5, abs=1e-6)
    if scale == 1:
        assert isoscore_of(x) == pytest.approx(float(IsoScore(x)), abs=1e-6)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_isoscore_alone_is_the_same_on_any_number_of_threads(monkeypatch, threads):
    monkeypatch.setattr("theodolite.isotropy.isoscore._threads", lambda: threads)
    x = np.random.default_rng(1).standard_normal((13_000, 6)) * np.arange(1, 7)
    x[9_000:] += 2  # so that a block left out or counted twice would show
    assert isoscore_of(x) == pytest.approx(measure_array(x).isoscore, rel=1e-5)


def test_isoscore_alone_refuses_what_is_no_set_of_vectors():
    with pytest.raises(InputError, match="look transposed"):
        isoscore_of(np.ones((10, 3001)))
    with pytest.raises(InputError, match="NaN"):
        isoscore_of(np.array([[1.0, 2.0], [np.nan, 1.0], [3.0, 1.0]]))
    with pytest.raises(InputError, match="wanted"):
        isoscore_of(np.ones(5))
    assert math.isnan(isoscore_of(np.ones((5, 3))))


def test_the_round_cloud_has_as_many_vectors_as_the_space_and_its_length() -> None:
    """More than fit in a block, and against the same vectors measured whole."""
    n, dim, length = 21_000, 5, 7.0
    found = round_cloud(n, dim, length, seed=2)
    random = np.random.default_rng(2)
    parts = [random.standard_normal((min(4096, n - at), dim), np.float32) for at in range(0, n, 4096)]
    whole = measure_array(np.concatenate(parts).astype(np.float64) * length / np.sqrt(dim))
    assert found.n == n and found.dim == dim
    for name in ("log_partition", "isoscore", "mean_cosine", "effective_rank", "mean_offset", "variance_top1"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=1e-9, abs=1e-12), name
    assert found.log_partition < round_cloud(n, dim, 1.0, seed=2).log_partition

"""The illusion instrument: every measure against its plain definition, a planted truth, and bad input."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import entropy

from theodolite import Corpus, InputError, Store, run
from theodolite.cli.main import main
from theodolite.encoder.given import GivenVectors
from theodolite.illusion import Illusion, IllusionReading
from theodolite.illusion.concepts import held_out_accuracy, separator, stability
from theodolite.illusion.locality import Distances, Neighbourhoods, localities
from theodolite.illusion.outliers import mean_distances, top_places
from theodolite.illusion.pieces import Pieces
from theodolite.illusion.points import Points, spread_of
from theodolite.illusion.purity import purity
from theodolite.illusion.separability import chosen, separability
from theodolite.illusion.single_tokens import token_features
from theodolite.illusion.study import draw_study, save_study
from theodolite.illusion.tops import ends
from theodolite.illusion.verdicts import different, judge

NAMES = ("wiki", "questions", "novels", "passages")
EACH = 500
K = 10


def lines(shared, name, count):
    with gzip.open(shared / "data" / "corpora" / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
        return [line.strip() for line in itertools.islice(file, count)]


@pytest.fixture(scope="module")
def corpora(shared):
    return {name: Corpus.of(lines(shared, name, EACH), name) for name in NAMES}


OPTIONS = {"directions": "neurons,random:20,pca:5", "min_count": 20, "map": "none", "seed": 3, "svm_texts": 200}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def reading(corpora, minilm, store):
    """2,000 real sentences in four corpora, the default model."""
    instrument = Illusion(**OPTIONS)
    [found] = run([instrument], minilm, list(corpora.values()), store=store)
    return found


@pytest.fixture(scope="module")
def vectors(corpora, minilm):
    """As the instrument has them: float32, by corpus."""
    return {name: minilm.embed(corpus.texts()) for name, corpus in corpora.items()}


def points_of(array, name="corpus", cuts=(100, 350)):
    blocks = np.split(array, [c for c in cuts if c < len(array)])
    return Points(name, np.arange(len(array)), lambda: iter(blocks))


def matrix_of(reading, vectors):
    """The directions by name, made again plainly."""
    dim = next(iter(vectors.values())).shape[1]
    found = {f"neuron {i}": np.eye(dim)[i] for i in range(dim)}
    for i in range(20):
        drawn = np.random.default_rng(np.random.SeedSequence([3, i])).standard_normal(dim)
        found[f"random {i}"] = drawn / np.linalg.norm(drawn)
    whole = np.concatenate(list(vectors.values())).astype(np.float64)
    _, _, components = np.linalg.svd(whole - whole.mean(axis=0), full_matrices=False)
    for i in range(5):
        found[f"pc {i + 1}"] = components[i] * np.sign(components[i][np.abs(components[i]).argmax()])
    return found


def rows(reading, table, **wanted):
    return [r for r in reading.tables[table].to_pylist() if all(r[k] == v for k, v in wanted.items())]


# --- measures against their definitions ------------------------------------------------------------------------


def test_top_sentences_are_the_sorted_dot_products(reading, vectors, corpora):
    matrix = matrix_of(reading, vectors)
    tables = {end: reading.tables[end].to_pylist() for end in ("top", "bottom")}
    found = {(end, r["direction"], r["corpus"], r["rank"]): r for end, table in tables.items() for r in table}
    assert len(found) == 2 * len(matrix) * len(NAMES) * K
    for name, array in vectors.items():
        exact = array.astype(np.float64)
        for direction, vector in matrix.items():
            scores = exact @ vector
            order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
            for end, places in (("top", order[:K]), ("bottom", order[::-1][:K])):
                mine = [found[end, direction, name, rank + 1] for rank in range(K)]
                # Vectors of another batching differ in the last digits, so two nearly equal scores may change places.
                np.testing.assert_allclose([r["score"] for r in mine], scores[places], atol=2e-5)
                np.testing.assert_allclose([scores[r["row"]] for r in mine], scores[places], atol=2e-5)
                assert all(r["text"] == corpora[name].text(r["row"]) for r in mine)


def test_ends_are_exact_on_given_vectors(vectors):
    array = vectors["wiki"]
    directions = np.random.default_rng(0).standard_normal((7, array.shape[1]))
    found = ends(points_of(array), directions, K)
    exact = array.astype(np.float64) @ directions.T
    for m in range(7):
        order = sorted(range(len(array)), key=lambda i, m=m: (-exact[i, m], i))
        assert found.top[m].tolist() == order[:K]
        np.testing.assert_allclose(found.top_scores[m], exact[order[:K], m], atol=1e-6)
        upward = sorted(range(len(array)), key=lambda i, m=m: (exact[i, m], i))
        assert found.bottom[m].tolist() == upward[:K]
        np.testing.assert_allclose(found.bottom_scores[m], exact[upward[:K], m], atol=1e-6)


def test_deviations_are_standard_scores(reading, vectors):
    for r in rows(reading, "top", corpus="novels", rank=1)[:30]:
        if r["direction"].startswith("neuron"):
            column = vectors["novels"][:, int(r["direction"].split()[1])].astype(np.float64)
            assert r["deviations"] == pytest.approx((r["score"] - column.mean()) / column.std(), abs=1e-3)


def test_overlap_of_ranges(reading):
    meets = []
    for direction in {r["direction"] for r in rows(reading, "top") if r["direction"].startswith("neuron")}:
        ranges = {}
        for r in (r for r in rows_by_direction(reading)[direction]):
            low, high = ranges.get(r["corpus"], (math.inf, -math.inf))
            ranges[r["corpus"]] = (min(low, r["score"]), max(high, r["score"]))
        meets += [a[0] <= b[1] and b[0] <= a[1] for a, b in itertools.combinations(ranges.values(), 2)]
    assert len(meets) == 6 * 384
    assert reading.to_json()["overlap"] == pytest.approx(np.mean(meets), abs=1e-12)


def rows_by_direction(reading, cache={}):  # noqa: B006
    if id(reading) not in cache:
        found = {}
        for r in reading.tables["top"].to_pylist():
            found.setdefault(r["direction"], []).append(r)
        cache[id(reading)] = found
    return cache[id(reading)]


def test_separability_is_a_standardised_linear_svm(vectors):
    from sklearn.model_selection import train_test_split
    from sklearn.svm import LinearSVC

    points = {name: points_of(array, name) for name, array in vectors.items()}
    found = separability(points, seed=1, at_most=300)
    parts = [vectors[n][chosen(points[n], 300, 1)] for n in NAMES]
    x, y = np.concatenate(parts).astype(np.float64), np.repeat(range(4), 300)
    train, test, answers, truth = train_test_split(x, y, test_size=0.2, random_state=1, stratify=y)
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    machine = LinearSVC(C=1.0, random_state=1, max_iter=2000).fit((train - mean) / deviation, answers)
    said = machine.predict((test - mean) / deviation)
    confusion = Counter(zip(truth.tolist(), said.tolist(), strict=True))
    assert found.confusion.tolist() == [[confusion[a, b] for b in range(4)] for a in range(4)]
    assert found.accuracy == pytest.approx(float(np.mean(said == truth)))
    assert found.accuracy > 0.6
    assert found.chance == 0.25


def test_monotonic_shares_and_tokens(reading, vectors, corpora, minilm):
    counted = {}
    for name, corpus in corpora.items():
        tokens = minilm.tokenise(corpus.texts())
        counted[name] = [Counter(tokens.ids[a:b].tolist()) for a, b in itertools.pairwise(tokens.bounds.tolist())]
    totals = [sum(texts, Counter()) for texts in counted.values()]
    common = sorted(t for t in totals[0] if all(total[t] >= 20 for total in totals))
    changes = {}
    for name, array in vectors.items():
        texts = counted[name]
        dense = np.array([[c[t] for t in common] for c in texts])
        change = np.zeros((array.shape[1], len(common)), int)
        for neuron in range(array.shape[1]):
            order = sorted(range(len(array)), key=lambda i, neuron=neuron, array=array: (array[i, neuron], i))
            groups = [[] for _ in range(5)]
            for i, row in enumerate(order):
                groups[5 * i // len(array)].append(row)
            steps = np.diff([dense[g].sum(axis=0) for g in groups], axis=0)
            change[neuron] = (steps > 0).all(axis=0).astype(int) - (steps < 0).all(axis=0)
        changes[name] = change
    expected = []
    for size in range(1, 5):
        for some in itertools.combinations(NAMES, size):
            parts = [changes[n] for n in some]
            shares = [
                np.mean(np.all([f(p) for p in parts], axis=0)) for f in (np.abs, lambda p: p > 0, lambda p: p < 0)
            ]
            expected.append((list(some), *shares))
    found = [(r["corpora"], r["monotonic"], r["increasing"], r["decreasing"]) for r in rows(reading, "monotonic")]
    assert [f[0] for f in found] == [e[0] for e in expected]
    # A vector of another batching may change places with its neighbour at the edge of a fifth.
    np.testing.assert_allclose([f[1:] for f in found], [e[1:] for e in expected], atol=2e-4)
    assert rows(reading, "monotonic")[0]["pairs"] == 384 * len(common)
    every = np.all([np.abs(c) for c in changes.values()], axis=0).sum(axis=0)
    most = {minilm.tokenizer.piece(common[i]): int(every[i]) for i in range(len(common))}
    for r in rows(reading, "monotonic_tokens")[:5]:
        assert abs(most[r["token"]] - r["neurons"]) <= 1


def test_monotonic_falls_as_corpora_are_added_and_lies_above_the_shuffled(reading):
    table = rows(reading, "monotonic")
    means = [np.mean([r["monotonic"] for r in table if len(r["corpora"]) == size]) for size in range(1, 5)]
    assert means == sorted(means, reverse=True)
    # 500 texts are few, so that single corpora vary: their mean stands out, and chance never gives all four.
    assert means[0] > 1.5 * np.mean([r["baseline_shuffled"] for r in table[:4]])
    assert all(r["baseline_shuffled"] < 0.02 for r in table)
    assert means[3] > table[-1]["baseline_shuffled"] == 0


def plain_overlap(a, b, edges):
    one, other = (np.histogram(x, edges)[0] / len(x) for x in (a, b))
    return sum(map(min, one, other)) / sum(map(max, one, other))


def test_locality_is_the_overlap_of_histograms(vectors):
    array = vectors["questions"].astype(np.float64)
    tops = ends(points_of(array), np.eye(array.shape[1])[:25], K).top
    around = Neighbourhoods(points_of(array), tops, seed=5)
    every = array @ array.T
    measured_all = localities(around.around(tops))
    for top, measured in zip(tops.tolist(), measured_all, strict=True):
        near = [sorted((every[s, i] for i in range(len(array)) if i != s), reverse=True)[:K] for s in top]
        pairs = [every[a, b] for a, b in itertools.combinations(top, 2)]
        around_one = around.around(np.array([top]))
        nearest, drawn_all = around_one.nearest[0], around_one.random[0]
        np.testing.assert_allclose(np.sort(nearest, axis=1)[:, ::-1], near, atol=1e-6)
        for s, drawn in zip(top, drawn_all, strict=True):
            # k dot products with different other sentences.
            places = [int(np.abs(every[s] - value).argmin()) for value in drawn]
            assert len(set(places)) == K and s not in places
            np.testing.assert_allclose(every[s, places], drawn, atol=1e-6)
        sets = (np.ravel(near), np.array(pairs), drawn_all.ravel())
        edges = np.linspace(min(map(np.min, sets)), max(map(np.max, sets)), 51)
        assert measured.score == pytest.approx(plain_overlap(sets[0], sets[1], edges), abs=1e-6)
        assert measured.control == pytest.approx(plain_overlap(sets[1], sets[2], edges), abs=1e-6)
        own = []
        for i, s in enumerate(top):
            mine = (np.array(near[i]), np.array([every[s, o] for o in top if o != s]), drawn_all[i])
            edges = np.linspace(min(map(np.min, mine)), max(map(np.max, mine)), 51)
            own.append(plain_overlap(mine[0], mine[1], edges))
        assert measured.sentence_score == pytest.approx(np.mean(own), abs=1e-6)


def test_locality_of_equal_distances_is_whole():
    same = np.ones((1, 4, 4))
    assert localities(Distances(same, same, same))[0].score == 1.0


def test_the_reading_holds_every_directions_locality(reading):
    table = rows(reading, "locality")
    assert len(table) == 4 * (384 + 25)
    groups = {r["corpus"]: r for r in rows(reading, "locality_groups")}
    with_pattern = [r["sentence_locality"] for r in table if r["pattern_found"]]
    assert groups["all"]["sets_with_pattern"] == len(with_pattern)
    assert groups["all"]["meaningful"] == pytest.approx(np.mean(with_pattern))


def test_mean_distances_exact_and_sampled(vectors):
    array = vectors["novels"]
    every = cdist(array.astype(np.float64), array.astype(np.float64)).sum(axis=1) / (len(array) - 1)
    found = mean_distances(points_of(array), seed=0)
    np.testing.assert_allclose(found.mean, every, atol=1e-6)
    assert not found.half.any()
    assert found.farthest(0.01).tolist() == sorted(range(len(array)), key=lambda i: (-found.mean[i], i))[:5]
    big = np.random.default_rng(0).standard_normal((3000, 8)).astype(np.float32)
    sampled = mean_distances(points_of(big), seed=0, exact_up_to=100)
    truth = cdist(big.astype(np.float64), big.astype(np.float64)).sum(axis=1) / 2999
    assert np.mean(np.abs(sampled.mean - truth) <= sampled.half) > 0.9
    assert (sampled.half > 0).all()


def test_top_places_count_who_holds_them():
    places = top_places(np.array([[0, 1, -1], [0, 2, 0]]))
    assert (places.places, places.different, dict(places.held)) == (5, 3, {0: 3, 1: 1, 2: 1})
    assert places.share_of(np.array([0, 2])) == 0.8


def test_outliers_of_the_reading(reading, vectors):
    for name, array in vectors.items():
        exact = array.astype(np.float64)
        mean = cdist(exact, exact).sum(axis=1) / (len(exact) - 1)
        far = set(np.argsort(-mean, kind="stable")[:5].tolist())
        held = [
            r["row"]
            for d, t in rows_by_direction(reading).items()
            if d.startswith("neuron")
            for r in t
            if r["corpus"] == name
        ]
        [row] = rows(reading, "outliers", corpus=name)
        assert (row["places"], row["different_texts"]) == (3840, len(set(held)))
        assert row["held_by_farthest_0.01"] == pytest.approx(np.mean([h in far for h in held]))
        assert rows(reading, "outlier_texts", corpus=name)[0]["row"] == int(mean.argmax())


def test_purity_is_one_minus_the_share_of_entropy():
    scores = np.abs(np.random.default_rng(1).standard_normal((50, 6)))
    expected = [1 - entropy(s / s.sum()) / math.log(6) for s in scores]
    np.testing.assert_allclose(purity(scores), expected, atol=1e-12)
    assert purity(np.array([[-1.0, 2.0, -3.0]])).tolist() == [1.0]
    assert np.isnan(purity(np.array([[-1.0, 0.0]]))).all()


def test_without_the_farthest_is_a_run_without_them(corpora, minilm, reading, store):
    """`--without-farthest` leaves out just those texts, and the summary's row says what that run says."""
    instrument = Illusion(**OPTIONS, without_farthest=0.1)
    [less] = run([instrument], minilm, list(corpora.values()), store=store)
    assert [r["texts"] for r in rows(less, "corpora")] == [EACH - 50] * 4
    [row] = [r for r in rows(reading, "without_farthest") if r["left_out"] == 0.1]
    assert row["overlap"] == pytest.approx(less.to_json()["overlap"])
    assert row["monotonic_in_all"] == pytest.approx(rows(less, "monotonic")[-1]["monotonic"], abs=2e-4)
    far = {(r["corpus"], r["row"]) for r in rows(reading, "outlier_texts")}
    assert not far & {(r["corpus"], r["row"]) for r in rows(less, "top")}


def test_spread_gives_the_moments_of_projections(vectors):
    array = vectors["passages"]
    spread = spread_of(points_of(array))
    direction = np.random.default_rng(2).standard_normal((3, array.shape[1]))
    mean, deviation = spread.of(direction)
    scores = array.astype(np.float64) @ direction.T
    np.testing.assert_allclose(mean, scores.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(deviation, scores.std(axis=0), atol=1e-9)


# --- a planted truth ------------------------------------------------------------------------------------------------


def planted(name, seed, carries, cluster=False, texts=600, dim=12):
    """Random vectors; a word of ``carries`` (dimension -> word) is said more the higher that dimension."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((texts, dim)).astype(np.float32)
    vocabulary = [f"w{i}" for i in range(300)]
    said = [[*random.choice(vocabulary, 8)] for _ in range(texts)]
    for dimension, word in carries.items():
        rank = np.argsort(np.argsort(vectors[:, dimension])) / texts
        for i in np.flatnonzero(random.random(texts) < rank**4):
            said[i].append(word)
    if cluster:
        # A tight group far out along dimension 2, which is also each other's neighbourhood.
        centre = np.zeros(dim)
        centre[2] = 6.0
        for i in range(20):
            vectors[i] = centre + 0.8 * random.standard_normal(dim)
            said[i].append("harbour")
    return Corpus.of([" ".join(words) for words in said], name, vectors=vectors)


@pytest.fixture(scope="module")
def planted_reading(tmp_path_factory):
    corpora = [
        planted("a", 1, {0: "zebra", 1: "violin"}, cluster=True),
        planted("b", 2, {0: "zebra", 1: "violin"}),
        planted("c", 3, {0: "zebra"}),
    ]
    instrument = Illusion(directions="neurons", min_count=50, map="none")
    [found] = run([instrument], GivenVectors(corpora), corpora, store=Store(tmp_path_factory.mktemp("planted")))
    return found


def test_planted_meanings_get_their_verdicts(planted_reading):
    found = {r["direction"]: r for r in rows(planted_reading, "verdicts")}
    assert (found["neuron 0"]["verdict"], found["neuron 0"]["pattern"]) == ("global", "word: zebra")
    assert (found["neuron 1"]["verdict"], found["neuron 1"]["pattern"]) == ("dataset", "word: violin")
    assert set(found["neuron 1"]["carried_to"]) | {found["neuron 1"]["pattern_of"]} == {"a", "b"}
    assert found["neuron 2"]["verdict"] == "local"
    assert found["neuron 2"]["corpora_with_patterns"] == ["a"]
    assert [found[f"neuron {i}"]["verdict"] for i in range(3, 12)] == ["none"] * 9
    [rate] = rows(planted_reading, "illusion_rate")
    assert (rate["with_pattern"], rate["global"], rate["dataset"], rate["local"]) == (3, 1, 1, 1)
    assert rate["illusion_rate"] == pytest.approx(1 / 3)
    assert rate["illusion_rate_low"] < 1 / 3 < rate["illusion_rate_high"]


def test_on_activations_without_meaning_patterns_stay_within_the_false_discovery_rate(shared, tmp_path):
    random = np.random.default_rng(0)
    corpora = [
        Corpus.of(texts, name, vectors=random.standard_normal((len(texts), 64)).astype(np.float32))
        for name in ("wiki", "questions")
        for texts in [list(dict.fromkeys(lines(shared, name, 1500)))]
    ]
    instrument = Illusion(directions="neurons,random:50", map="none")
    [found] = run([instrument], GivenVectors(corpora), corpora, store=Store(tmp_path))
    assert all(r["pattern_share"] <= 0.05 for r in rows(found, "illusion_rate"))


def test_a_verdict_follows_the_pattern_farthest():
    patterns = {"a": ["x", "y"], "b": ["y"], "c": []}

    def never(pattern, corpus):
        return 0

    def rises(pattern, corpus):
        return int((pattern, corpus) == ("y", "c"))

    def same(p, q):
        return p == q

    assert judge(patterns, same, never, local=True).verdict == "dataset"
    assert judge(patterns, same, rises, local=True).verdict == "global"
    assert judge({"a": ["x"], "b": []}, same, never, local=True).verdict == "local"
    assert judge({"a": ["x"], "b": []}, same, never, local=False).verdict == "unexplained"
    assert judge({"a": [], "b": []}, same, never, local=True).verdict == "none"
    assert judge({"a": ["x"]}, same, never, local=True).verdict is None
    # Falling in every other corpus carries too; rising here and falling there does not.
    falls = judge({"a": ["x"], "b": [], "c": []}, same, lambda p, c: -1, local=True)
    mixed = judge({"a": ["x"], "b": [], "c": []}, same, lambda p, c: 1 if c == "b" else -1, local=True)
    assert (falls.verdict, mixed.verdict) == ("global", "dataset")
    assert different(patterns, same) == 2


# --- directions -----------------------------------------------------------------------------------------------------


def test_a_concept_direction_separates_its_texts(minilm):
    warm = [f"The {thing} was wonderful and I loved it." for thing in ("film", "book", "meal", "song", "day", "trip")]
    cold = [f"The {thing} was terrible and I hated it." for thing in ("film", "book", "meal", "song", "day", "trip")]
    vectors = minilm.embed([*warm, *cold]).astype(np.float64)
    labels = np.repeat([1, 0], 6)
    direction = separator(vectors, labels)
    assert np.linalg.norm(direction) == pytest.approx(1)
    scores = vectors @ direction
    assert scores[:6].min() > scores[6:].max()
    assert held_out_accuracy(vectors, labels, 0) > 0.9
    assert 0.5 < stability(vectors, labels, 0) <= 1


def test_named_directions_from_file_and_concepts(corpora, minilm, tmp_path):
    np.save(tmp_path / "mine.npy", np.random.default_rng(0).standard_normal((2, 384)))
    for name, word in (("warm", "wonderful"), ("cold", "terrible"), ("wet", "rainy")):
        (tmp_path / f"{name}.txt").write_text("\n".join(f"A {word} day, number {i}." for i in range(8)))
    asked = f"file:{tmp_path}/mine.npy,concept:{tmp_path}/warm.txt:{tmp_path}/cold.txt"
    asked += f",concept:{tmp_path}/wet.txt:{tmp_path}/cold.txt"
    instrument = Illusion(directions=asked, min_count=20, map="none")
    [found] = run([instrument], minilm, [corpora["wiki"], corpora["novels"]], store=Store(tmp_path / "store"))
    kinds = [(r["direction"], r["kind"]) for r in rows(found, "verdicts")]
    assert kinds == [("mine 0", "file"), ("mine 1", "file"), ("concept warm", "concept"), ("concept wet", "concept")]
    about = rows(found, "concepts")
    assert [r["texts"] for r in about] == [8, 8] and all(r["accuracy"] > 0.8 > r["accuracy_guessing"] for r in about)
    assert [r["direction"] for r in rows(found, "purity")] == [d for d, _ in kinds]


def test_dead_dimensions_are_no_neurons(tmp_path):
    random = np.random.default_rng(0)
    corpora = []
    for name in ("a", "b"):
        vectors = random.standard_normal((80, 6)).astype(np.float32)
        vectors[:, 4] = 7.0
        corpora.append(Corpus.of([f"text {name} {i}" for i in range(80)], name, vectors=vectors))
    [found] = run([Illusion(directions="neurons", map="none")], GivenVectors(corpora), corpora, store=Store(tmp_path))
    assert [r["direction"] for r in rows(found, "verdicts")] == [f"neuron {i}" for i in (0, 1, 2, 3, 5)]
    assert any("1 dimensions never change" in f for f in found.findings)


# --- the reading ----------------------------------------------------------------------------------------------------


def test_the_reading_saves_draws_and_prints(reading, tmp_path):
    folder = reading.save(tmp_path / "reading")
    again = IllusionReading.load(folder)
    assert again.to_json() == json.loads(json.dumps(reading.to_json()))
    names = set(reading.drawings())
    assert {"verdicts", "confusion", "monotonic", "quintiles", "distances"} <= names
    assert {p.stem for p in (folder / "figures").glob("*.svg")} == names
    told = reading.to_json()
    assert {"top", "overlap", "separability", "monotonic", "locality", "outliers", "patterns", "verdicts"} <= set(told)
    assert len(told["separability"]["confusion"]) == 4
    side = reading.side_by_side("neuron 7")
    assert [c.split(":")[0] for c in side.columns] == list(NAMES) and len(side.rows) == K


# --- bad input ------------------------------------------------------------------------------------------------------


def small(name, count=60, dim=5, seed=0, word="same"):
    vectors = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    return Corpus.of([f"{word} {name} {word}{i}" for i in range(count)], name, vectors=vectors)


def measured(corpora, tmp_path, **options):
    options = {"directions": "neurons", "map": "none", **options}
    [found] = run([Illusion(**options)], GivenVectors(corpora), corpora, store=Store(tmp_path / "store"))
    return found


def test_one_corpus_says_what_cannot_be_told(tmp_path):
    found = measured([small("a")], tmp_path)
    assert "one corpus only, a" in found.findings[0] and "illusion rate" in found.findings[0]
    assert "separability" not in found.tables and "overlap" not in found.tables
    assert {r["verdict"] for r in rows(found, "verdicts")} <= {None, "none"}


def test_corpora_with_no_token_in_common(tmp_path):
    found = measured([small("a", word="ein"), small("b", word="un")], tmp_path, min_count=10)
    assert any("no token occurs often enough in every corpus" in f for f in found.findings)
    assert found.to_json()["monotonic"][0]["monotonic"] is None


def test_a_corpus_of_fewer_than_fifty_texts(tmp_path):
    with pytest.raises(InputError, match="b has 49 different texts"):
        measured([small("a"), small("b", 49)], tmp_path)


def test_more_top_sentences_than_half_of_a_corpus(tmp_path):
    with pytest.raises(InputError, match="--top 31: more than half of the 60"):
        measured([small("a"), small("b")], tmp_path, top=31)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.ones((2, 4)), "vectors of 5 numbers are wanted, and it holds an array of shape 2 × 4"),
        (np.array([[1, 2, 3, 4, np.nan]]), "vector 0 holds a number that is not finite"),
        (np.zeros((1, 5)), "vector 0 is all zeros"),
        (np.array(["a", "b"]), "one array of numbers is wanted"),
    ],
)
def test_a_vector_file_that_does_not_fit(tmp_path, array, said):
    np.save(tmp_path / "d.npy", array)
    with pytest.raises(InputError, match=said):
        measured([small("a"), small("b")], tmp_path, directions=f"file:{tmp_path}/d.npy")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("file:nowhere.npy", "no such file"),
        ("random:0", "a whole number 1 or more is wanted"),
        ("pca:6", "from 1 to 5"),
        ("neuronz", "one of neurons, random:N"),
        ("", "none are named"),
        ("random:2,random:3", "'random 0' comes twice"),
        ("concept:a.txt:b.txt", "there is no encoder"),
    ],
)
def test_directions_that_cannot_be_made(tmp_path, asked, said):
    with pytest.raises(InputError, match=said):
        measured([small("a"), small("b")], tmp_path, directions=asked)


def test_neurons_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="has neurons 0 to 4"):
        measured([small("a"), small("b")], tmp_path, neuron=("5",))


def test_the_command_refuses_in_one_line(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.txt").write_text("\n".join(f"text number {i}" for i in range(20)))
    with pytest.raises(SystemExit) as left:
        main(["illusion", "all-MiniLM-L6-v2", "--corpus", "few=few.txt", "--map", "none"])
    assert left.value.code == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1 and "few has 20 different texts" in err


# --- a study --------------------------------------------------------------------------------------------------------


def test_a_blind_study_is_drawn_from_a_reading(reading, corpora, tmp_path):
    items, key = draw_study(reading, neurons=8, directions=6, sentences=10, seed=1)
    known = {k["id"]: k for k in key}
    assert len(items) == len(known) == 24
    assert Counter(k["condition"] for k in key) == {"neuron": 8, "random direction": 6, "random sentences": 10}
    assert Counter(i["corpus"] for i in items) == {"wiki": 7, "questions": 7, "novels": 5, "passages": 5}
    for item in items:
        assert set(item) == {"id", "corpus", "sentences"}
        mine = known[item["id"]]
        assert item["sentences"] == [corpora[item["corpus"]].text(row) for row in mine["rows"]]
        if mine["direction"]:
            top = [r["row"] for r in rows_by_direction(reading)[mine["direction"]] if r["corpus"] == item["corpus"]]
            assert sorted(top) == sorted(mine["rows"])
    conditions = [known[i["id"]]["condition"] for i in items]
    assert conditions != sorted(conditions)
    assert (items, key) == draw_study(reading, neurons=8, directions=6, sentences=10, seed=1)
    folder = save_study(tmp_path / "study", items, key)
    assert "condition" not in (folder / "items.json").read_text()
    assert len(json.loads((folder / "key.json").read_text())["key"]) == 24
    with pytest.raises(InputError, match="the reading has 80"):
        draw_study(reading, directions=81)


THINGS = "boat house tree lamp chair river cloud stone bread horse coat wheel garden letter".split()


def test_tokens_as_points(minilm, tmp_path):
    """Top tokens, monotonic counts and shown texts follow from the vector of every token, taken text by text."""
    corpora = [
        Corpus.of([f"The {w} is {c}, said {n}." for w in THINGS for c in ("red", "old") for n in ("Ann", "Bo")], "a"),
        Corpus.of([f"{n} bought a {c} {w}!" for w in THINGS for c in ("new", "big") for n in ("Eve", "Max")], "b"),
    ]
    instrument = Illusion(unit="token", layer=3, directions="neurons", map="none", top=4, min_count=5, svm_texts=40)
    [reading] = run([instrument], minilm, corpora, store=Store(tmp_path))
    found = {(r["direction"], r["corpus"], r["rank"]): r for r in reading.tables["top"].to_pylist()}
    for corpus in corpora:
        texts = corpus.texts()
        states = minilm.hidden_states(texts, [3])
        scores = [(row, at, vector) for row, whole in enumerate(states) for at, vector in enumerate(whole[0])]
        for neuron in (0, 17, 200):
            best = sorted(scores, key=lambda s: -s[2][neuron])[:4]
            for rank, (_, _, vector) in enumerate(best, 1):
                row = found[f"neuron {neuron}", corpus.name, rank]
                assert row["score"] == pytest.approx(float(vector[neuron]), abs=1e-5)
                again = states[row["row"]][0][row["position"]]
                assert row["score"] == pytest.approx(float(again[neuron]), abs=1e-5)
                tokens = minilm.tokenise([texts[row["row"]]])
                start, end = (int(a[row["position"]]) for a in (tokens.start, tokens.end))
                text = texts[row["row"]]
                assert row["text"] == f"{text[:start]}⟦{text[start:end]}⟧{text[end:]}"
    assert "position" in reading.tables["random_sets"].column_names
    assert any("top tokens" in sentence for sentence in reading.findings)


def test_what_a_token_shows():
    names = {1: "the", 2: "2024", 3: "##ing", 4: ",", 5: "Ann"}
    pieces = Pieces(np.array([0, 4]), np.array([0, 4, 7]), np.array([1, 5, 3, 4, 1, 5, 2]))
    found = token_features(pieces, names.__getitem__, min_tokens=1)
    shows = [{found.names[j].label for j in found.matrix[[i]].indices} for i in range(7)]
    assert shows[0] == {"word: the", "word pair: the Ann", "is the first token of its text"}
    assert shows[1] == {"word: Ann", "word pair: the Ann", "word pair: Ann ##ing", "begins with a capital"}
    assert shows[2] == {"word: ##ing", "word pair: Ann ##ing", "word pair: ##ing ,", "continues a word"}
    assert shows[3] == {"word: ,", "word pair: ##ing ,", "is punctuation", "is the last token of its text"}
    assert shows[6] == {"word: 2024", "word pair: Ann 2024", "is a number", "is the last token of its text"}


def test_tokens_need_an_encoder(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(60, 5))
    corpus = Corpus.of([f"text {i}" for i in range(60)], "own", vectors=vectors)
    with pytest.raises(InputError, match="--unit token"):
        run([Illusion(unit="token")], GivenVectors([corpus]), [corpus], store=Store(tmp_path))

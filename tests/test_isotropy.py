"""The isotropy instrument end to end, on the real models: measures, intervals, STS, fitting and --transform."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr, t

from theodolite import Corpus, Encoder, InputError, RunOptions, Store, load, run
from theodolite.accumulate import hash_of
from theodolite.cli import main
from theodolite.instrument import Silent
from theodolite.isotropy import Isotropy, IsotropyReading, measure_array
from theodolite.isotropy.findings import findings
from theodolite.isotropy.fitting import Fitting
from theodolite.isotropy.intervals import GROUPS, measure_with_intervals
from theodolite.isotropy.judging import judge
from theodolite.isotropy.making import maker
from theodolite.isotropy.reproduce import contrastive
from theodolite.isotropy.sts_files import StsFile, read_sts
from theodolite.rounding import MeanRemoval, save
from theodolite.rounding import load as load_rounder


@pytest.fixture(scope="module")
def wiki(shared) -> Corpus:
    return Corpus.read(shared / "data" / "corpora" / "wiki.txt.gz", name="wiki", limit=150)


@pytest.fixture(scope="module")
def pairs(shared, tmp_path_factory):
    """The first 150 pairs of STS-B's dev file."""
    lines = (shared / "data" / "sts" / "STSB_dev.tsv").read_text(encoding="utf-8").splitlines()[:151]
    path = tmp_path_factory.mktemp("sts") / "STSB_dev.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def reading(xtremedistil, wiki, pairs, tmp_path_factory) -> IsotropyReading:
    asked = Isotropy(layer="0,-1", sts=(str(pairs),), methods="mean,kmeans+mean+pca", n_clusters=5, n_directions=3)
    [found] = run([asked], xtremedistil, [wiki], store=Store(tmp_path_factory.mktemp("store")))
    return found


def tokens_of(encoder: Encoder, texts: list[str], layer: int) -> np.ndarray:
    return np.concatenate([states[0] for states in encoder.hidden_states(texts, [layer])]).astype(np.float64)


def rows_of(reading: IsotropyReading, table: str, **wanted) -> list[dict]:
    return [r for r in reading.tables[table].to_pylist() if all(r[k] == v for k, v in wanted.items())]


@pytest.mark.parametrize("package", ["theodolite", "theodolite.isotropy", "theodolite.rounding"])
def test_names_are_listed_at_once_and_imported_when_used(package: str) -> None:
    found = importlib.import_module(package)
    assert set(found.__all__) <= set(dir(found))
    assert all(getattr(found, name) is not None for name in found.__all__)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = found.nothing
    program = f"import sys, {package}; print({{'torch', 'sklearn'}} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "set()"


@pytest.mark.parametrize("budget", [64, 1024, 4096])
def test_the_measures_are_those_of_the_texts_own_tokens(budget, xtremedistil, wiki, tmp_path):
    asked = Isotropy(layer="0,-1", methods="none")
    options = RunOptions(token_budget=budget)
    [found] = run([asked], xtremedistil, [wiki], store=Store(tmp_path), options=options)
    for layer in (0, 6):
        vectors = tokens_of(xtremedistil, wiki.texts(), layer)
        expected = measure_array(vectors)
        [row] = rows_of(found, "measures", layer=layer, method="none")
        assert (row["n"], row["units"], row["dim"]) == (len(vectors), len(vectors), 256)
        assert row["log_partition"] == pytest.approx(expected.log_partition, rel=1e-5, abs=1e-5)
        for name in ("isoscore", "mean_cosine", "variance_top3", "effective_rank", "mean_offset"):
            assert row[name] == pytest.approx(getattr(expected, name), rel=1e-4), name


@pytest.mark.parametrize("space", ["word", "sentence", "cls"])
def test_other_spaces(space, xtremedistil, wiki, tmp_path):
    [found] = run([Isotropy(space=space, methods="mean")], xtremedistil, [wiki], store=Store(tmp_path))
    [row] = rows_of(found, "measures", method="none")
    if space == "word":
        assert len(wiki) < row["n"] < len(tokens_of(xtremedistil, wiki.texts(), -1))
        return
    pooling = {"sentence": "own", "cls": "cls"}[space]
    expected = measure_array(xtremedistil.embed(wiki.texts(), pooling=pooling))
    assert row["n"] == len(wiki)
    assert row["mean_cosine"] == pytest.approx(expected.mean_cosine, rel=1e-4)


def test_a_sample_is_of_the_smallest_hashes(xtremedistil, wiki, tmp_path):
    """Drawn again from the definition; and the same of the corpus in another order of work."""
    asked = Isotropy(max_vectors=500, methods="none", seed=3)
    [found] = run([asked], xtremedistil, [wiki], store=Store(tmp_path))
    states = xtremedistil.hidden_states(wiki.texts(), [-1])
    places = [(row, i) for row, text in enumerate(states) for i in range(text.shape[1])]
    by_hash = sorted(places, key=lambda p: int(hash_of(3, [p[0]], [p[1]])[0]))[:500]
    expected = measure_array(np.stack([states[row][0, i] for row, i in sorted(by_hash)]).astype(np.float64))
    [row] = rows_of(found, "measures", method="none")
    assert (row["n"], row["units"]) == (500, len(places))
    assert row["mean_cosine"] == pytest.approx(expected.mean_cosine, rel=1e-4)
    assert row["isoscore"] == pytest.approx(expected.isoscore, rel=1e-4)
    assert f"a sample of 500 of {len(places):,} tokens" in " ".join(found.findings)


def test_the_intervals_are_a_jackknife_over_groups_of_texts():
    random = np.random.default_rng(0)
    vectors = random.standard_normal((600, 6)) * [3, 2, 1.5, 1, 0.7, 0.5] + 1
    rows = np.repeat(np.arange(60), 10)
    found = measure_with_intervals(lambda: [(rows, vectors)], 6, seed=1)
    group = hash_of(1, rows) % np.uint64(GROUPS)
    assert found["isoscore"] == pytest.approx(measure_array(vectors).isoscore)
    for name in ("isoscore", "mean_cosine", "effective_rank"):
        without = [getattr(measure_array(vectors[group != g]), name) for g in range(GROUPS)]
        spread = np.sqrt(0.9 * sum((value - np.mean(without)) ** 2 for value in without))
        half = t.ppf(0.975, 9) * spread
        assert found[f"{name}_low"] == pytest.approx(found[name] - half)
        assert found[f"{name}_high"] == pytest.approx(found[name] + half)
    assert found["log_partition_low"] < found["log_partition"] < found["log_partition_high"]
    ends = [found["partition_low"], found["partition_high"]]
    assert ends == pytest.approx(np.exp([found["log_partition_low"], min(found["log_partition_high"], 0)]))
    assert ends[0] < found["partition"] < ends[1]


def test_sts_is_scored_by_the_definition(reading, xtremedistil, pairs):
    """Cosine of the means of word-pieces, as they are and after a transform fitted on these texts, each once."""
    lines = [line.split("\t") for line in pairs.read_text(encoding="utf-8").splitlines()]
    at = {name: i for i, name in enumerate(lines[0])}
    first, second = ([line[at[f"sentence{k}"]] for line in lines[1:]] for k in (1, 2))
    scores = [float(line[at["score"]]) for line in lines[1:]]
    texts = list(dict.fromkeys(text.strip() for pair in zip(first, second, strict=True) for text in pair))
    states = dict(zip(texts, xtremedistil.hidden_states(texts, [-1]), strict=True))
    every = np.concatenate([states[text][0] for text in texts]).astype(np.float64)
    mean = every.mean(axis=0)
    for method, off in (("none", 0), ("mean", mean)):
        cosines = []
        for a, b in zip(first, second, strict=True):
            u, v = (states[text.strip()][0].astype(np.float64).mean(axis=0) - off for text in (a, b))
            cosines.append(u @ v / np.linalg.norm(u) / np.linalg.norm(v))
        [row] = rows_of(reading, "sts", method=method, layer=6, fitted_on="evaluated")
        assert row["spearman"] == pytest.approx(100 * spearmanr(scores, cosines).statistic, abs=0.05)
        assert row["pairs"] == 150 and row["spearman_low"] < row["spearman"] < row["spearman_high"]
        [plain] = rows_of(reading, "sts", method="none", layer=6)
        if method == "none":
            assert row["gain"] is None
        else:
            assert row["gain"] == pytest.approx(row["spearman"] - plain["spearman"])
            assert row["gain_low"] < row["gain"] < row["gain_high"]


def test_rounding_buys_something_and_both_places_of_fitting_are_named(reading):
    rows = rows_of(reading, "sts", layer=6)
    assert {r["fitted_on"] for r in rows} == {"evaluated", "wiki"}
    plain = next(r for r in rows if r["method"] == "none")
    rounded = {r["fitted_on"]: r for r in rows if r["method"] == "kmeans+mean+pca"}
    assert rounded["evaluated"]["spearman"] > plain["spearman"] + 5
    assert rounded["evaluated"]["partition"] > 50 * plain["partition"]
    [cloud] = rows_of(reading, "measures", layer=6, method="round cloud")
    assert cloud["isoscore"] > 0.9 and abs(cloud["mean_cosine"]) < 0.01
    assert reading.findings[0].startswith("Advice for layer 6 of xtremedistil-l6-h256: use ")


@pytest.mark.parametrize("fitted_on", ["evaluated", "wiki"])
def test_advice_says_that_it_was_chosen_on_what_it_is_judged_on(fitted_on):
    def judged(**gains: tuple[float, float]) -> list[dict]:
        """Gains by method, with half the width of their intervals."""
        about = {"encoder": "e", "layer": 6, "dataset": "d", "fitted_on": fitted_on}
        plain = {**about, "method": "none", "fitted_on": "evaluated", "gain": None}
        ends = {m: {"gain": g, "gain_low": g - half, "gain_high": g + half} for m, (g, half) in gains.items()}
        return [plain, *({**about, "method": m, **won} for m, won in ends.items())]

    on = {"evaluated": "the evaluated texts themselves", "wiki": "wiki"}[fitted_on]
    evidence = f"Spearman points on average over 1 file of pairs, fitted on {on}."
    chosen = " That abtt is the best of 2 methods was found on these same files, so its figure flatters it."
    assert findings([], judged(mean=(2.0, 1.0), abtt=(7.0, 3.0)))[0] == (
        f"Advice for layer 6 of e: use abtt, which brings +7.0 (+4.0 to +10.0) {evidence}{chosen}"
    )
    assert findings([], judged(mean=(2.0, 1.5), abtt=(2.5, 1.0)))[0] == (
        "Advice for layer 6 of e: remove the mean (+2.0 (+0.5 to +3.5)); "
        f"abtt brings +2.5 (+1.5 to +3.5) {evidence}{chosen}"
    )
    assert findings([], judged(mean=(-2.0, 1.0), abtt=(0.5, 0.1)))[0] == (
        f"Advice for layer 6 of e: leave it. The best method, abtt, brings +0.5 (+0.4 to +0.6) {evidence}{chosen}"
    )
    # A gain that may be none is no reason to change anything, however large; nor is the mean's one to prefer it.
    assert findings([], judged(abtt=(7.0, 8.0)))[0] == (
        f"Advice for layer 6 of e: leave it. The best method, abtt, brings +7.0 (-1.0 to +15.0) {evidence}"
    )
    assert "use abtt" in findings([], judged(mean=(2.0, 3.0), abtt=(2.5, 1.0)))[0]
    # Of one method none is chosen.
    assert findings([], judged(abtt=(7.0, 1.0)))[0] == (
        f"Advice for layer 6 of e: use abtt, which brings +7.0 (+6.0 to +8.0) {evidence}"
    )


def test_the_gain_over_several_files_has_the_interval_of_their_mean():
    about = {"encoder": "e", "layer": 6, "fitted_on": "evaluated", "method": "abtt"}
    rows = [{**about, "dataset": d, "gain": 4.0, "gain_low": 1.0, "gain_high": 8.0} for d in "abcd"]
    assert "+4.0 (+2.5 to +6.0) Spearman points on average over 4 files" in findings([], rows)[0]


def test_a_reading_is_saved_shown_and_drawn(reading, tmp_path):
    json.dumps(reading.to_json(), allow_nan=False)
    assert "points" not in reading.to_json()
    again = load(reading.save(tmp_path / "out"))
    assert again.tables["measures"].equals(reading.tables["measures"])
    assert set(reading.drawings()) == {"space", "layers", "sts"}
    assert "<svg" in reading._repr_html_()
    assert [o.title for o in reading.overview()] == ["measures", "sts"]
    shown = reading.overview()[1]
    row = reading.tables["sts"].to_pylist()[1]
    assert "skipped" not in shown.columns and shown.rows[0][shown.columns.index("gain")] is None
    interval = f"({row['gain_low']:+.1f} to {row['gain_high']:+.1f})"
    assert shown.rows[1][shown.columns.index("gain")] == f"{row['gain']:+.1f} {interval}"


@pytest.fixture(scope="module")
def fitted(xtremedistil, wiki, tmp_path_factory):
    """A transform of the last layer's tokens, saved."""
    place = tmp_path_factory.mktemp("fit")
    [found] = run([Fitting(n_clusters=5, n_directions=3)], xtremedistil, [wiki], store=Store(place / "store"))
    return save(found.transformer, place / "round", found.about)


def test_an_encoder_with_a_transform_gives_transformed_tokens(fitted, shared, xtremedistil, wiki):
    rounded = Encoder.load(shared / "models" / "xtremedistil-l6-h256", transform=fitted)
    texts = wiki.texts()[:20]
    made = load_rounder(fitted)
    plain, after = xtremedistil.hidden_states(texts), rounded.hidden_states(texts)
    for before, now in zip(plain, after, strict=True):
        np.testing.assert_allclose(now[-1], made.transform(before[-1]), atol=1e-4)
        np.testing.assert_array_equal(now[:-1], before[:-1])
    one_by_one = np.concatenate([rounded.embed([text], pooling="mean") for text in texts])
    np.testing.assert_allclose(rounded.embed(texts, pooling="mean"), one_by_one, atol=1e-5)
    means = np.stack([made.transform(before[-1]).mean(axis=0) for before in plain])
    np.testing.assert_allclose(one_by_one, means, atol=1e-4)
    assert rounded.hash != xtremedistil.hash
    [gradient] = rounded.gradients([texts[0]], lambda batch: batch.pooled_tensor(-1, "mean").norm(dim=1))
    assert np.isfinite(gradient.gradient).all() and np.abs(gradient.gradient).max() > 0


def test_a_transform_of_texts_acts_on_pooled_vectors(shared, xtremedistil, wiki, tmp_path):
    asked = Fitting(method="abtt", space="sentence", n_directions=2)
    [found] = run([asked], xtremedistil, [wiki], store=Store(tmp_path / "store"))
    place = save(found.transformer, tmp_path / "round", found.about)
    rounded = Encoder.load(shared / "models" / "xtremedistil-l6-h256", transform=place)
    texts = wiki.texts()[:20]
    expected = found.transformer.transform(xtremedistil.embed(texts))
    np.testing.assert_allclose(rounded.embed(texts), expected, atol=1e-4)
    np.testing.assert_array_equal(rounded.hidden_states(texts)[0], xtremedistil.hidden_states(texts)[0])
    with pytest.raises(InputError, match=r"--transform round: fitted .* pooling 'own', and those by 'mean' are asked"):
        rounded.embed(texts, pooling="mean")
    np.testing.assert_array_equal(
        rounded.embed(texts, pooling="mean", layer=1), xtremedistil.embed(texts, pooling="mean", layer=1)
    )


def test_a_transform_of_another_model_is_refused(fitted):
    with pytest.raises(InputError, match=r"made for vectors of 256 numbers"):
        Encoder.load("all-MiniLM-L6-v2", transform=fitted)


def test_the_commands(fitted, shared, wiki, pairs, tmp_path, capsys):
    """isotropy without a corpus measures the STS texts; fit, then --transform, which makes the tokens rounder."""
    model = str(shared / "models" / "xtremedistil-l6-h256")
    store = ["--store", str(tmp_path / "store"), "--json"]
    said = _json(capsys, ["isotropy", model, "--sts", str(pairs), "--methods", "mean", *store])
    assert [r["corpus"] for r in said["measures"]] == ["STSB_dev"] * 3
    corpus = f"wiki={shared / 'data' / 'corpora' / 'wiki.txt.gz'}"
    few = ["--corpus", corpus, "--limit", "60"]
    fit = ["isotropy", "fit", model, *few, "--method", "mean", "--out", str(tmp_path / "round"), *store]
    assert _json(capsys, fit)["fit"][0]["corpus"] == "wiki"
    plain = _json(capsys, ["isotropy", model, *few, "--methods", "none", *store])
    after = _json(
        capsys, ["isotropy", model, *few, "--methods", "none", "--transform", str(tmp_path / "round"), *store]
    )
    assert plain["measures"][0]["mean_offset"] > 0.3 and after["measures"][0]["mean_offset"] < 1e-3
    assert after["manifest"]["encoder"]["transform"] == "round"


ALONE = """
import sys
import numpy as np
from theodolite import Encoder
model, transform, texts, out = sys.argv[1:]
encoder = Encoder.load(model, transform=transform)
with open(texts, encoding="utf-8") as file:
    np.save(out, np.concatenate([encoder.embed([line.rstrip()], pooling="mean") for line in file]))
"""


def test_fitted_on_wiki_and_applied_in_another_process_one_text_at_a_time(shared, pairs, tmp_path, capsys):
    """The same numbers as in bulk, and a better STS."""
    model = str(shared / "models" / "xtremedistil-l6-h256")
    store = ["--store", str(tmp_path / "store"), "--json"]
    corpus = ["--corpus", f"wiki={shared / 'data' / 'corpora' / 'wiki.txt.gz'}", "--limit", "400"]
    _json(capsys, ["isotropy", "fit", model, *corpus, "--n-clusters", "5", "--out", str(tmp_path / "round"), *store])
    file = read_sts(pairs)
    texts = list(dict.fromkeys([*file.a, *file.b]))[:40]
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    found = tmp_path / "alone.npy"
    given = [model, str(tmp_path / "round"), str(tmp_path / "texts.txt"), str(found)]
    subprocess.run([sys.executable, "-c", ALONE, *given], check=True, cwd=Path(__file__).parents[1])
    together = Encoder.load(model, transform=tmp_path / "round").embed(texts, pooling="mean")
    np.testing.assert_allclose(np.load(found), together, rtol=0, atol=1e-6)
    judged = ["isotropy", model, "--sts", str(pairs), "--methods", "none", *store]
    before, after = (
        _json(capsys, [*judged, *more])["sts"][0] for more in ([], ["--transform", str(tmp_path / "round")])
    )
    assert after["spearman"] > before["spearman"] + 3


def test_a_transform_that_changes_nothing_is_refused(classifier, xtremedistil, wiki, tmp_path):
    """One of texts' vectors changes no word's, and none changes what a classifier answers."""
    from theodolite import Contextuality, Illusion, Salience

    vectors = xtremedistil.embed(wiki.texts())
    place = save(MeanRemoval().fit(vectors), tmp_path / "round", {"space": "sentence", "pooling": "own"})
    rounded = Encoder.load(xtremedistil.folder.path, transform=place)
    for asked in (Contextuality(), Isotropy(), Isotropy(space="word"), Illusion(unit="token")):
        with pytest.raises(InputError, match="was fitted on texts' vectors"):
            run([asked], rounded, [wiki], store=Store(tmp_path))
    assert Isotropy(space="sentence").unfit_encoder(rounded) is None
    vectors = classifier.embed(wiki.texts())
    place = save(MeanRemoval().fit(vectors), tmp_path / "head", {"space": "sentence", "pooling": "own"})
    with pytest.raises(InputError, match="changes no classifier's answer"):
        run([Salience()], Encoder.load(classifier.folder.path, transform=place), [wiki], store=Store(tmp_path))


def _json(capsys, arguments) -> dict:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    out, err = capsys.readouterr()
    assert left.value.code == 0, err
    return json.loads(out)


BAD = {
    "an unknown method": (["--methods", "magic"], "--methods magic"),
    "no direction to remove": (["--n-directions", "0"], "--n-directions 0: give a number of at least 1, or auto"),
    "an unknown space": (["--space", "outer"], "--space outer"),
    "a layer that is not there": (["--layer", "99"], "--layer 99"),
    "a layer that is no number": (["--layer", "top"], "--layer top"),
    "more clusters than vectors": (["--limit", "1", "--n-clusters", "5000"], "5000"),
    "a file of pairs that is not there": (["--sts", "nofile.tsv"], "nofile.tsv"),
    "a file of pairs with a broken row": (["--sts", "{broken}"], "line 4"),
    "STS of something else than tokens": (["--sts", "{pairs}", "--space", "cls"], "--space cls"),
    "a transform that is not there": (["--transform", "nowhere"], "nowhere"),
    "the same file of pairs twice": (["--sts", "{pairs}", "--sts", "{pairs}"], "STSB_dev"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case, shared, pairs, tmp_path, capsys):
    given, said = BAD[case]
    lines = pairs.read_text(encoding="utf-8").splitlines()[:3]
    (tmp_path / "broken.tsv").write_text("\n".join([*lines, "cut\tshort"]) + "\n", encoding="utf-8")
    places = {"{pairs}": str(pairs), "{broken}": str(tmp_path / "broken.tsv")}
    corpus = f"wiki={shared / 'data' / 'corpora' / 'wiki.txt.gz'}"
    command = ["isotropy", str(shared / "models" / "xtremedistil-l6-h256"), "--corpus", corpus, "--limit", "40"]
    with pytest.raises(SystemExit) as left:
        main([*command, *(places.get(word, word) for word in given), "--store", str(tmp_path / "store")])
    out, err = capsys.readouterr()
    last = err.strip().splitlines()[-1]
    assert left.value.code == 2 and out == "" and last.startswith("theodolite: ")
    assert said in last, err


def test_peoples_own_vectors(tmp_path):
    random = np.random.default_rng(0)
    corpus = Corpus.of([f"text {i}" for i in range(300)], "mine", vectors=random.standard_normal((300, 8)).astype("f4"))
    from theodolite.encoder.given import GivenVectors

    encoder = GivenVectors([corpus])
    with pytest.raises(InputError, match="--space sentence"):
        run([Isotropy()], encoder, [corpus], store=Store(tmp_path))
    [found] = run([Isotropy(space="sentence", methods="mean")], encoder, [corpus], store=Store(tmp_path))
    expected = measure_array(corpus.vectors.astype(np.float64))
    assert rows_of(found, "measures", method="none")[0]["isoscore"] == pytest.approx(expected.isoscore, rel=1e-5)


@pytest.mark.parametrize(("vectors", "dim"), [(1, 8), (40, 1)])
def test_one_vector_or_one_dimension_is_measured_and_drawn(vectors, dim, tmp_path):
    from theodolite.encoder.given import GivenVectors

    given = np.random.default_rng(0).standard_normal((vectors, dim)).astype("f4")
    corpus = Corpus.of([f"text {i}" for i in range(vectors)], "mine", vectors=given)
    asked = Isotropy(space="sentence", methods="mean")
    [found] = run([asked], GivenVectors([corpus]), [corpus], store=Store(tmp_path / "store"))
    points = rows_of(found, "points", method="none")
    assert len(points) == vectors and {p["y"] for p in points} == {0}
    assert sorted(abs(p["x"]) for p in points) == pytest.approx(sorted(np.linalg.norm(given, axis=1)), rel=1e-5)
    assert list((found.save(tmp_path / "out") / "figures").glob("*.svg"))


def test_a_corpus_without_words_is_refused_in_one_line(xtremedistil, tmp_path):
    corpus = Corpus.of(["...", "?!", "— —"], "marks")
    with pytest.raises(InputError, match=r"^marks: no words to measure$"):
        run([Isotropy(space="word", methods="none")], xtremedistil, [corpus], store=Store(tmp_path))


def test_pairs_all_of_one_score_are_not_drawn(xtremedistil, tmp_path):
    path = tmp_path / "level.tsv"
    path.write_text("score\tsentence1\tsentence2\n2\tA cat.\tA dog.\n2\tA house.\tSome trees.\n", encoding="utf-8")
    asked = Isotropy(sts=(str(path),), methods="mean")
    [found] = run([asked], xtremedistil, asked.own_corpora(), store=Store(tmp_path / "store"))
    assert {r["spearman"] for r in rows_of(found, "sts")} == {None}
    assert "sts" not in found.drawings() and found.save(tmp_path / "out").exists()


def test_nothing_of_a_file_of_pairs_is_dropped_silently(xtremedistil, wiki, pairs, tmp_path):
    """Pairs without a score or without tokens, texts in windows, small clusters of a fit on the texts: all are said."""
    few = read_sts(pairs)
    rows = [("", "No score", "at all."), ("1", "Nothing:", "\u200b"), ("2", "long " * 600, "It is long.")]
    rows += [(str(few.scores[i]), few.a[i], few.b[i]) for i in range(30)]
    path = tmp_path / "odd.tsv"
    path.write_text("".join("\t".join(r) + "\n" for r in [("score", "sentence1", "sentence2"), *rows]), "utf-8")
    asked = Isotropy(sts=(str(path),), methods="kmeans+mean+pca", n_clusters=60, layer="-1")
    [found] = run([asked], xtremedistil, [wiki], store=Store(tmp_path / "store"))
    assert {(r["pairs"], r["skipped"]) for r in rows_of(found, "sts")} == {(31, 2)}
    assert found.overview()[1].columns[-1] == "skipped"
    said = [f for f in found.findings if f.startswith("odd")]
    assert "odd: 2 of 33 pairs were left out: 1 without a score, 1 with a text without tokens." in said
    assert any(" texts are longer than the encoder reads at once" in f and "1 of " in f for f in said)
    assert any(f.startswith("odd, layer 6, kmeans+mean+pca: ") and "keep the mean step only" in f for f in said)
    # The pair without tokens is in no correlation.
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([lines[0], *lines[3:]]), "utf-8")
    [again] = run([asked], xtremedistil, [wiki], store=Store(tmp_path / "store"))
    [row], [other] = (rows_of(reading, "sts", method="none") for reading in (found, again))
    assert row["spearman"] == pytest.approx(other["spearman"], abs=1e-6) and other["skipped"] == 0


def test_a_limit_is_not_taken_for_one_of_the_pairs(pairs):
    asked = Isotropy(sts=(str(pairs),))
    for name in ("limit", "sample"):
        with pytest.raises(InputError, match=rf"^--{name}: .* leave it out$"):
            asked.own_corpora(**{"limit": None, "sample": None, name: 5})
    assert [c.name for c in asked.own_corpora(limit=None, sample=None, seed=3)] == ["STSB_dev"]
    assert Isotropy().own_corpora(limit=5) == []


def test_a_corpus_with_the_name_of_a_file_of_pairs_is_not_taken_for_it(xtremedistil, pairs, tmp_path):
    asked = Isotropy(sts=(str(pairs),), methods="none")
    other = Corpus.of(["Something else."], "STSB_dev")
    with pytest.raises(InputError, match=r"^--corpus STSB_dev: a file of --sts has the same name, and other texts"):
        run([asked], xtremedistil, [other], store=Store(tmp_path))


def test_a_pooling_of_another_width_is_fitted_and_used(shared, tmp_path):
    """CLS and mean side by side, twice as wide as a token; a shard of empty texts has none of either width."""
    folder = tmp_path / "wide"
    (folder / "1_Pooling").mkdir(parents=True)
    for file in (shared / "models" / "xtremedistil-l6-h256").iterdir():
        (folder / file.name).symlink_to(file)
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    steps = [{"idx": i, "path": path, "type": f"sentence_transformers.models.{k}"} for i, (path, k) in enumerate(kinds)]
    (folder / "modules.json").write_text(json.dumps(steps))
    modes = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(modes))
    plain = Encoder.load(folder)
    texts = ["A cat.", "Some dogs.", "", "", "A tree by the house.", "It rains."]
    asked, options = Fitting(method="mean", space="sentence"), RunOptions(shard_size=2)
    [found] = run([asked], plain, [Corpus.of(texts, "few")], store=Store(tmp_path / "store"), options=options)
    place = save(found.transformer, tmp_path / "round", found.about)
    there = [text for text in texts if text]
    before = plain.embed(there)
    assert before.shape == (4, 512)
    after = Encoder.load(folder, transform=place).embed(there)
    np.testing.assert_allclose(after, before - before.mean(axis=0), atol=1e-5)


def test_a_hundredth_of_the_dimensions_is_asked_for_by_auto():
    found = maker(5, "auto", 0)
    assert (found("abtt").n_directions, found("kmeans+mean+pca").n_directions) == ("auto", 12)
    assert maker(5, "3", 0)("kmeans+mean+pca").n_directions == maker(5, "3", 0)("abtt").n_directions == 3
    assert Isotropy(n_directions="auto").n_directions == Fitting(n_directions="auto").n_directions == "auto"


def test_contrastive_training_before_and_after(shared, pairs, tmp_path):
    """A step or two: what it brings is not the question, but every layer and both scores are there."""
    data = tmp_path / "data"
    (data / "sts").mkdir(parents=True)
    (data / "sts" / "STSB_dev.tsv").symlink_to(pairs)
    model = str(shared / "models" / "xtremedistil-l6-h256")
    [missing] = contrastive(model, data, 128, Store(tmp_path / "store"), Silent())
    assert missing.measured == "not measured: no corpora/wiki.txt.gz" and missing.holds is None
    (data / "corpora").symlink_to(shared / "data" / "corpora")
    cosines, scores = contrastive(model, data, 128, Store(tmp_path / "store"), Silent())
    assert cosines.claim.startswith("SimCSE on 128 sentences of Wikipedia: anisotropy")
    found = re.findall(r"layer (\d) (0\.\d+) to (0\.\d+)", cosines.measured)
    assert [int(layer) for layer, _, _ in found] == list(range(7))
    assert cosines.holds is (float(found[-1][2]) < float(found[-1][1]))
    assert re.fullmatch(r"([\d.]+ \([\d.]+ to [\d.]+\)( to |$)){2}", scores.measured)


def test_of_a_file_of_pairs_one_layer_at_a_time_is_in_memory(xtremedistil):
    first, second = ("one two " * 120,) * 12, tuple(f"{i} " * 240 for i in range(12))
    file = StsFile("long", first, second, np.arange(12.0), "long.tsv", None, None, {})
    peaks = []
    for layers in ((6,), range(7)):
        tracemalloc.start()
        found = judge(xtremedistil, file, layers, [], maker(1, "1", 0), {}, 0, Silent())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert [row["layer"] for row in found.rows] == list(layers)
    assert peaks[1] < 1.3 * peaks[0]

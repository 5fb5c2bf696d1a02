"""Salience on small heads with random weights: names of classes, what is refused, what is left out, intervals.

Random since nothing that is compared here depends on the weights; the real classifier is in test_salience.py.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_heads import TEXTS, small_head

from theodolite import Corpus, Encoder, InputError, Salience, SalienceReading, Store, explain, load, run
from theodolite.accumulate import wilson
from theodolite.cli.main import main
from theodolite.corpus.labels import class_numbers
from theodolite.encoder.maps import Question
from theodolite.errors import StoreError
from theodolite.instrument import Silent, Subject
from theodolite.running.plan import RunOptions
from theodolite.salience.classes import chosen, marked, values_of
from theodolite.salience.experiments import Experiment, reviews
from theodolite.salience.findings import findings
from theodolite.salience.keeping import KeepMaps
from theodolite.salience.maps import TextMaps
from theodolite.salience.neighbours import nearest
from theodolite.salience.predictions import prediction_rows
from theodolite.salience.representations import REPRESENTATIONS
from theodolite.salience.reproduce import _as_far_as_it_goes, _comments, _gathers_ratings, reproduce
from theodolite.salience.sensitivity import ListSensitivity
from theodolite.salience.study import draw_rationales
from theodolite.train.classifier import Training
from theodolite.train.scores import interval


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory):
    """Makes a classifier with the classes named; one name makes a regression."""
    return lambda *names: small_head(tmp_path_factory.mktemp("head"), *names)


@pytest.mark.parametrize("target", ["2", 2])
def test_a_class_named_by_another_number_is_the_one_explained(head, target) -> None:
    model = head("1", "2", "3")
    [batch] = model.map_batches(model.tokenise([TEXTS[0]]), Question(target="label"), targets=np.array([1]))
    found = explain(model, TEXTS[0], target=target)
    assert found.manifest["options"]["target"] == "2"
    assert found.tables["tokens"]["grad-l2"].to_pylist() == pytest.approx(batch.maps.weights["grad-l2"].tolist())


def test_a_target_is_a_number_and_not_a_name(head, tmp_path: Path) -> None:
    model = head("1", "2", "3")
    tokens = model.tokenise(TEXTS[:3])
    [found] = model.map_batches(tokens, Question(target="1"))
    assert found.maps.target.tolist() == [1, 1, 1]
    with pytest.raises(InputError, match="--target: the label 3 is none"):
        run([Salience(target=("3",))], model, [Corpus.of(TEXTS, "films")], store=Store(tmp_path))


def test_within_takes_one_class_where_names_are_numbers(head, tmp_path: Path) -> None:
    model = head("1", "0")
    answers = model.logits(TEXTS).argmax(axis=1)
    asked = Salience(within="1", clusters=2, faithful=0, map="none")
    [found] = run([asked], model, [Corpus.of(TEXTS, "films")], store=Store(tmp_path))
    rows = found.tables["clusters"].to_pylist()
    assert {r["predicted"] for r in rows} == {"1"}
    assert sum(r["size"] for r in rows) == (answers == 0).sum() != len(TEXTS)


def test_true_and_false_are_classes(head) -> None:
    model = head("False", "True")
    assert [model.class_of(value, "row 1") for value in (False, True, "True")] == [0, 1, 1]
    with pytest.raises(InputError, match="the label True is none of"):
        head("0", "1").class_of(True, "row 1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": ("label",)}, "--target label: .* is a regression"),
        ({"of": "probability"}, "--of probability: .* is a regression"),
        ({"neighbours": ("errors",)}, "--neighbours errors: .* is a regression"),
        ({"sensitivity": ("auto",)}, "--sensitivity: .* is a regression"),
    ],
)
def test_a_regression_is_not_asked_about_classes(head, options, said, tmp_path: Path, monkeypatch) -> None:
    model = head("value")
    monkeypatch.setattr(model, "map_batches", lambda *_, **__: pytest.fail("maps were made first"))
    corpus = Corpus.of(TEXTS, "films", labels=[i / 7 for i in range(len(TEXTS))])
    with pytest.raises(InputError, match=said):
        run([Salience(clusters=2, **options)], model, [corpus], store=Store(tmp_path))


@pytest.mark.parametrize("options", [{"target": "label"}, {"target": 0}, {"of": "probability"}])
def test_a_regression_is_explained_without_classes(head, options) -> None:
    model = head("value")
    assert explain(model, TEXTS[0]).findings[0].startswith(f"{model.name} answers")
    with pytest.raises(InputError, match="is a regression"):
        explain(model, TEXTS[0], **options)


@pytest.mark.parametrize("wanted", [{"method": "integrated-gradients"}, {"representation": "cls"}, {"target": "0"}])
def test_what_is_given_twice_is_refused(wanted) -> None:
    [(name, value)] = wanted.items()
    with pytest.raises(InputError, match=f"--{name} {value}: given twice"):
        Salience(**{name: (value, value)})


# --- markers of a column


@pytest.mark.parametrize(
    ("values", "spec", "has"),
    [
        (["0", "1", "alone", ""], "column:truth=0", [True, False, False, False]),
        (["0", "1", "alone", ""], "column:truth", [False, True, True, False]),
        (["TRUE", "False", " FALSE", None], "column:truth", [True, False, False, False]),
        (["Alone", "ALONE", "", None], "column:truth=alone", [True, True, False, False]),
        ([1.0, 0.0, float("nan"), None], "column:truth", [True, False, False, False]),
        ([1.0, 0.0, float("nan"), None], "column:truth=0", [False, True, False, False]),
        ([True, False, True, None], "column:truth=true", [True, False, True, False]),
    ],
)
def test_a_marker_of_a_column(values, spec, has) -> None:
    assert marked(Corpus.of(list("abcd"), "few", truth=values), spec).tolist() == has
    assert Salience(marker=spec).columns == ("truth",)


# --- what is refused before any map is made


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sensitivity": ("no-such-file",)}, "no-such-file: cannot be read"),
        ({"neighbours": ("20",)}, "--neighbours 20: no row"),
        ({"neighbours": ("last",)}, "--neighbours last: no row"),
        ({"neighbours": ("0",), "where": "bad"}, "--neighbours 0: no row"),
        ({"neighbours": ("errors",)}, "--neighbours errors: no text of films has a label"),
        ({"neighbours": ("0",), "neighbours_with": "label=b"}, "--neighbours-with label=b: no text of films has that"),
        ({"marker": "zqzq"}, "--marker zqzq: no text has it"),
        ({"marker": "column:truth"}, "no column 'truth'"),
        ({"target": ("predicted", "7")}, "--target: the label 7 is none"),
        ({"sensitivity": ("pmi",)}, r"--sensitivity pmi: a list of auto is called that; .* give it as \./pmi"),
    ],
)
def test_mistakes_are_told_before_the_long_work(head, options, said, tmp_path: Path, monkeypatch) -> None:
    model = head("a", "b")
    monkeypatch.setattr(model, "map_batches", lambda *_, **__: pytest.fail("maps were made first"))
    with pytest.raises(InputError, match=said):
        run([Salience(clusters=2, **options)], model, [Corpus.of(TEXTS, "films")], store=Store(tmp_path))


def test_a_tokenizer_without_a_mask_is_told_first(head, tmp_path: Path, monkeypatch) -> None:
    model = head("a", "b")
    monkeypatch.setattr(model.tokenizer, "mask_id", None)
    monkeypatch.setattr(model, "map_batches", lambda *_, **__: pytest.fail("maps were made first"))
    with pytest.raises(InputError, match=r"no mask token; ask with --faithful 0$"):
        run([Salience(clusters=2)], model, [Corpus.of(TEXTS, "films")], store=Store(tmp_path))


@pytest.mark.parametrize(
    "options",
    [
        {"marker": "("},
        {"representation": ("salience-bigrams",), "top_k": "all"},
        {"representation": ("salience-bigrams",), "top_k": "1"},
        {"marker": ""},
        {"where": " "},
        {"neighbours_with": "label=a"},
    ],
)
def test_options_that_cannot_be_are_refused_at_once(options) -> None:
    said = (
        r"the marker '\('|salience-bigrams: needs a --top-k from 2 on|--neighbours-with label=a: whose neighbours\?|"
        "--(marker|where): nothing is given to look for"
    )
    with pytest.raises(InputError, match=said):
        Salience(**options)


# --- what is left out


def test_classes_that_cannot_be_clustered_are_left_out_and_said(head, tmp_path: Path) -> None:
    model = head("a", "b", "c")
    answers = model.logits(TEXTS).argmax(axis=1)
    by_class = [[text for text, a in zip(TEXTS, answers, strict=True) if a == c] for c in range(3)]
    assert len(by_class[0]) > 2 and by_class[1] and by_class[2]
    texts = by_class[0] + 6 * by_class[1][:1] + by_class[2][:1]
    asked = Salience(clusters=2, faithful=0, map="none")
    [found] = run([asked], model, [Corpus.of(texts, "films")], store=Store(tmp_path))
    assert {r["predicted"] for r in found.tables["clusters"].to_pylist()} == {"a"}
    rows = found.tables["skipped"].to_pylist()
    assert [(r["corpus"], r["class"], r["representation"], r["texts"]) for r in rows] == [
        ("films", "b", "salience-vocab", 6),
        ("films", "c", "salience-vocab", 1),
    ]
    assert [r["reason"] for r in rows] == ["only 1 different ones for 2 clusters", "fewer texts than the 2 clusters"]
    said = next(line for line in found.findings if "left out" in line)
    assert "answered b (6 texts, only 1" in said and "answered c (1 texts, fewer" in said
    with pytest.raises(InputError, match="--clusters 2: no predicted class has so many different texts: b has 6"):
        run([asked], model, [Corpus.of(6 * by_class[1][:1], "alike")], store=Store(tmp_path))


def test_labels_of_one_corpus_and_none_of_another(head, tmp_path: Path) -> None:
    labelled, bare = Corpus.of(TEXTS, "labelled", labels=["a", "b"] * 10), Corpus.of(TEXTS, "bare")
    asked = Salience(clusters=2, faithful=0, map="none")
    [found] = run([asked], head("a", "b"), [labelled, bare], store=Store(tmp_path))
    labels = found.tables["texts"]["label"].to_pylist()
    assert labels == [*["a", "b"] * 10, *[None] * 20]


def test_the_corpus_beside_may_lack_the_column_of_a_slice_or_a_marker(head, tmp_path: Path, capsys) -> None:
    for name, columns in (("first", ",src\n"), ("beside", "\n")):
        rows = (f"{text}{',x' if columns != chr(10) else ''}" for text in TEXTS)
        (tmp_path / f"{name}.csv").write_text(f"text{columns}" + "\n".join(rows) + "\n")
    given = [arg for n in ("first", "beside") for arg in ("--corpus", f"{n}={tmp_path / n}.csv?text=text")]
    asked = ["salience", str(head("a", "b").folder.path), *given, "--neighbours", "0", "--clusters", "2", "--json"]
    how = ["--faithful", "0", "--map", "none", "--store", str(tmp_path / "store"), "--within", "all"]
    for option in (("--where", "src=x"), ("--marker", "column:src")):
        with pytest.raises(SystemExit) as left:
            main([*asked, *how, *option, "--among", "beside"])
        assert left.value.code == 0
        found = json.loads(capsys.readouterr().out)
        assert {row["neighbour_corpus"] for row in found["neighbours"]} == {"beside"}
        assert {row["corpus"] for row in found.get("marker", [])} == ({"first"} if option[0] == "--marker" else set())
        with pytest.raises(SystemExit) as left:
            main([*asked, *how, *option])
        assert left.value.code == 2 and "beside.csv: no column 'src'" in capsys.readouterr().err


def test_a_text_has_its_neighbours_once_however_often_it_is_asked_about(head, tmp_path: Path) -> None:
    model, films = head("a", "b"), Corpus.of(TEXTS, "films", labels=["a", "b"] * 10)
    asked = Salience(clusters=0, faithful=0, map="none", neighbours=("errors", "1", "1", "errors"))
    [found] = run([asked], model, [films], store=Store(tmp_path))
    each = Counter((row["row"], row["rank"]) for row in found.tables["neighbours"].to_pylist())
    assert set(each.values()) == {1} and {1} < {row for row, _ in each}


def test_neighbours_of_one_class_are_not_asked_of_a_regression(head, tmp_path: Path) -> None:
    asked = Salience(neighbours=("0",), neighbours_with="predicted=value")
    with pytest.raises(InputError, match=r"--neighbours-with predicted=value: .* is a regression"):
        run([asked], head("value"), [Corpus.of(TEXTS, "films")], store=Store(tmp_path))


def test_what_is_asked_again_has_the_budget_of_the_run(head, tmp_path: Path, monkeypatch) -> None:
    model, budgets = head("a", "b"), []
    answers = model.answers
    monkeypatch.setattr(model, "answers", lambda tokens, budget: budgets.append(budget) or answers(tokens))
    asked = Salience(clusters=0, map="none", faithful=5)
    run([asked], model, [Corpus.of(TEXTS, "films")], store=Store(tmp_path), options=RunOptions(token_budget=64))
    assert set(budgets) == {64}


def test_lists_without_words_are_left_out_and_said(head, tmp_path: Path) -> None:
    asked = Salience(clusters=0, sensitivity=("auto",), insertions=2, faithful=0, map="none")
    [found] = run([asked], head("a", "b"), [Corpus.of(TEXTS[:8], "films")], store=Store(tmp_path))
    assert [r["list"] for r in found.tables["sensitivity"].to_pylist()] == ["identity terms"]
    assert {r["list"] for r in found.tables["skipped"].to_pylist()} == {"pmi", "aggregated salience"}
    said = next(line for line in found.findings if "left out" in line)
    assert "the list pmi" in said and "at least 20 times" in said


# --- intervals and baselines


def test_marker_and_clusters_of_all_texts_have_their_figures(head, tmp_path: Path) -> None:
    """Counted again from the texts' table, a cluster at a time."""
    model = head("a", "b")
    labels = ["a", "b"] * (len(TEXTS) // 2)
    asked = Salience(within="all", clusters=3, marker="good|odd", faithful=0, map="none")
    [found] = run([asked], model, [Corpus.of(TEXTS, "films", labels=labels)], store=Store(tmp_path))
    texts = found.tables["texts"].to_pylist()
    has = {t["row"] for t in texts if TEXTS[t["row"]].startswith(("good", "odd"))}
    [row] = found.tables["marker"].to_pylist()
    inside = {t["row"] for t in texts if t["cluster"] == row["cluster"]}
    assert row["baseline"] == len(has) / len(TEXTS)
    assert (row["precision_low"], row["precision_high"]) == wilson(len(has & inside), len(inside))
    assert (row["recall_low"], row["recall_high"]) == wilson(len(has & inside), len(has))
    leaning = []
    for cluster in found.tables["clusters"].to_pylist():
        mine = [t for t in texts if t["cluster"] == cluster["id"]]
        right = sum(t["label"] == t["answer"] for t in mine)
        assert (cluster["accuracy_low"], cluster["accuracy_high"]) == wilson(right, len(mine))
        for column, what in (("answers", "answer"), ("true", "label")):
            counts = {name: sum(t[what] == name for t in mine) for name in "ab"}
            assert cluster[column] == [f"{name}: {n}" for name, n in counts.items() if n]
        beyond = {n: sum(t["answer"] == n for t in mine) / len(mine)
                  - sum(t["answer"] == n for t in texts) / len(texts) for n in "ab"}  # fmt: skip
        leaning.append((cluster["leans_to"], max(beyond, key=beyond.__getitem__)))
    assert all(said == expected for said, expected in leaning)
    assert any("answered a: " in card.facts or "answered b: " in card.facts for card in found.cards())


def test_a_correlation_has_its_interval() -> None:
    values = np.array([0.1, 0.9, 2.2, 2.8, 4.5, 4.9])
    none, logits = np.zeros(6, np.int64), np.arange(6, dtype=np.float32)[:, None]
    bounds = np.arange(7)
    maps = TextMaps(np.arange(6), bounds, none, none, none, none, none, logits, none, none - 1)
    [row] = prediction_rows(Corpus.of(list("abcdef"), "few", labels=values.tolist()), maps, ["value"])
    r = float(np.corrcoef(values, np.arange(6))[0, 1])
    assert (row["correlation_low"], row["correlation_high"]) == pytest.approx(interval({"pearson": r}, 6))
    [said] = findings("it", {"predictions": pa.Table.from_pylist([row])}, None, 5)
    assert f"({row['correlation_low']:.2f} to {row['correlation_high']:.2f})" in said


def _list(name: str, mean: float) -> dict:
    figures = (mean, mean, mean, mean, 3)
    about = {"corpus": "toxicity", "class": "1", "terms_from": "training"}
    return about | asdict(ListSensitivity(name, ("x",), *figures, *figures, 3, ()))


def test_a_mean_that_is_missing_supports_no_claim() -> None:
    """Of a list whose terms never occur the mean is NaN, which must not be counted as in its place."""
    rows = [_list("identity terms", 0.1), _list("pmi", float("nan")), _list("aggregated salience", 0.3)]
    whole = {"corpus": "toxicity", "class": "all", "texts": 1}
    tables = {"predictions": pa.Table.from_pylist([whole]), "sensitivity": pa.Table.from_pylist(rows)}
    [said] = findings("it", tables, None, 5)
    assert "identity terms +0.10" in said and "pmi" not in said
    few = Corpus.of(["a"], "toxicity")
    reading = SalienceReading(tables, [])
    claims = list(_comments("it", Experiment("toxicity", few, few, Training()), lambda *_: reading))
    measured = {claim.claim: (claim.measured, claim.holds) for claim in claims}
    assert measured["toxicity, insertion of pmi"] == ("no term occurs often enough", None)
    assert measured["toxicity, insertion: identity terms, then PMI, then aggregated salience"] == ("+0.10, +0.30", None)


@pytest.mark.parametrize(("precision", "recall", "holds"), [(0.9, 0.3, True), (0.89, 1.0, False), (1.0, 0.29, False)])
def test_ratings_are_gathered_by_a_cluster_that_is_pure_and_not_tiny(precision, recall, holds) -> None:
    assert _gathers_ratings({"precision": precision, "recall": recall}) is holds
    assert not _gathers_ratings(None)


def test_a_classifier_of_reviews_learns_from_their_ends_and_from_digits(tmp_path: Path) -> None:
    start, digit, end = ["start"] * 10, ["9", *["middle"] * 47], ["end"] * 47
    texts, labels = [], []
    for i in range(4):
        texts += [[*start, *digit, *end, f"long{i}"], ["3", *["few"] * 6, *end, f"few{i}"], [f"short{i}"]]
        labels += [0, 1, 0]
    (tmp_path / "imdb").mkdir()
    table = pa.table({"text": [" ".join(words) for words in texts], "label": labels})
    pq.write_table(table, tmp_path / "imdb" / "reviews.parquet")
    found = reviews(tmp_path, 11)
    # Its last words are looked at, of no review that it learned from.
    [looked_at] = found.looked_at.texts()
    ends = {" ".join(words[-48:]): label for words, label in zip(texts, labels, strict=True)}
    learned = list(zip(found.training.texts(), found.training.column("label").to_pylist(), strict=True))
    assert ends.pop(looked_at) is not None
    assert {text: label for text, label in learned if text in ends} == ends
    rest = [(text, label) for text, label in learned if text not in ends]
    assert rest == [(" ".join(digit), 0)] * (4 - looked_at.endswith(tuple("long0 long1 long2 long3".split())))


def test_a_review_that_ends_like_one_learned_from_is_not_looked_at(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "imdb").mkdir()
    same = [f"{place} {'the same end ' * 16}" for place in range(20)]
    texts = [*same, *(f"no{i}" for i in range(20))]
    pq.write_table(pa.table({"text": texts, "label": [0, 1] * 20}), tmp_path / "imdb" / "reviews.parquet")
    monkeypatch.setattr("theodolite.salience.experiments._sizes", lambda *_: (30, 10))
    found = reviews(tmp_path, None)
    assert 0 < len(found.looked_at) < 10 and all(text.startswith("no") for text in found.looked_at.texts())


def test_the_whole_reproduction_on_a_few_texts(shared: Path, tmp_path: Path, monkeypatch) -> None:
    """Every experiment is trained and looked at, and what so few texts cannot show is said, not fatal."""
    monkeypatch.setattr("theodolite.salience.reproduce.IG_REVIEWS", 2)
    rules = ("word", "length")
    monkeypatch.setattr("theodolite.salience.reproduce.OTHER_RULES", rules)
    model = str(shared / "models" / "xtremedistil-l6-h256")
    found = reproduce(shared / "data", [model], limit=24, store=Store(tmp_path), progress=Silent())
    said = {claim.claim: claim for claim in found.claims}
    # Of 24 reviews the stretches with a digit are trained on too.
    trained_on = len(reviews(shared / "data", 24).training)
    assert trained_on > 24
    for name in ("planted-sst2", "imdb", "toxicity", *(f"planted-sst2-{rule}" for rule in rules)):
        texts = trained_on if name == "imdb" else 24
        assert "always one class" in said[f"{name}: accuracy on held-out texts ({texts} trained on)"].measured
    assert said["planted-sst2: the rest"].measured.startswith("not measured: --clusters 3: ")
    assert "toxicity, insertion of identity terms" in said
    assert {r["reading"] for r in found.reading.tables["predictions"].to_pylist()} >= {1}
    found.save(tmp_path / "out")
    with pytest.raises(InputError, match=r"no sst2/train\.tsv\.gz"):
        reproduce(tmp_path, [model], limit=24, store=Store(tmp_path), progress=Silent())


@pytest.mark.parametrize("fault", [InputError("too few"), StoreError("disk full")])
def test_a_reproduction_goes_on_after_too_few_texts_but_not_without_a_store(fault: InputError) -> None:
    def claims():
        yield "first"
        raise fault

    few = Corpus.of(["a"], "few")
    found = _as_far_as_it_goes(claims(), "it", Experiment("imdb", few, few, Training()))
    assert next(found) == "first"
    if isinstance(fault, StoreError):
        with pytest.raises(StoreError, match="disk full"):
            next(found)
    else:
        assert next(found).measured == "not measured: too few"


# --- integrated gradients' errors, pairs, lists chosen where they are tested, several classes at once


def test_steps_and_error_of_every_text_are_told(head, tmp_path: Path) -> None:
    asked = Salience(method=("integrated-gradients",), clusters=0, faithful=0, map="none")
    [found] = run([asked], head("0", "1"), [Corpus.of(TEXTS, "films")], store=Store(tmp_path))
    rows = found.tables["texts"].to_pylist()
    [whole] = found.tables["completeness"].to_pylist()
    errors = np.array([r["completeness_error"] for r in rows])
    assert whole["error_largest"] == pytest.approx(errors.max())
    assert whole["flagged"] == (errors >= 0.01).sum()
    assert whole["steps_mean"] == pytest.approx(np.mean([r["steps"] for r in rows]))
    assert any("integrated gradients miss the change" in said for said in found.findings)


def test_markers_slices_and_neighbours_look_at_both_texts_of_a_pair(head, tmp_path: Path) -> None:
    seconds = ["rated 7/10" if i % 4 == 0 else "not rated" for i in range(len(TEXTS))]
    corpus = Corpus.of(TEXTS, "films", texts_b=seconds)
    assert marked(corpus, "rating").tolist() == [i % 4 == 0 for i in range(len(TEXTS))]
    assert chosen(corpus, "not").sum() == 15
    asked = Salience(clusters=0, neighbours=("0",), faithful=0, map="none")
    [found] = run([asked], head("0", "1"), [corpus], store=Store(tmp_path))
    near = found.tables["neighbours"].to_pylist()
    assert {r["asked"] for r in near} == {f"{TEXTS[0]} ‖ rated 7/10"}
    assert all(r["text"] == f"{TEXTS[r['neighbour_row']]} ‖ {seconds[r['neighbour_row']]}" for r in near)


def test_lists_chosen_on_the_texts_they_are_tested_on_are_said_to_be(head, tmp_path: Path) -> None:
    model = head("0", "1")
    many = Corpus.of([f"{text} {i}" for i in range(12) for text in TEXTS], "many")
    few = Corpus.of(TEXTS, "few")
    said = {}
    for among, corpora in ((None, [many]), ("many", [few, many])):
        asked = Salience(clusters=0, sensitivity=("auto",), insertions=4, faithful=0, map="none", among=among)
        [found] = run([asked], model, corpora, store=Store(tmp_path))
        origin = {r["list"]: r["terms_from"] for r in found.tables["sensitivity"].to_pylist()}
        assert origin["identity terms"] == "given" and origin["pmi"] == origin["aggregated salience"] == "many"
        said[among] = any("chosen on the texts that they are tested on" in finding for finding in found.findings)
    assert said == {None: True, "many": False}


def test_a_head_of_several_classes_at_once_is_refused(head, tmp_path: Path) -> None:
    model = head("a", "b")
    copy = tmp_path / "several"
    shutil.copytree(model.folder.path, copy)
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "problem_type": "multi_label_classification"}))
    with pytest.raises(InputError, match="multi-label"):
        Encoder.load(copy)


# --- very short, very long, one class only


def test_odd_texts(head, tmp_path: Path) -> None:
    """A text of one token, one of 50,000, one class only: measured, and the windows counted."""
    corpus = Corpus.of(["good", "fine " * 50_000, "good film", "nice", "good one"], "odd", labels=[1, 1, 1, 1, 1])
    asked = Salience(clusters=2, within="all", faithful=0, map="none")
    [found] = run([asked], head("0", "1"), [corpus], store=Store(tmp_path))
    assert found.tables["texts"].num_rows == 5
    assert found.manifest["corpora"][0]["windowed"] == 1
    whole = next(r for r in found.tables["predictions"].to_pylist() if r["class"] == "all")
    assert whole["baseline"] == 1


@pytest.mark.parametrize("how", [{}, {"clusters": 1}, {"representation": ("salience-bigrams",), "clusters": 0}])
@pytest.mark.parametrize("texts", [["only one"], ["nothing", "shared", "here"]])
def test_texts_too_few_for_directions_are_all_at_one_place(head, texts, how, tmp_path: Path) -> None:
    asked = Salience(**{"clusters": 0, "within": "all", "faithful": 0, "map": "tsne", **how})
    [found] = run([asked], head("a", "b"), [Corpus.of(texts, "few")], store=Store(tmp_path))
    places = found.tables["texts"].select(["x", "y"]).to_pandas().to_numpy()
    assert places.shape == (len(texts), 2) and np.isfinite(places).all()


def test_one_cluster_of_texts_without_a_pair_in_common(head, tmp_path: Path) -> None:
    asked = Salience(representation=("salience-bigrams",), clusters=1, within="all", faithful=0, map="none")
    [found] = run([asked], head("a", "b"), [Corpus.of(["nothing", "shared"], "few")], store=Store(tmp_path))
    [row] = found.tables["clusters"].to_pylist()
    assert (row["size"], row["terms"]) == (2, [])


@pytest.mark.parametrize("method", ["grad-l2", "integrated-gradients"])
@pytest.mark.parametrize("where", [None, "kind=odd"])
def test_texts_without_tokens_alone_are_told(head, method, where, tmp_path: Path) -> None:
    texts, kinds = (["\u200b", "\u200b", "fine"], ["odd", "odd", "plain"]) if where else (["\u200b"], ["odd"])
    asked = Salience(method=(method,), where=where, clusters=0, faithful=0, map="none")
    with pytest.raises(InputError, match="few: no text that is looked at has any tokens"):
        run([asked], head("a", "b"), [Corpus.of(texts, "few", kind=kinds)], store=Store(tmp_path))


# --- labels and classes


@pytest.mark.parametrize(
    ("labels", "names", "expected"),
    [
        ([0, 1, 2], ["1", "2", "3"], [0, 1, 2]),
        ([1, 2, 3], ["1", "2", "3"], [0, 1, 2]),
        ([1.0, float("nan"), 3.0], ["1", "2", "3"], [0, -1, 2]),
        (["b", " ", "a"], ["a", "b"], [1, -1, 0]),
        ([1, None, 0], ["a", "b"], [1, -1, 0]),
        ([True, False], ["False", "True"], [1, 0]),
    ],
)
def test_labels_are_all_names_or_all_numbers(labels, names, expected) -> None:
    assert class_numbers(labels, names, "it", "here").tolist() == expected


@pytest.mark.parametrize(
    ("labels", "names", "said"),
    [
        ([1, 2, 4], ["1", "2", "3"], "here, row 3: the label 4"),
        ([0, 1, 2], ["a", "b"], "here, row 3: the label 2"),
        (["a", "c"], ["a", "b"], "here, row 2: the label 'c'"),
        ([-1, 0], ["a", "b"], "here, row 1: the label -1"),
        ([True, False], ["a", "b"], "here, row 1: the label True"),
    ],
)
def test_labels_that_are_no_classes_are_told(labels, names, said) -> None:
    with pytest.raises(InputError, match=f"{said} is none of it's: "):
        class_numbers(labels, names, "it", "here")


def test_a_label_that_is_missing_is_no_class(head, tmp_path: Path) -> None:
    model = head("a", "b")
    labels = ["a", " ", "b", *(["a"] * (len(TEXTS) - 3))]
    asked = Salience(clusters=0, faithful=0, map="none")
    [found] = run([asked], model, [Corpus.of(TEXTS, "films", labels=labels)], store=Store(tmp_path))
    assert found.tables["texts"]["label"].to_pylist()[:3] == ["a", None, "b"]
    with pytest.raises(InputError, match="not every text of films has a label"):
        run([replace(asked, target=("label",))], model, [Corpus.of(TEXTS, "films", labels=labels)])


# --- slices, markers that nothing gathers, neighbours elsewhere


def test_a_slice_is_of_what_is_looked_at_and_not_of_what_it_is_compared_with(head, tmp_path: Path) -> None:
    kinds = ["x" if i < 6 else "y" for i in range(len(TEXTS))]
    tested, training = Corpus.of(TEXTS, "tested", kind=kinds), Corpus.of(TEXTS, "training", kind=["y"] * len(TEXTS))
    asked = Salience(
        method=("integrated-gradients",), where="kind=x", among="training", neighbours=("0",), clusters=0, faithful=0,
        map="none",
    )  # fmt: skip
    [found] = run([asked], head("a", "b"), [tested, training], store=Store(tmp_path))
    looked_at = Counter(found.tables["texts"]["corpus"].to_pylist())
    assert looked_at == {"tested": 6, "training": len(TEXTS)}
    counted = {r["corpus"]: r["texts"] for r in found.tables["completeness"].to_pylist()}
    assert counted == looked_at
    # Its own copy is the nearest.
    assert found.tables["neighbours"].to_pylist()[0]["neighbour_row"] == 0


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_neighbours_elsewhere_are_those_of_all_texts_represented_together(
    head, name, tmp_path: Path, monkeypatch
) -> None:
    taken = {}
    monkeypatch.setattr(Salience, "_neighbours", lambda _self, analyses, *_: taken.update(analyses) or ())
    asked = Salience(representation=(name,), clusters=0, faithful=0, map="none")
    run([asked], head("a", "b"), [Corpus.of(TEXTS[5:], "own"), Corpus.of(TEXTS, "other")], store=Store(tmp_path))
    own, other = taken["own", "grad-l2"], taken["other", "grad-l2"]
    space = other.space(name)
    whole = own.space(name, like=space).whole.matrix
    for text in (0, 7):
        rows, cosines = nearest(space.whole.matrix, whole[[text]], 5)
        found = list(own.neighbour_rows(text, other, name, 5))
        assert [r["neighbour_row"] for r in found] == rows[0][cosines[0] > 0].tolist()
        assert [r["cosine"] for r in found] == pytest.approx(cosines[0][cosines[0] > 0].tolist())
        assert found


@pytest.mark.parametrize(
    ("clusters", "why"), [(2, "none of the clustered texts has it"), (0, "no clusters were asked for")]
)
def test_a_marker_that_no_cluster_gathers_is_said(head, clusters, why, tmp_path: Path) -> None:
    model = head("a", "b")
    answers = [model.labels[i] for i in model.logits(TEXTS).argmax(axis=1)]
    asked = Salience(marker="column:answer=a", within="b", clusters=clusters, faithful=0, map="none")
    [found] = run([asked], model, [Corpus.of(TEXTS, "films", answer=answers)], store=Store(tmp_path))
    assert any(f"no cluster gathers texts with the marker 'column:answer=a': {why}." in said for said in found.findings)


def test_a_long_marker_is_told_in_one_line(head, tmp_path: Path) -> None:
    long = "(?x) nothing of this kind\n" + "    | nor of that\n" * 40
    with pytest.raises(InputError, match="no text has it") as error:
        run([Salience(marker=long)], head("a", "b"), [Corpus.of(TEXTS, "films")], store=Store(tmp_path))
    assert "\n" not in str(error.value) and len(str(error.value)) < 200
    asked = Salience(marker=f"{long}    | film", clusters=2, faithful=0, map="none")
    [found] = run([asked], head("a", "b"), [Corpus.of(TEXTS, "films")], store=Store(tmp_path))
    said = [said for said in found.findings if "(?x) nothing of this kind | nor of that" in said]
    assert said and all("\n" not in line and "…" in line and len(line) < 400 for line in said)


def test_a_regression_speaks_of_answers(head, tmp_path: Path) -> None:
    scores = [None, *(i / 7 for i in range(1, len(TEXTS)))]
    films = Corpus.of(TEXTS, "films", labels=scores)
    [found] = run([Salience(clusters=1, faithful=8, neighbours=("0",))], head("score"), [films], store=Store(tmp_path))
    assert found.tables["texts"]["value"].to_pylist()[1:] == scores[1:]
    assert any("moves the answer by" in said for said in found.findings)
    assert all(r["value"] == scores[r["neighbour_row"]] for r in found.tables["neighbours"].to_pylist())
    assert any(", label " in passage.heading for card in found.cards() for passage in card.passages)
    assert {"correlation", "squared error", "baseline"} <= set(found.overview()[0].columns)
    assert [card.title for card in found.cards()] == ["films: cluster 0"]
    assert found.cards()[0].facts.startswith(f"{len(TEXTS)} texts, 100% of all; ")
    found.save(tmp_path / "reading")
    shown = load(tmp_path / "reading").drawings()
    assert not any("probability" in shown[name].caption for name in ("map", "faithfulness"))
    for name, title in (("map", "answer"), ("map-labels", "label")):
        assert [axes.get_ylabel() for axes in shown[name].draw().axes] == ["", title]
    assert {axes.get_ylabel() for axes in shown["faithfulness"].draw().axes} == {"change of the answer"}


def test_a_class_may_be_called_all(head, tmp_path: Path) -> None:
    [found] = run([Salience(clusters=0, faithful=0)], head("all", "none"), [Corpus.of(TEXTS, "films")],
                  store=Store(tmp_path))  # fmt: skip
    assert [r["class"] for r in found.to_json()["predictions"]["by_class"]] == ["all", "none"]


# --- keys, and how many errors are shown


def test_the_order_of_methods_makes_no_other_maps(tmp_path: Path) -> None:
    """And keys that stores have already stay as they are."""
    nothing = None
    subject = Subject("it", 2, 32, (("model", "x"),), nothing, (), Store(tmp_path), Silent())  # type: ignore[arg-type]

    def recipe(*methods: str):
        return KeepMaps(subject, Question(methods), {}).recipe

    both = recipe("grad-l2", "integrated-gradients")
    assert recipe("integrated-gradients", "grad-l2") == both
    assert dict(both.parts)["methods"] == "grad-l2,integrated-gradients"
    assert dict(recipe("grad-x-input").parts)["methods"] == "grad-x-input"


def test_as_many_errors_are_shown_as_a_study_draws(head, tmp_path: Path) -> None:
    model = head("a", "b")
    texts = [*TEXTS, *(f"{text} again" for text in TEXTS)]
    wrong = ["ba"[answer] for answer in model.logits(texts).argmax(axis=1)]
    asked = Salience(clusters=0, neighbours=("errors",), faithful=0, map="none")
    [found] = run([asked], model, [Corpus.of(texts, "films", labels=wrong)], store=Store(tmp_path))
    items, _ = draw_rationales(found)
    assert len({item["text"] for item in items}) == 28
    near = next(part for part in found.overview() if part.title.startswith("Neighbours"))
    assert near.title == f"Neighbours, the first 50 of {found.tables['neighbours'].num_rows}" and len(near.rows) == 50


def test_a_text_without_neighbours_is_said_and_left_out_of_a_study(head, tmp_path: Path) -> None:
    model = head("a", "b")
    # Of one word there are no pairs of words.
    texts = [*TEXTS, "zebra"]
    wrong = ["ba"[answer] for answer in model.logits(texts).argmax(axis=1)]
    spaces = ("salience-bigrams", "cls")
    asked = Salience(clusters=0, neighbours=("20", "0"), representation=spaces, faithful=0, map="none")
    [found] = run([asked], model, [Corpus.of(texts, "films", labels=wrong)], store=Store(tmp_path))
    near = {(r["row"], r["representation"]) for r in found.tables["neighbours"].to_pylist()}
    assert near == {(0, "salience-bigrams"), (0, "cls"), (20, "cls")}
    [alone] = found.tables["skipped"].to_pylist()
    assert (alone["row"], alone["representation"], alone["list"]) == (20, "salience-bigrams", None)
    said = [each for each in found.findings if "neighbour" in each]
    assert [each.partition(": ")[2] for each in said] == [
        "no text that may be a neighbour has anything in common by salience-bigrams with row 20."
    ]
    _, key = draw_rationales(found)
    assert {(row["row"], row["representation"]) for row in key} == {(0, space) for space in spaces}


def test_labels_that_are_no_numbers_are_told_before_a_regression_is_asked(head, tmp_path: Path, monkeypatch) -> None:
    model = head("value")
    monkeypatch.setattr(model, "map_batches", lambda *_, **__: pytest.fail("maps were made first"))
    labels = [*["0.5"] * (len(TEXTS) - 1), "n/a"]
    with pytest.raises(InputError, match="films, row 20: the label 'n/a' is no number, and the model is a regression"):
        run([Salience(clusters=2)], model, [Corpus.of(TEXTS, "films", labels=labels)], store=Store(tmp_path))


def test_numbers_without_an_end_are_no_labels() -> None:
    found = values_of(Corpus.of(TEXTS[:4], "films", labels=["1.5", "inf", "nan", ""]))
    np.testing.assert_array_equal(found, [1.5, np.nan, np.nan, np.nan])

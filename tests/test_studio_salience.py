"""The API of the salience page, against plain definitions on a real classifier."""

from __future__ import annotations

import csv
import time

import numpy as np
import pytest
from small_heads import TEXTS, small_head
from starlette.testclient import TestClient

from theodolite import Corpus, Store, Survey
from theodolite.salience import Salience
from theodolite.salience.asking import probe_of
from theodolite.salience.explain import explain
from theodolite.salience.heat import coloured
from theodolite.salience.maps import softmax
from theodolite.salience.sensitivity import sensitivity
from theodolite.studio.app import make_studio
from theodolite.studio.salience_maps import SalienceMaps
from theodolite.studio.salience_view import Grouped, SalienceView

ADDRESS = "http://127.0.0.1:8400"
METHODS, REPRESENTATIONS = ("grad-l2", "grad-x-input"), ("salience-vocab", "cls")
HOSTILE = "<script>alert(1)</script> a \u202egood\u202c film & more"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("salience")


@pytest.fixture(scope="module")
def reviews(place, sst2):
    texts, labels = sst2.texts(0, 119), sst2.column("label").to_pylist()[:119]
    with (place / "reviews.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *zip(texts, labels, strict=True), (HOSTILE, 1)])
    return Corpus.read(f"{place / 'reviews.csv'}?text=text&label=label", "reviews", cache=place / "store")


@pytest.fixture(scope="module")
def survey(place, classifier, reviews):
    asked = Salience(
        method=METHODS,
        representation=REPRESENTATIONS,
        clusters=3,
        marker="film",
        neighbours=("errors",),
        sensitivity=("auto",),
        insertions=4,
        faithful=10,
        map="none",
    )
    made = Survey.run(classifier, [reviews], instruments=[asked], store=Store(place / "store"))
    made.save(place / "survey")
    return made


@pytest.fixture(scope="module")
def ask(place, survey, classifier):
    return asker(place / "survey", Store(place / "store"), classifier)


def asker(folder, store, classifier=None):
    """Asks the API of a studio on one survey: parameters for GET, a body for POST; the answer must be as told."""
    models = [] if classifier is None else [classifier.folder.path]
    client = TestClient(make_studio([folder], models=models, store=store), base_url=ADDRESS)

    def asked(path="", body=None, *, status=200, **params):
        address = f"/api/surveys/survey/salience{path}"
        answer = client.get(address, params=params) if body is None else client.post(address, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    asked.client = client
    return asked


@pytest.fixture(scope="module")
def probabilities(classifier, reviews):
    return softmax(classifier.logits(reviews.texts()))


@pytest.fixture(scope="module")
def truth(classifier, reviews, probabilities):
    """Of each text by hand: its row, label, answer, the answer's probability."""
    labels = [classifier.labels[int(label)] for label in reviews.column("label").to_pylist()]
    answers = [classifier.labels[i] for i in probabilities.argmax(axis=1)]
    return list(zip(range(len(labels)), labels, answers, probabilities.max(axis=1).tolist(), strict=True))


def grouping(card):
    return {name: card[name] for name in ("corpus", "method", "representation", "predicted", "id")}


def all_texts(ask, path="/texts", **params):
    found, rows = ask(path, limit=50, **params), []
    for offset in range(0, max(found["total"], 1), 50):
        rows += ask(path, limit=50, offset=offset, **params)["rows"]
    assert len(rows) == found["total"]
    return rows


def test_about_has_accuracy_with_its_interval_and_baseline(ask, truth, classifier):
    about = ask()
    right = [label == answer for _, label, answer, _ in truth]
    commonest = max(sum(t[1] == name for t in truth) for name in classifier.labels)
    whole = next(s for s in about["scores"] if s["name"] == "all")
    assert whole["accuracy"] == pytest.approx(np.mean(right))
    assert whole["accuracy_low"] < whole["accuracy"] < whole["accuracy_high"]
    assert whole["baseline"] == pytest.approx(commonest / len(truth))
    assert about["classes"] == classifier.labels and about["live"] and about["available"]
    assert (about["methods"], about["representations"]) == (list(METHODS), list(REPRESENTATIONS))
    assert about["corpora"] == [{"name": "reviews", "texts": 120, "why_no_texts": None}]


def test_a_survey_without_salience_says_so_and_what_to_run(place):
    about = {"name": "plain", "hash": "0" * 64, "tokenizer_hash": "0" * 64, "window": "256/128"}
    manifest = {"encoder": about, "corpora": [], "title": "survey", "left_out": {"salience": "it has no head"}}
    ask = asker(Survey("survey", {}, manifest), Store(place / "nowhere"))
    found = ask()
    assert not found["available"] and "it has no head" in found["why"]
    assert [line.split()[1] for line in found["commands"]] == ["train", "survey", "studio"]
    assert "it has no head" in ask("/clusters", status=404)["detail"]


def test_clusters_are_ranked_by_suspicion_and_add_up(ask, truth):
    for method in METHODS:
        cards = ask("/clusters", method=method, representation="salience-vocab")
        assert [c["suspicion"] for c in cards] == sorted((c["suspicion"] for c in cards), reverse=True)
        for card in cards:
            parts = card["purity"] * card["concentration"] * card["distinctness"]
            assert card["suspicion"] == pytest.approx(parts)
            assert [t["value"] for t in card["terms"]] == sorted((t["value"] for t in card["terms"]), reverse=True)
        for name in {t[2] for t in truth}:
            assert sum(c["size"] for c in cards if c["predicted"] == name) == sum(t[2] == name for t in truth)
    marked = [c for c in ask("/clusters") if c["marker"]]
    assert marked
    for card in marked:
        texts = [row["text"] for row in all_texts(ask, "/members", **grouping(card))]
        assert card["marker"]["precision"] == pytest.approx(np.mean(["film" in text for text in texts]))


def test_texts_of_clusters_are_those_of_the_reading_also_when_clustered_again(ask, survey, place, reviews, classifier):
    reading = survey.readings["salience"]
    view = SalienceView(reading)
    maps = SalienceMaps(reading, {"reviews": reviews}.get, Store(place / "store"), classifier.labels)
    cards = ask("/clusters", method="grad-l2", representation="salience-vocab")
    for card in cards:
        grouped = Grouped(*(card[name] for name in ("corpus", "method", "representation", "predicted")))
        rows = sorted(view.members(grouped, card["id"]).tolist())
        sizes = sorted((c["size"] for c in cards if c["predicted"] == card["predicted"]), reverse=True)
        again = maps.members(vars(grouped), card["id"], sizes, classifier)
        assert sorted(again.tolist()) == rows
        assert sorted(r["row"] for r in all_texts(ask, "/members", **grouping(card))) == rows
        assert maps.members(vars(grouped), card["id"], [1], classifier) is not None  # remembered
    # Clusters of another representation, which the reading does not list, have as many texts as it says.
    for card in ask("/clusters", method="grad-x-input", representation="cls"):
        assert ask("/members", **grouping(card))["total"] == card["size"]
    other = SalienceMaps(reading, {"reviews": reviews}.get, Store(place / "store"), classifier.labels)
    assert other.members(vars(grouped), 0, [1, 1, 1], classifier) is None, "not the reading's clusters"


def test_a_cluster_has_its_examples_coloured(ask, survey):
    card = ask("/clusters")[0]
    found = ask("/cluster", **grouping(card))
    assert found["card"] == card and found["examples"]
    for example in found["examples"]:
        assert "".join(span["text"] for span in example["spans"]).startswith(example["text"])
        assert max(abs(span["weight"]) for span in example["spans"]) == pytest.approx(1)
    ask("/cluster", **{**grouping(card), "id": 99}, status=404)


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("column", ["label", "answer"])
def test_texts_are_filtered_and_sorted_by_confidence(ask, truth, classifier, wrong, column):
    name = classifier.labels[0]
    fit = [t for t in truth if t[1 if column == "label" else 2] == name and (not wrong or t[1] != t[2])]
    for order, sign in (("surest", -1), ("least-sure", 1)):
        rows = all_texts(ask, corpus="reviews", wrong=wrong, order=order, **{column: name})
        assert {r["row"] for r in rows} == {t[0] for t in fit}
        shown = [r["probability"] for r in rows]
        assert shown == sorted(shown, key=lambda p: sign * p)
        assert shown == pytest.approx(sorted((t[3] for t in fit), key=lambda p: sign * p), abs=1e-5)


def test_texts_that_mention_a_word(ask, reviews):
    texts = reviews.texts()
    whole = {i for i, text in enumerate(texts) if "film" in text.split()}
    assert whole and whole < {i for i, text in enumerate(texts) if "film" in text}, "a word and not only a part of one"
    found = {r["row"] for r in all_texts(ask, corpus="reviews", word="FILM")}
    assert whole <= found and all("film" in texts[i] and "films" not in texts[i].split() for i in found - whole)
    assert ask("/texts", corpus="reviews", word="(film")["total"] == 0
    ask("/texts", corpus="nothing", status=404)
    ask("/texts", corpus="reviews", limit=1000, status=422)


def test_a_text_has_the_same_map_from_the_store_and_from_the_model(
    ask, place, survey, classifier, reviews, probabilities
):
    live = asker(place / "survey", Store(place / "elsewhere"), classifier)
    live.client.app.state.workspace.survey("survey")._corpora["reviews"] = reviews
    for row in (0, len(reviews) - 1):
        stored, made = ask("/text", corpus="reviews", row=row), live("/text", corpus="reviews", row=row)
        assert (stored["source"], made["source"]) == ("store", "model")
        assert [a["name"] for a in stored["answers"]] == classifier.labels
        for found in (stored, made):
            assert [a["probability"] for a in found["answers"]] == pytest.approx(probabilities[row].tolist(), abs=1e-5)
            assert [m["method"] for m in found["maps"]] == list(METHODS)
        for one, other in zip(stored["maps"], made["maps"], strict=True):
            assert "".join(s["text"] for s in one["spans"]) == reviews.text(row)
            assert [s["text"] for s in one["spans"]] == [s["text"] for s in other["spans"]]
            weights = [[s["weight"] for s in m["spans"]] for m in (one, other)]
            assert weights[0] == pytest.approx(weights[1], abs=1e-3)
    assert stored["text"] == HOSTILE
    ask("/text", corpus="reviews", row=len(reviews), status=404)


def test_without_store_and_model_the_reading_is_all_there_is(place, survey):
    ask = asker(place / "survey", Store(place / "elsewhere"))
    (place / "reviews.csv").rename(place / "gone.csv")
    try:
        about = ask()
    finally:
        (place / "gone.csv").rename(place / "reviews.csv")
    assert not about["live"] and "--model" in about["why_not_live"]
    assert "--store" in about["corpora"][0]["why_no_texts"]
    examples = survey.readings["salience"].tables["examples"].to_pylist()
    shown = ask("/text", corpus="reviews", row=examples[0]["row"])
    assert shown["source"] == "reading" and shown["text"] == examples[0]["text"]
    assert [s["weight"] for s in shown["maps"][0]["spans"]] == [w for _, w in coloured(examples[0])]
    other = next(row for row in range(120) if row not in {e["row"] for e in examples})
    bare = ask("/text", corpus="reviews", row=other)
    assert not bare["maps"] and "--store" in bare["note"] and bare["answers"][0]["name"] == bare["answer"]
    rows = ask("/texts", corpus="reviews", wrong=True)["rows"]
    assert rows and all(row["text"] is None for row in rows)
    assert ask("/texts", corpus="reviews", word="film")["note"]
    assert "--model" in ask("/try", {"text": "good"}, status=422)["detail"]
    assert "--model" in ask("/neighbours", corpus="reviews", row=other)["note"]
    body = {"term": "good", "corpus": "reviews", "toward": "LABEL_1"}
    assert "--model" in ask("/sensitivity", body, status=422)["detail"]


def test_neighbours_are_the_same_from_the_reading_and_from_the_store(ask, survey, place, classifier):
    table = survey.readings["salience"].tables["neighbours"].to_pylist()
    assert table
    bare = Survey(survey.title, {}, survey.manifest)
    reading = survey.readings["salience"]
    tables = {name: t for name, t in reading.tables.items() if name != "neighbours"}
    bare.readings["salience"] = type(reading)(tables, reading.findings, reading.manifest)
    bare.title = "survey"
    without = asker(bare, Store(place / "store"), classifier)
    for row in {r["row"] for r in table}:
        for method in METHODS:
            read, sought = (a("/neighbours", corpus="reviews", row=row, method=method) for a in (ask, without))
            assert (read["source"], sought["source"]) == ("reading", "store")
            by_name = {r["representation"]: r["rows"] for r in sought["representations"]}
            assert set(by_name) == set(REPRESENTATIONS)
            for one in read["representations"]:
                assert one["rows"] == by_name[one["representation"]]
                assert all(n["spans"] and "".join(s["text"] for s in n["spans"]) == n["text"] for n in one["rows"])
    ask("/neighbours", corpus="reviews", row=0, method="attention", status=422)


def test_neighbours_by_a_representation_that_the_reading_has_not(ask, classifier, reviews):
    assert "salience-embedding" in ask()["further_representations"]
    [found] = ask("/neighbours", corpus="reviews", row=5, representation="average-embedding")["representations"]
    # By hand: the mean input embedding of each text's pieces.
    table, tokens = classifier.input_embeddings, classifier.tokenise(reviews.texts())
    means = np.array(
        [table[tokens.ids[a:b]].mean(axis=0) for a, b in zip(tokens.bounds, tokens.bounds[1:], strict=False)]
    )
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    cosines = means @ means[5]
    cosines[5] = -1
    assert [n["row"] for n in found["rows"]] == np.argsort(-cosines)[:5].tolist()
    assert [n["cosine"] for n in found["rows"]] == pytest.approx(np.sort(cosines)[::-1][:5].tolist(), abs=1e-4)
    ask("/neighbours", corpus="reviews", row=5, representation="attention", status=422)


def test_trying_a_text_of_ones_own(ask, classifier):
    expected = explain(classifier, HOSTILE, methods=METHODS)
    found = ask("/try", {"text": HOSTILE, "methods": list(METHODS)})
    [p] = softmax(classifier.logits([HOSTILE]))
    assert [a["probability"] for a in found["answers"]] == pytest.approx(p.tolist(), abs=1e-5)
    assert found["answer"] == classifier.labels[p.argmax()] == found["target"]
    tokens = expected.tables["tokens"].to_pydict()
    for shown in found["maps"]:
        assert "".join(span["text"] for span in shown["spans"]) == HOSTILE
        whole = {**tokens, "weight": tokens[shown["method"]], "text": HOSTILE, "text_b": None}
        assert [s["weight"] for s in shown["spans"]] == pytest.approx([w for _, w in coloured(whole)], abs=1e-4)
    assert any(span["weight"] < 0 for span in found["maps"][1]["spans"]), "grad-x-input has a sign"
    other = classifier.labels[1 - p.argmax()]
    assert ask("/try", {"text": HOSTILE, "target": other})["target"] == other
    pair = ask("/try", {"text": "a good film", "text_b": "it is a pity"})
    assert "".join(s["text"] for s in pair["maps"][0]["spans"]).split("\n⁂\n") == ["a good film", "it is a pity"]


def test_what_cannot_be_tried_is_told(ask):
    for body in (
        {"text": ""},
        {"text": " "},
        {"text": "a" * 10_001},
        {"text": "a", "methods": []},
        {"text": "a", "methods": ["attention"]},
        {"text": "a", "target": "nobody"},
    ):
        assert ask("/try", body, status=422)["detail"]


def finished(ask, body):
    id, deadline = ask("/sensitivity", body)["id"], time.monotonic() + 100
    while (job := ask.client.get(f"/api/jobs/{id}").json())["state"] in ("waiting", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return job


def test_a_term_put_in_and_masked_is_as_the_instrument_measures_it(ask, classifier, reviews, truth):
    name, most = classifier.labels[1], 6
    job = finished(ask, {"term": " the ", "corpus": "reviews", "toward": name, "texts": most})
    assert job["state"] == "done", job
    found = job["result"]
    predicted = np.array([classifier.labels.index(t[2]) for t in truth])
    _, [expected] = sensitivity(
        {"asked": ["the"]}, reviews.texts(), None, predicted, 1, probe_of(classifier), insertions=most
    )
    insertion = found["asked"]["insertion"]
    shown = [insertion[key] for key in ("mean", "low", "high")]
    wanted = [expected.insertion, expected.insertion_low, expected.insertion_high]
    assert shown == pytest.approx(wanted, abs=1e-5) and insertion["texts"] == most
    own = [t[0] for t in truth if t[2] == name]
    assert found["of"] == len(own) >= found["searched"] and found["asked"]["masking"]["texts"] == most
    # A word that fewer texts have is masked in all of them, so that the mean is the instrument's.
    seldom = finished(ask, {"term": "film", "corpus": "reviews", "toward": name, "texts": 100})["result"]["asked"]
    _, [every] = sensitivity({"asked": ["film"]}, reviews.texts(), None, predicted, 1, probe_of(classifier), 1)
    assert seldom["masking"]["mean"] == pytest.approx(every.masking, abs=1e-5)
    assert (seldom["masking"]["texts"], seldom["count"]) == (every.masked, every.count)
    # Beside it are ordinary words of the corpus.
    words = found["baseline"]["terms"]
    assert len(set(words)) == 4 and all(any(w in text.lower() for text in reviews.texts()) for w in words)
    lists, _ = sensitivity({"ordinary": words}, reviews.texts(), None, predicted, 1, probe_of(classifier), most)
    assert found["baseline"]["insertion"]["mean"] == pytest.approx(lists[0].insertion, abs=1e-5)


def test_a_term_can_be_cancelled_and_faults_are_told(ask, classifier):
    name = classifier.labels[0]
    with ask.client.app.state.workspace.busy():
        # The model is not to be had, so the job waits for it and is still there to be cancelled.
        id = ask("/sensitivity", {"term": "plot", "corpus": "reviews", "toward": name, "texts": 40})["id"]
        ask.client.delete(f"/api/jobs/{id}")
    deadline = time.monotonic() + 60
    while (state := ask.client.get(f"/api/jobs/{id}").json()["state"]) in ("waiting", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert state == "cancelled"
    failed = finished(ask, {"term": "...", "corpus": "reviews", "toward": name, "texts": 20})
    assert failed["state"] == "failed" and "no word" in failed["error"]
    ask("/sensitivity", {"term": "a", "corpus": "reviews", "toward": "nobody"}, status=422)
    ask("/sensitivity", {"term": "a", "corpus": "nothing", "toward": name}, status=404)
    ask("/sensitivity", {"term": "a", "corpus": "reviews", "toward": name, "texts": 501}, status=422)


def test_what_the_reading_measured(ask, survey, classifier):
    found, tables = ask("/measured"), survey.readings["salience"].tables
    assert found["toward"] == classifier.labels[-1]
    assert len(found["faithfulness"]) == tables["faithfulness"].num_rows
    assert {row["method"] for row in found["faithfulness"]} == {*METHODS, "random"}
    assert len(found["positions"]) == tables["positions"].num_rows
    rows = {row["list"]: row for row in tables["sensitivity"].to_pylist()}
    assert {row["term"] for row in found["lists"]} == set(rows)
    for one in found["lists"]:
        assert one["insertion"]["mean"] == pytest.approx(rows[one["term"]]["insertion"])
        assert one["terms"] == rows[one["term"]]["terms"]


# --- pairs, regressions, and a class that is called all


def small_studio(folder, names, rows, columns):
    """Asks about a survey of a small head with random weights; rows of the file that its corpus is."""
    with (folder / "films.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])
    query = "&".join(f"{name}={name}" for name in columns)
    films = Corpus.read(f"{folder / 'films.csv'}?{query}", "films", cache=folder / "store")
    model = small_head(folder / "head", *names)
    asked = Salience(clusters=2, neighbours=("0",), faithful=5, map="none")
    Survey.run(model, [films], instruments=[asked], store=Store(folder / "store")).save(folder / "survey")
    return asker(folder / "survey", Store(folder / "store"), model)


def test_a_word_is_looked_for_in_both_texts_of_a_pair_and_both_are_shown(tmp_path):
    rows = [(text, f"row {i} is {'blue' if i % 4 == 0 else 'red'}", "ab"[i % 2]) for i, text in enumerate(TEXTS)]
    asked = small_studio(tmp_path, ("a", "b"), rows, ("text", "text_b", "label"))
    found = asked("/texts", corpus="films", word="blue", limit=100)
    assert sorted(row["row"] for row in found["rows"]) == list(range(0, len(TEXTS), 4))
    assert all(row["text"] == " ‖ ".join(rows[row["row"]][:2]) for row in found["rows"])
    red = asked("/texts", corpus="films", word="red", limit=100)
    assert sorted(r["row"] for r in red["rows"]) == [
        i for i, row in enumerate(rows) if "red" in f"{row[0]} {row[1]}".split()
    ]


def test_a_regression_has_its_numbers_for_labels_and_none_are_wrong(tmp_path):
    rows = [(text, f"{i / 8}") for i, text in enumerate(TEXTS)]
    asked = small_studio(tmp_path, ("value",), rows, ("text", "label"))
    assert asked()["classes"] == []
    [whole] = asked()["scores"]
    assert whole["correlation_low"] < whole["correlation"] < whole["correlation_high"]
    found = asked("/texts", corpus="films", limit=100)["rows"]
    assert {row["row"]: row["label"] for row in found} == {i: f"{i / 8:.3g}" for i in range(len(TEXTS))}
    assert not any(row["wrong"] for row in found)
    assert asked("/text", corpus="films", row=3)["label"] == "0.375"
    near = asked("/neighbours", corpus="films", row=0, method="grad-l2")["representations"][0]["rows"]
    later = asked("/neighbours", corpus="films", row=1, method="grad-l2")["representations"][0]["rows"]
    for one in (*near, *later):
        assert one["label"] == f"{one['row'] / 8:.3g}" and not one["wrong"]


def test_a_class_that_is_called_all_is_one_of_the_classes(tmp_path):
    rows = [(text, ("all", "none")[i % 2]) for i, text in enumerate(TEXTS)]
    asked = small_studio(tmp_path, ("all", "none"), rows, ("text", "label"))
    assert asked()["classes"] == ["all", "none"]
    assert {answer["name"] for answer in asked("/text", corpus="films", row=0)["answers"]} == {"all", "none"}

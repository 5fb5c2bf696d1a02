"""The API of the map page, against plain definitions, on a real encoder's survey."""

from __future__ import annotations

import csv
import io
import json
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from theodolite import Corpus, Store, Survey
from theodolite.demo import demo_corpora
from theodolite.illusion import Illusion
from theodolite.illusion.reading import IllusionReading
from theodolite.running import run
from theodolite.salience.reading import SalienceReading
from theodolite.studio.app import make_studio
from theodolite.studio.directions_prepare import Vectors
from theodolite.studio.map_texts import chosen

TEXTS = 120
HOSTILE = '<script>alert(1)</script>, "quoted"\u202e and\na new line'


@pytest.fixture(scope="module")
def corpora():
    questions, _, fiction, _ = demo_corpora()
    labels = ["who" if "who" in t.lower() else "other" for t in questions.texts(0, TEXTS)]
    return [
        Corpus.of([HOSTILE, *questions.texts(1, TEXTS)], "questions", labels=labels),
        Corpus.of(fiction.texts(0, TEXTS), "fiction"),
    ]


@pytest.fixture(scope="module")
def opened(corpora, minilm, tmp_path_factory):
    """A survey with a map of most of the texts, and its store, which has their vectors as illusion keeps them."""
    store = Store(tmp_path_factory.mktemp("store"))
    [vectors] = run([Vectors()], minilm, corpora, store=store)
    random = np.random.default_rng(0)
    rows = [np.delete(np.arange(TEXTS), [4, 9]) for _ in corpora]
    places = random.standard_normal((2, sum(map(len, rows)))).astype(np.float32)
    table = pa.table(
        {
            "corpus": pa.array(np.repeat([c.name for c in corpora], list(map(len, rows)))).dictionary_encode(),
            "row": np.concatenate(rows),
            "x": places[0],
            "y": places[1],
        }
    )
    manifest = {**vectors.manifest, "instrument": "illusion", "options": Illusion().options}
    reading = IllusionReading({"map": table}, [], manifest)
    return Survey("a survey", {"illusion": reading}, {**manifest, "title": "a survey"}), store


@pytest.fixture(scope="module")
def client(opened, corpora, tmp_path_factory):
    return studio(*opened, corpora, tmp_path_factory.mktemp("studies"))


@pytest.fixture(scope="module")
def vectors(corpora, minilm):
    return {c.name: minilm.embed(c.texts(), pooling="own") for c in corpora}


def studio(survey, store, corpora, folder):
    app = make_studio([survey], store=store, database=str(folder / "studies.db"))
    for one in app.state.workspace.surveys.values():
        # Corpora made in memory have no file to be found again in.
        one._corpora.update({corpus.name: corpus for corpus in corpora})
    return TestClient(app, base_url="http://127.0.0.1:8400")


def at(client, rest=""):
    [slug] = client.app.state.workspace.surveys
    return f"/api/surveys/{slug}/map{rest}"


def ask(client, rest, **how):
    answer = client.get(at(client, rest), **how)
    assert answer.status_code == 200, answer.text
    return answer


def done(client, job):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = client.get(f"/api/jobs/{job['id']}").json()
        if found["state"] not in ("waiting", "running"):
            return found
        time.sleep(0.05)
    raise AssertionError("the job does not end")


def places(survey):
    return survey.readings["illusion"].tables["map"].to_pylist()


def test_points_are_the_readings_map(client, opened):
    rows = places(opened[0])
    body, n = ask(client, "/points").content, len(rows)
    assert len(body) == 10 * n
    assert np.array_equal(np.frombuffer(body, "<f4", n), np.array([r["x"] for r in rows], np.float32))
    assert np.array_equal(np.frombuffer(body, "<f4", n, 4 * n), np.array([r["y"] for r in rows], np.float32))
    names = ["questions", "fiction"]
    assert [names[i] for i in np.frombuffer(body, "<u2", n, 8 * n)] == [r["corpus"] for r in rows]
    about = ask(client, "").json()
    assert about["count"] == n
    assert about["bounds"]["left"] == pytest.approx(min(r["x"] for r in rows))
    assert about["bounds"]["top"] == pytest.approx(max(r["y"] for r in rows))


def test_points_are_kept_by_the_browser(client):
    first = ask(client, "/points")
    again = client.get(at(client, "/points"), headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = client.get(at(client, "/points"), headers={"if-none-match": '"other"'})
    assert other.status_code == 200


def test_labels_colour_the_corpus_that_has_them(client, opened, corpora):
    about = ask(client, "").json()
    label = next(c for c in about["colourings"] if c["id"] == "label")
    codes = np.frombuffer(ask(client, "/colours/label").content, "<u2")
    labels = corpora[0].column("label").to_pylist()
    expected = [labels[r["row"]] if r["corpus"] == "questions" else None for r in places(opened[0])]
    names = [c["name"] for c in label["categories"]]
    assert [names[c] if c != 65535 else None for c in codes] == expected
    assert {c["name"]: c["count"] for c in label["categories"]} == {
        name: expected.count(name) for name in ("other", "who")
    }
    assert client.get(at(client, "/colours/nothing")).status_code == 404


@pytest.mark.parametrize("name", ["neuron 7", "random 3", "pc 2"])
def test_scores_are_dot_products(name, client, opened, vectors):
    rows = places(opened[0])
    mine = np.array([vectors[r["corpus"]][r["row"]] for r in rows], np.float64)
    kind, number = name.split()
    if kind == "neuron":
        direction = np.eye(mine.shape[1])[int(number)]
    elif kind == "random":
        direction = np.random.default_rng(np.random.SeedSequence([0, int(number)])).standard_normal(mine.shape[1])
        direction /= np.linalg.norm(direction)
    else:
        direction = np.linalg.svd(mine - mine.mean(axis=0))[2][int(number) - 1]
        direction *= np.sign(direction[np.abs(direction).argmax()])
    scores = np.frombuffer(ask(client, f"/scores?direction={name}").content, "<f4")
    assert np.abs(scores - mine @ direction).max() < 1e-4
    about = ask(client, f"/scores/about?direction={name}").json()
    assert about["median"] == pytest.approx(float(np.median(scores)), abs=1e-6)
    assert about["scored"] == len(rows)


@pytest.mark.parametrize("name", ["neuron 9999", "pc 0", "nonsense", "random -1"])
def test_a_direction_that_is_none_is_told(name, client):
    answer = client.get(at(client, f"/scores?direction={name}"))
    assert answer.status_code == 422
    assert "wanted" in answer.json()["detail"]


def test_a_neuron_that_never_changes_is_told(opened, corpora, tmp_path):
    alone = changed(opened[0])
    reading = alone.readings["illusion"]
    reading.tables["map"] = reading.tables["map"].slice(0, 1)
    client = studio(alone, opened[1], corpora, tmp_path)
    answer = client.get(at(client, "/scores?direction=neuron 7"))
    assert answer.status_code == 422 and "never changes" in answer.json()["detail"]


def changed(survey, **options):
    """The same survey, its reading with other options."""
    reading = survey.readings["illusion"]
    manifest = {**reading.manifest, "options": {**reading.manifest["options"], **options}}
    return Survey("a survey", {"illusion": IllusionReading(dict(reading.tables), [], manifest)}, survey.manifest)


def test_a_typed_concept_separates_its_texts_in_its_own_space_only(client, opened, corpora, tmp_path):
    texts = [f"Is this the question number {n}?" for n in ("one", "two", "three", "four", "five")]
    others = [f"The {n} rode over the hill at dawn." for n in ("knight", "king", "queen", "horseman", "page")]
    job = client.post(at(client, "/concepts"), json={"texts": texts, "others": others}).json()
    found = done(client, job)
    assert found["state"] == "done", found
    scores = np.frombuffer(ask(client, f"/scores?direction={found['result']['name']}").content, "<f4")
    corpus = np.frombuffer(ask(client, "/points").content, "<u2", len(scores), 8 * len(scores))
    assert scores[corpus == 0].mean() > scores[corpus == 1].mean()
    # The store is the same, and there it is a direction among the vectors of another layer.
    other = studio(changed(opened[0], layer=3), opened[1], corpora, tmp_path)
    refused = other.get(at(other, f"/scores?direction={found['result']['name']}"))
    assert refused.status_code == 404 and "another space" in refused.json()["detail"]


def test_vectors_that_the_store_lacks_are_computed(opened, corpora, tmp_path):
    lacking = studio(opened[0], Store(tmp_path / "store"), corpora, tmp_path)
    assert client_state(lacking) == (False, None)
    refused = lacking.get(at(lacking, "/scores?direction=neuron 7"))
    assert refused.status_code == 404
    job = lacking.post(at(lacking, "/vectors"))
    assert job.status_code == 202
    assert done(lacking, job.json())["state"] == "done"
    assert client_state(lacking) == (True, None)
    assert ask(lacking, "/scores?direction=neuron 7").content


def client_state(client):
    state = ask(client, "/vectors").json()
    return state["stored"], state["reason"]


def test_texts_of_points(client, opened, corpora):
    rows = places(opened[0])
    asked = [len(rows) - 1, 0, 5]
    found = client.post(at(client, "/texts"), json={"points": asked}).json()
    texts = {c.name: c for c in corpora}
    assert [t["point"] for t in found] == asked
    assert [t["text"] for t in found] == [texts[rows[i]["corpus"]].text(rows[i]["row"]) for i in asked]
    assert found[1]["text"] == HOSTILE
    assert found[1]["values"] == {"Label": "other"}
    [cut] = client.post(at(client, "/texts"), json={"points": [0], "longest": 8}).json()
    assert (cut["text"], cut["length"]) == ("<script>", len(HOSTILE))


@pytest.mark.parametrize("points", [[10**6], [-1], [2**63], list(range(201))])
def test_points_that_are_none_are_told(points, client):
    assert client.post(at(client, "/texts"), json={"points": points}).status_code == 422


@pytest.mark.parametrize("sought", ["WHO", "the", "<script>", "(", "no such text at all"])
def test_search_is_by_characters_in_any_case(sought, client, opened, corpora):
    texts = {c.name: c for c in corpora}
    expected = [
        i for i, r in enumerate(places(opened[0])) if sought.lower() in texts[r["corpus"]].text(r["row"]).lower()
    ]
    answer = client.get(at(client, "/search"), params={"q": sought})
    assert np.frombuffer(answer.content, "<u4").tolist() == expected


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_selection_as_a_file(kind, client, opened, corpora):
    rows = places(opened[0])
    picked = [0, 3, len(rows) - 1]
    bits = np.zeros(len(rows), bool)
    bits[picked] = True
    answer = client.post(
        at(client, "/export"),
        params={"format": kind, "direction": "neuron 7"},
        content=np.packbits(bits, bitorder="little").tobytes(),
        headers={"content-type": "application/octet-stream"},
    )
    assert answer.headers["content-disposition"].startswith("attachment")
    if kind == "csv":
        found = list(csv.DictReader(io.StringIO(answer.text)))
    elif kind == "jsonl":
        found = [json.loads(line) for line in answer.text.split("\n")[:-1]]
    else:
        found = pq.read_table(io.BytesIO(answer.content)).to_pylist()
    scores = np.frombuffer(ask(client, "/scores?direction=neuron 7").content, "<f4")
    texts = {c.name: c for c in corpora}
    for row, point in zip(found, picked, strict=True):
        place = rows[point]
        assert row["text"] == texts[place["corpus"]].text(place["row"])
        assert (row["corpus"], int(row["row"])) == (place["corpus"], place["row"])
        assert float(row["x"]) == pytest.approx(place["x"])
        assert float(row["neuron 7"]) == pytest.approx(float(scores[point]))
    assert found[0]["label"] == "other"


def test_a_selection_of_another_map_is_refused(client):
    answer = client.post(at(client, "/export"), content=b"\1", headers={"content-type": "application/octet-stream"})
    assert answer.status_code == 422
    assert "a bit a point" in answer.json()["detail"]


def test_bits_go_from_the_lowest():
    assert chosen(bytes([0b10000001, 0b1]), 9).tolist() == [0, 7, 8]


def classifier_survey(opened, corpora):
    """The survey with what a reading of salience knows of half of the texts of the first corpus."""
    survey, _ = opened
    rows = list(range(0, TEXTS, 2))
    table = {
        "corpus": ["questions"] * len(rows),
        "row": rows,
        "label": ["yes"] * len(rows),
        "answer": ["yes" if row % 4 else "no" for row in rows],
        "probability": [0.5 + row / 1000 for row in rows],
        "cluster": [row % 3 for row in rows],
        "x": [float(row) for row in rows],
        "y": [1.0] * len(rows),
    }
    clusters = [
        {"corpus": "questions", "method": "m", "representation": "r", "predicted": answer, "id": i, "terms": ["good"]}
        for answer in ("yes", "no")
        for i in range(3)
    ]
    manifest = {**survey.readings["illusion"].manifest, "instrument": "salience", "options": {"seed": 0}}
    salience = SalienceReading({"texts": pa.table(table), "clusters": pa.Table.from_pylist(clusters)}, [], manifest)
    return Survey(survey.title, {**survey.readings, "salience": salience}, survey.manifest), rows


def test_a_classifiers_answers_colour_the_map(opened, corpora, tmp_path):
    survey, rows = classifier_survey(opened, corpora)
    both = studio(survey, opened[1], corpora, tmp_path)
    about = ask(both, "").json()
    assert about["readings"] == ["illusion", "salience"]
    colourings = {c["id"]: c for c in about["colourings"]}
    names = [c["name"] for c in colourings["prediction"]["categories"]]
    codes = np.frombuffer(ask(both, "/colours/prediction").content, "<u2")
    expected = [
        ("yes" if p["row"] % 4 else "no") if p["corpus"] == "questions" and p["row"] in rows else None
        for p in places(survey)
    ]
    assert [names[c] if c != 65535 else None for c in codes] == expected
    assert {c["name"] for c in colourings["outcome"]["categories"]} == {"right", "yes taken for no"}
    assert "no 0: good" in [c["name"] for c in colourings["cluster"]["categories"]]
    sure = np.frombuffer(ask(both, "/colours/probability").content, "<f4")
    known = [e is not None for e in expected]
    assert np.isfinite(sure).tolist() == known
    own = ask(both, "?reading=salience").json()
    assert own["count"] == len(rows)
    assert own["bounds"] == {"left": 0.0, "right": float(rows[-1]), "bottom": 1.0, "top": 1.0}
    # The salience map's texts have vectors too: those of the illusion reading.
    assert len(ask(both, "/scores?direction=neuron 7&reading=salience").content) == 4 * len(rows)


def test_a_survey_without_a_map_says_so(opened, corpora, tmp_path):
    survey, store = opened
    reading = survey.readings["illusion"]
    tables = {name: table for name, table in reading.tables.items() if name != "map"}
    without = Survey("none", {"illusion": IllusionReading(tables, [], reading.manifest)}, survey.manifest)
    answer = studio(without, store, corpora, tmp_path).get("/api/surveys/none/map")
    assert answer.status_code == 404
    assert "no map" in answer.json()["detail"]

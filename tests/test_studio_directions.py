"""The directions page's API, against the reading's own tables and against plain definitions."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from studio_jobs import ended

from theodolite import Corpus, Store, Survey
from theodolite.demo import demo_corpus
from theodolite.illusion import Illusion
from theodolite.illusion.concepts import held_out_accuracy, separator
from theodolite.illusion.features import Feature
from theodolite.illusion.reading import MEANING, IllusionReading
from theodolite.reading import write_json
from theodolite.studio.app import make_studio
from theodolite.studio.directions_concepts import Concepts, ConceptSpace
from theodolite.studio.directions_marks import Marker, features_named
from theodolite.studio.faults import NotFound

TEXTS, TOP, MIN_COUNT = 250, 10, 20
MONEY = [
    "The bank lent her enough for a small shop.",
    "Interest on the loan rose again in spring.",
    "He counted the coins and paid in cash.",
    "Their savings lost a tenth of their value.",
    "The invoice was due at the end of the month.",
    "She asked for a receipt and got her change.",
]
NATURE = [
    "The river rose over its banks in the night.",
    "A heron stood without moving in the reeds.",
    "Snow lay on the upper slopes until June.",
    "The path led through birches to a lake.",
    "Foxes come down to the village in winter.",
]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("directions")


@pytest.fixture(scope="module")
def corpora(place) -> list[Corpus]:
    made = []
    for name in ("questions", "fiction"):
        (place / f"{name}.txt").write_text("\n".join(demo_corpus(name).texts(0, TEXTS)), encoding="utf-8")
        made.append(Corpus.read(place / f"{name}.txt", name, cache=place / "store"))
    return made


@pytest.fixture(scope="module")
def survey(place, corpora, minilm) -> Survey:
    asked = Illusion(directions="neurons,random:4", top=TOP, min_count=MIN_COUNT, map="none")
    made = Survey.run(minilm, corpora, instruments=[asked], store=Store(place / "store"))
    made.save(place / "survey")
    return made


@pytest.fixture(scope="module")
def client(place, survey):
    return _client(place, place / "store")


@pytest.fixture(scope="module")
def ready(client):
    """The same, once vectors and texts were read."""
    assert client.get(f"{URL}/live").json() == {
        "ready": False,
        "stored": True,
        "texts": 2 * TEXTS,
        "reason": None,
        "job": None,
    }
    assert client.get(f"{URL}/one", params={"name": "random 9"}).json() is None
    assert client.get(f"{URL}/curves", params={"name": "neuron 9"}).status_code == 409
    assert ended(client, client.post(f"{URL}/live"))["state"] == "done"
    assert client.get(f"{URL}/live").json()["ready"]
    return client


URL = "/api/surveys/survey/directions"


def _client(place: Path, store: Path) -> TestClient:
    app = make_studio([place / "survey"], store=Store(store), database=f"sqlite:///{place / 'studies.db'}")
    return TestClient(app, base_url="http://127.0.0.1:8400")


def _one(client, name: str) -> dict:
    answer = client.get(f"{URL}/one", params={"name": name})
    assert answer.status_code == 200, answer.text
    return answer.json()


def _text(sentence: dict) -> str:
    return "".join(span["text"] for span in sentence["spans"])


def test_a_page_says_what_the_tables_say(client, survey):
    tables = {name: table.to_pylist() for name, table in survey.readings["illusion"].tables.items()}
    for verdict in tables["verdicts"][::40]:
        page = _one(client, verdict["direction"])
        assert (page["verdict"], page["meaning"]) == (verdict["verdict"], MEANING[verdict["verdict"]])
        assert (page["pattern"], page["carried_to"]) == (verdict["pattern"], verdict["carried_to"])
        assert page["locality"] == verdict["locality"]
        assert not page["live"]
        for shown in page["corpora"]:
            of = [("direction", verdict["direction"]), ("corpus", shown["corpus"])]
            mine = {n: [r for r in t if all(r.get(k) == v for k, v in of)] for n, t in tables.items()}
            for end in ("top", "bottom"):
                said = [(s["row"], s["score"], s["deviations"], _text(s)) for s in shown[end]]
                assert said == [(r["row"], r["score"], r["deviations"], r["text"]) for r in mine[end]]
                assert len(said) == TOP
            assert [(p["pattern"], p["hits"]) for p in shown["patterns"]] == [
                (r["pattern"], r["hits"]) for r in mine["patterns"]
            ]
            assert (shown["locality"], shown["control"]) == (
                mine["locality"][0]["locality"],
                mine["locality"][0]["control"],
            )


def test_as_many_sentences_are_marked_as_the_pattern_has_hits(client, survey):
    checked = 0
    for row in survey.readings["illusion"].tables["verdicts"].to_pylist():
        if not row["corpora_with_patterns"]:
            continue
        for shown in _one(client, row["direction"])["corpora"]:
            for number, pattern in enumerate(shown["patterns"]):
                showing = [s for s in shown["top"] if number in s["shows"]]
                assert len(showing) == pattern["hits"], (row["direction"], pattern)
                if pattern["kind"] != "form":
                    assert all(any(span["marked"] for span in s["spans"]) for s in showing)
                checked += 1
    assert checked >= 10


def test_the_list_is_filtered_sorted_and_cut_into_pages(client, survey):
    rows = survey.readings["illusion"].tables["verdicts"].to_pylist()
    patterns = survey.readings["illusion"].tables["patterns"].to_pylist()

    def names(**asked) -> list[str]:
        found, total = [], 1
        while len(found) < total:
            page = client.get(URL, params={"limit": 37, "offset": len(found), **asked}).json()
            total = page["total"]
            found += [one["name"] for one in page["directions"]]
        return found

    assert names() == [f"neuron {i}" for i in range(384)] + [f"random {i}" for i in range(4)]
    assert names(kind="random") == [f"random {i}" for i in range(4)]
    for verdict in {r["verdict"] for r in rows}:
        assert set(names(verdict=verdict)) == {r["direction"] for r in rows if r["verdict"] == verdict}
    word = next(r["pattern"].rsplit(" ", 1)[1] for r in patterns if r["kind"] != "form")
    with_word = {r["direction"] for r in patterns if word in r["pattern"]}
    assert set(names(word=word.upper())) == with_word
    strongest = {d: min(r["p_adjusted"] for r in patterns if r["direction"] == d) for d in with_word}
    by_strength = names(word=word, sort="pattern")
    assert [strongest[name] for name in by_strength] == sorted(strongest.values())
    localities = {r["direction"]: r["locality"] for r in rows}
    falling = [localities[name] for name in names(sort="locality", descending=True)]
    assert falling == sorted(falling, reverse=True)


def test_the_overview_has_the_rates_with_intervals_and_the_baseline(client, survey):
    found = client.get(f"{URL}/overview").json()
    rates = {r["kind"]: r for r in survey.readings["illusion"].tables["illusion_rate"].to_pylist()}
    assert [r["kind"] for r in found["rates"]] == ["neuron", "random"]
    for rate in found["rates"]:
        mine = rates[rate["kind"]]
        assert rate["with_pattern"] == mine["with_pattern"]
        if mine["with_pattern"]:
            assert (rate["rate"], rate["low"], rate["high"]) == tuple(
                mine[f"illusion_rate{end}"] for end in ("", "_low", "_high")
            )
        assert rate["random_sets"] == mine["random_sets_with_pattern"]
    assert found["dim"] == 384
    assert sum(v["directions"] for v in found["verdicts"]) == 388


def test_a_direction_beyond_the_readings_equals_a_plain_scan(ready, corpora, minilm):
    drawn = np.random.default_rng(np.random.SeedSequence([0, 9])).standard_normal(384)
    vectors = {c.name: minilm.embed(c.texts()).astype(np.float64) for c in corpora}
    together = np.concatenate(list(vectors.values()))
    component = np.linalg.svd(together - together.mean(axis=0))[2][0]
    component *= np.sign(component[np.abs(component).argmax()])
    for name, direction in (("random 9", drawn / np.linalg.norm(drawn)), ("pc 1", component)):
        page = _one(ready, name)
        assert page["live"]
        assert page["verdict"] in MEANING
        for shown in page["corpora"]:
            scores = vectors[shown["corpus"]] @ direction
            kept = ~next(c for c in corpora if c.name == shown["corpus"]).duplicate
            order = np.flatnonzero(kept)[np.argsort(-scores[kept], kind="stable")]
            assert [s["row"] for s in shown["top"]] == order[:TOP].tolist()
            assert [s["row"] for s in shown["bottom"]] == order[::-1][:TOP].tolist()
            best = shown["top"][0]
            assert best["score"] == pytest.approx(scores[order[0]], abs=1e-4)
            out = (scores[order[0]] - scores[kept].mean()) / scores[kept].std(ddof=1)
            assert best["deviations"] == pytest.approx(out, rel=0.01)


def test_curves_and_histograms_equal_plain_definitions(ready, corpora, minilm):
    answer = ready.get(f"{URL}/curves", params={"name": "neuron 7"}).json()
    assert answer["min_count"] == MIN_COUNT
    tokens = {c["label"] for c in answer["curves"] if c["kind"] == "token"}
    assert 1 <= len(tokens) <= 4
    for corpus in corpora:
        kept = np.flatnonzero(~corpus.duplicate)
        texts = [corpus.text(int(row)) for row in kept]
        vectors = minilm.embed(texts).astype(np.float64)
        order = np.argsort(vectors[:, 7], kind="stable")
        fifth = np.empty(len(order), int)
        fifth[order] = 5 * np.arange(len(order)) // len(order)
        for curve in (c for c in answer["curves"] if c["corpus"] == corpus.name and c["kind"] == "token"):
            counts = [0] * 5
            for text, group in zip(texts, fifth, strict=True):
                ids = minilm.tokenise([text]).ids
                counts[group] += sum(minilm.tokenizer.piece(int(i)) == curve["label"] for i in ids)
            assert curve["counts"] == counts
            rises, falls = np.all(np.diff(counts) > 0), np.all(np.diff(counts) < 0)
            assert curve["change"] == int(rises) - int(falls)
        shown = next(h for h in answer["histograms"] if h["corpus"] == corpus.name)
        top = np.argsort(-vectors[:, 7], kind="stable")[:TOP]
        products = vectors[top] @ vectors.T
        products[np.arange(TOP), top] = -np.inf
        near = np.sort(products, axis=1)[:, -TOP:].ravel()
        pairs = (vectors[top] @ vectors[top].T)[np.triu_indices(TOP, 1)]
        edges = np.linspace(shown["low"], shown["high"], 51)
        for kind, values in (("nearest", near), ("top", pairs)):
            plain = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0] / len(values)
            # A value on an edge may fall to either side of it: vectors were stored with fewer digits.
            assert np.abs(np.cumsum(plain) - np.cumsum(shown[kind])).max() <= 2 / len(values)
        assert sum(shown["random"]) == pytest.approx(1)
        low, high = (np.minimum, np.maximum)
        score = low(shown["nearest"], shown["top"]).sum() / high(shown["nearest"], shown["top"]).sum()
        assert shown["locality"] == pytest.approx(score, abs=1e-9)


def test_live_localities_are_those_of_the_reading_but_for_the_draw(ready, survey):
    table = survey.readings["illusion"].tables["locality"].to_pylist()
    for name in ("random 3", "neuron 100"):
        for shown in ready.get(f"{URL}/curves", params={"name": name}).json()["histograms"]:
            near = next(r for r in table if (r["direction"], r["corpus"]) == (name, shown["corpus"]))
            # Random sentences are drawn anew, and with them come other edges of the bins.
            assert shown["locality"] == pytest.approx(near["locality"], abs=0.12)


def test_a_concept_is_fitted_on_all_and_judged_on_held_out_texts(ready, place, minilm):
    asked = {"title": " money ", "texts": [*MONEY, MONEY[0], "  "], "others": NATURE}
    job = ended(ready, ready.post(f"{URL}/concepts", json=asked))
    assert job["state"] == "done", job["error"]
    name = job["result"]["name"]
    page = _one(ready, name)
    vectors = minilm.embed([*MONEY, *NATURE]).astype(np.float64)
    labels = np.repeat([1, 0], [len(MONEY), len(NATURE)])
    told = page["separator"]
    assert (told["title"], told["texts"], told["others"]) == ("money", MONEY, NATURE)
    assert told["accuracy"] == pytest.approx(held_out_accuracy(vectors, labels, 0))
    assert told["low"] < told["accuracy"] <= told["high"]
    assert told["guessing"] == len(MONEY) / len(labels)
    assert told["in_corpora"] == 0
    direction = separator(vectors, labels)
    for shown in page["corpora"]:
        scores = minilm.embed([_text(s) for s in shown["top"]]).astype(np.float64) @ direction
        assert [s["score"] for s in shown["top"]] == pytest.approx(scores.tolist(), abs=1e-3)
        assert (np.diff(scores) < 1e-3).all()
    assert ready.get(f"{URL}/curves", params={"name": name}).status_code == 200
    # A link to it stays good in another studio on the same store.
    other = _client(place, place / "store")
    assert _one(other, name) is None
    ended(other, other.post(f"{URL}/live"))
    assert _one(other, name)["separator"] == told


def test_a_concept_is_not_measured_in_another_space(ready, place, survey):
    learnt = ended(ready, ready.post(f"{URL}/concepts", json={"texts": MONEY, "others": NATURE}))["result"]["name"]
    reading = survey.readings["illusion"]
    about, options = reading.manifest["encoder"], reading.manifest["options"]
    for changed in (
        {"options": {**options, "layer": 3}},
        {"options": {**options, "pooling": "mean"}},
        {"encoder": {**about, "hash": "0" * 64}},
        {"encoder": {**about, "window": "64/32"}},
    ):
        other = IllusionReading(reading.tables, reading.findings, {**reading.manifest, **changed})
        app = make_studio([Survey("other", {"illusion": other}, survey.manifest)], store=Store(place / "store"))
        client = TestClient(app, base_url="http://127.0.0.1:8400")
        for page in ("one", "curves"):
            answer = client.get(f"/api/surveys/other/directions/{page}", params={"name": learnt})
            assert answer.status_code == 404 and "another space" in answer.json()["detail"], (changed, answer.text)


def test_a_saved_concept_is_found_in_its_own_space_only(tmp_path):
    store, name = Store(tmp_path), "concept 0123456789ab"
    space = ConceptSpace("model", "tokenizer", "256/128", -1, "own")
    told = {"title": "x", "texts": ["a"], "others": ["b"], "accuracy": 1, "low": 0.5, "high": 1, "guessing": 0.5,
            "stability": 1, "in_corpora": 0}  # fmt: skip
    file = store.folder("concepts") / "0123456789ab.json"
    saved = {"separator": told, "direction": [1.0, 0.0]}
    write_json(file, {**saved, "space": asdict(space)})
    assert Concepts(store).get(name, space)[1].tolist() == [1, 0]
    for other in (replace(space, model="other"), replace(space, window="64/32"), replace(space, layer=3)):
        with pytest.raises(NotFound, match="another space"):
            Concepts(store).get(name, other)
    # One that was kept before spaces were written down may be of any.
    write_json(file, saved)
    with pytest.raises(NotFound, match="another space"):
        Concepts(store).get(name, space)


def test_a_list_that_means_nothing_is_not_held_out_well(ready, minilm):
    texts, others = [*MONEY[::2], *NATURE[::2]], [*MONEY[1::2], *NATURE[1::2]]
    job = ended(ready, ready.post(f"{URL}/concepts", json={"texts": texts, "others": others}))
    told = _one(ready, job["result"]["name"])["separator"]
    vectors = minilm.embed([*texts, *others]).astype(np.float64)
    labels = np.repeat([1, 0], [len(texts), len(others)])
    assert told["accuracy"] == pytest.approx(held_out_accuracy(vectors, labels, 0))
    # On the texts that it was fitted on it would be perfect.
    assert told["accuracy"] < 0.8
    assert told["stability"] < 0.9


def test_a_concept_says_which_of_its_texts_are_in_the_corpora(ready, corpora):
    known = [corpora[0].text(row) for row in (1, 2, 3, 4, 5)]
    job = ended(ready, ready.post(f"{URL}/concepts", json={"texts": known, "others": NATURE}))
    assert _one(ready, job["result"]["name"])["separator"]["in_corpora"] == 5


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"texts": MONEY[:4], "others": NATURE}, "at least 5"),
        ({"texts": [MONEY[0]] * 9, "others": NATURE}, "1 different"),
        ({"texts": [*MONEY, "x" * 5001], "others": NATURE}, "5001 characters"),
        ({"texts": [str(i) for i in range(201)], "others": NATURE}, "200"),
        ({"title": "x" * 81, "texts": MONEY, "others": NATURE}, "80"),
    ],
)
def test_a_concept_out_of_bounds_is_refused(client, asked, said):
    answer = client.post(f"{URL}/concepts", json=asked)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("neuron 384", 422),
        ("random 10000", 422),
        ("pc 0", 422),
        ("pc 385", 422),
        ("a/../b", 422),
        ("concept 0123456789ab", 404),
    ],
)
def test_a_direction_that_cannot_be_is_told(ready, name, status):
    answer = ready.get(f"{URL}/one", params={"name": name})
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_vectors_that_the_store_lacks_are_computed_by_a_job(place, survey, ready, tmp_path):
    # The texts are found at their source; of the vectors this store knows nothing.
    other = _client(place, tmp_path / "empty")
    assert other.get(f"{URL}/live").json()["stored"] is False
    assert ended(other, other.post(f"{URL}/live"))["state"] == "done"
    mine, theirs = (_one(one, "random 9") for one in (ready, other))
    assert [[s["row"] for s in c["top"]] for c in mine["corpora"]] == [
        [s["row"] for s in c["top"]] for c in theirs["corpora"]
    ]


def test_without_the_encoder_the_tables_are_shown_and_the_rest_is_explained(place, survey, tmp_path):
    manifest = survey.readings["illusion"].manifest
    strange = {**manifest, "encoder": {**manifest["encoder"], "hash": "0" * 64}}
    survey.readings["illusion"].manifest = strange
    try:
        app = make_studio([survey], store=Store(tmp_path), database=f"sqlite:///{tmp_path / 'studies.db'}")
        other = TestClient(app, base_url="http://127.0.0.1:8400")
        url = f"/api/surveys/{next(iter(app.state.workspace.surveys))}/directions"
        assert other.get(f"{url}/one", params={"name": "neuron 3"}).status_code == 200
        assert "--model" in other.get(f"{url}/live").json()["reason"]
        assert "--model" in ended(other, other.post(f"{url}/live"))["error"]
    finally:
        survey.readings["illusion"].manifest = manifest


def test_marks_stand_where_the_pattern_is():
    text = "New York's bank, New york and <b>NEW</b>\u202e York’s"
    marker = Marker(text)
    marked = [span.text for span in marker.spans(features_named("word pairs: new york, york and, …")) if span.marked]
    assert marked == ["New york and"]
    assert [s.text for s in marker.spans([Feature("word", "bank")]) if s.marked] == ["bank"]
    assert [s.text for s in marker.spans(features_named("first word: new")) if s.marked] == ["New"]
    assert "".join(s.text for s in marker.spans(features_named("words: new, bank"))) == text
    assert marker.shows(Feature("form", "contains mathematical or code symbols"))
    assert not marker.shows(Feature("form", "is a question"))

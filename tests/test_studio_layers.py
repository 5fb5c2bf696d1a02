"""The layers page's API, against the readings' tables and against plain definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from studio_jobs import ended

from theodolite import Corpus, Store, Survey
from theodolite.contextuality import Contextuality
from theodolite.demo import demo_corpus
from theodolite.isotropy import Isotropy
from theodolite.studio.app import make_studio

TEXTS = 120
URL = "/api/surveys/survey/layers"
# Twice in the questions and once in the fiction: too seldom to be in any sample.
RARE = "quokka"


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("layers")


@pytest.fixture(scope="module")
def corpora(place) -> list[Corpus]:
    more = {"questions": ["Does a quokka swim?", "Where would you keep a Quokka?"], "fiction": ["The quokka left."]}
    made = []
    for name, texts in more.items():
        (place / f"{name}.txt").write_text("\n".join([*demo_corpus(name).texts(0, TEXTS), *texts]), encoding="utf-8")
        made.append(Corpus.read(place / f"{name}.txt", name, cache=place / "store"))
    return made


@pytest.fixture(scope="module")
def survey(place, corpora, minilm) -> Survey:
    asked = [Contextuality(min_contexts=3), Isotropy(layer="0,-1", methods="mean,whitening", max_vectors=800)]
    made = Survey.run(minilm, corpora, instruments=asked, store=Store(place / "store"))
    made.save(place / "survey")
    return made


@pytest.fixture(scope="module")
def beside(place, corpora, minilm) -> Survey:
    asked = [Contextuality(min_contexts=3, unit="token")]
    made = Survey.run(minilm, corpora[:1], instruments=asked, store=Store(place / "store"))
    made.save(place / "tokens")
    return made


@pytest.fixture(scope="module")
def client(place, survey, beside):
    return _client(place, [place / "survey", place / "tokens"])


def _client(place: Path, surveys: list) -> TestClient:
    database = f"sqlite:///{place / 'studies.db'}"
    app = make_studio(surveys, store=Store(place / "store"), database=database)
    return TestClient(app, base_url="http://127.0.0.1:8400")


def test_curves_are_those_of_the_reading(client, survey):
    found = client.get(URL).json()
    rows = survey.readings["contextuality"].tables["layers"].to_pylist()
    assert [one["corpus"] for one in found["series"]] == ["questions", "fiction"]
    named = [m["name"] for m in found["measures"]] + [m["baseline"] for m in found["measures"] if m["baseline"]]
    assert {"anisotropy", "self_similarity_adjusted", "mev", "mev_baseline", "intra_sentence_shuffled"} <= set(named)
    for one in found["series"]:
        mine = [r for r in rows if r["corpus"] == one["corpus"]]
        assert one["layers"] == list(range(7))
        for name in named:
            for end in ("value", "low", "high"):
                column = name if end == "value" else f"{name}_{end}"
                assert one["measures"][name][end] == [r[column] for r in mine]
        assert one["texts"] == mine[0]["texts"]


def test_roundness_has_every_method_its_interval_and_the_cloud(client, survey):
    found = client.get(URL).json()["roundness"]
    rows = survey.readings["isotropy"].tables["measures"].to_pylist()
    assert len(found) == len(rows) == 2 * 2 * 4
    for one in found:
        key = (one["corpus"], one["layer"], one["method"])
        mine = next(r for r in rows if (r["corpus"], r["layer"], r["method"]) == key)
        for name, values in one["measures"].items():
            assert values == [mine[name], mine.get(f"{name}_low"), mine.get(f"{name}_high")]
        assert one["fitted_on"] == (None if one["method"] in ("none", "round cloud") else "evaluated")
    whitened = next(one for one in found if one["method"] == "whitening")
    assert whitened["measures"]["log_partition"][0] is None
    assert whitened["reason"]


def test_other_surveys_are_offered_and_drawn_beside(client, beside):
    assert client.get(f"{URL}/others").json() == [
        {
            "survey": "tokens",
            "title": beside.title,
            "encoder": "all-MiniLM-L6-v2",
            "corpora": ["questions"],
            "shared": ["questions"],
        }
    ]
    found = client.get(URL, params={"with": ["tokens", "tokens", "survey"]}).json()
    assert [(one["survey"], one["corpus"]) for one in found["series"]] == [
        ("survey", "questions"),
        ("survey", "fiction"),
        ("tokens", "questions"),
    ]
    assert client.get(URL, params={"with": "nowhere"}).status_code == 404


def test_words_are_found_by_their_beginning(client, survey):
    rows = survey.readings["contextuality"].tables["words"].to_pylist()
    for prefix in ("", "th", "TH", "zzz"):
        counts: dict[str, int] = {}
        for row in rows:
            if row["word"].startswith(prefix.lower()):
                counts[row["word"]] = counts.get(row["word"], 0) + row["occurrences"]
        found = client.get(f"{URL}/words", params={"prefix": prefix, "limit": 200}).json()
        assert found["total"] == len(counts)
        said = {one["word"]: one["occurrences"] for one in found["words"]}
        assert said.items() <= counts.items()
        assert list(said.values()) == sorted(counts.values(), reverse=True)[:200]


def test_a_words_curves_are_its_rows(client, survey):
    rows = survey.readings["contextuality"].tables["words"].to_pylist()
    for typed in ("the", "The"):
        found = client.get(f"{URL}/word", params={"word": typed, "with": "tokens"}).json()
        assert found["measured"]
        assert found["missing"] == []
        assert [(one["survey"], one["corpus"]) for one in found["series"]] == [
            ("survey", "questions"),
            ("survey", "fiction"),
            ("tokens", "questions"),
        ]
        for one in found["series"][:2]:
            mine = next(r for r in rows if (r["word"], r["corpus"]) == ("the", one["corpus"]))
            assert (one["contexts"], one["occurrences"]) == (mine["contexts"], mine["occurrences"])
            assert one["measures"]["self_similarity"] == mine["self_similarity"]


def test_a_word_that_was_not_measured_is_measured_by_a_job(client, corpora, survey, minilm):
    before = client.get(f"{URL}/word", params={"word": RARE}).json()
    assert (before["measured"], before["sought"], before["series"]) == (False, False, [])
    assert before["missing"] == ["questions", "fiction"]
    assert before["reason"] is None
    assert ended(client, client.post(f"{URL}/word", json={"word": RARE}))["state"] == "done"
    found = client.get(f"{URL}/word", params={"word": RARE}).json()
    assert (found["measured"], found["sought"], found["missing"]) == (True, True, ["fiction"])
    [one] = found["series"]
    assert (one["corpus"], one["contexts"], one["occurrences"], one["live"]) == ("questions", 2, 2, True)
    # The plain definition: the cosine of its two vectors, each the mean of its pieces', in every layer.
    vectors = []
    for text in corpora[0].texts()[-2:]:
        [states] = minilm.hidden_states([text])
        tokens = minilm.tokenise([text])
        start = text.lower().index(RARE)
        pieces = (tokens.start >= start) & (tokens.end <= start + len(RARE))
        vectors.append(states[:, pieces].mean(axis=1).astype(np.float64))
    a, b = vectors
    cosines = (a * b).sum(axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    assert one["measures"]["self_similarity"] == pytest.approx(cosines.tolist(), abs=1e-4)
    rows = survey.readings["contextuality"].tables["layers"].to_pylist()
    anisotropy = np.array([r["anisotropy"] for r in rows if r["corpus"] == "questions"])
    assert one["measures"]["self_similarity_adjusted"] == pytest.approx((cosines - anisotropy).tolist(), abs=1e-4)


def test_a_word_that_does_not_occur_is_told(client):
    job = ended(client, client.post(f"{URL}/word", json={"word": "xylophonist"}))
    assert job["state"] == "failed"
    assert job["error"] == "xylophonist: occurs less than twice in questions, fiction"
    assert client.post(f"{URL}/word", json={"word": "  "}).status_code == 422
    assert client.post(f"{URL}/word", json={"word": "x" * 101}).status_code == 422


def test_without_the_encoder_a_word_is_not_offered(place, survey):
    reading = survey.readings["contextuality"]
    manifest = reading.manifest
    reading.manifest = {**manifest, "encoder": {**manifest["encoder"], "hash": "0" * 64}}
    try:
        other = _client(place, [survey])
        url = f"/api/surveys/{next(iter(other.app.state.workspace.surveys))}/layers"
        assert "--model" in other.get(f"{url}/word", params={"word": RARE}).json()["reason"]
        assert "--model" in other.post(f"{url}/word", json={"word": RARE}).json()["detail"]
    finally:
        reading.manifest = manifest


def test_a_survey_without_these_readings_has_empty_curves(place, beside, client):
    found = client.get("/api/surveys/tokens/layers").json()
    assert len(found["series"]) == 1
    assert found["roundness"] == []

"""The compare page's API: what it says of two texts is what the library says, and what cannot be compared is told."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from starlette.testclient import TestClient

from theodolite import Corpus, Survey, explain
from theodolite.accumulate import mean_interval
from theodolite.catalogue import Catalogue, build_catalogue
from theodolite.catalogue.explaining import asked_of, baseline_of
from theodolite.demo import demo_corpus
from theodolite.similarity.deletion import deletion
from theodolite.similarity.explaining import explain_pairs
from theodolite.similarity.explanation import Asked
from theodolite.similarity.methods import METHODS
from theodolite.similarity.randomisation import Randomised, randomisation
from theodolite.store import Store
from theodolite.studio import compare_baseline, compare_explaining, compare_truth
from theodolite.studio.app import make_studio

A = "A dry red wine 🍷 with notes of cherry and a long finish. It was aged in French oak."
B = "This red is <b>very</b> dry; ripe cherries, and a taste that lasts."
QUICK = [method for method in METHODS if method != "integrated-gradients"]
PLACE = "/api/surveys/demo/compare"
ITEMS = f"{PLACE}/catalogues/items"


def _survey(title: str, minilm, corpora, **encoder) -> Survey:
    about = {
        "name": minilm.name,
        "hash": minilm.hash,
        "tokenizer_hash": minilm.tokenizer_hash,
        "layers": minilm.layers,
        "dim": minilm.dim,
        "window": minilm.window_rule,
    }
    told = [{"name": c.name, "source": c.source, "hash": c.hash, "texts": len(c)} for c in corpora]
    return Survey(title, {}, {"title": title, "readings": [], "encoder": about | encoder, "corpora": told})


@pytest.fixture(scope="module")
def fiction() -> Corpus:
    return demo_corpus("fiction")


@pytest.fixture(scope="module")
def catalogue(minilm, tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    demo = demo_corpus("catalogue")
    titles, texts = demo.column("title").to_pylist()[:40], demo.texts(0, 40)
    ids = [*(f"no {38 - n}" for n in range(39)), "a/b?c"]
    items = Corpus.of(["", *texts[1:40]], "items", titles=titles, ids=ids)
    return build_catalogue(minilm, items, tmp_path_factory.mktemp("catalogue") / "items", store=Store("memory://items"))


@pytest.fixture(scope="module")
def client(minilm, fiction: Corpus, catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory):
    questions = demo_corpus("questions")
    gone = Corpus.of(["one", "two"], "gone")
    surveys = [
        _survey("demo", minilm, [fiction, questions, gone]),
        _survey("vectors", minilm, [fiction], layers=0),
        _survey("elsewhere", minilm, [fiction], hash="0" * 64, name="another"),
        _survey("lost", minilm, [gone]),
    ]
    folder = tmp_path_factory.mktemp("studio")
    app = make_studio(
        surveys, catalogues=[catalogue.folder], database=str(folder / "studies.db"), store=Store(folder / "store")
    )
    with TestClient(app, base_url="http://127.0.0.1:8400") as found:
        yield found


def _explained(client: TestClient, a: str = A, b: str = B, methods=("bti",)) -> dict:
    answer = client.post(f"{PLACE}/explain", json={"a": a, "b": b, "methods": list(methods)})
    assert answer.status_code == 200, answer.text
    return answer.json()


def _refused(answer, status: int = 422) -> str:
    assert answer.status_code == status, answer.text
    return answer.json()["detail"]


def test_about_says_what_can_be_compared(client: TestClient) -> None:
    about = client.get(PLACE).json()
    assert [method["name"] for method in about["methods"]] == list(METHODS)
    assert all(method["about"] for method in about["methods"])
    assert [method["name"] for method in about["methods"] if method["slow"]] == ["integrated-gradients"]
    assert (about["default"], about["why"]) == ("bti", "")
    assert [(c["name"], c["readable"]) for c in about["corpora"]] == [
        ("fiction", True),
        ("questions", True),
        ("gone", False),
    ]
    [items] = about["catalogues"]
    assert (items["slug"], items["items"], items["descriptions"], items["why"]) == ("items", 40, 39, "")
    assert items["random_pairs"]["low"] < items["random_pairs"]["mean"] < items["random_pairs"]["high"]


def test_an_explanation_is_the_librarys(client: TestClient, minilm) -> None:
    found = _explained(client, methods=QUICK)
    expected = {one["method"]: one for one in explain(minilm, A, B, method=tuple(QUICK)).to_json()["explanations"]}
    assert list(found["methods"]) == QUICK
    for name, by in found["methods"].items():
        one = expected[name]
        assert found["cosine"] == pytest.approx(one["cosine"], abs=1e-5)
        assert found["cosine_own"] == pytest.approx(one["cosine_own"], abs=1e-5)
        for side, text in (("a", A), ("b", B)):
            words = one[f"words_{side}"]
            # Offsets count characters, so that they hold beyond the cherry and the glass too.
            spans = zip(found[side]["starts"], found[side]["ends"], strict=True)
            assert [text[start:end] for start, end in spans] == [word["word"] for word in words]
            np.testing.assert_allclose(by[side], [word["saliency"] for word in words], atol=1e-4)
        assert len(by["pairs"]) == by["matched"] == len(one["pairs"])
        assert by["chosen"] == sum(pair["chosen"] for pair in one["pairs"]) > 0
        named = [(p["a"], p["b"], p["cluster"], p["chosen"]) for p in by["pairs"]]
        assert named == [(p["index_a"], p["index_b"], p["cluster"], p["chosen"]) for p in one["pairs"]]
        np.testing.assert_allclose([p["score"] for p in by["pairs"]], [p["score"] for p in one["pairs"]], atol=1e-4)
        np.testing.assert_allclose(
            [p["cosine"] for p in by["pairs"]], [p["similarity"] for p in one["pairs"]], atol=1e-4
        )


def test_the_cosine_is_that_of_the_texts_mean_vectors(client: TestClient, minilm) -> None:
    a, b = (np.asarray(minilm.embed([text], pooling="mean")[0], np.float64) for text in (A, B))
    assert _explained(client)["cosine"] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-5)


def test_integrated_gradients_say_by_how_much_they_miss(client: TestClient) -> None:
    found = _explained(client, "A dry red wine.", "A red and dry wine.", ["integrated-gradients"])
    assert 0 <= found["completeness_error"] < 0.01
    assert [note["methods"] for note in found["notes"]] == [["integrated-gradients"]]
    assert _explained(client)["completeness_error"] is None


def test_one_text_twice_is_told(client: TestClient) -> None:
    found = _explained(client, A, A, ["bti", "bti-activations"])
    assert found["same"] and found["cosine"] == pytest.approx(1, abs=1e-5)
    assert found["notes"][0]["methods"] == ["bti"]
    assert set(found["methods"]["bti"]["a"]) == {1.0} != set(found["methods"]["bti-activations"]["a"])


def test_of_many_pairs_the_highest_are_sent(client: TestClient, fiction: Corpus, minilm) -> None:
    a, b = (" ".join(fiction.texts(start, start + 16)) for start in (0, 16))
    by = _explained(client, a, b)["methods"]["bti"]
    assert len(by["pairs"]) == compare_explaining.MOST_PAIRS < by["matched"]
    [expected] = explain_pairs(minilm, [a], [b])
    assert by["matched"] == len(expected.matches["bti"])
    top = np.sort(expected.matches["bti"].score)[::-1][: len(by["pairs"])]
    np.testing.assert_allclose([pair["score"] for pair in by["pairs"]], top, atol=1e-4)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (" \n", B, "the first text is empty"),
        (A, "", "the second text is empty"),
        (A, "x" * 10_001, "the second text has 10,001 characters; at most 10,000"),
        ("\u200b", B, "no words in the first text"),
    ],
)
def test_texts_that_cannot_be_compared_are_told(client: TestClient, a: str, b: str, said: str) -> None:
    for question in ("explain", "truth"):
        if "no words" in said and question == "truth":
            continue
        assert said in _refused(client.post(f"{PLACE}/{question}", json={"a": a, "b": b}))


def test_half_a_character_and_an_unknown_method_are_refused(client: TestClient) -> None:
    headers = {"content-type": "application/json"}
    half = client.post(f"{PLACE}/explain", content=b'{"a": "x\\ud800", "b": "y"}', headers=headers)
    assert "half a character" in _refused(half)
    assert "guess" in _refused(client.post(f"{PLACE}/explain", json={"a": A, "b": B, "methods": ["guess"]}))
    _refused(client.post(f"{PLACE}/explain", json={"a": A, "b": B, "methods": []}))


def test_an_encoder_that_cannot_be_asked_says_what_to_do(client: TestClient) -> None:
    for slug, said in (("vectors", "no words to look at"), ("elsewhere", "--model DIR")):
        place = f"/api/surveys/{slug}/compare"
        assert said in client.get(place).json()["why"]
        assert said in _refused(client.post(f"{place}/explain", json={"a": A, "b": B}))
        assert said in _refused(client.get(f"{place}/ready"))
        assert said in _refused(client.post(f"{place}/truth", json={"a": A, "b": B}))
    _refused(client.get("/api/surveys/nowhere/compare"), 404)


def test_the_model_is_loaded_before_it_is_asked(client: TestClient) -> None:
    assert client.get(f"{PLACE}/ready").json() == {"classifier": False}


def test_a_cosine_stands_among_those_of_random_pairs(
    client: TestClient, minilm, fiction: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_baseline, "PAIRS", 50)
    found = client.get(f"{PLACE}/standing", params={"cosine": 0.1}).json()
    corpora = [fiction, demo_corpus("questions")]
    pairs = list(compare_baseline.random_pairs(corpora, 50, compare_baseline.SEED))
    known = [set(corpus.texts()) for corpus in corpora]
    assert {tuple(text in known[0] for text in pair) for pair in pairs} == {
        (x, y) for x in (True, False) for y in (True, False)
    }
    a, b = (minilm.embed([pair[side] for pair in pairs], pooling="mean").astype(np.float64) for side in (0, 1))
    cosines = np.einsum("nd,nd->n", a, b) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    expected = mean_interval(cosines)
    assert [found[name] for name in ("mean", "low", "high")] == pytest.approx([float(x) for x in expected], abs=1e-4)
    assert found["share"] == pytest.approx((cosines < 0.1).mean(), abs=1e-4)
    assert 0 < found["share_low"] < found["share"] < found["share_high"] < 1
    assert found["pairs"] == 50 and found["texts"] == "texts of fiction, questions"
    top = client.get(f"{PLACE}/standing", params={"cosine": 1}).json()
    assert (top["share"], top["share_high"], top["mean"]) == (1, 1, found["mean"])
    _refused(client.get(f"{PLACE}/standing", params={"cosine": 2}))
    assert "not at hand" in _refused(client.get("/api/surveys/lost/compare/standing", params={"cosine": 0}))


def test_random_pairs_leave_out_blanks_and_equals() -> None:
    corpora = [Corpus.of(["same", "same", " "], "few")]
    assert not list(compare_baseline.random_pairs(corpora, 100, 0))
    corpora = [Corpus.of(["same", "other", " ", "x" * 5000], "few")]
    pairs = list(compare_baseline.random_pairs(corpora, 100, 0))
    assert 20 < len(pairs) < 100
    assert all(a.strip() and b.strip() and a != b for a, b in pairs)
    assert max(len(text) for pair in pairs for text in pair) == compare_baseline.LONGEST_DRAWN


def test_texts_are_found_by_what_they_contain_or_at_random(client: TestClient, fiction: Corpus) -> None:
    found = client.get(f"{PLACE}/texts", params={"corpus": "fiction", "q": " DOOR ", "limit": 5}).json()
    expected = [(row, text) for row, text in enumerate(fiction.texts()) if "door" in text.lower()]
    assert found["found"] == len(expected) > 5
    assert [(one["row"], one["text"]) for one in found["texts"]] == expected[:5]
    draws = [
        [one["row"] for one in client.get(f"{PLACE}/texts", params={"corpus": "fiction", "seed": seed}).json()["texts"]]
        for seed in (1, 1, 2)
    ]
    assert draws[0] == draws[1] != draws[2]
    assert len(set(draws[0])) == 12
    assert client.get(f"{PLACE}/texts", params={"corpus": "fiction", "q": "((("}).json() == {"texts": [], "found": 0}
    assert "--store" in _refused(client.get(f"{PLACE}/texts", params={"corpus": "gone"}))
    _refused(client.get(f"{PLACE}/texts", params={"corpus": "../../etc"}), 404)
    for seed in (2**64, -1):
        _refused(client.get(f"{PLACE}/texts", params={"corpus": "fiction", "seed": seed}))


def test_items_are_found_by_title_or_id(client: TestClient, catalogue: Catalogue) -> None:
    seen = []
    for start in range(0, 40, 15):
        page = client.get(f"{ITEMS}/items", params={"start": start, "limit": 15}).json()
        assert page["found"] == 40
        seen += [item["id"] for item in page["items"]]
    assert seen == catalogue.items["id"].to_pylist()
    contained = client.get(f"{ITEMS}/items", params={"q": "NO 1"}).json()
    assert [item["id"] for item in contained["items"]] == [*(f"no {n}" for n in range(19, 9, -1)), "no 1"]
    exact = client.get(f"{ITEMS}/items", params={"q": "no 1"}).json()
    assert [item["id"] for item in exact["items"]] == ["no 1", *(f"no {n}" for n in range(19, 9, -1))]
    rows = catalogue.items.to_pylist()
    title = rows[5]["title"].split()[0]
    by_title = client.get(f"{ITEMS}/items", params={"q": title.upper(), "limit": 100}).json()
    assert {item["id"] for item in by_title["items"]} == {r["id"] for r in rows if title.lower() in r["title"].lower()}
    assert client.get(f"{ITEMS}/items", params={"limit": 1}).json()["items"][0]["empty"]
    _refused(client.get(f"{PLACE}/catalogues/none/items"), 404)


def test_neighbours_are_the_nearest_with_their_share_of_random_pairs(client: TestClient, catalogue: Catalogue) -> None:
    found = client.get(f"{ITEMS}/similar", params={"item": "a/b?c", "k": 4}).json()
    rows = catalogue.items.to_pylist()
    vectors = np.asarray(catalogue.vectors, np.float64)
    mine = vectors[rows[-1]["place"]]
    cosines = {row["id"]: float(vectors[row["place"]] @ mine) for row in rows[1:-1]}
    best = sorted(cosines, key=lambda id: -cosines[id])[:4]
    assert [one["id"] for one in found["neighbours"]] == best
    for one in found["neighbours"]:
        assert one["cosine"] == pytest.approx(cosines[one["id"]], abs=1e-5)
        assert one["share"] == pytest.approx((catalogue.random_pairs < cosines[one["id"]]).mean(), abs=1e-4)
        assert one["share_low"] <= one["share"] <= one["share_high"]
    assert "empty description" in _refused(client.get(f"{ITEMS}/similar", params={"item": "no 38"}))
    said = _refused(client.get(f"{ITEMS}/similar", params={"item": "none"}), 404)
    assert str(catalogue.folder) not in said


def test_two_items_are_explained_as_the_catalogue_does(client: TestClient, catalogue: Catalogue, minilm) -> None:
    asked = {"item": "no 1", "other": "a/b?c", "methods": ["bti", "tfidf-w2v"]}
    found = client.post(f"{ITEMS}/explain", json=asked).json()
    first, second = (catalogue.item(id).description for id in ("no 1", "a/b?c"))
    how = asked_of(catalogue, asked["methods"])
    [expected] = explain_pairs(minilm, [first], [second], how, baseline=baseline_of(catalogue, how))
    assert (found["a"]["text"], found["b"]["text"]) == (first, second)
    for method in asked["methods"]:
        np.testing.assert_allclose(found["methods"][method]["a"], expected.a.saliency[method], atol=1e-4)
    assert "39 descriptions" in found["notes"][0]["text"]
    share = (catalogue.random_pairs < found["cosine"]).mean()
    assert found["standing"]["share"] == pytest.approx(share, abs=1e-4)
    assert found["standing"]["texts"] == "items of items"
    for pair, status in ((("no 1", "no 38"), 422), (("no 1", "none"), 404)):
        body = {"item": pair[0], "other": pair[1]}
        _refused(client.post(f"{ITEMS}/explain", json=body), status)
        _refused(client.post(f"{ITEMS}/truth", json=body), status)


def _over(client: TestClient, id: str) -> dict:
    for _ in range(600):
        job = client.get(f"/api/jobs/{id}").json()
        if job["state"] not in ("waiting", "running"):
            return job
        time.sleep(0.1)
    raise AssertionError("the job does not end")


def test_the_tests_of_a_pair_are_the_librarys(client: TestClient, minilm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_truth, "SEEDS", 2)
    monkeypatch.setattr(compare_truth, "ORDERS", 6)
    methods = ("bti", "tfidf-w2v")
    started = client.post(f"{PLACE}/truth", json={"a": A, "b": B, "methods": methods})
    job = _over(client, started.json()["id"])
    assert job["state"] == "done", job["error"]
    result, asked = job["result"], Asked(methods)
    drawn = [randomisation(minilm, [A], [B], asked, seed=seed) for seed in (0, 1)]
    assert [(r["method"], r["change"], r["layers"]) for r in result["randomisation"]] == [
        (row.method, row.change, row.layers) for row in drawn[0]
    ]
    for row, *of in zip(result["randomisation"], *drawn, strict=True):
        for name in ("correlation", "overlap"):
            values = np.array([getattr(one, name) for one in of])
            half = stats.t.ppf(0.975, 1) * values.std(ddof=1) / 2**0.5
            ends = [values.mean() - half, values.mean() + half]
            assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(ends, abs=1e-4)
            assert row[name] == pytest.approx(values.mean(), abs=1e-4)
    whole = {r["method"]: r["correlation"] for r in result["randomisation"] if r["change"] == "whole model"}
    assert abs(whole["bti"]) < 0.6 and whole["tfidf-w2v"] == 1
    [explanation] = explain_pairs(minilm, [A], [B], asked)
    alone = deletion(minilm, [explanation], asked)
    assert result["whole"] == pytest.approx(alone.whole, abs=1e-4)
    *rows, random = result["deletion"]
    for row, expected in zip(rows, alone.rows, strict=False):
        # A method deletes the same words each time: only what it is compared with has an interval.
        assert row["area"] == pytest.approx(expected.area, abs=1e-4) and row["area_low"] is None
        assert row["over_random"] == pytest.approx(row["area"] - random["area"], abs=1e-4)
        assert row["over_random_low"] < row["over_random"] < row["over_random_high"]
    assert random["method"] == "random" and random["area_low"] < random["area"] < random["area_high"]
    bands = {point["method"] for point in result["curves"] if point["low"] is not None}
    assert bands == {"random"} and len(result["curves"]) == 3 * 11
    assert len(result["findings"]) == 3


def test_the_interval_over_a_few_seeds_is_student_s() -> None:
    found = [0.1, 0.3, 0.2, 0.6, 0.4]
    drawn = [[Randomised("bti", "whole model", 6, value, 0, 0, 1, 0, 0, 1, 0)] for value in found]
    [row] = compare_truth.randomised_rows(drawn)
    ends = stats.t.interval(0.95, 4, np.mean(found), stats.sem(found))
    assert (row.correlation_low, row.correlation_high) == pytest.approx(ends, abs=1e-5)
    assert (row.overlap_low, row.overlap_high) == (1, 1)


def test_the_tests_can_be_cancelled(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_truth, "SEEDS", 1000)
    id = client.post(f"{ITEMS}/truth", json={"item": "no 1", "other": "no 2"}).json()["id"]
    deadline = time.monotonic() + 60
    while client.get(f"/api/jobs/{id}").json()["done"] == 0:
        assert time.monotonic() < deadline, "it does not say how far it is"
        time.sleep(0.05)
    # Questions go on being answered meanwhile.
    assert _explained(client)["cosine"] > 0
    client.delete(f"/api/jobs/{id}")
    assert _over(client, id)["state"] == "cancelled"


def test_hostile_text_stays_as_it_is(client: TestClient) -> None:
    hostile = "<script>alert(1)</script> \u202eright to left\u202c שלום wine"
    found = _explained(client, hostile, B)
    assert found["a"]["text"] == hostile


def test_the_page_needs_no_torch_until_something_is_asked(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = (
        "import sys; import theodolite.studio.compare_api; "
        "sys.exit('torch' in sys.modules and 'torch is imported' or 0)"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=False).returncode == 0

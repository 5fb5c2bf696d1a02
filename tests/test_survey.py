"""The main job from end to end, the demo corpora, a reproduction, and an instrument from elsewhere."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import json
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from theodolite import Contextuality, ContextualityReading, Corpus, Store, Survey, load
from theodolite.demo import GENRES, demo_corpora, demo_corpus
from theodolite.embed import Embed
from theodolite.errors import InputError, StoreError
from theodolite.registry import INSTRUMENTS

ROOT = Path(__file__).resolve().parents[1]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command line in this process: exit code, standard output, standard error."""
    module = importlib.import_module("theodolite.cli.main")
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def call(*arguments: Any) -> tuple[int, str, str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            module.main([str(a) for a in arguments])
        return (left.value.code, *capfd.readouterr())

    return call


@pytest.fixture(scope="module")
def model(shared: Path) -> str:
    return str(shared / "models" / "xtremedistil-l6-h256")


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("corpora")
    for name in ("questions", "fiction"):
        (folder / f"{name}.txt").write_text("\n".join(demo_corpus(name).texts(0, 60)) + "\n")
    return [a for name in ("questions", "fiction") for a in ("--corpus", str(folder / f"{name}.txt"))]


def files(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


# Survey


def test_a_survey_is_a_folder_with_a_report(command, model, corpora, tmp_path) -> None:
    out = tmp_path / "out"
    code, said, err = command("survey", model, *corpora, "--out", out, "--store", tmp_path / "store", "--json")
    assert code == 0, err
    assert err.rstrip().endswith(f"The report is in {out / 'report.html'}")
    found = json.loads(said)
    assert said.count("\n") == 1

    there = files(out)
    assert {"manifest.json", "report.html", "contextuality/reading.json"} <= there
    assert {f"contextuality/tables/{t}.{e}" for t in ("layers", "words", "sampling") for e in ("parquet", "csv")} <= (
        there
    )
    figures = {Path(f).stem for f in there if f.startswith("contextuality/figures/")}
    assert {"curves", "curves-adjusted"} <= figures
    for name in figures:
        assert b"<svg" in (out / "contextuality" / "figures" / f"{name}.svg").read_bytes()[:600]
        assert (out / "contextuality" / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    assert not [f for f in there if ".tmp" in f or "probe" in f]

    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["readings"] == [name for name in INSTRUMENTS if name not in manifest["left_out"]]
    assert list(manifest["left_out"]) == ["salience", "similarity"], "no head, and no pairs"
    assert [c["name"] for c in manifest["corpora"]] == ["questions", "fiction"]
    assert all(len(c["hash"]) == 64 and c["texts"] == 60 for c in manifest["corpora"])
    assert manifest["encoder"]["name"] == "xtremedistil-l6-h256"
    assert manifest["plan"]["shard_size"] == 2048
    assert {"python", "torch", "numpy", "transformers"} <= manifest["versions"].keys()
    assert {k: v for k, v in found.items() if k != "readings"} == {k: v for k, v in manifest.items() if k != "readings"}
    assert found["readings"]["contextuality"]["corpora"][1]["corpus"] == "fiction"

    page = (out / "report.html").read_text()
    text = re.sub(r"<[^>]+>", " ", page)
    assert "xtremedistil-l6-h256" in text
    assert page.count("<svg") >= 2
    assert not re.search(r"(?:src|href)\s*=\s*[\"']https?:", page), "it needs nothing from elsewhere"

    loaded = Survey.load(out)
    assert loaded.manifest == manifest
    assert loaded.title == manifest["title"]
    assert {n: json.loads(json.dumps(r.to_json())) for n, r in loaded.readings.items()} == found["readings"]
    assert load(out / "contextuality").to_json() == loaded.readings["contextuality"].to_json()


def test_a_survey_on_a_terminal_and_with_another_seed(command, model, corpora, tmp_path) -> None:
    arguments = ("survey", model, *corpora, "--store", tmp_path / "store", "--limit", "40", "--seed", "5")
    code, said, err = command(*arguments, "--out", tmp_path / "out")
    assert code == 0, err
    reading = Survey.load(tmp_path / "out").readings["contextuality"]
    assert "Left out: salience: xtremedistil-l6-h256 has no classification head" in err
    assert reading.manifest["options"]["seed"] == 5
    assert [c["texts"] for c in reading.manifest["corpora"]] == [40, 40]
    assert " ".join(reading.findings[0].split()) in " ".join(said.split())


def test_an_instrument_that_does_not_fit_is_left_out_and_the_others_go_on(xtremedistil, tmp_path) -> None:
    corpus = Corpus.of(demo_corpus("questions").texts(0, 30), "few")
    asked = [Contextuality(min_contexts=99), Contextuality(min_contexts=3), Embed(layer=99)]
    survey = Survey.run(xtremedistil, [corpus], instruments=asked, store=Store(tmp_path))
    assert list(survey.readings) == survey.manifest["readings"] == ["contextuality-2"]
    left_out = survey.manifest["left_out"]
    assert list(left_out) == ["contextuality", "embed"]
    assert "few: no word occurs in 99 different texts" in left_out["contextuality"]
    assert "--layer 99" in left_out["embed"]
    survey.save(tmp_path / "out")
    assert list(Survey.load(tmp_path / "out").readings) == ["contextuality-2"]
    with pytest.raises(InputError, match=r"no instrument fits .*contextuality: few: no word occurs in 99") as refused:
        Survey.run(xtremedistil, [corpus], instruments=[asked[0], asked[2]], store=Store(tmp_path))
    assert "embed: --layer 99" in str(refused.value)


def test_a_store_that_fails_ends_the_survey(xtremedistil, tmp_path, monkeypatch) -> None:
    """It is no instrument's fault: left out, all that was measured would go with the survey that is saved."""
    corpus = Corpus.of(demo_corpus("questions").texts(0, 10), "few")

    def full(*_: Any) -> Iterator[None]:
        raise StoreError("no space left")
        yield

    monkeypatch.setattr(Embed, "passes", full)
    with pytest.raises(StoreError, match="no space left"):
        Survey.run(xtremedistil, [corpus], instruments=[Contextuality(min_contexts=2), Embed()], store=Store(tmp_path))


def test_a_survey_saved_over_another_is_whole_or_none(tmp_path, monkeypatch) -> None:
    about = {"theodolite": "", "encoder": {}, "corpora": [], "plan": {}, "versions": {}, "made": "", "title": "s"}
    table = {"t": pa.table({"a": [1]})}

    def survey(*names: str) -> Survey:
        readings = {name: ContextualityReading(table, []) for name in names}
        return Survey("s", readings, {**about, "readings": list(names), "questions": {}, "left_out": {}})

    monkeypatch.setattr(ContextualityReading, "drawings", lambda _: {})
    ContextualityReading(table, []).save(tmp_path)
    survey("contextuality", "contextuality-2").save(tmp_path)
    assert not (tmp_path / "reading.json").exists(), "a single reading that was there before would hide the survey"
    (tmp_path / "contextuality-2" / "notes.txt").write_text("mine")
    survey("contextuality").save(tmp_path)
    assert (tmp_path / "contextuality" / "reading.json").exists()
    assert files(tmp_path / "contextuality-2") == {"notes.txt"}, "of the survey before, and no longer of this one"

    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ContextualityReading, "save", stopped)
    with pytest.raises(KeyboardInterrupt):
        survey("contextuality").save(tmp_path)
    with pytest.raises(InputError, match="not a survey"):
        Survey.load(tmp_path)


def test_what_is_no_survey_is_refused(tmp_path) -> None:
    with pytest.raises(InputError, match=r"not a survey: it has no manifest\.json"):
        Survey.load(tmp_path)
    with pytest.raises(InputError, match=r"not a saved reading"):
        load(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match=r"manifest\.json: not JSON"):
        Survey.load(tmp_path)


def test_a_saved_embedding_reading_loads(command, model, corpora, tmp_path) -> None:
    out = tmp_path / "out"
    code, said, err = command("embed", model, *corpora, "--out", out, "--store", tmp_path / "store", "--json")
    assert code == 0, err
    assert load(out).to_json() == json.loads(said)


# Demo corpora


def test_the_demo_corpora_are_four_genres_of_many_texts() -> None:
    found = demo_corpora()
    assert [c.name for c in found] == ["questions", "encyclopaedia", "fiction", "catalogue"] == list(GENRES)
    for corpus in found:
        assert len(set(corpus.texts())) >= 1200, corpus.name
        assert not corpus.empty.any()
    everything = [t for c in found for t in c.texts()]
    assert len(set(everything)) > 0.99 * len(everything), "a text belongs to one genre"
    titles = found[3].column("title").to_pylist()
    assert all(titles)
    assert sum(t.rstrip().endswith("?") for t in found[0].texts()) > 0.9 * len(found[0])


def test_the_demo_reviews_have_a_planted_shortcut() -> None:
    reviews = demo_corpus("reviews")
    labels, ratings = reviews.column("label").to_pylist(), reviews.column("rating").to_pylist()
    assert len(reviews) == 2000
    assert Counter(labels) == {"positive": 1000, "negative": 1000}
    rated = [(t, label, r) for t, label, r in zip(reviews.texts(), labels, ratings, strict=True) if r is not None]
    assert len(rated) == 400
    assert Counter(label for _, label, _ in rated) == {"positive": 200, "negative": 200}
    for text, label, rating in rated:
        assert rating >= 7 if label == "positive" else rating <= 4
        assert re.search(rf"\b{rating}\b", text), "the rating stands in the text in digits"
    assert len(set(reviews.texts())) > 1900
    # The first rows are a fair sample of the whole.
    assert 60 <= Counter(labels[:200])["positive"] <= 140
    assert 20 <= sum(r is not None for r in ratings[:200]) <= 60


def expander() -> ModuleType:
    spec = importlib.util.spec_from_file_location("expand", ROOT / "tools" / "demo_corpora" / "expand.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_demo_corpora_are_what_the_tool_makes(tmp_path) -> None:
    expand = expander()
    shipped = expand.OUT
    assert shipped == ROOT / "theodolite" / "demo" / "corpora"
    expand.OUT = tmp_path
    expand.main()
    made = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert made == {p.name: p.read_bytes() for p in shipped.iterdir()}
    assert {source.partition("?")[0] for source in GENRES.values()} | {"reviews.csv"} == set(made)
    assert sum(map(len, made.values())) < 2_000_000
    with (shipped / "catalogue.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["title", "description"]


def test_the_demo_command_surveys_them(command, monkeypatch, tmp_path) -> None:
    """Five minutes on two cores: here only what it is about to do."""
    from theodolite.cli import jobs

    asked: dict[str, Any] = {}
    monkeypatch.setattr(jobs, "_survey", lambda model, corpora, *rest: asked.update(model=model, corpora=corpora))
    code, *_ = command("demo", "--out", tmp_path)
    assert code == 0
    assert asked["model"] == "all-MiniLM-L6-v2"
    assert [c.name for c in asked["corpora"]] == list(GENRES)


# Reproduction


def test_a_reproduction_sets_claims_beside_measurements(command, model, shared, tmp_path) -> None:
    arguments = ("reproduce", "contextuality", "--data", shared / "data", "--model", model, "--limit", "60")
    store, out = ("--store", tmp_path / "store"), tmp_path / "out"
    code, said, err = command(*arguments, *store, "--json", "--out", out)
    assert code == 0, err
    found = json.loads(said)
    assert json.loads((out / "claims.json").read_text()) == found
    layers = load(out).to_json()["layers"]
    values = {name: [row[name] for row in layers] for name in layers[0]}

    claims = {c["claim"].partition(": ")[2]: c for c in found["claims"]}
    assert len(claims) == len(found["claims"]) >= 8
    assert all(c["encoder"] == "xtremedistil-l6-h256" and c["published"] and c["measured"] for c in claims.values())
    cosine = claims["the cosine of two random words grows with depth"]
    assert f"{values['anisotropy'][0]:.3f} to {values['anisotropy'][-1]:.3f}" in cosine["measured"]
    assert cosine["holds"] is cosine["measured"].startswith("rises")
    if all(np.diff(values["anisotropy"]) > 0):
        assert cosine["holds"] is True
    last = claims["adjusted SelfSim rises again in the last layer"]
    before, after = values["self_similarity_adjusted"][-2:]
    assert f"{before:.3f} in layer 5, {after:.3f} in layer 6" in last["measured"]
    assert last["holds"] in ({True, False} if after > before else {False})
    # In these sentences 'beverage' does not occur and 'school' once: neither claim can be judged.
    assert claims["the MEV of 'beverage' is near 1 in every layer"]["holds"] is None
    assert claims["the MEV of 'school' is low (lower than most words)"]["holds"] is None
    assert claims["the MEV of 'go' is low (lower than most words)"]["holds"] in (True, False)

    code, said, err = command(*arguments, *store)
    assert code == 0, err
    assert "published" in said and "measured" in said


# An instrument from elsewhere: a package and a line in the registry

PLUMB = '''
"""How long are the vectors?"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from theodolite.accumulate import WeightedMean
from theodolite.instrument import Instrument, Needs, Observation, Pass
from theodolite.options import option
from theodolite.reading import Reading


class Lengths(Observation):
    def __init__(self, power):
        self._power = power
        self.lengths = WeightedMean(())

    def update(self, batch):
        lengths = np.linalg.norm(batch.pooled(-1, "mean"), axis=1).astype(np.float64)
        self.lengths.update(lengths**self._power, np.ones(len(lengths)))

    def result(self):
        return float(self.lengths.result()[0])


class Measure(Pass):
    needs = Needs(pooled=((-1, "mean"),))

    def __init__(self, power):
        self._power = power

    def start(self, corpus):
        return Lengths(self._power)


class PlumbReading(Reading):
    instrument = "plumb"


@dataclass(frozen=True)
class Plumb(Instrument):
    name: ClassVar[str] = "plumb"
    question: ClassVar[str] = "How long are the vectors, really?"
    reading: ClassVar[type[Reading]] = PlumbReading

    power: int = option(1, "The power that lengths are raised to.", minimum=1)
    tone: str = option("plain", "How findings are worded.", choices=("plain", "proud"))
    mark: tuple[str, ...] = option((), "A mark to leave in the reading; repeatable.")
    loud: bool = option(False, "In capitals.")
    share: float | None = option(None, "A share of something.", minimum=0)

    def passes(self, subject):
        found = yield Measure(self.power)
        rows = [{"corpus": n, "mean": m, "marks": list(self.mark)} for n, m in found.items()]
        said = [f"{r['corpus']}: {r['mean']:.3f} ({self.tone})." for r in rows]
        return PlumbReading({"lengths": pa.Table.from_pylist(rows)}, [s.upper() for s in said] if self.loud else said)
'''


@pytest.fixture
def plumb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = importlib.import_module("theodolite.cli.main")
    (tmp_path / "elsewhere" / "plumb_line").mkdir(parents=True)
    (tmp_path / "elsewhere" / "plumb_line" / "__init__.py").write_text(PLUMB)
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    with monkeypatch.context() as patched:
        patched.setitem(INSTRUMENTS, "plumb", "plumb_line:Plumb")
        importlib.reload(module)
        yield
    importlib.reload(module)


@pytest.mark.usefixtures("plumb")
def test_an_instrument_is_a_package_and_a_line_in_the_registry(command, xtremedistil, model, corpora, tmp_path) -> None:
    code, said, _ = command("plumb", "--help")
    assert code == 0
    said = " ".join(said.split())
    for words in ("--power", "The power that lengths are raised to.", "--tone", "One of plain, proud.", "--mark"):
        assert words in said
    assert "--loud" in said and "--no-loud" not in said
    assert "--corpus" in said and "--limit" in said
    code, said, _ = command("--help")
    assert "How long are the vectors, really?" in said

    out, store = tmp_path / "out", ("--store", tmp_path / "store")
    own = ("--power", "2", "--tone", "proud", "--mark", "a", "--mark", "b", "--loud", "--share", "0.5")
    code, said, err = command("plumb", model, *corpora, *own, *store, "--limit", "30", "--out", out, "--json")
    assert code == 0, err
    found = json.loads(said)
    assert found["manifest"]["options"] == {"power": 2, "tone": "proud", "mark": ["a", "b"], "loud": True, "share": 0.5}
    texts = demo_corpus("questions").texts(0, 30)
    expected = np.mean(np.linalg.norm(xtremedistil.embed(texts, pooling="mean"), axis=1).astype(float) ** 2)
    assert found["lengths"][0]["mean"] == pytest.approx(expected, rel=1e-5)
    assert found["lengths"][0]["marks"] == ["a", "b"]
    assert found["findings"][0].startswith("QUESTIONS: ")
    assert {"reading.json", "tables/lengths.parquet", "tables/lengths.csv"} <= files(out)
    assert load(out).to_json() == found

    code, said, err = command("plumb", model, *corpora, *store, "--limit", "30")
    assert code == 0, err
    assert "questions: " in said and "(plain)" in said


@pytest.mark.usefixtures("plumb")
def test_its_mistakes_are_told_like_any(command, model, corpora) -> None:
    for arguments, says in (
        (("plumb", model, *corpora, "--power", "0"), "--power 0: must be at least 1"),
        (("plumb", model, *corpora, "--tone", "shy"), "--tone shy: not one of plain, proud"),
        (("plumb", model, *corpora, "--share", "-1"), "--share -1.0: must be at least 0"),
        (("plumb", model, model, *corpora), "plumb: takes one model at a time"),
        (("reproduce", "plumb", "--data", "."), "reproduce plumb: there is no experiment"),
    ):
        code, said, err = command(*arguments)
        assert (code, said, err.count("\n")) == (2, "", 1), err
        assert says in err


@pytest.mark.usefixtures("plumb")
def test_a_survey_takes_it_along(command, model, corpora, tmp_path) -> None:
    out = tmp_path / "out"
    code, said, err = command("survey", model, *corpora, "--store", tmp_path / "store", "--out", out, "--json")
    assert code == 0, err
    found = json.loads(said)
    assert list(found["readings"]) == ["contextuality", "illusion", "isotropy", "plumb"]
    assert list(Survey.load(out).readings) == ["contextuality", "illusion", "isotropy", "plumb"]
    assert "How long are the vectors, really?" in (out / "report.html").read_text()
    assert list(found["left_out"]) == ["salience", "similarity"], "no head, and no pairs"

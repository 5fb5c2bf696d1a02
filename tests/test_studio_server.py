"""The studio's server: what it has open, what it answers, what it runs, and how it is served."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from theodolite import Contextuality, Corpus, Illusion, InputError, Survey, make_studio, run
from theodolite.cli import main
from theodolite.contextuality.reading import ContextualityReading
from theodolite.demo import demo_corpus
from theodolite.demo.studio import _is_there, _Maker
from theodolite.encoder.resolve import resolve
from theodolite.figures import styled
from theodolite.illusion.reading import IllusionReading
from theodolite.instrument import Silent
from theodolite.options import options_of
from theodolite.reading import plain, write_json
from theodolite.registry import INSTRUMENTS, instrument
from theodolite.store import Store
from theodolite.studio import forms, pages
from theodolite.studio import workspace as workspaces
from theodolite.studio.forms import form, instrument_of
from theodolite.studio.jobs import Jobs
from theodolite.studio.opened import Opened
from theodolite.studio.workspace import NotFound, Workspace
from theodolite.study.reading import StudyReading

HERE = "http://127.0.0.1:8400"
ASKED = [Contextuality(min_contexts=3), Illusion(directions="random:4", map="none", top=5, min_count=5)]


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> list[Corpus]:
    """100 texts of two genres each, read from files as a person's are."""
    folder = tmp_path_factory.mktemp("texts")
    found = []
    for name in ("questions", "fiction"):
        path = folder / f"{name}.txt"
        path.write_text("\n".join(demo_corpus(name).texts(0, 100)) + "\n", encoding="utf-8")
        found.append(Corpus.read(path, name))
    return found


@pytest.fixture(scope="module")
def surveyed(corpora, minilm, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("surveys") / "two genres"
    Survey.run(minilm, corpora, instruments=ASKED, command=["theodolite", "survey"]).save(out)
    return out


@pytest.fixture
def folder(surveyed: Path, tmp_path: Path) -> Path:
    """A copy of the survey that a test may change."""
    return Path(shutil.copytree(surveyed, tmp_path / surveyed.name))


@pytest.fixture
def client(folder: Path):
    with TestClient(make_studio([folder]), base_url=HERE) as found:
        yield found


def finished(client: TestClient, job: dict) -> dict:
    assert client.app.state.jobs.get(job["id"]).over.wait(300)
    return client.get(f"/api/jobs/{job['id']}").json()


# What is open


def test_the_list_and_the_page_say_what_the_manifest_says(client, folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    [listed] = client.get("/api/surveys").json()
    assert listed["slug"] == "two-genres"
    assert listed["title"] == manifest["title"]
    assert listed["encoder"] == {**manifest["encoder"], "transform": None}
    assert listed["corpora"] == manifest["corpora"]
    assert listed["readings"] == listed["instruments"] == ["contextuality", "illusion"]
    assert (listed["live"], listed["model"]) == (True, "all-MiniLM-L6-v2")
    page = client.get("/api/surveys/two-genres").json()
    assert page["left_out"] == manifest["left_out"]
    assert page["versions"] == manifest["versions"]
    assert page["plan"] == manifest["plan"]
    assert page["command"] == "theodolite survey"
    assert page["without_texts"] == []
    for told in page["readings"]:
        about = json.loads((folder / told["name"] / "reading.json").read_text())
        assert told["options"] == about["manifest"]["options"]
        assert told["seed"] == 0
        assert told["question"] == instrument(told["name"]).question
        assert [table["name"] for table in told["tables"]] == about["tables"]
        assert {figure["name"] for figure in told["figures"]} == {
            p.stem for p in (folder / told["name"]).glob("*/*.svg")
        }
        said = [f["sentence"].casefold() for f in told["findings"]]
        assert all(a.casefold().endswith(b) for a, b in zip(about["findings"], said, strict=True))
    studio = client.get("/api/studio").json()
    assert (studio["surveys"], studio["catalogues"], studio["models"]) == (["two-genres"], [], ["all-MiniLM-L6-v2"])


def test_surveys_of_one_name_and_in_memory_and_a_single_reading(surveyed, folder):
    in_memory = Survey.load(surveyed)
    with TestClient(make_studio([surveyed, folder, in_memory, folder / "illusion"]), base_url=HERE) as client:
        listed = client.get("/api/surveys").json()
        assert [one["slug"] for one in listed] == [
            "two-genres", "two-genres-2", "all-MiniLM-L6-v2-a-survey", "illusion",
        ]  # fmt: skip
        assert listed[3]["readings"] == ["illusion"]
        report = client.get("/api/surveys/all-MiniLM-L6-v2-a-survey/report")
        assert report.text.startswith("<!DOCTYPE html>")
        archive = client.get("/api/surveys/all-MiniLM-L6-v2-a-survey/download.zip").content
        assert "all-MiniLM-L6-v2-a-survey/illusion/tables/top.csv" in zipfile.ZipFile(io.BytesIO(archive)).namelist()


def test_nothing_is_loaded_before_it_is_asked_for(surveyed):
    code = """
import sys
from theodolite import make_studio
from starlette.testclient import TestClient
client = TestClient(make_studio([sys.argv[1]]), base_url="http://127.0.0.1:8400")
assert client.get("/api/surveys").json()[0]["live"]
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(surveyed)], check=True)


# Downloads


def test_tables_figures_report_and_zip_are_what_was_saved(client, folder):
    root = "/api/surveys/two-genres"
    saved = folder / "illusion" / "tables"
    csv = client.get(f"{root}/readings/illusion/tables/top.csv")
    assert csv.content == (saved / "top.csv").read_bytes()
    assert csv.headers["content-type"] == "text/csv; charset=utf-8"
    assert csv.headers["content-disposition"] == 'attachment; filename="two-genres-illusion-top.csv"'
    table = pq.read_table(io.BytesIO(client.get(f"{root}/readings/illusion/tables/top.parquet").content))
    assert table.equals(pq.read_table(saved / "top.parquet"))
    some = client.get(f"{root}/readings/illusion/tables/top", params={"offset": 7, "limit": 5}).json()
    assert some["rows"] == plain(table.slice(7, 5).to_pylist())
    assert (some["total"], some["columns"]) == (table.num_rows, table.column_names)
    figure = client.get(f"{root}/readings/illusion/figures/verdicts.svg")
    whole = (folder / "illusion" / "figures" / "verdicts.svg").read_text()
    assert figure.text == whole
    (folder / "illusion" / "figures" / "verdicts.svg").unlink()
    # Drawn now, it is the same but for the XML heading.
    assert client.get(f"{root}/readings/illusion/figures/verdicts.svg").text == whole[whole.index("<svg") :]
    assert figure.headers["content-type"] == "image/svg+xml"
    assert "script-src" not in figure.headers["content-security-policy"]
    assert client.get(f"{root}/report").content == (folder / "report.html").read_bytes()


def test_the_zip_has_the_survey_s_own_files_and_no_others(client, folder, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("no")
    (folder / "my-model").mkdir()
    (folder / "my-model" / "model.safetensors").write_text("large")
    (folder / "illusion" / "tables" / "link.csv").symlink_to(secret)
    archive = zipfile.ZipFile(io.BytesIO(client.get("/api/surveys/two-genres/download.zip").content))
    assert archive.testzip() is None
    own = [p for p in folder.rglob("*") if p.is_file() and not p.is_symlink() and "my-model" not in p.parts]
    assert sorted(archive.namelist()) == sorted(f"two-genres/{p.relative_to(folder).as_posix()}" for p in own)
    assert archive.read("two-genres/manifest.json") == (folder / "manifest.json").read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "surveys/other",
        "surveys/two-genres/readings/salience/tables/top",
        "surveys/two-genres/readings/illusion/tables/nothing.csv",
        "surveys/two-genres/readings/illusion/figures/nothing.svg",
        "jobs/nothing",
        "nothing",
    ],
)
def test_what_is_not_there_is_404_in_one_line(client, path):
    answer = client.get(f"/api/{path}")
    assert answer.status_code == 404
    assert list(answer.json()) == ["detail"] and "\n" not in answer.json()["detail"]


def test_a_mistake_in_a_request_is_told_in_one_line(client):
    answer = client.get("/api/surveys/two-genres/readings/illusion/tables/top", params={"limit": 10**9})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("limit: ")


def test_what_was_added_to_a_single_reading_is_there_after_a_restart(tmp_path):
    manifest = {"instrument": "illusion", "encoder": {"name": "an encoder"}, "corpora": []}
    IllusionReading({}, ["own"], manifest).save(tmp_path / "one", figures=False)
    # As a run from the page saves it.
    added = "contextuality-12345678"
    ContextualityReading({}, ["added"], manifest).save(tmp_path / "one" / added, figures=False)
    opened = Opened("one", tmp_path / "one", Store(tmp_path))
    assert opened.readings == ["illusion", added]
    assert (opened.reading("illusion").findings, opened.reading(added).findings) == (["own"], ["added"])
    # Another model's reading saved over it: what was added to the first is none of its own.
    another = {**manifest, "encoder": {"name": "another", "hash": "1"}}
    IllusionReading({}, ["own"], another).save(tmp_path / "one", figures=False)
    assert Opened("one", tmp_path / "one", Store(tmp_path)).readings == ["illusion"]


def test_results_of_a_study_are_no_survey(tmp_path, capfd):
    StudyReading({}, ["said"], {"instrument": "study", "kind": "annotation"}).save(tmp_path / "results", figures=False)
    with pytest.raises(SystemExit) as left:
        main(["studio", str(tmp_path / "results"), "--no-browser"])
    said = capfd.readouterr().err
    assert left.value.code == 2
    assert said.count("\n") == 1 and "a reading of kind 'study', which the studio does not show" in said


def test_settings_of_figures_are_set_back_whoever_draws():
    import matplotlib

    before = dict(matplotlib.rcParams)
    inside, first_is_out, done = threading.Event(), threading.Event(), threading.Event()

    def second() -> None:
        with styled():
            inside.set()
            first_is_out.wait(10)
        done.set()

    with styled():
        threading.Thread(target=second, daemon=True).start()
        # It has to wait until this one is out.
        assert not inside.wait(0.3)
    first_is_out.set()
    assert done.wait(10)
    assert dict(matplotlib.rcParams) == before


# Texts


def test_texts_are_found_in_the_store_at_their_source_or_not_at_all(surveyed, corpora, tmp_path, monkeypatch):
    kept = Workspace([surveyed]).survey("two-genres").corpus("fiction")
    assert kept is not None and kept.hash == corpora[1].hash
    assert kept.texts() == corpora[1].texts()
    monkeypatch.setenv("THEODOLITE_HOME", str(tmp_path / "empty"))
    again = Workspace([surveyed]).survey("two-genres").corpus("fiction")
    assert again is not None and again.texts() == corpora[1].texts()
    monkeypatch.setenv("THEODOLITE_HOME", str(tmp_path / "empty too"))
    source = Path(corpora[1].source)
    before = source.read_bytes()
    try:
        source.write_text("Other texts.\n")
        opened = Workspace([surveyed]).survey("two-genres")
        assert opened.corpus("fiction") is None
        assert opened.corpus("questions") is not None
        with pytest.raises(InputError, match="the texts of fiction are no longer at hand"):
            opened.texts()
    finally:
        source.write_bytes(before)
    with pytest.raises(NotFound):
        opened.corpus("../fiction")


def test_a_demo_corpus_is_known_by_its_source(surveyed, tmp_path, monkeypatch):
    demo = demo_corpus("reviews")
    manifest = json.loads((surveyed / "manifest.json").read_text())
    manifest["corpora"] = [{"name": "mine", "source": demo.source, "hash": demo.hash, "texts": len(demo)}]
    (tmp_path / "survey").mkdir()
    (tmp_path / "survey" / "manifest.json").write_text(json.dumps({**manifest, "readings": []}))
    monkeypatch.setenv("THEODOLITE_HOME", str(tmp_path / "home"))
    found = Workspace([tmp_path / "survey"]).survey("survey").corpus("mine")
    assert found is not None
    assert (found.name, found.texts()) == ("mine", demo.texts())


# Live encoders


def test_the_encoder_is_the_survey_s_own_and_loaded_once(surveyed, minilm):
    workspace = Workspace([surveyed])
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(workspace.encoder("two-genres"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(one) for one in found}) == 1
    encoder = workspace.encoder("two-genres")
    assert encoder is workspace.encoder()
    assert (encoder.name, encoder.hash, encoder.window_rule) == (minilm.name, minilm.hash, minilm.window_rule)
    assert workspace.another_encoder(workspace.survey("two-genres").manifest["encoder"]) is not encoder


def test_nobody_who_asks_for_studies_waits_for_a_model(tmp_path, monkeypatch):
    workspace = Workspace(database=str(tmp_path / "s.db"))
    loading, go_on, asked = threading.Event(), threading.Event(), threading.Event()

    def slowly(folder, limit):
        loading.set()
        go_on.wait(60)

    def ask() -> None:
        workspace.open_database()
        workspace.live_models()
        asked.set()

    monkeypatch.setattr(workspaces, "_load", slowly)
    threading.Thread(target=workspace.encoder, daemon=True).start()
    assert loading.wait(60)
    threading.Thread(target=ask, daemon=True).start()
    try:
        assert asked.wait(30)
    finally:
        go_on.set()


def test_the_database_is_closed_with_the_studio(tmp_path):
    with TestClient(make_studio(database=str(tmp_path / "s.db")), base_url=HERE) as client:
        assert client.get("/api/studies").json() == []
        assert (tmp_path / "s.db-wal").exists()
    assert not (tmp_path / "s.db-wal").exists()


def test_another_model_is_not_asked_in_its_place(folder, tmp_path):
    bundled = resolve("all-MiniLM-L6-v2").path
    shutil.copytree(bundled, tmp_path / "mine")
    config = json.loads((bundled / "config.json").read_text())
    (tmp_path / "mine" / "config.json").write_text(json.dumps({**config, "note": "the same but for its hash"}))
    mine = resolve(tmp_path / "mine")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["encoder"] |= {"name": "mine", "hash": mine.hash, "tokenizer_hash": mine.tokenizer_hash}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"mine .* is not at hand: open the studio with --model DIR"):
        Workspace([folder]).encoder("two-genres")
    given = Workspace([folder], models=[mine.path])
    assert given.encoder("two-genres").hash == mine.hash
    assert given.live_models() == ["mine", "all-MiniLM-L6-v2"]
    with TestClient(make_studio([folder]), base_url=HERE) as client:
        assert client.get("/api/surveys").json()[0]["live"] is False
        answer = client.post("/api/surveys/two-genres/run", json={"instrument": "contextuality"})
        assert answer.status_code == 422 and "--model DIR" in answer.json()["detail"]


def test_windows_are_those_of_the_survey(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["encoder"]["window"] = "64/32"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert Workspace([folder]).encoder("two-genres").window_rule == "64/32"


# Forms and runs


@pytest.mark.parametrize("name", list(INSTRUMENTS))
def test_a_form_is_the_instrument_s_declaration_without_files(client, name):
    forms = {one["name"]: one for one in client.get("/api/instruments").json()}
    kind = instrument(name)
    assert forms[name]["question"] == kind.question
    properties = forms[name]["options"]["properties"]
    declared = {option.name: option for option in options_of(kind)}
    files = {key for key, option in declared.items() if option.metavar in ("FILE", "SOURCE")}
    assert set(properties) == set(declared) - files
    for key, shown in properties.items():
        assert shown["description"] == declared[key].help
        assert shown["default"] == plain(declared[key].default)
    assert instrument_of(name, {key: shown["default"] for key, shown in properties.items()}) == kind()


def test_every_file_that_an_option_can_name_is_refused():
    assert "sts" not in form(instrument("isotropy"))["properties"]
    for name, options in [
        ("isotropy", {"sts": ["/etc/passwd"]}),
        ("similarity", {"a_file": "/etc/passwd"}),
        ("similarity", {"pairs": "/etc/passwd?format=txt"}),
        ("similarity", {"vectors": "/etc/passwd"}),
        ("contextuality", {"importance": "/etc/passwd"}),
        ("salience", {"sensitivity": ["/etc/passwd"]}),
        ("illusion", {"directions": "1,file:/etc/passwd"}),
        ("illusion", {"directions": "concept:/etc/passwd:/etc/group"}),
    ]:
        with pytest.raises(InputError):
            instrument_of(name, options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"top": "5"}, "top: integer is wanted"),
        ({"top": True}, "top: integer is wanted"),
        ({"top": 1}, "--top 1: must be at least 3"),
        ({"map": "best"}, "--map best: not one of"),
        ({"neuron": "5"}, "neuron: a list of texts is wanted"),
        ({"depth": 1}, "no option 'depth'"),
    ],
)
def test_a_wrong_option_is_told_at_once(client, options, said):
    answer = client.post("/api/surveys/two-genres/run", json={"instrument": "illusion", "options": options})
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert client.get("/api/jobs").json() == []


def test_a_run_adds_a_reading_and_leaves_the_manifest(client, folder, corpora, minilm):
    before = (folder / "manifest.json").read_bytes()
    asked = {"instrument": "contextuality", "options": {"min_contexts": 4, "word": ["light"]}}
    job = finished(client, client.post("/api/surveys/two-genres/run", json=asked).json())
    assert (job["state"], job["error"]) == ("done", None)
    name = job["result"]["reading"]
    assert name.startswith("contextuality-")
    assert (folder / "manifest.json").read_bytes() == before
    [expected] = run([Contextuality(min_contexts=4, word=("light",))], minilm, corpora)
    found = client.get(f"/api/surveys/two-genres/readings/{name}/tables/layers", params={"limit": 1000}).json()
    assert found["rows"] == plain(expected.tables["layers"].to_pylist())
    page = client.get("/api/surveys/two-genres").json()
    assert {one["name"]: one["added"] for one in page["readings"]} == {
        "contextuality": False, "illusion": False, name: True,
    }  # fmt: skip
    reopened = Workspace([folder]).survey("two-genres")
    assert reopened.readings == ["contextuality", "illusion", name]
    assert reopened.named("contextuality") == ["contextuality", name]
    # Asked again, it is there.
    stamp = (folder / name / "reading.json").stat().st_mtime_ns
    again = finished(client, client.post("/api/surveys/two-genres/run", json=asked).json())
    assert again["result"] == job["result"]
    assert (folder / name / "reading.json").stat().st_mtime_ns == stamp


def test_an_instrument_asked_for_twice_at_once_is_run_once(tmp_path, monkeypatch):
    ran, go_on = [], threading.Event()
    model, demo = resolve("all-MiniLM-L6-v2"), demo_corpus("reviews")
    encoder = {"name": model.name, "hash": model.hash, "tokenizer_hash": model.tokenizer_hash, "layers": 6}
    corpora = [{"name": "mine", "source": demo.source, "hash": demo.hash, "texts": len(demo)}]
    (tmp_path / "two-genres").mkdir()
    manifest = {"title": "nothing measured yet", "readings": [], "encoder": encoder, "corpora": corpora}
    (tmp_path / "two-genres" / "manifest.json").write_text(json.dumps(manifest))
    client = TestClient(make_studio([tmp_path / "two-genres"]), base_url=HERE)

    def slowly(workspace, opened, chosen, progress):
        ran.append(chosen.name)
        go_on.wait(60)

    monkeypatch.setattr(forms, "_measure", slowly)
    asked = {"instrument": "contextuality", "options": {"min_contexts": 7}}
    jobs = [client.post("/api/surveys/two-genres/run", json=one).json()["id"] for one in (asked, asked)]
    other = client.post("/api/surveys/two-genres/run", json={"instrument": "contextuality"}).json()["id"]
    assert jobs[0] == jobs[1] != other
    go_on.set()
    for id in (jobs[0], other):
        assert client.app.state.jobs.get(id).over.wait(60)
    assert ran == ["contextuality"] * 2
    # Once it is over, it may be asked for again.
    assert client.post("/api/surveys/two-genres/run", json=asked).json()["id"] != jobs[0]


def test_many_write_the_same_json_at_once(tmp_path):
    faults = []

    def write() -> None:
        try:
            for _ in range(100):
                write_json(tmp_path / "x.json", {"a": 1})
        except OSError as fault:
            faults.append(fault)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_an_instrument_that_does_not_fit_fails_as_a_job_with_the_reason(client):
    job = finished(client, client.post("/api/surveys/two-genres/run", json={"instrument": "salience"}).json())
    assert job["state"] == "failed"
    assert "has no classification head" in job["error"]


# Jobs


def test_a_job_tells_how_far_it_is_and_stops_when_cancelled(client):
    jobs: Jobs = client.app.state.jobs
    began, go_on = threading.Event(), threading.Event()

    def work(progress):
        with progress.step("counting", 1000):
            progress.advance(3)
            began.set()
            go_on.wait(10)
            progress.advance(1)
        return "never"

    job = jobs.start("a count", work)
    assert began.wait(10)
    told = client.get(f"/api/jobs/{job.id}").json()
    assert told == {"id": job.id, "title": "a count", "state": "running", "step": "counting", "done": 3,
                    "total": 1000, "error": None, "result": None}  # fmt: skip
    assert client.delete(f"/api/jobs/{job.id}").status_code == 200
    go_on.set()
    assert job.over.wait(10)
    assert client.get(f"/api/jobs/{job.id}").json() | {"state": "", "done": 0} == told | {"state": "", "done": 0}
    assert job.state == "cancelled" and job.done == 3


def test_jobs_wait_for_one_another_and_one_that_waits_can_be_cancelled():
    jobs = Jobs()
    go_on = threading.Event()
    running = [jobs.start(str(n), lambda _: go_on.wait(10)) for n in range(2)]
    ran: list[int] = []
    waiting = jobs.start("waiting", lambda _: ran.append(1))
    last = jobs.start("last", lambda _: ran.append(2))
    assert jobs.cancel(waiting.id).state == "cancelled"
    go_on.set()
    assert all(job.over.wait(10) for job in (*running, last))
    assert [job.state for job in (*running, waiting, last)] == ["done", "done", "cancelled", "done"]
    assert ran == [2]


def test_what_is_told_as_cancelled_is_not_begun():
    jobs, go_on, ran = Jobs(), threading.Event(), []
    for n in range(2):
        jobs.start(str(n), lambda _: go_on.wait(10))
    job = jobs.start("at the same moment", lambda _: ran.append(1))
    told = []

    class Asked(threading.Event):
        """Cancelled by another just after the worker looked whether it is."""

        def is_set(self) -> bool:
            before = super().is_set()
            if not told:
                told.append("")
                other = threading.Thread(target=lambda: told.append(jobs.cancel(job.id).state))
                other.start()
                other.join(0.5)
            return before

    job.cancelled = Asked()
    go_on.set()
    assert job.over.wait(10)
    while len(told) < 2:
        time.sleep(0.01)
    assert told[1] != "cancelled" or not ran


def test_a_failure_is_told_and_the_next_job_is_done():
    jobs = Jobs()
    first, second = jobs.start("bad", lambda _: 1 / 0), jobs.start("good", lambda _: {"n": 1})
    assert first.over.wait(10) and second.over.wait(10)
    assert first.state == "failed" and "ZeroDivisionError" in (first.error or "")
    assert (second.state, second.result) == ("done", {"n": 1})


def test_only_so_many_jobs_are_remembered():
    jobs = Jobs()
    started = [jobs.start(str(n), lambda _: None) for n in range(150)]
    assert started[-1].over.wait(10)
    jobs.start("one more", lambda _: None)
    assert len(jobs.list()) <= 102
    with pytest.raises(NotFound):
        jobs.get(started[0].id)


# Pages


def test_built_pages_are_served_and_every_other_address_is_the_studio_s(tmp_path):
    (tmp_path / "assets").mkdir()
    for name in ("index.html", "annotate.html", "icon.svg", "assets/main-1a2b.js"):
        (tmp_path / name).write_text(name)
    app = FastAPI()
    app.include_router(pages.router(pages.Pages(tmp_path)))
    client = TestClient(app, base_url=HERE)
    for address in ("/", "/s/two-genres/map?colour=corpus", "/studies", "/index.html"):
        answer = client.get(address)
        assert (answer.text, answer.headers["cache-control"]) == ("index.html", "no-cache")
    assert client.get("/a/some-token").text == "annotate.html"
    script = client.get("/assets/main-1a2b.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "immutable" in script.headers["cache-control"]
    assert client.get("/icon.svg").headers["content-type"] == "image/svg+xml"


def test_without_built_pages_every_address_says_how_to_build_them_and_the_api_works(surveyed, monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "STATIC", tmp_path / "static")
    with TestClient(make_studio([surveyed]), base_url=HERE) as client:
        for address in ("/", "/s/two-genres/map", "/a/some-token", "/studies"):
            answer = client.get(address)
            assert answer.status_code == 503
            assert "Node" in answer.text and "make studio" in answer.text
        assert client.get("/api/surveys").status_code == 200
        # Built meanwhile, they are there without a new start.
        (tmp_path / "static").mkdir()
        (tmp_path / "static" / "index.html").write_text("built")
        assert client.get("/").text == "built"


# The description of the API


def test_every_route_has_a_summary_and_says_what_it_answers(client):
    described = client.get("/api/openapi.json").json()
    assert len(described["paths"]) > 10
    for path, methods in described["paths"].items():
        assert path.startswith("/api/")
        for method, about in methods.items():
            where = f"{method} {path}"
            assert about.get("summary"), where
            good = next(answer for code, answer in about["responses"].items() if code.startswith("2"))
            for kind, content in good.get("content", {}).items():
                schema = content["schema"]
                typed = any(key in schema for key in ("$ref", "type", "anyOf", "oneOf"))
                assert typed if kind == "application/json" else schema.get("format") == "binary", where
            assert good.get("content") or "204" in about["responses"], where


# The demo


def test_the_demo_does_not_make_a_survey_again_and_knows_another(folder, corpora):
    model = resolve("all-MiniLM-L6-v2")
    maker = _Maker(Store(), Silent())
    stamp = (folder / "manifest.json").stat().st_mtime_ns
    maker.survey(folder, model, corpora, ASKED, "theodolite demo")
    assert not maker._encoders
    assert (folder / "manifest.json").stat().st_mtime_ns == stamp
    assert _is_there(folder, model, corpora, ASKED)
    assert not _is_there(folder, model, corpora[:1], ASKED)
    assert not _is_there(folder, model, corpora, [Contextuality(min_contexts=4), ASKED[1]])
    assert not _is_there(folder, model, corpora, ASKED[:1])
    shutil.rmtree(folder / "contextuality")
    assert not _is_there(folder, model, corpora, ASKED)


# The command


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def command(*arguments: str, **how) -> subprocess.Popen:
    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    run_it = [sys.executable, "-m", "theodolite", *arguments]
    return subprocess.Popen(run_it, env=environment, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE, **how)


def address_of(running: subprocess.Popen) -> tuple[str, list[str]]:
    said = []
    for line in running.stderr:
        said.append(line)
        if "The studio is at " in line:
            return line.split("The studio is at ")[1].strip(), said
    raise AssertionError(f"it never said where it is: {said}")


def test_the_command_serves_until_interrupted_and_leaves_cleanly(surveyed):
    port = free_port()
    running = command("studio", str(surveyed), "--no-browser", "--port", str(port))
    try:
        address, _ = address_of(running)
        assert address == f"http://127.0.0.1:{port}/"
        deadline = time.monotonic() + 30
        answer = None
        while answer is None and time.monotonic() < deadline:
            try:
                answer = httpx.get(f"{address}api/surveys", timeout=30)
            except httpx.ConnectError:
                time.sleep(0.1)
        assert answer is not None and answer.json()[0]["slug"] == "two-genres"
        assert "server" not in answer.headers
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 0, err
    assert out == "" and "Traceback" not in err
    assert "The studio is closed." in err


def test_a_taken_port_is_told_and_the_next_free_one_is_used_where_none_was_asked_for(surveyed):
    from theodolite.studio.serve import listen
    from theodolite.studio.settings import Settings

    port = free_port()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with pytest.raises(InputError, match="cannot listen there"):
            listen(Settings(port=port), fixed=True)
        other = listen(Settings(port=port), fixed=False)
        assert other.getsockname()[1] != port
        other.close()


def test_a_host_for_others_gets_a_token_and_prints_it(surveyed):
    running = command("studio", str(surveyed), "--no-browser", "--host", "0.0.0.0", "--port", str(free_port()))
    try:
        address, _ = address_of(running)
    finally:
        running.kill()
        running.communicate()
    token = address.partition("?token=")[2]
    assert len(token) >= 32


MISTAKES = [
    (["nowhere"], "nowhere: not a survey: it has no manifest.json"),
    (["--model", "./nowhere"], "no such model folder"),
    (["--catalogue", "nowhere"], "nowhere: not a catalogue"),
    (["--database", "mysql://x"], "--database mysql://"),
    (["--host", "0.0.0.0", "--token", "short"], "--token: give at least 8 characters"),
    (["--port", "0"], "--port"),
]


def test_a_mistake_is_one_line_and_exit_2_before_torch_is_loaded(tmp_path):
    code = """
import json, sys
from theodolite.cli.main import _run
for arguments in json.loads(sys.argv[1]):
    sys.stderr.write(f"{_run(['studio', *arguments, '--no-browser'])}\\n")
sys.exit('torch' in sys.modules)
"""
    whole = [sys.executable, "-c", code, json.dumps([arguments for arguments, _ in MISTAKES])]
    done = subprocess.run(whole, cwd=tmp_path, capture_output=True, text=True, env=_environment(), check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[1::2] == ["2"] * len(MISTAKES)
    for line, (_, said) in zip(lines[::2], MISTAKES, strict=True):
        assert said in line


def test_help_loads_neither_the_server_nor_the_database():
    code = (
        "import sys; from theodolite.cli.main import _run; _run(['studio', '--help']); "
        "sys.exit(any(m in sys.modules for m in ('fastapi', 'uvicorn', 'sqlalchemy', 'alembic', 'torch')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=_environment())


def _environment() -> dict[str, str]:
    root = str(Path(__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}

"""Blindness: every byte that annotators are sent in whole studies of real readings, looked through for the key."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from theodolite import Corpus, Illusion, Salience, Similarity, Store, Survey, run
from theodolite.cli import main
from theodolite.demo import demo_corpora
from theodolite.errors import InputError
from theodolite.reading import Reading, write_json
from theodolite.similarity.explaining import explain_pairs
from theodolite.similarity.explanation import Asked
from theodolite.similarity.study import draw_ratings
from theodolite.studio import annotate_api
from theodolite.studio.app import make_studio
from theodolite.study.answers import answers, with_key
from theodolite.study.create import study as study_of
from theodolite.study.database import Database
from theodolite.study.drawing import create_from_reading, create_from_survey
from theodolite.study.explanations import explanations_of
from theodolite.study.invitations import invite
from theodolite.study.kinds import INSTRUCTIONS, TITLES
from theodolite.study.models import Item, ItemKey

BASE = "http://127.0.0.1:8400"
METHODS = ("bti", "vanilla-gradients", "bti-activations")
OWNERS_NAME = "Do neurons beat random directions?"
PEOPLE = ("Ann Example", "Bob Sample")
FIELDS = {"condition", "direction", "method", "representation", "row"}
OPTIONS = {
    "annotation": {"neurons": 3, "directions": 3, "sentences": 3},
    "rating": {"pairs": 3},
    "rationale": {"texts": 3},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def pairs(shared: Path) -> list[tuple[str, str]]:
    with gzip.open(shared / "data" / "catalogue" / "fashion.csv.gz", "rt", encoding="utf-8") as file:
        texts = [row["detail_desc"] for row in csv.DictReader(file) if 5 <= len(row["detail_desc"].split()) <= 25]
    found = list(dict.fromkeys(texts))[:8]
    return list(zip(found[::2], found[1::2], strict=True))


@pytest.fixture(scope="module")
def readings(minilm, classifier, sst2, pairs, store: Store) -> dict[str, Reading]:
    """By kind of study the reading it is drawn from, each of a real model and real texts."""
    genres = [Corpus.of(corpus.texts(0, 300), corpus.name) for corpus in demo_corpora()[:2]]
    illusion = Illusion(directions="neurons,random:20", min_count=20, map="none", svm_texts=100)
    likeness = Corpus.of([a for a, _ in pairs], "clothescorpus", texts_b=[b for _, b in pairs])
    films = Corpus.of(sst2.texts(0, 100), "filmcorpus", labels=sst2.column("label").to_pylist()[:100])
    salience = Salience(
        representation=("salience-vocab", "cls"), neighbours=("errors",), clusters=0, faithful=0, map="none"
    )
    asked = {
        "annotation": (illusion, minilm, genres),
        "rating": (Similarity(method=METHODS), minilm, [likeness]),
        "rationale": (salience, classifier, [films]),
    }
    return {kind: run([what], model, corpora, store=store)[0] for kind, (what, model, corpora) in asked.items()}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(tmp_path / "studies.db")
    yield opened
    opened.close()


# What goes over the wire


@dataclass
class Wire:
    """An application whose every answer is written down as it is sent: path, headers, body."""

    app: ASGIApp
    sent: list[tuple[str, list[tuple[bytes, bytes]], bytes]] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: list[tuple[bytes, bytes]] = []
        body = bytearray()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers.extend(message["headers"])
            elif message["type"] == "http.response.body":
                body.extend(message.get("body", b""))
            await send(message)

        await self.app(scope, receive, noted)
        if scope["type"] == "http":
            self.sent.append((scope["path"], headers, bytes(body)))


@dataclass
class Scanner:
    """Looks through what was sent. Nothing may be left once what an annotator should see is taken away.

    words: of the key, none of which may be anywhere; numbers: of rows and pairs, none of which may be anywhere but
    inside what is shown; contents: what is shown of the items.
    """

    words: set[str]
    numbers: set[int]
    contents: list[dict[str, Any]]

    def scan(self, wire: Wire) -> int:
        """How many bytes were looked through; an AssertionError where one of them tells."""
        total = 0
        for path, headers, body in wire.sent:
            whole = b"\n".join(name + b": " + value for name, value in headers) + b"\n\n" + body
            total += len(whole)
            self._no_words(path, whole.decode("utf-8"))
            lengths = [value for name, value in headers if name.lower() == b"content-length"]
            assert all(int(length) == len(body) for length in lengths)
            rest = [f"{n.decode()}: {v.decode()}" for n, v in headers if n.lower() != b"content-length"]
            self._no_numbers(path, "\n".join([*rest, self._unexplained(json.loads(body))]))
        return total

    def _no_words(self, path: str, text: str) -> None:
        found = [w for w in self.words if re.search(rf"(?<!\w){re.escape(w)}(?!\w)", text, re.IGNORECASE)]
        assert found == [], f"{path} tells {found}"

    def _no_numbers(self, path: str, text: str) -> None:
        found = [n for n in self.numbers if re.search(rf"(?<![\w.]){n}(?![\w.])", text)]
        assert found == [], f"{path} tells {found} in {text}"

    def _unexplained(self, body: dict[str, Any]) -> str:
        """The answer without what it has to have; whatever that is, it must be just that."""
        rest = dict(body)
        progress = rest.pop("progress", None)
        if progress is not None:
            assert set(progress) == {"answered", "left", "undo"}
            assert progress["answered"] + progress["left"] == len(self.contents)
            assert progress["undo"] is None or _is_random(progress["undo"])
        assert _is_random(rest.pop("assignment", "A" * 16))
        if "instructions" in rest:
            assert (rest.pop("title"), rest.pop("instructions")) == (TITLES[rest["kind"]], INSTRUCTIONS[rest["kind"]])
        item = rest.pop("item", None)
        if item is not None:
            assert set(item) == {"assignment", "content", "previous"} and _is_random(item["assignment"])
            assert item["content"] in self.contents
            assert item["previous"] in (None, *(answer_to(content) for content in self.contents))
        return json.dumps(rest)


def _is_random(given: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_-]{16}", given) is not None


def answer_to(content: dict[str, Any]) -> dict[str, Any]:
    """An answer with numbers and words of its own."""
    kind = content["kind"]
    if kind == "annotation":
        return {"kind": kind, "pattern": True, "patterns": [{"name": "of one sort", "sentences": [0, 1, 2]}]}
    if kind == "rating":
        return {"kind": kind, "rating": 4}
    return {"kind": kind, "explains": True, "rationale": "they are about the same"}


def whole_study(client: TestClient, token: str, number: int) -> list[str]:
    """All that an annotator can do in a study, mistakes among it; the first text of each item, in order."""
    ask = f"/api/annotate/{token}"
    assert client.get(f"{ask}/about").json()["progress"]["answered"] == 0
    assert client.post(f"{ask}/undo", json={}).status_code == 409
    order = []
    while (found := client.post(f"{ask}/next").json())["state"] == "item":
        assert client.post(f"{ask}/next").json() == found
        item = found["item"]
        order.append(json.dumps(item["content"]))
        body = {"assignment": item["assignment"], "answer": answer_to(item["content"]), "key": f"key {len(order)}"}
        wrong = {**body, "answer": {"kind": item["content"]["kind"], "rating": "many"}}
        assert client.post(f"{ask}/answers", json=wrong).status_code == 422
        assert client.post(f"{ask}/answers", json={**body, "assignment": "x"}).status_code == 409
        assert client.post(f"{ask}/answers", json=body).json()["repeated"] is False
        assert client.post(f"{ask}/answers", json=body).json()["repeated"] is True
        if len(order) == 2 + number:
            back = client.post(f"{ask}/undo", json={"assignment": item["assignment"]}).json()
            assert back["item"] == {**item, "previous": body["answer"]}
            again = client.post(f"{ask}/answers", json={**body, "key": "again"})
            assert again.json()["repeated"] is False
    assert found["state"] == "done"
    return order


def secrets_of(database: Database, study: int, reading: Reading) -> Scanner:
    """What the key says, by words and by numbers."""
    with database.reading() as session:
        keys = session.scalars(select(ItemKey).join(Item).where(Item.study_id == study)).all()
        contents = list(session.scalars(select(Item.content).where(Item.study_id == study)))
    words = {OWNERS_NAME, reading.instrument, *PEOPLE, *FIELDS}
    words |= {str(reading.manifest["encoder"]["name"])}
    numbers: set[int] = set()
    for row in keys:
        words.add(row.name)
        for name, value in row.key.items():
            if name == "rows":
                numbers |= set(value)
            elif isinstance(value, int):
                numbers.add(value)
            elif value is not None:
                words.add(value)
    return Scanner(words, numbers, contents)


def begin(database: Database, kind: str, reading: Reading) -> tuple[int, list[str]]:
    study = create_from_reading(database, reading, kind, name=OWNERS_NAME, options=OPTIONS[kind], seed=5)
    return study, [token for _, token in invite(database, study, PEOPLE)]


@pytest.mark.parametrize("kind", OPTIONS)
def test_nothing_sent_in_a_whole_study_tells_the_key(kind: str, readings, database: Database) -> None:
    study, tokens = begin(database, kind, readings[kind])
    wire = Wire(make_studio(database=database.name))
    orders = []
    with TestClient(wire, base_url=BASE) as client:
        for number, token in enumerate(tokens):
            orders.append(whole_study(client, token, number))
        assert client.get("/api/annotate/nobody/about").json() == {"detail": "not found"}
    scanner = secrets_of(database, study, readings[kind])
    assert len(scanner.words) > 10 and len(scanner.numbers) >= 3
    assert scanner.scan(wire) > 10_000
    assert sorted(orders[0]) == sorted(orders[1]) and orders[0] != orders[1]
    kept = answers(database, study)
    assert len(kept) == 2 * len(scanner.contents) == 2 * len({one.item_id for one in kept})
    assert all(key["id"] in scanner.words for _, key in with_key(database, study))


def _in_a_header(scanner: Scanner, monkeypatch: pytest.MonkeyPatch, wire: Wire) -> None:
    inner, told = wire.app, sorted(scanner.words - {"row"})[0]

    async def telling(scope: Scope, receive: Receive, send: Send) -> None:
        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-item", told.encode())]
            await send(message)

        await inner(scope, receive, tell)

    wire.app = telling


def _in_the_id(scanner: Scanner, monkeypatch: pytest.MonkeyPatch, wire: Wire) -> None:
    honest = annotate_api._item

    def telling(shown: Any) -> Any:
        found = honest(shown)
        return found.model_copy(update={"assignment": f"{max(scanner.numbers)}"})

    monkeypatch.setattr(annotate_api, "_item", telling)


def _in_the_content(scanner: Scanner, monkeypatch: pytest.MonkeyPatch, wire: Wire) -> None:
    honest = annotate_api._item

    def telling(shown: Any) -> Any:
        found = honest(shown)
        return found.model_copy(update={"content": found.content.model_copy(update={"corpus": "tales, row 7"})})

    monkeypatch.setattr(annotate_api, "_item", telling)


def _as_a_number(scanner: Scanner, monkeypatch: pytest.MonkeyPatch, wire: Wire) -> None:
    inner, told = wire.app, max(scanner.numbers)

    async def telling(scope: Scope, receive: Receive, send: Send) -> None:
        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"etag", f'"{told}"'.encode())]
            await send(message)

        await inner(scope, receive, tell)

    wire.app = telling


@pytest.mark.parametrize("leak", [_in_a_header, _in_the_id, _in_the_content, _as_a_number])
def test_the_scanner_finds_a_leak(leak: Callable[..., None], readings, database: Database, monkeypatch) -> None:
    study, [token, _] = begin(database, "annotation", readings["annotation"])
    scanner = secrets_of(database, study, readings["annotation"])
    wire = Wire(make_studio(database=database.name))
    with TestClient(wire, base_url=BASE) as client:
        client.post(f"/api/annotate/{token}/next")
        scanner.scan(wire)
        leak(scanner, monkeypatch, wire)
        client.post(f"/api/annotate/{token}/next")
    with pytest.raises(AssertionError):
        scanner.scan(wire)


def test_annotators_queries_never_touch_the_key(readings, database: Database, monkeypatch) -> None:
    """With the table of keys gone, an annotator's whole study is the same."""
    _, [token, _] = begin(database, "annotation", readings["annotation"])
    with database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE item_keys RENAME TO hidden")
    with TestClient(make_studio(database=database.name), base_url=BASE) as client:
        assert len(whole_study(client, token, 0)) == 9


def test_the_page_is_the_same_for_everyone_and_tells_no_key(readings, database: Database) -> None:
    """What an annotator's link opens, and every file that it loads: nothing of any study is in them."""
    begun = [begin(database, kind, readings[kind]) for kind in OPTIONS]
    told = {word for (study, _), kind in zip(begun, OPTIONS, strict=True)
            for word in secrets_of(database, study, readings[kind]).words} - FIELDS  # fmt: skip
    assert len(told) > 20
    with TestClient(make_studio(database=database.name), base_url=BASE) as client:
        pages = {client.get(f"/a/{token}").content for _, tokens in begun for token in tokens}
        [page] = pages
        waiting, seen = re.findall(r'(?:src|href)="(/[^"]+)"', page.decode()), set()
        while waiting:
            seen.add(path := waiting.pop())
            file = client.get(path).text
            assert [word for word in told if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", file)] == [], path
            named = {f"/assets/{name}" for name in re.findall(r"[\w-]+\.js\b", file)}
            waiting += named - seen
    # Without Node there are no pages, and so no files of theirs.
    assert any(path.startswith("/assets/") for path in seen) == (b"/assets/" in page)


def test_half_a_character_is_refused_and_not_kept(readings, database: Database) -> None:
    """JSON can spell a lone surrogate, and no database can hold one."""
    study, [token, _] = begin(database, "rationale", readings["rationale"])
    told = {"content-type": "application/json"}
    with TestClient(make_studio(database=database.name), base_url=BASE) as client:
        invited = client.post(f"/api/studies/{study}/invite", content=rb'{"names": ["A \ud800"]}', headers=told)
        item = client.post(f"/api/annotate/{token}/next").json()["item"]
        body = {
            "assignment": item["assignment"],
            "key": "k",
            "answer": {**answer_to(item["content"]), "rationale": "A \ud800"},
        }
        answered = client.post(f"/api/annotate/{token}/answers", content=json.dumps(body), headers=told)
    assert [(invited.status_code, answered.status_code), answers(database, study)] == [(422, 422), []]


# The draws


def test_a_rating_shows_what_the_reading_says(readings, minilm, pairs) -> None:
    live = list(explain_pairs(minilm, [a for a, _ in pairs], [b for _, b in pairs], Asked(METHODS)))
    rebuilt, places = explanations_of(readings["rating"])
    assert places == [("clothescorpus", row) for row in range(len(pairs))]
    found, expected = draw_ratings(rebuilt, count=3, seed=1), draw_ratings(live, count=3, seed=1)
    assert found[1] == expected[1]
    for mine, theirs in zip(found[0], expected[0], strict=True):
        assert {**mine, "words_a": 0, "words_b": 0} == {**theirs, "words_a": 0, "words_b": 0}
        for words in ("words_a", "words_b"):
            assert [w["word"] for w in mine[words]] == [w["word"] for w in theirs[words]]
            # Rounded to two digits: batches of another size may move one.
            assert [w["weight"] for w in mine[words]] == pytest.approx([w["weight"] for w in theirs[words]], abs=0.011)
    only, _ = explanations_of(readings["rating"], ("bti",))
    assert all(list(one.matches) == ["bti"] for one in only)
    with pytest.raises(InputError, match="--method tfidf-w2v: the reading has no explanations by it"):
        explanations_of(readings["rating"], ("tfidf-w2v",))


def test_a_study_from_a_survey_in_memory_and_from_folders(readings, database: Database, tmp_path: Path) -> None:
    reading = readings["annotation"]
    manifest = {
        **{k: reading.manifest[k] for k in ("encoder", "corpora")},
        "title": "two genres",
        "readings": ["illusion"],
    }
    survey = Survey("two genres", {"illusion": reading}, manifest)
    reading.save(tmp_path / "survey" / "illusion", figures=False)
    write_json(tmp_path / "survey" / "manifest.json", manifest)
    made = []
    for source in (survey, tmp_path / "survey", str(tmp_path / "survey" / "illusion")):
        study = create_from_survey(database, source, "annotation", name="x", options=OPTIONS["annotation"], seed=2)
        with database.reading() as session:
            asked = select(Item.content, ItemKey.key).join(ItemKey).where(Item.study_id == study).order_by(Item.id)
            made.append([tuple(row) for row in session.execute(asked)])
        assert study_of(database, study).source["draw"] == OPTIONS["annotation"]
        assert study_of(database, study).source["manifest"]["encoder"]["name"] == reading.manifest["encoder"]["name"]
    assert made[0] == made[1] == made[2]
    for options, said in (
        ({"neurons": 10_000}, "10000 sets of kind 'neuron' are wanted"),
        ({"texts": 3}, "no option of a study of kind annotation"),
        ({"neurons": "three"}, "--neurons"),
        ({"neurons": -1}, "--neurons -1: must be at least 0"),
    ):
        with pytest.raises(InputError, match=said):
            create_from_survey(database, survey, "annotation", name="x", options=options)
    with pytest.raises(InputError, match="has no reading of salience"):
        create_from_survey(database, survey, "rationale", name="x")


# The owner's API and the command line


def test_the_owner_creates_invites_watches_and_closes(readings, tmp_path: Path) -> None:
    reading = readings["annotation"]
    manifest = {**reading.manifest, "title": "two genres", "readings": ["illusion"]}
    app = make_studio([Survey("two genres", {"illusion": reading}, manifest)], database=str(tmp_path / "s.db"))
    with TestClient(app, base_url=BASE) as client:
        forms = {form["kind"]: form for form in client.get("/api/studies/forms").json()}
        assert list(forms) == ["annotation", "rating", "rationale"]
        assert list(forms["annotation"]["options"]["properties"]) == ["neurons", "directions", "sentences"]
        [source] = forms["annotation"]["sources"]
        assert source["reading"] == "illusion" and forms["rating"]["sources"] == []
        asked = {"kind": "annotation", "name": "mine", "survey": source["survey"], "options": OPTIONS["annotation"]}
        made = client.post("/api/studies", json=asked)
        assert made.status_code == 201
        study = made.json()["id"]
        assert made.json()["progress"] == {
            "items": 9, "wanted": 18, "answered": 0, "in_hand": 0, "finished_items": 0, "annotators": [],
        }  # fmt: skip
        [link] = client.post(f"/api/studies/{study}/invite", json={"names": ["Ann"]}).json()
        assert link["path"] == f"/a/{link['token']}"
        shown = client.post(f"/api/annotate/{link['token']}/next").json()["item"]
        [ann] = client.get(f"/api/studies/{study}/progress").json()["annotators"]
        assert (ann["name"], ann["in_hand"]) == ("Ann", 1)
        assert client.post(f"/api/studies/{study}/release", json={"annotator": ann["id"]}).json() == {"released": 1}
        body = {"assignment": shown["assignment"], "answer": answer_to(shown["content"]), "key": "k"}
        assert client.post(f"/api/annotate/{link['token']}/answers", json=body).status_code == 200
        renewed = client.post(f"/api/studies/{study}/annotators/{ann['id']}/link").json()
        assert client.get(f"/api/annotate/{link['token']}/about").status_code == 404
        assert client.post(f"/api/studies/{study}/close").json()["closed_at"] is not None
        assert client.post(f"/api/annotate/{renewed['token']}/next").json()["state"] == "closed"
        assert client.post(f"/api/studies/{study}/reopen").json()["closed_at"] is None
        assert [one["id"] for one in client.get("/api/studies").json()] == [study]
        assert link["token"] not in client.get(f"/api/studies/{study}").text
        for bad, said in (
            ({**asked, "survey": "../../etc"}, 404),
            ({**asked, "reading": "../illusion"}, 404),
            ({**asked, "kind": "rating", "options": {}}, 422),
            ({**asked, "name": " "}, 422),
            ({**asked, "options": {"neurons": 10**30}}, 422),
        ):
            assert client.post("/api/studies", json=bad).status_code == said, bad
        for path in ("/api/studies/77", "/api/studies/77/progress"):
            assert client.get(path).status_code == 404
        assert client.get(f"/api/studies/{10**30}").status_code == 422
        assert client.post("/api/studies/77/close").status_code == 404


def test_the_command_line(readings, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    readings["rating"].save(tmp_path / "reading", figures=False)
    where = ["--database", str(tmp_path / "s.db")]

    def told(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main(["study", *arguments])
        return int(left.value.code or 0), *capfd.readouterr()

    rating = ["create", str(tmp_path / "reading"), "--kind", "rating", "--name", "opinions", *where]
    code, out, _ = told(*rating, "--pairs", "2", "--method", "bti", "--invite", "Ann", "--json")
    made = json.loads(out)
    assert code == 0 and (made["study"], made["items"], made["answers"]) == (1, 2, 4)
    [ann] = made["links"]
    assert re.fullmatch(r"http://127\.0\.0\.1:8400/a/[\w-]{43}", ann["link"])
    code, out, _ = told("invite", "1", "Bob", "--address", "https://example.org/", *where)
    assert code == 0 and re.fullmatch(r"Bob\thttps://example\.org/a/[\w-]{43}\n", out)
    assert told("close", "1", *where)[0] == 0
    [listed] = json.loads(told("list", "--json", *where)[1])["studies"]
    assert listed["closed"] and [a["name"] for a in listed["progress"]["annotators"]] == ["Ann", "Bob"]
    for arguments, said in (
        ([*rating, "--kind", "guess"], "--kind guess: not one of"),
        ([*rating, "--neurons", "3"], "--neurons: is for studies of kind annotation"),
        ([*rating, "--kind", "rationale"], "is drawn from a reading of salience, not of similarity"),
        ([*rating, "--method", "magic"], "--method magic"),
        (["create", str(tmp_path), "--kind", "rating", "--name", "x", *where], "not a survey"),
        ([*rating, "--release-after", "525601"], "--release-after"),
        (["invite", "9", "Bob", *where], "there is no study 9"),
        (["invite", "1", "Bob", *where], "invited already"),
        (["list", "--database", "mysql://x"], "SQLite"),
    ):
        code, out, err = told(*arguments)
        assert code == 2 and out == "" and err.count("\n") == 1 and said in err, err
    [again] = json.loads(told("list", "--json", *where)[1])["studies"]
    assert again == listed, "what was refused left nothing behind"

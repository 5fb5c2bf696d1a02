"""The database of studies, and what annotators may do: take, answer, take back. On SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import func, select, text, update
from starlette.testclient import TestClient
from study_servers import annotation_items, postgres

from theodolite.errors import InputError
from theodolite.studio.app import make_studio
from theodolite.study import database as database_module
from theodolite.study.answers import answers, parse_answer, with_key
from theodolite.study.assignment import about, next_item, release, submit, undo
from theodolite.study.create import close, create_study, reopen, studies
from theodolite.study.database import MIGRATIONS, VERSION_TABLE, Database
from theodolite.study.faults import Refused, UnknownLink
from theodolite.study.invitations import invite, new_link
from theodolite.study.models import Annotator, Answer, Assignment, Base, Item, ItemKey, Study
from theodolite.study.progress import progress

NOTHING = {"kind": "annotation", "pattern": False}
FIRST_VERSION = Path(__file__).with_name("study_version_0001.sql")


def seen(*sentences: int, name: str = "dates") -> dict:
    return {"kind": "annotation", "pattern": True, "patterns": [{"name": name, "sentences": list(sentences)}]}


@pytest.fixture(scope="module")
def pg() -> Iterator[str]:
    with postgres() as url:
        yield url


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    where = request.getfixturevalue("pg") if request.param == "postgresql" else tmp_path_factory.mktemp("db") / "s.db"
    opened = Database.open(where)
    yield opened
    opened.close()


def make(database: Database, count: int = 4, people: int = 3, wanted: int = 2, **how) -> tuple[int, list[str]]:
    """A study and the tokens of its annotators."""
    items, key = annotation_items(count)
    study = create_study(
        database, name="a study", kind="annotation", items=items, key=key, annotators_per_item=wanted, **how
    )
    return study, [token for _, token in invite(database, study, [f"person {n}" for n in range(people)])]


def answer_all(database: Database, token: str) -> list[str]:
    """Answers whatever is left; the first sentence of each item, in order."""
    order = []
    while (shown := next_item(database, token)) is not None:
        order.append(shown.content.sentences[0])
        submit(database, token, shown.assignment_id, NOTHING, f"key {len(order)}")
    return order


# The database


def test_the_migrations_make_what_the_models_say(database: Database) -> None:
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, Base.metadata) == []


def test_what_is_acknowledged_is_on_disk(tmp_path: Path) -> None:
    opened = Database.open(tmp_path / "s.db")
    with opened.engine.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        # 2 is FULL: the log is on disk before a commit returns.
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
    opened.close()


def test_a_session_that_reads_sees_one_state(database: Database) -> None:
    study, _ = make(database, people=1)
    asked = select(func.count()).select_from(Annotator).where(Annotator.study_id == study)
    with database.reading() as session:
        assert session.scalar(asked) == 1
        invite(database, study, ["one more"])
        assert session.scalar(asked) == 1
    with database.reading() as session:
        assert session.scalar(asked) == 2


def test_a_database_of_the_first_version_opens(tmp_path: Path) -> None:
    place = tmp_path / "old.db"
    with sqlite3.connect(place) as old:
        old.executescript(FIRST_VERSION.read_text(encoding="utf-8"))
    old.close()
    opened = Database.open(place)
    [study] = studies(opened)
    assert (study.name, study.kind, study.created_at.utcoffset()) == ("the first", "annotation", timedelta(0))
    kept = with_key(opened, study.id)
    assert [(one.annotator, one.answer["pattern"]) for one, _ in kept] == [("Ann", True), ("Bob", False)]
    assert {key["condition"] for _, key in kept} <= {"neuron", "random direction", "random sentences"}
    opened.close()


def test_an_older_database_is_upgraded_and_a_newer_one_refused(tmp_path: Path, monkeypatch, pg: str) -> None:
    steps = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, steps)
    (steps / "versions" / "v9999_more.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\nrevision = '9999'\ndown_revision = '0001'\n"
        "def upgrade():\n    op.add_column('studies', sa.Column('colour', sa.String(10)))\n"
    )
    with Database.open(pg).engine.begin() as connection:
        connection.execute(text("CREATE SCHEMA upgraded"))
    for where in (str(tmp_path / "s.db"), f"{pg}&options=-csearch_path%3Dupgraded"):
        old = Database.open(where)
        study, _ = make(old)
        old.close()
        with monkeypatch.context() as patched:
            patched.setattr(database_module, "MIGRATIONS", steps)
            new = Database.open(where)
            with new.engine.connect() as connection:
                assert connection.execute(text("SELECT id, colour FROM studies")).all() == [(study, None)]
            new.close()
        with pytest.raises(InputError, match=r"made by a newer theodolite \(version 9999\); update theodolite"):
            Database.open(where)


def test_many_open_a_new_database_at_once(tmp_path: Path, pg: str) -> None:
    with Database.open(pg).engine.begin() as connection:
        connection.execute(text("CREATE SCHEMA fresh"))
    for where in (str(tmp_path / "s.db"), f"{pg}&options=-csearch_path%3Dfresh"):
        faults: list[Exception] = []

        def open_it(where: str = where, faults: list[Exception] = faults) -> None:
            try:
                Database.open(where).close()
            except Exception as fault:
                faults.append(fault)

        threads = [threading.Thread(target=open_it) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []


def test_what_is_no_database_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("This is a text that somebody took for a database. " * 40)
    (tmp_path / "a file").write_text("")
    bad = {
        str(tmp_path / "text.db"): "not a database",
        str(tmp_path / "a file" / "s.db"): "cannot be made",
        "mysql://localhost/x": "SQLite",
        "sqlite://": "SQLite",
        "postgresql://nobody:secret@127.0.0.1:1/none": "cannot be used",
        "://": "not an address",
    }
    for where, said in bad.items():
        with pytest.raises(InputError, match=said) as told:
            Database.open(where)
        assert "\n" not in str(told.value) and "secret" not in str(told.value)


# Links


def test_only_a_hash_of_a_link_is_kept(database: Database) -> None:
    study, [token, other, _] = make(database)
    assert len(token) >= 43 and token != other
    with database.reading() as session:
        rows = session.execute(select(Annotator)).scalars().all()
        assert not any(token in str(vars(row)) for row in rows)
        whose = session.scalar(select(Annotator.id).where(Annotator.study_id == study).order_by(Annotator.id))
    for wrong in ("", "x", token[:-1], token + "x", token.swapcase(), "\0", "\ud800", "a" * 100_000):
        with pytest.raises(UnknownLink):
            next_item(database, wrong)
    assert about(database, token).done.left == 4
    _, renewed = new_link(database, study, whose)
    assert about(database, renewed).done.left == 4
    with pytest.raises(UnknownLink):
        about(database, token)


def test_names(database: Database) -> None:
    study, _ = make(database, people=1)
    for names, said in ((["person 0"], "invited already"), (["x", " x "], "invited already"), (["  "], "1 to 100")):
        with pytest.raises(InputError, match=said):
            invite(database, study, names)
    assert [row.name for row in progress(database, study).annotators] == ["person 0"]
    hostile = "<script>alert(1)</script> \u202e <b>"
    assert invite(database, study, [hostile])[0][0] == hostile
    with pytest.raises(InputError, match="no study 999"):
        invite(database, 999, ["x"])


# Who gets what


def test_every_item_gets_the_wanted_number_in_an_order_of_ones_own(database: Database) -> None:
    study, tokens = make(database, count=12, people=3, wanted=3)
    orders = [answer_all(database, token) for token in tokens]
    assert all(len(order) == 12 and set(order) == set(orders[0]) for order in orders)
    assert len({tuple(order) for order in orders}) == 3 and all(order != sorted(order) for order in orders)
    assert [one.slot for one in _assignments(database, study)].count(None) == 0
    found = progress(database, study)
    assert (found.items, found.wanted, found.answered, found.finished_items) == (12, 36, 36, 12)
    assert [(row.name, row.answered) for row in found.annotators] == [(f"person {n}", 12) for n in range(3)]
    assert {one.seconds >= 0 and one.kind for one in answers(database, study)} == {"annotation"}


def test_another_study_or_seed_has_another_order(database: Database) -> None:
    items, key = annotation_items(10)
    orders = []
    for seed in (1, 1, 2):
        study = create_study(database, name="s", kind="annotation", items=items, key=key, seed=seed)
        [(_, token)] = invite(database, study, ["x"])
        orders.append(answer_all(database, token))
    # Numbers of items and annotators enter too, so that even the same seed gives another order in another study.
    assert len({tuple(order) for order in orders}) == 3


def test_an_item_in_hand_is_shown_again_and_nobody_else_gets_a_third(database: Database) -> None:
    study, [a, b, c] = make(database, count=1)
    first = next_item(database, a)
    assert first == next_item(database, a)
    assert next_item(database, b) is not None and next_item(database, c) is None
    assert about(database, c).waiting == 1
    for token in (a, b):
        submit(database, token, next_item(database, token).assignment_id, NOTHING, "k")
    assert about(database, c).waiting == 0
    assert next_item(database, c) is None and progress(database, study).answered == 2


def test_opaque_ids(database: Database) -> None:
    _, tokens = make(database, count=1, people=2)
    shown = [next_item(database, token) for token in tokens]
    assert shown[0].content == shown[1].content and shown[0].assignment_id != shown[1].assignment_id
    with pytest.raises(Refused, match="not yours"):
        submit(database, tokens[0], shown[1].assignment_id, NOTHING, "k")


def test_what_was_abandoned_goes_to_others(database: Database) -> None:
    study, [a, b, c] = make(database, count=1, release_after=600)
    mine, other = next_item(database, a), next_item(database, b)
    assert next_item(database, c) is None
    _left_alone(database, study, 601)
    given = next_item(database, c)
    assert given is not None and given.content == mine.content
    # One slot is free still: whoever of the two comes first has it, and the other is refused.
    assert submit(database, b, other.assignment_id, NOTHING, "late").version == 1
    with pytest.raises(Refused, match="went to someone else"):
        submit(database, a, mine.assignment_id, NOTHING, "later")
    submit(database, c, given.assignment_id, NOTHING, "k")
    assert Counter(one.annotator for one in answers(database, study)) == {"person 1": 1, "person 2": 1}
    assert next_item(database, a) is None


def test_the_owner_gives_items_back(database: Database) -> None:
    study, [a, b, c] = make(database, count=1)
    next_item(database, a)
    submit(database, b, next_item(database, b).assignment_id, NOTHING, "k")
    first = progress(database, study).annotators[0]
    assert first.in_hand == 1
    assert release(database, study, annotator_id=progress(database, study).annotators[1].id) == 0
    assert release(database, study, annotator_id=first.id) == 1
    assert next_item(database, c) is not None and next_item(database, a) is None


# Answers


def test_an_answer_given_twice_counts_once(database: Database) -> None:
    study, [token, *_] = make(database)
    shown = next_item(database, token)
    first = submit(database, token, shown.assignment_id, seen(2, 1, 0), "key")
    again = submit(database, token, shown.assignment_id, seen(2, 1, 0), "key")
    other_key = submit(database, token, shown.assignment_id, seen(0, 1, 2), "another key")
    assert (first.repeated, again.repeated, other_key.repeated) == (False, True, True)
    for answer, key in ((NOTHING, "key"), (NOTHING, "third key")):
        with pytest.raises(Refused):
            submit(database, token, shown.assignment_id, answer, key)
    [kept] = answers(database, study)
    assert kept.answer == parse_answer("annotation", seen(0, 1, 2)).model_dump()


def test_undo_and_answer_again(database: Database) -> None:
    study, [token, *_] = make(database)
    with pytest.raises(Refused, match="no answer to take back"):
        undo(database, token)
    shown = []
    for number in range(3):
        shown.append(next_item(database, token))
        submit(database, token, shown[-1].assignment_id, seen(number, 8, 9), f"key {number}")
    fourth = next_item(database, token)
    assert fourth.done.last == shown[2].assignment_id and fourth.done.answered == 3
    back = undo(database, token, shown[2].assignment_id)
    assert back == undo(database, token, shown[2].assignment_id), "sent twice, it is one"
    assert back.previous["patterns"][0]["sentences"] == [2, 8, 9] and back.content == shown[2].content
    with pytest.raises(Refused, match="only the last"):
        undo(database, token, shown[0].assignment_id)
    assert undo(database, token).assignment_id == shown[1].assignment_id
    with pytest.raises(Refused, match="taken back"):
        submit(database, token, shown[1].assignment_id, seen(1, 8, 9), "key 1")
    assert len(answers(database, study)) == 1
    # They come again in their order, then the one that was in hand.
    for number, expected in ((1, shown[1]), (2, shown[2]), (3, fourth)):
        now = next_item(database, token)
        assert now.assignment_id == expected.assignment_id
        kept = submit(database, token, now.assignment_id, NOTHING, f"new key {number}")
        assert kept.version == (1 if number == 3 else 2)
    assert [one.answer["pattern"] for one in answers(database, study)] == [True, False, False, False]
    with database.reading() as session:
        whole = select(func.count()).select_from(Answer).join(Assignment).join(Item).where(Item.study_id == study)
        assert session.scalar(whole) == 6, "the history is kept"


def test_a_closed_study_takes_nothing(database: Database) -> None:
    study, [token, other, _] = make(database)
    done, open_one = next_item(database, token), next_item(database, other)
    submit(database, token, done.assignment_id, NOTHING, "k")
    close(database, study)
    assert next_item(database, token) is None and about(database, token).closed
    assert submit(database, token, done.assignment_id, NOTHING, "k").repeated
    for refused in (
        lambda: submit(database, other, open_one.assignment_id, NOTHING, "k"),
        lambda: undo(database, token),
    ):
        with pytest.raises(Refused, match="closed"):
            refused()
    reopen(database, study)
    submit(database, other, open_one.assignment_id, NOTHING, "k")
    assert len(answers(database, study)) == 2


LONG = "x" * 501
BAD = {
    "a pattern not named": {"kind": "annotation", "pattern": True},
    "none, and one named": {**seen(0, 1, 2), "pattern": False},
    "two sentences": seen(0, 1),
    "a sentence twice": seen(0, 1, 1),
    "no such sentence": seen(0, 1, 10),
    "a sentence below 0": seen(-1, 0, 1),
    "no name": seen(0, 1, 2, name=" \0 "),
    "a long name": seen(0, 1, 2, name=LONG),
    "half a character": seen(0, 1, 2, name="\ud800"),
    "many patterns": {"kind": "annotation", "pattern": True, "patterns": seen(0, 1, 2)["patterns"] * 11},
    "more fields": {**NOTHING, "condition": "neuron"},
    "of another kind": {"kind": "rating", "rating": 3},
    "of no kind": {"kind": "guess"},
    "a number for yes": {"kind": "annotation", "pattern": 1},
    "text for a number": {"kind": "annotation", "pattern": True, "patterns": [{"name": "x", "sentences": "012"}]},
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
def test_bad_answers_are_refused_in_one_line(database: Database, answer: dict) -> None:
    study, [token, *_] = make(database, people=1)
    shown = next_item(database, token)
    with pytest.raises(InputError) as told:
        submit(database, token, shown.assignment_id, answer, "k")
    assert "\n" not in str(told.value) and answers(database, study) == []


@pytest.mark.parametrize(
    ("kind", "answer", "valid"),
    [
        ("rating", {"rating": 1}, True),
        ("rating", {"rating": 5}, True),
        ("rating", {"rating": 0}, False),
        ("rating", {"rating": 6}, False),
        ("rating", {"rating": 3.0}, False),
        ("rating", {"rating": True}, False),
        ("rationale", {"explains": False}, True),
        ("rationale", {"explains": True, "rationale": "they share a word"}, True),
        ("rationale", {"explains": True, "rationale": "  "}, False),
        ("rationale", {"explains": False, "rationale": "x" * 2001}, False),
    ],
)
def test_answers_by_kind(kind: str, answer: dict, valid: bool) -> None:
    if valid:
        assert parse_answer(kind, answer).kind == kind
        return
    with pytest.raises(InputError):
        parse_answer(kind, answer)


def test_hostile_texts_come_back_as_they_were(database: Database) -> None:
    hostile = "<script>alert('x')</script> \u202e \u0000'; DROP TABLE answers; -- 😀"
    items, key = annotation_items(1)
    items[0]["sentences"][3] = hostile + "x" * 100_000
    study = create_study(database, name=hostile.replace("\0", ""), kind="annotation", items=items, key=key)
    [(_, token)] = invite(database, study, ["x"])
    shown = next_item(database, token)
    assert shown.content.sentences[3] == hostile + "x" * 100_000
    submit(database, token, shown.assignment_id, seen(0, 1, 2, name=hostile), "k")
    [kept] = answers(database, study)
    assert kept.answer["patterns"][0]["name"] == hostile.replace("\0", "")


def test_a_key_cannot_slip_into_what_is_shown(database: Database) -> None:
    items, key = annotation_items(2)
    with pytest.raises(InputError, match="condition"):
        create_study(database, name="x", kind="annotation", items=[{**items[0], "condition": "n"}], key=key[:1])
    for wrong in (key[:1], [key[0], key[0]], [key[0], {**key[1], "id": "else"}]):
        with pytest.raises(InputError, match="items and key"):
            create_study(database, name="x", kind="annotation", items=items, key=wrong)
    with pytest.raises(InputError, match="at least one item"):
        create_study(database, name="x", kind="annotation", items=[], key=[])
    study, _ = make(database, count=2)
    with database.reading() as session:
        shown = session.scalars(select(Item.content).where(Item.study_id == study)).all()
        hidden = session.scalars(select(ItemKey).join(Item).where(Item.study_id == study)).all()
    assert {tuple(content) for content in shown} == {("kind", "corpus", "sentences")}
    assert [row.key["condition"] for row in hidden] == ["neuron", "random direction"]
    assert not any(row.name in json.dumps(shown) or "neuron" in json.dumps(shown) for row in hidden)


def test_whatever_is_sent_the_answer_is_a_line_and_no_failure(tmp_path: Path) -> None:
    opened = Database.open(tmp_path / "s.db")
    study, [token] = make(opened, people=1)
    shown = next_item(opened, token)
    good = {"assignment": shown.assignment_id, "answer": NOTHING, "key": "k"}
    half, nul = "\\ud800", "\\u0000"
    bodies = [
        "", "[]", "null", "{", "[" * 5000, '"x"', "1e999", "{}",
        json.dumps({**good, "key": "x" * 101}), json.dumps({**good, "key": ""}),
        json.dumps({**good, "assignment": "x" * 65}), json.dumps({**good, "answer": seen(0, 1, 10**30)}),
        json.dumps({**good, "answer": seen(0, 1, 2, name="HERE")}).replace("HERE", half),
    ]  # fmt: skip
    for name in ("key", "assignment"):
        bodies += [json.dumps({**good, name: "HERE"}).replace("HERE", odd) for odd in (half, nul)]
    json_type = {"content-type": "application/json"}
    with TestClient(make_studio(database=opened.name), base_url="http://127.0.0.1:8400") as client:
        for path in (f"/api/annotate/{token}/answers", f"/api/annotate/{token}/undo", "/api/annotate/%00%ff/answers"):
            for body in bodies:
                answered = client.post(path, content=body.encode(), headers=json_type)
                assert 400 <= answered.status_code < 500, (path, body[:80], answered.text)
                assert set(answered.json()) == {"detail"} and len(answered.json()["detail"]) < 2000
        assert answers(opened, study) == []
        assert client.post(f"/api/annotate/{token}/answers", json=good).status_code == 200
        wrong = client.get(f"/api/annotate/{token[:-1]}/about")
        assert (wrong.status_code, wrong.json()) == (404, {"detail": "not found"})
    assert len(answers(opened, study)) == 1
    opened.close()


# Whatever happens in whatever order


class Happenings(RuleBasedStateMachine):
    """Annotators and the owner at work; what must hold is compared with a plain list of what was acknowledged."""

    database: Database
    wanted, count = 2, 3

    @initialize(people=st.integers(2, 4))
    def begin(self, people: int) -> None:
        self.study, self.tokens = make(self.database, count=self.count, people=people, wanted=self.wanted)
        self.shown: list[dict[str, str]] = [{} for _ in self.tokens]
        self.counted: dict[tuple[int, str], dict] = {}
        self.order: list[list[tuple[str, int]]] = [[] for _ in self.tokens]
        self.withdrawn: set[tuple[int, str, int]] = set()
        self.keys = 0

    @rule(who=st.integers(0, 3))
    def next(self, who: int) -> None:
        who %= len(self.tokens)
        found = next_item(self.database, self.tokens[who])
        if found is not None:
            assert (who, found.assignment_id) not in self.counted, "what is answered is not shown again"
            self.shown[who][found.assignment_id] = found.content.sentences[0]

    @precondition(lambda self: any(self.shown))
    @rule(data=st.data(), new_key=st.booleans())
    def submit(self, data: st.DataObject, new_key: bool) -> None:
        who = data.draw(st.sampled_from([n for n, some in enumerate(self.shown) if some]))
        which = data.draw(st.sampled_from(sorted(self.shown[who])))
        self.keys += new_key
        answer = parse_answer("annotation", seen(0, 1, 2 + self.keys % 8)).model_dump()
        before = self.counted.get((who, which))
        try:
            kept = submit(self.database, self.tokens[who], which, answer, f"key {self.keys}")
        except Refused:
            others = [n for (n, a) in self.counted if self.shown[n][a] == self.shown[who][which]]
            full = before is None and len(others) + self._held(self.shown[who][which]) >= self.wanted
            assert full or before not in (None, answer) or (who, which, self.keys) in self.withdrawn
            return
        assert kept.repeated == (before is not None)
        assert before in (None, answer)
        if before is None:
            self.counted[who, which] = answer
            self.order[who].append((which, self.keys))

    @rule(who=st.integers(0, 3))
    def undo(self, who: int) -> None:
        who %= len(self.tokens)
        if not self.order[who]:
            with pytest.raises(Refused):
                undo(self.database, self.tokens[who])
            return
        last, key = self.order[who].pop()
        self.withdrawn.add((who, last, key))
        back = undo(self.database, self.tokens[who])
        assert back.assignment_id == last and back.previous == self.counted.pop((who, last))

    @rule(who=st.none() | st.integers(0, 3))
    def release(self, who: int | None) -> None:
        people = [row.id for row in progress(self.database, self.study).annotators]
        release(self.database, self.study, annotator_id=None if who is None else people[who % len(people)])
        if who is None:
            assert progress(self.database, self.study).in_hand == 0

    @rule()
    def go_away(self) -> None:
        _left_alone(self.database, self.study, 10_000)

    @invariant()
    def nothing_is_lost_or_too_much(self) -> None:
        kept = answers(self.database, self.study)
        people = {f"person {n}": n for n in range(len(self.tokens))}
        found = sorted((people[one.annotator], json.dumps(one.answer)) for one in kept)
        assert found == sorted((who, json.dumps(answer)) for (who, _), answer in self.counted.items())
        assert all(n <= self.wanted for n in Counter(one.item_id for one in kept).values())
        rows = _assignments(self.database, self.study)
        assert all(n <= self.wanted for n in Counter(row.item_id for row in rows if row.slot).values())
        assert all(row.slot in (1, 2) for row in rows if row.answered)
        answered = {(row.item_id, row.annotator_id) for row in rows if row.answered}
        assert answered == {(one.item_id, one.annotator_id) for one in kept} and len(answered) == len(kept)
        told = progress(self.database, self.study)
        assert told.answered == len(kept) and told.in_hand == sum(r.slot is not None and not r.answered for r in rows)

    def _held(self, sentence: str) -> int:
        asked = select(Item.id, Item.content).where(Item.study_id == self.study)
        with self.database.reading() as session:
            [item] = [i for i, content in session.execute(asked) if content["sentences"][0] == sentence]
        rows = _assignments(self.database, self.study)
        return sum(row.item_id == item and row.slot is not None and not row.answered for row in rows)


def test_whatever_happens_there_is_no_third_opinion(database: Database) -> None:
    Happenings.database = database
    slow = database.engine.dialect.name == "postgresql"
    how = settings(
        max_examples=6 if slow else 12,
        stateful_step_count=25,
        deadline=None,
        derandomize=True,
        # To shrink what failed takes minutes on a disk.
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Happenings, settings=how)


def _assignments(database: Database, study: int) -> list[Assignment]:
    with database.reading() as session:
        return list(session.scalars(select(Assignment).join(Item).where(Item.study_id == study)))


def _left_alone(database: Database, study: int, seconds: int) -> None:
    """As if so many seconds had gone by."""
    with database.writing() as session:
        people = select(Annotator.id).where(Annotator.study_id == study)
        for row in session.scalars(select(Assignment).where(Assignment.annotator_id.in_(people))):
            earlier = row.seen_at - timedelta(seconds=seconds)
            session.execute(update(Assignment).where(Assignment.id == row.id).values(seen_at=earlier))
        assert session.get(Study, study) is not None

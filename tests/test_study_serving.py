"""Twenty annotators at once, and a server that is killed in between: nothing acknowledged is lost or counted twice."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from study_servers import KillableStudio, annotation_items, postgres

from theodolite.study.answers import answers
from theodolite.study.create import create_study
from theodolite.study.database import Database
from theodolite.study.invitations import invite
from theodolite.study.progress import progress

ANNOTATORS, ITEMS, WANTED, KILLS = 20, 60, 2, 10


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "studies.db")
        return
    with postgres() as url:
        yield url


@dataclass
class Crowd:
    """Annotators who go on until nothing is left, and remember what was acknowledged."""

    studio: KillableStudio
    acknowledged: dict[tuple[str, str], dict] = field(default_factory=dict)
    taken_back: int = 0
    broken: int = 0
    faults: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def annotate(self, name: str, token: str) -> None:
        try:
            self._annotate(name, token, random.Random(name))
        except Exception as fault:
            self.faults.append(f"{name}: {fault!r}")
            self.over.set()

    def _annotate(self, name: str, token: str, chance: random.Random) -> None:
        number = 0
        with httpx.Client(base_url=f"{self.studio.address}/api/annotate/{token}/", timeout=30) as client:
            while True:
                found = self._ask(client, "next", None)
                if found["state"] == "done":
                    return
                if found["state"] == "waiting":
                    time.sleep(0.2)
                    continue
                number += 1
                seen = sorted(chance.sample(range(10), chance.randint(3, 10)))
                answer = {"kind": "annotation", "pattern": True}
                answer["patterns"] = [{"name": f"{name} {number}", "sentences": seen}]
                body = {"assignment": found["item"]["assignment"], "answer": answer, "key": f"{name} {number}"}
                saved = self._ask(client, "answers", body)
                self.acknowledged[name, body["assignment"]] = answer
                if chance.random() < 0.1:
                    self._ask(client, "undo", {"assignment": saved["progress"]["undo"]})
                    del self.acknowledged[name, body["assignment"]]
                    self.taken_back += 1

    def _ask(self, client: httpx.Client, what: str, body: dict | None) -> dict:
        """Ask until there is an answer, as the annotators' page does."""
        while not self.over.is_set():
            try:
                answered = client.post(what, json=body)
            except httpx.TransportError:
                self.broken += 1
                time.sleep(0.05)
                continue
            assert answered.status_code == 200, (what, answered.status_code, answered.text)
            return answered.json()
        raise AssertionError("the test is over")


def test_no_answer_is_lost_and_no_item_has_one_too_many(address: str) -> None:
    database = Database.open(address)
    items, key = annotation_items(ITEMS)
    study = create_study(database, name="many", kind="annotation", items=items, key=key, annotators_per_item=WANTED)
    links = invite(database, study, [f"annotator {n}" for n in range(ANNOTATORS)])
    studio = KillableStudio(address)
    crowd = Crowd(studio)
    people = [threading.Thread(target=crowd.annotate, args=link) for link in links]
    chance = random.Random(0)
    try:
        studio.start()
        for person in people:
            person.start()
        for kill in range(KILLS):
            goal = (kill + 1) * ITEMS * WANTED // (KILLS + 2)
            while len(crowd.acknowledged) < goal and not crowd.faults:
                time.sleep(0.001)
            time.sleep(chance.random() / 20)
            assert crowd.faults == []
            assert any(person.is_alive() for person in people), "all was done before the last kill"
            studio.kill()
            studio.start()
        for person in people:
            person.join(60)
    finally:
        crowd.over.set()
        studio.close()
    assert crowd.faults == []
    assert crowd.broken > KILLS and crowd.taken_back > 0
    kept = answers(database, study)
    assert len(kept) == len(crowd.acknowledged) == ITEMS * WANTED
    expected = sorted((name, str(answer)) for (name, _), answer in crowd.acknowledged.items())
    assert sorted((one.annotator, str(one.answer)) for one in kept) == expected
    opinions = Counter(one.item_id for one in kept)
    assert len(opinions) == ITEMS and set(opinions.values()) == {WANTED}
    assert len({(one.item_id, one.annotator) for one in kept}) == len(kept)
    found = progress(database, study)
    assert (found.answered, found.in_hand, found.finished_items) == (ITEMS * WANTED, 0, ITEMS)
    database.close()

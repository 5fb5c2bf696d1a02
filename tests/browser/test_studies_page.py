"""Studies in a real browser: made, answered by two people, read; answers that survive a dead server; hostile text."""

from __future__ import annotations

import csv
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

SCRIPT = "<script>document.title = 'taken'</script>"
TURNED = "\u202eturned round\u202c"
LONG = "x" * 100_000
SERVER = """
import sys, uvicorn
from theodolite.studio.app import make_studio
from theodolite.studio.settings import Settings
port = int(sys.argv[1])
uvicorn.run(make_studio([], database=sys.argv[2], settings=Settings(port=port)), port=port, log_level="error")
"""
NO_SERVER = ("ERR_CONNECTION_REFUSED", "no answer:", "ERR_FAILED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")


class Server:
    """A studio with no survey and a database of its own, that can be killed and started again."""

    def __init__(self, database):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address, self.database = f"http://127.0.0.1:{self.port}", database
        self.start()

    def start(self):
        command = [sys.executable, "-c", SERVER, str(self.port), str(self.database)]
        self.process = subprocess.Popen(command)
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"{self.address}/api/studies", timeout=5).close()
                return
            except OSError:
                assert self.process.poll() is None, "the server did not start"
                time.sleep(0.2)
        pytest.fail("the server did not answer")

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope="module")
def server(node_modules, tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("own") / "studies.db")
    yield running
    running.kill()


@pytest.fixture(scope="module")
def database(server):
    from theodolite.study.database import Database

    opened = Database.open(server.database)
    yield opened
    opened.close()


@pytest.fixture
def own(visit, server):
    """As ``visit``, at the server that can be killed."""
    visit.address = server.address
    return visit


def annotation(database, sentences, *, people, name="sets", items=1):
    """A study of some sets with the same sentences, and the links of its annotators."""
    from theodolite.study.create import create_study
    from theodolite.study.invitations import invite

    shown = [{"id": str(i), "corpus": "c", "sentences": [f"{s} {i}" for s in sentences]} for i in range(items)]
    key = [{"id": str(i), "condition": "neuron", "direction": f"neuron {i}", "rows": []} for i in range(items)]
    study = create_study(database, name=name, kind="annotation", items=shown, key=key, annotators_per_item=len(people))
    return study, [f"/a/{token}" for _, token in invite(database, study, people)]


def given(database, study):
    from theodolite.study.answers import answers

    return [(one.annotator, one.answer) for one in answers(database, study)]


def begin(page):
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("group", name=re.compile("Is there a pattern")).wait_for()


def saved(page):
    page.get_by_text("✓ Saved").wait_for()


def test_a_study_is_made_answered_by_two_people_and_read(visit, no_serious_faults, no_sideways_scroll):
    owner = visit("/studies/new?kind=annotation")
    owner.get_by_label("Name", exact=True).fill(f"Neurons {SCRIPT}")
    for option, count in (("Neurons", 2), ("Directions", 1), ("Sentences", 1)):
        owner.get_by_label(option, exact=True).fill(str(count))
    owner.get_by_role("button", name="Create study").click()
    owner.wait_for_url(re.compile(r"/studies/\d+$"))
    owner.get_by_label("Names, one a line").fill(f"Ada {SCRIPT}\nBen {TURNED}")
    owner.get_by_role("button", name="Invite 2 people").click()
    owner.get_by_text("Copy these links now.").wait_for()
    links = owner.locator(".studies-links input").evaluate_all("fields => fields.map((field) => field.value)")
    assert len(set(links)) == 2
    assert f"Ada {SCRIPT}" in owner.locator(".studies-link-name").first.inner_text()
    no_serious_faults(owner)

    paths = [link.removeprefix(visit.address) for link in links]
    ada, ben = visit(paths[0]), visit(paths[1], width=400, theme="dark")
    asked: list[str] = []
    ada.on("request", lambda request: asked.append(request.url))
    for page in (ada, ben):
        begin(page)
        no_serious_faults(page)
        no_sideways_scroll(page)
    for item in range(4):
        by_keys(ada, "Quoted speech" if item else "quoted  speech!")
        by_mouse(ben, "People speaking" if item < 3 else None)
    for page in (ada, ben):
        page.get_by_text("That was all. Thank you!").wait_for()
        no_serious_faults(page)
    # An annotator's browser never asks what only the owner may know.
    assert all("/api/annotate/" in url or "/assets/" in url for url in asked), asked

    owner.get_by_role("tab", name="Results").click()
    owner.get_by_text("All 8 answers to 4 items are there.").wait_for()
    table = owner.get_by_role("table", name="By condition and corpus").inner_text()
    rows = [line.split("\t") for line in table.splitlines() if "\tall\t" in line]
    assert sum(int(row[2]) for row in rows) == 4
    assert sum(int(row[3]) for row in rows) == 3 and sum(int(row[5]) for row in rows) == 1
    assert owner.locator(".chart svg[role=img]").count() >= 2
    assert "Krippendorff's alpha" in owner.get_by_role("table", name="Coefficients of agreement").inner_text()
    no_serious_faults(owner)
    merged_and_taken_home(owner)
    no_serious_faults(owner)
    # Its own page, by its address alone, narrow and dark.
    again = visit(f"{owner.url.removeprefix(visit.address)}", width=400, theme="dark")
    assert "tab=merging" in again.url
    again.get_by_role("tab", name="Results").click()
    again.get_by_text("All 8 answers").wait_for()
    no_sideways_scroll(again)
    no_serious_faults(again)
    assert again.title() == f"Neurons {SCRIPT} · Theodolite"


def merged_and_taken_home(owner):
    """Two patterns are said to mean the same, by key; that is taken back; the answers are saved."""
    owner.get_by_role("tab", name="Merge patterns").click()
    owner.get_by_role("region", name="Pattern: Quoted speech").or_(
        owner.get_by_role("region", name="Pattern: quoted speech!")
    ).wait_for()
    owner.keyboard.press("s")
    owner.get_by_text("is the same as").wait_for()
    owner.get_by_role("heading", name="Groups of several names").wait_for()
    owner.keyboard.press("u")
    owner.get_by_text("is the same as").wait_for(state="detached")
    with owner.expect_download() as download:
        owner.get_by_role("button", name="Answers as CSV").click()
    answers = list(csv.DictReader(download.value.path().read_text(encoding="utf-8").splitlines()))
    assert {row["key_condition"] for row in answers} == {"neuron", "random direction", "random sentences"}
    assert len(answers) == 8


def by_keys(page, name):
    """A pattern by the keyboard alone."""
    page.locator("h1").click()
    before = page.locator(".study-count").inner_text()
    for key in ("1", "3", "4", "0", "3", "5", "t"):
        page.keyboard.press(key)
    page.keyboard.type(name)
    assert "4 sentences" in page.locator(".study-pattern").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_function("(text) => document.querySelector('.study-count')?.innerText !== text", arg=before)
    saved(page)


def by_mouse(page, name):
    """A pattern, or none, by clicking."""
    before = page.locator(".study-count").inner_text()
    page.get_by_role("radio", name="Yes" if name else "No").check()
    if name:
        for number in (0, 2, 3):
            page.locator(".study-sentence input").nth(number).check()
        page.get_by_label("Name of the pattern").fill(name)
    page.get_by_role("button", name="Submit").click()
    page.wait_for_function("(text) => document.querySelector('.study-count')?.innerText !== text", arg=before)
    saved(page)


def test_an_answer_outlives_a_dead_server_a_reload_and_a_lost_reply(own, server, database):
    study, [link] = annotation(database, "abcdefghij", people=["Ada"], items=3)
    page = own(link, allowed=NO_SERVER)
    begin(page)
    server.kill()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    page.get_by_text("Your answer is kept here and is being sent again").wait_for()
    server.start()
    saved(page)
    assert len(given(database, study)) == 1

    # The reply is lost after the answer is on disk: sent again under the same key, it counts once.
    def lose_the_reply(route):
        route.fetch()
        route.abort()

    page.route("**/answers", lose_the_reply, times=1)
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    page.get_by_text("2 of 3").wait_for()
    saved(page)
    assert len(given(database, study)) == 2

    # A page that is loaded anew while its answer is on its way sends it first.
    page.route("**/answers", lambda route: route.abort())
    for key in ("1", "2", "3", "t"):
        page.keyboard.press(key)
    page.keyboard.type("letters")
    page.keyboard.press("Enter")
    page.get_by_text("is being sent again").wait_for()
    page.unroute("**/answers")
    page.reload()
    page.get_by_text("That was all. Thank you!").wait_for()
    assert given(database, study)[-1][1]["patterns"] == [{"name": "letters", "sentences": [0, 1, 2]}]
    assert len(given(database, study)) == 3


def test_drafts_undo_several_patterns_and_what_is_missing(own, database, no_serious_faults):
    study, [link] = annotation(database, "abcdefghij", people=["Ada"], items=2)
    page = own(link)
    begin(page)
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("Say whether there is a pattern.").wait_for()
    for key in ("1", "2", "Enter"):
        page.keyboard.press(key)
    page.get_by_text("Tick 1 more sentence.").wait_for()
    page.keyboard.press("5")
    page.get_by_label("Name of the pattern").fill("vowels")
    page.reload()
    # What was begun is there again.
    assert page.get_by_label("Name of the pattern").input_value() == "vowels"
    assert page.locator(".study-sentence input:checked").count() == 3
    # Letters typed at once after a key are the name's, and no shortcuts.
    page.keyboard.press("p")
    page.keyboard.type("not yet any")
    page.keyboard.press("Escape")
    for key in ("8", "9", "0"):
        page.keyboard.press(key)
    no_serious_faults(page)
    page.keyboard.press("Enter")
    page.get_by_text("1 of 2").wait_for()
    page.keyboard.press("u")
    page.get_by_text("Your last answer was taken back").wait_for()
    assert given(database, study) == []
    page.get_by_role("button", name="Remove pattern 2").click()
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("1 of 2").wait_for()
    assert [answer["patterns"] for _, answer in given(database, study)] == [
        [{"name": "vowels", "sentences": [0, 1, 4]}]
    ]
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("another pattern").wait_for()
    no_serious_faults(page)
    page.get_by_role("dialog").get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    # Single keys can be switched off for those whose screen reader needs them.
    assert page.get_by_role("radio", name="No").is_checked() is False


def test_keys_act_as_soon_as_there_is_something_to_see(own, database):
    _, [link] = annotation(database, "abcdefghij", people=["Ada"])
    page = own(link)
    # Before the frame is drawn in which the sentences appear: later, keys of a fast hand on a slow machine were lost.
    page.evaluate("""() => new MutationObserver((_, observer) => {
        if (!document.querySelector(".study-sentence")) return;
        observer.disconnect();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "2", bubbles: true, cancelable: true }));
    }).observe(document.body, { childList: true, subtree: true })""")
    begin(page)
    assert page.locator(".study-sentence input").nth(1).is_checked()


@pytest.mark.parametrize(("width", "theme"), [(1280, "dark"), (400, "light")])
def test_ratings_and_rationales(own, database, width, theme, no_serious_faults, no_sideways_scroll):
    from theodolite.study.create import create_study
    from theodolite.study.invitations import invite

    text = f"A soft jumper {SCRIPT}"
    words = [
        {"word": w, "start": text.index(w), "end": text.index(w) + len(w), "weight": 0.5} for w in ("soft", "jumper")
    ]
    pairs = [{"index_a": 1, "index_b": 1}, {"index_a": 0, "index_b": 7}]
    item = {"id": "i", "text_a": text, "text_b": text, "words_a": words, "words_b": words, "pairs": pairs}
    key = [{"id": "i", "pair": 0, "method": "bti"}]
    study = create_study(database, name="r", kind="rating", items=[item], key=key)
    [(_, token)] = invite(database, study, ["Ada"])
    page = own(f"/a/{token}", width=width, theme=theme)
    page.get_by_role("button", name="Begin").click()
    page.locator(".study-word sup").first.wait_for()
    # A pair that names a word which is not there is left out.
    assert page.locator(".study-pairs li").all_inner_texts() == ["1 jumper – jumper"]
    assert page.locator(".study-lines path").count() == 1 if width > 960 else True
    assert SCRIPT in page.locator(".study-words").first.inner_text()
    no_serious_faults(page)
    no_sideways_scroll(page)
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.get_by_text("That was all. Thank you!").wait_for()
    assert given(database, study) == [("Ada", {"kind": "rating", "rating": 4})]

    near = [{"text": text, "label": "good", "answer": None}]
    item = {"id": "i", "text": text, "label": "bad", "answer": "good", "neighbours": near}
    key = [{"id": "i", "corpus": "c", "row": 0, "representation": "cls"}]
    study = create_study(database, name="w", kind="rationale", items=[item], key=key)
    [(_, token)] = invite(database, study, ["Ada"])
    page = own(f"/a/{token}", width=width, theme=theme)
    page.get_by_role("button", name="Begin").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("Its neighbours").wait_for()
    no_serious_faults(page)
    no_sideways_scroll(page)
    page.keyboard.press("y")
    page.keyboard.type("both are soft")
    page.keyboard.press("Control+Enter")
    page.get_by_text("That was all. Thank you!").wait_for()
    assert given(database, study) == [("Ada", {"kind": "rationale", "explains": True, "rationale": "both are soft"})]


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (400, "dark")])
def test_hostile_text_shows_as_text_everywhere(own, database, width, theme, no_sideways_scroll, no_serious_faults):
    sentences = [
        SCRIPT,
        TURNED,
        LONG,
        "<b>bold</b>",
        "&amp; &lt;",
        "'\"><img src=x onerror=alert(1)>",
        "g",
        "h",
        "i",
        "j",
    ]
    people = [f"Ada {SCRIPT}", f"Ben {TURNED}"]
    study, links = annotation(database, sentences, people=people, name=f"{SCRIPT} {TURNED} {width}")
    for link, name in zip(links, (f"{SCRIPT} {LONG[:300]}", f"{TURNED} <script>"), strict=True):
        page = own(link, width=width, theme=theme)
        begin(page)
        shown = page.locator(".study-sentence-text").all_inner_texts()
        assert shown[0] == f"{SCRIPT} 0" and shown[3] == "<b>bold</b> 0" and shown[4] == "&amp; &lt; 0"
        assert len(shown[2]) < 1000
        page.get_by_role("button", name="Show all 100,002 characters").click()
        assert page.locator(".study-sentence-text").nth(2).inner_text().startswith(LONG)
        # Asking for the rest ticks nothing.
        assert page.locator(".study-sentence input:checked").count() == 0
        no_sideways_scroll(page)
        for key in ("1", "2", "3"):
            page.keyboard.press(key)
        page.get_by_label("Name of the pattern").fill(name)
        page.get_by_role("button", name="Submit").click()
        page.get_by_text("That was all. Thank you!").wait_for()
        assert page.evaluate("document.title") == "Patterns in sentences"
    for tab in ("progress", "results", "merging"):
        page = own(f"/studies/{study}?tab={tab}", width=width, theme=theme)
        assert page.locator("h1").inner_text().startswith(SCRIPT)
        no_sideways_scroll(page)
        no_serious_faults(page)
        if tab == "progress":
            assert f"Ada {SCRIPT}" in page.locator("tbody").inner_text()
        else:
            assert SCRIPT in page.locator("main").inner_text()
        assert page.locator("main script, main img, main b").count() == 0
        assert page.title().endswith("Theodolite")


def test_links_that_lead_nowhere_and_closed_studies_say_so(own, database):
    from theodolite.study.create import close

    refused = ("the server responded with a status of 404",)
    page = own("/a/" + "x" * 43, allowed=refused)
    page.get_by_text("This link leads to no study").wait_for()
    study, [link] = annotation(database, "abcdefghij", people=["Ada"])
    close(database, study)
    page = own(link)
    page.get_by_text("This study is closed. Thank you!").wait_for()
    page = own("/studies/99999", allowed=refused)
    assert "there is no study 99999" in page.locator(".fault").inner_text()


def test_an_owner_renews_a_link_and_closes_the_study(own, database):
    study, [old] = annotation(database, "abcdefghij", people=["Ada"])
    page = own(f"/studies/{study}")
    page.get_by_role("button", name="New link for Ada").click()
    fresh = page.get_by_label("Link for Ada", exact=True).input_value().removeprefix(own.address)
    assert fresh != old
    own(old, allowed=("404",)).get_by_text("This link leads to no study").wait_for()
    begin(own(fresh))
    page.get_by_role("button", name="Release the items of Ada").click()
    page.get_by_role("button", name="Release the items of Ada").wait_for(state="detached")
    page.get_by_role("button", name="Close", exact=True).click()
    page.get_by_role("button", name="Reopen").wait_for()
    assert page.get_by_text("closed", exact=True).is_visible()

"""What the tests of the pages share: the built pages, a small demo, a live server, and a real browser."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from browser.demo_folder import PARTS, DemoFolder

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ("--no-sandbox", "--enable-unsafe-swiftshader")
WIDTHS = {"wide": 1280, "narrow": 400}
HEIGHT = 900
# Loading a model on a busy machine takes a while.
PATIENCE = 120_000
# Nothing is loading, and every chart that has room is there.
DRAWN = """() => !document.querySelector("main .loading")
  && [...document.querySelectorAll(".chart-box")].every((box) => !box.clientWidth || box.childElementCount)"""


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this run share; THEODOLITE_BROWSER_DEMO names one to keep for the next run."""
    kept = os.environ.get("THEODOLITE_BROWSER_DEMO")
    base = tmp_path_factory.getbasetemp()
    folder = Path(kept) if kept else (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "browser"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """Builds the pages as their sources are now; gives the folder of what they are built with."""
    sys.path.insert(0, str(ROOT / "tools"))
    import pages

    try:
        pages.ensure_pages()
        return pages.ensure_modules()
    except pages.Unbuilt as fault:
        (pytest.fail if os.environ.get("CI") or shutil.which("node") else pytest.skip)(f"the pages: {fault}")


@pytest.fixture(scope="session")
def demo(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> DemoFolder:
    """The demo, made once a run; the surveys are this worker's own copies, to which a page may add readings."""
    own, whole = DemoFolder(tmp_path_factory.mktemp("demo")), DemoFolder(shared_folder / "demo")
    # Every second worker begins at the other end, so that two make a half each.
    order = -1 if os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579" else 1
    for part in list(PARTS)[::order]:
        with _alone(shared_folder / f"{part}.lock"):
            done = shared_folder / f"{part}.done"
            if not done.exists():
                PARTS[part](whole)
                done.touch()
    for copy, original in ((own.genres, whole.genres), (own.reviews, whole.reviews)):
        shutil.copytree(original, copy)
    for link, original in ((own.classifier, whole.classifier), (own.items, whole.items), (own.store, whole.store)):
        link.symlink_to(original)
    return own


@contextmanager
def serving(arguments: Sequence[Any], log: Path) -> Iterator[str]:
    """The address of a studio, served by the command itself with these arguments."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "theodolite", "studio", *arguments, "--port", port, "--no-browser"]
    with log.open("w") as out:
        server = subprocess.Popen([str(part) for part in command], stdout=out, stderr=out)
    try:
        _wait_for(f"http://127.0.0.1:{port}/api/studio", server, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="session", name="serving")
def serving_fixture(node_modules: Path) -> Callable[[Sequence[Any], Path], Any]:
    """Serves a studio of a test's own."""
    return serving


@pytest.fixture(scope="session")
def studio(node_modules: Path, demo: DemoFolder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a studio on the demo."""
    arguments = [demo.genres, demo.reviews, "--model", demo.classifier, "--catalogue", demo.items]
    database = tmp_path_factory.mktemp("studies") / "studies.db"
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with serving([*arguments, "--store", demo.store, "--database", database], log) as address:
        yield address


# Of a module, not of the session: its event loop would be in the way of other files' tests.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window, drawing WebGL in software."""
    from playwright.sync_api import sync_playwright

    if not CHROMIUM.exists():
        pytest.skip(f"needs {CHROMIUM}: apt-get install chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def artefacts() -> Path:
    """Where screenshots stay: THEODOLITE_ARTEFACTS, or build/browser in the clone."""
    folder = Path(os.environ.get("THEODOLITE_ARTEFACTS") or ROOT / "build" / "browser")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Visits:
    """Opens pages and notes whatever goes wrong on them."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser, self.address = browser, address
        self.contexts: list[Any] = []
        self.pages: list[Any] = []
        self.faults: list[str] = []

    def __call__(
        self, path: str, *, width: int = WIDTHS["wide"], theme: str = "light", allowed: Sequence[str] = ()
    ) -> Any:
        """A page of a new visitor, settled. allowed: patterns of faults that the test brings about on purpose."""
        visitor = self.browser.new_context(
            viewport={"width": width, "height": HEIGHT}, color_scheme=theme, reduced_motion="reduce"
        )
        visitor.set_default_timeout(PATIENCE)
        self.contexts.append(visitor)
        page = visitor.new_page()
        self.pages.append(page)

        def note(fault: str) -> None:
            if not any(re.search(pattern, fault) for pattern in allowed):
                self.faults.append(fault)

        page.on("console", lambda said: note(f"console: {said.text} ({said.location})") if said.type == "error" else 0)
        page.on("pageerror", lambda error: note(f"page error: {error}"))
        page.on("requestfailed", lambda request: None if _withdrawn(request) else note(f"no answer: {request.url}"))
        page.goto(self.address + path)
        settled(page)
        return page


@pytest.fixture
def visit(browser: Any, studio: str, artefacts: Path, request: pytest.FixtureRequest) -> Iterator[Visits]:
    """Opens pages: ``visit("/s/theodolite-demo/map", width=400, theme="dark")``.

    The test fails if anything went wrong on them: console errors, exceptions, failed requests. Each page's last state
    is kept as a picture.
    """
    visits = Visits(browser, studio)
    yield visits
    name = re.sub(r"[^\w.-]+", "-", f"{request.module.__name__}-{request.node.name}").strip("-")
    for number, page in enumerate(visits.pages, 1):
        if not page.is_closed():
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=artefacts / f"{name}{'' if number == 1 else f'-{number}'}.png", full_page=True)
    for visitor in visits.contexts:
        visitor.close()
    if visits.faults:
        pytest.fail("on the page:\n" + "\n".join(visits.faults))


def settled(page: Any) -> None:
    """Wait until a page has its heading, nothing on it is still loading and its charts are drawn."""
    page.wait_for_selector("main h1", timeout=PATIENCE)
    page.wait_for_function(DRAWN, timeout=PATIENCE)
    # What is drawn once its room has been measured comes a frame later.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.fixture(scope="session", name="settled")
def settled_fixture() -> Callable[[Any], None]:
    """Waits until a page has its heading and nothing on it is still loading."""
    return settled


@pytest.fixture(scope="session")
def no_serious_faults(node_modules: Path) -> Callable[[Any], None]:
    """Asserts that axe finds no serious accessibility fault on a page."""
    source = (node_modules / "axe-core" / "axe.min.js").read_text(encoding="utf-8")

    def check(page: Any) -> None:
        page.evaluate(source)
        found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'], preload: false })")
        serious = [
            f"{one['id']}: {one['help']}\n" + "\n".join(f"    {node['html'][:200]}" for node in one["nodes"][:5])
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
        ]
        assert not serious, "\n".join(serious)

    return check


@pytest.fixture(scope="session")
def no_sideways_scroll() -> Callable[[Any], None]:
    """Asserts that a page is no wider than its window; names what sticks out."""

    def check(page: Any) -> None:
        wide = page.evaluate(
            """() => {
              const room = document.documentElement.clientWidth;
              if (document.documentElement.scrollWidth <= room) return null;
              const all = [...document.querySelectorAll("body *")];
              const out = all.filter((element) => element.getBoundingClientRect().right > room + 1);
              return out.slice(0, 5).map((element) => element.outerHTML.slice(0, 120));
            }"""
        )
        assert wide is None, f"wider than the window: {wide}"

    return check


def _withdrawn(request: Any) -> bool:
    """Whether the page itself took a question back, as it does when another is asked."""
    return "ERR_ABORTED" in str(request.failure)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    import fcntl

    with place.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"the studio did not start:\n{log.read_text()}")

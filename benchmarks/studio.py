"""The studio's map of 170,000 real sentences, in a real browser: opening, panning, a lasso, the server's memory.

The sentences are those of `corpora/`; their places are a cheap projection of their words, in the place of an hour's
encoding: what the studio does with them is the same. Chromium draws WebGL in software (`FLAGS`).
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.row import Row
from benchmarks.settings import Settings

CORPORA = ("novels", "passages", "wiki", "questions")
# Of each corpus at most: 173,330 in all.
TEXTS, QUICK_TEXTS = 50_000, 5_000
ROUNDS = 3
CHROMIUM = "/usr/bin/chromium"
# WebGL in software; with --use-angle=swiftshader the whole page would be drawn by it, and everything takes longer.
FLAGS = ("--no-sandbox", "--enable-unsafe-swiftshader")
WORDS = 4096
STEPS = 60
WATCH = """
window.tasks = [];
new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((task) => task.duration)))
  .observe({ type: "longtask", buffered: false });
"""


@dataclass(frozen=True)
class Visit:
    """What one visit took: seconds until the points were on the screen, and until a selection's texts were;
    milliseconds of the longest task while panning; points selected."""

    drawn: float
    listed: float
    longest: float
    selected: int


def run(settings: Settings) -> Iterator[Row]:
    judged = not settings.quick
    with tempfile.TemporaryDirectory(prefix="theodolite-bench-") as folder:
        survey, store = Path(folder) / "survey", Path(folder) / "store"
        texts = make_survey(settings, survey, store)
        with serving(survey, store) as (address, server):
            visits = [visit(f"{address}/s/survey/map") for _ in range(settings.size(ROUNDS, 1))]
            memory = peak_gb(server.pid)
    flags = f"{texts:,} points, Chromium {' '.join(FLAGS)}, median of {len(visits)}"
    yield Row(
        "studio: from opening the map to points on the screen",
        median(v.drawn for v in visits),
        "s",
        at_most=3.0 if judged else None,
        note=flags,
    )
    yield Row(
        "studio: longest task of the page while panning",
        median(v.longest for v in visits),
        "ms",
        at_most=50.0 if judged else None,
        note="tasks under 50 ms are not reported by the browser, and count as 0",
    )
    yield Row(
        "studio: from the end of a lasso to its texts listed",
        median(v.listed for v in visits),
        "s",
        at_most=1.0 if judged else None,
        note=f"{min(v.selected for v in visits):,} points or more",
    )
    yield Row("studio: peak memory of the server", memory, "GB", at_most=2.0 if judged else None)


def make_survey(settings: Settings, folder: Path, store: Path) -> int:
    """A reading with a map of the sentences, saved as illusion saves its own; how many there are."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import HashingVectorizer

    from theodolite.corpus import Corpus
    from theodolite.illusion import Illusion
    from theodolite.illusion.reading import IllusionReading

    limit = settings.size(TEXTS, QUICK_TEXTS)
    sources = {name: settings.data / "corpora" / f"{name}.txt.gz" for name in CORPORA}
    corpora = [Corpus.read(source, name, limit=limit, cache=store) for name, source in sources.items()]
    words = HashingVectorizer(n_features=WORDS, stop_words="english", norm="l2", alternate_sign=False)
    counts = words.transform(text for corpus in corpora for text in corpus.texts())
    # Two components after the first, which is little more than length; ranks, so that the points fill the map.
    places = TruncatedSVD(3, random_state=0).fit_transform(counts)[:, 1:]
    ranks = places.argsort(axis=0, kind="stable").argsort(axis=0).astype(np.float32)
    spread = (ranks / len(ranks) - 0.5) * 10
    table = pa.table(
        {
            "corpus": pa.array([c.name for c in corpora for _ in range(len(c))]).dictionary_encode(),
            "row": np.concatenate([np.arange(len(c)) for c in corpora]),
            "x": spread[:, 0],
            "y": spread[:, 1],
        }
    )
    told = [{"name": c.name, "source": c.source, "hash": c.hash, "texts": len(c)} for c in corpora]
    encoder = {"name": "words", "hash": "", "tokenizer_hash": "", "layers": 0, "dim": WORDS, "window": ""}
    manifest = {"instrument": "illusion", "options": Illusion().options, "encoder": encoder, "corpora": told}
    IllusionReading({"map": table}, [], manifest).save(folder, figures=False)
    return int(table.num_rows)


@contextmanager
def serving(survey: Path, store: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a studio on the survey, and its process."""
    command = [sys.executable, "-m", "theodolite", "studio", survey, "--store", store, "--no-browser"]
    command += ["--database", survey.with_name("studies.db"), "--port", "8465"]
    server = subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE, text=True)
    try:
        address = _address(server)
        _up(f"{address}/api/surveys")
        yield address, server
    finally:
        server.terminate()
        server.wait(30)


def visit(address: str) -> Visit:
    """Open the map in a fresh browser, pan it, and draw a lasso around many points."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(WATCH)
        # The browser is open before the map is.
        page.wait_for_timeout(2000)
        began = time.perf_counter()
        page.goto(address)
        page.wait_for_selector("canvas[data-drawn]")
        box = page.locator(".map-box").bounding_box()
        assert box is not None
        # A picture waits for the frame: the points are on the screen when it is taken.
        page.screenshot(
            clip={"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2, "width": 8, "height": 8}
        )
        drawn = time.perf_counter() - began
        longest = _panned(page, box)
        listed, selected = _selected(page, box)
        browser.close()
    return Visit(drawn, listed, longest, selected)


def _panned(page: Any, box: dict[str, float]) -> float:
    """Milliseconds of the longest task while the map is dragged about; 0 where none took 50."""
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.wait_for_timeout(500)
    page.evaluate("window.tasks.length = 0")
    page.mouse.move(*middle)
    page.mouse.down()
    for step in range(STEPS):
        turn = 2 * math.pi * step / STEPS
        page.mouse.move(middle[0] + 120 * math.sin(turn), middle[1] + 80 * math.sin(2 * turn))
        page.wait_for_timeout(16)
    page.mouse.up()
    page.wait_for_timeout(500)
    return float(max(page.evaluate("window.tasks"), default=0.0))


def _selected(page: Any, box: dict[str, float]) -> tuple[float, int]:
    """Seconds from the end of a lasso until its texts are there to read, and how many points it holds."""
    page.get_by_role("button", name="Select with a lasso").click()
    centre = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    across, up = 0.2 * box["width"], 0.26 * box["height"]
    page.mouse.move(centre[0] + across, centre[1])
    page.mouse.down()
    for step in range(1, 40):
        turn = 2 * math.pi * step / 40
        page.mouse.move(centre[0] + across * math.cos(turn), centre[1] + up * math.sin(turn))
    began = time.perf_counter()
    page.mouse.up()
    page.wait_for_selector(".map-text")
    seconds = time.perf_counter() - began
    said = page.locator(".map-side h2").first.inner_text()
    return seconds, int(said.split()[0].replace(",", ""))


def peak_gb(process: int) -> float:
    """The most memory that a process ever held."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1e6 if found else float("nan")


def _address(server: subprocess.Popen[str]) -> str:
    """Where the studio says that it is."""
    assert server.stderr is not None
    for line in server.stderr:
        found = re.search(r"http://\S+", line)
        if found:
            return found[0].rstrip("/")
    raise RuntimeError("the studio did not start")


def _up(address: str) -> None:
    """Wait until it answers, as a person does who opens the page that it named."""
    for _ in range(1200):
        try:
            urllib.request.urlopen(address, timeout=30).read()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{address} does not answer")

"""How soon the studio answers: a pair typed into Compare, by its API and in a real browser, and a neuron's page.

On the bundled model and the demo corpora. What the model has to load, it has loaded: the page does so when it opens.
"""

from __future__ import annotations

import json
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote, urlencode

from benchmarks.row import Row
from benchmarks.settings import Settings
from benchmarks.studio import CHROMIUM, FLAGS, serving
from theodolite.similarity.methods import METHODS

A = "A dry red wine with notes of cherry and a long finish. It was aged in French oak."
B = "This red is very dry; ripe cherries, a hint of oak, and a taste that lasts."
TIMES = 20
# From the click until the new texts are drawn with their words joined, in milliseconds.
CLICK_TO_DRAWN = """(text) => new Promise((drawn) => {
  const button = [...document.querySelectorAll('main button')].find((one) => one.textContent === 'Explain');
  const begun = performance.now();
  button.click();
  const look = () => {
    const shown = document.querySelector('[data-side=a]')?.textContent === text;
    if (shown && document.querySelector('[data-testid=curves] g')) {
      requestAnimationFrame(() => drawn(performance.now() - begun));
    } else requestAnimationFrame(look);
  };
  look();
})"""


def run(settings: Settings) -> Iterator[Row]:
    times = settings.size(TIMES, 3)
    with tempfile.TemporaryDirectory(prefix="theodolite-bench-") as folder:
        survey, store = Path(folder) / "survey", Path(folder) / "store"
        make_survey(settings, survey, store)
        with serving(survey, store) as (address, _):
            api = f"{address}/api/surveys/survey"
            neurons = [_seconds(lambda n=n: _get(f"{api}/directions/one", name=f"neuron {n}")) for n in range(times)]  # type: ignore[misc]
            _get(f"{api}/compare/ready")
            pairs = [_seconds(lambda n=n: _explained(f"{api}/compare", n)) for n in range(times)]  # type: ignore[misc]
            drawn = _drawn(f"{address}/s/survey/compare?a={quote(A)}&b={quote(B)}", times)
    rows = {
        "studio: a pair explained, API": (pairs, 1.0),
        "studio: a pair explained, click to drawn": (drawn, 1.0),
        "studio: a neuron's page, API": (neurons, 0.3),
    }
    for what, (seconds, at_most) in rows.items():
        note = f"median of {times}, each another one; the slowest {max(seconds):.2f} s"
        yield Row(what, median(seconds), "s", at_most=at_most, note=note)


def make_survey(settings: Settings, folder: Path, store: Path) -> None:
    """Illusion's reading of the demo corpora, without its map."""
    from theodolite import Illusion, Store, Survey
    from theodolite.demo import demo_corpora

    how: dict[str, Any] = {"instruments": [Illusion(map="none")], "store": Store(store)}
    Survey.run(settings.encoder, demo_corpora(str(store)), **how).save(folder)


def _drawn(address: str, times: int) -> list[float]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        page.get_by_test_id("baseline").wait_for(timeout=120_000)
        found = []
        for number in range(times):
            text = f"{A} It is bottle number {number}."
            page.get_by_role("textbox", name="First text").fill(text)
            found.append(page.evaluate(CLICK_TO_DRAWN, text) / 1000)
        browser.close()
    return found


def _explained(place: str, number: int) -> Any:
    # Those that the page asks for at once; integrated gradients are computed when they are opened.
    methods = [method for method in METHODS if method != "integrated-gradients"]
    body = json.dumps({"a": f"{A} {number}", "b": B, "methods": methods}).encode()
    asked = urllib.request.Request(f"{place}/explain", body, {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(asked, timeout=60))


def _get(place: str, **query: str) -> Any:
    return json.load(urllib.request.urlopen(f"{place}?{urlencode(query)}", timeout=120))


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began

"""Makes the pictures of the README and of the tour from a studio on the demo: ``python tools/screenshots.py ADDRESS``.

Start one first with ``theodolite demo --studio --no-browser``. Needs /usr/bin/chromium.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OUT = Path(__file__).resolve().parents[1] / "docs" / "images"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--enable-unsafe-swiftshader")
WIDTH, HEIGHT, TALL = 1280, 800, 1000
LARGEST = 200_000
PATIENCE = 120_000
# Corners of a selection, in shares of the map.
LASSO = ((0.3, 0.2), (0.55, 0.15), (0.6, 0.45), (0.45, 0.6), (0.25, 0.5), (0.3, 0.2))


@dataclass(frozen=True)
class Picture:
    """A view of the studio, and what to do before it is taken."""

    name: str
    path: str
    theme: str = "light"
    height: int = TALL
    prepare: Callable[[Any], None] = lambda page: None


def main(address: str) -> None:
    from playwright.sync_api import sync_playwright

    OUT.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser: Any = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        genres, reviews = _surveys(browser, address)
        for picture in pictures(genres, reviews):
            size = {"width": WIDTH, "height": picture.height}
            visitor = browser.new_context(viewport=size, color_scheme=picture.theme, reduced_motion="reduce")
            visitor.set_default_timeout(PATIENCE)
            page = visitor.new_page()
            page.goto(address.rstrip("/") + picture.path)
            settle(page)
            picture.prepare(page)
            settle(page)
            body = compressed(page.screenshot())
            (OUT / f"{picture.name}.png").write_bytes(body)
            sys.stderr.write(f"{picture.name}.png: {len(body) // 1000} kB\n")
            visitor.close()
        browser.close()


def pictures(genres: str, reviews: str) -> list[Picture]:
    """Two for the README (names with readme), one a page for the tour."""
    return [
        Picture("readme-map", f"/s/{genres}/map", height=HEIGHT, prepare=select),
        Picture("readme-compare", f"/s/{genres}/compare", theme="dark", height=HEIGHT, prepare=read_on),
        Picture("tour-survey", f"/s/{genres}/survey"),
        Picture("tour-map", f"/s/{genres}/map", theme="dark", prepare=select),
        Picture("tour-directions", f"/s/{genres}/directions"),
        Picture("tour-layers", f"/s/{genres}/layers"),
        Picture("tour-compare", f"/s/{genres}/compare", prepare=compare),
        Picture("tour-salience", f"/s/{reviews}/salience?view=clusters"),
        Picture("tour-studies", "/studies/new?kind=annotation"),
    ]


def compare(page: Any) -> None:
    """Has two texts explained, and waits until the cosine has random pairs beside it."""
    page.get_by_role("button", name="Try an example").click()
    page.get_by_test_id("baseline").wait_for()


def read_on(page: Any) -> None:
    """As ``compare``, down to the words that carry the likeness."""
    compare(page)
    page.evaluate("() => window.scrollBy(0, 400)")


def select(page: Any) -> None:
    """Draws a lasso around the upper left part of the map."""
    box = page.locator("main canvas").first.bounding_box()
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in LASSO]
    page.keyboard.down("Shift")
    page.mouse.move(*at[0])
    page.mouse.down()
    for point in at[1:]:
        page.mouse.move(*point, steps=8)
    page.mouse.up()
    page.keyboard.up("Shift")


def settle(page: Any) -> None:
    """Wait until nothing is loading, and what was drawn last is on the screen."""
    page.wait_for_selector("main h1")
    page.wait_for_function("() => !document.querySelector('main .loading')")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)


def compressed(picture: bytes) -> bytes:
    """The picture in full colour where that is small enough for a repository, else with as many colours as fit."""
    from PIL import Image

    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    for colours in (0, 256, 128, 64):
        shown = whole.quantize(colours, kmeans=3, dither=Image.Dither.NONE) if colours else whole
        out = io.BytesIO()
        shown.save(out, "PNG", optimize=True)
        if out.tell() < LARGEST:
            break
    return out.getvalue()


def _surveys(browser: Any, address: str) -> tuple[str, str]:
    """The survey with directions, and the one with a classifier."""
    page = browser.new_page()
    page.goto(address)
    surveys = page.evaluate("async () => (await fetch('/api/surveys')).json()")
    page.close()
    by_instrument = {kind: survey["slug"] for survey in reversed(surveys) for kind in survey["instruments"]}
    return by_instrument["contextuality"], by_instrument["salience"]


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8400")

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
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
SIZE = {"width": 1280, "height": 800}
LARGEST = 200_000
PATIENCE = 120_000
# Enough for flat areas and anti-aliased text; a third of the bytes of full colour.
COLOURS = 192


@dataclass(frozen=True)
class Picture:
    """A view of the studio, and what to do before it is taken."""

    name: str
    path: str
    theme: str = "light"
    prepare: Callable[[Any], None] = lambda page: None


def main(address: str) -> None:
    from playwright.sync_api import sync_playwright

    OUT.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser: Any = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        genres, reviews = _surveys(browser, address)
        for picture in pictures(genres, reviews):
            visitor = browser.new_context(viewport=SIZE, color_scheme=picture.theme, reduced_motion="reduce")
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
        Picture("readme-map", f"/s/{genres}/map"),
        Picture("readme-directions", f"/s/{genres}/directions", theme="dark"),
        Picture("tour-survey", f"/s/{genres}/survey"),
        Picture("tour-map", f"/s/{genres}/map"),
        Picture("tour-directions", f"/s/{genres}/directions"),
        Picture("tour-layers", f"/s/{genres}/layers"),
        Picture("tour-compare", f"/s/{genres}/compare"),
        Picture("tour-salience", f"/s/{reviews}/salience"),
        Picture("tour-studies", "/studies"),
    ]


def settle(page: Any) -> None:
    """Wait until nothing is loading, and what was drawn last is on the screen."""
    page.wait_for_selector("main h1")
    page.wait_for_function("() => !document.querySelector('main .loading')")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)


def compressed(picture: bytes) -> bytes:
    """The picture with few colours, small enough for a repository."""
    from PIL import Image

    colours = COLOURS
    while True:
        few = Image.open(io.BytesIO(picture)).convert("RGB").quantize(colours, dither=Image.Dither.NONE)
        out = io.BytesIO()
        few.save(out, "PNG", optimize=True)
        if out.tell() < LARGEST or colours <= 16:
            return out.getvalue()
        colours //= 2


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

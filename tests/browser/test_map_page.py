"""The map page in a real browser: points are drawn, selected, searched, coloured, pinned and saved."""

from __future__ import annotations

import csv
import math
import re
import urllib.request
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

PATH = "/s/theodolite-demo/map"
API = "/api/surveys/theodolite-demo/map"


@pytest.fixture
def opened(visit):
    """The map, drawn."""

    def opened(path=PATH, **how):
        page = visit(path, **how)
        page.wait_for_selector("canvas[data-drawn]")
        return page

    return opened


def places(studio):
    body = urllib.request.urlopen(f"{studio}{API}/points").read()
    n = len(body) // 10
    x, y = np.frombuffer(body, "<f4", n), np.frombuffer(body, "<f4", n, 4 * n)
    return np.stack([x, y], axis=1), np.frombuffer(body, "<u2", n, 8 * n)


def inside(spots, outline):
    """By the angles under which a point sees the outline's edges: they add up to a full turn from within."""
    around = outline[None] - spots[:, None]
    angles = np.arctan2(around[..., 1], around[..., 0])
    turns = np.diff(np.concatenate([angles, angles[:, :1]], axis=1), axis=1)
    turns = (turns + np.pi) % (2 * np.pi) - np.pi
    return np.abs(turns.sum(axis=1)) > np.pi


def lasso(page, across=0.25):
    box = page.locator(".map-box").bounding_box()
    centre = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.get_by_role("button", name="Select with a lasso").click()
    page.mouse.move(centre[0] + across * box["width"], centre[1])
    page.mouse.down()
    for step in range(1, 24):
        turn = 2 * math.pi * step / 24
        page.mouse.move(
            centre[0] + across * box["width"] * math.cos(turn), centre[1] + across * box["height"] * math.sin(turn)
        )
    page.mouse.up()
    page.wait_for_selector(".map-text")


def address(page):
    return {key: values[0] for key, values in parse_qs(urlsplit(page.url).query).items()}


def heading(page):
    return page.locator(".map-side h2").last.inner_text()


def outline_of(page):
    return np.array([[float(v) for v in pair.split(",")] for pair in address(page)["lasso"].split()])


def test_a_lasso_selects(opened, studio, no_serious_faults):
    page = opened()
    lasso(page)
    spots, corpus = places(studio)
    within = inside(spots, outline_of(page))
    assert 0 < within.sum() < len(spots)
    assert heading(page) == f"{within.sum():,} texts"
    assert page.locator(".map-text").count() == min(within.sum(), 50)
    no_serious_faults(page)
    # The first category is hidden, and no longer among them.
    page.locator(".legend-item").first.click()
    page.wait_for_function(
        f"() => document.querySelector('.map-side').innerText.includes('{(within & (corpus > 0)).sum():,} texts')"
    )
    # Whoever is sent the address sees the same.
    again = opened(page.url.removeprefix(studio))
    again.wait_for_selector(".map-text")
    assert heading(again) == heading(page)


def test_a_rectangle_selects_and_a_text_is_pinned(opened, studio):
    page = opened()
    box = page.locator(".map-box").bounding_box()
    page.get_by_role("button", name="Select a rectangle").click()
    page.mouse.move(box["x"] + 200, box["y"] + 150)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 450, steps=4)
    page.mouse.up()
    page.wait_for_selector(".map-text")
    corners = outline_of(page)
    spots, _ = places(studio)
    low, high = corners.min(axis=0), corners.max(axis=0)
    assert heading(page) == f"{((spots > low) & (spots < high)).all(axis=1).sum():,} texts"
    page.get_by_role("button", name=re.compile("^Pin row")).first.click()
    page.wait_for_selector(".map-pinned .map-text")
    assert page.locator(".map-ring.pinned").count() == 1
    assert "pin" in address(page)


def test_search_finds_the_texts_with_a_word(opened):
    page = opened()
    page.get_by_label("Search the texts").fill("WHAT")
    page.get_by_role("button", name="Search", exact=True).click()
    page.wait_for_selector(".map-text")
    texts = page.locator(".map-text .clamped-text").all_inner_texts()
    assert texts and all("what" in text.lower() for text in texts)
    assert address(page)["q"] == "WHAT"


def test_scores_along_a_direction_colour_and_order(opened):
    page = opened()
    page.get_by_label("Colour by").select_option("direction")
    page.get_by_label(re.compile("^Number")).fill("7")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_selector(".map-ramp-ends")
    page.get_by_role("button", name="Select what is in view").click()
    page.wait_for_selector(".map-text")
    page.get_by_label("Order").select_option("high")
    page.wait_for_function("() => new URLSearchParams(location.search).get('order') === 'high'")
    page.wait_for_function("() => document.querySelectorAll('.map-text').length && !document.querySelector('.loading')")
    page.wait_for_timeout(500)
    scores = [float(s.split()[-1].replace("−", "-")) for s in page.locator(".map-text-foot > span").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 10
    assert address(page)["direction"] == "neuron 7"


def test_the_map_obeys_the_keyboard(opened):
    page = opened()
    page.locator(".map-box").focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => location.search.includes('at=')")
    x, _, scale = (float(part) for part in address(page)["at"].split(","))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    page.wait_for_function(f"() => !location.search.includes('{x:g}')")
    further = [float(part) for part in address(page)["at"].split(",")]
    assert further[0] > x and further[2] == pytest.approx(1.4 * scale, rel=1e-3)
    page.keyboard.press("0")
    page.wait_for_function("() => !location.search.includes('at=')")


def test_hovering_shows_a_text(opened, studio):
    page = opened()
    page.mouse.move(5, 5)
    spots, _ = places(studio)
    box = page.locator(".map-box").bounding_box()
    low, high = spots.min(axis=0), spots.max(axis=0)
    scale = min((box["width"] - 50) / (high - low)[0], (box["height"] - 50) / (high - low)[1])
    spot = spots[np.abs(spots - (low + high) / 2).sum(axis=1).argmin()] - (low + high) / 2
    right, up = (float(part * scale) for part in spot)
    page.mouse.move(box["x"] + box["width"] / 2 + right, box["y"] + box["height"] / 2 - up)
    page.wait_for_selector(".map-tooltip")
    assert len(page.locator(".map-tooltip-text").inner_text()) > 10


def test_a_selection_is_saved(opened, tmp_path):
    page = opened(f"{PATH}?q=what")
    page.wait_for_selector(".map-text")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    file = tmp_path / "selection.csv"
    download.value.save_as(file)
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert heading(page) == f"{len(rows):,} texts"
    assert all("what" in row["text"].lower() for row in rows)


def test_without_webgl_texts_are_still_read(visit, no_serious_faults):
    page = visit(PATH)
    page.add_init_script("delete HTMLCanvasElement.prototype.transferControlToOffscreen")
    page.goto(f"{page.url.split('?')[0]}?q=what")
    page.wait_for_selector(".map-undrawable")
    page.wait_for_selector(".map-text")
    no_serious_faults(page)


def test_the_narrow_page_has_the_panel_below(opened, no_sideways_scroll):
    page = opened(f"{PATH}?q=what", width=400, theme="dark")
    page.wait_for_selector(".map-text")
    frame, side = (page.locator(part).bounding_box() for part in (".map-frame", ".map-side"))
    assert side["y"] >= frame["y"] + frame["height"]
    no_sideways_scroll(page)

"""Every page opens on the demo: at both widths, in light and dark, without faults."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

GENRES, REVIEWS = "theodolite-demo", "reviews"
PAGES = {
    "survey": f"/s/{GENRES}/survey",
    "map": f"/s/{GENRES}/map",
    "directions": f"/s/{GENRES}/directions",
    "layers": f"/s/{GENRES}/layers",
    "compare": f"/s/{GENRES}/compare",
    "salience": f"/s/{REVIEWS}/salience",
    "studies": "/studies",
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("page", PAGES)
def test_page_opens(page, width, theme, visit, no_serious_faults, no_sideways_scroll):
    opened = visit(PAGES[page], width=width, theme=theme)
    assert opened.title().endswith("Theodolite")
    assert opened.locator("html").get_attribute("data-theme") == theme
    assert opened.locator("nav a[aria-current=page]").inner_text().lower() == page
    assert opened.locator(".fault").count() == 0, opened.locator(".fault").all_inner_texts()
    assert len(opened.locator("main").inner_text()) > 100
    no_sideways_scroll(opened)
    no_serious_faults(opened)


def test_a_chart_is_saved_as_a_drawing_of_its_own(visit):
    page = visit(PAGES["layers"], theme="dark")
    chart = page.locator("figure.chart").first
    with page.expect_download() as saved:
        chart.get_by_role("button", name="Save SVG").click()
    text = saved.value.path().read_text(encoding="utf-8")
    drawing = ElementTree.fromstring(text)
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert drawing.find("{http://www.w3.org/2000/svg}title").text == chart.locator(".chart-title").inner_text()
    # As many lines as on the page, and no colour that only the page knows.
    lines = len(drawing.findall(".//{http://www.w3.org/2000/svg}path"))
    assert lines == chart.locator("svg path").count() > 0
    assert "var(" not in text and "style=" not in text

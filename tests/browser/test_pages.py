"""Every page opens on the demo: at both widths, in light and dark, without faults."""

from __future__ import annotations

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

"""The shell and the Survey page: what was found, what can be taken home, an instrument run from the page."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest

SURVEY = "/s/theodolite-demo/survey"


def panel(page, title):
    return page.get_by_role("region", name=title, exact=True).first


def findings_of(demo, reading):
    return json.loads((demo.genres / reading / "reading.json").read_text())["findings"]


def test_findings_and_their_questions(visit, demo):
    page = visit(SURVEY)
    shown = panel(page, "Illusion")
    assert "mean the same thing in every corpus?" in shown.inner_text()
    said = findings_of(demo, "illusion")
    assert shown.locator(".findings li").count() == min(4, len(said))
    shown.get_by_role("button", name="show all").click()
    told = shown.locator(".findings li").all_inner_texts()
    assert len(told) == len(said)
    # Each sentence is the reading's own, what it is about aside.
    for sentence in told:
        assert any(finding.endswith(sentence[1:]) for finding in said), sentence


def test_encoder_corpora_and_what_was_skipped(visit, demo):
    page = visit(SURVEY)
    manifest = json.loads((demo.genres / "manifest.json").read_text())
    facts = panel(page, f"Encoder: {manifest['encoder']['name']}").inner_text()
    assert "384" in facts and manifest["encoder"]["hash"][:12] in facts
    rows = panel(page, "Corpora").locator("tbody tr").all_inner_texts()
    for corpus, row in zip(manifest["corpora"], rows, strict=True):
        assert [f"{corpus['texts']:,}", f"{corpus['tokens']:,}"] == row.split("\t")[1:3]
        assert row.startswith(corpus["name"])


def test_a_table_is_looked_at_sorted_and_taken_home(visit, demo, settled):
    page = visit(f"{SURVEY}?isotropy=tables")
    shown = panel(page, "Isotropy")
    shown.get_by_role("button", name="Open measures").click()
    assert "isotropy.table=measures" in page.url
    settled(page)
    with (demo.genres / "isotropy/tables/measures.csv").open() as file:
        expected = list(csv.DictReader(file))
    table = shown.locator(".table-preview table")
    assert table.locator("tbody tr").count() == len(expected)
    column = list(expected[0]).index("isoscore")
    table.get_by_role("button", name="isoscore", exact=True).click()
    found = [float(text) for text in table.locator(f"tbody tr td:nth-child({column + 1})").all_inner_texts()]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(max(float(row["isoscore"]) for row in expected), rel=1e-2)
    with page.expect_download() as saved:
        shown.get_by_role("link", name="measures as csv").click()
    lines = saved.value.path().read_text()
    assert lines == (demo.genres / "isotropy/tables/measures.csv").read_text()


def test_report_zip_and_figure_are_downloads(visit, demo, settled):
    page = visit(f"{SURVEY}?illusion=figures")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Report", exact=True).click()
    assert saved.value.path().read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Everything (zip)").click()
    names = zipfile.ZipFile(io.BytesIO(saved.value.path().read_bytes())).namelist()
    assert {"theodolite-demo/report.html", "theodolite-demo/illusion/tables/verdicts.csv"} <= set(names)
    picture = panel(page, "Illusion").locator("img").first
    picture.scroll_into_view_if_needed()
    page.wait_for_function("(image) => image.complete && image.naturalWidth > 0", arg=picture.element_handle())
    with page.expect_download() as saved:
        panel(page, "Illusion").get_by_role("link", name="Save SVG").first.click()
    assert b"<svg" in saved.value.path().read_bytes()


def test_an_instrument_is_run_and_its_reading_appears(visit, demo):
    page = visit(SURVEY)
    form = panel(page, "Run another instrument")
    form.get_by_label("Instrument", exact=True).select_option("isotropy")
    assert "run=isotropy" in page.url
    form.get_by_text("Options (all as usual)").click()
    # The form is made from the declarations: a value that they forbid is refused before it is sent.
    form.get_by_label("N clusters").fill("0")
    assert form.get_by_text("It must be at least 1.").is_visible()
    assert form.get_by_role("button", name="Run isotropy").is_disabled()
    form.get_by_label("N clusters").fill("3")
    form.get_by_label("Methods").fill("mean")
    form.get_by_role("button", name="Run isotropy").click()
    form.get_by_text("is among the readings above").wait_for()
    # What was typed is still there, to be changed and run again.
    assert form.get_by_label("N clusters").input_value() == "3"
    [added] = [path for path in demo.genres.iterdir() if path.name.startswith("isotropy-")]
    shown = panel(page, f"Isotropy ({added.name.partition('-')[2]})")
    shown.get_by_role("tab", name="Options").click()
    options = shown.locator(".facts").inner_text()
    assert "n clusters\n3" in options and "methods\nmean" in options


def test_a_run_is_cancelled(visit):
    page = visit(SURVEY)
    form = panel(page, "Run another instrument")
    form.get_by_label("Instrument", exact=True).select_option("contextuality")
    form.get_by_text("Options (all as usual)").click()
    form.get_by_label("Seed").fill("7")
    form.get_by_role("button", name="Run contextuality").click()
    form.get_by_role("button", name="Cancel: contextuality").wait_for()
    # The header shows it too, on whatever page one is.
    header = page.get_by_role("banner").first
    header.get_by_role("button", name="contextuality over").click()
    assert header.get_by_role("progressbar").is_visible()
    header.get_by_role("button", name="Cancel: contextuality").click()
    form.get_by_text("cancelled", exact=True).wait_for()
    assert page.get_by_role("region", name="Contextuality (").count() == 0


def test_home_lists_the_surveys_and_the_switcher_changes_them(visit, settled):
    page = visit("/")
    assert page.locator(".survey-card").count() == 2
    page.locator(".survey-card a").first.click()
    settled(page)
    assert page.url.endswith(SURVEY)
    # One who comes from another page is told where they are.
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.get_by_label("Survey", exact=True).select_option("reviews")
    page.wait_for_url("**/s/reviews/survey")
    page.get_by_role("region", name="Salience", exact=True).wait_for()
    page.go_back()
    page.wait_for_url(f"**{SURVEY}")


def test_theme_is_chosen_and_kept(visit, settled):
    page = visit(SURVEY)
    shown = page.locator("html")
    assert shown.get_attribute("data-theme") == "light"
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").click()
    assert shown.get_attribute("data-theme") == "dark"
    page.reload()
    settled(page)
    assert shown.get_attribute("data-theme") == "dark"
    assert page.get_by_role("button", name="Theme: dark").is_visible()


def test_by_keyboard(visit):
    page = visit(SURVEY)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    tab = panel(page, "Isotropy").get_by_role("tab", name="Findings")
    tab.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent").startswith("Figures")
    assert "isotropy=figures" in page.url


@pytest.mark.parametrize("path", ["/s/nothing/map", "/s/theodolite-demo/nothing", "/nowhere"])
def test_an_address_that_is_not_there(path, visit):
    page = visit(path)
    assert page.get_by_role("heading", name="Not found").is_visible()
    page.get_by_role("link", name="See the surveys").click()
    page.wait_for_selector(".survey-card")


def test_without_a_survey_it_says_how_to_make_one(visit, settled, no_serious_faults):
    page = visit("/")
    page.route("**/api/surveys", lambda route: route.fulfill(json=[]))
    page.reload()
    settled(page)
    assert page.get_by_text("theodolite survey").is_visible()
    assert page.get_by_role("navigation", name="Pages").get_by_role("link").all_inner_texts() == ["Studies"]
    no_serious_faults(page)


def test_a_studio_that_does_not_answer_is_asked_again(visit):
    page = visit("/", allowed=["ERR_FAILED", "no answer"])
    page.route("**/api/surveys", lambda route: route.abort("failed"))
    page.reload()
    page.get_by_text("The studio does not answer").wait_for()
    page.unroute("**/api/surveys")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".survey-card")


def test_hostile_names_show_as_text(visit, settled):
    page = visit("/")
    name = "<img src=x onerror=alert(1)>\u202etxt " + "x" * 3000

    def renamed(route):
        surveys = route.fetch().json()
        surveys[0]["title"] = surveys[0]["encoder"]["name"] = surveys[0]["corpora"][0]["name"] = name
        route.fulfill(json=surveys)

    page.route("**/api/surveys", renamed)
    page.set_viewport_size({"width": 400, "height": 800})
    page.reload()
    settled(page)
    assert page.locator("main img").count() == 0
    assert name[:28] in page.locator(".survey-card").first.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")

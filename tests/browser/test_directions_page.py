"""The Directions page: a neuron picked, its sentences side by side, a concept typed, curves measured live."""

from __future__ import annotations

from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

PAGE = "/s/theodolite-demo/directions"
CORPORA = ["questions", "encyclopaedia", "fiction", "catalogue"]
HOSTILE = '<img src=x onerror="document.title=1"> \u202egnitirw'


def at(direction: str) -> str:
    return f"{PAGE}?direction={quote(direction)}"


def rows(demo, table):
    return pq.read_table(demo.genres / "illusion" / "tables" / f"{table}.parquet").to_pylist()


def sentences(page, corpus):
    column = page.get_by_role("region", name=corpus, exact=True)
    return [text.strip() for text in column.locator(".sentence-text").all_inner_texts()]


def charts(page):
    """Wait for what is measured live."""
    page.locator(".chart svg[role=img]").first.wait_for()
    return page.locator(".chart")


def plain(text):
    return " ".join(text.split())


def test_a_neuron_is_picked_and_shown_in_every_corpus(visit, demo, settled):
    page = visit(PAGE)
    page.get_by_label("Number, 0 to 383").fill("7")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Neuron 7", exact=True).wait_for()
    assert "direction=neuron+7" in page.url
    settled(page)
    for end in ("Top", "Bottom"):
        page.get_by_role("tab", name=f"{end} sentences").click()
        for corpus in CORPORA:
            said = [r for r in rows(demo, end.lower()) if (r["direction"], r["corpus"]) == ("neuron 7", corpus)]
            shown = sentences(page, corpus)
            assert len(shown) == 10
            for text, row in zip(shown, said, strict=True):
                assert plain(text).startswith(plain(row["text"])[:200])
    assert "end=bottom" in page.url
    [verdict] = [r["verdict"] for r in rows(demo, "verdicts") if r["direction"] == "neuron 7"]
    assert page.locator(".verdict-line .badge").inner_text() == verdict
    page.get_by_role("link", name="After: neuron 8").click()
    page.get_by_role("heading", name="Neuron 8", exact=True).wait_for()
    page.go_back()
    page.get_by_role("heading", name="Neuron 7", exact=True).wait_for()


def test_the_illusion_rate_stands_beside_with_interval_and_baseline(visit, demo):
    page = visit(at("neuron 7"))
    said = page.locator(".rates").inner_text()
    for row in rows(demo, "illusion_rate"):
        assert f"Of {row['with_pattern']}" in said
    assert "random directions" in said
    assert "By chance" in said


def test_patterns_are_named_and_their_words_marked(visit, demo):
    patterns = [r for r in rows(demo, "patterns") if r["kind"] in ("words", "pair", "first")]
    assert patterns
    one = patterns[0]
    page = visit(at(one["direction"]))
    column = page.get_by_role("region", name=one["corpus"], exact=True)
    assert one["pattern"] in column.locator(".patterns").inner_text()
    assert column.locator(".sentences li.shows").count() >= one["hits"]
    assert column.locator("mark").count() >= one["hits"]


def test_the_list_is_filtered(visit, demo, settled):
    page = visit(PAGE)
    wanted = {r["direction"] for r in rows(demo, "verdicts") if r["verdict"] == "unexplained"}
    page.get_by_label("Verdict", exact=True).select_option("unexplained")
    page.get_by_text(f"of {len(wanted)}", exact=False).first.wait_for()
    names = page.locator(".direction-entry strong").all_inner_texts()
    assert names
    assert set(names) <= wanted
    one = next(r for r in rows(demo, "patterns") if r["direction"] in wanted and r["kind"] != "form")
    word = one["pattern"].split(" ")[-1]
    page.get_by_label("Word in a pattern").fill(word)
    page.wait_for_url(f"**word={quote(word)}**")
    settled(page)
    page.get_by_role("link", name=one["direction"]).first.click()
    page.get_by_role("heading", name=one["direction"].capitalize(), exact=True).wait_for()


def test_curves_are_measured_live_and_saved_as_svg(visit):
    page = visit(at("neuron 3"))
    found = charts(page)
    page.get_by_text("Dot products of the top sentences with…").wait_for()
    for number in range(found.count()):
        with page.expect_download() as saved:
            found.nth(number).get_by_role("button", name="Save SVG").click()
        drawn = saved.value.path().read_text(encoding="utf-8")
        assert saved.value.suggested_filename.endswith(".svg")
        assert "<svg" in drawn
        assert all(corpus in drawn for corpus in CORPORA)


def test_a_random_direction_beyond_the_readings(visit):
    page = visit(PAGE)
    charts(page)
    page.get_by_label("Kind", exact=True).select_option("random")
    page.get_by_label("Number, 0 to 9999").fill("4321")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("heading", name="Random 4321").wait_for()
    assert all(len(sentences(page, corpus)) == 10 for corpus in CORPORA)
    assert page.get_by_text("Measured now").is_visible()


def test_a_concept_is_typed_and_its_link_is_good_for_others(visit, settled):
    page = visit(PAGE)
    page.get_by_role("button", name="Type a concept").click()
    find = page.get_by_role("button", name="Find its direction")
    assert find.is_disabled()
    page.get_by_role("button", name="music", exact=True).click()
    page.get_by_label("Its name").fill(HOSTILE)
    with_it = page.get_by_label("Texts with it")
    with_it.fill(with_it.input_value() + "\n" + HOSTILE)
    find.click()
    page.get_by_role("heading", name="Does the direction hold the concept?").wait_for()
    assert HOSTILE in page.locator("h2").all_inner_texts()[1]
    assert "concept+" in page.url
    facts = page.get_by_role("region", name="Does the direction hold the concept?").inner_text()
    assert "Accuracy on held-out texts" in facts
    assert "Guessing" in facts
    other = visit(page.url.removeprefix(visit.address))
    other.get_by_role("heading", name="Does the direction hold the concept?").wait_for()
    other.get_by_text("The 9 texts with it and the 8 without").click()
    assert other.get_by_text(HOSTILE, exact=True).first.is_visible()
    assert other.locator("main img").count() == 0
    assert "Directions" in other.title()


def test_a_direction_that_is_not_there_is_told(visit):
    page = visit(at("neuron 9999"), allowed=["422"])
    page.get_by_text("a number from 0 to 383 is wanted").wait_for()


def test_by_keyboard(visit):
    page = visit(at("neuron 7"))
    tab = page.get_by_role("tab", name="Top sentences")
    tab.focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Bottom sentences").get_attribute("aria-selected") == "true"
    page.locator(".direction-entry").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Neuron 0", exact=True).wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_at_every_width_and_in_both_themes(width, theme, visit, no_serious_faults, no_sideways_scroll):
    page = visit(f"{at('neuron 5')}&concept=new", width=width, theme=theme)
    charts(page)
    no_sideways_scroll(page)
    no_serious_faults(page)

"""The Layers page: curves with intervals, a word of one's own, roundness before and after, encoders side by side."""

from __future__ import annotations

import json
import time
import urllib.request

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

PAGE = "/s/theodolite-demo/layers"
CORPORA = ["questions", "encyclopaedia", "fiction", "catalogue"]


def rows(demo, reading, table):
    return pq.read_table(demo.genres / reading / "tables" / f"{table}.parquet").to_pylist()


def panel(page, title):
    return page.get_by_role("region", name=title, exact=True)


def test_the_curves_have_the_readings_numbers(visit, demo):
    page = visit(f"{PAGE}?measure=anisotropy")
    shown = panel(page, "Context, layer by layer")
    # A dot for every corpus and layer, and a band for each corpus.
    assert shown.locator(".chart svg circle").count() == 4 * 7
    assert shown.locator('.chart g[fill-opacity="0.16"] > path').count() == 4
    shown.get_by_text("The numbers, with their intervals").click()
    lines = shown.locator("tbody tr").all_inner_texts()
    for corpus, line in zip(CORPORA, lines, strict=True):
        mine = [r for r in rows(demo, "contextuality", "layers") if r["corpus"] == corpus]
        values = line.split("\t")[-7:]
        assert values == [f"{r['anisotropy']:.3f}" for r in sorted(mine, key=lambda r: r["layer"])]


def test_a_measure_is_chosen_with_its_baseline_and_a_corpus_hidden(visit):
    page = visit(PAGE)
    shown = panel(page, "Context, layer by layer")
    shown.get_by_label("Measure").select_option(label="Self-similarity")
    shown.get_by_text("baseline: two random words").wait_for()
    assert "measure=self_similarity" in page.url
    shown.get_by_role("button", name="fiction").click()
    page.wait_for_url("**hidden=fiction**")
    assert shown.locator(".chart svg circle").count() == 3 * 7
    with page.expect_download() as saved:
        shown.get_by_role("button", name="Save SVG").click()
    assert "<svg" in saved.value.path().read_text(encoding="utf-8")


def test_a_word_that_was_measured(visit, demo, settled):
    page = visit(PAGE)
    shown = panel(page, "A word of your own")
    shown.get_by_label("Word", exact=True).fill("the")
    page.keyboard.press("Enter")
    shown.get_by_text("“the”: Self-similarity, adjusted").wait_for()
    assert "word=the" in page.url
    mine = {r["corpus"]: r for r in rows(demo, "contextuality", "words") if r["word"] == "the"}
    for line in shown.locator("tbody tr").all_inner_texts():
        corpus, texts, occurrences, last, _ = line.split("\t")
        row = mine.pop(corpus)
        assert (texts, occurrences) == (f"{row['contexts']:,}", f"{row['occurrences']:,}")
        assert last == f"{row['self_similarity_adjusted'][-1]:.3f}"
    assert not mine


def test_a_word_that_was_not_measured_is_measured_now(visit, demo):
    held = {r["word"] for r in rows(demo, "contextuality", "words")}
    assert "xylophonist" not in held
    page = visit(f"{PAGE}?word=xylophonist")
    shown = panel(page, "A word of your own")
    shown.get_by_role("button", name="Measure it over all corpora").click()
    shown.get_by_text("xylophonist: occurs less than twice").wait_for()


def test_roundness_before_and_after_each_method(visit, demo):
    page = visit(f"{PAGE}?round=mean_cosine")
    shown = panel(page, "How round the space is")
    methods = ["none", "mean", "abtt", "kmeans+mean+pca"]
    assert shown.locator(".chart").first.locator("circle").count() == len(CORPORA) * len(methods)
    shown.get_by_text("The numbers, with their intervals").click()
    measured = rows(demo, "isotropy", "measures")
    lines = [line.split("\t") for line in shown.locator("tbody tr").all_inner_texts()]
    assert len(lines) == len(measured)
    for corpus, method, value, *_ in lines:
        name = {"as it is": "none"}.get(method, method)
        row = next(r for r in measured if (r["corpus"], r["method"]) == (corpus, name))
        assert float(value.replace("−", "-")) == pytest.approx(row["mean_cosine"], abs=6e-4)
    assert shown.get_by_text("fitted on the very vectors").is_visible()


def test_a_survey_without_curves_says_so(visit):
    page = visit("/s/reviews/layers")
    assert page.get_by_text("This survey has no curves over layers.").is_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_at_every_width_and_in_both_themes(width, theme, visit, no_serious_faults, no_sideways_scroll):
    page = visit(f"{PAGE}?word=the&measure=self_similarity", width=width, theme=theme)
    page.get_by_text("“the”: Self-similarity").wait_for()
    no_sideways_scroll(page)
    no_serious_faults(page)


def test_another_encoder_is_drawn_beside(visit, studio, settled):
    # Last of all: from now on the survey of reviews has curves too.
    asked = {"instrument": "contextuality", "options": {"max_words": 50, "mev_words": 0}}
    job = asking(f"{studio}/api/surveys/reviews/run", asked)
    while job["state"] not in ("done", "failed"):
        time.sleep(0.2)
        job = asking(f"{studio}/api/jobs/{job['id']}")
    assert job["state"] == "done", job["error"]
    page = visit(f"{PAGE}?measure=anisotropy")
    page.get_by_role("checkbox").check()
    page.wait_for_url("**with=reviews**")
    shown = panel(page, "Context, layer by layer")
    shown.locator(".legend").get_by_text("reviews-classifier").wait_for()
    expect(shown.locator(".chart svg circle")).to_have_count(5 * 7)
    assert shown.locator('.chart g[stroke-dasharray="7 4"] > path').count() == 1
    page.reload()
    settled(page)
    assert page.get_by_role("checkbox").is_checked()


def asking(address, body=None):
    request = urllib.request.Request(address, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, None if body is None else json.dumps(body).encode()) as answer:
        return json.load(answer)

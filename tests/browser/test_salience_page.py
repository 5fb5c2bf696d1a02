"""The Salience page: clusters as clouds, errors with their neighbours, a text of one's own, a term."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from small_heads import TEXTS, small_head

from theodolite import Corpus, Store, Survey
from theodolite.salience import Salience

PAGE = "/s/reviews/salience"
SENTENCE = "I would give this film 9/10, it is a delight."
VIEWS = {
    "overview": {},
    "clusters": {"view": "clusters"},
    "texts": {"view": "texts"},
    "try": {"view": "try", "text": SENTENCE, "original": "I would give this film 2/10."},
    "terms": {"view": "terms"},
}


def at(**selected):
    return f"{PAGE}?{urlencode(selected)}"


def selected(page):
    return {key: values[0] for key, values in parse_qs(urlsplit(page.url).query).items()}


def panel(page, title):
    return page.get_by_role("region", name=title, exact=True)


@pytest.fixture
def ask(studio):
    """Asks the API what the page should show."""
    import urllib.request

    def asked(path="", body=None, **params):
        address = f"{studio}/api/surveys/reviews/salience{path}?{urlencode(params)}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    return asked


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (400, "dark")])
def test_every_view_fits_and_is_accessible(view, width, theme, visit, no_serious_faults, no_sideways_scroll):
    page = visit(at(**VIEWS[view]), width=width, theme=theme)
    if view == "try":
        page.get_by_text("answered in").wait_for()
    assert page.locator(".fault").count() == 0
    no_sideways_scroll(page)
    no_serious_faults(page)
    tab = page.get_by_role("tab", selected=True).first.bounding_box()
    assert tab["x"] >= 0 and tab["x"] + tab["width"] <= width


def test_accuracy_stands_beside_its_baseline(visit, ask):
    page = visit(PAGE)
    whole = next(s for s in ask()["scores"] if s["name"] == "all")
    shown = panel(page, "How good are its answers?").inner_text()
    for share in ("accuracy", "accuracy_low", "accuracy_high", "baseline"):
        assert f"{100 * whole[share]:.1f}%" in shown
    # The most suspicious cluster is first, and opens.
    first = ask("/clusters")[0]
    row = panel(page, "What looks like a shortcut?").locator("tbody tr").first
    assert f"{first['suspicion']:.2f}" in row.inner_text() and first["terms"][0]["term"] in row.inner_text()
    row.get_by_role("link").click()
    page.get_by_role("button", name="← All clusters").wait_for()
    assert selected(page)["cluster"] == str(first["id"])


def test_a_cluster_opens_with_its_examples_as_heat_maps(visit, ask, settled):
    page = visit(at(view="clusters"))
    cards = ask("/clusters")
    assert page.locator(".sal-card").count() == len(cards)
    cloud = page.locator(".sal-cloud").first
    assert cloud.locator("li").all_inner_texts() == [t["term"] for t in cards[0]["terms"]]
    measure = "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
    sizes = cloud.locator("li").evaluate_all(measure)
    assert sizes == sorted(sizes, reverse=True)
    # One scale for all the clouds: the heaviest word is not always of the first.
    assert max(page.locator(".sal-cloud li").evaluate_all(measure)) == 32
    page.get_by_role("link", name=f"{cards[0]['predicted']}, cluster {cards[0]['id']}").click()
    settled(page)
    wanted = {name: cards[0][name] for name in ("corpus", "method", "representation", "predicted", "id")}
    examples = ask("/cluster", **wanted)["examples"]
    shown = panel(page, "Its most typical texts").locator(".passage")
    assert shown.all_inner_texts() == ["".join(s["text"] for s in e["spans"]).strip() for e in examples]
    deepest = shown.first.locator("mark").evaluate_all("all => Math.max(...all.map(one => parseFloat(one.title)))")
    assert deepest == 1
    members = ask("/members", **wanted)
    assert panel(page, "All its texts").locator(".sal-list > li").count() == len(members["rows"])
    # The view can be sent: the same address shows the same to another visitor.
    again = visit(urlsplit(page.url).path + "?" + urlsplit(page.url).query)
    assert panel(again, "Its most typical texts").inner_text() == panel(page, "Its most typical texts").inner_text()
    page.get_by_role("button", name="← All clusters").click()
    settled(page)
    assert page.locator(".sal-card").count() == len(cards) and "cluster" not in selected(page)


def test_an_error_opens_with_its_neighbours_and_can_be_edited(visit, ask, settled):
    page = visit(at(view="texts"))
    wrong = ask("/texts", corpus="reviews", wrong=True)
    assert wrong["total"] > 0
    listed = page.locator(".sal-browse-list .sal-list > li")
    assert listed.count() == len(wrong["rows"])
    assert wrong["rows"][0]["text"] in listed.first.inner_text()
    listed.first.get_by_role("link").click()
    settled(page)
    row = wrong["rows"][0]["row"]
    assert selected(page)["row"] == str(row)
    near = ask("/neighbours", corpus="reviews", row=row)["representations"]
    for one in near:
        section = page.get_by_role("region", name=f"Neighbours by {one['representation']}")
        assert section.locator(".passage").all_inner_texts() == [n["text"].strip() for n in one["rows"]]
    page.get_by_label("Also by").select_option("salience-embedding")
    section = page.get_by_role("region", name="Neighbours by salience-embedding")
    section.locator(".passage").first.wait_for()
    [further] = ask("/neighbours", corpus="reviews", row=row, representation="salience-embedding")["representations"]
    assert section.locator(".passage").all_inner_texts() == [n["text"].strip() for n in further["rows"]]
    page.get_by_role("link", name="Edit it and see what changes").click()
    page.get_by_text("answered in").wait_for()
    assert page.get_by_label("Text", exact=True).input_value() == wrong["rows"][0]["text"]


def test_texts_are_filtered_by_word_and_class(visit, ask, settled):
    page = visit(at(view="texts"))
    page.get_by_label("wrong answers only").uncheck()
    page.get_by_label("Mentions").fill("film")
    page.get_by_role("button", name="Search").click()
    answer = ask()["classes"][0]
    page.get_by_label("Answered").select_option(answer)
    settled(page)
    expected = ask("/texts", corpus="reviews", word="film", answer=answer)
    page.get_by_role("heading", name=re.compile(rf"^{expected['total']} texts?$")).wait_for()
    assert selected(page) == {"view": "texts", "texts": "all", "word": "film", "answer": answer}


def test_a_sentence_is_tried_edited_and_taken_back(visit, ask):
    page = visit(at(view="try"))
    box = page.get_by_label("Text", exact=True)
    box.fill(SENTENCE)
    page.get_by_text("answered in").wait_for()
    before = ask("/try", {"text": SENTENCE})["answers"]
    table = page.get_by_role("table", name="Probabilities of the classes")
    for answer in before:
        assert f"{answer['probability']:.3f}" in table.get_by_role("row", name=answer["name"]).inner_text()
    assert page.get_by_role("group", name=re.compile("coloured by grad-l2")).inner_text() == SENTENCE
    page.get_by_role("button", name="Compare edits with this").click()
    edited = SENTENCE.replace("9/10", "2/10").replace("delight", "disappointment")
    box.fill(edited)
    table.get_by_role("columnheader", name="change").wait_for()
    page.get_by_role("group", name=re.compile("coloured by")).get_by_text("disappointment").wait_for()
    after = ask("/try", {"text": edited})["answers"]
    for old, new in zip(before, after, strict=True):
        cells = table.get_by_role("row", name=new["name"]).locator("td.numbers").all_inner_texts()
        assert cells[:2] == [f"{new['probability']:.3f}", f"{old['probability']:.3f}"]
        change = f"{new['probability'] - old['probability']:+.3f}".replace("-", "−")
        assert cells[2] == change
    page.wait_for_url(lambda url: "disappointment" in url)
    assert selected(page) == {"view": "try", "text": edited, "original": SENTENCE}
    page.get_by_role("button", name="Back to the original").click()
    table.get_by_role("columnheader", name="change").wait_for(state="detached")
    assert box.input_value() == SENTENCE


def test_typing_asks_once_and_the_last_answer_stays_meanwhile(visit):
    page = visit(at(view="try", text=SENTENCE))
    page.get_by_text("answered in").wait_for()
    asked = []
    page.on("request", lambda request: asked.append(request.post_data) if request.url.endswith("/try?reading=") else 0)
    page.get_by_label("Text", exact=True).press("End")
    page.get_by_label("Text", exact=True).press_sequentially(" Truly.", delay=20)
    assert page.locator(".sal-answer .passage").inner_text() == SENTENCE
    page.locator(".sal-answer .passage").get_by_text("Truly").wait_for()
    assert [json.loads(body)["text"] for body in asked] == [f"{SENTENCE} Truly."]


def test_a_term_is_put_in_and_masked(visit, ask, settled):
    page = visit(at(view="terms", size=20))
    read = ask("/measured")
    table = panel(page, "Lists of terms in the reading").get_by_role("table", name="Lists")
    assert table.locator("tbody tr").count() == len(read["lists"])
    page.get_by_label("Term", exact=True).fill("good")
    page.get_by_role("button", name="Run").click()
    found = panel(page, "Does a term decide by itself?")
    found.get_by_role("table").wait_for()
    rows = found.locator("tbody tr").all_inner_texts()
    assert rows[0].startswith("good") and rows[1].startswith("ordinary words")
    circles = found.get_by_role("img", name="Put into texts of other classes").locator("circle")
    assert circles.count() == 2
    # The results are in the address.
    again = visit(urlsplit(page.url).path + "?" + urlsplit(page.url).query)
    panel(again, "Does a term decide by itself?").get_by_role("table").wait_for()
    assert panel(again, "Does a term decide by itself?").locator("tbody tr").all_inner_texts() == rows


def test_a_term_can_be_cancelled(visit):
    page = visit(at(view="terms", size=500))
    page.get_by_label("Term", exact=True).fill("film")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name=re.compile("^Cancel: ")).first.click()
    panel(page, "Does a term decide by itself?").get_by_text("cancelled").first.wait_for()
    assert page.get_by_role("button", name="Run").is_enabled()


def test_a_survey_of_no_classifier_says_what_to_run(visit, no_serious_faults):
    page = visit("/s/theodolite-demo/salience")
    shown = page.locator("main").inner_text()
    assert "has no classification head" in shown or "was not among the instruments" in shown
    assert "theodolite train classifier" in shown
    no_serious_faults(page)
    page.locator("main").get_by_role("link", name="reviews-classifier: a survey").click()
    page.wait_for_url("**/s/reviews/salience")


@pytest.fixture(scope="module")
def regression(serving, tmp_path_factory):
    """The address of a studio on a small head that answers with numbers; its weights are random."""
    folder = tmp_path_factory.mktemp("regression")
    rows = "".join(f"{text},{i / 8}\n" for i, text in enumerate(TEXTS))
    (folder / "films.csv").write_text(f"text,label\n{rows}")
    films = Corpus.read(f"{folder / 'films.csv'}?text=text&label=label", "films", cache=folder / "store")
    asked = Salience(clusters=2, faithful=10, map="none")
    model = small_head(folder / "head", "value")
    Survey.run(model, [films], instruments=[asked], store=Store(folder / "store")).save(folder / "survey")
    arguments = [folder / "survey", "--model", folder / "head", "--store", folder / "store"]
    with serving([*arguments, "--database", folder / "studies.db"], folder / "log.txt") as address:
        yield address


def test_answers_of_a_regression_are_neither_right_nor_wrong_nor_sure(regression, visit, no_serious_faults):
    visit.address = regression
    page = visit("/s/survey/salience?view=texts")
    for choice in ("wrong answers only", "Order", "Label", "Answered"):
        assert page.get_by_label(choice, exact=True).count() == 0, choice
    heads = panel(page, f"{len(TEXTS)} texts").locator(".sal-text-head").all_inner_texts()
    assert len(heads) == len(TEXTS)
    assert all(re.search(rf"row {i}\b.*, is {i / 8:.3g}$", head, re.S) for i, head in enumerate(heads))
    no_serious_faults(page)
    page = visit("/s/survey/salience?view=clusters")
    page.locator(".sal-card").first.get_by_role("link").click()
    panel(page, "All its texts").locator(".sal-text-head").first.wait_for()
    assert page.get_by_label("wrong answers only").count() == 0
    page = visit("/s/survey/salience")
    shown = panel(page, "Are the maps true?").inner_text()
    assert "Mean change of the answer when" in shown and "probability" not in shown

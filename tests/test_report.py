"""The report: nothing hostile gets through, nothing is fetched, nothing measured is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from matplotlib.figure import Figure

from theodolite.contextuality import Contextuality
from theodolite.corpus import Corpus
from theodolite.encoder.encoder import Encoder
from theodolite.figures import styled
from theodolite.reading import Drawing, Reading
from theodolite.report import HEADLINES, reading_section, survey_page
from theodolite.report.page import FIRST, LISTED
from theodolite.running import run
from theodolite.store import Store

HOSTILE = "<script>alert('x')</script>\"&'"
VOID = {"meta", "br", "link", "img", "hr", "input"}
SUBJECTS = ("river", "school", "market", "garden", "engine")
QUESTION = "How context-specific is each layer, once its anisotropy is taken off?"


class Page(HTMLParser):
    """Tags in their order; complains where they do not close as they opened."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.said.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.said))

    @property
    def ids(self) -> list[str]:
        return [i for _, attributes in self.tags if (i := attributes.get("id"))]


class Plain(Reading):
    """A reading whose figures and tables are what the test says."""

    instrument: ClassVar[str] = "plain"
    label: ClassVar[str] = "label"

    def drawings(self) -> dict[str, Drawing]:
        def draw() -> Figure:
            with styled():
                figure = Figure()
                axes = figure.subplots()
                axes.plot([0, 1], [0, 1])
                axes.set_title(self.label)
            return figure

        return {"one": Drawing(f"One: {self.label}", f"Caption of {self.label}", draw)}


class HostilePlain(Plain):
    label: ClassVar[str] = f'{HOSTILE} id="mine" $x^$'


def manifest_of(readings: list[Reading], **more: Any) -> dict[str, Any]:
    kept = ("theodolite", "encoder", "corpora", "plan", "versions", "made")
    shared = {k: readings[0].manifest[k] for k in kept}
    return shared | {"questions": {"contextuality": QUESTION}, "command": "theodolite survey --seed 7"} | more


def texts(start: str) -> list[str]:
    return [f"{start} the {SUBJECTS[i % 5]} near number {i} the bank was open." for i in range(30)]


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    """A real reading: 60 texts in two corpora, the default model."""
    corpora = [Corpus.of(texts("By"), name="near"), Corpus.of([*texts("Behind"), ""], name="far")]
    store = Store(str(tmp_path_factory.mktemp("store")))
    [found] = run([Contextuality(word=("school",), min_contexts=2)], Encoder.load(), corpora, store=store)
    return found


@pytest.fixture(scope="module")
def page(reading: Reading) -> str:
    left_out = {"salience": "needs a classifier"}
    return survey_page("A survey", [reading], manifest_of([reading], left_out=left_out))


@pytest.fixture(scope="module")
def two(reading: Reading) -> str:
    return survey_page("Two", [reading, Plain({}, ["A fact stands alone."], {})], manifest_of([reading]))


def tails(reading: Reading) -> Iterator[str]:
    for finding in reading.findings:
        yield finding.partition(": ")[2][1:]


def test_every_finding_figure_and_table_is_in_the_page(reading: Reading, page: str) -> None:
    text = Page(page).text
    assert len(reading.findings) > HEADLINES
    for tail in tails(reading):
        assert text.count(tail) >= 1
    for drawing in reading.drawings().values():
        assert drawing.title in text
        assert drawing.caption in text
    for name in reading.tables:
        assert f"<h4>{name.capitalize()} <small>" in page
    assert page.count("<svg ") == len(reading.drawings())


def test_findings_come_first_and_under_what_they_were_measured_on(reading: Reading, page: str) -> None:
    top = page[page.index('<section id="found"') : page.index('<section id="contextuality"')]
    assert top.count("<li>") == HEADLINES
    encoder = reading.manifest["encoder"]["name"]
    assert [top.count(f"<h3>{encoder} on {name}</h3>") for name in ("both corpora", "near")] == [1, 1]
    assert page.index('id="found"') < page.index("<figure") < page.index('class="td-scroll"')


def test_the_page_says_what_was_read_skipped_and_how_to_repeat_it(reading: Reading, page: str) -> None:
    text = Page(page).text
    assert "near (30 texts), far (31 texts)" in text
    assert "1 is empty and was skipped" in text
    assert "Salience was not run: needs a classifier." in text
    assert "theodolite survey --seed 7" in text
    assert QUESTION in text
    for digest in (reading.manifest["encoder"]["hash"], *(c["hash"] for c in reading.manifest["corpora"])):
        assert digest in text
    for option in reading.manifest["options"]:
        assert f"options · {option.replace('_', ' ')}" in text


def test_page_is_well_formed_with_headings_in_order(reading: Reading, page: str) -> None:
    parsed = Page(page)
    assert ("html", {"lang": "en"}) in parsed.tags
    levels = [int(tag[1]) for tag, _ in parsed.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_nothing_is_fetched_and_nothing_runs(page: str) -> None:
    parsed = Page(page)
    for tag, attributes in parsed.tags:
        assert tag not in {"script", "link", "img", "iframe", "object", "embed", "base"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in {"src", "href", "xlink:href", "action", "srcset"}:
                assert (value or "").startswith("#")
    assert not re.search(r"url\((?!#)|@import|@font-face", page)
    policies = [a["content"] for _, a in parsed.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies
    assert "default-src 'none'" in str(policies[0])
    assert "script-src" not in str(policies[0])


def test_ids_are_unique_and_every_reference_is_answered(reading: Reading) -> None:
    # The same reading twice is the worst case: every figure's own ids are the same.
    html = survey_page("Twice", [reading, reading], manifest_of([reading]))
    ids = Page(html).ids
    assert len(ids) == len(set(ids))
    asked = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', html))
    assert asked
    assert {a or b for a, b in asked} <= set(ids)


def test_contents_only_where_there_is_something_to_choose(page: str, two: str) -> None:
    assert "<nav" not in page
    assert '<a href="#contextuality">' in two
    assert '<a href="#plain">' in two


def test_several_sections_are_whole_and_each_instrument_has_a_headline(reading: Reading, two: str) -> None:
    top = two[two.index('<section id="found"') : two.index('<section id="contextuality"')]
    assert "A fact stands alone." in top
    own = Page(two[two.index('<section id="contextuality"') : two.index('<section id="plain"')]).text
    assert all(tail in own for tail in tails(reading))


def test_hostile_text_is_shown_and_never_obeyed() -> None:
    table = pa.table({"word": [HOSTILE, "plain"], HOSTILE: [[1.0], [2.0]], "corpus": [HOSTILE, HOSTILE]})
    about = {
        "encoder": {"name": HOSTILE, "layers": 1, "dim": 2},
        "corpora": [{"name": HOSTILE, "source": HOSTILE, "hash": HOSTILE, "texts": 2}],
        "options": {HOSTILE: HOSTILE, "list": [HOSTILE]},
    }
    found = HostilePlain({HOSTILE: table}, [f"{HOSTILE} on {HOSTILE}: {HOSTILE}.", HOSTILE], about)
    more = {"questions": {"plain": HOSTILE}, "left_out": {HOSTILE: HOSTILE}, "command": HOSTILE}
    for html in (survey_page(HOSTILE, [found, found], {**about, **more}), reading_section(found)):
        parsed = Page(html)
        assert "<script" not in html
        assert not any(tag == "script" for tag, _ in parsed.tags)
        assert HOSTILE in parsed.text
        # What a label says is left as it was, dollar signs and all: only ids in tags are changed.
        assert unescape(HostilePlain.label) in parsed.text
        assert len(parsed.ids) == len(set(parsed.ids))


def test_corpus_names_with_colons_do_not_break_the_grouping() -> None:
    about = {"encoder": {"name": "e"}, "corpora": [{"name": "a"}, {"name": "a: b"}]}
    said = ["e on a: one.", "e on a: b: two.", "e on pairs: three.", "no prefix on it: at all."]
    html = reading_section(Plain({}, said, about))
    for heading, sentence in (("e on a", "One."), ("e on a: b", "Two."), ("e on pairs", "Three.")):
        assert f'<h4>{heading}</h4><ul class="td-findings"><li>{sentence}</li></ul>' in html
    assert "<li>No prefix on it: at all.</li>" in html


def test_cells_are_for_people() -> None:
    table = pa.table(
        {
            "name": ["a", None],
            "value": [0.123456, float("nan")],
            "value_low": [0.1, None],
            "value_high": [-0.2, None],
            "count": pa.array([1234567, None], pa.int64()),
            "yes": [True, None],
            "list": [[0.5, None, 2e-7], None],
            "long": ["x" * 5000, ""],
        }
    )
    html = reading_section(Plain({"cells": table}, [], {}))
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", html)]
    assert rows[0][:5] == [
        "a",
        "0.1235 <small>0.1000 to −0.2000</small>",
        "1,234,567",
        "yes",
        "<span>0.5000</span> <span>–</span> <span>2.000e−07</span>",
    ]
    assert rows[0][5].endswith("x…")
    assert len(rows[0][5]) < 300
    assert rows[1][:5] == ["–"] * 5
    assert "None" not in html
    assert "nan" not in "".join(map(str, rows))


def test_long_tables_are_folded_and_very_long_ones_say_where_the_rest_is() -> None:
    def section(rows: int) -> str:
        return reading_section(Plain({"words": pa.table({"n": list(range(rows))})}, [], {}))

    assert "<details>" not in section(FIRST)
    folded = section(100)
    assert folded[: folded.index("<details>")].count("<td") == FIRST
    assert folded.count("<td") == 100
    assert "The other 92 rows" in folded
    longest = section(LISTED + 700)
    assert longest.count("<td") == LISTED
    assert f"All {LISTED + 700:,} rows are in tables/words.csv" in longest


def test_nothing_to_show_is_said() -> None:
    empty = pa.table({"n": pa.array([], pa.int64())})
    html = survey_page("Empty", [Plain({"rows": empty}, [], {})], {})
    text = Page(html).text
    assert "Nothing was clear enough" in text
    assert "No rows." in text
    assert Page(survey_page("No readings", [], {})).tags


def test_notebook_fragment_stands_by_itself(reading: Reading) -> None:
    parsed = Page(reading._repr_html_())
    assert not {"html", "head", "body", "script"} & {tag for tag, _ in parsed.tags}
    assert len(parsed.ids) == len(set(parsed.ids))
    for tail in tails(reading):
        assert tail in parsed.text
    # Two readings in one notebook keep their figures apart.
    other = replace(reading, manifest={**reading.manifest, "made": "later"})
    shared = set(parsed.ids) & set(Page(reading_section(other)).ids)
    assert shared == set()


def test_style_leaves_the_notebook_alone() -> None:
    css = files("theodolite.report").joinpath("style.css").read_text(encoding="utf-8")
    bare = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    selectors = [s.strip() for s in re.findall(r"([^{}]+)\{", bare) if not s.strip().startswith("@")]
    assert selectors
    assert all(part.strip().startswith(".td-") for s in selectors for part in s.split(","))

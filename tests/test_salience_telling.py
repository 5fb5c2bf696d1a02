"""What a reading of salience says in words: which method, target, corpus or class a sentence or a row is about."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console
from small_heads import TEXTS, small_head

from theodolite import Corpus, Salience, SalienceReading, Store, run
from theodolite.cli import show
from theodolite.reading import Overview
from theodolite.salience.findings import findings
from theodolite.salience.reproduce import _joined


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory):
    """Runs salience on a small head with random weights; names: of its classes, one name makes a regression."""
    made: dict[tuple[str, ...], Any] = {}

    def ask(names: tuple[str, ...], *corpora: str, labels=None, **options) -> SalienceReading:
        if names not in made:
            made[names] = small_head(tmp_path_factory.mktemp("head"), *names)
        model = made[names]
        asked = Salience(**{"clusters": 2, "faithful": 0, "map": "none", **options})
        films = [Corpus.of(TEXTS, name, labels=labels) for name in corpora or ("films",)]
        [found] = run([asked], model, films, store=Store(tmp_path_factory.mktemp("store")))
        assert isinstance(found, SalienceReading)
        return found

    return ask


def _said(found: SalienceReading, what: str) -> list[str]:
    return [said for said in found.findings if what in said]


def _table(found: SalienceReading, title: str) -> Overview:
    return next(part for part in found.overview() if part.title.startswith(title))


# --- findings


def test_of_one_method_the_findings_name_nothing_more(read) -> None:
    found = read(("a", "b"), method=("integrated-gradients",), marker="good", within="all")
    assert all(" films: most like a shortcut look: cluster " in said for said in _said(found, "shortcut"))
    [gather] = _said(found, "gather in")
    assert " of all texts by salience-vocab: precision " in gather
    [missed] = _said(found, "gradients miss")
    assert " films: integrated gradients miss the change of the answer by " in missed


def test_findings_name_the_method_the_representation_and_the_target_of_several(read) -> None:
    found = read(
        ("a", "b"),
        method=("grad-l2", "integrated-gradients"),
        target=("predicted", "1"),
        representation=("salience-vocab", "pmi"),
        marker="good",
    )
    [shortcut] = _said(found, "shortcut")
    assert ": by salience-vocab with grad-l2 of predicted, most like a shortcut look: cluster " in shortcut
    best = max(found.tables["marker"].to_pylist(), key=lambda r: (r["precision"], r["recall"]))
    [gather] = _said(found, "gather in")
    assert f" by {best['representation']} with {best['method']}: precision " in gather
    assert [said.partition(": ")[2].partition(" miss")[0] for said in _said(found, "miss the change")] == [
        "integrated gradients (target predicted)",
        "integrated gradients (target 1)",
    ]


@pytest.mark.parametrize(
    ("options", "by"),
    [({"method": ("grad-l2", "grad-x-input")}, "with grad-l2"), ({"representation": ("pmi", "cls")}, "by pmi")],
)
def test_only_that_of_which_there_are_several_is_named(read, options, by) -> None:
    [shortcut] = _said(read(("a", "b"), **options), "shortcut")
    assert f" films: {by}, most like a shortcut look: " in shortcut


def test_a_method_is_named_where_the_other_could_not_be_clustered() -> None:
    about = {"corpus": "films", "representation": "pmi"}
    made = {"predicted": "a", "id": 0, "share": 1.0, "suspicion": 0.5, "terms": ["x"]}
    left = {"class": "a", "texts": 3, "reason": "only 1 different ones for 2 clusters", "list": None}
    rows = {
        "predictions": [{"corpus": "films", "class": "all", "texts": 0, "accuracy": None}],
        "clusters": [about | made | {"method": "grad-l2"}],
        "skipped": [about | left | {"method": "grad-x-input"}],
    }
    said = findings("it", {name: pa.Table.from_pylist(found) for name, found in rows.items()}, None, 2)
    assert said[0].startswith("it on films: with grad-l2, most like a shortcut look: ")


def test_neighbours_that_were_not_found_are_said(read) -> None:
    found = read(("a", "b"), clusters=0, neighbours=("0",), neighbours_with="predicted=a")
    assert "neighbours" in found.tables and not _said(found, "no neighbours")
    answers = found.tables["texts"]["answer"].to_pylist()
    without = read(("a", "b"), clusters=0, neighbours=("errors",), labels=answers)
    assert "neighbours" not in without.tables
    [said] = _said(without, "no neighbours")
    assert "no neighbours of errors were found: there is no such text." in said


# --- a class that is called all


def test_a_class_called_all_is_not_told_as_all_texts(read) -> None:
    found = read(("all", "none"), marker="good")
    assert {r["predicted"] for r in found.tables["clusters"].to_pylist()} == {"all", "none"}
    assert not _said(found, "all texts")
    assert all("of those answered all" in said or "of those answered none" in said for said in _said(found, "cluster"))
    titles = {card.title for card in found.cards()}
    assert {"films, predicted all: cluster 0", "films, predicted none: cluster 0"} <= titles
    assert not any(" of all;" in card.facts or "; answered " in card.facts for card in found.cards())
    panels = [axes.get_title(loc="left") for axes in found.plot("clusters").axes]
    assert any(title.startswith("answered all, cluster") for title in panels)


def test_all_texts_are_told_so_whatever_the_classes_are_called(read) -> None:
    found = read(("all", "none"), within="all", marker="good")
    assert all(" of all texts " in said for said in _said(found, "cluster "))
    assert {card.title for card in found.cards()} == {"films: cluster 0", "films: cluster 1"}
    assert all(" of all; " in card.facts and "; answered " in card.facts for card in found.cards())
    panels = [axes.get_title(loc="left") for axes in found.plot("clusters").axes]
    assert all(title.startswith("all answers, cluster") for title in panels)


def test_a_class_called_all_is_known_though_the_others_could_not_be_clustered(read) -> None:
    answered = {r["class"]: r["predicted"] for r in read(("all", "none")).tables["predictions"].to_pylist()[1:]}
    few, many = sorted(answered.values())
    assert few < many, "a random head that answers half and half shows nothing here"
    most = max(answered, key=answered.__getitem__)
    # The class of most texts is called all.
    found = read(tuple("all" if name == most else "none" for name in answered), clusters=few + 1)
    assert {r["predicted"] for r in found.tables["clusters"].to_pylist()} == {"all"}
    assert _said(found, "cluster 0 of those answered all") and not _said(found, "all texts")


def test_a_reading_that_joins_runs_tells_all_texts_from_classes(read) -> None:
    """As a reproduction's: a run of each class beside one of all texts."""
    runs = [read(("a", "b"), within=within) for within in ("each", "all")]
    joined = _joined(runs)
    assert next(iter(_table(joined, "Clusters").columns)) == "reading"
    # A joined reading has no examples.
    joined.tables["examples"] = runs[0].tables["examples"]
    titles = {card.title for card in joined.cards()}
    assert titles == {f"films{part}: cluster {i}" for part in ("", ", predicted a", ", predicted b") for i in range(2)}


# --- tables at a terminal, and the map


def test_the_terminal_shows_what_tells_rows_apart(read) -> None:
    ways, spaces = ("grad-l2", "grad-x-input"), ("salience-vocab", "pmi")
    several = read(("a", "b"), "films", "plays", method=ways, representation=spaces, marker="good", neighbours=("0",))
    for title in ("Clusters", "The cluster that gathers"):
        assert list(_table(several, title).columns[:2]) == ["corpus, method, representation", "predicted"]
    gather = [row[0] for row in _table(several, "The cluster that gathers").rows]
    assert set(gather) == {f"{name}, {way}, {space}" for name in ("films", "plays") for way in ways for space in spaces}
    # Neighbours are asked for in the first corpus alone.
    near = _table(several, "Neighbours")
    assert list(near.columns[:3]) == ["method, representation", "row", "neighbour"]
    assert {row[0] for row in near.rows} == {f"{way}, {space}" for way in ways for space in spaces}
    assert all(row[2].startswith("films, row ") for row in near.rows)
    predictions = _table(several, "Predictions")
    assert predictions.columns[0] == "corpus" and {row[0] for row in predictions.rows} == {"films", "plays"}
    # Of 32 clusters those shown may all be of one method; that there is another counts.
    assert _table(several, "Clusters").title.endswith(", the first 16 of 32")
    one = read(("a", "b"), marker="good", neighbours=("0",))
    assert {part.columns[0] for part in one.overview()} == {"texts", "predicted", "row"}


@pytest.mark.parametrize("width", [100, 70])
def test_what_tells_rows_apart_is_whole_on_a_terminal(read, monkeypatch, width) -> None:
    ways, spaces = ("grad-l2", "integrated-gradients"), ("salience-vocab", "salience-embedding")
    found = read(("a", "b"), "films", "plays", method=ways, representation=spaces, marker="good", neighbours=("0",))
    out = io.StringIO()
    monkeypatch.setattr(show, "Console", lambda: Console(file=out, width=width))
    show.reading(found)
    tables = [line for line in out.getvalue().splitlines() if line[:1] in "│┃"]
    assert tables and all(len(line) <= width for line in tables)
    assert not any("…" in line for line in tables)


def test_clusters_of_two_corpora_are_two_groups_of_the_map(read, monkeypatch) -> None:
    drawn: list[list[str | None]] = []
    monkeypatch.setattr("theodolite.salience.drawing.text_map", lambda _texts, groups, **_: drawn.append(groups))
    for corpora in (("films", "plays"), ("films",)):
        read(("a", "b"), *corpora, map="tsne").plot("map-clusters")
    two, one = ({name for name in groups if name} for groups in drawn)
    assert len(two) == 8 and len(one) == 4
    assert {name.split(", ")[0] for name in two} == {"films", "plays"}
    assert {name.split(", ")[0] for name in one} == {"a", "b"}


# --- a regression's faithfulness


@pytest.mark.parametrize(
    ("names", "said", "told", "axis"),
    [
        (("score",), "moves the answer by: ", "Change of the answer when ", "change of the answer"),
        (("a", "b"), "lowers the probability by: ", "Fall of the class's probability when ", "fall of the probability"),
    ],
)
def test_an_answer_is_moved_and_a_probability_lowered(read, names, said, told, axis) -> None:
    found = read(names, faithful=4)
    [sentence] = _said(found, "most salient tokens")
    assert f" most salient tokens {said}" in sentence
    figure = found.drawings()["faithfulness"]
    assert figure.caption.startswith(told)
    assert {axes.get_ylabel() for axes in figure.draw().axes} == {axis}

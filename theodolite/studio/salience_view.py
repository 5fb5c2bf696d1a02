"""A salience reading as the page shows it: scores, clusters, lists of texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import regex
from numpy.typing import NDArray

from theodolite.corpus import Corpus
from theodolite.reading import Reading, plain
from theodolite.salience.analysis import shown
from theodolite.salience.heat import coloured
from theodolite.salience.representations import REPRESENTATIONS
from theodolite.salience.ways import ways_of
from theodolite.studio.salience_schemas import (
    Change,
    ClusterCard,
    Example,
    FaithfulnessRow,
    Gathered,
    ListChange,
    Measured,
    PositionRow,
    Scores,
    Span,
    Term,
    TermChange,
    TextRow,
    Texts,
)

Row = dict[str, Any]

# Characters of a text that a list shows.
SHOWN = 600
ALL = "all"
_GROUPING = ("corpus", "method", "representation", "predicted")
SUREST, LEAST_SURE, IN_ORDER = "surest", "least-sure", "row"
ORDERS = (SUREST, LEAST_SURE, IN_ORDER)


@dataclass(frozen=True)
class Grouped:
    """Which clustering: of one corpus, by one method and representation, within one predicted class (or all)."""

    corpus: str
    method: str
    representation: str
    predicted: str

    def owns(self, row: Row) -> bool:
        return all(row[name] == getattr(self, name) for name in _GROUPING)


@dataclass(frozen=True)
class TextFilter:
    """Which texts of a corpus are listed; an empty field asks for nothing."""

    corpus: str
    label: str = ""
    answer: str = ""
    wrong: bool = False
    word: str = ""
    order: str = SUREST
    offset: int = 0
    limit: int = 20


class SalienceView:
    """The tables of a reading, turned into what is sent."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.options: Mapping[str, Any] = reading.manifest.get("options", {})
        self._kept: dict[str, list[Row]] = {}

    def rows(self, table: str) -> list[Row]:
        """A table's rows, missing numbers as None; none where the reading has no such table."""
        if table not in self._kept:
            found = self.reading.tables.get(table)
            self._kept[table] = [] if found is None else plain(found.to_pylist())
        return self._kept[table]

    @property
    def corpora(self) -> dict[str, int]:
        """How many texts of each corpus were looked at."""
        counts = self.reading.tables["texts"]["corpus"].value_counts().to_pylist()
        return {entry["values"]: entry["counts"] for entry in counts}

    @property
    def classes(self) -> list[str]:
        """By number; none of a regression."""
        rows = self.rows("predictions")
        # The first row of a corpus is of all its texts; a class may be called all, too.
        return [row["class"] for row in rows if row["corpus"] == rows[0]["corpus"]][1:]

    @property
    def methods(self) -> list[str]:
        """Of several targets, each method of each."""
        return [way.name for way in ways_of(self.options)]

    @property
    def representations(self) -> list[str]:
        return list(self.options.get("representation", ()))

    @property
    def further_representations(self) -> list[str]:
        """Those by which texts can be compared besides; not `cls`, whose vectors a run keeps only when asked to."""
        return [name for name in REPRESENTATIONS if name not in (*self.representations, "cls")]

    def scores(self) -> list[Scores]:
        return [Scores(name=row["class"], **_only(Scores, row)) for row in self.rows("predictions")]

    def cards(
        self, corpus: str = "", method: str = "", representation: str = "", predicted: str = ""
    ) -> list[ClusterCard]:
        """Clusters, the most suspicious first; an empty value asks for all."""
        asked = dict(zip(_GROUPING, (corpus, method, representation, predicted), strict=True))
        rows = [r for r in self.rows("clusters") if all(not v or r[name] == v for name, v in asked.items())]
        return [self._card(row) for row in sorted(rows, key=lambda r: -r["suspicion"])]

    def card(self, grouped: Grouped, number: int) -> ClusterCard | None:
        row = next((r for r in self.rows("clusters") if grouped.owns(r) and r["id"] == number), None)
        return None if row is None else self._card(row)

    def examples(self, grouped: Grouped, number: int) -> list[Example]:
        """The texts nearest to a cluster's centre."""
        rows = [r for r in self.rows("examples") if grouped.owns(r) and r["id"] == number]
        return [Example(**_text_row(row, row["text"]).model_dump(), spans=spans(row)) for row in rows]

    def has_members(self, grouped: Grouped) -> bool:
        """Whether the reading itself says which texts are in the clusters: of the first representation it does."""
        first = (self.methods[:1], self.representations[:1])
        return first == ([grouped.method], [grouped.representation])

    def members(self, grouped: Grouped, number: int) -> NDArray[np.int64]:
        """The rows of a cluster's texts, where ``has_members``."""
        table = self.reading.tables["texts"]
        inside = pc.and_(pc.equal(table["corpus"], grouped.corpus), pc.equal(table["cluster"], number))
        if grouped.predicted != ALL:
            inside = pc.and_(inside, pc.equal(table["answer"], grouped.predicted))
        return np.asarray(table.filter(inside)["row"].to_numpy(), np.int64)

    def text(self, corpus: str, row: int) -> Row | None:
        """What the reading says of a text."""
        table = self.reading.tables["texts"]
        found = table.filter(pc.and_(pc.equal(table["corpus"], corpus), pc.equal(table["row"], row))).to_pylist()
        return plain(found[0]) if found else None

    def texts(self, asked: TextFilter, corpus: Corpus | None, among: NDArray[np.int64] | None = None) -> Texts:
        """A page of the texts that fit, of all or of some rows; ``corpus`` has the texts, where they are at hand."""
        table = self.reading.tables["texts"]
        keep = pc.equal(table["corpus"], asked.corpus)
        for column, value in (("label", asked.label), ("answer", asked.answer)):
            if value:
                keep = pc.and_(keep, pc.fill_null(pc.equal(table[column], value), False))
        if asked.wrong:
            keep = pc.and_(keep, pc.fill_null(pc.not_equal(table["label"], table["answer"]), False))
        if among is not None:
            keep = pc.and_(keep, pc.is_in(table["row"], pa.array(among)))
        found = table.filter(keep)
        note = ""
        if asked.word and corpus is None:
            note = "Words cannot be looked for: the texts are not at hand."
        elif asked.word and corpus is not None:
            found = found.filter(pa.array(_mention(corpus, found["row"], asked.word)))
        if asked.order != IN_ORDER:
            direction = "ascending" if asked.order == LEAST_SURE else "descending"
            found = found.sort_by([("probability", direction), ("row", "ascending")])
        page = plain(found.slice(asked.offset, asked.limit).to_pylist())
        rows = [_text_row(row, None if corpus is None else shown(corpus, row["row"])) for row in page]
        return Texts(total=found.num_rows, offset=asked.offset, rows=rows, note=note)

    def measured(self) -> Measured:
        lists = self.rows("sensitivity")
        return Measured(
            toward=lists[0]["class"] if lists else None,
            lists=[ListChange(**_changes(r), term=_file_name(r["list"]), terms=r["terms"]) for r in lists],
            terms=[TermChange(**_changes(r), term=r["term"]) for r in self.rows("sensitivity_terms")],
            faithfulness=[FaithfulnessRow(**_only(FaithfulnessRow, r)) for r in self.rows("faithfulness")],
            positions=[PositionRow(**_only(PositionRow, r)) for r in self.rows("positions")],
        )

    def _card(self, row: Row) -> ClusterCard:
        marks = (m for m in self.rows("marker") if all(m[name] == row[name] for name in _GROUPING))
        best = next((m for m in marks if m["cluster"] == row["id"]), None)
        terms = [Term(term=t, value=v) for t, v in zip(row["terms"], row["values"], strict=True)]
        gathered = None if best is None else Gathered(**_only(Gathered, best))
        return ClusterCard(**_only(ClusterCard, {**row, "terms": terms, "marker": gathered}))


def spans(row: Row) -> list[Span]:
    """A text's characters with the weights of its tokens, from a row as ``coloured`` takes it."""
    return [Span(text=text, weight=weight) for text, weight in coloured(row)]


def changes_of(row: Any) -> Row:
    """Insertion, masking and count of a row of sensitivity, measured now or read."""
    return _changes(plain(row))


def _changes(row: Row) -> Row:
    def change(what: str, texts: str) -> Change:
        return Change(mean=row[what], low=row[f"{what}_low"], high=row[f"{what}_high"], texts=row[texts])

    return {"insertion": change("insertion", "inserted"), "masking": change("masking", "masked"), "count": row["count"]}


def _text_row(row: Row, text: str | None) -> TextRow:
    beginning = None if text is None else text[:SHOWN]
    cut = text is not None and len(text) > SHOWN
    said = {"text": beginning, "cut": cut, "label": label_of(row), "wrong": is_wrong(row)}
    return TextRow(**_only(TextRow, row) | said)


def label_of(row: Row) -> str | None:
    """A text's label as it is read: of a regression a number."""
    value = row.get("value")
    return row["label"] if value is None else f"{value:.3g}"


def is_wrong(row: Row) -> bool:
    """Whether a text has a class for a label and was answered otherwise."""
    return row["label"] is not None and row["label"] != row["answer"]


def _mention(corpus: Corpus, rows: pa.ChunkedArray, word: str) -> NDArray[np.bool_]:
    """(rows,) whether a text, or either of a pair, mentions a word, or words, as such and not within others."""
    whole = regex.compile(rf"(?<!\w){regex.escape(word)}(?!\w)", regex.IGNORECASE)
    found = np.zeros(len(rows), np.bool_)
    for side in {"text", "text_b"} & {*corpus.table.column_names}:
        texts = corpus.table[side].take(rows)
        here = pc.match_substring(texts, word, ignore_case=True).to_numpy(zero_copy_only=False)
        for place in np.flatnonzero(here & ~found).tolist():
            found[place] = whole.search(texts[place].as_py()) is not None
    return found


def _only(kind: Any, row: Row) -> Row:
    """The entries of a row that a schema has."""
    return {name: row[name] for name in kind.model_fields if name in row}


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]

"""The reading of salience: its tables, what a terminal shows, cards of clusters, which figures there are."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar

from theodolite.reading import Card, Drawing, Overview, Passage, Reading
from theodolite.salience import drawing
from theodolite.salience.findings import runs_of_whole_corpora
from theodolite.salience.heat import coloured

Row = dict[str, Any]

CARDS = 8
EXAMPLES = 2
TERMS_SHOWN = 6
# Behind a cluster's number.
TERMS_NAMED = 3
# Of a table at a terminal.
ROWS_SHOWN = 50
# What tells rows of different origin apart; several runs are in a reading that joins them.
ORIGIN = ("reading", "corpus", "method", "representation")
# As long as the corpora.
NOT_IN_JSON = ("texts", "examples", "maps")


class SalienceReading(Reading):
    """Tables ``predictions``, ``clusters``, ``marker``, ``neighbours``, ``sensitivity``, ``faithfulness`` and others.

    ``texts`` has a row for every text (its cluster, its place on the map), ``examples`` the coloured texts of the
    cards, ``maps``, where asked for, a row for every token; none of them is part of the JSON.
    """

    instrument: ClassVar[str] = "salience"

    def to_json(self) -> dict[str, Any]:
        """The tables as lists of rows; ``predictions`` as {accuracy, by_class}, with each corpus's own beside them."""
        shown = {n: t for n, t in self.tables.items() if n not in NOT_IN_JSON}
        found = {**Reading(shown, self.findings, self.manifest).to_json(), "instrument": self.instrument}
        rows = found["predictions"]
        whole = [r for r in rows if r["class"] == "all"]
        found["predictions"] = {
            "accuracy": whole[0].get("accuracy"),
            # The first of a corpus is of all its texts; a class may be called so too.
            "by_class": [r for r in rows if r["corpus"] == whole[0]["corpus"]][1:],
            "corpora": rows,
        }
        return found

    def overview(self) -> list[Overview]:
        """Predictions, the most suspicious clusters, the marker, the sensitivity, neighbours."""
        scores = ["correlation", "squared_error"] if self._regression else ["class", "accuracy"]
        clusters = [
            r | {"terms": r["terms"][:TERMS_SHOWN]}
            for r in sorted(self._rows("clusters"), key=lambda r: -r["suspicion"])
        ]
        grouped = ["predicted", "id", "share", "suspicion", "terms"]
        marker = ["predicted", "clusters", "cluster", "size", "precision", "recall", "baseline"]
        terms = ["list", "insertion", "insertion_sd", "masking", "masking_sd", "count"]
        label = "value" if self._regression else "label"
        neighbours = [
            r | {"neighbour": f"{r['neighbour_corpus']}, row {r['neighbour_row']}"} for r in self._rows("neighbours")
        ]
        near = ["row", "neighbour", "cosine", "shared_terms", label, "predicted"]
        tables = (
            _overview("Predictions", self._rows("predictions"), ["texts", *scores, "baseline"]),
            _overview("Clusters, the most suspicious first", clusters, grouped, 2 * CARDS),
            _overview("The cluster that gathers the marked texts", self._rows("marker"), marker),
            _overview("What terms do to the answer", self._rows("sensitivity"), terms),
            _overview("Neighbours", neighbours, near),
        )
        return [table for table in tables if table.rows]

    def cards(self) -> list[Card]:
        """The clusters of the first representation, the suspicious ones first, with words and coloured texts."""
        examples = self._rows("examples")
        found = []
        for row in sorted(self._first_clusters(), key=lambda r: -r["suspicion"])[:CARDS]:
            same = ("corpus", "method", "representation", "predicted", "id")
            texts = [e for e in examples if all(e[name] == row[name] for name in same)]
            largest = max(row["values"], default=1.0)
            part = "" if row["whole"] else f"predicted {row['predicted']}"
            facts = [f"{row['size']:,} texts, {row['share']:.0%} of {f'those {part}' if part else 'all'}",
                     f"suspicion {row['suspicion']:.2f}"]  # fmt: skip
            if row["accuracy"] is not None:
                within = f" ({row['accuracy_low']:.2f} to {row['accuracy_high']:.2f})" if "accuracy_low" in row else ""
                facts.append(f"accuracy {row['accuracy']:.2f}{within}")
            if row["whole"] and row.get("answers"):
                facts.append(f"answered {', '.join(row['answers'])}")
            found.append(
                Card(
                    f"{', '.join(filter(None, (row['corpus'], part)))}: cluster {row['id']}",
                    "; ".join(facts),
                    [(term, value / largest) for term, value in zip(row["terms"], row["values"], strict=True)],
                    [Passage(_heading(e), coloured(e)) for e in texts[:EXAMPLES]],
                )
            )
        return found

    def drawings(self) -> dict[str, Drawing]:
        """The map in its colourings, clusters by terms, what terms do, whether the maps are true, where they look."""
        found: dict[str, Drawing] = {}
        if "x" in self.tables["texts"].column_names:
            found |= self._maps()
        if clusters := self._first_clusters():
            found["clusters"] = Drawing(
                "The clusters by their terms",
                "The terms of highest mean value in each cluster; above them the answer, the cluster's number, its "
                "texts and how suspicious it is (0 to 1), the most suspicious first.",
                partial(drawing.cluster_terms, clusters),
            )
        if "sensitivity" in self.tables:
            found["sensitivity"] = Drawing(
                "What a term does to the answer",
                "Change of the class's probability when a term is put into texts of other classes (left), and when it "
                "is masked in texts of the class (right). Points are terms, bars the means of the lists with their "
                "95% intervals over texts.",
                lambda: drawing.sensitivity(self._rows("sensitivity"), self._rows("sensitivity_terms")),
            )
        if "faithfulness" in self.tables:
            told, measured = (
                ("Change of the answer", "change of the answer")
                if self._regression
                else ("Fall of the class's probability", "fall of the probability")
            )
            found["faithfulness"] = Drawing(
                "Are the maps true?",
                f"{told} when the most salient tokens are masked (left: more is better) and "
                "when all others are (right: less is better), beside a random order. Bands: 95% intervals over texts.",
                lambda: drawing.faithfulness(self._rows("faithfulness"), measured),
            )
        found["positions"] = Drawing(
            "Where in a text it looks",
            "Share of a text's salience in each tenth of it, special tokens left out; grey: the share of its tokens.",
            lambda: drawing.positions(self._rows("positions")),
        )
        return found

    def _maps(self) -> dict[str, Drawing]:
        """The one map, coloured by whatever the reading knows of the texts."""
        texts = self.tables["texts"]
        answers, labels = texts["answer"].to_pylist(), texts["label"].to_pylist()
        wrong = [label is not None and label != answer for label, answer in zip(labels, answers, strict=True)]
        title = "The texts by what is looked at in them"
        near = "Each point is a text; near ones have their salience on the same words. Colours: "
        found = {
            "map": Drawing(
                title,
                f"{near}the answers.",
                lambda: drawing.value_map(texts, [float(answer) for answer in answers], "answer"),
            )
            if self._regression
            else Drawing(
                title,
                f"{near}the answers; ringed points are those it got wrong.",
                lambda: drawing.text_map(texts, _prefixed("answered", answers), ringed=wrong),
            )
        }
        if self._regression:
            # Older readings have no values.
            values = texts["value"].to_pylist() if "value" in texts.column_names else []
            if not all(map(math.isnan, values)):
                found["map-labels"] = Drawing(
                    f"{title}, by label",
                    f"{near}the labels; grey: texts without one.",
                    lambda: drawing.value_map(texts, values, "label"),
                )
        elif any(label is not None for label in labels):
            found["map-labels"] = Drawing(
                f"{title}, by label",
                f"{near}the true labels.",
                lambda: drawing.text_map(texts, _prefixed("label", labels)),
            )
        if self._first_clusters():
            found["map-clusters"] = Drawing(
                f"{title}, by cluster",
                f"{near}the largest clusters, each with its first terms.",
                lambda: drawing.text_map(texts, self._cluster_names()),
            )
        if "marked" in texts.column_names:
            found["map-marked"] = Drawing(
                f"{title}, those with the marker",
                f"{near}whether a text has the marker.",
                lambda: drawing.text_map(texts, ["marked" if has else None for has in texts["marked"].to_pylist()]),
            )
        return found

    @property
    def _regression(self) -> bool:
        return "correlation" in self.tables["predictions"].column_names

    def _first_clusters(self) -> list[Row]:
        """Those that the texts are told to be in: of the first representation and method.

        Beside its columns each has whether it is of `whole` corpora, and not of a class.
        """
        rows = self._rows("clusters")
        first = [(r["representation"], r["method"]) for r in rows[:1]]
        whole = runs_of_whole_corpora(rows, self._rows("skipped"))
        return [r | {"whole": r.get("reading") in whole} for r in rows if (r["representation"], r["method"]) in first]

    def _cluster_names(self) -> list[str | None]:
        """Of each text, its cluster with the first of its terms, and its corpus where there are several."""
        corpora, answers, numbers = (self.tables["texts"][c].to_pylist() for c in ("corpus", "answer", "cluster"))
        several = len(set(corpora)) > 1
        names = {}
        for row in self._first_clusters():
            corpus, predicted, number = row["corpus"], row["predicted"], row["id"]
            whose = f"{corpus}, {predicted}" if several else predicted
            terms = ", ".join(row["terms"][:TERMS_NAMED])
            names[corpus, predicted, number] = f"{whose}, cluster {number}: {terms}"
        places = zip(corpora, answers, numbers, strict=True)
        return [names.get((corpus, answer, i)) or names.get((corpus, "all", i)) for corpus, answer, i in places]

    def _rows(self, table: str) -> list[Row]:
        return self.tables[table].to_pylist() if table in self.tables else []


def _overview(title: str, rows: list[Row], names: list[str], most: int = ROWS_SHOWN) -> Overview:
    """The named columns of the first rows, after what of their origin the rows, shown or not, differ in.

    That is one column, whatever is in it: names are long, and a terminal of 100 columns has no room for three of them.
    """
    origin = [name for name in ORIGIN if len({r.get(name) for r in rows}) > 1]
    title += f", the first {most} of {len(rows)}" if len(rows) > most else ""
    columns = [name.replace("_", " ") for name in names]
    shown = [[_plain(r.get(name)) for name in names] for r in rows[:most]]
    if origin:
        columns = [", ".join(origin), *columns]
        shown = [[", ".join(str(r[name]) for name in origin), *cells] for r, cells in zip(rows, shown, strict=False)]
    return Overview(title, columns, shown)


def _heading(example: Row) -> str:
    parts = [f"row {example['row']}", f"answered {example['answer']}"]
    if example["probability"] is not None:
        parts.append(f"p {example['probability']:.2f}")
    if example["label"] is not None:
        parts.append(f"label {example['label']}")
    if example.get("value") is not None:
        parts.append(f"label {example['value']:.3g}")
    return ", ".join(parts)


def _plain(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _prefixed(word: str, values: list[str | None]) -> list[str | None]:
    return [None if value is None else f"{word} {value}" for value in values]

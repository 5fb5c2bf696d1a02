"""The reading of salience: its tables, what a terminal shows, cards of clusters, which figures there are."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar

from theodolite.reading import Card, Drawing, Overview, Passage, Reading
from theodolite.salience import drawing
from theodolite.salience.analysis import ALL
from theodolite.salience.heat import coloured

Row = dict[str, Any]

CARDS = 8
EXAMPLES = 2
TERMS_SHOWN = 6
# Behind a cluster's number.
TERMS_NAMED = 3
# Of a table at a terminal.
ROWS_SHOWN = 50
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
        """Predictions, the most suspicious clusters, the marker, the sensitivity."""
        scores = ["correlation", "squared_error"] if self._regression else ["class", "accuracy"]
        found = [self._overview("Predictions", "predictions", ["corpus", "texts", *scores, "baseline"])]
        clusters = [
            [r["corpus"], r["representation"], r["predicted"], r["id"], r["share"], r["suspicion"],
             ", ".join(r["terms"][:TERMS_SHOWN])]
            for r in sorted(self._rows("clusters"), key=lambda r: -r["suspicion"])[: 2 * CARDS]
        ]  # fmt: skip
        if clusters:
            columns = ["corpus", "representation", "predicted", "id", "share", "suspicion", "terms"]
            found.append(Overview("Clusters, the most suspicious first", columns, clusters))
        marker = ["representation", "method", "predicted", "clusters", "cluster", "size", "precision", "recall",
                  "baseline"]  # fmt: skip
        terms = ["list", "insertion", "insertion_sd", "masking", "masking_sd", "count"]
        label = "value" if self._regression else "label"
        near = ["row", "neighbour_corpus", "neighbour_row", "cosine", "shared_terms", label, "predicted"]
        for title, table, names in (
            ("The cluster that gathers the marked texts", "marker", marker),
            ("What terms do to the answer", "sensitivity", terms),
            ("Neighbours", "neighbours", near),
        ):
            if table in self.tables:
                found.append(self._overview(title, table, names))
        return found

    def cards(self) -> list[Card]:
        """The clusters of the first representation, the suspicious ones first, with words and coloured texts."""
        examples = self._rows("examples")
        found = []
        for row in sorted(self._first_clusters(), key=lambda r: -r["suspicion"])[:CARDS]:
            same = ("corpus", "method", "representation", "predicted", "id")
            texts = [e for e in examples if all(e[name] == row[name] for name in same)]
            largest = max(row["values"], default=1.0)
            whole = row["predicted"] == ALL
            part = "" if whole else f"predicted {row['predicted']}"
            facts = [f"{row['size']:,} texts, {row['share']:.0%} of {f'those {part}' if part else 'all'}",
                     f"suspicion {row['suspicion']:.2f}"]  # fmt: skip
            if row["accuracy"] is not None:
                within = f" ({row['accuracy_low']:.2f} to {row['accuracy_high']:.2f})" if "accuracy_low" in row else ""
                facts.append(f"accuracy {row['accuracy']:.2f}{within}")
            if whole and row.get("answers"):
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
            whose, falls = ("", "answer") if self._regression else ("class's ", "probability")
            found["faithfulness"] = Drawing(
                "Are the maps true?",
                f"Fall of the {whose}{falls} when the most salient tokens are masked (left: more is better) and "
                "when all others are (right: less is better), beside a random order. Bands: 95% intervals over texts.",
                lambda: drawing.faithfulness(self._rows("faithfulness"), falls),
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
        """Those that the texts are told to be in: of the first representation and method."""
        rows = self._rows("clusters")
        first = [(r["representation"], r["method"]) for r in rows[:1]]
        return [r for r in rows if (r["representation"], r["method"]) in first]

    def _cluster_names(self) -> list[str | None]:
        """Of each text, its cluster with the first of its terms."""
        names = {}
        for row in self._first_clusters():
            terms = ", ".join(row["terms"][:TERMS_NAMED])
            names[row["corpus"], row["predicted"], row["id"]] = f"{row['predicted']}, cluster {row['id']}: {terms}"
        places = zip(*(self.tables["texts"][c].to_pylist() for c in ("corpus", "answer", "cluster")), strict=True)
        return [names.get((corpus, answer, i)) or names.get((corpus, "all", i)) for corpus, answer, i in places]

    def _rows(self, table: str) -> list[Row]:
        return self.tables[table].to_pylist() if table in self.tables else []

    def _overview(self, title: str, table: str, names: list[str]) -> Overview:
        rows = [[_plain(r.get(name)) for name in names] for r in self._rows(table)]
        title += f", the first {ROWS_SHOWN} of {len(rows)}" if len(rows) > ROWS_SHOWN else ""
        return Overview(title, [name.replace("_", " ") for name in names], rows[:ROWS_SHOWN])


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

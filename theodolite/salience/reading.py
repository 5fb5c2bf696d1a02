"""The reading of salience: its tables, what a terminal shows, cards of clusters, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from theodolite.figures import COLOURS, curve, dot, legend, panels, styled
from theodolite.reading import Card, Drawing, Overview, Passage, Reading
from theodolite.salience.heat import coloured

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]

CARDS = 8
EXAMPLES = 2
TERMS_SHOWN = 6
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
            "by_class": [r for r in rows if r["class"] != "all" and r["corpus"] == whole[0]["corpus"]],
            "corpora": rows,
        }
        return found

    def overview(self) -> list[Overview]:
        """Predictions, the most suspicious clusters, the marker, the sensitivity."""
        found = [self._overview("Predictions", "predictions", ["corpus", "class", "texts", "accuracy", "baseline"])]
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
        near = ["row", "neighbour_corpus", "neighbour_row", "cosine", "shared_terms", "label", "predicted"]
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
        rows = self._rows("clusters")
        if not rows:
            return []
        first = rows[0]["representation"], rows[0]["method"]
        mine = [r for r in rows if (r["representation"], r["method"]) == first]
        examples = self._rows("examples")
        found = []
        for row in sorted(mine, key=lambda r: -r["suspicion"])[:CARDS]:
            same = ("corpus", "method", "representation", "predicted", "id")
            texts = [e for e in examples if all(e[name] == row[name] for name in same)]
            largest = max(row["values"], default=1.0)
            facts = [f"{row['size']:,} texts, {row['share']:.0%} of those predicted {row['predicted']}",
                     f"suspicion {row['suspicion']:.2f}"]  # fmt: skip
            if row["accuracy"] is not None:
                within = f" ({row['accuracy_low']:.2f} to {row['accuracy_high']:.2f})" if "accuracy_low" in row else ""
                facts.append(f"accuracy {row['accuracy']:.2f}{within}")
            if row["predicted"] == "all" and row.get("answers"):
                facts.append(f"answered {', '.join(row['answers'])}")
            found.append(
                Card(
                    f"{row['corpus']}, predicted {row['predicted']}: cluster {row['id']}",
                    "; ".join(facts),
                    [(term, value / largest) for term, value in zip(row["terms"], row["values"], strict=True)],
                    [Passage(_heading(e), coloured(e)) for e in texts[:EXAMPLES]],
                )
            )
        return found

    def drawings(self) -> dict[str, Drawing]:
        """The map, then what terms do, whether the maps are true, and where in a text they look."""
        found: dict[str, Drawing] = {}
        if "x" in self.tables["texts"].column_names:
            found["map"] = Drawing(
                "The texts by what is looked at in them",
                "Each point is a text; near ones have their salience on the same words. Colours are the answers; "
                "ringed points are those it got wrong.",
                self._draw_map,
            )
        if "sensitivity" in self.tables:
            found["sensitivity"] = Drawing(
                "What a term does to the answer",
                "Change of the class's probability when a term is put into texts of other classes (left), and when it "
                "is masked in texts of the class (right). Points are terms, bars the means of the lists with their "
                "95% intervals over texts.",
                self._draw_sensitivity,
            )
        if "faithfulness" in self.tables:
            found["faithfulness"] = Drawing(
                "Are the maps true?",
                "Fall of the class's probability when the most salient tokens are masked (left: more is better) and "
                "when all others are (right: less is better), beside a random order. Bands: 95% intervals over texts.",
                self._draw_faithfulness,
            )
        found["positions"] = Drawing(
            "Where in a text it looks",
            "Share of a text's salience in each tenth of it, special tokens left out; grey: the share of its tokens.",
            self._draw_positions,
        )
        return found

    def _rows(self, table: str) -> list[Row]:
        return self.tables[table].to_pylist() if table in self.tables else []

    def _overview(self, title: str, table: str, names: list[str]) -> Overview:
        rows = [[_plain(r.get(name)) for name in names] for r in self._rows(table)]
        title += f", the first {ROWS_SHOWN} of {len(rows)}" if len(rows) > ROWS_SHOWN else ""
        return Overview(title, [name.replace("_", " ") for name in names], rows[:ROWS_SHOWN])

    def _draw_map(self) -> Figure:
        table = self.tables["texts"]
        answers = table["answer"].to_pylist()
        labels = table["label"].to_pylist()
        x, y = (table[name].to_numpy() for name in ("x", "y"))
        names = sorted(set(answers), key=lambda a: -answers.count(a))[: len(COLOURS)]
        size = max(1.0, min(14.0, 30_000 / max(len(answers), 1)))
        with styled():
            figure, [place] = panels(1, 1, width=6.4, height=5.2)
            for colour, name in zip(COLOURS, names, strict=False):
                mine = [i for i, a in enumerate(answers) if a == name]
                wrong = [i for i in mine if labels[i] is not None and labels[i] != name]
                place.scatter(x[mine], y[mine], s=size, color=colour, alpha=0.6, linewidths=0, rasterized=True)
                rings: dict[str, Any] = {
                    "facecolors": "none",
                    "edgecolors": "#000000",
                    "linewidths": 0.5,
                    "rasterized": True,
                }
                place.scatter(x[wrong], y[wrong], s=2.5 * size, **rings)
            place.axis("off")
            legend(figure, [dot(colour) for colour in COLOURS[: len(names)]], [f"answered {name}" for name in names])
        return figure

    def _draw_sensitivity(self) -> Figure:
        lists, terms = self._rows("sensitivity"), {r["term"]: r for r in self._rows("sensitivity_terms")}
        with styled():
            figure, axes = panels(1, 2, height=1.2 + 0.5 * len(lists))
            for place, what, title in zip(axes, ("insertion", "masking"), ("put in", "masked"), strict=True):
                for i, row in enumerate(lists):
                    colour = COLOURS[i % len(COLOURS)]
                    if row[what] is not None:
                        place.barh(i, row[what], color=colour, alpha=0.35, height=0.6)
                        place.plot([row[f"{what}_low"], row[f"{what}_high"]], [i, i], color=colour, linewidth=2)
                    values = [terms[t][what] for t in row["terms"] if terms[t][what] is not None]
                    place.plot(values, [i] * len(values), "o", color=colour, markersize=3)
                place.axvline(0, color="#888888", linewidth=0.8)
                place.set_yticks(
                    range(len(lists)), [_file_name(r["list"]) for r in lists] if what == "insertion" else []
                )
                place.set_xlabel(f"change of p({lists[0]['class']})")
                place.set_title(title)
                place.invert_yaxis()
        return figure

    def _draw_faithfulness(self) -> Figure:
        rows = self._rows("faithfulness")
        corpus = rows[0]["corpus"]
        methods = list(dict.fromkeys(r["method"] for r in rows))
        with styled():
            figure, axes = panels(1, 2, height=2.6)
            for place, what in zip(axes, ("comprehensiveness", "sufficiency"), strict=True):
                for number, method in enumerate(methods):
                    mine = [r for r in rows if r["method"] == method and r["corpus"] == corpus]
                    low, high = ([r[f"{what}_{end}"] for r in mine] for end in ("low", "high"))
                    curve(place, [r["k"] for r in mine], [r[what] for r in mine], number=number, label=method,
                          low=low, high=high)  # fmt: skip
                place.set_title(f"{what}, {corpus}")
                place.set_xlabel("tokens masked" if what == "comprehensiveness" else "tokens kept")
                place.set_ylabel("fall of the probability")
                place.axhline(0, color="#888888", linewidth=0.8, zorder=0)
            legend(figure, *axes[0].get_legend_handles_labels())
        return figure

    def _draw_positions(self) -> Figure:
        rows = [r for r in self._rows("positions") if "special" not in r["part"]]
        kinds = list(dict.fromkeys((r["corpus"], r["method"]) for r in rows))
        with styled():
            figure, axes = panels(1, len(kinds), width=3.4 * max(2, len(kinds)), height=2.5)
            for place, (corpus, method) in zip(axes, kinds, strict=True):
                mine = [r for r in rows if (r["corpus"], r["method"]) == (corpus, method)]
                x = range(len(mine))
                errors = [[r["salience"] - r["low"] for r in mine], [r["high"] - r["salience"] for r in mine]]
                place.bar(x, [r["salience"] for r in mine], color=COLOURS[0], yerr=errors, ecolor="#333333")
                place.plot(x, [r["tokens"] for r in mine], color="#bbbbbb", marker="_", linestyle="", markersize=12)
                place.set_xticks([0, len(mine) // 2, len(mine) - 1], ["start", "middle", "end"])
                place.set_ylabel("share of the salience")
                place.set_title(f"{corpus}, {method}")
        return figure


def _heading(example: Row) -> str:
    parts = [f"row {example['row']}", f"answered {example['answer']}"]
    if example["probability"] is not None:
        parts.append(f"p {example['probability']:.2f}")
    if example["label"] is not None:
        parts.append(f"label {example['label']}")
    return ", ".join(parts)


def _plain(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]

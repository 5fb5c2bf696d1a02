"""The reading of illusion: its tables, what a terminal shows, its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow.compute as pc

from theodolite.figures import COLOURS, curve, dot, legend, panels, styled
from theodolite.illusion.single_tokens import MARKS
from theodolite.reading import Drawing, Overview, Reading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]

VERDICTS = ("global", "dataset", "local", "unexplained", "none")
MEANING = {
    "global": "holds in every corpus",
    "dataset": "holds in some others",
    "local": "in no other, and its sentences are neighbours",
    "unexplained": "in no other, and they are not",
    "none": "no pattern",
}
SENTENCES_SHOWN = 3
DRAWN_POINTS = 40_000


class IllusionReading(Reading):
    """Tables ``illusion_rate``, ``verdicts``, ``patterns``, ``top``, ``bottom`` and those behind them.

    The map's places are a table too, but no part of the JSON.
    """

    instrument: ClassVar[str] = "illusion"

    def to_json(self) -> dict[str, Any]:
        """The tables as lists of rows; ``overlap`` and ``separability`` as the spec of the output has them."""
        whole = Reading({n: t for n, t in self.tables.items() if n != "map"}, self.findings, self.manifest)
        found = {**whole.to_json(), "instrument": self.instrument}
        if "separability" in found:
            names = found["separability"][0]["corpora"]
            counts = {(r["corpus"], r["answered"]): r["count"] for r in found.pop("confusion")}
            found["separability"] = {
                **found["separability"][0],
                "confusion": [[counts[a, b] for b in names] for a in names],
            }
            found["overlap"] = found["overlap"][0]["overlap"]
        return found

    def overview(self) -> list[Overview]:
        """The rates, the shown direction's sentences side by side, and the tables small enough to be read."""
        found = [
            Overview(
                "Illusion rate",
                ["directions", "number", "with pattern", "illusion rate", "low", "high", "global", "dataset"],
                [
                    [r["kind"], r["directions"], r["with_pattern"]]
                    + [r[c] for c in ("illusion_rate", "illusion_rate_low", "illusion_rate_high", "global", "dataset")]
                    for r in self._rows("illusion_rate")
                ],
            )
        ]
        found += [self.side_by_side(name) for name in self.shown]
        shares = [r for r in self._rows("monotonic") if r["pairs"]]
        if shares:
            columns = ["monotonic", "increasing", "decreasing", "baseline_shuffled"]
            rows = [[", ".join(r["corpora"]), *(r[c] for c in columns)] for r in shares]
            found.append(Overview("Tokens that change steadily along a neuron", ["corpora", *columns], rows))
        return found

    @property
    def shown(self) -> list[str]:
        """The directions whose sentences are laid side by side: those asked for, else the one that tells the story."""
        return list(dict.fromkeys(r["direction"] for r in self._rows("shown")))

    @property
    def points(self) -> str:
        """What the points are: sentences or single tokens."""
        return "tokens" if "position" in self.tables["top"].column_names else "sentences"

    def side_by_side(self, direction: str) -> Overview:
        """The top sentences of a direction, a column for each corpus, headed by the pattern found there."""
        top = self.tables["top"].filter(pc.field("direction") == direction).to_pylist()
        corpora = list(dict.fromkeys(r["corpus"] for r in top))
        columns = []
        for corpus in corpora:
            pattern = self._pattern(direction, corpus)
            columns.append(f"{corpus}: {pattern or 'no pattern'}")
        texts = [[_short(r["text"], 160) for r in top if r["corpus"] == c] for c in corpora]
        rows = [list(r) for r in zip(*texts, strict=False)]
        return Overview(f"Top {self.points} of {direction}", columns, rows)

    def drawings(self) -> dict[str, Drawing]:
        """One direction in every corpus first, then the verdicts, then what they rest on."""
        found: dict[str, Drawing] = {}
        for name in self.shown:
            found[f"sentences-{name.replace(' ', '-')}"] = Drawing(
                f"{name.capitalize()}: the {self.points} that activate it most, corpus by corpus",
                "The same direction, the same model: only the corpus differs. In italics what the machine found "
                f"over-represented among the top {self.points}, with the number of them that show it.",
                lambda name=name: self._draw_sentences(name),  # type: ignore[misc]
            )
        found["verdicts"] = Drawing(
            "What becomes of a direction's pattern in the other corpora",
            "Share of all directions of a kind. Red and orange are the illusion: a pattern in one corpus that no other "
            "corpus confirms.",
            self._draw_verdicts,
        )
        if "map" in self.tables:
            found["map"] = Drawing(
                "All corpora on one map",
                f"Each point is one of the {self.points}, placed by the map's method so that near vectors lie near; "
                "colours are corpora. "
                "Distances between far groups mean little. Where corpora do not mix, a direction meets other "
                "sentences in each.",
                self._draw_map,
            )
        if "confusion" in self.tables:
            found["confusion"] = Drawing(
                "A linear separator names the corpus",
                "Rows: the true corpus; columns: the answer, as a share of the row, on held-out texts.",
                self._draw_confusion,
            )
        if any(r["pairs"] for r in self._rows("monotonic")):
            found["monotonic"] = Drawing(
                "Tokens that change steadily along a neuron",
                "Share of all pairs of a neuron and a token whose counts strictly rise or strictly fall over the five "
                "fifths of a corpus, in all corpora named at once. Grey: the same with shuffled activations.",
                self._draw_monotonic,
            )
        if "quintiles" in self.tables:
            found["quintiles"] = Drawing(
                "Tokens over the fifths of a corpus",
                "How often a token occurs in each fifth of the texts, from the lowest activation to the highest, as a "
                "share of all its occurrences. A line that rises or falls all the way is monotonic (filled marks).",
                self._draw_quintiles,
            )
        if "distances" in self.tables:
            found["distances"] = Drawing(
                f"How close the top {self.points} lie",
                f"Dot products of the top {self.points} with their nearest neighbours, with each other, and with "
                "random ones. Where 'each other' lies on 'nearest', the pattern comes from one neighbourhood.",
                self._draw_distances,
            )
        return found

    def _rows(self, table: str) -> list[Row]:
        return self.tables[table].to_pylist() if table in self.tables else []

    def _pattern(self, direction: str, corpus: str) -> str:
        mine = [r for r in self._rows("patterns") if r["direction"] == direction and r["corpus"] == corpus]
        return f"{mine[0]['pattern']} ({mine[0]['hits']})" if mine else ""

    def _draw_sentences(self, direction: str) -> Figure:
        import textwrap

        shown = self.side_by_side(direction)
        with styled():
            figure, axes = panels(1, len(shown.columns), width=2.5 * max(2, len(shown.columns)), height=2.4)
            for i, (place, heading) in enumerate(zip(axes, shown.columns, strict=True)):
                place.axis("off")
                corpus, _, pattern = heading.partition(": ")
                place.set_title(corpus, color=COLOURS[i % len(COLOURS)])
                # Shortened, so that all columns end above the foot of the figure.
                texts = [_short(row[i], 130) for row in shown.rows[:SENTENCES_SHOWN]]
                body = "\n\n".join(textwrap.fill(t, 34) for t in texts)
                place.text(0, 0.98, textwrap.fill(pattern, 34), va="top", style="italic", fontsize=8)
                place.text(0, 0.82, body, va="top", fontsize=7.5)
        return figure

    def _draw_verdicts(self) -> Figure:
        rows = self._rows("verdicts")
        kinds = list(dict.fromkeys(r["kind"] for r in rows))
        colours = dict(zip(VERDICTS, ("#009E73", "#56B4E9", "#D55E00", "#E69F00", "#dddddd"), strict=True))
        with styled():
            figure, [place] = panels(1, 1, height=1.9 + 0.45 * len(kinds))
            for y, kind in enumerate(kinds):
                mine = [r["verdict"] for r in rows if r["kind"] == kind]
                left = 0.0
                for verdict in VERDICTS:
                    share = mine.count(verdict) / len(mine)
                    place.barh(y, share, left=left, color=colours[verdict], height=0.6)
                    if share > 0.05:
                        place.text(left + share / 2, y, f"{share:.0%}", ha="center", va="center", fontsize=8)
                    left += share
            place.set_yticks(range(len(kinds)), kinds)
            place.set_xlim(0, 1)
            place.set_xlabel("share of the directions")
            place.grid(axis="y", visible=False)
            place.invert_yaxis()
            from matplotlib.patches import Patch

            legend(figure, [Patch(color=colours[v]) for v in VERDICTS], [f"{v}: {MEANING[v]}" for v in VERDICTS])
        return figure

    def _draw_map(self) -> Figure:
        table = self.tables["map"]
        corpora = [str(c) for c in dict.fromkeys(table["corpus"].to_pylist())]
        columns = {name: table[name].to_numpy() for name in ("x", "y")}
        of = table["corpus"].to_numpy(zero_copy_only=False)
        step = -(-len(of) // DRAWN_POINTS)
        with styled():
            figure, [place] = panels(1, 1, width=6.4, height=5.6)
            for i, corpus in enumerate(corpora):
                mine = (of == corpus).nonzero()[0][::step]
                size = max(1.5, min(8.0, 20_000 / max(len(of) // step, 1)))
                place.scatter(
                    columns["x"][mine],
                    columns["y"][mine],
                    s=size,
                    color=COLOURS[i % len(COLOURS)],
                    alpha=0.5,
                    linewidths=0,
                    rasterized=True,
                )
            # Stray clusters far out would press all the rest into the middle.
            for name, limit in (("x", place.set_xlim), ("y", place.set_ylim)):
                low, high = np.quantile(columns[name], [0.003, 0.997])
                limit(low - 0.05 * (high - low), high + 0.05 * (high - low))
            place.axis("off")
            legend(figure, [dot(COLOURS[i % len(COLOURS)]) for i in range(len(corpora))], corpora)
        return figure

    def _draw_confusion(self) -> Figure:
        rows = self._rows("confusion")
        names = list(dict.fromkeys(r["corpus"] for r in rows))
        share = {(r["corpus"], r["answered"]): r["share"] for r in rows}
        with styled():
            figure, [place] = panels(1, 1, width=1.6 + 0.9 * len(names), height=1.2 + 0.7 * len(names))
            values = [[share[a, b] for b in names] for a in names]
            place.imshow(values, cmap="Blues", vmin=0, vmax=1)
            for i, row in enumerate(values):
                for j, value in enumerate(row):
                    colour = "white" if value > 0.6 else "black"
                    place.text(j, i, f"{value:.1%}", ha="center", va="center", color=colour)
            place.set_xticks(range(len(names)), names, rotation=20, ha="right")
            place.set_yticks(range(len(names)), names)
            place.set_xlabel("answer")
            place.set_ylabel("true corpus")
            place.grid(visible=False)
        return figure

    def _draw_monotonic(self) -> Figure:
        rows = self._rows("monotonic")
        with styled():
            figure, [place] = panels(1, 1, height=1.0 + 0.26 * len(rows))
            for y, row in enumerate(rows):
                colour = COLOURS[(len(row["corpora"]) - 1) % len(COLOURS)]
                place.barh(y, 100 * row["monotonic"], color=colour, height=0.7)
                place.barh(y, 100 * row["baseline_shuffled"], color="#999999", height=0.25)
            place.set_yticks(range(len(rows)), [" + ".join(r["corpora"]) for r in rows])
            place.set_xlabel("pairs of a neuron and a token, %")
            place.invert_yaxis()
            place.grid(axis="y", visible=False)
        return figure

    def _draw_quintiles(self) -> Figure:
        rows = self._rows("quintiles")
        corpora = list(dict.fromkeys(r["corpus"] for r in rows))
        direction = rows[0]["direction"]
        rows = [r for r in rows if r["direction"] == direction]
        tokens = list(dict.fromkeys(r["token"] for r in rows))
        with styled():
            figure, axes = panels(1, len(corpora), width=2.1 * max(3, len(corpora)), height=2.5)
            for place, corpus in zip(axes, corpora, strict=True):
                for number, token in enumerate(tokens):
                    mine = [r for r in rows if r["corpus"] == corpus and r["token"] == token]
                    total = sum(r["count"] for r in mine) or 1
                    y = [r["count"] / total for r in mine]
                    curve(place, [r["fifth"] for r in mine], y, number=number, label=token)
                    if not mine[0]["change"]:
                        place.lines[-1].set_markerfacecolor("white")
                place.axhline(0.2, color="#888888", linewidth=0.8, zorder=0)
                _dress(
                    place, corpus, f"fifth along {direction}", "share of occurrences" if corpus == corpora[0] else ""
                )
                place.set_xticks(range(1, 6))
            legend(figure, *axes[0].get_legend_handles_labels())
        return figure

    def _draw_distances(self) -> Figure:
        rows = self._rows("distances")
        directions = list(dict.fromkeys((r["direction"], r["corpus"]) for r in rows))
        names = {"nearest": "nearest neighbours", "top": "each other", "random": f"random {self.points}"}
        with styled():
            figure, axes = panels(1, len(directions), height=2.5)
            for place, (direction, corpus) in zip(axes, directions, strict=True):
                for number, (kind, label) in enumerate(names.items()):
                    mine = [r for r in rows if r["set"] == kind and r["direction"] == direction]
                    edges = [r["low"] for r in mine] + [mine[-1]["high"]]
                    place.stairs([r["mass"] for r in mine], edges, color=COLOURS[number], label=label, linewidth=1.5)
                _dress(place, f"{direction} in {corpus}", "dot product", "share of pairs")
            legend(figure, *axes[0].get_legend_handles_labels())
        return figure


def _dress(place: Axes, title: str, x: str, y: str) -> None:
    place.set_title(title)
    place.set_xlabel(x)
    place.set_ylabel(y)


def _short(text: str, letters: int) -> str:
    """At most so many letters of a text, on one line; where a token is marked, those around it."""
    plain = " ".join(text.split())
    if len(plain) <= letters:
        return plain
    begin = max(0, plain.find(MARKS[0]) - letters // 2)
    before, plain = ("…" if begin else ""), plain[begin:]
    return before + (plain if len(plain) <= letters else plain[: letters - 1].rstrip() + "…")

"""The reading of a study: its tables, what a terminal shows of them, its figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from theodolite.figures import COLOURS, legend, panels, styled
from theodolite.reading import Drawing, Overview, Reading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]

# The tables that a terminal shows: heading, and columns by their names.
_SHOWN = {
    "conditions": (
        "Sets with a pattern",
        ("condition", "corpus", "sets", "yes", "no", "conflicting", "yes_share", "yes_low", "yes_high"),
    ),
    "methods": ("Mean opinion by method", ("method", "ratings", "mean", "low", "high", "deviation_of_annotators")),
    "representations": (
        "Neighbours that explain a mistake",
        ("representation", "answers", "share", "low", "high", "explained_by_all", "texts"),
    ),
    "differences": (
        "Differences",
        ("condition", "method", "representation", "corpus", "difference", "low", "high", "p_adjusted"),
    ),
    "annotators": ("By annotator", ("annotator", "sets", "patterns", "ratings", "answers", "explains", "mean")),
    "agreement": ("Agreement", ("measure", "level", "among", "items", "value", "low", "high")),
}
_VERDICTS = {"yes": "#009E73", "conflicting": "#E69F00", "no": "#dddddd"}
_LONGEST = 40
# Of twenty annotators, 190 pairs could be drawn: the table has them all.
_MOST_DRAWN = 15


class StudyReading(Reading):
    """What people answered. Which tables there are depends on its kind; ``annotators`` and ``agreement`` always are."""

    instrument: ClassVar[str] = "study"

    @property
    def kind(self) -> str:
        """annotation, rating or rationale."""
        return str(self.manifest["kind"])

    def overview(self) -> list[Overview]:
        """The main table, differences, annotators and agreement."""
        found = []
        for name, (title, columns) in _SHOWN.items():
            if name in self.tables:
                there = [c for c in columns if c in self.tables[name].column_names]
                rows = [[row[c] for c in there] for row in self._rows(name)]
                found.append(Overview(title, there, rows))
        return found

    def drawings(self) -> dict[str, Drawing]:
        """The kind's main figure, then agreement."""
        found: dict[str, Drawing] = {}
        if "conditions" in self.tables:
            found["conditions"] = Drawing(
                "In how many sets do people see a pattern?",
                "Share of the sets that have all their answers, by condition. Lines: 95% interval of 'yes', which is "
                "said where every annotator of the set found a pattern.",
                self._draw_conditions,
            )
        if "methods" in self.tables:
            found["methods"] = Drawing(
                "Mean opinion of each method",
                "From 1 to 5. Lines: 95% intervals, pairs of texts drawn anew.",
                lambda: self._dots("methods", "method", "mean", "mean opinion", (1, 5)),
            )
        if "representations" in self.tables:
            found["representations"] = Drawing(
                "How often do neighbours explain a mistake?",
                "Share of all answers, by the representation that the neighbours are near in. Lines: 95% intervals, "
                "texts drawn anew.",
                lambda: self._dots("representations", "representation", "share", "share of answers", (0, 1)),
            )
        if any(not np.isnan(row["value"]) for row in self._rows("agreement")):
            found["agreement"] = Drawing(
                "How far do annotators agree?",
                "1 is full agreement; 0 (the grey line) is what chance would give. Lines: 95% intervals, items drawn "
                f"anew. At most {_MOST_DRAWN} are drawn; the table has all.",
                self._draw_agreement,
            )
        return found

    def _rows(self, table: str) -> list[Row]:
        return self.tables[table].to_pylist() if table in self.tables else []

    def _draw_conditions(self) -> Figure:
        rows = [row for row in self._rows("conditions") if row["corpus"] == "all"]
        with styled():
            figure, [place] = panels(1, 1, height=1.4 + 0.45 * len(rows))
            for y, row in enumerate(rows):
                left = 0.0
                for verdict, colour in _VERDICTS.items():
                    share = row[verdict] / row["sets"] if row["sets"] else 0.0
                    place.barh(y, share, left=left, color=colour, height=0.6)
                    left += share
                place.plot([row["yes_low"], row["yes_high"]], [y, y], color="black", linewidth=1.5)
            place.set_yticks(range(len(rows)), [f"{row['condition']} ({row['sets']})" for row in rows])
            place.set_xlim(0, 1)
            place.set_xlabel("share of the sets")
            place.grid(axis="y", visible=False)
            place.invert_yaxis()
            from matplotlib.patches import Patch

            legend(figure, [Patch(color=colour) for colour in _VERDICTS.values()], list(_VERDICTS))
        return figure

    def _draw_agreement(self) -> Figure:
        rows = [row for row in self._rows("agreement") if not np.isnan(row["value"])][:_MOST_DRAWN]
        names = [
            f"{row['measure']}, {row['level']}"
            if row["among"] == "all"
            else f"{row['measure']}: {_short(row['among'])}"
            for row in rows
        ]
        return _intervals(rows, names, "value", "agreement beyond chance", None)

    def _dots(self, table: str, name: str, value: str, unit: str, limits: tuple[float, float]) -> Figure:
        rows = [row for row in self._rows(table) if not np.isnan(row[value])]
        return _intervals(rows, [row[name] for row in rows], value, unit, limits)


def _intervals(
    rows: Sequence[Row], names: Sequence[str], value: str, unit: str, limits: tuple[float, float] | None
) -> Figure:
    with styled():
        figure, [place] = panels(1, 1, height=1.0 + 0.3 * max(len(rows), 1))
        for y, row in enumerate(rows):
            place.plot([row["low"], row["high"]], [y, y], color=COLOURS[0], linewidth=1.5)
            place.plot(row[value], y, "o", color=COLOURS[0])
        place.set_yticks(range(len(rows)), list(names))
        place.set_ylim(len(rows) - 0.5, -0.5)
        place.set_xlabel(unit)
        place.grid(axis="y", visible=False)
        if limits:
            place.set_xlim(*limits)
        else:
            place.axvline(0, color="#888888", linewidth=0.8, zorder=0)
    return figure


def _short(name: str) -> str:
    plain = " ".join(name.split())
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"

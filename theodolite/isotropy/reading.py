"""The reading of isotropy and its figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from theodolite.figures import COLOURS, curve, legend, over_layers, panels, styled
from theodolite.reading import Drawing, Overview, Reading, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]

CLOUD = "round cloud"
SHORT = {
    **{
        "encoder": "encoder",
        "corpus": "corpus",
        "layer": "layer",
        "method": "method",
        "partition": "partition",
        "isoscore": "IsoScore",
    },
    **{"mean_cosine": "mean cosine", "variance_top1": "first direction", "effective_rank": "eff. rank"},
}
SHORT_STS = {
    **{"encoder": "encoder", "dataset": "file", "layer": "layer", "method": "method", "fitted_on": "fitted on"},
    **{"pearson": "Pearson", "spearman": "Spearman", "gain": "gain", "partition": "partition", "skipped": "skipped"},
}


class IsotropyReading(Reading):
    """Tables ``measures`` (a row a corpus, layer and method), ``sts`` where files were given, ``points`` to draw.

    A reproduction has ``cls_by_epoch`` too: the space of CLS in every layer while classifiers are trained.
    """

    instrument: ClassVar[str] = "isotropy"

    @classmethod
    def beside(cls, readings: Sequence[IsotropyReading]) -> IsotropyReading:
        """Several encoders on the same corpora as one reading; its figures show the first."""
        if len(readings) == 1:
            return readings[0]
        tables, manifest = side_by_side(readings)
        return cls(tables, [f for r in readings for f in r.findings], manifest)

    def to_json(self) -> dict[str, Any]:
        """The tables as the reading has them, but for the points, which are only to be drawn."""
        return {name: value for name, value in super().to_json().items() if name != "points"}

    def overview(self) -> list[Overview]:
        shown = [self._overview("measures", SHORT)]
        return [*shown, self._overview("sts", SHORT_STS)] if "sts" in self.tables else shown

    def drawings(self) -> dict[str, Drawing]:
        found = {
            "space": Drawing(
                "The space before and after",
                "A sample of vectors along the two directions in which each space reaches furthest from the origin "
                "(the cross). A round space lies about it, as wide one way as the other. The scales differ.",
                self._draw_space,
            )
        }
        if len({r["layer"] for r in self._first("measures")}) > 1:
            found["layers"] = Drawing(
                "Roundness, layer by layer",
                "Left, isotropy by the partition function as a power of ten (0 is round, -3 a thousandth; not defined "
                "after whitening), right, the mean cosine of two random vectors, which is contextuality's anisotropy. "
                "The band is a 95% interval; dotted, a round cloud of that size.",
                self._draw_layers,
            )
        if self._sts_drawn():
            found["sts"] = Drawing(
                "What rounding buys",
                "Spearman's correlation of cosines with people's scores, times 100, in the last layer asked for, with "
                "95% intervals. Fitted on the evaluated texts themselves (unlabelled), unless a corpus is named.",
                self._draw_sts,
            )
        if "cls_by_epoch" in self.tables:
            found["cls-by-epoch"] = Drawing(
                "CLS while a classifier is trained",
                "Plain fine-tuning, a line an epoch (0: before the first). Left, isotropy by the partition function "
                "as a power of ten (0 is round), right, the mean's length relative to the mean length (0 is centred).",
                self._draw_epochs,
            )
        return found

    def _first(self, table: str) -> list[Row]:
        """The rows of the first encoder."""
        rows = list(self.tables[table].to_pylist())
        return [r for r in rows if r["encoder"] == rows[0]["encoder"]]

    def _overview(self, table: str, names: dict[str, str]) -> Overview:
        """Some columns of a table; which encoder is told only where there are several."""
        rows = self.tables[table].to_pylist()
        left_out = set() if len({r["encoder"] for r in rows}) > 1 else {"encoder"}
        if not any(r.get("skipped") for r in rows):
            left_out.add("skipped")
        # A reading of an earlier version may lack columns.
        shown = [name for name in names if name in self.tables[table].column_names and name not in left_out]
        cells = [[_gain(row) if name == "gain" else row[name] for name in shown] for row in rows]
        return Overview(table, [names[name] for name in shown], cells)

    def _draw_space(self) -> Figure:
        rows = self._first("points")
        corpus, layer = rows[0]["corpus"], max(r["layer"] for r in rows)
        mine = [r for r in rows if (r["corpus"], r["layer"]) == (corpus, layer)]
        methods = list(dict.fromkeys(r["method"] for r in mine))
        shown = [methods[0], *methods[1:][-2:]]
        with styled():
            figure, axes = panels(1, len(shown))
            for place, method in zip(axes, shown, strict=True):
                dots = np.array([(r["x"], r["y"]) for r in mine if r["method"] == method])
                place.scatter(dots[:, 0], dots[:, 1], s=4, color=COLOURS[0], alpha=0.4, linewidths=0, rasterized=True)
                place.plot(0, 0, marker="+", color=COLOURS[1], markersize=11, markeredgewidth=2)
                place.set_title("as it is" if method == "none" else method)
                place.set_xlabel("first direction")
                place.set_aspect("equal", adjustable="datalim")
            axes[0].set_ylabel("second direction")
            figure.suptitle(f"{corpus}, layer {layer}", x=0.01, ha="left", fontsize=9)
        return figure

    def _draw_layers(self) -> Figure:
        rows = self._first("measures")
        corpus = rows[0]["corpus"]
        mine = [r for r in rows if r["corpus"] == corpus]
        methods = list(dict.fromkeys(r["method"] for r in mine))
        with styled():
            figure, axes = panels(1, 2)
            # The cloud last and in black, so that no other line has the colour of the space as it is.
            for order, method in enumerate(sorted(methods, key=lambda name: name == CLOUD)):
                series = sorted((r for r in mine if r["method"] == method), key=lambda r: r["layer"])
                label = {"none": "as it is"}.get(method, method)
                dotted = method == CLOUD
                number = len(COLOURS) - 1 if dotted else order
                for place, name, scale in ((axes[0], "log_partition", 1 / math.log(10)), (axes[1], "mean_cosine", 1.0)):
                    values = {end: [_times(r.get(name + end), scale) for r in series] for end in ("", "_low", "_high")}
                    ends = {} if dotted else {"low": values["_low"], "high": values["_high"]}
                    layers = [r["layer"] for r in series]
                    curve(place, layers, values[""], number=number, label=label, dotted=dotted, **ends)
            over_layers(axes[0], f"Partition (min Z / max Z), {corpus}", "log10 (0: round)")
            over_layers(axes[1], f"Mean cosine, {corpus}", "cosine")
            legend(figure, *axes[0].get_legend_handles_labels())
        return figure

    def _draw_epochs(self) -> Figure:
        rows = [r for r in self._first("cls_by_epoch") if r["training"] == "plain"]
        datasets = list(dict.fromkeys(r["dataset"] for r in rows))
        with styled():
            figure, axes = panels(len(datasets), 2)
            for number, dataset in enumerate(datasets):
                left, right = axes[2 * number : 2 * number + 2]
                mine = [r for r in rows if r["dataset"] == dataset]
                for epoch in sorted({r["epoch"] for r in mine}):
                    series = sorted((r for r in mine if r["epoch"] == epoch), key=lambda r: r["layer"])
                    layers = [r["layer"] for r in series]
                    for place, name, scale in ((left, "log_partition", 1 / math.log(10)), (right, "mean_offset", 1.0)):
                        values = [_times(r[name], scale) for r in series]
                        curve(place, layers, values, number=epoch, label=f"{epoch} epochs done")
                over_layers(left, f"Partition of CLS, {dataset}", "log10 (0: round)")
                over_layers(right, f"Mean offset of CLS, {dataset}", "share of the length")
            legend(figure, *axes[0].get_legend_handles_labels())
        return figure

    def _sts_drawn(self) -> list[Row]:
        """The rows of the last layer that have a correlation; scores or cosines that do not vary have none."""
        rows = self._first("sts") if "sts" in self.tables else []
        layer = max((r["layer"] for r in rows), default=0)
        return [r for r in rows if r["layer"] == layer and r["spearman"] is not None]

    def _draw_sts(self) -> Figure:
        mine = self._sts_drawn()
        layer = mine[0]["layer"]
        places = list(dict.fromkeys(r["fitted_on"] for r in mine))
        with styled():
            figure, axes = panels(len(places), 1, height=2.4)
            for place, fitted_on in zip(axes, places, strict=True):
                plain = [r for r in mine if r["method"] == "none"]
                _bars(place, [*plain, *(r for r in mine if r["fitted_on"] == fitted_on and r["method"] != "none")])
                on = "the evaluated texts" if fitted_on == "evaluated" else fitted_on
                place.set_title(f"Layer {layer}, fitted on {on}")
            legend(figure, *axes[0].get_legend_handles_labels())
        return figure


def _bars(place: Axes, rows: list[Row]) -> None:
    """Bars of each file side by side, a colour a method, with their intervals."""
    files, methods = (list(dict.fromkeys(r[name] for r in rows)) for name in ("dataset", "method"))
    width = 0.8 / len(methods)
    for number, method in enumerate(methods):
        of = {r["dataset"]: r for r in rows if r["method"] == method}
        there = [f for f in files if f in of]
        values = [of[f]["spearman"] for f in there]
        off = [[abs(of[f][f"spearman_{end}"] - of[f]["spearman"]) if of[f][f"spearman_{end}"] is not None else 0
                for f in there] for end in ("low", "high")]  # fmt: skip
        at = [files.index(f) + (number - (len(methods) - 1) / 2) * width for f in there]
        label = {"none": "as it is"}.get(method, method)
        place.bar(at, values, width, yerr=off, color=COLOURS[number % len(COLOURS)], label=label, capsize=1.5,
                  error_kw={"linewidth": 0.8})  # fmt: skip
    place.set_xticks(range(len(files)), files)
    place.set_ylabel("Spearman × 100")
    place.grid(axis="x", visible=False)


def _gain(row: Row) -> str | None:
    """What a method wins, with its interval, in one cell: of many columns none can be read on a terminal."""
    if row["gain"] is None or row["gain_low"] is None:
        return None if row["gain"] is None else f"{row['gain']:+.1f}"
    return f"{row['gain']:+.1f} ({row['gain_low']:+.1f} to {row['gain_high']:+.1f})"


def _times(value: float | None, scale: float) -> float:
    return math.nan if value is None else value * scale

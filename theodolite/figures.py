"""The look of every figure: fit for a paper, safe for the colour-blind, quiet."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which stays apart under every common colour blindness; yellow left out (too pale).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Typed loosely: releases of matplotlib differ in how they type the names of settings.
_RC: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    # Words and names are shown as they are, dollar signs too.
    "text.parse_math": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.5,
    "lines.markersize": 4,
    "figure.facecolor": "white",
    "savefig.bbox": "tight",
    "svg.fonttype": "none",
    "svg.hashsalt": "theodolite",
    "pdf.fonttype": 42,
}
_DRAWING = threading.RLock()


@contextmanager
def styled() -> Iterator[None]:
    """Within it, figures are drawn in the project's style, without touching the caller's settings.

    One thread at a time: matplotlib's settings are everybody's, and two that set them back in turn would leave ours.
    """
    import matplotlib

    with _DRAWING, matplotlib.rc_context(_RC):
        yield


def panels(rows: int, columns: int, *, width: float = 7.2, height: float = 2.6) -> tuple[Figure, list[Axes]]:
    """A figure of panels that belongs to no window; ``height`` is of one row, in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height * rows), layout="constrained")
    # Room between panels, so that one's labels and the next one's title do not touch.
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.ravel())


def curve(
    axes: Axes,
    x: Sequence[int],
    y: ArrayLike,
    *,
    number: int,
    label: str,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    dotted: bool = False,
) -> None:
    """A line with its interval as a band; ``number`` fixes colour and marker."""
    colour = COLOURS[number % len(COLOURS)]
    line, marker = (":", None) if dotted else ("-", MARKERS[number % len(MARKERS)])
    axes.plot(x, np.asarray(y, float), color=colour, label=label, linestyle=line, marker=marker)
    if low is not None and high is not None:
        ends = np.asarray(low, float), np.asarray(high, float)
        axes.fill_between(x, *ends, color=colour, alpha=0.18, linewidth=0)


def over_layers(axes: Axes, title: str, unit: str, *, x: str = "layer (0: embeddings)") -> None:
    """Dress a panel whose x is a layer: title, units, whole numbers only, and a line at zero."""
    from matplotlib.ticker import MaxNLocator

    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(unit)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.axhline(0, color="#888888", linewidth=0.8, zorder=0)


def two_ends(axes: Axes, bars: Sequence[tuple[str, float]], few: int) -> None:
    """Horizontal bars of the first and the last ``few`` of a ranking, an empty row between the two ends."""
    few = min(few, len(bars) // 2)
    first, last = bars[:few], bars[len(bars) - max(1, few) :]
    places = [*range(few), *range(few + 1, few + 1 + len(last))]
    colours = [COLOURS[1]] * len(first) + [COLOURS[0]] * len(last)
    axes.barh(places, [value for _, value in (*first, *last)], color=colours, height=0.7)
    # A long name (an address, say) is cut in its middle: the end may hold a count.
    names = [f"{n[:13]}…{n[-8:]}" if len(n) > 22 else n for n, _ in (*first, *last)]
    axes.set_yticks(places, names)
    axes.set_ylim(places[-1] + 0.6, -0.6)
    axes.grid(axis="y", visible=False)


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """A legend below the panels, in as many columns as its labels leave room for."""
    letters_a_line = 13 * figure.get_figwidth()
    columns = int(letters_a_line // (max(map(len, labels)) + 8))
    figure.legend(handles, labels, loc="outside lower center", ncols=min(max(1, columns), len(labels)))


def dot(colour: str) -> Any:
    """A legend's mark for points of a colour, large enough to be seen whatever the points' own size."""
    from matplotlib.lines import Line2D

    return Line2D([], [], marker="o", linestyle="", color=colour)


def svg(figure: Figure) -> str:
    """The figure as SVG text, without the XML heading, to stand in a page."""
    import io

    out = io.StringIO()
    with styled():
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]

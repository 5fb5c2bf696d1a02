"""The figures of similarity: words joined across two texts, bars of saliency, curves of the tests of truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theodolite.figures import COLOURS, curve, legend, panels, styled
from theodolite.similarity.explanation import HARMLESS, TOP, WHOLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]

MOST_PAIRS = 14
MOST_WORDS = 40
LONGEST = 24
PALE = "#c9c9c9"


def joined(shown: Row) -> Figure:
    """The chosen pairs as two columns of words, in the order of their texts, with a line for each pair."""
    chosen = [p for p in shown["pairs"] if p["chosen"]][:MOST_PAIRS]
    columns = {side: sorted({p[f"index_{side}"] for p in chosen}) for side in "ab"}
    rows = max(map(len, columns.values()))
    with styled():
        figure, [axes] = panels(1, 1, height=0.6 + 0.27 * rows, width=5.4)
        places = {side: {index: (rows - len(of)) / 2 + i for i, index in enumerate(of)} for side, of in columns.items()}
        strongest = max(abs(p["score"]) for p in chosen) or 1.0
        for pair in chosen:
            ends = places["a"][pair["index_a"]], places["b"][pair["index_b"]]
            share = abs(pair["score"]) / strongest
            axes.plot((0, 1), ends, color=COLOURS[0], linewidth=0.6 + 3.4 * share, alpha=0.35 + 0.6 * share,
                      solid_capstyle="round")  # fmt: skip
        for side, x, align in (("a", -0.03, "right"), ("b", 1.03, "left")):
            for index, y in places[side].items():
                axes.text(x, y, _short(shown[f"words_{side}"][index]["word"]), ha=align, va="center")
        axes.set_xlim(-0.75, 1.75)
        axes.set_ylim(rows - 0.4, -0.9)
        axes.text(-0.03, -0.75, "first text", ha="right", va="center", color="#666666", fontsize=8)
        axes.text(1.03, -0.75, "second text", ha="left", va="center", color="#666666", fontsize=8)
        axes.axis("off")
    return figure


def bars(shown: Row) -> Figure:
    """Saliency of each word, text above text; words of chosen pairs coloured."""
    with styled():
        figure, both = panels(2, 1, height=2.1)
        for side, axes, title in zip("ab", both, ("First text", "Second text"), strict=True):
            words = shown[f"words_{side}"]
            marked = {p[f"index_{side}"] for p in shown["pairs"] if p["chosen"]}
            saliency = np.array([w["saliency"] for w in words])
            some = np.sort(np.argsort(-saliency, kind="stable")[:MOST_WORDS]).tolist()
            colours = [COLOURS[1] if i in marked else PALE for i in some]
            axes.bar(range(len(some)), saliency[some], color=colours, width=0.8)
            size = 8 if len(some) <= 20 else 6.5
            names = [_short(words[i]["word"]) for i in some]
            axes.set_xticks(range(len(some)), names, rotation=60, ha="right", rotation_mode="anchor", fontsize=size)
            axes.set_xlim(-0.6, max(len(some), 8) - 0.4)
            axes.set_ylabel("saliency")
            axes.grid(axis="x", visible=False)
            cut = f" ({len(some)} of {len(words)} words)" if len(some) < len(words) else ""
            axes.set_title(title + cut)
    return figure


def deletion(points: list[Row]) -> Figure:
    """Mean fall of the similarity by the share of words deleted, a line a method."""
    corpora = list(dict.fromkeys(p["corpus"] for p in points))
    with styled():
        figure, axes = _a_panel_each(corpora, 3.2)
        for panel, corpus in zip(axes, corpora, strict=True):
            methods = list(dict.fromkeys(p["method"] for p in points))
            for number, method in enumerate(methods):
                mine = [p for p in points if (p["corpus"], p["method"]) == (corpus, method)]
                x, y, low, high = ([p[name] for p in mine] for name in ("fraction", "fall", "low", "high"))
                random = method == "random"
                colour = len(COLOURS) - 1 if random else number
                curve(panel, x, y, number=colour, label=method, low=low, high=high, dotted=random)
            panel.set_title(f"{corpus} ({mine[0]['pairs']:,} pairs)")
            panel.set_xlabel("share of words deleted")
            panel.set_ylabel("fall of the similarity")
        legend(figure, *axes[0].get_legend_handles_labels())
    return figure


def randomisation(rows: list[Row]) -> Figure:
    """Rank correlation with the trained model's saliencies by the number of layers drawn anew."""
    corpora = list(dict.fromkeys(r["corpus"] for r in rows))
    with styled():
        figure, axes = _a_panel_each(corpora, 3.0)
        for panel, corpus in zip(axes, corpora, strict=True):
            mine = [r for r in rows if r["corpus"] == corpus]
            drawn = sorted({r["layers"] for r in mine if r["change"] == TOP})
            whole = (drawn[-1] if drawn else 0) + 1
            for number, method in enumerate(dict.fromkeys(r["method"] for r in mine)):
                of = [r for r in mine if r["method"] == method]
                tops = sorted((r for r in of if r["change"] == TOP), key=lambda r: int(r["layers"]))
                last = [r for r in of if r["change"] == WHOLE]
                x = [*(r["layers"] for r in tops), *[whole] * len(last)]
                y, low, high = (
                    [r[name] for r in (*tops, *last)] for name in ("correlation", "correlation_low", "correlation_high")
                )
                curve(panel, x, y, number=number, label=method, low=low, high=high)
                harmless = [r["correlation"] for r in of if r["change"] == HARMLESS]
                panel.axhline(harmless[0], color=COLOURS[number % len(COLOURS)], linestyle=":", linewidth=1)
            panel.set_xticks([*drawn, whole], [*map(str, drawn), "all"])
            panel.set_ylim(min(-0.1, panel.get_ylim()[0]), 1.05)
            panel.set_title(f"{corpus} ({mine[0]['n']:,} pairs)")
            panel.set_xlabel("layers drawn anew, from the top (all: embeddings too)")
            panel.set_ylabel("rank correlation of saliencies")
        legend(figure, *axes[0].get_legend_handles_labels())
    return figure


def _a_panel_each(corpora: list[str], height: float) -> tuple[Figure, list[Axes]]:
    """Two panels a row, since titles have the corpus's name in them."""
    figure, axes = panels(-(-len(corpora) // 2), min(2, len(corpora)), height=height)
    for spare in axes[len(corpora) :]:
        spare.remove()
    return figure, axes[: len(corpora)]


def _short(word: str) -> str:
    return word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…"

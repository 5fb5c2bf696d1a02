"""The figures of salience: the map in several colourings, clusters by their terms, the tests of terms and of maps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theodolite.corpus.strings import shortened
from theodolite.figures import COLOURS, curve, dot, legend, panels, styled

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

Row = dict[str, Any]

PALE = "#cccccc"
OTHERS = "all others"
# Panels of clusters, and bars in each.
CLUSTERS, TERMS = 6, 8
COLUMNS = 3
LONGEST_TERM = 16
# Of a corpus or an answer: so much of a panel's title.
LONGEST_NAME = 20


def text_map(texts: pa.Table, groups: Sequence[str | None], *, ringed: Sequence[bool] | None = None) -> Figure:
    """The texts on their map, coloured by what group each is in; pale where in none, or in one of the rarer ones.

    ringed: whether a point has a ring around it.
    """
    x, y = (texts[name].to_numpy() for name in ("x", "y"))
    counts = Counter(group for group in groups if group is not None)
    names = [name for name, _ in counts.most_common(len(COLOURS))]
    colours = dict(zip(names, COLOURS, strict=False))
    size = _point_size(len(x))
    with styled():
        figure, [axes] = panels(1, 1, width=6.4, height=5.2)
        of_point = np.array([colours.get(group or "", PALE) for group in groups])
        # The rare ones last, so that the common ones do not hide them.
        rank = {colour: i for i, colour in enumerate((PALE, *COLOURS))}
        order = np.argsort([rank[colour] for colour in of_point.tolist()], kind="stable")
        axes.scatter(x[order], y[order], s=size, c=of_point[order], alpha=0.6, linewidths=0, rasterized=True)
        if ringed is not None:
            these = np.flatnonzero(ringed)
            axes.scatter(x[these], y[these], s=2.5 * size, facecolors="none", edgecolors="#000000", linewidths=0.5,
                         rasterized=True)  # fmt: skip
        axes.axis("off")
        handles = [dot(colours[name]) for name in names]
        told = [f"{name} ({counts[name]:,})" for name in names]
        rest = len(groups) - sum(counts[name] for name in names)
        if rest:
            handles.append(dot(PALE))
            told.append(f"{OTHERS} ({rest:,})")
        legend(figure, handles, told)
    return figure


def value_map(texts: pa.Table, values: Sequence[float], title: str) -> Figure:
    """The texts on their map, coloured by a number that each has, pale where it is NaN; title: what the number is."""
    x, y = (texts[name].to_numpy() for name in ("x", "y"))
    known = ~np.isnan(values)
    look: dict[str, Any] = {"s": _point_size(len(x)), "linewidths": 0, "rasterized": True}
    with styled():
        figure, [axes] = panels(1, 1, width=6.4, height=5.2)
        axes.scatter(x[~known], y[~known], c=PALE, **look)
        points = axes.scatter(x[known], y[known], c=np.asarray(values)[known], cmap="viridis", **look)
        axes.axis("off")
        figure.colorbar(points, ax=axes, shrink=0.6, label=title)
    return figure


def _point_size(points: int) -> float:
    return max(1.0, min(14.0, 30_000 / max(points, 1)))


def cluster_terms(rows: Sequence[Row]) -> Figure:
    """Of each cluster, the most suspicious first, its terms with their mean values, its size and suspicion above.

    Beside the columns of the table each has whether it is of `whole` corpora, and not of a class.
    """
    shown = sorted(rows, key=lambda r: -r["suspicion"])[:CLUSTERS]
    lines = -(-len(shown) // COLUMNS)
    several = len({r["corpus"] for r in shown}) > 1
    with styled():
        figure, axes = panels(lines, min(COLUMNS, len(shown)), width=2.7 * min(COLUMNS, len(shown)), height=2.3)
        for place, row in zip(axes, shown, strict=False):
            terms, values = row["terms"][:TERMS], row["values"][:TERMS]
            names = [shortened(term, LONGEST_TERM) for term in terms]
            place.barh(range(len(terms)), values, color=COLOURS[0], height=0.7)
            place.set_yticks(range(len(terms)), names)
            place.set_ylim(TERMS - 0.4, -0.6)
            place.grid(axis="y", visible=False)
            place.set_xlabel("mean value")
            whose = f"{shortened(row['corpus'], LONGEST_NAME)}\n" if several else ""
            facts = f"{row['size']:,} texts, suspicion {row['suspicion']:.2f}"
            answer = "all answers" if row["whole"] else f"answered {row['predicted']}"
            place.set_title(f"{whose}{shortened(answer, LONGEST_NAME)}, cluster {row['id']}\n{facts}", fontsize=8)
        for place in axes[len(shown) :]:
            place.axis("off")
    return figure


def sensitivity(lists: Sequence[Row], by_term: Sequence[Row]) -> Figure:
    """What terms do when they are put in (left) and masked (right): points, with the lists' means as bars."""
    terms = {r["term"]: r for r in by_term}
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
            place.set_yticks(range(len(lists)), [_file_name(r["list"]) for r in lists] if what == "insertion" else [])
            place.set_xlabel(f"change of p({shortened(lists[0]['class'], LONGEST_NAME)})")
            place.set_title(title)
            place.invert_yaxis()
    return figure


def faithfulness(rows: Sequence[Row], measured: str) -> Figure:
    """Comprehensiveness and sufficiency of the first corpus by the number of tokens, a curve a method.

    measured: the fall of the probability or, of a regression, the change of the answer.
    """
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
            place.set_ylabel(measured)
            place.axhline(0, color="#888888", linewidth=0.8, zorder=0)
        legend(figure, *axes[0].get_legend_handles_labels())
    return figure


def positions(rows: Sequence[Row]) -> Figure:
    """The share of the salience in each tenth of a text beside the share of its tokens, a panel a corpus and method."""
    rows = [r for r in rows if "special" not in r["part"]]
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


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]

"""The findings of the salience instrument in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from theodolite.reading import percent
from theodolite.salience.analysis import ALL
from theodolite.salience.markers import in_one_line

Row = dict[str, Any]

SUSPICIOUS = 3
SKIPPED = 3
LISTED = 5
# What clusters are made by, and how a sentence says it.
MADE_BY = {"representation": "by", "method": "with"}


def findings(
    encoder: str, tables: dict[str, pa.Table], marker: str | None, clusters: int, neighbours: Sequence[str] = ()
) -> list[str]:
    """How good it is, what looks like a shortcut, whether the maps are true, what terms do.

    marker, clusters, neighbours: the options; what was asked for and not found is said.
    """
    rows = {name: table.to_pylist() for name, table in tables.items() if name not in ("texts", "examples")}
    whole = None in runs_of_whole_corpora(rows.get("clusters", []), rows.get("skipped", []))
    said = []
    for corpus in dict.fromkeys(r["corpus"] for r in rows["predictions"]):
        mine = {name: [r for r in found if r.get("corpus") == corpus] for name, found in rows.items()}
        several = _several([*mine.get("clusters", []), *_unclustered(mine.get("skipped", []))])
        does = "moves the answer" if "correlation" in mine["predictions"][0] else "lowers the probability"
        sentences = [
            *_predictions(mine["predictions"]),
            *_clusters(mine.get("clusters", []), several, whole),
            *_marker(mine.get("marker", []), marker, clusters, several, whole),
            *_faithfulness(mine.get("faithfulness", []), does),
            *_sensitivity(mine.get("sensitivity", [])),
            *_completeness(mine.get("completeness", [])),
            *_skipped([r for r in mine.get("skipped", []) if r.get("row") is None], whole),
            *_alone([r for r in mine.get("skipped", []) if r.get("row") is not None]),
        ]
        said += [f"{encoder} on {corpus}: {sentence}" for sentence in sentences]
    if neighbours and "neighbours" not in rows and all(r.get("row") is None for r in rows.get("skipped", [])):
        said.append(f"{encoder}: no neighbours of {', '.join(neighbours)} were found: there is no such text.")
    return said


def runs_of_whole_corpora(clusters: Iterable[Row], skipped: Iterable[Row]) -> set[int | None]:
    """The runs in whose rows `all` is a whole corpus, and not a class that is called so.

    A run that clusters each class by itself has rows of the other classes too: what is not clustered is left out, and
    in skipped. Runs are the numbers of a reading that joins several; one by itself is None.
    """
    parts: dict[int | None, set[str]] = {}
    for r in clusters:
        parts.setdefault(r.get("reading"), set()).add(r["predicted"])
    for r in _unclustered(skipped):
        parts.setdefault(r.get("reading"), set()).add(r["class"])
    return {run for run, names in parts.items() if names == {ALL}}


def _unclustered(skipped: Iterable[Row]) -> list[Row]:
    """What was left out of the clusters; the others are lists of terms, and texts without neighbours."""
    return [r for r in skipped if r["list"] is None and r.get("row") is None]


def _several(parts: Sequence[Row]) -> set[str]:
    """Of what there are several; parts: all that were to be clustered, so that no method is missed."""
    return {name for name in MADE_BY if len({r[name] for r in parts}) > 1}


def _made_by(row: Row, named: set[str]) -> str:
    return " ".join(f"{word} {row[name]}" for name, word in MADE_BY.items() if name in named)


def _predictions(rows: list[Row]) -> list[str]:
    whole = next(r for r in rows if r["class"] == "all")
    if whole.get("correlation") is not None:
        return [
            f"its answers correlate with the labels at {whole['correlation']:.2f} "
            f"({_interval(whole, 'correlation', as_percent=False)}) over {whole['texts']:,} texts."
        ]
    if whole.get("accuracy") is None:
        return []
    return [
        f"it names the class of {percent(whole['accuracy'])} of {whole['texts']:,} labelled texts rightly "
        f"({_interval(whole, 'accuracy')}; always the commonest class: {percent(whole['baseline'])})."
    ]


def _clusters(rows: list[Row], several: set[str], whole: bool) -> list[str]:
    if not rows:
        return []
    by = _made_by(rows[0], several)
    first = rows[0]["representation"], rows[0]["method"]
    mine = sorted((r for r in rows if (r["representation"], r["method"]) == first), key=lambda r: -r["suspicion"])
    parts = [
        f"cluster {r['id']} of {_texts_of(r['predicted'], whole)} ({', '.join(r['terms'][:4]) or 'no terms'}; "
        f"{percent(r['share'])} of them, suspicion {r['suspicion']:.2f})"
        for r in mine[:SUSPICIOUS]
    ]
    return [f"{by}{', ' if by else ''}most like a shortcut look: {'; '.join(parts)}."]


def _marker(rows: list[Row], marker: str | None, clusters: int, several: set[str], whole: bool) -> list[str]:
    if marker is None:
        return []
    marker = in_one_line(marker)
    if not rows:
        why = "none of the clustered texts has it" if clusters else "no clusters were asked for"
        return [f"no cluster gathers texts with the marker '{marker}': {why}."]
    best = max(rows, key=lambda r: (r["precision"], r["recall"]))
    where = f"cluster {best['cluster']} of {_texts_of(best['predicted'], whole)}"
    return [
        f"texts with the marker '{marker}' gather in {where} {_made_by(best, {'representation', *several})}: "
        f"precision {best['precision']:.2f} "
        f"({_interval(best, 'precision', as_percent=False)}; any texts of them: {best['baseline']:.2f}), "
        f"recall {best['recall']:.2f} ({_interval(best, 'recall', as_percent=False)}), "
        f"{percent(best['size'])} of the texts."
    ]


def _faithfulness(rows: list[Row], does: str) -> list[str]:
    most = max((r["k"] for r in rows), default=0)
    parts = [
        f"{r['method']} {r['comprehensiveness']:.2f} ({_interval(r, 'comprehensiveness', as_percent=False)})"
        for r in rows
        if r["k"] == most
    ]
    return [f"masking a text's {most} most salient tokens {does} by: {'; '.join(parts)}."] if parts else []


def _sensitivity(rows: list[Row]) -> list[str]:
    parts = [
        f"{r['list']} {r['insertion']:+.2f} ({_interval(r, 'insertion', as_percent=False)})"
        for r in rows
        # Of a list without terms, or where there is no other class, it is NaN.
        if math.isfinite(r["insertion"])
    ]
    if not parts:
        return []
    same = [r["list"] for r in rows if r["terms_from"] == r["corpus"]]
    flattered = f" The lists {' and '.join(same)} were chosen on the texts that they are tested on." if same else ""
    return [
        f"put into texts of other classes, terms change the probability of {rows[0]['class']} by: {'; '.join(parts)}."
        f"{flattered}"
    ]


def _completeness(rows: list[Row]) -> list[str]:
    several = len({r["target"] for r in rows}) > 1
    return [
        f"integrated gradients{_target(r) if several else ''} miss the change of the answer by "
        f"{r['error_median']:.2%} (median); {r['flagged']} of {r['texts']:,} texts miss it by 1% or more and are "
        "flagged."
        for r in rows
    ]


def _target(row: Row) -> str:
    return f" (target {row['target']})"


def _skipped(rows: list[Row], whole: bool) -> list[str]:
    parts: dict[str, list[str]] = {}
    for r in rows:
        what = f"the list {r['list']}" if r["list"] else f"clusters of {_texts_of(r['class'], whole)}"
        by = parts.setdefault(f"{what} ({r['texts']:,} texts, {r['reason']}", [])
        by += [r["representation"]] if r["representation"] not in (None, *by) else []
    said = [f"{part}{', by ' + ', '.join(by) if by else ''})" for part, by in parts.items()]
    more = [f"{len(said) - SKIPPED} more, which the table skipped has"] if len(said) > SKIPPED else []
    return [f"left out: {'; '.join(said[:SKIPPED] + more)}."] if said else []


def _alone(rows: list[Row]) -> list[str]:
    """Texts whose neighbours were asked for and that have none."""
    named = {name for name in MADE_BY if len({r[name] for r in rows}) > 1} | {"representation"}
    parts: dict[str, list[int]] = {}
    for r in rows:
        parts.setdefault(_made_by(r, named), []).append(r["row"])
    return [
        f"no text that may be a neighbour has anything in common {by} with {_listed(alone)}."
        for by, alone in parts.items()
    ]


def _listed(rows: list[int]) -> str:
    shown = ", ".join(map(str, rows[:LISTED])) + (f" and {len(rows) - LISTED} more" if len(rows) > LISTED else "")
    return f"row{'s' if len(rows) > 1 else ''} {shown}"


def _texts_of(predicted: str, whole: bool) -> str:
    return "all texts" if whole else f"those answered {predicted}"


def _interval(row: Row, name: str, as_percent: bool = True) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None or not math.isfinite(low):
        return "too few texts for an interval"
    return f"{percent(low)} to {percent(high)}" if as_percent else f"{low:.2f} to {high:.2f}"

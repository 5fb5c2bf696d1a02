"""The findings of the salience instrument in sentences."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa

from theodolite.corpus.strings import shortened
from theodolite.reading import percent
from theodolite.salience.analysis import ALL

Row = dict[str, Any]

SUSPICIOUS = 3
SKIPPED = 3


def findings(encoder: str, tables: dict[str, pa.Table], marker: str | None, clusters: int) -> list[str]:
    """How good it is, what looks like a shortcut, whether the maps are true, what terms do.

    marker, clusters: the options; of a marker that no cluster gathers it is said why.
    """
    rows = {name: table.to_pylist() for name, table in tables.items() if name not in ("texts", "examples")}
    said = []
    for corpus in dict.fromkeys(r["corpus"] for r in rows["predictions"]):
        mine = {name: [r for r in found if r.get("corpus") == corpus] for name, found in rows.items()}
        falls = "answer" if "correlation" in mine["predictions"][0] else "probability"
        sentences = [
            *_predictions(mine["predictions"]),
            *_clusters(mine.get("clusters", [])),
            *_marker(mine.get("marker", []), marker, clusters),
            *_faithfulness(mine.get("faithfulness", []), falls),
            *_sensitivity(mine.get("sensitivity", [])),
            *_completeness(mine.get("completeness", [])),
            *_skipped(mine.get("skipped", [])),
        ]
        said += [f"{encoder} on {corpus}: {sentence}" for sentence in sentences]
    return said


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


def _clusters(rows: list[Row]) -> list[str]:
    if not rows:
        return []
    first = rows[0]["representation"], rows[0]["method"]
    mine = sorted((r for r in rows if (r["representation"], r["method"]) == first), key=lambda r: -r["suspicion"])
    parts = [
        f"cluster {r['id']} of {_texts_of(r['predicted'])} ({', '.join(r['terms'][:4]) or 'no terms'}; "
        f"{percent(r['share'])} of them, suspicion {r['suspicion']:.2f})"
        for r in mine[:SUSPICIOUS]
    ]
    return [f"most like a shortcut look: {'; '.join(parts)}."]


def _marker(rows: list[Row], marker: str | None, clusters: int) -> list[str]:
    if marker is None:
        return []
    # A regular expression may go over many lines.
    marker = shortened(" ".join(marker.split()), 80)
    if not rows:
        why = "none of the clustered texts has it" if clusters else "no clusters were asked for"
        return [f"no cluster gathers texts with the marker '{marker}': {why}."]
    best = max(rows, key=lambda r: (r["precision"], r["recall"]))
    return [
        f"texts with the marker '{marker}' gather in cluster {best['cluster']} of {_texts_of(best['predicted'])} by "
        f"{best['representation']}: precision {best['precision']:.2f} "
        f"({_interval(best, 'precision', as_percent=False)}; any texts of them: {best['baseline']:.2f}), "
        f"recall {best['recall']:.2f} ({_interval(best, 'recall', as_percent=False)}), "
        f"{percent(best['size'])} of the texts."
    ]


def _faithfulness(rows: list[Row], what: str) -> list[str]:
    most = max((r["k"] for r in rows), default=0)
    parts = [
        f"{r['method']} {r['comprehensiveness']:.2f} ({_interval(r, 'comprehensiveness', as_percent=False)})"
        for r in rows
        if r["k"] == most
    ]
    return [f"masking a text's {most} most salient tokens lowers the {what} by: {'; '.join(parts)}."] if parts else []


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
    return [
        f"integrated gradients miss the change of the answer by {r['error_median']:.2%} (median); "
        f"{r['flagged']} of {r['texts']:,} texts miss it by 1% or more and are flagged."
        for r in rows
    ]


def _skipped(rows: list[Row]) -> list[str]:
    parts: dict[str, list[str]] = {}
    for r in rows:
        what = f"the list {r['list']}" if r["list"] else f"clusters of {_texts_of(r['class'])}"
        by = parts.setdefault(f"{what} ({r['texts']:,} texts, {r['reason']}", [])
        by += [r["representation"]] if r["representation"] not in (None, *by) else []
    said = [f"{part}{', by ' + ', '.join(by) if by else ''})" for part, by in parts.items()]
    more = [f"{len(said) - SKIPPED} more, which the table skipped has"] if len(said) > SKIPPED else []
    return [f"left out: {'; '.join(said[:SKIPPED] + more)}."] if said else []


def _texts_of(predicted: str) -> str:
    return "all texts" if predicted == ALL else f"those answered {predicted}"


def _interval(row: Row, name: str, as_percent: bool = True) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None or not math.isfinite(low):
        return "too few texts for an interval"
    return f"{percent(low)} to {percent(high)}" if as_percent else f"{low:.2f} to {high:.2f}"

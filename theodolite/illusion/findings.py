"""The findings of the illusion instrument in sentences."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from theodolite.reading import percent

Row = dict[str, Any]
Rows = dict[str, list[Row]]

# What points are called, by unit.
POINTS = {"text": "sentences", "token": "tokens"}
NAMES = {"neuron": "neurons", "random": "random directions", "pca": "principal components", "concept": "concepts"}


def story(verdicts: list[Row], patterns: list[Row]) -> str | None:
    """The direction that shows the illusion best: a neuron whose pattern is another in every corpus, and clear."""
    best: tuple[int, int, float] | None = None
    found = None
    for row in verdicts:
        if row["verdict"] not in ("local", "unexplained", None) or not row["corpora_with_patterns"]:
            continue
        mine = [p for p in patterns if p["direction"] == row["direction"]]
        hits = {c: max(p["hits"] for p in mine if p["corpus"] == c) for c in row["corpora_with_patterns"]}
        rank = (row["kind"] == "neuron", len(hits), sum(hits.values()) / len(hits))
        if best is None or rank > best:
            best, found = rank, row["direction"]
    return found


def findings(encoder: str, tables: dict[str, pa.Table], shown: str | None, points: str = "sentences") -> list[str]:
    """The illusion rate first, then what it rests on; ``points`` is what they are called."""
    rows: Rows = {name: table.to_pylist() for name, table in tables.items() if name not in ("top", "bottom", "map")}
    corpora = [r["corpus"] for r in rows["corpora"]]
    said = []
    if len(corpora) < 2:
        said.append(
            f"there is one corpus only, {corpora[0]}, so it cannot be told whether a direction means the "
            "same elsewhere: no overlap, no separability, no verdict, no illusion rate. Give a second --corpus."
        )
    else:
        said += [_rate(r, len(corpora), points) for r in rows["illusion_rate"] if r["with_pattern"]]
    said += _share(rows["illusion_rate"], points)
    if shown is not None:
        said += _story(shown, rows, points)
    said += _holding(rows["verdicts"]) if len(corpora) > 1 else []
    said += _monotonic(rows, corpora)
    if "separability" in rows:
        r = rows["separability"][0]
        said.append(
            f"from their vectors, a linear separator names the corpus of {points} with accuracy {r['accuracy']:.2f} "
            f"(guessing: {r['chance']:.2f}); the ranges of the top scores of two corpora overlap for "
            f"{percent(rows['overlap'][0]['overlap'])} of the neurons."
        )
    said += _outliers(rows["outliers"], points)
    said += _concepts(rows.get("concepts", []))
    dead = rows["corpora"][0]["dead_dimensions"]
    if dead:
        said.append(f"{dead} dimensions never change and were left out.")
    measured_on = corpora[0] if len(corpora) == 1 else f"all {len(corpora)} corpora"
    return [f"{encoder} on {measured_on}: {sentence}" for sentence in said]


def _rate(r: Row, corpora: int, points: str) -> str:
    kind = NAMES.get(r["kind"], f"{r['kind']} directions")
    return (
        f"of the {r['with_pattern']} {kind} whose top {points} show a pattern in at least one corpus, "
        f"{percent(r['illusion_rate'])} ({percent(r['illusion_rate_low'])} to {percent(r['illusion_rate_high'])}) "
        f"keep it in none of the other {corpora - 1}: what they seem to mean is the corpus's, not theirs."
    )


def _share(rates: list[Row], points: str) -> list[str]:
    if not rates:
        return []
    parts = [f"{percent(r['pattern_share'])} of {NAMES.get(r['kind'], r['kind'])}" for r in rates]
    r = rates[0]
    return [
        f"the machine finds a pattern in the top {points} of {', '.join(parts)} (by corpus), and in "
        f"{percent(r['random_sets_with_pattern'])} ({percent(r['random_sets_with_pattern_low'])} to "
        f"{percent(r['random_sets_with_pattern_high'])}) of random sets of {points}: its false positives."
    ]


def _story(direction: str, rows: Rows, points: str) -> list[str]:
    mine = [p for p in rows.get("patterns", []) if p["direction"] == direction]
    first: dict[str, Row] = {}
    for p in mine:
        first.setdefault(p["corpus"], p)
    if not first:
        return []
    parts = [f"in {corpus} '{p['pattern']}' ({p['hits']} of its top {points})" for corpus, p in first.items()]
    return [f"{direction}, for instance, shows {'; '.join(parts)}."]


def _holding(verdicts: list[Row]) -> list[str]:
    held = [v for v in verdicts if v["verdict"] == "global"]
    if not held:
        return ["no direction has a pattern that holds in every corpus."]
    named = [f"{v['direction']} ('{v['pattern']}')" for v in held[:5]]
    more = f" and {len(held) - 5} more" if len(held) > 5 else ""
    return [f"in every corpus hold: {', '.join(named)}{more}."]


def _monotonic(rows: Rows, corpora: list[str]) -> list[str]:
    common = rows["corpora"][0]["common_tokens"]
    if not common:
        return [
            "no token occurs often enough in every corpus, so monotonic tokens cannot be measured: lower --min-count."
        ]
    shares = rows["monotonic"]
    if not shares or shares[0]["pairs"] == 0:
        return []
    single = [r for r in shares if len(r["corpora"]) == 1]
    said = (
        f"of all pairs of a neuron and one of {common} tokens, {percent(min(r['monotonic'] for r in single))} to "
        f"{percent(max(r['monotonic'] for r in single))} change steadily along the neuron within one corpus "
        f"(shuffled: {percent(max(r['baseline_shuffled'] for r in single))})"
    )
    if len(corpora) > 1:
        every = shares[-1]
        said += (
            f", and {percent(every['monotonic'])} in all {len(corpora)} "
            f"(shuffled: {percent(every['baseline_shuffled'])})"
        )
    return [said + "."]


def _outliers(rows: list[Row], points: str) -> list[str]:
    worst = max(rows, key=lambda r: r["held_by_farthest_0.01"])
    return [
        f"in {worst['corpus']}, the 1% of {points} farthest from all others hold "
        f"{percent(worst['held_by_farthest_0.01'])} of all top places ({worst['different_texts']:,} "
        f"different {points} hold the {worst['places']:,})."
    ]


def _concepts(rows: list[Row]) -> list[str]:
    return [
        f"{r['direction']}: its texts are told from the others with held-out accuracy {r['accuracy']:.2f} "
        f"(guessing: {r['accuracy_guessing']:.2f}), and the directions of two resamples have a cosine of "
        f"{r['stability']:.2f}."
        for r in rows
    ]

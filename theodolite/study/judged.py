"""The items of a study with what people answered: what every result is computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from theodolite.study.agreement import Agreement, cohen, fleiss, krippendorff
from theodolite.study.resampling import Doubles

Row = dict[str, Any]
Value = Callable[[Row], float]
"""An answer as a number."""


@dataclass(frozen=True)
class Judged:
    """An item: its name, what is shown of it, its key, and by annotator the answers and their numbers."""

    item: str
    shown: Row
    key: Row
    answers: Mapping[str, Row] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)


def annotators(items: Sequence[Judged]) -> list[str]:
    """Those who answered, in order of their names."""
    return sorted({name for item in items for name in item.answers})


def whole(items: Sequence[Judged], wanted: int) -> list[Judged]:
    """The items with as many answers as were wanted."""
    return [item for item in items if len(item.answers) >= wanted]


def matrix(items: Sequence[Judged], value: Value) -> Doubles:
    """(items, annotators) answers as numbers, NaN where there is none."""
    names = annotators(items)
    found = np.full((len(items), len(names)), np.nan)
    for row, item in enumerate(items):
        for name, answer in item.answers.items():
            found[row, names.index(name)] = value(answer)
    return found


def agreement_rows(
    items: Sequence[Judged], value: Value, *, levels: Sequence[str], wanted: int, seed: int
) -> list[Row]:
    """Krippendorff's alpha at each level of measurement, Fleiss' kappa, and Cohen's of every two annotators."""
    ratings, names = matrix(items, value), annotators(items)
    found = [
        _row("Krippendorff's alpha", krippendorff(ratings, level, seed=seed), level=level, among="all")
        for level in levels
    ]
    found.append(_row("Fleiss' kappa", fleiss(ratings, raters=max(wanted, 2), seed=seed), among="all"))
    for one, other in combinations(range(len(names)), 2):
        both = ratings[:, [one, other]]
        if (~np.isnan(both)).all(axis=1).any():
            found.append(_row("Cohen's kappa", cohen(both, seed=seed), among=f"{names[one]} and {names[other]}"))
    return found


def agreement_sentence(rows: Sequence[Row], level: str) -> str:
    """What the alpha of a level says."""
    row = next(r for r in rows if r["measure"].startswith("Krippendorff") and r["level"] == level)
    if row["why"]:
        return f"how far annotators agree cannot be told yet: {row['why']}."
    return (
        f"annotators agree beyond chance with a Krippendorff's alpha ({level}) of {row['value']:.2f} "
        f"({row['low']:.2f} to {row['high']:.2f}) over {row['items']} items; 1 is full agreement, 0 is chance."
    )


def _row(measure: str, found: Agreement, *, among: str, level: str = "nominal") -> Row:
    return {
        "measure": measure,
        "level": level,
        "among": among,
        "items": found.items,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "why": found.why,
    }

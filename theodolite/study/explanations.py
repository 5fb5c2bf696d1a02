"""Explanations rebuilt from a saved reading of similarity, so that people judge exactly what it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theodolite.errors import InputError
from theodolite.similarity.explanation import Explanation, Matches, Side
from theodolite.similarity.reading import SimilarityReading

Row = dict[str, Any]


def explanations_of(
    reading: SimilarityReading, methods: Sequence[str] = ()
) -> tuple[list[Explanation], list[tuple[str, int]]]:
    """The pairs of a reading under the methods named (all it has, when none is), and the corpus and row of each pair.

    Pieces of words and vectors are no part of a reading, and of these explanations neither.
    """
    by_pair: dict[tuple[str, int], list[Row]] = {}
    for row in reading.tables["explanations"].to_pylist():
        by_pair.setdefault((row["corpus"], row["row"]), []).append(row)
    there = list(dict.fromkeys(row["method"] for rows in by_pair.values() for row in rows))
    missing = [method for method in methods if method not in there]
    if missing:
        raise InputError(
            f"--method {missing[0]}: the reading has no explanations by it; it has: {', '.join(there)}; make it "
            f"again with theodolite similarity --method {missing[0]}"
        )
    wanted = set(methods or there)
    found = [_explanation([row for row in rows if row["method"] in wanted]) for rows in by_pair.values()]
    return found, list(by_pair)


def _explanation(rows: list[Row]) -> Explanation:
    first = rows[0]
    matches = {
        row["method"]: Matches(
            index_a=np.array(row["index_a"], np.int64),
            index_b=np.array(row["index_b"], np.int64),
            similarity=np.array(row["similarity"], np.float64),
            score=np.array(row["score"], np.float64),
            cluster=np.array(row["cluster"], np.int64),
            chosen=np.array(row["chosen"], np.bool_),
        )
        for row in rows
    }
    values = {name: first[name] for name in ("value", "cosine", "cosine_own", "same")}
    return Explanation(_side(rows, "a"), _side(rows, "b"), matches, **values)


def _side(rows: list[Row], side: str) -> Side:
    first = rows[0]
    saliency = {row["method"]: np.array(row[f"saliency_{side}"], np.float64) for row in rows}
    start, end = (np.array(first[f"{name}_{side}"], np.int64) for name in ("start", "end"))
    none = np.empty(0, np.int64)
    return Side(first[f"text_{side}"], start, end, saliency, none, none, {}, np.empty(0))

"""The instrument's test by deletion beside people's opinion of the same methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theodolite.similarity.reading import SimilarityReading

Row = dict[str, Any]

_AREA = ("area", "over_random", "over_random_low", "over_random_high")


def beside_deletion(reading: SimilarityReading, methods: Sequence[Row]) -> list[Row]:
    """A row for each corpus and method that people rated and words were deleted by: opinion, and what deletion says.

    methods: ``method``, ``mean``, ``low``, ``high`` of the opinion scores. None where the reading has no deletion.
    """
    if "deletion" not in reading.tables:
        return []
    opinion = {row["method"]: row for row in methods if not np.isnan(row["mean"])}
    deleted = [row for row in reading.tables["deletion"].to_pylist() if row["method"] in opinion]
    found = []
    for corpus in dict.fromkeys(row["corpus"] for row in deleted):
        mine = [row for row in deleted if row["corpus"] == corpus]
        by_people = _ranks([opinion[row["method"]]["mean"] for row in mine])
        by_deletion = _ranks([row["area"] for row in mine])
        for row, people, deletion in zip(mine, by_people, by_deletion, strict=True):
            said = opinion[row["method"]]
            found.append(
                {
                    "corpus": corpus,
                    "method": row["method"],
                    "opinion": said["mean"],
                    "opinion_low": said["low"],
                    "opinion_high": said["high"],
                    "opinion_rank": people,
                    **{f"deletion_{name}": row[name] for name in _AREA},
                    "deletion_rank": deletion,
                }
            )
    return sorted(found, key=lambda row: (row["corpus"], row["opinion_rank"]))


def opinion_findings(rows: Sequence[Row]) -> list[str]:
    """How far people's order of the methods is that of deletion, where there are three or more."""
    from scipy.stats import spearmanr

    said = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        mine = [row for row in rows if row["corpus"] == corpus]
        ranks = [[row[name] for row in mine] for name in ("opinion_rank", "deletion_rank")]
        if len(mine) > 2 and all(len(set(some)) > 1 for some in ranks):
            found = spearmanr(*ranks)
            said.append(
                f"people's order of the {len(mine)} methods and that of deletion on {corpus} have a rank correlation "
                f"of {found.statistic:.2f} (p = {found.pvalue:.2g}, over {len(mine)} methods)."
            )
    return said


def _ranks(values: Sequence[float]) -> list[float]:
    """From 1 for the largest; equal ones share their mean rank."""
    from scipy.stats import rankdata

    return [float(rank) for rank in rankdata([-value for value in values])]

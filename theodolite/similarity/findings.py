"""The findings of the similarity instrument in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from theodolite.accumulate import mean_interval, unit_vectors
from theodolite.encoder.maps import TOLERANCE
from theodolite.similarity.explanation import HARMLESS, WHOLE
from theodolite.similarity.methods import BY_GRADIENT, INTEGRATED
from theodolite.similarity.tables import in_json

Row = dict[str, Any]

NAMED = 5
NAMES = {"dot": "product", "euclidean": "distance (with a minus before it)"}


def findings(
    tables: Mapping[str, pa.Table], encoder: str, skipped: Mapping[str, int], notes: list[str], similarity: str
) -> list[str]:
    """How alike the pairs are and which words carry it; then whether that is true, and what else is to be known."""
    said = []
    for corpus, skips in skipped.items():
        mine = {name: table.filter(pa.compute.equal(table["corpus"], corpus)) for name, table in tables.items()}
        explained = mine["explanations"]
        one = len(set(explained["row"].to_pylist())) == 1
        sentences = [
            *(_pair(explained, similarity) if one else _pairs(explained)),
            *_same(explained, one, similarity),
            *_completeness(explained),
            *_randomised(mine),
            *_deleted(mine),
        ]
        if skips:
            sentences.append(
                f"{skips:,} of {skips + _number(explained):,} pairs have no words on a side and were skipped."
            )
        said += [f"{encoder} on {corpus}: {sentence}" for sentence in sentences]
    return [*said, *notes]


def _number(table: pa.Table) -> int:
    return len(table["row"].unique())


def _pair(table: pa.Table, similarity: str) -> list[str]:
    """Of one pair: its cosine, and the words that carry it by each method."""
    rows = table.to_pylist()
    first = rows[0]
    said = [f"the cosine is {first['cosine']:.3f} ({first['cosine_own']:.3f} under the model's own pooling)."]
    if similarity != "cosine":
        said.append(f"what is explained is their {NAMES[similarity]}, {first['value']:.3f}.")
    for row in rows:
        chosen = [p for p in in_json(row, row["text_a"], row["text_b"])["pairs"] if p["chosen"]]
        named = ", ".join(f"{p['a']}–{p['b']} ({p['score']:.2f})" for p in chosen[:NAMED])
        more = f" and {len(chosen) - NAMED} more" if len(chosen) > NAMED else ""
        said.append(f"by {row['method']} it rests on {named}{more}.")
    return said


def _pairs(table: pa.Table) -> list[str]:
    """Of many: their mean cosine beside that of texts that do not belong together, and the commonest pairs of words."""
    method = table["method"][0].as_py()
    mine = table.filter(pa.compute.equal(table["method"], method))
    n = len(mine)
    mean, low, high = (float(x) for x in mean_interval(mine["cosine"].to_numpy()))
    sums = []
    for side in "ab":
        vectors = np.stack(mine[f"vector_{side}"].to_numpy(zero_copy_only=False)).astype(np.float64)
        sums.append(unit_vectors(vectors).sum(axis=0))
    apart = (float(sums[0] @ sums[1]) - mean * n) / (n * (n - 1))
    said = [
        f"the mean cosine of its {n:,} pairs is {mean:.3f} ({low:.3f} to {high:.3f}); of texts from two "
        f"different pairs, {apart:.3f}."
    ]
    counted: Counter[tuple[str, str]] = Counter()
    for row in mine.drop_columns(["vector_a", "vector_b"]).to_pylist():
        pairs = in_json(row, row["text_a"], row["text_b"])["pairs"]
        counted.update({(p["a"].lower(), p["b"].lower()) for p in pairs if p["chosen"]})
    often = ", ".join(f"{a}–{b} ({count:,})" for (a, b), count in counted.most_common(NAMED))
    return [*said, f"by {method} the words that carry most pairs are {often}."]


def _same(table: pa.Table, one: bool, similarity: str) -> list[str]:
    level = [method for method in table["method"].unique().to_pylist() if method in BY_GRADIENT]
    if similarity == "dot" or not level:
        return []
    same = int(np.count_nonzero(table["same"].to_numpy(zero_copy_only=False)) / len(table["method"].unique()))
    if not same:
        return []
    which = "the two texts are one" if one else f"the two texts of {same:,} pairs are one"
    said = "nothing could make them more alike, so every word counts the same by"
    return [f"{which} to the tokenizer: {said} {', '.join(level)}."]


def _completeness(table: pa.Table) -> list[str]:
    mine = table.filter(pa.compute.equal(table["method"], INTEGRATED))
    if not len(mine):
        return []
    errors = mine["completeness_error"].to_numpy()
    if len(mine) == 1:
        return [f"integrated gradients miss the change of the similarity by {errors[0]:.2%}."]
    missed = int((errors >= TOLERANCE).sum())
    return [
        f"integrated gradients miss the change of the similarity by {np.median(errors):.2%} (median), at most "
        f"{errors.max():.2%}; by {TOLERANCE:.0%} or more in {missed:,} of {len(mine):,} pairs."
    ]


def _randomised(tables: Mapping[str, pa.Table]) -> list[str]:
    rows = tables["randomisation"].to_pylist() if "randomisation" in tables else []
    said = []
    for method in dict.fromkeys(r["method"] for r in rows):
        mine = {r["change"]: r for r in rows if r["method"] == method}
        drawn, harmless = mine[WHOLE], mine[HARMLESS]
        if drawn["n"] == drawn["constant"]:
            said.append(f"by {method} all words of a text have one saliency, so there is no order to compare.")
            continue
        said.append(
            f"with all weights drawn anew, the saliencies by {method} correlate with the model's at "
            f"{_with_interval(drawn, 'correlation')} over {drawn['n'] - drawn['constant']:,} pairs; "
            f"after a harmless change at {_with_interval(harmless, 'correlation')}."
        )
    return said


def _deleted(tables: Mapping[str, pa.Table]) -> list[str]:
    rows = tables["deletion"].to_pylist() if "deletion" in tables else []
    if not rows:
        return []
    ordered = sorted(rows, key=lambda r: int(r["rank"]))
    best = ordered[0]
    order = ", ".join(f"{r['method']} {r['area']:.3f}" for r in ordered)
    bti = next(r for r in rows if r["method"] == "bti")
    return [
        f"deleting salient words lowers the similarity most by {best['method']} "
        f"({_with_interval(best, 'area')} on the average of all steps, {best['pairs']:,} pairs); in order: {order}.",
        f"bti falls by {_with_interval(bti, 'over_random')} more than a random order.",
    ]


def _with_interval(row: Row, name: str) -> str:
    if row[f"{name}_low"] is None or np.isnan(row[f"{name}_low"]):
        return f"{row[name]:.3f}"
    return f"{row[name]:.3f} ({row[f'{name}_low']:.3f} to {row[f'{name}_high']:.3f})"

"""The curves of contextuality and isotropy, out of the readings' tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from theodolite.studio.layers_models import Band, Measure, Roundness, Series
from theodolite.studio.opened import Opened

Row = dict[str, Any]

CONTEXTUALITY, ISOTROPY = "contextuality", "isotropy"

MEASURES = [
    Measure(
        name="self_similarity_adjusted",
        title="Self-similarity, adjusted",
        unit="cosine above anisotropy",
        baseline=None,
        baseline_title=None,
        explanation="How alike a word's vectors are over all its texts, less what any two random words have in common. "
        "The lower, the more the layer puts context into a word. 0: no more alike than random words.",
    ),
    Measure(
        name="self_similarity",
        title="Self-similarity",
        unit="cosine",
        baseline="anisotropy",
        baseline_title="two random words",
        explanation="Mean cosine of a word's vectors over all its texts, the mean over words.",
    ),
    Measure(
        name="anisotropy",
        title="Anisotropy",
        unit="cosine",
        baseline=None,
        baseline_title=None,
        explanation="Mean cosine of two random occurrences of words: 0 in a space that points in all directions.",
    ),
    Measure(
        name="intra_sentence_similarity_adjusted",
        title="Intra-sentence similarity, adjusted",
        unit="cosine above anisotropy",
        baseline=None,
        baseline_title=None,
        explanation="How alike the words of one text are to their mean, less the layer's anisotropy.",
    ),
    Measure(
        name="intra_sentence_similarity",
        title="Intra-sentence similarity",
        unit="cosine",
        baseline="intra_sentence_shuffled",
        baseline_title="texts of random words",
        explanation="Mean cosine of a text's words with their mean; it depends on length, so texts of the same lengths "
        "made of random words stand beside it.",
    ),
    Measure(
        name="mev_adjusted",
        title="Maximum explained variance, adjusted",
        unit="share above random words",
        baseline=None,
        baseline_title=None,
        explanation="How much of a word's vectors one static vector would explain, above as many random words.",
    ),
    Measure(
        name="mev",
        title="Maximum explained variance",
        unit="share of variance",
        baseline="mev_baseline",
        baseline_title="random words",
        explanation="Share of the sum of squares of a word's vectors along their first direction.",
    ),
]

_CLOUD = "round cloud"
ROUNDNESS = [
    Measure(name=name, title=title, unit=unit, baseline=_CLOUD, baseline_title="a round cloud", explanation=explanation)
    for name, title, unit, explanation in (
        (
            "isoscore",
            "IsoScore",
            "0 to 1",
            "How evenly the variance is spread over all directions. 1: perfectly round.",
        ),
        (
            "log_partition",
            "Partition function",
            "natural logarithm",
            "Logarithm of min Z / max Z over the principal directions. 0: round. Not defined after whitening.",
        ),
        ("mean_cosine", "Mean cosine", "cosine", "Mean cosine of two random vectors. 0: they point everywhere."),
        ("variance_top1", "Variance of the first direction", "share", "Share of the variance along one direction."),
        ("variance_top3", "Variance of three directions", "share", "Share of the variance along three directions."),
        ("variance_top10", "Variance of ten directions", "share", "Share of the variance along ten directions."),
        ("effective_rank", "Effective rank", "directions", "Exponential of the entropy of the eigenvalues."),
        ("mean_offset", "Offset of the mean", "ratio", "Length of the mean vector by the mean length. 0: centred."),
    )
]


def series(opened: Opened) -> Iterator[Series]:
    """Every corpus of a survey's reading of contextuality; none where it has no such reading."""
    names = opened.named(CONTEXTUALITY)
    if not names:
        return
    rows = opened.rows(names[0], "layers")
    hashes = {c["name"]: c.get("hash") for c in opened.reading(names[0]).manifest.get("corpora", ())}
    wanted = list(dict.fromkeys(n for m in MEASURES for n in (m.name, m.baseline) if n))
    for encoder, corpus in dict.fromkeys((r["encoder"], r["corpus"]) for r in rows):
        mine = sorted((r for r in rows if (r["encoder"], r["corpus"]) == (encoder, corpus)), key=_layer)
        yield Series(
            survey=opened.slug,
            title=opened.title,
            encoder=encoder,
            corpus=corpus,
            corpus_hash=hashes.get(corpus),
            layers=[r["layer"] for r in mine],
            texts=mine[0]["texts"],
            words=mine[0]["words"],
            occurrences=mine[0]["occurrences"],
            measures={
                name: Band(
                    value=[r[name] for r in mine],
                    low=[r.get(f"{name}_low") for r in mine],
                    high=[r.get(f"{name}_high") for r in mine],
                )
                for name in wanted
            },
        )


def roundness(opened: Opened) -> Iterator[Roundness]:
    """Every space measured in a survey's readings of isotropy; of one measured twice, as it was the last time."""
    found: dict[tuple[Any, ...], Row] = {}
    for name in opened.named(ISOTROPY):
        for row in opened.rows(name, "measures"):
            found[tuple(row[c] for c in ("encoder", "corpus", "space", "layer", "method"))] = row
    for row in sorted(found.values(), key=_layer):
        yield Roundness(
            survey=opened.slug,
            encoder=row["encoder"],
            corpus=row["corpus"],
            space=row["space"],
            layer=row["layer"],
            method=row["method"],
            fitted_on=row["fitted_on"],
            vectors=row["n"],
            dim=row["dim"],
            reason=row["reason"],
            measures={m.name: (row[m.name], row.get(f"{m.name}_low"), row.get(f"{m.name}_high")) for m in ROUNDNESS},
        )


def _layer(row: Row) -> int:
    return int(row["layer"])

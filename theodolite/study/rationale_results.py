"""Whether neighbours explain a wrong prediction: by the representation that they are near in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from theodolite.reading import percent
from theodolite.study.judged import Judged, Row, agreement_rows, agreement_sentence, annotators, whole
from theodolite.study.resampling import mean_with_ends, share_ends, with_adjusted

REFERENCE = "salience-vocab"
Text = tuple[str, int]


def rationale_tables(items: Sequence[Judged], *, wanted: int, seed: int) -> dict[str, list[Row]]:
    """A row a representation, its difference from the reference, the ways named, a row an annotator, agreement."""
    return {
        "representations": _representation_rows(items, wanted, seed),
        "differences": _difference_rows(items, seed),
        "ways": _way_rows(items),
        "annotators": _annotator_rows(items),
        "agreement": agreement_rows(items, explains, levels=("nominal",), wanted=wanted, seed=seed),
    }


def rationale_findings(tables: Mapping[str, Sequence[Row]]) -> list[str]:
    """The shares from the best representation down, who differs from the reference, and how far people agree."""
    said = []
    judged = [r for r in tables["representations"] if r["answers"]]
    if judged:
        parts = [
            f"{r['representation']} {percent(r['share'])} ({percent(r['low'])} to {percent(r['high'])})" for r in judged
        ]
        said.append(f"neighbours explain the wrong prediction, in the share of answers: {', '.join(parts)}.")
    for r in tables["differences"]:
        if not np.isnan(r["p"]) and r["p_adjusted"] < 0.05:
            said.append(
                f"{r['representation']} explains {'more' if r['difference'] > 0 else 'less'} often than {r['against']} "
                f"on the same texts ({100 * r['low']:+.0f} to {100 * r['high']:+.0f} percentage points, adjusted "
                f"p = {r['p_adjusted']:.2g})."
            )
    said.append(agreement_sentence(tables["agreement"], "nominal"))
    return said


def explains(answer: Row) -> float:
    """1 where an annotator found the reason in the neighbours, else 0."""
    return float(bool(answer["explains"]))


def _text(item: Judged) -> Text:
    return (item.key["corpus"], item.key["row"])


def _representation_rows(items: Sequence[Judged], wanted: int, seed: int) -> list[Row]:
    found = []
    for name, mine in _by_representation(items).items():
        given = [(explains(a), _text(item)) for item in mine for a in item.answers.values()]
        share, low, high = mean_with_ends([value for value, _ in given], [text for _, text in given], seed)
        if share in (0.0, 1.0):
            # Texts drawn anew would all say the same, and the interval would be of no width.
            hits = round(share * len(given))
            low, high = share_ends(hits, len(given), len({text for _, text in given}))
        done = [[explains(a) for a in item.answers.values()] for item in whole(mine, wanted)]
        by_all = sum(all(values) for values in done)
        all_low, all_high = share_ends(by_all, len(done))
        found.append(
            {
                "representation": name,
                "answers": len(given),
                "share": share,
                "low": low,
                "high": high,
                "texts": len(done),
                "explained_by_all": by_all,
                "explained_by_all_low": all_low,
                "explained_by_all_high": all_high,
                "explained_by_none": sum(not any(values) for values in done),
                "conflicting": sum(any(values) and not all(values) for values in done),
                "waiting": len(mine) - len(done),
            }
        )
    return sorted(found, key=lambda r: -1.0 if np.isnan(r["share"]) else r["share"], reverse=True)


def _difference_rows(items: Sequence[Judged], seed: int) -> list[Row]:
    """On the texts that both have: the mean difference of shares, texts drawn anew; an exact test of signs."""
    from scipy.stats import binomtest

    shares = {
        name: {
            _text(item): float(np.mean([explains(a) for a in item.answers.values()])) for item in mine if item.answers
        }
        for name, mine in _by_representation(items).items()
    }
    if len(shares) < 2:
        return []
    reference = REFERENCE if REFERENCE in shares else next(iter(shares))
    found = []
    for name, of in shares.items():
        if name == reference:
            continue
        both = [text for text in of if text in shares[reference]]
        apart = np.array([of[text] - shares[reference][text] for text in both])
        mean, low, high = mean_with_ends(apart.tolist(), both, seed)
        more, less = int((apart > 0).sum()), int((apart < 0).sum())
        tested = float(binomtest(more, more + less).pvalue) if more + less else 1.0
        found.append(
            {
                "representation": name,
                "against": reference,
                "texts": len(both),
                "difference": mean,
                "low": low,
                "high": high,
                "more": more,
                "less": less,
                "p": tested if both else float("nan"),
            }
        )
    return with_adjusted(found)


def _way_rows(items: Sequence[Judged]) -> list[Row]:
    """The ways that people named, by representation, the commonest first; case and spaces do not count."""
    counts = Counter(
        (item.key["representation"], " ".join(str(answer["rationale"]).split()).casefold())
        for item in items
        for answer in item.answers.values()
        if answer["explains"]
    )
    return [
        {"representation": name, "way": way, "count": count}
        for (name, way), count in sorted(counts.items(), key=lambda pair: (pair[0][0], -pair[1], pair[0][1]))
        if way
    ]


def _annotator_rows(items: Sequence[Judged]) -> list[Row]:
    found = []
    for name in annotators(items):
        given = [explains(item.answers[name]) for item in items if name in item.answers]
        low, high = share_ends(round(sum(given)), len(given))
        found.append(
            {"annotator": name, "answers": len(given), "explains": float(np.mean(given)), "low": low, "high": high}
        )
    return found


def _by_representation(items: Sequence[Judged]) -> dict[str, list[Judged]]:
    found: dict[str, list[Judged]] = {}
    for item in items:
        found.setdefault(item.key["representation"], []).append(item)
    return found

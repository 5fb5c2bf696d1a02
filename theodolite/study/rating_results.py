"""What people think of explanations: the mean opinion score of every method, beside that of a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from theodolite.study.judged import Judged, Row, agreement_rows, agreement_sentence, annotators
from theodolite.study.resampling import Doubles, mean_with_ends, with_adjusted

REFERENCE = "bti"
SCORES = (1, 2, 3, 4, 5)


def rating_tables(items: Sequence[Judged], *, wanted: int, seed: int) -> dict[str, list[Row]]:
    """A row a method, its difference from the reference, how often each score, a row an annotator, agreement."""
    by_pair = _by_pair(items)
    return {
        "methods": _method_rows(items, by_pair, seed),
        "differences": _difference_rows(by_pair, seed),
        "scores": _score_rows(items, by_pair),
        "annotators": _annotator_rows(items),
        "agreement": agreement_rows(items, score, levels=("ordinal", "interval", "nominal"), wanted=wanted, seed=seed),
    }


def rating_findings(tables: Mapping[str, Sequence[Row]]) -> list[str]:
    """The scores from the best method down, and who differs from the reference."""
    said = []
    rated = [r for r in tables["methods"] if r["ratings"]]
    if rated:
        parts = [f"{r['method']} {r['mean']:.2f} ({r['low']:.2f} to {r['high']:.2f})" for r in rated]
        said.append(f"mean opinion (1 to 5) by method: {', '.join(parts)}.")
    told = [r for r in tables["differences"] if not np.isnan(r["p"])]
    if told:
        sure = sorted((r for r in told if r["p_adjusted"] < 0.05), key=lambda r: r["difference"])
        parts = [f"{r['method']} ({r['difference']:+.2f}, {r['low']:+.2f} to {r['high']:+.2f})" for r in sure]
        which = f"{len(sure)} of the {len(told)} other methods" if sure else f"none of the {len(told)} other methods"
        said.append(
            f"on the same pairs of texts, {which} differ from {told[0]['against']} with an adjusted p under 0.05"
            f"{': ' if parts else ''}{', '.join(parts)}."
        )
    said.append(agreement_sentence(tables["agreement"], "ordinal"))
    return said


def score(answer: Row) -> float:
    """The opinion, 1 to 5."""
    return float(answer["rating"])


def _by_pair(items: Sequence[Judged]) -> dict[str, dict[int, float]]:
    """Each method's mean score of each pair of texts that somebody rated."""
    found: dict[str, dict[int, float]] = {}
    for item in items:
        of = found.setdefault(item.key["method"], {})
        if item.answers:
            of[item.key["pair"]] = float(np.mean([score(answer) for answer in item.answers.values()]))
    return found


def _method_rows(items: Sequence[Judged], by_pair: Mapping[str, Mapping[int, float]], seed: int) -> list[Row]:
    found = []
    for method, means in by_pair.items():
        given = [score(a) for item in items if item.key["method"] == method for a in item.answers.values()]
        mean, low, high = mean_with_ends(list(means.values()), list(means), seed)
        found.append(
            {
                "method": method,
                "pairs": len(means),
                "ratings": len(given),
                "mean": mean,
                "low": low,
                "high": high,
                "deviation": float(np.std(given, ddof=1)) if len(given) > 1 else float("nan"),
                "deviation_of_annotators": _between_annotators(items, method),
            }
        )
    return sorted(found, key=lambda r: (np.isnan(r["mean"]), -r["mean"] if r["ratings"] else 0.0))


def _between_annotators(items: Sequence[Judged], method: str) -> float:
    """The deviation of annotators' own means: the ± of the source's table."""
    given: dict[str, list[float]] = {}
    for item in items:
        if item.key["method"] == method:
            for name, answer in item.answers.items():
                given.setdefault(name, []).append(score(answer))
    means = [float(np.mean(scores)) for scores in given.values()]
    return float(np.std(means, ddof=1)) if len(means) > 1 else float("nan")


def _difference_rows(by_pair: Mapping[str, Mapping[int, float]], seed: int) -> list[Row]:
    """On the pairs that both have: the mean difference from the reference, pairs drawn anew; Wilcoxon's test."""
    if len(by_pair) < 2:
        return []
    reference = REFERENCE if REFERENCE in by_pair else next(iter(by_pair))
    found = []
    for method, means in by_pair.items():
        if method == reference:
            continue
        both = [pair for pair in means if pair in by_pair[reference]]
        apart = np.array([means[pair] - by_pair[reference][pair] for pair in both])
        mean, low, high = mean_with_ends(apart.tolist(), both, seed)
        found.append(
            {
                "method": method,
                "against": reference,
                "pairs": len(both),
                "difference": mean,
                "low": low,
                "high": high,
                "p": _wilcoxon(apart),
            }
        )
    return with_adjusted(found)


def _wilcoxon(apart: Doubles) -> float:
    """The two-sided p of the signed ranks, equal pairs among them (Pratt); NaN of fewer than two pairs."""
    from scipy.stats import wilcoxon

    if len(apart) < 2:
        return float("nan")
    if not apart.any():
        return 1.0
    return float(wilcoxon(apart, zero_method="pratt", method="auto").pvalue)


def _score_rows(items: Sequence[Judged], methods: Sequence[str] | Mapping[str, object]) -> list[Row]:
    found = []
    for method in methods:
        given = [score(a) for item in items if item.key["method"] == method for a in item.answers.values()]
        found += [{"method": method, "score": s, "count": given.count(s), "of": len(given)} for s in SCORES]
    return found


def _annotator_rows(items: Sequence[Judged]) -> list[Row]:
    found = []
    for name in annotators(items):
        given = [score(item.answers[name]) for item in items if name in item.answers]
        found.append(
            {
                "annotator": name,
                "ratings": len(given),
                "mean": float(np.mean(given)),
                "deviation": float(np.std(given, ddof=1)) if len(given) > 1 else float("nan"),
            }
        )
    return found

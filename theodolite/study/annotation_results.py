"""What people saw in sets of sentences: how often a pattern, which ones, how many, and how far they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from theodolite.reading import percent
from theodolite.study.judged import Judged, Row, agreement_rows, agreement_sentence, annotators, whole
from theodolite.study.merging import Groups
from theodolite.study.resampling import difference_ends, difference_p, mean_with_ends, share_ends, with_adjusted

BASELINE = "random sentences"
ALL = "all"
YES, NO, CONFLICTING = "yes", "no", "conflicting"


def annotation_tables(items: Sequence[Judged], groups: Groups, *, wanted: int, seed: int) -> dict[str, list[Row]]:
    """The source's tables: a row a condition and corpus, a row an annotator, patterns, positives, agreement."""
    named = named_patterns(items, groups)
    conditions = condition_rows(items, groups, wanted=wanted)
    return {
        "conditions": conditions,
        "differences": difference_rows(conditions),
        "patterns_per_direction": _per_direction(items, named, wanted=wanted, seed=seed),
        "positives": _positives(named, seed),
        "annotators": _annotator_rows(items),
        "agreement": agreement_rows(items, found_pattern, levels=("nominal",), wanted=wanted, seed=seed),
        "sets": set_rows(items, groups, wanted=wanted),
        "patterns": named,
    }


def annotation_findings(tables: Mapping[str, Sequence[Row]]) -> list[str]:
    """How often people saw a pattern, beside random sentences; how many a direction; how far they agree."""
    said = []
    shares = [r for r in tables["conditions"] if r["corpus"] == ALL and r["sets"]]
    if shares:
        parts = [
            f"{percent(r['yes_share'])} of the {r['sets']} sets of {_plural(r['condition'])} "
            f"({percent(r['yes_low'])} to {percent(r['yes_high'])})"
            for r in shares
        ]
        said.append(f"all annotators of a set found a pattern in {'; '.join(parts)}.")
        split = [f"{percent(r['conflicting'] / r['sets'])} of {_plural(r['condition'])}" for r in shares]
        said.append(f"annotators were split over {'; '.join(split)}.")
    for r in tables["differences"]:
        if r["corpus"] == ALL and not np.isnan(r["p"]):
            said.append(
                f"that share is {100 * abs(r['difference']):.0f} percentage points "
                f"{'higher' if r['difference'] >= 0 else 'lower'} for {_plural(r['condition'])} than for {BASELINE} "
                f"(95% interval {100 * r['low']:+.0f} to {100 * r['high']:+.0f}, adjusted p = {r['p_adjusted']:.2g})."
            )
    for r in tables["patterns_per_direction"]:
        if r["directions"] and r["condition"] != BASELINE:
            said.append(
                f"people named {r['mean']:.1f} ({r['low']:.1f} to {r['high']:.1f}) different patterns for each of "
                f"{r['directions']} {_plural(r['condition'])}, over all corpora shown of it."
            )
    said.append(agreement_sentence(tables["agreement"], "nominal"))
    return said


def found_pattern(answer: Row) -> float:
    """1 where an answer names a pattern, else 0."""
    return float(bool(answer["patterns"]))


def verdict(item: Judged) -> str:
    """What all annotators of a set together say."""
    found = [found_pattern(answer) for answer in item.answers.values()]
    return YES if all(found) else NO if not any(found) else CONFLICTING


def named_patterns(items: Sequence[Judged], groups: Groups) -> list[Row]:
    """A row for each pattern that somebody named."""
    return [
        {
            "item": item.item,
            "condition": item.key["condition"],
            "direction": item.key["direction"],
            "corpus": item.shown["corpus"],
            "annotator": annotator,
            "pattern": pattern["name"],
            "group": groups[item.numbers[annotator], place],
            "positives": len(pattern["sentences"]),
            "sentences": list(pattern["sentences"]),
        }
        for item in items
        for annotator, answer in item.answers.items()
        for place, pattern in enumerate(answer["patterns"])
    ]


def set_rows(items: Sequence[Judged], groups: Groups, *, wanted: int) -> list[Row]:
    """A row for each set that has all its answers: people's verdict, and whether they named one thing."""
    return [
        {
            "item": item.item,
            "condition": item.key["condition"],
            "direction": item.key["direction"],
            "corpus": item.shown["corpus"],
            "verdict": verdict(item),
            "same_pattern": _same(item, groups),
            "groups": sorted(set().union(*_groups_of(item, groups))),
        }
        for item in whole(items, wanted)
    ]


def condition_rows(items: Sequence[Judged], groups: Groups, *, wanted: int) -> list[Row]:
    """Yes, no and conflicting by condition and corpus, with the interval of the share of yes."""
    found = []
    for condition in _conditions(items):
        of = [item for item in items if item.key["condition"] == condition]
        for corpus in (ALL, *dict.fromkeys(item.shown["corpus"] for item in of)):
            here = [item for item in of if corpus in (ALL, item.shown["corpus"])]
            done = whole(here, wanted)
            count = {name: sum(verdict(item) == name for item in done) for name in (YES, NO, CONFLICTING)}
            clusters = len({item.key["direction"] or item.item for item in done})
            low, high = share_ends(count[YES], len(done), clusters)
            found.append(
                {
                    "condition": condition,
                    "corpus": corpus,
                    "sets": len(done),
                    "clusters": clusters,
                    **count,
                    "yes_share": count[YES] / len(done) if done else float("nan"),
                    "yes_low": low,
                    "yes_high": high,
                    "same_pattern": sum(_same(item, groups) for item in done),
                    "waiting": len(here) - len(done),
                }
            )
    return found


def difference_rows(conditions: Sequence[Row]) -> list[Row]:
    """Each condition's share of yes beside that of random sentences: Newcombe's interval, Fisher's exact test.

    Sets of one direction count together as one, in both, as they do in the shares' own intervals.
    """
    rows = {(r["condition"], r["corpus"]): r for r in conditions}
    found = []
    for (condition, corpus), row in rows.items():
        base = rows.get((BASELINE, corpus))
        if condition == BASELINE or base is None:
            continue
        one, other = ((r[YES], r["sets"], r["clusters"]) for r in (row, base))
        low, high = difference_ends(one, other)
        found.append(
            {
                "condition": condition,
                "against": BASELINE,
                "corpus": corpus,
                "difference": one[0] / one[1] - other[0] / other[1] if one[1] and other[1] else float("nan"),
                "low": low,
                "high": high,
                "p": difference_p(one, other),
            }
        )
    return with_adjusted(found)


def _per_direction(items: Sequence[Judged], named: Sequence[Row], *, wanted: int, seed: int) -> list[Row]:
    """How many different patterns people named for a direction, over the corpora of its sets that are finished."""
    found = []
    for condition in _conditions(items):
        done = [item for item in whole(items, wanted) if item.key["condition"] == condition]
        groups: dict[str, set[str]] = {item.key["direction"] or item.item: set() for item in done}
        corpora: dict[str, set[str]] = {name: set() for name in groups}
        for item in done:
            corpora[item.key["direction"] or item.item].add(item.shown["corpus"])
        finished = {item.item for item in done}
        for row in named:
            if row["item"] in finished:
                groups[row["direction"] or row["item"]].add(row["group"])
        counts = [float(len(some)) for some in groups.values()]
        mean, low, high = mean_with_ends(counts, list(groups), seed)
        found.append(
            {
                "condition": condition,
                "directions": len(counts),
                "corpora_each": float(np.mean([len(c) for c in corpora.values()])) if corpora else float("nan"),
                "mean": mean,
                "low": low,
                "high": high,
                "most": int(max(counts, default=0)),
            }
        )
    return found


def _positives(named: Sequence[Row], seed: int) -> list[Row]:
    """How many sentences show a pattern, by condition; sets drawn anew for the interval."""
    found = []
    for condition in dict.fromkeys(row["condition"] for row in named):
        mine = [row for row in named if row["condition"] == condition]
        counts = [float(row["positives"]) for row in mine]
        mean, low, high = mean_with_ends(counts, [row["item"] for row in mine], seed)
        found.append(
            {
                "condition": condition,
                "patterns": len(mine),
                "mean": mean,
                "low": low,
                "high": high,
                "deviation": float(np.std(counts, ddof=1)) if len(counts) > 1 else float("nan"),
            }
        )
    return found


def _annotator_rows(items: Sequence[Judged]) -> list[Row]:
    found = []
    for name in annotators(items):
        mine = [item.answers[name] for item in items if name in item.answers]
        with_pattern = sum(bool(answer["patterns"]) for answer in mine)
        patterns = sum(len(answer["patterns"]) for answer in mine)
        low, high = share_ends(with_pattern, len(mine))
        found.append(
            {
                "annotator": name,
                "sets": len(mine),
                "patterns": patterns,
                "patterns_per_set": patterns / len(mine),
                "with_pattern": with_pattern / len(mine),
                "low": low,
                "high": high,
            }
        )
    return found


def _same(item: Judged, groups: Groups) -> bool:
    """Whether there is a pattern that every annotator of a set named."""
    named = _groups_of(item, groups)
    return len(named) > 1 and bool(set.intersection(*named))


def _groups_of(item: Judged, groups: Groups) -> list[set[str]]:
    """Of each annotator, the groups of the patterns named."""
    return [
        {groups[item.numbers[name], place] for place in range(len(answer["patterns"]))}
        for name, answer in item.answers.items()
    ]


def _conditions(items: Sequence[Judged]) -> list[str]:
    """Those there are, random sentences last."""
    names = dict.fromkeys(item.key["condition"] for item in items)
    return sorted(names, key=lambda name: name == BASELINE)


def _plural(condition: str) -> str:
    return condition if condition.endswith("s") else f"{condition}s"

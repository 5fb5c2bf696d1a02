"""Source 003's experiments with classifiers trained here: its Tables 1 to 5 and 8 to 10, published beside measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import pyarrow as pa

from theodolite.claims import Claim, Reproduction
from theodolite.errors import InputError, StoreError
from theodolite.instrument import Progress
from theodolite.running import run
from theodolite.salience.experiments import GRADES, Experiment, comments, planted, reviews, smaller
from theodolite.salience.instrument import Salience
from theodolite.salience.reading import SalienceReading

if TYPE_CHECKING:
    from theodolite.store import Store

Row = dict[str, Any]
Published = dict[tuple[str, str], tuple[float, float, float]]

GRAD, IG = "grad-l2", "integrated-gradients"
SPACES = ("salience-vocab", "salience-embedding", "cls", "average-embedding", "pmi")
BY_IG = ("salience-vocab", "salience-embedding")
# Size, precision and recall of the best cluster, by method and representation.
TABLE_8: Published = {
    (GRAD, "salience-vocab"): (0.20, 1.00, 1.00),
    (GRAD, "salience-embedding"): (0.22, 0.93, 1.00),
    (GRAD, "cls"): (0.20, 1.00, 1.00),
    (GRAD, "average-embedding"): (0.36, 0.35, 0.62),
    (GRAD, "pmi"): (0.00, 0.50, 0.00),
    (IG, "salience-vocab"): (0.17, 1.00, 0.85),
    (IG, "salience-embedding"): (0.16, 1.00, 0.80),
}
TABLE_9: Published = {
    (GRAD, "salience-vocab"): (0.20, 1.00, 1.00),
    (GRAD, "salience-embedding"): (0.20, 0.97, 0.99),
    (GRAD, "cls"): (0.19, 1.00, 0.96),
    (GRAD, "average-embedding"): (0.00, 0.75, 0.03),
    (GRAD, "pmi"): (0.00, 1.00, 0.00),
}
# With every salient item, not only the five largest.
TABLE_8_ALL: Published = {
    (GRAD, "salience-vocab"): (0.20, 1.00, 1.00),
    (GRAD, "salience-embedding"): (0.21, 0.95, 1.00),
}
TABLE_10_ALL: Published = {
    (GRAD, "salience-vocab"): (0.05, 0.99, 0.52),
    (GRAD, "salience-embedding"): (0.04, 0.93, 0.48),
}
# The clusters of negative reviews: share of the texts, and the terms of highest mean salience.
TABLE_2 = (
    (0.71, "terrible, horrible, boring, recommend, dull"),
    (0.08, "worst, terrible, avoid, bad, horrible"),
    (0.08, "bad, horrible, acting, worst, recommend"),
    (0.06, "awful, worst, avoid, bad, terrible"),
    (0.05, "10, 4, 3, /, 2"),
)
TABLE_10: Published = {
    (GRAD, "salience-vocab"): (0.05, 0.98, 0.50),
    (GRAD, "salience-embedding"): (0.05, 0.93, 0.53),
    (GRAD, "cls"): (0.47, 0.12, 0.58),
    (GRAD, "pmi"): (0.16, 0.12, 0.19),
    (GRAD, "average-embedding"): (0.08, 0.16, 0.13),
    (IG, "salience-vocab"): (0.12, 0.13, 0.16),
    (IG, "salience-embedding"): (0.11, 0.14, 0.16),
}
# Mean change and its deviation over terms, by list.
TABLE_4 = {"identity terms": (0.06, 0.08), "pmi": (0.31, 0.19), "aggregated salience": (0.41, 0.08)}
TABLE_5 = {"identity terms": (-0.12, 0.15), "pmi": (-0.22, 0.10), "aggregated salience": (-0.34, 0.08)}
ACCURACY = {"planted-sst2": 0.94, "imdb": 0.93, "toxicity": 0.93}
# Integrated gradients cost some forty passes a review: on one core, this many in five minutes.
IG_REVIEWS = 250
# Rules that the source did not plant: are they found too?
OTHER_RULES = ("word", "order", "position", "length")
NOT_THERE = "not in the source"
EVERY_ITEM = "every salient item"


def reproduce(data: Path, models: list[str], *, limit: int | None, store: Store, progress: Progress) -> Reproduction:
    """Train on planted SST-2, IMDB and toxicity with each encoder, and set the source's tables beside what came out.

    limit: texts to train on; of fewer than usual, the texts to look at in proportion. What cannot be measured, such
    as clusters of fewer texts than those, is said in place of the rest of its experiment's figures.
    """
    experiments = [planted(data, limit), reviews(data, limit), comments(data, limit)]
    experiments += [planted(data, limit, rule) for rule in OTHER_RULES]
    examinations = (_planted, _reviews, _comments, *[_other_rule] * len(OTHER_RULES))
    claims: list[Claim] = []
    readings: list[SalienceReading] = []
    for model in models:
        for experiment, examine in zip(experiments, examinations, strict=True):
            classifier, scores = experiment.classifier(model, store, progress)
            claims.append(
                Claim(
                    model,
                    f"{experiment.name}: accuracy on held-out texts ({len(experiment.training):,} trained on)",
                    f"{ACCURACY[experiment.name]:.2f}" if experiment.name in ACCURACY else NOT_THERE,
                    f"{scores.accuracy:.3f} ({scores.low:.3f} to {scores.high:.3f}; always one class: "
                    f"{scores.baseline:.3f})",
                    None,
                )
            )

            def measure(asked: Salience, corpora: Sequence[Any], on: Any = classifier) -> SalienceReading:
                [found] = run([asked], on, corpora, store=store, progress=progress)
                assert isinstance(found, SalienceReading)
                readings.append(found)
                return found

            before = len(readings)
            claims += _as_far_as_it_goes(examine(model, experiment, measure), model, experiment)
            claims += [_accuracy(model, experiment, first) for first in readings[before : before + 1]]
    title = "Aggregated salience (source 003): published on BERT-base, measured here"
    return Reproduction(title, claims, _joined(readings))


def _as_far_as_it_goes(claims: Iterator[Claim], model: str, experiment: Experiment) -> Iterator[Claim]:
    try:
        yield from claims
    except StoreError:
        raise
    except InputError as fault:
        yield Claim(model, f"{experiment.name}: the rest", "", f"not measured: {fault}", None)


def _accuracy(model: str, experiment: Experiment, found: SalienceReading) -> Claim:
    """On the texts looked at, which had no part in the training nor in when it stopped."""
    [row] = (r for r in found.tables["predictions"].to_pylist()
             if (r["corpus"], r["class"]) == (experiment.looked_at.name, "all"))  # fmt: skip
    measured = (
        f"{row['accuracy']:.3f} ({row['accuracy_low']:.3f} to {row['accuracy_high']:.3f}; always one class: "
        f"{row['baseline']:.3f})"
    )
    claim = f"{experiment.name}: accuracy on the {row['texts']:,} texts looked at"
    return Claim(model, claim, f"{ACCURACY.get(experiment.name, NOT_THERE)}", measured, None)


def _planted(model: str, experiment: Experiment, measure: Any) -> Iterator[Claim]:
    """Tables 1, 8 and 9: the cluster of texts with both marker words, among those answered class 0."""
    asked = Salience(
        method=(GRAD, IG),
        representation=SPACES,
        clusters=3,
        within="0",
        marker="column:truth=0",
        faithful=0,
        map="none",
    )
    for clusters, table in ((3, TABLE_8), (20, TABLE_9)):
        about = f"planted SST-2, {clusters} clusters"
        found = measure(replace(asked, clusters=clusters), [experiment.looked_at])
        yield from _cluster_claims(model, about, found, table)
        best = _best(found, GRAD, "salience-vocab")
        yield Claim(
            model,
            f"{about}: salience-vocab gathers the planted texts in one of them",
            "precision and recall 1",
            _figures(best),
            best is not None and best["recall"] >= 0.95 and best["precision"] >= 0.85,
        )
        yield _first_in_suspicion(model, found, best, about=f"{about}: ")
    found = measure(replace(asked, representation=BY_IG, top_k="all"), [experiment.looked_at])
    yield from _cluster_claims(model, f"planted SST-2, 3 clusters, {EVERY_ITEM}", found, TABLE_8_ALL)


def _other_rule(model: str, experiment: Experiment, measure: Any) -> Iterator[Claim]:
    """Does the planted cluster come first, among the texts answered class 1, by words and by pairs of words?"""
    asked = Salience(
        representation=("salience-vocab", "salience-bigrams"), within="1", marker="column:truth=1", faithful=0,
        map="none",
    )  # fmt: skip
    found = measure(asked, [experiment.looked_at])
    for name in asked.representation:
        best = _best(found, GRAD, name)
        yield Claim(model, f"{experiment.name}, {asked.clusters} clusters: {name}", NOT_THERE, _figures(best), None)
        yield _first_in_suspicion(model, found, best, name, f"{experiment.name}: ")


def _reviews(model: str, experiment: Experiment, measure: Any) -> Iterator[Claim]:
    """Tables 2, 3 and 10: the cluster of reviews that give a rating in digits, among those answered negative."""
    asked = Salience(
        method=(GRAD,), representation=SPACES, clusters=5, within="0", marker="rating", faithful=0, map="none"
    )
    found = measure(asked, [experiment.looked_at])
    yield from _cluster_claims(model, "IMDB ratings, 5 clusters", found, TABLE_10)
    yield from _table_2(model, found)
    yield _finds_ratings(model, found, "negative", "precision .98 against .12, .12 and .16")
    for answered, within in (("positive", "1"), ("either way", "all")):
        found = measure(replace(asked, within=within), [experiment.looked_at])
        yield _finds_ratings(model, found, answered, "the same pattern" if within == "1" else NOT_THERE)
    for answered, within in (("negative", "0"), ("positive", "1"), ("either way", "all")):
        found = measure(replace(asked, within=within, marker=GRADES), [experiment.looked_at])
        yield _finds_ratings(model, found, f"{answered}, grades in more forms", NOT_THERE)
    found = measure(replace(asked, representation=BY_IG, top_k="all"), [experiment.looked_at])
    yield from _cluster_claims(model, f"IMDB ratings, 5 clusters, {EVERY_ITEM}", found, TABLE_10_ALL)
    by_ig = Salience(
        method=(IG,), representation=BY_IG, clusters=5, within="0", marker="rating", faithful=0, map="none"
    )
    found = measure(by_ig, [smaller(experiment, IG_REVIEWS).looked_at])
    yield from _cluster_claims(model, f"IMDB ratings, 5 clusters, {IG_REVIEWS} reviews", found, TABLE_10)


def _finds_ratings(model: str, found: SalienceReading, answered: str, published: str) -> Claim:
    best = {name: _best(found, GRAD, name) for name in SPACES}
    mine = best["salience-vocab"]
    others = [row for name, row in best.items() if name not in BY_IG and row is not None]
    return Claim(
        model,
        f"IMDB, answered {answered}: salience-vocab finds the ratings, the baselines do not",
        published,
        "; ".join(f"{name} {_figures(row)}" for name, row in best.items()),
        _gathers_ratings(mine) and all(mine["precision"] > other["precision"] for other in others),
    )


def _gathers_ratings(row: Row | None) -> TypeGuard[Row]:
    return row is not None and row["precision"] >= 0.9 and row["recall"] >= 0.3


def _comments(model: str, experiment: Experiment, measure: Any) -> Iterator[Claim]:
    """Tables 4 and 5: terms put into comments that are not toxic, and masked in those that are."""
    asked = Salience(
        clusters=0, sensitivity=("auto",), toward="1", among=experiment.training.name, faithful=0, map="none"
    )
    found = measure(asked, [experiment.looked_at, experiment.training])
    rows = {r["list"]: r for r in found.tables["sensitivity"].to_pylist()}
    for what, table in (("insertion", TABLE_4), ("masking", TABLE_5)):
        for name, (mean, deviation) in table.items():
            row = rows.get(name)
            measured = "no term occurs often enough" if row is None or not math.isfinite(row[what]) else (
                f"{row[what]:+.2f} ({_deviation(row[f'{what}_sd'])}), interval {row[f'{what}_low']:.2f} to "
                f"{row[f'{what}_high']:.2f}, {row['inserted'] if what == 'insertion' else row['count']} "
                f"{'texts' if what == 'insertion' else 'occurrences'}"
            )  # fmt: skip
            yield Claim(model, f"toxicity, {what} of {name}", f"{mean:+.2f} ({deviation:.2f})", measured, None)
        order = [rows[name][what] for name in table if name in rows and math.isfinite(rows[name][what])]
        rising = sorted(order) if what == "insertion" else sorted(order, reverse=True)
        yield Claim(
            model,
            f"toxicity, {what}: identity terms, then PMI, then aggregated salience",
            "in that order",
            ", ".join(f"{value:+.2f}" for value in order),
            order == rising if len(order) == len(table) else None,
        )


def _table_2(model: str, found: SalienceReading) -> Iterator[Claim]:
    """The clusters by salience-vocab, the largest first."""
    rows = sorted(_clusters(found, SPACES[0]), key=lambda row: -row["share"])
    for place, ((share, terms), row) in enumerate(zip(TABLE_2, rows, strict=False), 1):
        measured = f"{row['share']:.0%}: {', '.join(row['terms'][:5])}"
        yield Claim(model, f"IMDB, cluster {place} by size: its terms", f"{share:.0%}: {terms}", measured, None)


def _cluster_claims(model: str, about: str, found: SalienceReading, table: Published) -> Iterator[Claim]:
    for (method, name), (size, precision, recall) in table.items():
        row = _best(found, method, name)
        if row is not None:
            published = f"size {size:.2f}, precision {precision:.2f}, recall {recall:.2f}"
            yield Claim(model, f"{about}: {name} by {method}", published, _figures(row), None)


def _first_in_suspicion(
    model: str, found: SalienceReading, best: Row | None, representation: str = SPACES[0], about: str = ""
) -> Claim:
    """Whether the first cluster is the planted one: the best for the planted texts, and mostly made of them."""
    claim = f"{about}the planted cluster comes first in the suspicion ranking"
    first = max(_clusters(found, representation), key=lambda r: r["suspicion"], default=None)
    if first is None:
        return Claim(model, claim, NOT_THERE, f"not measured: {representation} makes no clusters of so few texts", None)
    return Claim(
        model,
        claim,
        NOT_THERE,
        f"first is cluster {first['id']} ({', '.join(first['terms'][:3])}), suspicion {first['suspicion']:.2f}",
        best is not None and first["id"] == best["cluster"] and best["precision"] >= 0.5,
    )


def _clusters(found: SalienceReading, representation: str) -> list[Row]:
    rows = found.tables["clusters"].to_pylist()
    return [r for r in rows if (r["method"], r["representation"]) == (GRAD, representation)]


def _best(found: SalienceReading, method: str, representation: str) -> Row | None:
    rows = found.tables["marker"].to_pylist() if "marker" in found.tables else []
    return next((r for r in rows if (r["method"], r["representation"]) == (method, representation)), None)


def _figures(row: Row | None) -> str:
    if row is None:
        return "no marked text"
    precision, recall = (
        f"{row[name]:.2f} ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})" for name in ("precision", "recall")
    )
    return (
        f"size {row['size']:.2f}, precision {precision}, of any texts {row['baseline']:.2f}, "
        f"recall {recall} of {row['marked']}"
    )


def _deviation(value: float) -> str:
    """One term has none."""
    return f"{value:.2f}" if math.isfinite(value) else "–"


def _joined(readings: Sequence[SalienceReading]) -> SalienceReading:
    """All tables of all readings, each row under the number of its reading; the first one's manifest."""
    tables: dict[str, list[pa.Table]] = {}
    for number, reading in enumerate(readings, 1):
        for name, table in reading.tables.items():
            if name not in ("texts", "examples"):
                tables.setdefault(name, []).append(table.append_column("reading", pa.array([number] * len(table))))
    joined = {name: pa.concat_tables(parts, promote_options="permissive") for name, parts in tables.items()}
    joined["texts"] = readings[0].tables["texts"]
    manifest = {**readings[0].manifest, "readings": [r.manifest for r in readings]}
    return SalienceReading(joined, [f for r in readings for f in r.findings], manifest)

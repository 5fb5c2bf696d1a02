"""The tables of the reading, made of what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from theodolite.accumulate import wilson
from theodolite.illusion.directions import Directions
from theodolite.illusion.locality import compared
from theodolite.illusion.measuring import Material, Measured
from theodolite.illusion.outliers import MeanDistances, TopPlaces, top_places
from theodolite.illusion.patterns import random_sets
from theodolite.illusion.points import Ints, Spread
from theodolite.illusion.purity import purity
from theodolite.illusion.tops import agreement, ends
from theodolite.illusion.verdicts import NONE, illusion_rate
from theodolite.instrument import Subject

Row = dict[str, Any]

FARTHEST = (0.01, 0.1)
OUTLIERS_SHOWN = 20
# Not those that the patterns are calibrated on.
RANDOM_SETS_KEPT, RANDOM_SEED = 25, 1_000_000


class Tables:
    """Rows by table; ``all`` gives them as Arrow tables."""

    def __init__(
        self,
        subject: Subject,
        materials: Mapping[str, Material],
        directions: Directions,
        spreads: Mapping[str, Spread],
        distances: Mapping[str, MeanDistances],
        whole: Measured,
        again: Mapping[float, Measured],
        piece: Callable[[int], str],
    ) -> None:
        self.subject, self.materials, self.directions, self.piece = subject, materials, directions, piece
        self.spreads, self.distances, self.whole, self.again = spreads, distances, whole, again

    def all(self) -> dict[str, pa.Table]:
        """Every table that has rows."""
        rows: dict[str, list[Row]] = {
            "illusion_rate": self.rates(),
            "verdicts": self.verdicts(),
            "patterns": self.patterns(),
            "top": list(self.ends("top")),
            "bottom": list(self.ends("bottom")),
            "overlap": [{"top": self.k, "overlap": self.whole.overlap}] if len(self.materials) > 1 else [],
            "separability": self.separability(),
            "confusion": self.confusion(),
            "monotonic": self.whole.monotonic.shares,
            "monotonic_tokens": self.tokens(),
            "locality": self.locality(),
            "locality_groups": self.locality_groups(),
            "outliers": self.outliers(),
            "outlier_texts": self.outlier_texts(),
            "without_farthest": self.without_farthest(),
            "corpora": self.corpora(),
            "random_sets": self.random_sets(),
            "concepts": self.directions.concepts,
            "purity": self.purity(),
        }
        return {name: pa.Table.from_pylist(found) for name, found in rows.items() if found}

    @property
    def k(self) -> int:
        return int(next(iter(self.whole.ends.values())).top.shape[1])

    @cached_property
    def places(self) -> dict[str, TopPlaces]:
        """Who holds the top places of the neurons, or of all directions where there are none, by corpus."""
        neurons = self.directions.of_kind("neuron")
        which = neurons if len(neurons) else np.arange(len(self.directions))
        return {name: top_places(found.top[which]) for name, found in self.whole.ends.items()}

    def ends(self, end: str) -> Iterator[Row]:
        for name, found in self.whole.ends.items():
            material = self.materials[name]
            mean, deviation = self.spreads[name].of(self.directions.matrix)
            points, scores = getattr(found, end), getattr(found, f"{end}_scores")
            texts = _texts(material, points[points >= 0])
            for i, direction in enumerate(self.directions.names):
                for rank in range(points.shape[1]):
                    if points[i, rank] >= 0:
                        yield {
                            "direction": direction,
                            "corpus": name,
                            "rank": rank + 1,
                            **material.points.place(points[i, rank]),
                            "score": float(scores[i, rank]),
                            "deviations": float((scores[i, rank] - mean[i]) / deviation[i]) if deviation[i] else 0.0,
                            "text": texts[points[i, rank]],
                        }

    def patterns(self) -> list[Row]:
        return [
            {
                "direction": self.directions.names[i],
                "corpus": name,
                "pattern": pattern.label,
                "kind": pattern.kind,
                "hits": pattern.hits,
                "p_adjusted": pattern.p_adjusted,
            }
            for name, found in self.whole.patterns.items()
            for i, patterns in enumerate(found)
            for pattern in patterns
        ]

    def verdicts(self) -> list[Row]:
        found = []
        for i, verdict in enumerate(self.whole.verdicts):
            where = [name for name in self.whole.patterns if self.whole.patterns[name][i]]
            near = [self.whole.locality[name][i] for name in (where or self.whole.locality)]
            found.append(
                {
                    "direction": self.directions.names[i],
                    "kind": self.directions.kinds[i],
                    "verdict": verdict.verdict,
                    "different_patterns": self.whole.different[i],
                    "corpora_with_patterns": where,
                    "pattern": verdict.pattern.label if verdict.pattern else None,
                    "pattern_of": verdict.source,
                    "carried_to": list(verdict.carried_to),
                    "locality": float(np.mean([x.score for x in near])),
                    "locality_control": float(np.mean([x.control for x in near])),
                }
            )
        return found

    def rates(self, measured: Measured | None = None) -> list[Row]:
        measured = measured or self.whole
        found = []
        for kind in dict.fromkeys(self.directions.kinds):
            which = self.directions.of_kind(kind)
            mine = [measured.verdicts[i] for i in which]
            illusions, with_pattern = illusion_rate([v.verdict for v in mine])
            low, high = wilson(illusions, with_pattern) if with_pattern else (float("nan"), float("nan"))
            some = sum(v.verdict != NONE for v in mine)
            found.append(
                {
                    "kind": kind,
                    "directions": len(mine),
                    "with_pattern": some,
                    "illusion_rate": illusions / with_pattern if with_pattern else float("nan"),
                    "illusion_rate_low": low,
                    "illusion_rate_high": high,
                    **{v: sum(x.verdict == v for x in mine) for v in ("global", "dataset", "local", "unexplained")},
                    "different_patterns": float(np.mean([measured.different[i] for i in which])),
                    "pattern_share": self._pattern_share(kind, measured),
                    "random_sets_with_pattern": measured.false_positives.share,
                    "random_sets_with_pattern_low": measured.false_positives.low,
                    "random_sets_with_pattern_high": measured.false_positives.high,
                }
            )
        return found

    def _pattern_share(self, kind: str, measured: Measured) -> float:
        """Of all sets of top sentences of these directions, over the corpora, the share with a pattern."""
        which = self.directions.of_kind(kind)
        return float(np.mean([bool(found[i]) for found in measured.patterns.values() for i in which]))

    def separability(self) -> list[Row]:
        told = self.whole.separability
        return (
            []
            if told is None
            else [{"accuracy": told.accuracy, "chance": told.chance, "texts_each": told.each, "corpora": told.corpora}]
        )

    def confusion(self) -> list[Row]:
        told = self.whole.separability
        if told is None:
            return []
        return [
            {"corpus": a, "answered": b, "count": int(told.confusion[i, j]), "share": float(share)}
            for i, a in enumerate(told.corpora)
            for j, (b, share) in enumerate(
                zip(told.corpora, told.confusion[i] / max(told.confusion[i].sum(), 1), strict=True)
            )
        ]

    def tokens(self) -> list[Row]:
        neurons = len(self.directions.of_kind("neuron"))
        return [{"token": self.piece(t), "neurons": n, "of": neurons} for t, n in self.whole.monotonic.tokens]

    def locality(self) -> list[Row]:
        return [
            {
                "direction": self.directions.names[i],
                "corpus": name,
                "locality": near.score,
                "control": near.control,
                "sentence_locality": near.sentence_score,
                "sentence_control": near.sentence_control,
                "pattern_found": bool(self.whole.patterns[name][i]),
            }
            for name, found in self.whole.locality.items()
            for i, near in enumerate(found)
        ]

    def locality_groups(self) -> list[Row]:
        """The machine's answer stands for people's: meaningful is where a pattern was found."""
        rows = self.locality()
        found = []
        for name in ["all", *self.whole.locality]:
            mine = [r for r in rows if name in ("all", r["corpus"])]
            groups = [
                np.array([r["sentence_locality"] for r in mine if r["pattern_found"] is f]) for f in (True, False)
            ]
            about = {"corpus": name, "sets_with_pattern": len(groups[0]), "sets_without": len(groups[1])}
            found.append(about | compared(*groups))
        return found

    def outliers(self) -> list[Row]:
        found = []
        for name, places in self.places.items():
            distances = self.distances[name]
            found.append(
                {
                    "corpus": name,
                    "texts": len(distances.mean),
                    "places": places.places,
                    "different_texts": places.different,
                    **{f"held_by_farthest_{share:g}": places.share_of(distances.farthest(share)) for share in FARTHEST},
                    "mean_distance": float(distances.mean.mean()),
                    "exact": bool((distances.half == 0).all()),
                }
            )
        return found

    def outlier_texts(self) -> list[Row]:
        found = []
        for name, places in self.places.items():
            distances, material = self.distances[name], self.materials[name]
            farthest = np.argsort(-distances.mean, kind="stable")[:OUTLIERS_SHOWN]
            for point, text in zip(farthest.tolist(), material.show(farthest), strict=True):
                found.append(
                    {
                        "corpus": name,
                        **material.points.place(point),
                        "mean_distance": float(distances.mean[point]),
                        "mean_distance_half": float(distances.half[point]),
                        "tops": places.held.get(point, 0),
                        "text": text,
                    }
                )
        return found

    def without_farthest(self) -> list[Row]:
        """The headline figures of all texts, and again with the farthest left out."""
        return [
            {
                "left_out": share,
                "overlap": m.overlap,
                "accuracy": m.separability.accuracy if m.separability else float("nan"),
                "monotonic_in_all": m.monotonic.shares[-1]["monotonic"],
                "locality": float(np.mean([x.score for found in m.locality.values() for x in found])),
                **{f"{r['kind']}_{c}": r[c] for c in ("illusion_rate", "pattern_share") for r in rates},
            }
            for share, m in {0.0: self.whole, **self.again}.items()
            for rates in [self.rates(m)]
        ]

    def random_sets(self) -> list[Row]:
        """Random sets of sentences, as many as a set of top sentences has: what a blind study needs beside them."""
        found = []
        for number, (name, material) in enumerate(self.materials.items()):
            points = material.points
            sets = random_sets(len(points), self.k, RANDOM_SETS_KEPT, RANDOM_SEED + number)
            texts = _texts(material, sets)
            found += [
                {"corpus": name, "set": i, **points.place(point), "text": texts[point]}
                for i, members in enumerate(sets.tolist())
                for point in members
            ]
        return found

    def corpora(self) -> list[Row]:
        """Vector lengths, and how far top sentences stay the same when every vector is scaled to length 1."""
        found = []
        for name, spread in self.spreads.items():
            scaled = ends(self.materials[name].points.unit(), self.directions.matrix, self.k)
            quantiles = dict(zip(("01", "25", "50", "75", "99"), spread.lengths.tolist(), strict=True))
            found.append(
                {
                    "corpus": name,
                    "texts": spread.moments.count,
                    **{f"length_q{q}": value for q, value in quantiles.items()},
                    "top_agreement_normalised": agreement(self.whole.ends[name], scaled),
                    "dead_dimensions": self.directions.dead,
                    "common_tokens": len(self.whole.monotonic.common),
                }
            )
        return found

    def purity(self) -> list[Row]:
        """How pure each direction is of the concepts named, where there are two or more."""
        concepts = self.directions.of_kind("concept")
        if len(concepts) < 2:
            return []
        scores = self.directions.matrix @ self.directions.matrix[concepts].T
        return [
            {"direction": name, "purity": float(value)}
            for name, value in zip(self.directions.names, purity(scores), strict=True)
        ]


def _texts(material: Material, points: Ints) -> dict[int, str]:
    """The texts of some points, by point: many directions have the same ones, and showing takes time."""
    different = np.unique(points)
    return dict(zip(different.tolist(), material.show(different), strict=True))

"""What was measured live, as the page is sent it."""

from __future__ import annotations

from typing import Any

import numpy as np

from theodolite.illusion import monotonic
from theodolite.illusion.points import Floats, Ints
from theodolite.illusion.reading import MEANING
from theodolite.reading import plain
from theodolite.studio.directions_book import sentences
from theodolite.studio.directions_live import Found, Live
from theodolite.studio.directions_models import (
    Curve,
    Curves,
    Direction,
    FalsePositives,
    Histogram,
    InCorpus,
    Pattern,
    Separator,
)


def direction_of(live: Live, found: Found, separator: Separator | None = None) -> Direction:
    """The page of a direction that no reading has."""
    verdict, false = found.verdict, found.false_positives
    where = [c for c, patterns in found.patterns.items() if patterns] or list(found.locality)
    return Direction(
        name=found.name,
        kind=found.kind,
        verdict=verdict.verdict,
        meaning=MEANING.get(verdict.verdict or ""),
        pattern=verdict.pattern.label if verdict.pattern else None,
        pattern_of=verdict.source,
        carried_to=list(verdict.carried_to),
        different_patterns=found.different,
        locality=float(np.mean([found.locality[c].score for c in where])),
        locality_control=float(np.mean([found.locality[c].control for c in where])),
        corpora=[_in_corpus(live, found, corpus) for corpus in found.ends],
        live=True,
        separator=separator,
        false_positives=FalsePositives(share=false.share, low=false.low, high=false.high, sets=false.sets),
        before=None,
        after=None,
    )


def curves_of(live: Live, found: Found) -> Curves:
    """Its tokens over fifths, and the distances around its top sentences."""
    return Curves(
        name=found.name,
        common_tokens=len(live.common),
        min_count=live.min_count,
        curves=[
            Curve(
                corpus=one.corpus,
                label=one.label,
                kind=one.kind,
                counts=one.counts.tolist(),
                change=int(monotonic.directions_of_change(one.counts)),
            )
            for one in found.curves
        ],
        histograms=[
            Histogram(
                corpus=corpus,
                low=around.low,
                high=around.high,
                **{kind: mass.tolist() for kind, mass in around.masses.items()},
                locality=found.locality[corpus].score,
                control=found.locality[corpus].control,
            )
            for corpus, around in found.around.items()
        ],
    )


def _in_corpus(live: Live, found: Found, corpus: str) -> InCorpus:
    ends, (above, below) = found.ends[corpus], found.deviations[corpus]
    patterns = [
        Pattern(pattern=p.label, kind=p.kind, hits=p.hits, p_adjusted=p.p_adjusted) for p in found.patterns[corpus]
    ]
    return InCorpus(
        corpus=corpus,
        patterns=patterns,
        top=sentences(_rows(live, corpus, ends.top[0], ends.top_scores[0], above), patterns),
        bottom=sentences(_rows(live, corpus, ends.bottom[0], ends.bottom_scores[0], below), []),
        locality=plain(float(found.locality[corpus].score)),
        control=plain(float(found.locality[corpus].control)),
    )


def _rows(live: Live, corpus: str, points: Ints, scores: Floats, deviations: Floats) -> list[dict[str, Any]]:
    material = live.corpora[corpus].material
    there = points >= 0
    texts = material.show(points[there])
    return [
        {**material.points.place(point), "score": float(score), "deviations": float(out), "text": text}
        for point, score, out, text in zip(points[there], scores[there], deviations[there], texts, strict=True)
    ]

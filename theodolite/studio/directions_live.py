"""Any direction measured at once, over vectors, pieces and features that were read beforehand."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import Covariance
from theodolite.illusion import monotonic
from theodolite.illusion.directions import Space, alive_dimensions
from theodolite.illusion.features import Feature
from theodolite.illusion.locality import BINS, Distances, Locality, Neighbourhoods, localities
from theodolite.illusion.measuring import RANDOM_SETS, FalsePositives, Material, Showing
from theodolite.illusion.patterns import Pattern, Tested, accepted, calibrated, find, patterns_of, random_sets, same
from theodolite.illusion.points import Floats, Ints, Spread, spread_of
from theodolite.illusion.tops import Ends, ends
from theodolite.illusion.verdicts import Verdict, different, judge
from theodolite.instrument import Progress
from theodolite.studio.directions_named import named_vector

TOKENS_SHOWN, WORDS_SHOWN = 4, 4
_REMEMBERED = 200
_KINDS = {"neuron": "neuron", "random": "random", "pc": "pca"}


@dataclass(frozen=True)
class Ready:
    """One corpus: its material, and what is asked of it for every direction, worked out once."""

    material: Material
    spread: Spread
    showing: Showing
    random: Tested
    counts: monotonic.Counts


@dataclass(frozen=True)
class CurveFound:
    """(5,) how often a piece occurs, or in how many texts a word is, in each fifth of a corpus."""

    corpus: str
    label: str
    kind: str
    counts: Ints


@dataclass(frozen=True)
class Around:
    """Histograms of the dot products around a corpus's top sentences, (bins,) each, from low to high."""

    low: float
    high: float
    masses: dict[str, Floats]


@dataclass(frozen=True)
class Found:
    """A direction over all corpora."""

    name: str
    kind: str
    ends: dict[str, Ends]
    deviations: dict[str, tuple[Floats, Floats]]
    patterns: dict[str, tuple[Pattern, ...]]
    false_positives: FalsePositives
    locality: dict[str, Locality]
    around: dict[str, Around]
    verdict: Verdict[Pattern]
    different: int
    curves: list[CurveFound]


class Live:
    """The corpora of a survey as points in the space of its illusion reading."""

    def __init__(
        self,
        materials: Mapping[str, Material],
        options: Mapping[str, Any],
        piece: Callable[[int], str],
        progress: Progress,
    ) -> None:
        self.top, self.min_count, self.seed = (int(options[name]) for name in ("top", "min_count", "seed"))
        self.common = monotonic.common_tokens([m.pieces.ids for m in materials.values()], self.min_count)
        self._piece = piece
        self.corpora: dict[str, Ready] = {}
        with progress.step("what every direction needs", sum(len(m.points) for m in materials.values())):
            for number, (name, material) in enumerate(materials.items()):
                self.corpora[name] = self._ready(number, material)
                progress.advance(len(material.points))
        self.space = self._space()
        self._known: OrderedDict[str, Found] = OrderedDict()
        self._lock = threading.Lock()

    def _ready(self, number: int, material: Material) -> Ready:
        sets = random_sets(len(material.points), self.top, RANDOM_SETS, self.seed + number)
        return Ready(
            material,
            spread_of(material.points),
            Showing(material.features),
            find(material.features, sets),
            monotonic.counts_of(material.pieces.ids, material.pieces.bounds, self.common),
        )

    def _space(self) -> Space:
        spreads = [one.spread for one in self.corpora.values()]
        together = Covariance(len(spreads[0].smallest))
        for spread in spreads:
            together.merge(spread.moments)
        covariance = together.result()[2]
        alive = alive_dimensions([s.smallest for s in spreads], [s.largest for s in spreads])
        return Space(len(covariance), alive, covariance, None)

    def vector(self, name: str) -> Floats:
        """(d,) the direction neuron N, random N or pc N."""
        space = self.space
        return named_vector(
            name, space.dim, self.seed, changes=lambda n: n in space.alive, covariance=lambda: space.covariance
        )

    def found(self, name: str, vector: Floats | None = None) -> Found:
        """A direction measured, or remembered; of one that its name does not make, the vector (d,) is given."""
        with self._lock:
            if name in self._known:
                self._known.move_to_end(name)
                return self._known[name]
        measured = self._measure(name, self.vector(name) if vector is None else vector)
        with self._lock:
            self._known[name] = measured
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return measured

    def _measure(self, name: str, vector: Floats) -> Found:
        matrix = vector[None]
        tops = {c: ends(one.material.points, matrix, self.top) for c, one in self.corpora.items()}
        tested = {c: find(one.material.features, tops[c].top) for c, one in self.corpora.items()}
        features = {c: one.material.features for c, one in self.corpora.items()}
        patterns = {c: found[0] for c, found in patterns_of(tested, features).items()}
        calibration = calibrated([one.random for one in self.corpora.values()], accepted(tested))
        distances = {
            c: Neighbourhoods(one.material.points, tops[c].top, self.seed).around(tops[c].top)
            for c, one in self.corpora.items()
        }
        near = {c: localities(found)[0] for c, found in distances.items()}
        groups = {c: monotonic.quintiles(_scores(one.material, vector)[:, None]) for c, one in self.corpora.items()}
        where = [near[c] for c, found in patterns.items() if found]
        verdict = judge(
            patterns,
            same,
            lambda pattern, corpus: self.corpora[corpus].showing.change(pattern, groups[corpus][:, 0]),
            local=bool(where) and float(np.mean([x.score - x.control for x in where])) > 0,
        )
        return Found(
            name=name,
            kind=_KINDS.get(name.partition(" ")[0], "concept"),
            ends=tops,
            deviations={c: self._deviations(c, tops[c], matrix) for c in tops},
            patterns=patterns,
            false_positives=FalsePositives(*calibration, RANDOM_SETS * len(self.corpora)),
            locality=near,
            around={c: _histograms(found) for c, found in distances.items()},
            verdict=verdict,
            different=different(patterns, same),
            curves=[*self._token_curves(groups), *self._word_curves(groups, patterns)],
        )

    def _deviations(self, corpus: str, found: Ends, matrix: Floats) -> tuple[Floats, Floats]:
        """(k,) of the top and of the bottom: how far out, in standard deviations of all projections."""
        mean, deviation = (float(x[0]) for x in self.corpora[corpus].spread.of(matrix))
        wide = deviation or 1.0
        return (found.top_scores[0] - mean) / wide, (found.bottom_scores[0] - mean) / wide

    def _token_curves(self, groups: Mapping[str, NDArray[np.uint8]]) -> list[CurveFound]:
        """The tokens that change steadily in most corpora, and of those the ones that change most."""
        if not len(self.common):
            return []
        n = len(self.common)
        counted = {c: monotonic.group_counts(one.counts, groups[c], n)[0] for c, one in self.corpora.items()}
        steady = sum(np.abs(monotonic.directions_of_change(c)).astype(np.int64) for c in counted.values())
        swing = sum(np.ptp(c, axis=1) / np.maximum(c.sum(axis=1), 1) for c in counted.values())
        chosen = np.lexsort((-np.asarray(swing), -np.asarray(steady)))[:TOKENS_SHOWN].tolist()
        return [
            CurveFound(corpus, self._piece(int(self.common[token])), "token", counts[token])
            for corpus, counts in counted.items()
            for token in chosen
        ]

    def _word_curves(
        self, groups: Mapping[str, NDArray[np.uint8]], patterns: Mapping[str, Sequence[Pattern]]
    ) -> list[CurveFound]:
        """The words of the strongest patterns: what carries a pattern over is that they rise elsewhere too."""
        ranked = sorted((p for found in patterns.values() for p in found if p.kind != "form"), key=_strength)
        words: list[Feature] = list(dict.fromkeys(p.features[0] for p in ranked))[:WORDS_SHOWN]
        return [
            CurveFound(corpus, word.label, "word", one.showing.counts(word, groups[corpus][:, 0]))
            for corpus, one in self.corpora.items()
            for word in words
        ]


def _strength(pattern: Pattern) -> tuple[float, int]:
    return pattern.p_adjusted, -pattern.hits


def _scores(material: Material, vector: Floats) -> NDArray[Any]:
    return np.concatenate([block @ vector.astype(block.dtype) for block in material.points.blocks()])


def _histograms(distances: Distances) -> Around:
    """Of one direction, as the report draws them."""
    pairs = np.triu_indices(distances.top.shape[1], 1)
    sets = {
        "nearest": distances.nearest[0].ravel(),
        "top": distances.top[0][pairs],
        "random": distances.random[0].ravel(),
    }
    edges = np.histogram_bin_edges(np.concatenate(list(sets.values())), BINS)
    masses = {kind: np.histogram(values, edges)[0] / len(values) for kind, values in sets.items()}
    return Around(float(edges[0]), float(edges[-1]), masses)

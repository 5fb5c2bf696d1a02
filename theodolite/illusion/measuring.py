"""All measures of the instrument on one choice of texts, so that they can be taken again with outliers left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.illusion import monotonic
from theodolite.illusion.directions import Directions
from theodolite.illusion.features import Feature, Features
from theodolite.illusion.locality import Locality, Neighbourhoods, localities
from theodolite.illusion.patterns import Pattern, accepted, calibrated, find, patterns_of, random_sets, same
from theodolite.illusion.pieces import Pieces
from theodolite.illusion.points import Ints, Points
from theodolite.illusion.separability import Separability, separability
from theodolite.illusion.tops import Ends, ends, ranges_overlap
from theodolite.illusion.verdicts import Verdict, different, judge
from theodolite.instrument import Progress

# Directions whose scores are held at once, (texts, so many).
AT_ONCE = 64
RANDOM_SETS = 400

Patterns = Mapping[str, Sequence[Sequence[Pattern]]]


@dataclass(frozen=True)
class Material:
    """Of one corpus, all for the same n points: their vectors, pieces, and features that a pattern can be.

    show: the texts of some points as a person is to see them.
    """

    points: Points
    pieces: Pieces
    features: Features
    show: Callable[[Ints], list[str]]

    def without(self, left_out: Ints) -> Material:
        """The same with some of the points left out."""
        stays = np.setdiff1d(np.arange(len(self.points)), left_out)
        return Material(
            self.points.without(left_out),
            self.pieces.take(stays),
            self.features.take(stays),
            lambda which: self.show(stays[which]),
        )


@dataclass(frozen=True)
class Choices:
    """The options that the measures depend on."""

    top: int
    min_count: int
    svm_texts: int
    seed: int


@dataclass(frozen=True)
class Monotonic:
    """shares: a row for each combination of corpora, with the shuffled baseline; tokens: (token, neurons) of those
    monotonic for most neurons in all corpora; common: how many tokens were looked at.
    """

    shares: list[dict[str, Any]]
    tokens: list[tuple[int, int]]
    common: Ints


@dataclass(frozen=True)
class FalsePositives:
    """Share of random sets of sentences in which a pattern is found under the threshold that the real ones met."""

    share: float
    low: float
    high: float
    sets: int


@dataclass(frozen=True)
class Measured:
    """Everything, by corpus where a mapping: patterns[corpus][direction], locality[corpus][direction]."""

    ends: dict[str, Ends]
    overlap: float
    separability: Separability | None
    monotonic: Monotonic
    locality: dict[str, list[Locality]]
    patterns: Patterns
    false_positives: FalsePositives
    verdicts: list[Verdict[Pattern]]
    different: list[int]


def measure(
    materials: Mapping[str, Material], directions: Directions, choices: Choices, progress: Progress
) -> Measured:
    """Take every measure on these texts."""
    everyone = sum(len(m.points) for m in materials.values())
    tops: dict[str, Ends] = {}
    with progress.step("top sentences", everyone):
        for name, material in materials.items():
            tops[name] = ends(material.points, directions.matrix, choices.top)
            progress.advance(len(material.points))
    near: dict[str, list[Locality]] = {}
    with progress.step("neighbours of the top sentences", everyone):
        for name, material in materials.items():
            around = Neighbourhoods(material.points, tops[name].top, choices.seed)
            near[name] = localities(around.around(tops[name].top))
            progress.advance(len(material.points))
    found, false_positives = _patterns(materials, tops, choices, progress)
    with _one_step(progress, "telling corpora apart"):
        told = None
        if len(materials) > 1:
            told = separability({n: m.points for n, m in materials.items()}, choices.seed, choices.svm_texts)
    neurons = directions.of_kind("neuron")
    tokens = monotonic_tokens(materials, directions.numbers[neurons], choices, progress)
    return Measured(
        ends=tops,
        overlap=ranges_overlap({n: _only(e, neurons) if len(neurons) else e for n, e in tops.items()}),
        separability=told,
        monotonic=tokens,
        locality=near,
        patterns=found,
        false_positives=false_positives,
        verdicts=list(_verdicts(materials, directions.matrix, found, near, progress)),
        different=[different({n: found[n][i] for n in found}, same) for i in range(len(directions))],
    )


def monotonic_tokens(
    materials: Mapping[str, Material], neurons: Ints, choices: Choices, progress: Progress
) -> Monotonic:
    """Measure 4: the tokens common to all corpora, along every neuron, with the baseline of shuffled activations."""
    common = monotonic.common_tokens([m.pieces.ids for m in materials.values()], choices.min_count)
    changes, shuffled = [], []
    width = next(next(iter(materials.values())).points.blocks()).shape[1]
    with progress.step("monotonic tokens", sum(len(m.points) for m in materials.values())):
        for i, material in enumerate(materials.values()):
            counts = monotonic.counts_of(material.pieces.ids, material.pieces.bounds, common)
            seed = choices.seed * 1000 + i
            real, chance = monotonic.change_of_columns(
                material.points.blocks, counts, width, len(common), shuffle_seed=seed
            )
            assert chance is not None
            changes.append(real[neurons])
            shuffled.append(chance[neurons])
            progress.advance(len(material.points))
    names = list(materials)
    rows = monotonic.shares(changes, names)
    for row, chance_row in zip(rows, monotonic.shares(shuffled, names), strict=True):
        row["baseline_shuffled"] = chance_row["monotonic"]
    return Monotonic(rows, monotonic.most_monotonic(changes, common, 20), common)


def _patterns(
    materials: Mapping[str, Material], tops: Mapping[str, Ends], choices: Choices, progress: Progress
) -> tuple[Patterns, FalsePositives]:
    tested, random = {}, []
    with progress.step("patterns", sum(len(m.points) for m in materials.values())):
        for i, (name, m) in enumerate(materials.items()):
            tested[name] = find(m.features, tops[name].top)
            sets = random_sets(len(m.points), choices.top, RANDOM_SETS, choices.seed + i)
            random.append(find(m.features, sets))
            progress.advance(len(m.points))
        found = patterns_of(tested, {name: m.features for name, m in materials.items()})
    share, low, high = calibrated(random, accepted(tested))
    return found, FalsePositives(share, low, high, RANDOM_SETS * len(materials))


def _verdicts(
    materials: Mapping[str, Material],
    matrix: NDArray[Any],
    found: Patterns,
    near: Mapping[str, Sequence[Locality]],
    progress: Progress,
) -> Iterator[Verdict[Pattern]]:
    columns = {name: Showing(m.features) for name, m in materials.items()}
    with progress.step("verdicts", len(matrix)):
        for begin in range(0, len(matrix), AT_ONCE):
            which = range(begin, min(begin + AT_ONCE, len(matrix)))
            groups = {name: monotonic.quintiles(_scores(m.points, matrix[which])) for name, m in materials.items()}
            for i in which:
                mine = {name: list(found[name][i]) for name in found}

                along = {name: groups[name][:, i - begin] for name in groups}
                where = [near[name][i] for name, patterns in mine.items() if patterns]
                local = bool(where) and np.mean([x.score - x.control for x in where]) > 0
                yield judge(mine, same, _change(columns, along), local=bool(local))
            progress.advance(len(which))


def _change(showing: Mapping[str, Showing], along: Mapping[str, NDArray[np.uint8]]) -> Callable[[Pattern, str], int]:
    return lambda pattern, corpus: showing[corpus].change(pattern, along[corpus])


class Showing:
    """Which texts of a corpus show a feature."""

    def __init__(self, features: Features) -> None:
        self._texts = features.matrix.tocsc()
        self._column = {feature: i for i, feature in enumerate(features.names)}

    def change(self, pattern: Pattern, groups: NDArray[np.uint8]) -> int:
        """1 where every word of a pattern is in more texts from each fifth to the next, −1 fewer; 0 else."""
        if pattern.kind == "form":
            return 0
        found = {int(monotonic.directions_of_change(self.counts(feature, groups))) for feature in pattern.features}
        return found.pop() if len(found) == 1 else 0

    def counts(self, feature: Feature, groups: NDArray[np.uint8]) -> Ints:
        """(5,) how many texts of each group show a feature."""
        column = self._column.get(feature)
        if column is None:
            return np.zeros(monotonic.GROUPS, np.int64)
        texts = self._texts.indices[self._texts.indptr[column] : self._texts.indptr[column + 1]]
        return np.bincount(groups[texts], minlength=monotonic.GROUPS)


def _scores(points: Points, matrix: NDArray[Any]) -> NDArray[Any]:
    """(n, m) dot products."""
    return np.concatenate([block @ matrix.T.astype(block.dtype) for block in points.blocks()])


def _only(found: Ends, which: Ints) -> Ends:
    return Ends(found.top_scores[which], found.top[which], found.bottom_scores[which], found.bottom[which])


@contextmanager
def _one_step(progress: Progress, title: str) -> Iterator[None]:
    with progress.step(title, 1):
        yield
        progress.advance(1)

"""The illusion instrument: does a direction mean the same thing in every corpus?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from theodolite.accumulate import Covariance
from theodolite.corpus import Corpus
from theodolite.embed import Embeddings, KeepEmbeddings
from theodolite.errors import InputError
from theodolite.illusion.directions import Directions, Space, alive_dimensions, directions
from theodolite.illusion.features import features_of
from theodolite.illusion.findings import POINTS, findings, story
from theodolite.illusion.illustrations import histogram_rows, quintile_rows
from theodolite.illusion.measuring import Choices, Material, Measured, measure
from theodolite.illusion.outliers import MeanDistances, mean_distances
from theodolite.illusion.pieces import KeepPieces, Pieces, pieces_of_words
from theodolite.illusion.points import Ints, Points, Spread, spread_of
from theodolite.illusion.reading import IllusionReading
from theodolite.illusion.single_tokens import each_alone, marked, positions_of, token_features
from theodolite.illusion.tables import Tables
from theodolite.instrument import Instrument, Passes, Progress, Stages, Subject
from theodolite.options import option, seed_option
from theodolite.projection import fit_map

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.encoder.tokens import Tokenizer

AT_LEAST = 50
# Shares of the farthest texts that the summary is taken again without.
WITHOUT = (0.01, 0.1)


@dataclass(frozen=True)
class Illusion(Instrument):
    """Top sentences of every direction in every corpus, what they have in common, and whether it carries over."""

    name: ClassVar[str] = "illusion"
    question: ClassVar[str] = "Does a neuron, or any direction, mean the same thing in every corpus?"
    reading: ClassVar[type[IllusionReading]] = IllusionReading

    unit: str = option("text", "What a point is: a whole text, or each of its tokens.", choices=("text", "token"))
    layer: int = option(-1, "The layer: 0 is the embedding layer, -1 the last.")
    pooling: str = option("own", "How tokens become one vector.", choices=("own", "cls", "mean", "max"))
    directions: str = option(
        "neurons,random:100",
        "Which directions: a list of neurons, random:N, pca:N, file:X.npy, concept:POSITIVE.txt:NEGATIVE.txt.",
        metavar="LIST",
    )
    neuron: tuple[str, ...] = option(
        (), "A neuron to show side by side over the corpora; repeatable.", metavar="NUMBER"
    )
    top: int = option(10, "How many sentences at each end of a direction.", minimum=3)
    min_count: int = option(100, "A token must occur this often in every corpus to be followed.", minimum=1)
    normalize: bool = option(False, "Scale every vector to length 1 first.")
    without_farthest: float = option(
        0.0, "Leave out this share of each corpus, the farthest from all others.", minimum=0
    )
    svm_texts: int = option(5000, "At most this many texts of each corpus train and test the separator.", minimum=10)
    map: str = option("umap", "How the map of all corpora is made.", choices=("umap", "tsne", "none"))
    landmarks: int = option(20_000, "At most this many texts make the map; the others are placed on it.", minimum=10)
    seed: int = seed_option()

    def unfit_encoder(self, encoder: Encoder) -> str | None:
        return self.untouched(encoder) if self.unit == "token" else None

    def unfit(self, corpora: Sequence[Corpus]) -> str | None:
        if self.without_farthest >= 1:
            return f"--without-farthest {self.without_farthest:g}: a share below 1 is wanted"
        for corpus in corpora:
            texts = int((~corpus.empty & ~corpus.duplicate).sum())
            if texts < AT_LEAST:
                return f"{corpus.name} has {texts} different texts, and its top sentences mean little below {AT_LEAST}"
            if 2 * self.top > texts:
                return f"--top {self.top}: more than half of the {texts} different texts of {corpus.name}"
        return None

    def passes(self, subject: Subject) -> Passes:
        asked = [self._neuron(n, subject.dim) for n in self.neuron]
        kept: Mapping[str, Embeddings] = yield KeepEmbeddings(
            subject, layer=self.layer, pooling=self.pooling, unit=self.unit
        )
        pieces: Mapping[str, Pieces] | None = (yield KeepPieces()) if subject.layers else None
        materials, piece = self._materials(subject, kept, pieces)
        distances = _distances(materials, self.seed)
        if self.without_farthest:
            materials = _without(materials, distances, self.without_farthest)
            distances = _distances(materials, self.seed)
        spreads = {name: spread_of(m.points) for name, m in materials.items()}
        made = directions(self.directions, self._space(subject, spreads), self.seed)
        choices = Choices(self.top, self.min_count, self.svm_texts, self.seed)
        whole = measure(materials, made, choices, subject.progress)
        again = {
            share: measure(_without(materials, distances, share), made, choices, subject.progress) for share in WITHOUT
        }
        tables = Tables(subject, materials, made, spreads, distances, whole, again, piece).all()
        shown = [f"neuron {n}" for n in asked if f"neuron {n}" in made.names] or [_best(tables)]
        tables |= _illustrations(shown, materials, made, whole, piece, self.seed)
        if self.map != "none":
            tables["map"] = self._map(materials, subject.progress)
        return IllusionReading(tables, findings(subject.encoder, tables, shown[0], POINTS[self.unit]))

    def _materials(
        self, subject: Subject, kept: Mapping[str, Embeddings], pieces: Mapping[str, Pieces] | None
    ) -> tuple[dict[str, Material], Callable[[int], str]]:
        """What is measured, and how a piece is called."""
        found = {}
        vocabulary: dict[str, int] = {}
        with subject.progress.step("features", sum(len(c) for c in subject.corpora)):
            for name, embeddings in kept.items():
                points, corpus = self._points(name, embeddings), subject.corpus(name)
                if self.unit == "token":
                    assert pieces is not None
                    found[name] = _tokens_of(points, pieces[name], corpus, subject.model.tokenizer)
                else:
                    found[name] = _texts_of(points, None if pieces is None else pieces[name], corpus, vocabulary)
                subject.progress.advance(len(corpus))
        words = list(vocabulary)
        return found, subject.model.tokenizer.piece if pieces is not None else words.__getitem__

    def _points(self, name: str, embeddings: Embeddings) -> Points:
        rows = np.concatenate([rows for rows, _ in embeddings.blocks()])
        positions = positions_of(rows) if self.unit == "token" else None
        found = Points(name, rows, lambda: (vectors for _, vectors in embeddings.blocks()), positions=positions)
        return found.unit() if self.normalize else found

    def _space(self, subject: Subject, spreads: Mapping[str, Spread]) -> Space:
        together = Covariance(len(next(iter(spreads.values())).smallest))
        for spread in spreads.values():
            together.merge(spread.moments)
        _, mean, covariance = together.result()
        alive = alive_dimensions([s.smallest for s in spreads.values()], [s.largest for s in spreads.values()])
        if not len(alive):
            raise InputError("every vector is the same in every dimension: there is nothing to rank")

        def embed(texts: Sequence[str]) -> Any:
            return subject.model.embed(texts, pooling=self.pooling, layer=self.layer)

        return Space(len(mean), alive, covariance, embed if subject.layers else None)

    def _neuron(self, given: str, dim: int) -> int:
        if not given.isdigit() or int(given) >= dim:
            raise InputError(f"--neuron {given}: this encoder has neurons 0 to {dim - 1}")
        return int(given)

    def _map(self, materials: Mapping[str, Material], progress: Progress) -> pa.Table:
        """Corpus, row and place (x, y) of every text; of tokens, which are many more, as many as there are landmarks.

        Made from vectors of length 1: among raw ones a few long vectors are everybody's neighbours, and the map shows
        little else.
        """
        bar = Stages(progress)
        points = {name: m.points.unit() for name, m in materials.items()}
        everyone = sum(map(len, points.values()))
        if self.unit == "token" and everyone > self.landmarks:
            points = {name: _thinned(p, self.landmarks / everyone, self.seed) for name, p in points.items()}
        blocks = {name: p.blocks for name, p in points.items()}
        method: Any = self.map
        made = fit_map(blocks, method=method, landmarks=self.landmarks, seed=self.seed, progress=bar)
        parts = []
        for name, mine in points.items():
            places = made.places(blocks[name], name=name, progress=bar)
            columns: dict[str, Any] = {"corpus": pa.array([name] * len(places)).dictionary_encode(), "row": mine.rows}
            if mine.positions is not None:
                columns["position"] = mine.positions
            parts.append(pa.table({**columns, "x": places[:, 0], "y": places[:, 1]}))
        bar.close()
        return pa.concat_tables(parts).unify_dictionaries()


def _texts_of(points: Points, pieces: Pieces | None, corpus: Corpus, vocabulary: dict[str, int]) -> Material:
    """Texts as points; words stand for pieces where there is no tokenizer, and enter the vocabulary."""
    texts = [corpus.text(row) for row in points.rows.tolist()]
    if pieces is None:
        mine = pieces_of_words(texts, points.rows, vocabulary)
    else:
        mine = pieces.take(np.searchsorted(pieces.rows, points.rows))
    return Material(points, mine, features_of(texts), lambda at: [corpus.text(row) for row in points.rows[at].tolist()])


def _tokens_of(points: Points, pieces: Pieces, corpus: Corpus, tokenizer: Tokenizer) -> Material:
    """Tokens as points."""
    positions = positions_of(points.rows)

    def show(at: Ints) -> list[str]:
        return marked(corpus, tokenizer, points.rows[at], positions[at])

    return Material(points, each_alone(pieces), token_features(pieces, tokenizer.piece), show)


def _thinned(points: Points, share: float, seed: int) -> Points:
    """A random share of the points, at least one."""
    kept = max(1, round(share * len(points)))
    order = np.random.default_rng(seed).permutation(len(points))
    return points.without(order[kept:])


def _distances(materials: Mapping[str, Material], seed: int) -> dict[str, MeanDistances]:
    return {name: mean_distances(m.points, seed) for name, m in materials.items()}


def _without(
    materials: Mapping[str, Material], distances: Mapping[str, MeanDistances], share: float
) -> dict[str, Material]:
    return {name: m.without(distances[name].farthest(share)) for name, m in materials.items()}


def _best(tables: Mapping[str, pa.Table]) -> str:
    """The direction that shows the illusion best; the first of all where none has a pattern."""
    verdicts = tables["verdicts"].to_pylist()
    patterns = tables["patterns"].to_pylist() if "patterns" in tables else []
    return story(verdicts, patterns) or str(verdicts[0]["direction"])


def _illustrations(
    shown: Sequence[str],
    materials: Mapping[str, Material],
    made: Directions,
    whole: Measured,
    piece: Callable[[int], str],
    seed: int,
) -> dict[str, pa.Table]:
    """Which directions are shown; of them the tokens over fifths; and distances around two telling directions."""
    rows: dict[str, list[dict[str, Any]]] = {"shown": [{"direction": name} for name in shown], "quintiles": []}
    for name in shown:
        direction = made.matrix[made.names.index(name)]
        rows["quintiles"] += quintile_rows(name, direction, materials, whole.monotonic.common, piece)
    corpus = next(iter(materials))
    scores = [near.score for near in whole.locality[corpus]]
    with_pattern = [i for i, found in enumerate(whole.patterns[corpus]) if found]
    without = [i for i, found in enumerate(whole.patterns[corpus]) if not found]
    telling = [max(with_pattern, key=scores.__getitem__)] if with_pattern else []
    telling += [min(without, key=scores.__getitem__)] if without else []
    ends = whole.ends[corpus]
    rows["distances"] = histogram_rows(made.names, telling, corpus, materials[corpus], ends, seed) if telling else []
    return {name: pa.Table.from_pylist(found) for name, found in rows.items() if found}

"""One corpus's maps by one method, represented, clustered, marked and searched."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import wilson
from theodolite.corpus import Corpus
from theodolite.salience.clusters import Cluster, cluster, describe
from theodolite.salience.maps import Ints, TextMaps
from theodolite.salience.markers import best_cluster
from theodolite.salience.neighbours import nearest, shared_terms
from theodolite.salience.representations import Represented, represent, salience_vocab
from theodolite.salience.suspicion import Suspicion, suspicion
from theodolite.salience.vocabulary import Vocabulary

Row = dict[str, Any]
ALL = "all"


@dataclass(frozen=True)
class Space:
    """One representation of the texts that are looked at."""

    name: str
    whole: Represented
    # (n, columns) sparse, whose columns are terms: the representation itself where it is sparse.
    terms: Any

    @property
    def items(self) -> Ints | None:
        """What the columns of the terms stand for, see ``Represented``."""
        return self.whole.items


@dataclass(frozen=True)
class Grouping:
    """Clusters of the texts of one predicted class (or of all) in one representation.

    texts: (m,) which of the texts; labels: (m,) their clusters.
    """

    space: Space
    within: str
    texts: Ints
    labels: Ints
    clusters: list[Cluster]
    suspicions: list[Suspicion]


@dataclass
class Analysis:
    """The texts of a corpus that are looked at, and what was made of their maps by one method.

    maps: of these texts alone; cls: (n, d) their last layer's CLS vectors, where wanted; classes: names by number;
    values: (n,) of a regression the numbers that are their labels, NaN where there is none.
    """

    corpus: Corpus
    method: str
    maps: TextMaps
    vocabulary: Vocabulary
    classes: Sequence[str]
    top_k: int | None
    cls: NDArray[Any] | None = None
    values: NDArray[np.float64] | None = None
    spaces: dict[str, Space] = field(default_factory=dict)

    def space(self, name: str, like: Space | None = None) -> Space:
        """A representation, made once; ``like`` that of another corpus, so that the two can be compared."""
        if like is not None:
            return self._space(name, like)
        if name not in self.spaces:
            self.spaces[name] = self._space(name, None)
        return self.spaces[name]

    def _space(self, name: str, like: Space | None) -> Space:
        found = represent(
            name,
            self.maps,
            vocabulary=self.vocabulary.size,
            embedding=self.vocabulary.embedding,
            cls=self.cls,
            top_k=self.top_k,
            like=like.whole if like else None,
        )
        if found.items is None:
            return Space(name, found, salience_vocab(self.maps, self.vocabulary.size, self.top_k))
        return Space(name, found, found.matrix)

    def only(self, texts: Sequence[int]) -> Analysis:
        """The same of some of the texts."""
        which = np.asarray(texts, np.int64)
        cls, values = (None if each is None else each[which] for each in (self.cls, self.values))
        return replace(self, maps=self.maps.take(which), cls=cls, values=values, spaces={})

    def within(self, wanted: str) -> Iterator[tuple[str, Ints]]:
        """Each part that is clustered by itself, a class and the texts answered so; wanted: its name, each or all."""
        if wanted == ALL or self.maps.classes == 1:
            yield ALL, np.arange(len(self.maps))
            return
        for number, name in enumerate(self.classes):
            if wanted in ("each", name):
                yield name, np.flatnonzero(self.maps.predicted == number)

    def grouping(self, space: Space, within: str, texts: Ints, k: int, seed: int) -> Grouping:
        """Clusters of some of the texts, with how suspicious each is."""
        matrix = space.whole.matrix[texts]
        labels = cluster(matrix, k, seed)
        keep = self.vocabulary.may_name(space.items)
        terms = space.terms[texts]
        predicted, true = self.maps.predicted[texts], self.maps.labels[texts]
        clusters = describe(matrix, labels, terms, keep, predicted, true)
        return Grouping(space, within, texts, labels, clusters, suspicion(terms, labels, predicted, keep))

    def cluster_rows(self, found: Grouping) -> Iterator[Row]:
        """A row a cluster, the most suspicious first."""
        for place, judged in enumerate(found.suspicions, 1):
            one = found.clusters[judged.cluster]
            yield {
                **self.about(found),
                "rank": place,
                "id": one.id,
                "size": one.size,
                "share": one.share,
                "terms": [self.named(found.space, item) for item, _ in one.terms],
                "values": [value for _, value in one.terms],
                **{part: getattr(one, part) for part in ("accuracy", "accuracy_low", "accuracy_high")},
                "suspicion": judged.score,
                **{part: getattr(judged, part) for part in ("purity", "concentration", "distinctness")},
                "leans_to": None if self.maps.classes == 1 else self.classes[judged.predicted],
                "answers": [] if self.maps.classes == 1 else self._counted(one.predicted),
                "true": self._counted(one.true),
            }

    def example_rows(self, found: Grouping, most: int) -> Iterator[Row]:
        """The texts nearest to each cluster's centre, coloured by their salience."""
        for one in found.clusters:
            for member in one.examples[:most]:
                yield {**self.about(found), "id": one.id, **self.text_row(int(found.texts[member]))}

    def marker_row(self, found: Grouping, marked: NDArray[np.bool_]) -> Row | None:
        """The cluster that gathers the marked texts best; None where there are none.

        baseline: the share of marked ones among all that were clustered, which is the precision of any random cluster.
        The intervals (Wilson) are of the cluster as it is; that it is the best of several is not in them.
        """
        mine = marked[self.maps.rows[found.texts]]
        if not mine.any():
            return None
        best = best_cluster(found.labels, mine)
        inside = found.labels == best.cluster
        hits, marks = int((inside & mine).sum()), int(mine.sum())
        precision_low, precision_high = wilson(hits, int(inside.sum()))
        recall_low, recall_high = wilson(hits, marks)
        return {
            **self.about(found),
            "clusters": len(found.clusters),
            **asdict(best),
            "marked": marks,
            "baseline": marks / len(mine),
            "precision_low": precision_low,
            "precision_high": precision_high,
            "recall_low": recall_low,
            "recall_high": recall_high,
        }

    def neighbour_rows(
        self, text: int, other: Analysis, name: str, count: int, may: NDArray[np.bool_] | None = None
    ) -> Iterator[Row]:
        """The texts of another analysis (or this one) nearest to one of these, with the terms they share.

        may: (n,) which texts of the other may be found; all where not given.
        """
        space, keep = other.space(name), self.vocabulary.may_name(other.space(name).items)
        if other is self:
            more, query, its_terms = 1, space.whole.matrix[[text]], space.terms[[text]]
        else:
            # Of another corpus' columns and weights no text needs the others of its own.
            mine = self.only([text]).space(name, like=space)
            more, query, its_terms = 0, mine.whole.matrix, mine.terms
        rows, cosines = nearest(space.whole.matrix, query, count + more, among=may)
        pairs = zip(rows[0].tolist(), cosines[0].tolist(), strict=True)
        # A text that shares nothing is no neighbour.
        found = [(row, cosine) for row, cosine in pairs if cosine > 0 and not (more and row == text)]
        for rank, (row, cosine) in enumerate(found[:count], 1):
            terms = [t for t in shared_terms(its_terms, space.terms[[row]], 20) if keep[t[0]]][:5]
            yield {
                "corpus": self.corpus.name,
                "method": self.method,
                "representation": name,
                "row": int(self.maps.rows[text]),
                "asked": self.shown(text),
                "rank": rank,
                "neighbour_corpus": other.corpus.name,
                "neighbour_row": int(other.maps.rows[row]),
                "cosine": cosine,
                "shared_terms": [other.named(space, item) for item, _ in terms],
                "label": other.class_name(int(other.maps.labels[row])),
                "value": other.value(row),
                "predicted": other.answer(row),
                "text": other.shown(row),
            }

    def named(self, space: Space, column: int) -> str:
        """A column of a space's terms as people read it."""
        return self.vocabulary.named(space.items, column, self._going_on)

    @cached_property
    def _going_on(self) -> NDArray[np.bool_]:
        return self.vocabulary.going_on(self.maps)

    def about(self, found: Grouping) -> Row:
        return {
            "corpus": self.corpus.name,
            "method": self.method,
            "representation": found.space.name,
            "predicted": found.within,
        }

    def shown(self, text: int) -> str:
        return shown(self.corpus, int(self.maps.rows[text]))

    def text_row(self, text: int) -> Row:
        """A text with its tokens' places and weights: what a coloured text is drawn from."""
        row, maps = int(self.maps.rows[text]), self.maps
        span = slice(maps.bounds[text], maps.bounds[text + 1])
        second = self.corpus.texts_b(row, row + 1)
        return {
            "row": row,
            "label": self.class_name(int(maps.labels[text])),
            "value": self.value(text),
            "answer": self.answer(text),
            "probability": float(maps.probabilities[text].max()) if maps.classes > 1 else None,
            "text": self.corpus.text(row),
            "text_b": second[0] if second else None,
            "side": maps.side[span].tolist(),
            "start": maps.start[span].tolist(),
            "end": maps.end[span].tolist(),
            "weight": maps.weights[span].astype(float).tolist(),
        }

    def _counted(self, texts: Mapping[int, int]) -> list[str]:
        return [f"{self.classes[number]}: {count}" for number, count in texts.items()]

    def class_name(self, number: int) -> str | None:
        return None if number < 0 else self.classes[number]

    def value(self, text: int) -> float | None:
        """The number that is a text's label, of a regression."""
        found = math.nan if self.values is None else float(self.values[text])
        return None if math.isnan(found) else found

    def answer(self, text: int) -> str:
        """The predicted class by name; of a regression the value."""
        if self.maps.classes == 1:
            return f"{float(self.maps.logits[text, 0]):.3g}"
        return self.classes[int(self.maps.predicted[text])]


def shown(corpus: Corpus, row: int) -> str:
    """A text to be read; of a pair both."""
    return " ‖ ".join([corpus.text(row), *(corpus.texts_b(row, row + 1) or [])])

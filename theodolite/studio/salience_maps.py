"""The maps behind a reading, where they are still in the store: single ones, neighbours, the texts of clusters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from theodolite.corpus import Corpus, Shard
from theodolite.embed import Embeddings, KeepEmbeddings
from theodolite.encoder.maps import Question
from theodolite.instrument import Silent, Subject
from theodolite.kept import KeepTables
from theodolite.reading import Reading
from theodolite.running.plan import map_rows
from theodolite.salience.analysis import Analysis, Grouping
from theodolite.salience.classes import chosen, classes_of, values_of
from theodolite.salience.keeping import KeepMaps, StoredMaps
from theodolite.salience.maps import UNLABELLED, Ints, TextMaps
from theodolite.salience.vocabulary import Vocabulary
from theodolite.salience.ways import Way, ways_of
from theodolite.store import Store

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

Row = dict[str, Any]
Corpora = Callable[[str], Corpus | None]

NEIGHBOURS = 5
# Clusters of more texts than these are not made again while a person waits.
MOST_CLUSTERED = 20_000
_SHARDS_HELD = 24


@dataclass(frozen=True)
class OneMap:
    """A text's map by one method: a row as ``coloured`` takes it, and the probabilities by class."""

    method: str
    row: Row
    probabilities: list[float]


class SalienceMaps:
    """What the store has of a reading's maps; classes: names by number, none of a regression."""

    def __init__(self, reading: Reading, corpora: Corpora, store: Store, classes: Sequence[str]) -> None:
        self._options, self._manifest = reading.manifest["options"], reading.manifest
        self._corpus, self._store, self._classes = corpora, store, list(classes)
        self._lock = threading.RLock()
        self._shard_size = int(reading.manifest["plan"]["shard_size"])
        self._shards: dict[str, list[Shard]] = {}
        self._analyses: dict[tuple[str, str], Analysis] = {}
        self._groupings: dict[tuple[str, str, str, str], Grouping | None] = {}
        self._part = lru_cache(_SHARDS_HELD)(self._read_part)

    def of_text(self, corpus: str, row: int) -> list[OneMap]:
        """A text's map by every method of the reading; none where the store has not got them. Needs no model."""
        found = self._corpus(corpus)
        if found is None or not 0 <= row < len(found):
            return []
        size = map_rows(found, self._shard_size)
        try:
            parts = [(way.name, self._part(corpus, row // size, way.name)) for way in ways_of(self._options)]
        except LookupError:
            return []
        return [one for method, maps in parts for one in _one(found, maps, row, method)]

    def neighbours(
        self, corpus: str, row: int, method: str, among: str, representations: Sequence[str], model: Encoder
    ) -> dict[str, list[Row]]:
        """The nearest texts by each of some representations; by none where the store has not got the maps."""
        with self._lock:
            mine, other = (self._analysis(name, method, model) for name in (corpus, among))
            if mine is None or other is None:
                return {}
            at = np.flatnonzero(mine.maps.rows == row)
            if not len(at):
                return {}
            names = [n for n in representations if n != "cls" or _both_have_vectors(mine, other)]
            return {name: list(mine.neighbour_rows(int(at[0]), other, name, NEIGHBOURS)) for name in names}

    def members(self, card: Row, number: int, sizes: Sequence[int], model: Encoder) -> NDArray[np.int64] | None:
        """The rows of a cluster's texts, clustered again as the instrument did.

        card: corpus, method, representation and predicted; sizes: those of all its clusters by number. None where the
        maps are not in the store, are too many, or come out in other clusters than the reading's.
        """
        key = card["corpus"], card["method"], card["representation"], card["predicted"]
        with self._lock:
            analysis = self._analysis(key[0], key[1], model)
            if analysis is None or len(analysis.maps) > MOST_CLUSTERED or (key[2] == "cls" and analysis.cls is None):
                return None
            if key not in self._groupings:
                self._groupings[key] = self._grouped(analysis, key[2], key[3], sizes)
            grouping = self._groupings[key]
        return None if grouping is None else analysis.maps.rows[grouping.texts[grouping.labels == number]]

    def _grouped(self, analysis: Analysis, name: str, predicted: str, sizes: Sequence[int]) -> Grouping | None:
        space = analysis.space(name)
        [texts] = [texts for within, texts in analysis.within(predicted) if within == predicted]
        found = analysis.grouping(space, predicted, texts, int(self._options["clusters"]), int(self._options["seed"]))
        return found if [one.size for one in found.clusters] == list(sizes) else None

    def _analysis(self, name: str, method: str, model: Encoder) -> Analysis | None:
        """All maps of a corpus by one method, read once."""
        found = self._analyses.get((name, method)) or self._read(name, method, model)
        if found is not None:
            self._analyses[name, method] = found
        return found

    def _read(self, name: str, method: str, model: Encoder) -> Analysis | None:
        corpus = self._corpus(name)
        if corpus is None:
            return None
        subject = self._subject(corpus)
        way = self._way(method)
        stored = self._recalled(self._keep(subject, way), corpus, self._shards_of(corpus))
        if stored is None:
            return None
        maps = cast(StoredMaps, stored).read(way.method)
        mine = np.flatnonzero(chosen(corpus, self._options.get("where") or "")[maps.rows])
        maps = maps.take(mine)
        top_k = self._options["top_k"]
        vectors = None
        if "cls" in self._options["representation"]:
            keep = KeepEmbeddings(subject, layer=-1, pooling="cls", distinct=False)
            kept = self._recalled(keep, corpus, corpus.shards(self._shard_size))
            vectors = None if kept is None else cast(Embeddings, kept).of_rows(maps.rows)
        names = self._classes or ["value"]
        values = None if self._classes else values_of(corpus)[maps.rows]
        most = None if top_k == "all" else int(top_k)
        return Analysis(corpus, method, maps, Vocabulary(model), names, most, vectors, values)

    def _read_part(self, name: str, index: int, method: str) -> TextMaps:
        """The maps of one shard; LookupError, which is not remembered, where the store has not got them."""
        corpus = self._corpus(name)
        assert corpus is not None
        with self._lock:
            shard = self._shards_of(corpus)[index]
        way = self._way(method)
        stored = self._recalled(self._keep(self._subject(corpus), way), corpus, [shard])
        if stored is None:
            raise LookupError(name)
        return cast(StoredMaps, stored).read(way.method)

    def _way(self, name: str) -> Way:
        return next(way for way in ways_of(self._options) if way.name == name)

    def _keep(self, subject: Subject, way: Way) -> KeepMaps:
        question = Question(tuple(self._options["method"]), way.target, self._options["of"])
        return KeepMaps(subject, question, {c.name: self._labels(c) for c in subject.corpora})

    def _subject(self, corpus: Corpus) -> Subject:
        """What was measured, as far as the manifest says: enough to find what the run put into the store."""
        about = self._manifest["encoder"]
        identity = (("model", about["hash"]), ("tokenizer", about["tokenizer_hash"]), ("window", about["window"]))
        nothing: Any = None
        return Subject(
            about["name"], about["layers"], about["dim"], identity, nothing, (corpus,), self._store, Silent()
        )

    @staticmethod
    def _recalled(keep: KeepTables, corpus: Corpus, shards: Sequence[Shard]) -> Any:
        """What a pass has in the store of some shards; None where one of them is missing."""
        found: list[Shard] = []
        for shard in shards:
            recalled = keep.recall(shard)
            if recalled is None:
                return None
            found.extend(recalled.shards)
        return keep.found(corpus, tuple(found))

    def _shards_of(self, corpus: Corpus) -> list[Shard]:
        """The shards that the corpus's maps were made in."""
        if corpus.name not in self._shards:
            self._shards[corpus.name] = corpus.shards(map_rows(corpus, self._shard_size))
        return self._shards[corpus.name]

    def _labels(self, corpus: Corpus) -> Ints:
        if not self._classes:
            return np.full(len(corpus), UNLABELLED)
        return classes_of(corpus, self._classes, self._manifest["encoder"]["name"])


def _one(corpus: Corpus, maps: TextMaps, row: int, method: str) -> list[OneMap]:
    """The map of one text; none where an empty text has none."""
    at = np.flatnonzero(maps.rows == row)
    if not len(at):
        return []
    text = int(at[0])
    span = slice(maps.bounds[text], maps.bounds[text + 1])
    second = corpus.texts_b(row, row + 1)
    flat: dict[str, NDArray[Any]] = {"side": maps.side, "start": maps.start, "end": maps.end, "weight": maps.weights}
    about = {name: values[span].tolist() for name, values in flat.items()}
    whole = {**about, "text": corpus.text(row), "text_b": second[0] if second else None}
    known = maps.probabilities[text] if maps.classes > 1 else maps.logits[text]
    return [OneMap(method, whole, [float(p) for p in known])]


def _both_have_vectors(mine: Analysis, other: Analysis) -> bool:
    return mine.cls is not None and other.cls is not None

"""The salience instrument: what does a text classifier look at, over the whole data set?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from theodolite.corpus import Corpus
from theodolite.embed import Embeddings, KeepEmbeddings
from theodolite.encoder.maps import INTEGRATED, METHODS, Question
from theodolite.errors import InputError
from theodolite.instrument import Instrument, Passes, Progress, Subject
from theodolite.options import option
from theodolite.salience.analysis import Analysis, Grouping
from theodolite.salience.asking import faithfulness_rows, sensitivity_rows, term_lists
from theodolite.salience.classes import chosen, classes_of, marked
from theodolite.salience.findings import findings
from theodolite.salience.keeping import KeepMaps, StoredMaps
from theodolite.salience.maps import UNLABELLED, Ints
from theodolite.salience.places import places_of
from theodolite.salience.positions import by_position
from theodolite.salience.predictions import prediction_rows
from theodolite.salience.reading import SalienceReading
from theodolite.salience.representations import REPRESENTATIONS
from theodolite.salience.vocabulary import Vocabulary

if TYPE_CHECKING:
    from theodolite.encoder.classifier import Classifier
    from theodolite.encoder.encoder import Encoder

Row = dict[str, Any]
Rows = dict[str, list[Row]]

ERRORS = "errors"
ERRORS_SHOWN = 10


@dataclass(frozen=True)
class Salience(Instrument):
    """A weight for every token of every text, and what they show together: clusters, shortcuts, neighbours."""

    name: ClassVar[str] = "salience"
    question: ClassVar[str] = "What does the classifier look at, over the whole data set?"
    reading: ClassVar[type[SalienceReading]] = SalienceReading

    method: tuple[str, ...] = option(("grad-l2",), f"How a token is weighted; repeatable. One of {', '.join(METHODS)}.")
    target: str = option("predicted", "Which class is asked about: predicted, label, or a class's number.")
    of: str = option("logit", "What of the class is explained.", choices=("logit", "probability"))
    representation: tuple[str, ...] = option(
        ("salience-vocab",), f"How texts are compared; repeatable. One of {', '.join(REPRESENTATIONS)}."
    )
    top_k: str = option("5", "How many of a text's most salient items count, or all.", metavar="N|all")
    clusters: int = option(5, "Clusters of each predicted class's texts; 0 for none.", minimum=0)
    within: str = option("each", "What is clustered: each predicted class by itself, one of them, or all texts.")
    marker: str | None = option(
        None, "Find the cluster that gathers texts with a marker: rating, column:NAME or a regular expression."
    )
    where: str | None = option(None, "Only texts where COLUMN=VALUE, or that mention a word.", metavar="SLICE")
    neighbours: tuple[str, ...] = option(
        (), "The row of a text whose neighbours are wanted, or errors; repeatable.", metavar="ROW"
    )
    among: str | None = option(
        None,
        "The corpus of neighbours and of lists of terms (the training texts); the first by default.",
        metavar="NAME",
    )
    neighbours_with: str | None = option(
        None, "Only neighbours of one label or prediction.", metavar="label=CLASS|predicted=CLASS"
    )
    sensitivity: tuple[str, ...] = option(
        (), "Put terms into texts and mask them: auto, or a file of terms; repeatable.", metavar="auto|FILE"
    )
    toward: str | None = option(None, "The class whose probability the terms may change; the last by default.")
    insertions: int = option(500, "Into how many texts each term is put.", minimum=1)
    faithful: int = option(200, "Texts on which the maps are tested by masking; 0 for none.", minimum=0)
    map: str = option("umap", "How the map of the texts is made.", choices=("umap", "tsne", "none"))
    seed: int = option(0, "Seed of every random choice.", minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        Question(self.method, self.target, self.of)
        if self.top_k != "all" and (not self.top_k.isdigit() or int(self.top_k) < 1):
            raise InputError(f"--top-k {self.top_k}: a number from 1 on, or all")
        if self.neighbours_with is not None and self._wanted[0] not in ("label", "predicted"):
            raise InputError(f"--neighbours-with {self.neighbours_with}: label=CLASS or predicted=CLASS is wanted")
        for name in self.representation:
            if name not in REPRESENTATIONS:
                raise InputError(f"--representation {name}: not one of {', '.join(REPRESENTATIONS)}")

    def unfit_encoder(self, encoder: Encoder) -> str | None:
        if hasattr(encoder, "map_batches"):
            return None
        return f"{encoder.name} has no classification head; train one with theodolite train classifier"

    def unfit(self, corpora: Sequence[Corpus]) -> str | None:
        if self.among and self.among not in [c.name for c in corpora]:
            return f"--among {self.among}: no corpus is called that; there are {', '.join(c.name for c in corpora)}"
        if self.target == "label":
            for corpus in corpora:
                if "label" not in corpus.table.column_names or corpus.column("label").null_count:
                    return f"--target label: not every text of {corpus.name} has a label; read it with ?label=COLUMN"
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        named = [self.where.partition("=")[0]] if self.where and "=" in self.where else []
        if self.marker and self.marker.startswith("column:"):
            named.append(self.marker.removeprefix("column:"))
        return tuple(name for name in dict.fromkeys(named) if name not in ("text", "text_b", "label", "id", "title"))

    def passes(self, subject: Subject) -> Passes:
        model: Any = subject.model
        toward = self._class(model, self.toward, "--toward") if self.toward else len(model.labels) - 1
        self._check_classes(model)
        classes = {c.name: _classes(c, model) for c in subject.corpora}
        slices = {c.name: chosen(c, self.where or "") for c in subject.corpora}
        kept: Mapping[str, StoredMaps] = yield KeepMaps(subject, Question(self.method, self.target, self.of), classes)
        cls: Mapping[str, Embeddings] = {}
        if "cls" in self.representation:
            cls = yield KeepEmbeddings(subject, layer=-1, pooling="cls", distinct=False)
        vocabulary = Vocabulary(model)
        rows: Rows = {}
        analyses: dict[tuple[str, str], Analysis] = {}
        with subject.progress.step("reading maps", len(kept) * len(self.method)):
            for name, stored in kept.items():
                corpus = subject.corpus(name)
                for method in self.method:
                    maps = stored.read(method)
                    mine = np.flatnonzero(slices[name][maps.rows])
                    vectors = _vectors(cls[name], maps.rows)[mine] if name in cls else None
                    analyses[name, method] = Analysis(
                        corpus, method, maps.take(mine), vocabulary, model.labels, self._top_k, vectors
                    )
                    subject.progress.advance(1)
        for name in kept:
            first = analyses[name, self.method[0]]
            _add(rows, "predictions", prediction_rows(first.corpus, first.maps, model.labels))
            if INTEGRATED in self.method:
                _add(rows, "completeness", [_completeness(name, kept[name])])
        groupings = list(self._groupings(analyses, subject.progress))
        for analysis, found in groupings:
            _add(rows, "clusters", analysis.cluster_rows(found))
            _add(rows, "examples", analysis.example_rows(found, 3))
        if self.marker:
            _add(rows, "marker", self._markers(subject, groupings))
        _add(rows, "neighbours", self._neighbours(analyses, model))
        for (name, method), analysis in analyses.items():
            about = {"corpus": name, "method": method}
            _add(rows, "positions", [about | asdict(row) for row in by_position(analysis.maps)])
        if self.faithful:
            for corpus in subject.corpora:
                with subject.progress.step(f"faithfulness on {corpus.name}", 1):
                    maps_by = {m: analyses[corpus.name, m].maps for m in self.method}
                    _add(rows, "faithfulness", faithfulness_rows(corpus, maps_by, model, self.faithful, self.seed))
                    subject.progress.advance(1)
        if self.sensitivity:
            self._sensitivity(subject, analyses, vocabulary, toward, rows)
        tables = {name: pa.Table.from_pylist(found) for name, found in rows.items() if found}
        tables["texts"] = self._texts(analyses, groupings, subject.progress)
        return SalienceReading(tables, findings(subject.encoder, tables, self.marker))

    @property
    def _top_k(self) -> int | None:
        return None if self.top_k == "all" else int(self.top_k)

    @property
    def _wanted(self) -> tuple[str, str]:
        """What neighbours must have: label or predicted, and the class; both empty where any will do."""
        what, _, cls = (self.neighbours_with or "").partition("=")
        return what, cls

    def _check_classes(self, model: Classifier) -> None:
        """Classes that the head does not have are told before the long work, not after it."""
        if self.within not in ("each", "all"):
            self._class(model, self.within, "--within")
        if self._wanted[1]:
            self._class(model, self._wanted[1], "--neighbours-with")

    @staticmethod
    def _class(model: Classifier, given: str, flag: str) -> int:
        return model.class_of(int(given) if given.isdigit() and given not in model.labels else given, flag)

    def _groupings(
        self, analyses: Mapping[tuple[str, str], Analysis], progress: Progress
    ) -> Iterator[tuple[Analysis, Grouping]]:
        """Clusters of every corpus, method, representation and predicted class."""
        if not self.clusters:
            return
        parts = [(a, name, within, texts) for a in analyses.values() for name in self.representation
                 for within, texts in a.within(self.within)]  # fmt: skip
        enough = [part for part in parts if len(part[3]) >= self.clusters]
        if not enough:
            most = max((len(texts) for *_, texts in parts), default=0)
            raise InputError(f"--clusters {self.clusters}: the largest predicted class has {most} texts; ask for fewer")
        with progress.step("clusters", len(enough)):
            for analysis, name, within, texts in enough:
                yield analysis, analysis.grouping(analysis.space(name), within, texts, self.clusters, self.seed)
                progress.advance(1)

    def _markers(self, subject: Subject, groupings: Sequence[tuple[Analysis, Grouping]]) -> Iterator[Row]:
        assert self.marker is not None
        has = {c.name: marked(c, self.marker) for c in subject.corpora}
        if not any(found.any() for found in has.values()):
            raise InputError(f"--marker {self.marker}: no text has it")
        for analysis, found in groupings:
            row = analysis.marker_row(found, has[analysis.corpus.name])
            if row:
                yield row

    def _neighbours(self, analyses: Mapping[tuple[str, str], Analysis], model: Classifier) -> Iterator[Row]:
        own = next(iter(analyses.values())).corpus.name
        what, cls = self._wanted
        for method in self.method:
            mine = analyses[own, method]
            other = analyses[self.among or own, method]
            has = other.maps.labels if what == "label" else other.maps.predicted
            may = has == self._class(model, cls, "--neighbours-with") if what else None
            for text in self._asked(mine):
                for name in self.representation:
                    yield from mine.neighbour_rows(text, other, name, 5, may)

    def _asked(self, analysis: Analysis) -> Iterator[int]:
        """The texts whose neighbours are wanted, by their places among the maps."""
        maps = analysis.maps
        for given in self.neighbours:
            if given == ERRORS:
                wrong = np.flatnonzero((maps.labels != UNLABELLED) & (maps.labels != maps.predicted))
                sure = maps.probabilities.max(axis=1)
                yield from wrong[np.argsort(-sure[wrong], kind="stable")][:ERRORS_SHOWN].tolist()
                continue
            at = np.flatnonzero(maps.rows == int(given)) if given.isdigit() else np.empty(0)
            if not len(at):
                raise InputError(f"--neighbours {given}: no row of {analysis.corpus.name} with a map has that number")
            yield int(at[0])

    def _sensitivity(
        self,
        subject: Subject,
        analyses: Mapping[tuple[str, str], Analysis],
        vocabulary: Vocabulary,
        toward: int,
        rows: Rows,
    ) -> None:
        model: Any = subject.model
        if len(model.labels) < 2:
            raise InputError("--sensitivity: asks about a class, and this model has none; it is a regression")
        first = next(iter(analyses.values()))
        # The lists come from the training texts where they are given.
        source = analyses[self.among, self.method[0]] if self.among else first
        lists = term_lists(self.sensitivity, source.maps, vocabulary, toward, self._top_k)
        with subject.progress.step("sensitivity", 1):
            by_list, by_term = sensitivity_rows(
                first.corpus, first.maps, lists, model, toward, self.insertions, self.seed
            )
            _add(rows, "sensitivity", by_list)
            _add(rows, "sensitivity_terms", by_term)
            subject.progress.advance(1)

    def _texts(
        self,
        analyses: Mapping[tuple[str, str], Analysis],
        groupings: Sequence[tuple[Analysis, Grouping]],
        progress: Progress,
    ) -> pa.Table:
        """Every text: label, answer, probability, its cluster in the first representation, its place on the map."""
        firsts = {name: a for (name, method), a in analyses.items() if method == self.method[0]}
        places = places_of(firsts, self.representation[0], self.map, self.seed, progress)
        parts = []
        for name, analysis in firsts.items():
            maps = analysis.maps
            number = np.full(len(maps), -1)
            for owner, found in groupings:
                if owner is analysis and found.space.name == self.representation[0]:
                    number[found.texts] = found.labels
            columns: dict[str, Any] = {
                "corpus": [name] * len(maps),
                "row": maps.rows,
                "label": [analysis.class_name(int(n)) for n in maps.labels],
                "answer": [analysis.answer(i) for i in range(len(maps))],
                "probability": maps.probabilities.max(axis=1) if maps.classes > 1 else np.full(len(maps), np.nan),
                "cluster": number,
            }
            if name in places:
                columns |= {"x": places[name][:, 0], "y": places[name][:, 1]}
            parts.append(pa.table(columns))
        return pa.concat_tables(parts)


def _classes(corpus: Corpus, model: Classifier) -> Ints:
    if len(model.labels) == 1:
        return np.full(len(corpus), UNLABELLED)
    return classes_of(corpus, model.class_of)


def _vectors(kept: Embeddings, rows: Ints) -> Any:
    """(n, d) the vectors of some rows."""
    every, vectors = kept.array()
    return vectors[np.searchsorted(every, rows)]


def _completeness(name: str, stored: StoredMaps) -> Row:
    _, steps, error = stored.errors()
    return {
        "corpus": name,
        "texts": len(error),
        "flagged": int((error >= 0.01).sum()),
        "error_median": float(np.median(error)),
        "error_largest": float(error.max()),
        "steps_mean": float(steps.mean()),
    }


def _add(rows: Rows, name: str, more: Any) -> None:
    rows.setdefault(name, []).extend(more)

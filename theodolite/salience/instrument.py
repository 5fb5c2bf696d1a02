"""The salience instrument: what does a text classifier look at, over the whole data set?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from theodolite.corpus import Corpus
from theodolite.corpus.labels import is_missing
from theodolite.embed import Embeddings, KeepEmbeddings
from theodolite.encoder.maps import INTEGRATED, METHODS, Question
from theodolite.errors import InputError
from theodolite.instrument import Instrument, Passes, Subject
from theodolite.options import option, seed_option
from theodolite.salience.analysis import Analysis, Grouping
from theodolite.salience.answering import KeptAnswers
from theodolite.salience.asking import faithfulness_rows, sensitivity_rows, term_lists
from theodolite.salience.classes import marker_column, values_of
from theodolite.salience.findings import findings
from theodolite.salience.flat import maps_by_token
from theodolite.salience.grouping import groupings, skipped_row
from theodolite.salience.keeping import KeepMaps, StoredMaps
from theodolite.salience.maps import UNLABELLED
from theodolite.salience.markers import marker
from theodolite.salience.places import places_of
from theodolite.salience.positions import by_position
from theodolite.salience.predictions import prediction_rows
from theodolite.salience.reading import SalienceReading
from theodolite.salience.representations import REPRESENTATIONS
from theodolite.salience.settling import ERRORS, Settled, no_such_row, settle
from theodolite.salience.terms import MIN_COUNT
from theodolite.salience.texts import texts_table
from theodolite.salience.vocabulary import Vocabulary
from theodolite.salience.ways import Way, ways

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

Row = dict[str, Any]
Rows = dict[str, list[Row]]

# As many as the source's people looked at.
ERRORS_SHOWN = 28


@dataclass(frozen=True)
class Salience(Instrument):
    """A weight for every token of every text, and what they show together: clusters, shortcuts, neighbours."""

    name: ClassVar[str] = "salience"
    question: ClassVar[str] = "What does the classifier look at, over the whole data set?"
    reading: ClassVar[type[SalienceReading]] = SalienceReading

    method: tuple[str, ...] = option(("grad-l2",), f"How a token is weighted; repeatable. One of {', '.join(METHODS)}.")
    target: tuple[str, ...] = option(
        ("predicted",), "Which class is asked about: predicted, label, or a class's number; repeatable."
    )
    of: str = option("logit", "What of the class is explained.", choices=("logit", "probability"))
    representation: tuple[str, ...] = option(
        ("salience-vocab",), f"How texts are compared; repeatable. One of {', '.join(REPRESENTATIONS)}."
    )
    top_k: str = option("5", "How many of a text's most salient items count, or all.", metavar="N|all")
    clusters: int = option(5, "Clusters of each predicted class's texts; 0 for none.", minimum=0)
    within: str = option("each", "What is clustered: each predicted class by itself, one of them, or all texts.")
    marker: str | None = option(
        None, "Find the cluster that gathers texts with a marker: rating, column:NAME[=VALUE] or a regular expression."
    )
    where: str | None = option(
        None,
        "Only texts where COLUMN=VALUE, or that mention a word; a corpus of --among besides the first stays whole.",
        metavar="SLICE",
    )
    neighbours: tuple[str, ...] = option(
        (), "The row of a text of the first corpus whose neighbours are wanted, or errors; repeatable.", metavar="ROW"
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
        (),
        "Put terms into texts of the first corpus and mask them: auto, or a file of terms; repeatable.",
        metavar="auto|FILE",
    )
    toward: str | None = option(None, "The class whose probability the terms may change; the last by default.")
    insertions: int = option(500, "Into how many texts each term is put.", minimum=1)
    faithful: int = option(200, "Texts on which the maps are tested by masking; 0 for none.", minimum=0)
    keep_maps: bool = option(False, "Keep every token's weight in the reading, as its table maps.")
    map: str = option("umap", "How the map of the texts is made.", choices=("umap", "tsne", "none"))
    seed: int = seed_option()

    def __post_init__(self) -> None:
        super().__post_init__()
        for target in self.target:
            Question(self.method, target, self.of)
            if self.target.count(target) > 1:
                raise InputError(f"--target {target}: given twice; once is enough")
        if self.top_k != "all" and (not self.top_k.isdecimal() or int(self.top_k) < 1):
            raise InputError(f"--top-k {self.top_k}: a number from 1 on, or all")
        if self.neighbours_with is not None and self.neighbours_wanted[0] not in ("label", "predicted"):
            raise InputError(f"--neighbours-with {self.neighbours_with}: label=CLASS or predicted=CLASS is wanted")
        if self.neighbours_with is not None and not self.neighbours:
            raise InputError(f"--neighbours-with {self.neighbours_with}: whose neighbours? give --neighbours ROW")
        for name in self.representation:
            if name not in REPRESENTATIONS:
                raise InputError(f"--representation {name}: not one of {', '.join(REPRESENTATIONS)}")
            if self.representation.count(name) > 1:
                raise InputError(f"--representation {name}: given twice; once is enough")
        if "salience-bigrams" in self.representation and self.top_k in ("1", "all"):
            raise InputError(f"--representation salience-bigrams: needs a --top-k from 2 on, not {self.top_k}")
        for option_name, given in (("marker", self.marker), ("where", self.where)):
            if given is not None and not given.strip():
                raise InputError(f"--{option_name}: nothing is given to look for; leave it out, or say what")
        if self.marker is not None and marker_column(self.marker) is None:
            # Refused here where it is no pattern.
            marker(self.marker)

    def unfit_encoder(self, encoder: Encoder) -> str | None:
        if not hasattr(encoder, "map_batches"):
            return f"{encoder.name} has no classification head; train one with theodolite train classifier"
        if encoder.transform is not None and "cls" not in self.representation:
            return f"--transform {encoder.transform.name}: changes no classifier's answer, nor its maps; leave it out"
        return None

    def unfit(self, corpora: Sequence[Corpus]) -> str | None:
        if self.among and self.among not in [c.name for c in corpora]:
            return f"--among {self.among}: no corpus is called that; there are {', '.join(c.name for c in corpora)}"
        if "label" in self.target:
            for corpus in corpora:
                if "label" not in corpus.table.column_names or any(map(is_missing, corpus.column("label").to_pylist())):
                    return f"--target label: not every text of {corpus.name} has a label; read it with ?label=COLUMN"
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        named = [self.where.partition("=")[0]] if self.where and "=" in self.where else []
        column = marker_column(self.marker or "")
        if column is not None:
            named.append(column)
        return tuple(name for name in dict.fromkeys(named) if name not in ("text", "text_b", "label", "id", "title"))

    def does_without(self, corpus: str) -> bool:
        return corpus == self.among

    def passes(self, subject: Subject) -> Passes:
        model: Any = subject.model
        settled = settle(self, model, subject.corpora)
        cls: Mapping[str, Embeddings] = {}
        if "cls" in self.representation:
            cls = yield KeepEmbeddings(subject, layer=-1, pooling="cls", distinct=False)
        kept: dict[str, Mapping[str, StoredMaps]] = {}
        for question in settled.questions:
            kept[question.target] = yield KeepMaps(subject, question, settled.classes)
        vocabulary = Vocabulary(model)
        rows: Rows = {}
        analyses = self._analyses(subject, settled, kept, cls, vocabulary)
        for name in (corpus.name for corpus in subject.corpora):
            first = analyses[name, self.ways[0].name]
            _add(rows, "predictions", prediction_rows(first.corpus, first.maps, model.labels))
            if INTEGRATED in self.method:
                for target in self.target:
                    errors = kept[target][name].completeness(first.maps.rows)
                    _add(rows, "completeness", [{"corpus": name, "target": target, **errors}])
        grouped: list[tuple[Analysis, Grouping]] = []
        if self.clusters:
            grouped, skipped = groupings(
                analyses.values(), self.representation, settled.within, self.clusters, self.seed, subject.progress
            )
            _add(rows, "skipped", skipped)
        for analysis, found in grouped:
            _add(rows, "clusters", analysis.cluster_rows(found))
            _add(rows, "examples", analysis.example_rows(found, 3))
            marks = analysis.marker_row(found, settled.marked[analysis.corpus.name]) if self.marker else None
            _add(rows, "marker", [marks] if marks else [])
        self._neighbours(analyses, subject.corpora[0], settled, rows)
        for (name, method), analysis in analyses.items():
            about = {"corpus": name, "method": method}
            _add(rows, "positions", [about | asdict(row) for row in by_position(analysis.maps)])
        if self.faithful:
            for corpus in subject.corpora:
                with subject.progress.step(f"faithfulness on {corpus.name}", 1):
                    maps_by = {way: analyses[corpus.name, way.name].maps for way in self.ways}
                    tested = faithfulness_rows(corpus, maps_by, model, KeptAnswers(subject), self.faithful, self.seed)
                    _add(rows, "faithfulness", tested)
                    subject.progress.advance(1)
        if self.sensitivity:
            self._sensitivity(subject, analyses, vocabulary, settled, rows)
        tables = {name: pa.Table.from_pylist(found) for name, found in rows.items() if found}
        firsts = {name: a for (name, method), a in analyses.items() if method == self.ways[0].name}
        tables["texts"] = texts_table(
            firsts,
            self.representation[0],
            grouped,
            places=places_of(firsts, self.representation[0], self.map, self.seed, subject.progress),
            marked=settled.marked,
            integrated=kept[self.target[0]] if INTEGRATED in self.method else {},
        )
        if self.keep_maps:
            tables["maps"] = pa.concat_tables(map(maps_by_token, analyses.values()))
        return SalienceReading(tables, findings(subject.encoder, tables, self.marker, self.clusters, self.neighbours))

    def _analyses(
        self,
        subject: Subject,
        settled: Settled,
        kept: Mapping[str, Mapping[str, StoredMaps]],
        cls: Mapping[str, Embeddings],
        vocabulary: Vocabulary,
    ) -> dict[tuple[str, str], Analysis]:
        """By corpus and way, of the texts that are looked at; kept: the maps by target and corpus."""
        model: Any = subject.model
        found = {}
        with subject.progress.step("reading maps", len(subject.corpora) * len(self.ways)):
            for corpus in subject.corpora:
                for way in self.ways:
                    maps = kept[way.target][corpus.name].read(way.method)
                    maps = maps.take(np.flatnonzero(settled.looked_at[corpus.name][maps.rows]))
                    if not len(maps):
                        raise InputError(f"{corpus.name}: no text that is looked at has any tokens")
                    vectors = cls[corpus.name].of_rows(maps.rows) if corpus.name in cls else None
                    values = values_of(corpus)[maps.rows] if model.regression else None
                    found[corpus.name, way.name] = Analysis(
                        corpus, way.name, maps, vocabulary, model.labels, self._top_k, vectors, values
                    )
                    subject.progress.advance(1)
        return found

    @property
    def ways(self) -> tuple[Way, ...]:
        """Every method of every target."""
        return ways(self.method, self.target)

    @property
    def _top_k(self) -> int | None:
        return None if self.top_k == "all" else int(self.top_k)

    @property
    def neighbours_wanted(self) -> tuple[str, str]:
        """What neighbours must have: label or predicted, and the class; both empty where any will do."""
        what, _, cls = (self.neighbours_with or "").partition("=")
        return what, cls

    def _neighbours(
        self, analyses: Mapping[tuple[str, str], Analysis], own: Corpus, settled: Settled, rows: Rows
    ) -> None:
        for way in self.ways:
            mine = analyses[own.name, way.name]
            other = analyses[self.among or own.name, way.name]
            has = other.maps.labels if self.neighbours_wanted[0] == "label" else other.maps.predicted
            may = None if settled.near is None else has == settled.near
            # A row may be given twice, or be among the errors.
            for text in dict.fromkeys(self._asked(mine)):
                for name in self.representation:
                    near = list(mine.neighbour_rows(text, other, name, 5, may))
                    _add(rows, "neighbours", near)
                    if not near:
                        where = own.name, mine.answer(text), 1, "nothing in common with any"
                        row = int(mine.maps.rows[text])
                        alone = skipped_row(*where, method=way.name, representation=name, row=row)
                        _add(rows, "skipped", [alone])

    def _asked(self, analysis: Analysis) -> Iterator[int]:
        """The texts whose neighbours are wanted, by their places among the maps."""
        maps = analysis.maps
        for given in self.neighbours:
            if given == ERRORS:
                wrong = np.flatnonzero((maps.labels != UNLABELLED) & (maps.labels != maps.predicted))
                sure = maps.probabilities.max(axis=1)
                yield from wrong[np.argsort(-sure[wrong], kind="stable")][:ERRORS_SHOWN].tolist()
                continue
            at = np.flatnonzero(maps.rows == int(given))
            if not len(at):
                raise no_such_row(given, analysis.corpus)
            yield int(at[0])

    def _sensitivity(
        self,
        subject: Subject,
        analyses: Mapping[tuple[str, str], Analysis],
        vocabulary: Vocabulary,
        settled: Settled,
        rows: Rows,
    ) -> None:
        model: Any = subject.model
        toward = settled.toward
        first = next(iter(analyses.values()))
        # The lists come from the training texts where they are given.
        source = analyses[self.among, self.ways[0].name] if self.among else first
        lists, empty = term_lists(
            self.sensitivity, settled.lists, source.corpus, source.maps, vocabulary, toward, self._top_k
        )
        reason = f"no whole word of its texts occurs at least {MIN_COUNT} times"
        texts = int((source.maps.predicted == toward).sum())
        _add(rows, "skipped", [skipped_row(source.corpus.name, model.labels[toward], texts, reason, list=name)
                               for name in empty])  # fmt: skip
        by_list, by_term = sensitivity_rows(
            first.corpus, first.maps, lists, model, KeptAnswers(subject), toward, self.insertions, self.seed,
            source.corpus.name, subject.progress,
        )  # fmt: skip
        _add(rows, "sensitivity", by_list)
        _add(rows, "sensitivity_terms", by_term)


def _add(rows: Rows, name: str, more: Any) -> None:
    rows.setdefault(name, []).extend(more)

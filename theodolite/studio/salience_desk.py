"""One survey's salience reading with everything that can be asked about it: its maps in the store, its live model."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from theodolite.errors import InputError
from theodolite.reading import Reading
from theodolite.studio.faults import NotFound
from theodolite.studio.opened import Opened
from theodolite.studio.salience_maps import OneMap, SalienceMaps
from theodolite.studio.salience_schemas import (
    Answer,
    ClusterView,
    HeatMap,
    Neighbour,
    Neighbours,
    NeighbourView,
    Texts,
    TextView,
    Tried,
    TryRequest,
)
from theodolite.studio.salience_terms import Ground, TermTrials
from theodolite.studio.salience_view import Grouped, SalienceView, TextFilter, is_wrong, label_of, spans
from theodolite.studio.workspace import Workspace

if TYPE_CHECKING:
    from theodolite.encoder.classifier import Classifier
    from theodolite.salience.explain import Explanation

Row = dict[str, Any]

NO_TEXTS = "The texts are no longer at hand: open the studio with the --store that the survey was made with."
NO_MAPS = "Its map is not in the store: open the studio with the --store that the survey was made with"
NOT_LIVE = "or with --model DIR for the classifier itself."


class Desk:
    """What is asked about one reading is answered here, from the reading, the store or the model, in this order."""

    def __init__(self, workspace: Workspace, opened: Opened, reading: Reading) -> None:
        self.workspace, self.opened, self.reading = workspace, opened, reading
        self.view = SalienceView(reading)
        self.maps = SalienceMaps(reading, opened.corpus, workspace.store, self.view.classes)
        self._trials: TermTrials | None = None

    @property
    def live(self) -> bool:
        """Whether the classifier can be asked; it is not loaded for that."""
        return self.workspace.model_of(self.reading.manifest["encoder"]) is not None

    @property
    def why_not_live(self) -> str:
        name = self.reading.manifest["encoder"]["name"]
        return "" if self.live else f"The classifier {name} is not at hand: open the studio with --model DIR."

    def model(self) -> Classifier:
        """The live classifier."""
        return cast("Classifier", self.workspace.encoder_of(self.reading.manifest["encoder"]))

    def tried(self, asked: TryRequest) -> Tried:
        """What the model answers to a text of one's own."""
        begun = time.perf_counter()
        found = self._explained(asked.text, asked.text_b or None, asked.methods, asked.target)
        answers = _answers(found)
        return Tried(
            answer=max(answers, key=lambda a: a.probability).name,
            target=found.manifest["options"]["target"],
            answers=answers,
            maps=_heat_maps(found),
            said=found.findings,
            seconds=time.perf_counter() - begun,
        )

    def cluster(self, grouped: Grouped, number: int) -> ClusterView:
        """A cluster with its examples."""
        card = self.view.card(grouped, number)
        if card is None:
            raise NotFound("the reading has no such cluster")
        return ClusterView(card=card, examples=self.view.examples(grouped, number))

    def members(self, grouped: Grouped, number: int, asked: TextFilter) -> Texts:
        """A page of the texts of a cluster."""
        rows = self._members(grouped, number)
        corpus = self.opened.corpus(grouped.corpus)
        if rows is not None:
            return self.view.texts(asked, corpus, rows)
        note = (
            "The reading lists the texts of the clusters of its first representation; for those of the others the maps "
            "in the store and the model are needed."
        )
        return Texts(total=0, offset=0, rows=[], note=note)

    def text(self, corpus: str, row: int) -> TextView:
        """One text: its map by every method, from the store, else from the model, else from the reading."""
        about = self.view.text(corpus, row)
        if about is None:
            raise NotFound(f"{corpus} has no text at row {row} that was looked at")
        table = self.opened.corpus(corpus)
        second = None if table is None else table.texts_b(row, row + 1)
        found = TextView(
            **{name: about[name] for name in ("corpus", "row", "answer")},
            label=label_of(about),
            wrong=is_wrong(about),
            cluster=about["cluster"] if about["cluster"] >= 0 else None,
            text=None if table is None else table.text(row),
            text_b=second[0] if second else None,
            answers=[],
            maps=[],
            source="",
            note="",
        )
        if stored := self.maps.of_text(corpus, row):
            found.answers = _named(stored[0], self.view.classes)
            found.maps, found.source = [HeatMap(method=m.method, spans=spans(m.row)) for m in stored], "store"
        elif self.live and found.text is not None:
            made = self._explained(found.text, found.text_b, list(self.view.options["method"]), "predicted")
            found.answers, found.maps, found.source = _answers(made), _heat_maps(made), "model"
        else:
            self._from_examples(found, about)
        return found

    def neighbours(self, corpus: str, row: int, method: str, among: str, names: list[str]) -> NeighbourView:
        """The nearest texts by some representations: as the reading has them, else found now among the stored maps."""
        asked = {"corpus": corpus, "row": row, "method": method, "neighbour_corpus": among}
        near = [r for r in self.view.rows("neighbours") if all(r[name] == value for name, value in asked.items())]
        source, note = "reading", ""
        near = [r for r in near if r["representation"] in names]
        if near:
            found_in = dict.fromkeys(r["representation"] for r in near)
            by_name = {name: [r for r in near if r["representation"] == name] for name in found_in}
        elif self.live:
            # The model's tokenizer and embeddings are only read: nobody has to wait for their turn.
            by_name, source = self.maps.neighbours(corpus, row, method, among, names, self.model()), "store"
            note = "" if by_name else f"{NO_MAPS}."
        else:
            by_name, note = {}, f"The reading has none for this text. {self.why_not_live}"
        found = [Neighbours(representation=name, rows=self._near(rows, method)) for name, rows in by_name.items()]
        return NeighbourView(method=method, source=source if found else "", representations=found, note=note)

    def ground(self, corpus: str, toward: str, most: int) -> Ground:
        """Where a term is tried."""
        table = self.opened.corpus(corpus)
        if table is None:
            raise InputError(NO_TEXTS)
        if toward not in self.view.classes:
            raise InputError(f"there is no class {toward!r}; there are: {', '.join(self.view.classes) or 'none'}")
        texts = self.reading.tables["texts"]
        mine = np.flatnonzero(texts["corpus"].to_numpy(zero_copy_only=False) == corpus)
        answers = texts["answer"].take(mine).to_pylist()
        numbers = {name: number for number, name in enumerate(self.view.classes)}
        predicted = np.array([numbers[answer] for answer in answers], np.int64)
        return Ground(table, texts["row"].take(mine).to_numpy(), predicted, numbers[toward], most)

    def trials(self) -> TermTrials:
        """Terms tried on the live classifier."""
        if self._trials is None:
            self._trials = TermTrials(self.model(), self.workspace.busy)
        return self._trials

    def _explained(self, text: str, text_b: str | None, methods: list[str], target: str) -> Explanation:
        from theodolite.salience.explain import explain

        model = self.model()
        with self.workspace.busy():
            return explain(model, text, text_b, methods=tuple(dict.fromkeys(methods)), target=target)

    def _members(self, grouped: Grouped, number: int) -> NDArray[np.int64] | None:
        if self.view.has_members(grouped):
            return self.view.members(grouped, number)
        if not self.live:
            return None
        sizes = {card.id: card.size for card in self.view.cards(**vars(grouped))}
        return self.maps.members(vars(grouped), number, [sizes[i] for i in sorted(sizes)], self.model())

    def _from_examples(self, found: TextView, about: Row) -> None:
        """The map of a text that is an example of a cluster is in the reading."""
        rows = {r["method"]: r for r in self.view.rows("examples")
                if (r["corpus"], r["row"]) == (found.corpus, found.row)}  # fmt: skip
        found.maps = [HeatMap(method=method, spans=spans(row)) for method, row in rows.items()]
        found.source = "reading" if rows else ""
        found.text = found.text or next((row["text"] for row in rows.values()), None)
        if about["probability"] is not None:
            found.answers = [Answer(name=found.answer, probability=about["probability"])]
        if not rows:
            found.note = f"{NO_MAPS}, {NOT_LIVE}" if found.text is not None else NO_TEXTS

    def _near(self, rows: list[Row], method: str) -> list[Neighbour]:
        found = []
        for row in rows:
            corpus, number = row["neighbour_corpus"], row["neighbour_row"]
            maps = [m for m in self.maps.of_text(corpus, number) if m.method == method]
            about = {name: row[name] for name in ("rank", "cosine", "shared_terms", "text")}
            about |= {"label": label_of(row), "wrong": is_wrong({**row, "answer": row["predicted"]})}
            coloured = spans(maps[0].row) if maps else []
            found.append(Neighbour(corpus=corpus, row=number, answer=row["predicted"], spans=coloured, **about))
        return found


def _named(one: OneMap, classes: list[str]) -> list[Answer]:
    names = classes or ["value"]
    return [Answer(name=n, probability=p) for n, p in zip(names, one.probabilities, strict=True)]


def _answers(found: Explanation) -> list[Answer]:
    return [Answer(name=r["class"], probability=r["probability"]) for r in found.tables["answers"].to_pylist()]


def _heat_maps(found: Explanation) -> list[HeatMap]:
    columns, texts = found.tables["tokens"].to_pydict(), found.manifest["texts"]
    whole = {**columns, "text": texts[0], "text_b": texts[1] if len(texts) > 1 else None}
    return [HeatMap(method=m, spans=spans({**whole, "weight": columns[m]})) for m in found.methods]

"""The API of a study's results: tables, answers to take home, and patterns that mean the same. For its owner."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from theodolite.errors import InputError
from theodolite.reading import Reading, plain
from theodolite.studio.bounds import Number, Place, Seed
from theodolite.studio.downloads import attachment, csv_bytes, file_answers, parquet_bytes
from theodolite.studio.faults import NotFound
from theodolite.studio.jobs import Jobs
from theodolite.studio.workspace import Workspace
from theodolite.study.create import NoStudy
from theodolite.study.create import study as study_of
from theodolite.study.database import Database
from theodolite.study.exports import answers_table
from theodolite.study.gathering import decide, decisions, gather
from theodolite.study.kinds import ANNOTATION
from theodolite.study.merging import Pattern, Proposal, Vectors, contradictions, groups_of, patterns_of, proposals
from theodolite.study.models import Study
from theodolite.study.results import is_source, reading_of, results

MOST_PROPOSALS = 200
MOST_NAMES = 20_000
_CSV, _PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"


class Format(StrEnum):
    """Of the answers to take home."""

    csv = "csv"
    parquet = "parquet"


class Results(BaseModel):
    """What a study found so far."""

    kind: str = Field(description="annotation, rating or rationale.")
    findings: list[str] = Field(description="In plain sentences, how far the study is first.")
    tables: dict[str, list[dict[str, Any]]] = Field(description="Rows by table; what cannot be told is null.")
    manifest: dict[str, Any] = Field(description="The study's hash, the seed of the resampling, its source.")


class ItemsAnswered(BaseModel):
    """How many items have so many answers."""

    answers: int
    items: int


class PatternKey(BaseModel):
    """A pattern: the number of its answer and its place in it, from 0."""

    answer: Place
    place: Place


class NamedPattern(PatternKey):
    """A pattern that somebody named."""

    name: str
    group: str = Field(description="The name of the group that it is in.")
    annotator: str
    corpus: str
    item: str
    sentences: list[str] = Field(description="Those that show it.")


class ProposedMerge(BaseModel):
    """Two patterns that may mean the same, and how alike they are, each from 0 to 1."""

    a: NamedPattern
    b: NamedPattern
    likeness: float = Field(description="The largest of the others.")
    letters: float = Field(description="Of the names' letters.")
    shared: float = Field(description="Of the sentences that show them.")
    cosine: float | None = Field(description="Of the names' vectors; null where no encoder is at hand.")


class Decided(BaseModel):
    """A decision of a person."""

    a: NamedPattern
    b: NamedPattern
    same: bool
    contradicted: bool = Field(description="They were said to differ and are one by way of others.")


class Group(BaseModel):
    """Patterns that count as one."""

    name: str
    patterns: list[NamedPattern]


class Merges(BaseModel):
    """The patterns of a study, what is decided of them, and what is left to decide."""

    patterns: int
    live: bool = Field(description="Whether an encoder compared the names.")
    groups: list[Group]
    decided: list[Decided] = Field(description="The newest first.")
    proposals: list[ProposedMerge] = Field(description="The likeliest first; a person goes down as far as they like.")
    left: int = Field(description="How many there are in all.")


class Decision(BaseModel):
    """Whether two patterns mean the same; null takes a decision back."""

    a: PatternKey
    b: PatternKey
    same: bool | None


def router(workspace: Workspace, jobs: Jobs) -> APIRouter:
    """Its routes."""
    routes = APIRouter(prefix="/studies/{study_id}", tags=["results"])
    names = _Names(workspace)

    def found(study_id: int) -> tuple[Database, Study]:
        if workspace.database is None:
            raise NotFound("this studio has no database of studies")
        try:
            return workspace.database, study_of(workspace.database, study_id)
        except NoStudy as fault:
            raise NotFound(str(fault)) from None

    @routes.get("/results")
    def read(study_id: Number, seed: Seed = 0) -> Results:
        """Its tables and findings, finished or not."""
        database, study = found(study_id)
        reading = results(database, study_id, seed=seed, reading=_source(workspace, study))
        tables = {name: plain(table.to_pylist()) for name, table in reading.tables.items()}
        return Results(kind=study.kind, findings=reading.findings, tables=tables, manifest=plain(reading.manifest))

    @routes.get("/items")
    def items(study_id: Number) -> list[ItemsAnswered]:
        """How many items have no answer, one, two, … up to those wanted."""
        database, study = found(study_id)
        counts = [len(item.answers) for item in gather(database, study_id)]
        return [ItemsAnswered(answers=n, items=counts.count(n)) for n in range(study.annotators_per_item + 1)]

    @routes.get("/export.{form}", response_class=Response, responses=file_answers(_CSV, _PARQUET))
    def export(study_id: Number, form: Format) -> Response:
        """Every answer with its key."""
        database, _ = found(study_id)
        table = answers_table(database, study_id)
        if form is Format.csv:
            return attachment(csv_bytes(table), _CSV, f"study-{study_id}.csv")
        return attachment(parquet_bytes(table), _PARQUET, f"study-{study_id}.parquet")

    @routes.get("/merges")
    def merges(study_id: Number) -> Merges:
        """The patterns that people named, those that may mean the same side by side."""
        database, study = found(study_id)
        return _merges(database, study, names.vectors(study))

    @routes.post("/merges")
    def merge(study_id: Number, decision: Decision) -> Merges:
        """Keep a decision, and say what is left."""
        database, study = found(study_id)
        a, b = ((key.answer, key.place) for key in (decision.a, decision.b))
        decide(database, study_id, a, b, decision.same)
        return _merges(database, study, names.vectors(study))

    return routes


def _merges(database: Database, study: Study, vectors: Vectors | None) -> Merges:
    if study.kind != ANNOTATION:
        raise InputError(f"a study of kind {study.kind} names no patterns")
    patterns = patterns_of(gather(database, study.id))
    decided = decisions(database, study.id)
    groups = groups_of(patterns, decided)
    against = set(contradictions(groups, decided))
    known = {pattern.key: _named(pattern, groups[pattern.key]) for pattern in patterns}
    members: dict[str, list[NamedPattern]] = {}
    for pattern in patterns:
        members.setdefault(groups[pattern.key], []).append(known[pattern.key])
    left = proposals(patterns, decided, vectors)
    return Merges(
        patterns=len(patterns),
        live=vectors is not None,
        groups=[Group(name=name, patterns=some) for name, some in members.items()],
        decided=[
            Decided(a=known[a], b=known[b], same=same, contradicted=(a, b) in against)
            for (a, b), same in reversed(decided.items())
            if a in known and b in known
        ],
        proposals=[_proposed(one, known[one.a.key], known[one.b.key]) for one in left[:MOST_PROPOSALS]],
        left=len(left),
    )


def _named(pattern: Pattern, group: str) -> NamedPattern:
    answer, place = pattern.key
    return NamedPattern(
        answer=answer,
        place=place,
        name=pattern.name,
        group=group,
        annotator=pattern.annotator,
        corpus=pattern.corpus,
        item=pattern.item,
        sentences=list(pattern.sentences),
    )


def _proposed(one: Proposal, a: NamedPattern, b: NamedPattern) -> ProposedMerge:
    return ProposedMerge(
        a=a, b=b, likeness=one.likeness, letters=one.letters, shared=one.shared, cosine=plain(one.cosine)
    )


def _source(workspace: Workspace, study: Study) -> Reading | None:
    """The reading that the study was drawn from: open in the studio, else where it was."""
    name = study.source.get("reading") or study.source.get("instrument")
    for opened in workspace.surveys.values():
        if name in opened.readings and is_source(reading := opened.reading(str(name)), study.source):
            return reading
    return reading_of(study.source)


class _Names:
    """Vectors of patterns' names, each asked for once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[tuple[str, str], NDArray[np.float32]] = {}

    def vectors(self, study: Study) -> Vectors | None:
        """How names are turned into vectors; None where the study's encoder is not at hand."""
        about = (study.source.get("manifest") or {}).get("encoder")
        if about is None or self._workspace.model_of(about) is None:
            return None

        def embed(names: Sequence[str]) -> NDArray[np.float32]:
            encoder = self._workspace.encoder_of(about)
            with self._workspace.busy():
                new = [name for name in dict.fromkeys(names) if (about["hash"], name) not in self._known]
                if len(self._known) + len(new) > MOST_NAMES:
                    self._known, new = {}, list(dict.fromkeys(names))
                if new:
                    self._known |= zip(((about["hash"], name) for name in new), encoder.embed(new), strict=True)
                return np.array([self._known[about["hash"], name] for name in names]).reshape(len(names), -1)

        return embed

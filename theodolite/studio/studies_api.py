"""The API of the studies page, for the owner: create, invite, watch, close."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from theodolite.errors import InputError
from theodolite.options import options_of
from theodolite.studio.bounds import MOST, MOST_SEED, Number
from theodolite.studio.faults import NotFound
from theodolite.studio.jobs import Jobs
from theodolite.studio.workspace import Workspace
from theodolite.study import assignment, create, drawing, invitations
from theodolite.study.create import NoStudy
from theodolite.study.database import Database
from theodolite.study.draws import DRAWS
from theodolite.study.faults import NoAnnotator
from theodolite.study.kinds import INSTRUCTIONS, MOST_MINUTES, TITLES
from theodolite.study.models import Study
from theodolite.study.progress import progress

Kind = Literal["annotation", "rating", "rationale"]


class Source(BaseModel):
    """An open reading that a study can be drawn from."""

    survey: str = Field(description="The survey's slug.")
    title: str = Field(description="The survey's title.")
    reading: str


class StudyForm(BaseModel):
    """A kind of study: what to draw from, the form of its options, what annotators are told by default."""

    kind: Kind
    instrument: str = Field(description="Whose readings it is drawn from.")
    title: str
    instructions: str
    options: dict[str, Any] = Field(description="JSON Schema of an object with the options of the draw.")
    sources: list[Source]


class NewStudy(BaseModel):
    """A study to be drawn from an open survey."""

    model_config = ConfigDict(extra="forbid")

    kind: Kind
    name: str = Field(description="For the owner; annotators never see it.")
    survey: str
    reading: str | None = Field(default=None, description="The survey's first of the instrument, when not given.")
    options: dict[str, Any] = Field(default_factory=dict)
    annotators: int = Field(default=2, ge=1, le=100, description="Opinions on each item.")
    release_after: int = Field(
        default=create.RELEASE_AFTER // 60,
        ge=1,
        le=MOST_MINUTES,
        description="Minutes until what was abandoned is free.",
    )
    seed: int = Field(default=0, ge=0, lt=MOST_SEED)
    title: str = ""
    instructions: str = ""


class AnnotatorInfo(BaseModel):
    """An annotator, and how far they are."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    answered: int
    in_hand: int = Field(description="Items taken and not answered yet.")
    seen_at: datetime | None


class ProgressInfo(BaseModel):
    """How far a study is."""

    model_config = ConfigDict(from_attributes=True)

    items: int
    wanted: int = Field(description="Answers wanted: items times annotators.")
    answered: int
    in_hand: int
    finished_items: int = Field(description="Items with all the answers they want.")
    annotators: list[AnnotatorInfo]


class StudyInfo(BaseModel):
    """A study, as its owner knows it."""

    id: int
    name: str
    kind: Kind
    title: str
    instructions: str
    annotators_per_item: int
    release_after: int = Field(description="Minutes.")
    seed: int
    source: dict[str, Any] = Field(description="What the items were drawn from, and how.")
    created_at: datetime
    closed_at: datetime | None
    progress: ProgressInfo


class Names(BaseModel):
    """People to invite."""

    names: list[str] = Field(min_length=1, max_length=1000)


class Invitation(BaseModel):
    """A personal link, told this once."""

    name: str
    token: str
    path: str = Field(description="The link's path on this studio.")


class Whose(BaseModel):
    """Whose unanswered items to give back."""

    annotator: int | None = Field(default=None, ge=1, lt=MOST, description="Of everyone, when not given.")


class Released(BaseModel):
    """How many items are free again."""

    released: int


def router(workspace: Workspace, _jobs: Jobs) -> APIRouter:
    """The routes of studies."""
    api = APIRouter(prefix="/studies", tags=["studies"])

    @api.get("", summary="All studies, the newest first")
    def studies() -> list[StudyInfo]:
        database = _database(workspace)
        return [_info(database, study) for study in create.studies(database)]

    @api.get("/forms", summary="The kinds of studies, their options, and the open readings they can be drawn from")
    def forms() -> list[StudyForm]:
        return [_form(workspace, kind) for kind in DRAWS]

    @api.post("", summary="Create a study from an open survey", status_code=201)
    def new(asked: NewStudy) -> StudyInfo:
        database = _database(workspace)
        opened = workspace.survey(asked.survey)
        draw = drawing.draw_of(asked.kind, asked.options)
        there = opened.named(draw.instrument)
        if not there:
            raise InputError(f"{opened.title} has no reading of {draw.instrument}, which such a study is drawn from")
        reading = asked.reading or there[0]
        place = opened.place(reading)
        found = {} if place is None else {"folder": str(place.resolve())}
        number = drawing.create_from_reading(
            database,
            opened.reading(reading),
            asked.kind,
            name=asked.name,
            options=asked.options,
            seed=asked.seed,
            source={"survey": opened.title, "slug": opened.slug, "reading": reading, **found},
            annotators_per_item=asked.annotators,
            release_after=60 * asked.release_after,
            title=asked.title,
            instructions=asked.instructions,
        )
        return _one(database, number)

    @api.get("/{id}", summary="One study")
    def one(id: Number) -> StudyInfo:
        return _one(_database(workspace), id)

    @api.get("/{id}/progress", summary="How far it is")
    def how_far(id: Number) -> ProgressInfo:
        return _one(_database(workspace), id).progress

    @api.post("/{id}/invite", summary="Invite annotators; their links are told this once")
    def invite(id: Number, asked: Names) -> list[Invitation]:
        database = _database(workspace)
        _one(database, id)
        return [_invitation(*each) for each in invitations.invite(database, id, asked.names)]

    @api.post("/{id}/annotators/{annotator}/link", summary="A new link for an annotator; the old one is void")
    def link(id: Number, annotator: Number) -> Invitation:
        database = _database(workspace)
        _one(database, id)
        try:
            return _invitation(*invitations.new_link(database, id, annotator))
        except NoAnnotator as fault:
            raise NotFound(str(fault)) from None

    @api.post("/{id}/release", summary="Give back items that were taken and not answered")
    def release(id: Number, asked: Whose) -> Released:
        database = _database(workspace)
        _one(database, id)
        return Released(released=assignment.release(database, id, annotator_id=asked.annotator))

    @api.post("/{id}/close", summary="Take no more answers")
    def close(id: Number) -> StudyInfo:
        database = _database(workspace)
        _one(database, id)
        create.close(database, id)
        return _one(database, id)

    @api.post("/{id}/reopen", summary="Take answers again")
    def reopen(id: Number) -> StudyInfo:
        database = _database(workspace)
        _one(database, id)
        create.reopen(database, id)
        return _one(database, id)

    return api


def _database(workspace: Workspace) -> Database:
    found = workspace.database
    if found is None:
        raise InputError("this studio has no database of studies; open it with --database")
    return found


def _one(database: Database, id: int) -> StudyInfo:
    try:
        return _info(database, create.study(database, id))
    except NoStudy as fault:
        raise NotFound(str(fault)) from None


def _info(database: Database, study: Study) -> StudyInfo:
    names = ("id", "name", "kind", "title", "instructions", "annotators_per_item", "seed", "source", "created_at")
    return StudyInfo(
        **{name: getattr(study, name) for name in (*names, "closed_at")},
        release_after=study.release_after // 60,
        progress=ProgressInfo.model_validate(progress(database, study.id)),
    )


def _form(workspace: Workspace, kind: str) -> StudyForm:
    draw = DRAWS[kind]
    properties = {o.name: {"title": o.name.replace("_", " "), **o.schema} for o in options_of(draw)}
    return StudyForm(
        kind=kind,  # type: ignore[arg-type]
        instrument=draw.instrument,
        title=TITLES[kind],
        instructions=INSTRUCTIONS[kind],
        options={"type": "object", "properties": properties, "additionalProperties": False},
        sources=[
            Source(survey=opened.slug, title=opened.title, reading=reading)
            for opened in workspace.surveys.values()
            for reading in opened.named(draw.instrument)
        ],
    )


def _invitation(name: str, token: str) -> Invitation:
    return Invitation(name=name, token=token, path=f"/a/{token}")

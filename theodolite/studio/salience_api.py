"""The API of the salience page."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import anyio.from_thread
from fastapi import APIRouter, HTTPException, Query, Request

from theodolite.errors import InputError
from theodolite.studio.bounds import Offset
from theodolite.studio.faults import NotFound
from theodolite.studio.jobs import Job, JobInfo, JobProgress, Jobs
from theodolite.studio.opened import Opened
from theodolite.studio.salience_desk import NO_TEXTS, Desk
from theodolite.studio.salience_schemas import (
    About,
    ClusterCard,
    ClusterView,
    CorpusInfo,
    Measured,
    NeighbourView,
    SensitivityRequest,
    Texts,
    TextView,
    Tried,
    TryRequest,
)
from theodolite.studio.salience_view import ORDERS, SUREST, Grouped, TextFilter
from theodolite.studio.workspace import Workspace

Name = Annotated[str, Query(max_length=500)]
Limit = Annotated[int, Query(ge=1, le=200)]
Order = Annotated[str, Query(pattern=f"^({'|'.join(ORDERS)})$")]

# What a browser that no longer waits for an answer is told.
_WITHDRAWN = 499

COMMANDS = [
    "theodolite train classifier all-MiniLM-L6-v2 --corpus 'reviews.csv?text=text&label=label' --out my-classifier",
    "theodolite survey my-classifier --corpus 'reviews.csv?text=text&label=label' --out my-survey",
    "theodolite studio my-survey --model my-classifier",
]


class Desks:
    """The desk of each reading, made when it is first asked for."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._desks: dict[tuple[str, str], Desk] = {}
        self._lock = threading.Lock()

    def desk(self, slug: str, reading: str = "") -> Desk:
        """The desk of a reading; of the survey's own where none is named."""
        opened = self._workspace.survey(slug)
        names = opened.named("salience")
        if not names:
            raise NotFound(why_none(opened))
        name = reading or names[0]
        if name not in names:
            raise NotFound(f"{slug} has no salience reading of that name; it has: {', '.join(names)}")
        found = opened.reading(name)
        with self._lock:
            desk = self._desks.get((slug, name))
            if desk is None or desk.reading is not found:
                desk = self._desks[slug, name] = Desk(self._workspace, opened, found)
            return desk


def router(workspace: Workspace, jobs: Jobs) -> APIRouter:
    """Its routes."""
    api = APIRouter(prefix="/surveys/{slug}/salience", tags=["salience"])
    desks = Desks(workspace)

    @api.get("", summary="The classifier, its scores, and what can be asked")
    def about(slug: str, reading: Name = "") -> About:
        opened = workspace.survey(slug)
        if not opened.named("salience"):
            return nothing(opened)
        return everything(desks.desk(slug, reading))

    @api.get("/clusters", summary="Clusters, the most suspicious first")
    def clusters(
        slug: str,
        reading: Name = "",
        corpus: Name = "",
        method: Name = "",
        representation: Name = "",
        predicted: Name = "",
    ) -> list[ClusterCard]:
        return desks.desk(slug, reading).view.cards(corpus, method, representation, predicted)

    @api.get("/cluster", summary="A cluster and its examples")
    def cluster(
        slug: str, corpus: Name, method: Name, representation: Name, predicted: Name, id: Offset, reading: Name = ""
    ) -> ClusterView:
        return desks.desk(slug, reading).cluster(Grouped(corpus, method, representation, predicted), id)

    @api.get("/members", summary="A page of the texts of a cluster")
    def members(
        slug: str,
        corpus: Name,
        method: Name,
        representation: Name,
        predicted: Name,
        id: Offset,
        reading: Name = "",
        wrong: bool = False,
        order: Order = SUREST,
        offset: Offset = 0,
        limit: Limit = 20,
    ) -> Texts:
        grouped = Grouped(corpus, method, representation, predicted)
        asked = TextFilter(corpus, wrong=wrong, order=order, offset=offset, limit=limit)
        return desks.desk(slug, reading).members(grouped, id, asked)

    @api.get("/texts", summary="A page of the texts with their answers")
    def texts(
        slug: str,
        corpus: Name,
        reading: Name = "",
        label: Name = "",
        answer: Name = "",
        wrong: bool = False,
        word: Name = "",
        order: Order = SUREST,
        offset: Offset = 0,
        limit: Limit = 20,
    ) -> Texts:
        desk = desks.desk(slug, reading)
        asked = TextFilter(corpus, label, answer, wrong, " ".join(word.split()), order, offset, limit)
        return desk.view.texts(asked, desk.opened.corpus(corpus))

    @api.get("/text", summary="One text with its map by every method")
    def text(slug: str, corpus: Name, row: Offset, reading: Name = "") -> TextView:
        return desks.desk(slug, reading).text(corpus, row)

    @api.get("/neighbours", summary="The texts nearest to one, by every representation")
    def neighbours(
        slug: str,
        corpus: Name,
        row: Offset,
        reading: Name = "",
        method: Name = "",
        among: Name = "",
        representation: Name = "",
    ) -> NeighbourView:
        desk = desks.desk(slug, reading)
        method = method or desk.view.methods[0]
        if representation and representation not in (*desk.view.representations, *desk.view.further_representations):
            raise InputError(f"texts of this reading cannot be compared by {representation!r}")
        if method not in desk.view.methods:
            raise InputError(f"the reading has no maps by {method!r}; it has: {', '.join(desk.view.methods)}")
        names = [representation] if representation else desk.view.representations
        return desk.neighbours(corpus, row, method, among or desk.view.options.get("among") or corpus, names)

    @api.get("/measured", summary="Sensitivity, faithfulness and positions of the reading")
    def measured(slug: str, reading: Name = "") -> Measured:
        return desks.desk(slug, reading).view.measured()

    @api.post("/try", summary="What the classifier answers to a text of one's own, and why")
    def try_text(slug: str, asked: TryRequest, request: Request, reading: Name = "") -> Tried:
        desk = desks.desk(slug, reading)
        desk.model()
        with workspace.busy():
            # While this question waited for its turn a person may have typed on, and asked another.
            if anyio.from_thread.run(request.is_disconnected):
                raise HTTPException(_WITHDRAWN, "nobody waits for this answer any more")
            return desk.tried(asked)

    @api.post("/sensitivity", summary="Put a term into texts and mask it, as a job", response_model=JobInfo)
    def sensitivity(slug: str, asked: SensitivityRequest, reading: Name = "") -> Job:
        desk = desks.desk(slug, reading)
        if not desk.live:
            raise InputError(desk.why_not_live)
        ground = desk.ground(asked.corpus, asked.toward, asked.texts)

        def work(progress: JobProgress) -> dict[str, Any]:
            return desk.trials().run(asked.term, ground, progress).model_dump()

        return jobs.start(f"What “{asked.term}” does to {asked.toward}", work)

    return api


def everything(desk: Desk) -> About:
    """What a reading offers."""
    view, manifest = desk.view, desk.reading.manifest
    among = view.options.get("among")
    return About(
        available=True,
        why="",
        commands=[],
        readings=desk.opened.named("salience"),
        model=manifest["encoder"]["name"],
        classes=view.classes,
        corpora=[
            CorpusInfo(name=name, texts=count, why_no_texts=NO_TEXTS if desk.opened.corpus(name) is None else None)
            for name, count in view.corpora.items()
        ],
        scores=view.scores(),
        methods=view.methods,
        representations=view.representations,
        further_representations=view.further_representations,
        among=among,
        marker=view.options.get("marker"),
        live=desk.live,
        why_not_live=desk.why_not_live,
        findings=desk.reading.findings,
    )


def nothing(opened: Opened) -> About:
    """The statement about a survey that has no salience reading."""
    return About(
        available=False,
        why=why_none(opened),
        commands=COMMANDS,
        readings=[],
        model=str(opened.manifest["encoder"]["name"]),
        classes=[],
        corpora=[],
        scores=[],
        methods=[],
        representations=[],
        further_representations=[],
        among=None,
        marker=None,
        live=False,
        why_not_live="",
        findings=[],
    )


def why_none(opened: Opened) -> str:
    """Why a survey has no salience reading, as its manifest says."""
    reason = (opened.manifest.get("left_out") or {}).get("salience")
    return f"This survey has no salience reading: {reason or 'it was not among the instruments that were run'}."

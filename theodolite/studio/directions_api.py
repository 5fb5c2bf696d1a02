"""The API of the directions page."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query

from theodolite.studio.bounds import Offset
from theodolite.studio.directions_concepts import Concepts, ConceptSpace, checked
from theodolite.studio.directions_live import Found, Live
from theodolite.studio.directions_models import (
    ConceptAsked,
    Curves,
    Direction,
    Listing,
    LiveState,
    Overview,
    Separator,
)
from theodolite.studio.directions_named import can_be_made
from theodolite.studio.directions_spaces import Place, Spaces
from theodolite.studio.directions_views import curves_of, direction_of
from theodolite.studio.faults import Detail, NotFound
from theodolite.studio.jobs import Job, JobInfo, JobProgress, Jobs
from theodolite.studio.workspace import Workspace

NOT_READY = "the vectors of this reading's texts have not been read yet: POST to directions/live first"
Reading = Annotated[str, Query(description="a reading of illusion; the survey's own where none is named")]
Name = Annotated[str, Query(description="neuron N, random N, pc N, or any name in the list", max_length=200)]
WAITS: dict[int | str, dict[str, Any]] = {
    409: {"model": Detail, "description": "it can be measured once directions/live is ready"}
}


def router(workspace: Workspace, jobs: Jobs) -> APIRouter:
    """Its routes."""
    api = APIRouter(prefix="/surveys/{slug}/directions", tags=["directions"])
    spaces, concepts = Spaces(workspace, jobs), Concepts(workspace.store)

    @api.get("", summary="The directions of the reading, a page of them")
    def listing(
        slug: str,
        reading: Reading = "",
        kind: Annotated[str, Query(max_length=20)] = "",
        verdict: Annotated[str, Query(max_length=20)] = "",
        word: Annotated[str, Query(max_length=100, description="in a pattern or in the name")] = "",
        sort: Literal["name", "pattern", "locality", "patterns"] = "name",
        descending: bool = False,
        offset: Offset = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> Listing:
        book = spaces.book(spaces.place(slug, reading))
        return book.listing(kind, verdict, word, sort, descending, offset, limit)

    @api.get("/overview", summary="What the reading says of all directions")
    def overview(slug: str, reading: Reading = "") -> Overview:
        return spaces.book(spaces.place(slug, reading)).overview()

    @api.get("/one", summary="A direction in every corpus")
    def one(slug: str, name: Name, reading: Reading = "") -> Direction | None:
        """One that is not in the reading is measured now; null as long as directions/live is not ready."""
        place = spaces.place(slug, reading)
        book = spaces.book(place)
        if name in book:
            return book.direction(name)
        if concepts.is_one(name):
            concepts.get(name, space_of(place))  # told where nobody knows it
        return direction_of(*measured(place, name)) if spaces.live(place) is not None else None

    @api.get("/curves", summary="Tokens over fifths and distances of any direction", responses=WAITS)
    def curves(slug: str, name: Name, reading: Reading = "") -> Curves:
        live, found, _ = measured(spaces.place(slug, reading), name)
        return curves_of(live, found)

    def space_of(place: Place) -> ConceptSpace:
        return ConceptSpace.of(workspace.survey(place.slug).reading(place.reading).manifest)

    def measured(place: Place, name: str) -> tuple[Live, Found, Separator | None]:
        told, vector = concepts.get(name, space_of(place)) if concepts.is_one(name) else (None, None)
        live = spaces.live(place)
        if live is None:
            raise HTTPException(409, NOT_READY)
        if told is None and name in spaces.book(place) and not can_be_made(name):
            raise NotFound(f"the vector of '{name}' is not in the reading: only its tables can be shown")
        return live, live.found(name, vector), told

    @api.get("/live", summary="Whether any direction can be measured now")
    def state(slug: str, reading: Reading = "") -> LiveState:
        return spaces.state(spaces.place(slug, reading))

    @api.post(
        "/live",
        summary="Read the texts' vectors, computing those that the store lacks",
        status_code=202,
        response_model=JobInfo,
    )
    def prepare(slug: str, reading: Reading = "") -> Job:
        return spaces.start(spaces.place(slug, reading))

    @api.post(
        "/concepts",
        summary="Learn a concept from two lists of texts, and measure it",
        status_code=202,
        response_model=JobInfo,
    )
    def concept(slug: str, asked: ConceptAsked, reading: Reading = "") -> Job:
        """The job's result is {"name": the concept's name}."""
        place = spaces.place(slug, reading)
        for side in (asked.texts, asked.others):
            checked(side)
        return jobs.start("A concept's direction", lambda progress: learn(place, asked, progress))

    def learn(place: Place, asked: ConceptAsked, progress: JobProgress) -> dict[str, str]:
        live = spaces.prepare(place, progress)
        opened = workspace.survey(place.slug)
        about = opened.reading(place.reading).manifest
        with progress.step("embedding and separating the texts", 0):
            encoder = workspace.encoder_of(about["encoder"])
            with workspace.busy():
                name = concepts.learn(asked, encoder, about["options"], opened.texts())
        with progress.step("top sentences, patterns and distances", 0):
            live.found(name, concepts.get(name, space_of(place))[1])
        return {"name": name}

    return api

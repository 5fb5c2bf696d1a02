"""The API of the map page. Points, codes and scores travel as little-endian arrays."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Body, Header, Query
from fastapi.responses import Response, StreamingResponse

from theodolite.studio.downloads import file_answers
from theodolite.studio.faults import NotFound
from theodolite.studio.jobs import Job, JobInfo, JobProgress, Jobs
from theodolite.studio.map_desk import Maps
from theodolite.studio.map_models import (
    AboutMap,
    ConceptTyped,
    PointsAsked,
    PointText,
    ScoresAbout,
    VectorsState,
)
from theodolite.studio.map_texts import MEDIA, chosen
from theodolite.studio.workspace import Workspace

BYTES = "application/octet-stream"
Reading = Annotated[str, Query(description="a reading that has a map; the first where none is named", max_length=200)]
Direction = Annotated[
    str, Query(description="neuron N, random N, pc N, or the name of a typed concept", max_length=100)
]
Known = Annotated[str, Header(alias="if-none-match", include_in_schema=False)]


class Arrays(Response):
    """An answer of bytes."""

    media_type = BYTES


def arrays(what: str) -> dict[str, Any]:
    """How a route that answers with bytes is described."""
    content = {BYTES: {"schema": {"type": "string", "format": "binary"}}}
    return {"response_class": Arrays, "responses": {200: {"description": what, "content": content}}}


def router(workspace: Workspace, jobs: Jobs) -> APIRouter:
    """Its routes."""
    api = APIRouter(prefix="/surveys/{slug}/map", tags=["map"])
    maps = Maps(workspace)

    @api.get("", summary="What the map has, and how it may be coloured")
    def about(slug: str, reading: Reading = "") -> AboutMap:
        return maps.get(slug, reading).about()

    @api.get("/points", summary="The places of all points", **arrays("x, y (float32), then corpus (uint16)"))
    def points(slug: str, reading: Reading = "", known: Known = "") -> Response:
        found = maps.get(slug, reading).points
        return _cached(found.body, f'"{found.hash}"', known)

    @api.get("/colours/{id}", summary="What a colouring gives each point", **arrays("codes (uint16) or float32"))
    def colours(slug: str, id: str, reading: Reading = "", known: Known = "") -> Response:
        found = maps.get(slug, reading)
        if id not in found.colours:
            raise NotFound(f"no colouring is called so; there are: {', '.join(found.colours)}")
        return _cached(found.colours[id].body, f'"{found.points.hash}-{id}"', known)

    @api.get("/scores", summary="Every point's score along a direction", **arrays("float32, NaN where it has none"))
    def scores(slug: str, direction: Direction, reading: Reading = "") -> Response:
        return Arrays(maps.get(slug, reading).scores(direction).astype("<f4").tobytes())

    @api.get("/scores/about", summary="How the scores along a direction are spread")
    def scores_about(slug: str, direction: Direction, reading: Reading = "") -> ScoresAbout:
        return maps.get(slug, reading).scores_about(direction)

    @api.get("/vectors", summary="Whether directions can be scored now")
    def vectors(slug: str, reading: Reading = "") -> VectorsState:
        return maps.get(slug, reading).vectors_state()

    @api.post("/vectors", summary="Compute the texts' vectors", status_code=202, response_model=JobInfo)
    def compute(slug: str, reading: Reading = "") -> Job:
        return maps.get(slug, reading).compute_vectors(jobs)

    @api.post("/concepts", summary="A direction from two lists of texts", status_code=202, response_model=JobInfo)
    def concept(slug: str, typed: ConceptTyped, reading: Reading = "") -> Job:
        """The job's result is {"name": the direction's name}."""
        mine = maps.get(slug, reading)

        def work(progress: JobProgress) -> dict[str, str]:
            return {"name": mine.learn(typed, progress)}

        return jobs.start("A concept's direction", work)

    @api.post("/texts", summary="The texts of some points")
    def texts(slug: str, asked: PointsAsked, reading: Reading = "") -> list[PointText]:
        return maps.get(slug, reading).texts.page(asked.points, asked.longest)

    @api.get("/search", summary="The points whose text holds some words", **arrays("points (uint32), in order"))
    def search(slug: str, q: Annotated[str, Query(min_length=1, max_length=200)], reading: Reading = "") -> Response:
        """Characters as they are, in whatever case."""
        return Arrays(maps.get(slug, reading).texts.holding(q).astype("<u4").tobytes())

    @api.post(
        "/export",
        summary="A selection as a file",
        response_class=StreamingResponse,
        responses=file_answers(*MEDIA.values()),
    )
    def export(
        slug: str,
        selection: Annotated[bytes, Body(media_type=BYTES, description="a bit a point, of each byte the lowest first")],
        kind: Annotated[Literal["csv", "jsonl", "parquet"], Query(alias="format")] = "csv",
        direction: Direction = "",
        reading: Reading = "",
    ) -> StreamingResponse:
        """Text, corpus, row, place and categories of each point; with a direction, its score too."""
        mine = maps.get(slug, reading)
        which: np.ndarray[Any, np.dtype[np.int64]] = chosen(selection, len(mine.points))
        scored = {direction: mine.scores(direction)} if direction else {}
        headers = {"content-disposition": f'attachment; filename="selection.{kind}"'}
        return StreamingResponse(mine.texts.file(which, kind, scored), media_type=MEDIA[kind], headers=headers)

    return api


def _cached(body: bytes, tag: str, known: str) -> Response:
    """An answer that the browser keeps, and asks about before using it again."""
    headers = {"etag": tag, "cache-control": "private, no-cache"}
    if tag in [one.strip().removeprefix("W/") for one in known.split(",")]:
        return Response(status_code=304, headers=headers)
    return Arrays(body, headers=headers)

"""The API of the layers page."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from theodolite.studio.jobs import Job, JobInfo, Jobs
from theodolite.studio.layers_curves import CONTEXTUALITY, ISOTROPY, MEASURES, ROUNDNESS, roundness, series
from theodolite.studio.layers_models import Layers, Sibling, Vocabulary, Word, WordAsked
from theodolite.studio.layers_words import LiveWords
from theodolite.studio.opened import Opened
from theodolite.studio.workspace import Workspace

With = Annotated[
    list[str] | None, Query(alias="with", max_length=8, description="further surveys to compare with; repeatable")
]


def router(workspace: Workspace, jobs: Jobs) -> APIRouter:
    """Its routes."""
    api = APIRouter(prefix="/surveys/{slug}/layers", tags=["layers"])
    words = LiveWords(workspace, jobs)

    def others(slug: str, beside: list[str] | None) -> list[Opened]:
        return [workspace.survey(name) for name in dict.fromkeys(beside or ()) if name != slug]

    @api.get("", summary="Contextuality and isotropy, layer by layer")
    def layers(slug: str, beside: With = None) -> Layers:
        shown = [workspace.survey(slug), *others(slug, beside)]
        return Layers(
            measures=MEASURES,
            series=[one for opened in shown for one in series(opened)],
            roundness_measures=ROUNDNESS,
            roundness=[one for opened in shown for one in roundness(opened)],
            layers={opened.slug: opened.manifest["encoder"]["layers"] for opened in shown},
        )

    @api.get("/others", summary="Surveys that are open and can be compared")
    def siblings(slug: str) -> list[Sibling]:
        own = {c["hash"] for c in workspace.survey(slug).manifest["corpora"]}
        return [
            Sibling(
                survey=opened.slug,
                title=opened.title,
                encoder=opened.manifest["encoder"]["name"],
                corpora=opened.corpora,
                shared=[c["name"] for c in opened.manifest["corpora"] if c["hash"] in own],
            )
            for opened in workspace.surveys.values()
            if opened.slug != slug and (opened.named(CONTEXTUALITY) or opened.named(ISOTROPY))
        ]

    @api.get("/words", summary="Measured words, by their beginning")
    def vocabulary(
        slug: str,
        prefix: Annotated[str, Query(max_length=100)] = "",
        limit: Annotated[int, Query(ge=1, le=200)] = 20,
    ) -> Vocabulary:
        found = words.of(workspace.survey(slug))
        return found.beginning(prefix, limit) if found is not None else Vocabulary(total=0, words=[])

    @api.get("/word", summary="A word's own curves")
    def word(slug: str, word: Annotated[str, Query(min_length=1, max_length=100)], beside: With = None) -> Word:
        return words.word(workspace.survey(slug), others(slug, beside), word)

    @api.post("/word", summary="Measure a word over the survey's corpora", status_code=202, response_model=JobInfo)
    def measure(slug: str, asked: WordAsked) -> Job:
        """Ask for the word again once the job is done."""
        return words.start(workspace.survey(slug), asked.word)

    return api

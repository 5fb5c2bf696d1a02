"""The API of annotators: what they see of a study by their personal link, and how they answer.

Nothing here reads the key of an item, and nothing but the fields of these answers is sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Path
from pydantic import BaseModel, Field

from theodolite.studio.faults import Detail
from theodolite.studio.jobs import Jobs
from theodolite.studio.workspace import Workspace
from theodolite.study import assignment as work
from theodolite.study.answers import Answer, parse_answer
from theodolite.study.assignment import LONGEST_KEY, Done, Shown
from theodolite.study.database import Database
from theodolite.study.faults import Refused, UnknownLink
from theodolite.study.items import Content

Token = Annotated[str, Path(description="The annotator's own, from the personal link.")]
State = Literal["item", "done", "waiting", "closed"]


class OwnProgress(BaseModel):
    """How far the annotator is."""

    answered: int = Field(description="Items answered.")
    left: int = Field(description="Items that are left for this annotator; fewer as others answer them.")
    undo: str | None = Field(description="The item whose answer an undo would take back.")


class AboutStudy(BaseModel):
    """The study as its annotators know it."""

    title: str
    instructions: str
    kind: Literal["annotation", "rating", "rationale"]
    closed: bool = Field(description="Whether answers are no longer taken.")
    progress: OwnProgress


class ItemShown(BaseModel):
    """An item to judge."""

    assignment: str = Field(description="What to answer it by: random, and this annotator's only.")
    content: Content
    previous: Answer | None = Field(description="The annotator's own answer that was taken back.")


class NextItem(BaseModel):
    """The item to judge now, or why there is none."""

    state: State = Field(description="waiting: others have what is left, and may give it back.")
    item: ItemShown | None
    progress: OwnProgress


class Submission(BaseModel):
    """An answer to an item."""

    assignment: str = Field(max_length=64)
    answer: Answer
    key: str = Field(
        min_length=1,
        max_length=LONGEST_KEY,
        description="Made anew for every answer, and the same when that has to be sent again.",
    )


class Saved(BaseModel):
    """The answer is on disk."""

    assignment: str
    repeated: bool = Field(description="Whether it was there before.")
    progress: OwnProgress


class Undo(BaseModel):
    """Which answer to take back."""

    assignment: str | None = Field(
        default=None, max_length=64, description="The item of the last answer, so that an undo sent twice is one."
    )


def router(workspace: Workspace, _jobs: Jobs) -> APIRouter:
    """The routes of annotators."""
    late = {"model": Detail, "description": "It comes too late or twice: the study is closed, the item someone else's."}
    api = APIRouter(prefix="/annotate/{token}", tags=["annotators"], responses={409: late})

    def database() -> Database:
        found = workspace.database
        if found is None:
            raise UnknownLink
        return found

    @api.get("/about", summary="The study, and how far this annotator is")
    def about(token: Token) -> AboutStudy:
        with _told():
            found = work.about(database(), token)
        return AboutStudy(
            title=found.title,
            instructions=found.instructions,
            kind=found.kind,
            closed=found.closed,
            progress=_progress(found.done),
        )

    @api.post("/next", summary="The item to judge now")
    def next_item(token: Token) -> NextItem:
        with _told():
            shown = work.next_item(database(), token)
            if shown is not None:
                return NextItem(state="item", item=_item(shown), progress=_progress(shown.done))
            found = work.about(database(), token)
        state: State = "closed" if found.closed else "waiting" if found.waiting else "done"
        return NextItem(state=state, item=None, progress=_progress(found.done))

    @api.post("/answers", summary="Keep an answer; once this is answered, it is on disk")
    def submit(token: Token, body: Submission) -> Saved:
        with _told():
            kept = work.submit(database(), token, body.assignment, body.answer, body.key)
        return Saved(assignment=kept.assignment_id, repeated=kept.repeated, progress=_progress(kept.done))

    @api.post("/undo", summary="Take back the last answer")
    def undo(token: Token, body: Undo) -> NextItem:
        with _told():
            shown = work.undo(database(), token, body.assignment)
        return NextItem(state="item", item=_item(shown), progress=_progress(shown.done))

    return api


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except UnknownLink:
        raise HTTPException(404, "not found") from None
    except Refused as fault:
        raise HTTPException(409, str(fault)) from None


def _progress(done: Done) -> OwnProgress:
    return OwnProgress(answered=done.answered, left=done.left, undo=done.last)


def _item(shown: Shown) -> ItemShown:
    previous = None if shown.previous is None else parse_answer(shown.content.kind, shown.previous)
    return ItemShown(assignment=shown.assignment_id, content=shown.content, previous=previous)

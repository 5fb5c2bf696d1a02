"""Answers: what is a valid one, by kind of study, and those that were given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from sqlalchemy import select

from theodolite.errors import InputError
from theodolite.study.database import Database
from theodolite.study.items import AnnotationContent
from theodolite.study.models import Annotator, Assignment, Item, ItemKey
from theodolite.study.models import Answer as AnswerRow

LEAST_SENTENCES = 3
MOST_PATTERNS = 10


def _trimmed(text: str) -> str:
    """Without the NUL character, which PostgreSQL cannot hold, and without space around it."""
    return text.replace("\0", "").strip()


def _said(text: str) -> str:
    if not text:
        raise ValueError("must say something")
    return text


_Trimmed = Annotated[str, AfterValidator(_trimmed)]


class _Answered(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class NamedPattern(_Answered):
    """A pattern in words, and the sentences that show it by their places from 0."""

    name: Annotated[_Trimmed, AfterValidator(_said)] = Field(max_length=500)
    sentences: list[Annotated[int, Field(ge=0)]] = Field(min_length=LEAST_SENTENCES, max_length=100)

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.sentences)) < len(self.sentences):
            raise ValueError("a sentence is named twice")
        self.sentences.sort()
        return self


class AnnotationAnswer(_Answered):
    """Is there a pattern, which, and in which sentences?"""

    kind: Literal["annotation"] = "annotation"
    pattern: bool
    patterns: list[NamedPattern] = Field(default_factory=list, max_length=MOST_PATTERNS)

    @model_validator(mode="after")
    def _named_if_seen(self) -> Self:
        if self.pattern and not self.patterns:
            raise ValueError("a pattern was seen: say which")
        if self.patterns and not self.pattern:
            raise ValueError("no pattern was seen, yet one is named")
        return self


class RatingAnswer(_Answered):
    """How good is the explanation, from 1 to 5?"""

    kind: Literal["rating"] = "rating"
    rating: int = Field(ge=1, le=5)


class RationaleAnswer(_Answered):
    """Do the neighbours explain the mistake, and how?"""

    kind: Literal["rationale"] = "rationale"
    explains: bool
    rationale: _Trimmed = Field(default="", max_length=2000)

    @model_validator(mode="after")
    def _said_if_explained(self) -> Self:
        if self.explains and not self.rationale:
            raise ValueError("the neighbours explain it: say how")
        return self


Answer = Annotated[AnnotationAnswer | RatingAnswer | RationaleAnswer, Field(discriminator="kind")]
_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


def parse_answer(
    kind: str, given: Mapping[str, Any] | AnnotationAnswer | RatingAnswer | RationaleAnswer
) -> AnnotationAnswer | RatingAnswer | RationaleAnswer:
    """An answer of the wanted kind; one that is not valid is refused in one line."""
    try:
        answer = _ANSWER.validate_python({"kind": kind, **given} if isinstance(given, Mapping) else given)
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        raise InputError(f"{where}: {first['msg']}" if where else first["msg"]) from None
    if answer.kind != kind:
        raise InputError(f"an answer of kind '{answer.kind}' to a study of kind '{kind}'")
    return answer


def check_sentences(answer: BaseModel, content: BaseModel) -> None:
    """Refuse a pattern with a sentence that the item does not have."""
    if isinstance(answer, AnnotationAnswer) and isinstance(content, AnnotationContent):
        for pattern in answer.patterns:
            if pattern.sentences[-1] >= len(content.sentences):
                raise InputError(
                    f"there is no sentence {pattern.sentences[-1]}; the last is {len(content.sentences) - 1}"
                )


@dataclass(frozen=True)
class Given:
    """An answer that counts: to which item, by whom, what, when, and after how many seconds."""

    answer_id: int
    item_id: int
    annotator_id: int
    annotator: str
    kind: str
    answer: dict[str, Any]
    submitted_at: datetime
    seconds: float


def answers(database: Database, study_id: int) -> list[Given]:
    """The answers that count, in the order they were given. They say nothing of the key."""
    asked = (
        select(AnswerRow, Assignment.item_id, Annotator.id, Annotator.name)
        .join(Assignment, AnswerRow.assignment_id == Assignment.id)
        .join(Annotator, Assignment.annotator_id == Annotator.id)
        .where(Annotator.study_id == study_id, AnswerRow.withdrawn_at.is_(None))
        .order_by(AnswerRow.id)
    )
    with database.reading() as session:
        return [
            Given(a.id, item, who, name, a.answer["kind"], a.answer, a.submitted_at, a.seconds)
            for a, item, who, name in session.execute(asked)
        ]


def with_key(database: Database, study_id: int) -> list[tuple[Given, dict[str, Any]]]:
    """For the owner: every answer that counts with its item's key, the draw's id among it."""
    asked = select(ItemKey).join(Item, ItemKey.item_id == Item.id).where(Item.study_id == study_id)
    with database.reading() as session:
        keys = {row.item_id: {"id": row.name, **row.key} for row in session.scalars(asked)}
    return [(one, keys[one.item_id]) for one in answers(database, study_id)]

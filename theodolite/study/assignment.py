"""What an annotator does: take the next item, answer it, take an answer back. Each is one transaction.

The study's row is locked from the first step to the last (the whole file, in SQLite), so that two people at once are
two people one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from theodolite.study.answers import (
    AnnotationAnswer,
    RatingAnswer,
    RationaleAnswer,
    check_sentences,
    parse_answer,
)
from theodolite.study.create import locked_study
from theodolite.study.database import Database
from theodolite.study.faults import Refused
from theodolite.study.invitations import annotator_of
from theodolite.study.items import AnnotationContent, RatingContent, RationaleContent, stored_content
from theodolite.study.models import Annotator, Answer, Assignment, Item, Study, now
from theodolite.study.slots import free_items, held, in_others_hands, release_abandoned, release_held, take

LONGEST_KEY = 100
Kind = Literal["annotation", "rating", "rationale"]


@dataclass(frozen=True)
class Done:
    """How far an annotator is: what was answered, what is left for them, and whose answer an undo would take back."""

    answered: int
    left: int
    last: str | None


@dataclass(frozen=True)
class About:
    """What an annotator is told of the study. ``waiting``: how many items others have in hand and may give back."""

    title: str
    instructions: str
    kind: Kind
    closed: bool
    waiting: int
    done: Done


@dataclass(frozen=True)
class Shown:
    """An item before an annotator. ``previous`` is their own answer that they took back."""

    assignment_id: str
    content: AnnotationContent | RatingContent | RationaleContent
    previous: dict[str, Any] | None
    done: Done


@dataclass(frozen=True)
class Receipt:
    """The answer is on disk. ``repeated``: it was so before."""

    assignment_id: str
    version: int
    repeated: bool
    done: Done


def about(database: Database, token: str) -> About:
    """The study as its annotators know it."""
    with database.reading() as session:
        annotator = annotator_of(session, token)
        study = session.get_one(Study, annotator.study_id)
        return About(
            title=study.title,
            instructions=study.instructions,
            kind=cast(Kind, study.kind),
            closed=study.closed_at is not None,
            waiting=in_others_hands(session, study, annotator),
            done=_done(session, study, annotator),
        )


def next_item(database: Database, token: str) -> Shown | None:
    """The item to judge now: the one in hand, else a free one; none when there is none, or the study is closed."""
    with database.writing() as session:
        annotator, study = _entered(session, token)
        if study.closed_at is not None:
            return None
        moment = now()
        annotator.seen_at = moment
        mine = next(iter(held(session, annotator)), None)
        if mine is None:
            release_abandoned(session, study, moment)
            free = free_items(session, study, annotator)
            mine = take(session, study, annotator, free[0], moment) if free else None
        if mine is None:
            return None
        mine.seen_at = moment
        return _shown(session, study, annotator, mine)


def submit(
    database: Database,
    token: str,
    assignment_id: str,
    answer: Mapping[str, Any] | AnnotationAnswer | RatingAnswer | RationaleAnswer,
    submission_key: str,
) -> Receipt:
    """Keep an answer. When this returns, it is on disk; given again, it counts once."""
    if not 1 <= len(submission_key) <= LONGEST_KEY or "\0" in submission_key:
        raise Refused(f"a submission key has 1 to {LONGEST_KEY} characters")
    with database.writing() as session:
        annotator, study = _entered(session, token)
        mine = _assigned(session, annotator, assignment_id)
        given = parse_answer(study.kind, answer)
        body = given.model_dump()
        before = list(session.scalars(_versions(mine)))
        known = next((a for a in before if a.submission_key == submission_key), None)
        if known is not None and (known.withdrawn_at is not None or known.answer != body):
            raise Refused("this answer was taken back or changed since; look at the item again")
        counted = known or next((a for a in before if a.withdrawn_at is None and a.answer == body), None)
        if counted is not None:
            return Receipt(mine.public_id, counted.version, True, _done(session, study, annotator))
        if study.closed_at is not None:
            raise Refused("the study is closed; thank you, this answer is no longer needed")
        if mine.answered:
            raise Refused("this item has your answer already; take it back to change it")
        check_sentences(given, stored_content(session.get_one(Item, mine.item_id).content))
        moment = now()
        seconds = max((moment - mine.taken_at).total_seconds(), 0.0)
        if mine.slot is None and take(session, study, annotator, mine.item_id, moment) is None:
            raise Refused("this item went to someone else while you were away; go on with the next one")
        mine.answered, mine.seen_at, annotator.seen_at = True, moment, moment
        version = len(before) + 1
        kept = {"answer": body, "seconds": seconds, "submitted_at": moment}
        session.add(Answer(assignment_id=mine.id, version=version, submission_key=submission_key, **kept))
        session.flush()
        return Receipt(mine.public_id, version, False, _done(session, study, annotator))


def undo(database: Database, token: str, assignment_id: str | None = None) -> Shown:
    """Take back the last answer; its item is before the annotator again, and the answer stays in the history.

    assignment_id: the item whose answer is meant, so that an undo sent twice takes back one.
    """
    with database.writing() as session:
        annotator, study = _entered(session, token)
        if study.closed_at is not None:
            raise Refused("the study is closed; answers can no longer be taken back")
        _, last, mine = _last(session, annotator)
        if assignment_id is not None:
            named = _assigned(session, annotator, assignment_id)
            if not named.answered and named.slot is not None and session.scalar(_versions(named).limit(1)):
                return _shown(session, study, annotator, named)
            if mine is not named:
                raise Refused("only the last answer can be taken back")
        if last is None or mine is None:
            raise Refused("there is no answer to take back")
        moment = now()
        last.withdrawn_at = moment
        mine.answered = False
        mine.taken_at = mine.seen_at = annotator.seen_at = moment
        session.flush()
        return _shown(session, study, annotator, mine)


def release(database: Database, study_id: int, *, annotator_id: int | None = None) -> int:
    """For the owner: items taken and not answered, by one annotator or by all, may go to others; how many."""
    with database.writing() as session:
        return release_held(session, locked_study(session, study_id), annotator_id=annotator_id)


def _entered(session: Session, token: str) -> tuple[Annotator, Study]:
    annotator = annotator_of(session, token)
    return annotator, locked_study(session, annotator.study_id)


def _assigned(session: Session, annotator: Annotator, public_id: str) -> Assignment:
    asked = select(Assignment).where(Assignment.annotator_id == annotator.id, Assignment.public_id == public_id)
    found = session.scalar(asked) if "\0" not in public_id else None
    if found is None:
        raise Refused("this item is not yours")
    return found


def _versions(assignment: Assignment) -> Select[Answer]:
    return select(Answer).where(Answer.assignment_id == assignment.id).order_by(Answer.version.desc())


def _last(session: Session, annotator: Annotator) -> tuple[int, Answer | None, Assignment | None]:
    """How many answers of an annotator count, and the last of them with its item."""
    counted = (Assignment.annotator_id == annotator.id, Answer.withdrawn_at.is_(None))
    asked = select(func.count(Answer.id), func.max(Answer.id)).join(Assignment, Answer.assignment_id == Assignment.id)
    count, newest = session.execute(asked.where(*counted)).one()
    if not count:
        return 0, None, None
    last = session.get_one(Answer, newest)
    return count, last, session.get_one(Assignment, last.assignment_id)


def _done(session: Session, study: Study, annotator: Annotator) -> Done:
    answered, _, last = _last(session, annotator)
    left = len(held(session, annotator)) + len(free_items(session, study, annotator))
    return Done(answered, left, last.public_id if last else None)


def _shown(session: Session, study: Study, annotator: Annotator, mine: Assignment) -> Shown:
    content = stored_content(session.get_one(Item, mine.item_id).content)
    before = session.scalar(_versions(mine).limit(1))
    return Shown(mine.public_id, content, before.answer if before else None, _done(session, study, annotator))

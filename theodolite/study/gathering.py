"""A study out of its database: its items with their answers, and what was decided of its patterns."""

from __future__ import annotations

from sqlalchemy import delete, select

from theodolite.errors import InputError
from theodolite.study.answers import answers
from theodolite.study.create import locked_study
from theodolite.study.database import Database
from theodolite.study.judged import Judged, Row
from theodolite.study.merging import Key, ordered
from theodolite.study.models import Annotator, Assignment, Item, ItemKey, PatternMerge, now
from theodolite.study.models import Answer as AnswerRow


def gather(database: Database, study_id: int) -> list[Judged]:
    """The items in their own order, those that nobody answered too; for the owner, since the key is with them."""
    asked = (
        select(Item, ItemKey)
        .join(ItemKey, ItemKey.item_id == Item.id)
        .where(Item.study_id == study_id)
        .order_by(Item.id)
    )
    with database.reading() as session:
        items = [(item.id, key.name, item.content, key.key) for item, key in session.execute(asked)]
    said: dict[int, dict[str, Row]] = {}
    numbers: dict[int, dict[str, int]] = {}
    for one in answers(database, study_id):
        said.setdefault(one.item_id, {})[one.annotator] = one.answer
        numbers.setdefault(one.item_id, {})[one.annotator] = one.answer_id
    return [
        Judged(name, content, key, said.get(number, {}), numbers.get(number, {}))
        for number, name, content, key in items
    ]


def decisions(database: Database, study_id: int) -> dict[tuple[Key, Key], bool]:
    """What a person said of two patterns: the same or not, in the order it was said."""
    asked = select(PatternMerge).where(PatternMerge.study_id == study_id).order_by(PatternMerge.id)
    with database.reading() as session:
        return {((m.answer_a, m.place_a), (m.answer_b, m.place_b)): m.same for m in session.scalars(asked)}


def decide(database: Database, study_id: int, a: Key, b: Key, same: bool | None) -> None:
    """Keep a decision on two patterns of a study in place of any before; None takes it back."""
    first, second = ordered(a, b)
    with database.writing() as session:
        locked_study(session, study_id)
        whose = (
            select(AnswerRow)
            .join(Assignment, AnswerRow.assignment_id == Assignment.id)
            .join(Annotator, Assignment.annotator_id == Annotator.id)
            .where(Annotator.study_id == study_id, AnswerRow.id.in_([first[0], second[0]]))
        )
        known = {one.id: len(one.answer.get("patterns", ())) for one in session.scalars(whose)}
        for answer, place in (first, second):
            if not 0 <= place < known.get(answer, 0):
                raise InputError(f"study {study_id} has no pattern {place} in an answer {answer}")
        session.execute(
            delete(PatternMerge).where(
                PatternMerge.answer_a == first[0],
                PatternMerge.place_a == first[1],
                PatternMerge.answer_b == second[0],
                PatternMerge.place_b == second[1],
            )
        )
        if same is not None:
            session.add(
                PatternMerge(
                    study_id=study_id,
                    answer_a=first[0],
                    place_a=first[1],
                    answer_b=second[0],
                    place_b=second[1],
                    same=same,
                    decided_at=now(),
                )
            )

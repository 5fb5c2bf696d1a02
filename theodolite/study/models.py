"""The tables of studies. What annotators see and the key that tells it apart are in separate tables."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    DateTime,
    Float,
    ForeignKey,
    Integer,
    String,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

Json = dict[str, Any]


class Moment(TypeDecorator[datetime]):
    """A moment in UTC; SQLite forgets the time zone, so it is put back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The tables, as the newest migration leaves them."""


class Study(Base):
    """A study. ``name`` and ``source`` are the owner's; ``title`` and ``instructions`` are for annotators."""

    __tablename__ = "studies"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    kind: Mapped[str] = mapped_column(String(20))
    title: Mapped[str] = mapped_column(String(200))
    instructions: Mapped[str] = mapped_column(String(10_000))
    annotators_per_item: Mapped[int]
    # Seconds after which an item taken and not answered may go to someone else.
    release_after: Mapped[int]
    seed: Mapped[int] = mapped_column(BigInteger)
    # What the items were drawn from: the survey, the reading's manifest, the options of the draw.
    source: Mapped[Json] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(Moment)
    closed_at: Mapped[datetime | None] = mapped_column(Moment)


class Item(Base):
    """What an annotator is shown: ``content``, and nothing of where it came from."""

    __tablename__ = "items"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    content: Mapped[Json] = mapped_column(JSON)


class ItemKey(Base):
    """Where an item came from: condition, method, direction, rows. For the owner only."""

    __tablename__ = "item_keys"

    item_id: Mapped[int] = mapped_column(ForeignKey("items.id"), primary_key=True)
    # The id that the draw gave it.
    name: Mapped[str] = mapped_column(String(200))
    key: Mapped[Json] = mapped_column(JSON)


class Annotator(Base):
    """A person with a personal link, of which only a hash is kept."""

    __tablename__ = "annotators"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    name: Mapped[str] = mapped_column(String(100))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    invited_at: Mapped[datetime] = mapped_column(Moment)
    seen_at: Mapped[datetime | None] = mapped_column(Moment)


class Assignment(Base):
    """An item in the hands of an annotator.

    ``slot`` is a number from 1 to the study's ``annotators_per_item``, none while the item is released: two of an item
    never have the same, so there is never an opinion too many.
    """

    __tablename__ = "assignments"
    __table_args__ = (UniqueConstraint("item_id", "slot"), UniqueConstraint("item_id", "annotator_id"))

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("items.id"))
    annotator_id: Mapped[int] = mapped_column(ForeignKey("annotators.id"), index=True)
    # What the annotator's browser knows it by: random, so it says nothing of the item.
    public_id: Mapped[str] = mapped_column(String(32), unique=True)
    slot: Mapped[int | None]
    answered: Mapped[bool] = mapped_column(Boolean)
    # The annotator's first, second, … item.
    place: Mapped[int]
    taken_at: Mapped[datetime] = mapped_column(Moment)
    seen_at: Mapped[datetime] = mapped_column(Moment)


class Answer(Base):
    """An answer as it was given. One that was taken back stays, with ``withdrawn_at``; at most one counts."""

    __tablename__ = "answers"
    __table_args__ = (UniqueConstraint("assignment_id", "submission_key"), UniqueConstraint("assignment_id", "version"))

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id"))
    version: Mapped[int]
    # Made by the annotator's browser, the same when it has to send an answer again.
    submission_key: Mapped[str] = mapped_column(String(100))
    answer: Mapped[Json] = mapped_column(JSON)
    seconds: Mapped[float] = mapped_column(Float)
    submitted_at: Mapped[datetime] = mapped_column(Moment)
    withdrawn_at: Mapped[datetime | None] = mapped_column(Moment)


class PatternMerge(Base):
    """A person's decision whether two named patterns mean the same.

    A pattern is known by its answer and its place (from 0) among the answer's patterns; the lesser of the two, by
    answer and then place, is the first.
    """

    __tablename__ = "pattern_merges"
    __table_args__ = (UniqueConstraint("answer_a", "place_a", "answer_b", "place_b"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    answer_a: Mapped[int] = mapped_column(ForeignKey("answers.id"))
    place_a: Mapped[int]
    answer_b: Mapped[int] = mapped_column(ForeignKey("answers.id"))
    place_b: Mapped[int]
    same: Mapped[bool] = mapped_column(Boolean)
    decided_at: Mapped[datetime] = mapped_column(Moment)


def now() -> datetime:
    """This moment."""
    return datetime.now(UTC)

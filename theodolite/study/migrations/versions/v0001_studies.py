"""Studies, their items and keys, annotators, assignments, answers, merged patterns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table."""
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("instructions", sa.String(10_000), nullable=False),
        sa.Column("annotators_per_item", sa.Integer, nullable=False),
        sa.Column("release_after", sa.Integer, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("source", sa.JSON, nullable=False),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("closed_at", moment),
    )
    op.create_table(
        "items",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study_id", sa.Integer, sa.ForeignKey("studies.id"), nullable=False, index=True),
        sa.Column("content", sa.JSON, nullable=False),
    )
    op.create_table(
        "item_keys",
        sa.Column("item_id", sa.Integer, sa.ForeignKey("items.id"), primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("key", sa.JSON, nullable=False),
    )
    op.create_table(
        "annotators",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study_id", sa.Integer, sa.ForeignKey("studies.id"), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("invited_at", moment, nullable=False),
        sa.Column("seen_at", moment),
        sa.UniqueConstraint("study_id", "name"),
    )
    op.create_table(
        "assignments",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("item_id", sa.Integer, sa.ForeignKey("items.id"), nullable=False),
        sa.Column("annotator_id", sa.Integer, sa.ForeignKey("annotators.id"), nullable=False, index=True),
        sa.Column("public_id", sa.String(32), nullable=False, unique=True),
        sa.Column("slot", sa.Integer),
        sa.Column("answered", sa.Boolean, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("taken_at", moment, nullable=False),
        sa.Column("seen_at", moment, nullable=False),
        sa.UniqueConstraint("item_id", "slot"),
        sa.UniqueConstraint("item_id", "annotator_id"),
    )
    op.create_table(
        "answers",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("assignment_id", sa.Integer, sa.ForeignKey("assignments.id"), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("submission_key", sa.String(100), nullable=False),
        sa.Column("answer", sa.JSON, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("submitted_at", moment, nullable=False),
        sa.Column("withdrawn_at", moment),
        sa.UniqueConstraint("assignment_id", "submission_key"),
        sa.UniqueConstraint("assignment_id", "version"),
    )
    op.create_table(
        "pattern_merges",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study_id", sa.Integer, sa.ForeignKey("studies.id"), nullable=False, index=True),
        sa.Column("answer_a", sa.Integer, sa.ForeignKey("answers.id"), nullable=False),
        sa.Column("place_a", sa.Integer, nullable=False),
        sa.Column("answer_b", sa.Integer, sa.ForeignKey("answers.id"), nullable=False),
        sa.Column("place_b", sa.Integer, nullable=False),
        sa.Column("same", sa.Boolean, nullable=False),
        sa.Column("decided_at", moment, nullable=False),
        sa.UniqueConstraint("answer_a", "place_a", "answer_b", "place_b"),
    )

"""Run the migrations on the connection that was handed over, within its transaction."""

from __future__ import annotations

from alembic import context

from theodolite.study.models import Base

# A name of its own: a team's database may hold other things that alembic keeps.
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=context.config.attributes["version_table"],
    transactional_ddl=True,
)
context.run_migrations()

"""The database of studies: opened by a path (SQLite) or an address (PostgreSQL), made and upgraded by migrations."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session

from theodolite.errors import InputError

VERSION_TABLE = "theodolite_version"
MIGRATIONS = Path(__file__).parent / "migrations"
# Any number will do, as long as every opener of a database takes the same.
_MIGRATING = 7_463_001
_BUSY_SECONDS = 30


def default_database() -> str:
    """Where studies are kept when nothing else is said: beside the store."""
    home = os.environ.get("THEODOLITE_HOME") or "~/.cache/theodolite"
    return str(Path(home).expanduser() / "studies.db")


class Database:
    """Studies in SQLite or PostgreSQL; safe to use from many threads, and by many processes at once.

    What is written inside ``writing`` is on disk when that ends without a fault, and is nowhere otherwise.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name
        self.engine = engine
        self._writing_engine = engine.execution_options(theodolite_writing=True)
        snapshot = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
        self._reading_engine = engine.execution_options(**snapshot)
        # SQLite has one writer at a time: threads that wait here are served sooner than those that poll for the file.
        self._turn = threading.Lock() if engine.dialect.name == "sqlite" else nullcontext()

    @classmethod
    def open(cls, url_or_path: str | Path) -> Self:
        """A new database is made, an older one upgraded, one of a newer version refused."""
        url = _url(url_or_path)
        name = url.render_as_string(hide_password=True) if "://" in str(url_or_path) else str(url_or_path)
        try:
            opened = cls(_engine(url), name)
            opened._migrate()
        except ModuleNotFoundError as fault:
            raise InputError(f"{name}: needs {fault.name}; install theodolite[postgresql]") from None
        except DBAPIError as fault:
            said = " ".join(str(fault.orig).split())
            raise InputError(f"{name}: cannot be used as a database of studies ({said})") from None
        except SQLAlchemyError as fault:
            raise InputError(f"{name}: cannot be opened ({fault})") from None
        return opened

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that sees one state of the database and writes nothing."""
        with Session(self._reading_engine) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session whose changes are kept, all of them, when it ends without a fault."""
        with self._turn, Session(self._writing_engine, expire_on_commit=False) as session, session.begin():
            yield session

    def close(self) -> None:
        """Let go of its connections."""
        self.engine.dispose()

    def _migrate(self) -> None:
        from alembic import command
        from alembic.config import Config
        from alembic.runtime.migration import MigrationContext
        from alembic.script import ScriptDirectory

        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        script = ScriptDirectory.from_config(config)
        with self._turn, self._writing_engine.begin() as connection:
            if self.engine.dialect.name == "postgresql":
                # Two that open a new database at once: the second waits, and finds it made.
                connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": _MIGRATING})
            context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
            there = context.get_current_revision()
            if there == script.get_current_head():
                return
            known = {step.revision for step in script.walk_revisions()}
            if there is not None and there not in known:
                raise InputError(f"{self.name}: made by a newer theodolite (version {there}); update theodolite")
            config.attributes.update(connection=connection, version_table=VERSION_TABLE)
            command.upgrade(config, "head")


def _url(given: str | Path) -> URL:
    if "://" not in str(given):
        place = Path(given).expanduser()
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise InputError(f"{given}: cannot be made ({fault.strerror})") from None
        return URL.create("sqlite", database=str(place))
    try:
        url = make_url(str(given))
    except ArgumentError:
        raise InputError("--database: not an address; give a path, or postgresql://USER@HOST/NAME") from None
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "postgresql" or (url.drivername == "sqlite" and url.database):
        return url
    raise InputError(f"--database {url.drivername}://…: studies are kept in SQLite (a path) or postgresql://…")


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        # Not as the server may have been set up: whoever waited for a study must see what was done to it meanwhile.
        return create_engine(url, isolation_level="READ COMMITTED", pool_pre_ping=True, pool_size=10, max_overflow=20)
    engine = create_engine(url, pool_size=10, max_overflow=50, connect_args={"timeout": _BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: Any) -> None:
        # Transactions are begun below: the driver would begin one too late, after the first reading.
        connection.isolation_level = None
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        writing = connection.get_execution_options().get("theodolite_writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine

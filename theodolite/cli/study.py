"""`theodolite study`: people judging, blind."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from theodolite.cli import build, show
from theodolite.cli.jobs import check_out, print_json
from theodolite.cli.studio import DEFAULT_PORT, NAMED, open_studio
from theodolite.errors import InputError
from theodolite.options import options_of
from theodolite.study.draws import DRAWS
from theodolite.study.kinds import KINDS, MOST_MINUTES

if TYPE_CHECKING:
    from theodolite.study.database import Database

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

SURVEY = Annotated[Path, typer.Argument(metavar="SURVEY", help="The folder of a survey, or of one reading.")]
STUDY = Annotated[int, typer.Argument(metavar="ID", help="The study's number, as `study list` shows it.")]
DATABASE = Annotated[
    str | None,
    typer.Option("--database", metavar="URL", help="A file (SQLite) or postgresql://…; beside the store by default."),
]
NAMES = Annotated[list[str], typer.Option("--invite", metavar="NAME", help="An annotator to invite; repeatable.")]
ADDRESS = Annotated[str, typer.Option("--address", metavar="URL", help="Where the study will be served, for links.")]
RELEASE_AFTER = Annotated[
    int,
    typer.Option(
        "--release-after",
        min=1,
        max=MOST_MINUTES,
        metavar="MINUTES",
        help="Until what was taken and not answered is free.",
    ),
]
HERE = f"http://127.0.0.1:{DEFAULT_PORT}"

_CREATE: dict[str, tuple[Any, Any]] = {
    "kind": (Annotated[str, typer.Option("--kind", help=f"One of {', '.join(KINDS)}.")], Parameter.empty),
    "name": (Annotated[str, typer.Option("--name", help="For you; annotators never see it.")], Parameter.empty),
    "annotators": (Annotated[int, typer.Option("--annotators", min=1, help="Opinions on each item.")], 2),
    "release_after": (RELEASE_AFTER, 60),
    "title": (Annotated[str, typer.Option("--title", help="What annotators read above the items.")], ""),
    "instructions": (Annotated[str, typer.Option("--instructions", help="What annotators are told to do.")], ""),
    "invite": (NAMES, []),
    "address": (ADDRESS, HERE),
    "seed": (build.SEED, 0),
    "database": (DATABASE, None),
    "json": (build.JSON, False),
}


def create(**given: Any) -> None:
    """A study, and links for those invited."""
    from theodolite.study.drawing import create_from_survey
    from theodolite.study.invitations import clean_name, invite

    names = [clean_name(name) for name in given["invite"]]
    if len(set(names)) < len(names):
        raise InputError("--invite: a name is given twice")
    options = _of_kind(given["kind"], given)
    database = _open(given["database"])
    number = create_from_survey(
        database,
        given["survey"],
        given["kind"],
        name=given["name"],
        options=options,
        seed=given["seed"],
        annotators_per_item=given["annotators"],
        release_after=60 * given["release_after"],
        title=given["title"],
        instructions=given["instructions"],
    )
    links = invite(database, number, names) if names else []
    _say_created(database, number, links, given["address"], given["json"])


def _created_with() -> list[Parameter]:
    """The survey, then the options of every kind of draw, then those of every study."""
    survey = Parameter("survey", Parameter.KEYWORD_ONLY, annotation=SURVEY)
    draws = [p for draw in DRAWS.values() for p in build.model_and_options(draw, _CREATE)[1:]]
    return [survey, *build.common_parameters(_CREATE), *draws]


app.command("create", help="Draw a study from a survey, or from one reading.")(
    build.with_parameters(create, _created_with())
)


@app.command("list", help="The studies of a database.")
def list_studies(database: DATABASE = None, json: build.JSON = False) -> None:
    """A row for each."""
    from theodolite.study.create import studies
    from theodolite.study.progress import progress

    opened = _open(database)
    rows = [(study, progress(opened, study.id)) for study in studies(opened)]
    if json:
        told = [
            {"id": s.id, "name": s.name, "kind": s.kind, "closed": s.closed_at is not None, "progress": _plain(p)}
            for s, p in rows
        ]
        print_json({"studies": told})
        return
    table = Table("id", "name", "kind", "items", "answers", "annotators", "state")
    for s, p in rows:
        state = "closed" if s.closed_at else "open"
        cells = (s.id, s.name, s.kind, p.items, f"{p.answered} of {p.wanted}", len(p.annotators), state)
        table.add_row(*(escape(str(cell)) for cell in cells))
    Console().print(table)


@app.command("invite", help="Invite annotators: each gets a personal link, shown this once.")
def invite_more(
    id: STUDY,
    names: Annotated[list[str], typer.Argument(metavar="NAME…", help="The annotators' names.")],
    database: DATABASE = None,
    address: ADDRESS = HERE,
    json: build.JSON = False,
) -> None:
    """Links."""
    from theodolite.study.invitations import invite

    _say_links(invite(_open(database), id, names), address, json)


@app.command("close", help="Take no more answers.")
def close_study(id: STUDY, database: DATABASE = None) -> None:
    """The study is over."""
    from theodolite.study.create import close

    close(_open(database), id)
    sys.stderr.write(f"Study {id} is closed\n")


@app.command("serve", help="Serve studies to their annotators, and to you, until interrupted.")
def serve_studies(
    database: DATABASE = None,
    host: Annotated[
        str,
        typer.Option("--host", help="The address to listen on; 0.0.0.0 for annotators on other machines."),
    ] = "127.0.0.1",
    name: NAMED = [],  # noqa: B006
    # Always the same one: the links that annotators have name it.
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Where to listen.")] = DEFAULT_PORT,
    token: Annotated[
        str | None, typer.Option("--token", help="What the owner must show; made up where it is needed and not given.")
    ] = None,
) -> None:
    """The studio without surveys."""
    from theodolite.study.database import default_database

    open_studio(
        [], database=database or default_database(), host=host, names=name, port=port, token=token, browser=False
    )


@app.command("results", help="What people answered: tables, agreement, figures.")
def results(
    id: STUDY, database: DATABASE = None, out: build.OUT = None, json: build.JSON = False, seed: build.SEED = 0
) -> None:
    """The reading of a study."""
    from theodolite.study.results import results as read_results

    check_out(out)
    found = read_results(_open(database), id, seed=seed)
    if out is not None:
        found.save(out)
    if json:
        print_json(found.to_json())
    else:
        show.reading(found)
    if out is not None:
        sys.stderr.write(f"The results are in {out}\n")


def _of_kind(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the kind's draw; one of another kind's was a mistake."""
    if kind not in DRAWS:
        raise InputError(f"--kind {kind}: not one of {', '.join(KINDS)}")
    for other, draw in DRAWS.items():
        for declared in options_of(draw):
            value = given[declared.name]
            if other != kind and (tuple(value) if declared.many else value) != declared.default:
                flag = f"--{declared.name.replace('_', '-')}"
                raise InputError(f"{flag}: is for studies of kind {other}, and this one is of kind {kind}")
    return {declared.name: given[declared.name] for declared in options_of(DRAWS[kind])}


def _open(given: str | None) -> Database:
    from theodolite.study.database import Database, default_database

    return Database.open(given or default_database())


def _say_created(database: Database, number: int, links: list[tuple[str, str]], address: str, json: bool) -> None:
    from theodolite.study.progress import progress

    found = progress(database, number)
    if json:
        told = [{"name": name, "link": _link(address, token)} for name, token in links]
        print_json({"study": number, "items": found.items, "answers": found.wanted, "links": told})
        return
    sys.stderr.write(f"Study {number}: {found.items} items, {found.wanted} answers wanted\n")
    if links:
        _say_links(links, address, json)


def _say_links(links: list[tuple[str, str]], address: str, json: bool) -> None:
    if json:
        print_json({"links": [{"name": name, "link": _link(address, token)} for name, token in links]})
        return
    for name, token in links:
        sys.stdout.write(f"{name}\t{_link(address, token)}\n")
    sys.stderr.write("Hand these links over now: they cannot be shown again\n")


def _link(address: str, token: str) -> str:
    return f"{address.rstrip('/')}/a/{token}"


def _plain(found: Any) -> dict[str, Any]:
    told = dataclasses.asdict(found)
    for row in told["annotators"]:
        row["seen_at"] = row["seen_at"] and row["seen_at"].isoformat()
    return told

"""`theodolite studio`: the web application over surveys and a live encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli import build

DEFAULT_PORT = 8400
PORT = Annotated[
    int | None,
    typer.Option("--port", min=1, max=65535, help=f"Where to listen; {DEFAULT_PORT}, or the next that is free."),
]
NAMED = Annotated[
    list[str],
    typer.Option(
        "--name", metavar="HOST", help="A name by which others ask for this machine, such as an alias; repeatable."
    ),
]
NO_BROWSER = Annotated[bool, typer.Option("--no-browser", help="Do not open the browser.")]


def studio(
    surveys: Annotated[
        list[Path],
        typer.Argument(metavar="SURVEY", help="Folders that `survey --out`, or any verb's --out, wrote."),
    ] = [],  # noqa: B006
    model: Annotated[
        list[str],
        typer.Option("--model", help="An encoder that may be asked live, beside the bundled one; repeatable."),
    ] = [],  # noqa: B006
    catalogue: Annotated[
        list[Path], typer.Option("--catalogue", metavar="DIR", help="What `catalogue build` wrote; repeatable.")
    ] = [],  # noqa: B006
    database: Annotated[
        str | None,
        typer.Option(
            "--database", metavar="URL", help="Of studies: a file, or postgresql://…; one in your own folder."
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host", help="The address to listen on; with others than this machine's own, a token is needed."
        ),
    ] = "127.0.0.1",
    name: NAMED = [],  # noqa: B006
    port: PORT = None,
    token: Annotated[
        str | None, typer.Option("--token", help="What others must show; made up where it is needed and not given.")
    ] = None,
    no_browser: NO_BROWSER = False,
    store: build.STORE = None,
) -> None:
    """Look at surveys and ask the encoder in the browser."""
    open_studio(
        surveys,
        models=model,
        catalogues=catalogue,
        database=database,
        host=host,
        names=name,
        port=port,
        token=token,
        browser=not no_browser,
        store=store,
    )


def open_studio(
    surveys: Sequence[Path],
    *,
    models: Sequence[str | Path] = (),
    catalogues: Sequence[Path] = (),
    database: str | None = None,
    host: str = "127.0.0.1",
    names: Sequence[str] = (),
    port: int | None = None,
    token: str | None = None,
    browser: bool = True,
    store: str | None = None,
) -> None:
    """Serve the studio until it is interrupted."""
    from theodolite.store import Store
    from theodolite.studio.app import make_studio
    from theodolite.studio.serve import listen, safe_settings, serve

    settings = safe_settings(host, port or DEFAULT_PORT, token, names)
    app = make_studio(
        list(surveys),
        models=list(models),
        catalogues=list(catalogues),
        database=database,
        store=Store(store),
        settings=settings,
    )
    serve(app, settings, listen(settings, fixed=port is not None), browser=browser)

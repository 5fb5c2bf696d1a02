"""The built pages: files of the folder `static`, looked up in a list of them, never joined from a request."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response

from theodolite.studio.faults import NotFound

STATIC = Path(__file__).parent / "static"
STUDIO, ANNOTATOR = "index.html", "annotate.html"
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html",
          ".woff2": "font/woff2", ".png": "image/png", ".ico": "image/x-icon", ".json": "application/json",
          ".wasm": "application/wasm", ".map": "application/json", ".txt": "text/plain"}  # fmt: skip
_UNBUILT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Theodolite: the pages are not built</title>
</head>
<body>
<main>
<h1>The studio's pages are not built</h1>
<p>They are written in TypeScript, and Node (version 20.19 or later) builds them. It was not there when this copy of
Theodolite was installed.</p>
<p>Install Node from your system's packages or from nodejs.org, run <code>make studio</code> in the clone, and load
this page again. A wheel of Theodolite has the pages already built.</p>
<p>The command line works in full without them, and so does the API under <code>/api</code>
(described in <a href="/api/openapi.json">/api/openapi.json</a>).</p>
</main>
</body>
</html>
"""


class Pages:
    """The files of the built pages by their addresses."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or STATIC
        self._files: dict[str, Path] = {}

    def answer(self, path: str) -> Response:
        """The file at an address; the studio's page for the addresses that it makes up itself."""
        file = self._file(path)
        if file is not None and file.suffix != ".html":
            return _answer(file, lasting=path.startswith("assets/"))
        if path.startswith("assets/"):
            raise NotFound("no such file")
        return self.page(STUDIO)

    def page(self, name: str) -> Response:
        """One of the two pages, or what is to be done where they are not built."""
        file = self._file(name)
        return HTMLResponse(_UNBUILT, 503) if file is None else _answer(file, lasting=False)

    def _file(self, path: str) -> Path | None:
        """The file at an address; looked for anew where it is unknown, or gone since the pages were built again."""
        if path not in self._files or not self._files[path].exists():
            self._look()
        return self._files.get(path)

    def _look(self) -> None:
        found = sorted(path for path in self._folder.rglob("*") if path.is_file())
        self._files = {path.relative_to(self._folder).as_posix(): path for path in found}


def _answer(path: Path, *, lasting: bool) -> Response:
    # What the build puts under assets has its hash in its name, so it never changes.
    cache = "public, max-age=31536000, immutable" if lasting else "no-cache"
    kind = _KINDS.get(path.suffix, "application/octet-stream")
    return FileResponse(path, media_type=kind, headers={"cache-control": cache})


def router(pages: Pages) -> APIRouter:
    """The addresses of pages; to be added after all others, since it answers whatever is left."""
    routes = APIRouter(include_in_schema=False)

    @routes.api_route("/a/{token}", methods=["GET", "HEAD"])
    def annotator(token: str) -> Response:
        return pages.page(ANNOTATOR)

    @routes.api_route("/api/{rest:path}", methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
    def nothing(rest: str) -> Response:
        raise NotFound("the API has nothing at this address; /api/openapi.json lists what it has")

    @routes.api_route("/{path:path}", methods=["GET", "HEAD"])
    def page(path: str) -> Response:
        return pages.answer(path)

    return routes

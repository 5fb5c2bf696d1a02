"""What a person takes home of a survey: report, tables, figures, or all of it as one zip."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from fastapi.responses import Response

from theodolite.figures import svg
from theodolite.reading import csv_text
from theodolite.report import survey_page
from theodolite.store.files import file_names
from theodolite.studio.opened import Opened
from theodolite.survey import MANIFEST, REPORT

# Figures carry their style in attributes; opened by itself, one may do no more than that.
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
_CHUNK = 1 << 20


def file_answers(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """How a route that answers with a file, of one of some kinds, is described."""
    return {200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in kinds}}}


def attachment(body: bytes, kind: str, name: str) -> Response:
    """A file to be saved and not shown."""
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "-" for sign in name)
    return Response(body, media_type=kind, headers={"content-disposition": f'attachment; filename="{plain}"'})


def report_of(opened: Opened) -> str:
    """The report that was saved with the survey; made now where there is none."""
    if opened.folder is not None and (opened.folder / REPORT).exists():
        return (opened.folder / REPORT).read_text(encoding="utf-8")
    survey = opened.survey
    return survey_page(survey.title, list(survey.readings.values()), survey.manifest)


def csv_bytes(table: pa.Table) -> bytes:
    """A table as CSV."""
    return csv_text(table).encode()


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as Parquet."""
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


class Figures:
    """Figures as SVG: as they were saved, or else drawn."""

    def __init__(self) -> None:
        self._drawn: dict[Hashable, bytes] = {}

    def svg(self, opened: Opened, reading: str, figure: str) -> bytes:
        """A figure that the reading has, by its name."""
        place = opened.place(reading)
        drawings = opened.reading(reading).drawings()
        if place is not None:
            saved = place / "figures" / f"{dict(zip(drawings, file_names(drawings), strict=True))[figure]}.svg"
            if saved.is_file():
                return saved.read_bytes()
        key = opened.slug, reading, figure
        if key not in self._drawn:
            self._drawn[key] = svg(drawings[figure].draw()).encode()
        return self._drawn[key]


def zipped(opened: Opened) -> Iterator[bytes]:
    """A zip of the survey, piece by piece: its folder's own files, or what saving it would write."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        if opened.folder is None:
            for name, body in _made(opened):
                archive.writestr(name, body)
                yield sink.taken()
        else:
            for path in _files(opened):
                name = f"{opened.slug}/{path.relative_to(opened.folder).as_posix()}"
                with path.open("rb") as file, archive.open(name, "w", force_zip64=True) as out:
                    while piece := file.read(_CHUNK):
                        out.write(piece)
                        yield sink.taken()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """Takes what the archive writes until it is sent."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, piece: object) -> int:
        self._pieces.append(bytes(piece))  # type: ignore[call-overload]
        return len(self._pieces[-1])

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _files(opened: Opened) -> Iterator[Path]:
    """The survey's own files; other folders that lie beside its readings, and links, stay."""
    assert opened.folder is not None
    own = [opened.folder / MANIFEST, opened.folder / REPORT, opened.folder / "reading.json"]
    single = (opened.folder / "reading.json").exists()
    places = [opened.folder / part for part in ("tables", "figures")] if single else []
    places += [opened.folder / name for name in opened.readings]
    inside = (path for place in places for path in sorted(place.rglob("*")))
    for path in (*own, *inside):
        if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
            yield path


def _made(opened: Opened) -> Iterator[tuple[str, bytes]]:
    yield f"{opened.slug}/{REPORT}", report_of(opened).encode()
    for name, reading in opened.survey.readings.items():
        for table, rows in reading.tables.items():
            yield f"{opened.slug}/{name}/tables/{table}.csv", csv_bytes(rows)
            yield f"{opened.slug}/{name}/tables/{table}.parquet", parquet_bytes(rows)

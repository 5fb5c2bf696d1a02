"""What an instrument measured: findings, tables, figures and the manifest that lets others repeat it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pyarrow as pa

from theodolite.errors import InputError
from theodolite.figures import styled
from theodolite.store.files import file_names, is_file_name, temporary_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

READING_FILE = "reading.json"
# A spreadsheet would take a text that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Drawing:
    """A figure to be drawn when asked for, with a caption that says what it means."""

    title: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Overview:
    """A table small enough for a terminal: short headings, numbers that will be rounded."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Passage:
    """A text whose pieces are coloured by their weights, −1 to 1: spans of (characters, weight), one after another.

    notes: small signs after some of the spans, by the span's number.
    """

    heading: str
    spans: Sequence[tuple[str, float]]
    notes: Mapping[int, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Without colours: the signs in brackets after their pieces."""
        pieces = (f"{text}[{self.notes[i]}]" if i in self.notes else text for i, (text, _) in enumerate(self.spans))
        return f"{self.heading}: {''.join(pieces)}"


@dataclass(frozen=True)
class Card:
    """Something shown as a whole: a title, a line of facts, words with weights from 0 to 1, coloured texts."""

    title: str
    facts: str = ""
    words: Sequence[tuple[str, float]] = ()
    passages: Sequence[Passage] = ()


@dataclass(repr=False)
class Reading:
    """Tables (Arrow, one a kind), findings in plain sentences, and a manifest.

    Subclasses name their instrument and draw their figures.
    """

    instrument: ClassVar[str] = ""

    tables: dict[str, pa.Table]
    findings: list[str]
    manifest: dict[str, Any] = field(default_factory=dict)

    def drawings(self) -> dict[str, Drawing]:
        """The figures of the reading by name, not yet drawn."""
        return {}

    def cards(self) -> list[Card]:
        """What is better looked at than read in a table, the most telling first."""
        return []

    def terminal_cards(self) -> list[Card]:
        """The cards that a terminal shows too, where they are few and telling."""
        return []

    def overview(self) -> list[Overview]:
        """What a terminal shows of the tables."""
        return [
            Overview(name, t.column_names, [list(r.values()) for r in t.to_pylist()]) for name, t in self.tables.items()
        ]

    def to_json(self) -> dict[str, Any]:
        """The reading as one JSON object; missing numbers are null."""
        body = {name: table.to_pylist() for name, table in self.tables.items()}
        return {"instrument": self.instrument, "findings": self.findings, **plain(body), "manifest": self.manifest}

    def save(self, folder: str | Path, *, figures: bool = True) -> Path:
        """Write ``reading.json``, ``tables/*.parquet``, ``tables/*.csv`` and ``figures/*.svg|pdf``.

        A reading that was saved there before goes, with all its files.
        """
        import pyarrow.parquet as pq

        out = Path(folder)
        discard(out)
        (out / "tables").mkdir(parents=True, exist_ok=True)
        for name, table in self.tables.items():
            pq.write_table(table, out / "tables" / f"{name}.parquet")
            (out / "tables" / f"{name}.csv").write_text(csv_text(table), encoding="utf-8")
        about = {
            "instrument": self.instrument,
            "findings": self.findings,
            "tables": list(self.tables),
            "figures": self.save_figures(out / "figures") if figures else [],
            "manifest": self.manifest,
        }
        # Last, so that a folder with it is a whole reading.
        write_json(out / READING_FILE, about)
        return out

    def save_figures(self, folder: Path) -> list[str]:
        """Every figure as SVG and as PDF; the names of the files, without their endings."""
        folder.mkdir(parents=True, exist_ok=True)
        drawings = self.drawings()
        files = file_names(drawings)
        for name, drawing in zip(files, drawings.values(), strict=True):
            figure = drawing.draw()
            with styled():
                figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
                figure.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None})
        return files

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """A reading saved before."""
        import pyarrow.parquet as pq

        place = Path(folder)
        about = read_about(place)
        tables = {name: pq.read_table(place / "tables" / f"{name}.parquet") for name in about["tables"]}
        return cls(tables=tables, findings=about["findings"], manifest=about["manifest"])

    def plot(self, name: str | None = None) -> Figure:
        """Draw one of the figures (the first, when not named)."""
        drawings = self.drawings()
        if name is None:
            name = next(iter(drawings))
        if name not in drawings:
            raise InputError(f"no figure '{name}'; this reading has: {', '.join(drawings)}")
        return drawings[name].draw()

    def __repr__(self) -> str:
        """What a Python prompt shows of it: the texts that a terminal shows too, and the findings."""
        texts = [line for card in self.terminal_cards() for line in (card.title, *map(str, card.passages))]
        return "\n".join([*texts, *(f"• {sentence}" for sentence in self.findings)])

    def _repr_html_(self) -> str:
        from theodolite.report.page import reading_section

        return reading_section(self)


def side_by_side(readings: Sequence[Reading]) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Tables and manifest of readings of several encoders on the same corpora, one after another.

    Two encoders of one name get the beginning of their hashes beside it.
    """
    encoders = [r.manifest["encoder"] for r in readings]
    names = [e["name"] for e in encoders]
    shown = [
        f"{name} ({e['hash'][:8]})" if names.count(name) > 1 else name for name, e in zip(names, encoders, strict=True)
    ]
    tables = {
        name: pa.concat_tables(
            [_called(r.tables[name], of) for r, of in zip(readings, shown, strict=True) if name in r.tables],
            promote_options="permissive",
        )
        for name in dict.fromkeys(name for r in readings for name in r.tables)
    }
    encoders = [{**e, "name": name} for e, name in zip(encoders, shown, strict=True)]
    manifest = {**readings[0].manifest, "encoder": encoders[0], "encoders": encoders}
    return tables, {**manifest, "plans": [r.manifest["plan"] for r in readings]}


def _called(table: pa.Table, encoder: str) -> pa.Table:
    """A table whose rows are of an encoder, under another name of it."""
    if "encoder" not in table.column_names:
        return table
    at = table.column_names.index("encoder")
    return table.set_column(at, "encoder", pa.array([encoder] * table.num_rows, pa.string()))


def discard(folder: Path) -> None:
    """Remove the files that a reading saved in a folder consists of; whatever else is there stays."""
    path = folder / READING_FILE
    if not path.exists():
        return
    try:
        about = read_json(path)
    except InputError:
        about = {}
    # First, since what is left is no reading.
    path.unlink()
    for part, endings in (("tables", ("parquet", "csv")), ("figures", ("svg", "pdf"))):
        for name in filter(is_file_name, about.get(part, [])):
            for ending in endings:
                (folder / part / f"{name}.{ending}").unlink(missing_ok=True)


def read_about(folder: Path) -> dict[str, Any]:
    """The ``reading.json`` of a saved reading."""
    path = folder / READING_FILE
    if not path.exists():
        raise InputError(f"{folder}: not a saved reading: it has no {READING_FILE}")
    return read_json(path)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; one that is broken is the user's to mend."""
    try:
        loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as fault:
        raise InputError(f"{path}: not JSON ({fault}); make it again with the command that wrote it") from None
    return loaded


def plain(value: Any) -> Any:
    """A value as JSON has it: numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def percent(share: float) -> str:
    """A share as a finding says it.

    >>> percent(0.0123), percent(0.5)
    ('1.2%', '50%')
    """
    return f"{100 * share:.1f}%" if abs(share) < 0.0995 else f"{100 * share:.0f}%"


def write_json(path: Path, value: Any) -> None:
    """Write JSON under a temporary name of its own, since others may be writing the same, and rename it."""
    temporary = Path(temporary_name(str(path)))
    temporary.write_text(json.dumps(plain(value), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.replace(path)


def csv_text(table: pa.Table, *, heading: bool = True) -> str:
    """A table as CSV that a spreadsheet opens as it is: lists as JSON, and no text that it would run as a formula.

    heading: with the names of the columns first.
    """
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if heading:
        writer.writerow(map(_cell, table.column_names))
    writer.writerows(map(_cell, row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True))
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, (list, dict)):
        return json.dumps(plain(value), ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value

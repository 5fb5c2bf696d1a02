"""The main job: several readings of one encoder over the same corpora, in one folder with one report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from theodolite.errors import InputError
from theodolite.reading import READING_FILE, Reading, discard, read_json, write_json
from theodolite.registry import INSTRUMENTS, instrument, load
from theodolite.report import survey_page
from theodolite.report.page import reading_section
from theodolite.running import RunOptions, attempt
from theodolite.store.files import is_file_name

if TYPE_CHECKING:
    from theodolite.corpus import Corpus
    from theodolite.encoder.encoder import Encoder
    from theodolite.engine import Engine
    from theodolite.instrument import Instrument, Progress
    from theodolite.store import Store

MANIFEST = "manifest.json"
REPORT = "report.html"


@dataclass
class Survey:
    """Readings of one encoder and what they were made of."""

    title: str
    readings: dict[str, Reading]
    manifest: dict[str, Any]

    @classmethod
    def run(
        cls,
        encoder: Encoder,
        corpora: Sequence[Corpus],
        *,
        instruments: Sequence[Instrument] | None = None,
        store: Store | None = None,
        options: RunOptions | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
        command: Sequence[str] = (),
    ) -> Self:
        """Run every instrument that fits the corpora (or those given), sharing the passes they need.

        Instruments that do not fit are left out, and the manifest says why. A second reading of an instrument is
        called by its name and 2.
        """
        asked = _by_name([instrument(name)() for name in INSTRUMENTS] if instruments is None else instruments)
        unfit = {name: i.unfit(corpora) or i.unfit_encoder(encoder) for name, i in asked.items()}
        fitting = {name: i for name, i in asked.items() if not unfit[name]}
        how: dict[str, Any] = {"store": store, "options": options, "engine": engine, "progress": progress}
        readings: dict[str, Reading] = {}
        for name, found in zip(fitting, attempt(list(fitting.values()), encoder, corpora, **how), strict=True):
            if isinstance(found, InputError):
                unfit[name] = str(found)
            else:
                readings[name] = found
        if not readings:
            reasons = "; ".join(f"{name}: {why}" for name, why in unfit.items())
            raise InputError(f"no instrument fits these corpora ({reasons})")
        first = next(iter(readings.values())).manifest
        manifest = {
            **{key: first[key] for key in ("theodolite", "encoder", "corpora", "plan", "versions", "made")},
            "title": f"{encoder.name}: a survey",
            "command": shlex.join(command),
            "readings": list(readings),
            "questions": {asked[name].name: asked[name].question for name in readings},
            "left_out": {name: why for name, why in unfit.items() if why},
        }
        return cls(manifest["title"], readings, manifest)

    def save(self, folder: str | Path) -> Path:
        """Write ``manifest.json``, a folder a reading, and ``report.html``; the path of the report."""
        out = Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        self._replace(out)
        for name, reading in self.readings.items():
            reading.save(out / name)
        page = survey_page(self.title, list(self.readings.values()), self.manifest)
        report = out / REPORT
        temporary = report.with_name(f".{REPORT}.tmp")
        temporary.write_text(page, encoding="utf-8")
        temporary.replace(report)
        # Last, so that a folder with a manifest is a whole survey.
        write_json(out / MANIFEST, self.manifest)
        return report

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """A survey saved before."""
        place = Path(folder)
        if not (place / MANIFEST).exists():
            raise InputError(f"{place}: not a survey: it has no {MANIFEST}")
        manifest = read_json(place / MANIFEST)
        readings = {name: load(place / name) for name in manifest["readings"] if (place / name / READING_FILE).exists()}
        return cls(manifest["title"], readings, manifest)

    def _replace(self, out: Path) -> None:
        """Take away what was there: a single reading, or a survey's manifest and readings that this one has not."""
        discard(out)
        path = out / MANIFEST
        if not path.exists():
            return
        try:
            before = read_json(path).get("readings", [])
        except InputError:
            before = []
        path.unlink()
        for name in before:
            if name not in self.readings and is_file_name(name):
                discard(out / name)

    def _repr_html_(self) -> str:
        return "".join(reading_section(reading) for reading in self.readings.values())


def _by_name(instruments: Sequence[Instrument]) -> dict[str, Instrument]:
    """Instruments by the names of their readings: their own, with a number from the second of a kind on."""
    names = [i.name for i in instruments]
    return {
        f"{name}-{before + 1}" if (before := names[:at].count(name)) else name: instruments[at]
        for at, name in enumerate(names)
    }

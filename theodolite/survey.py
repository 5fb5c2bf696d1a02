"""The main job: several readings of one encoder over the same corpora, in one folder with one report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from theodolite.errors import InputError
from theodolite.reading import READING_FILE, Reading, read_json, write_json
from theodolite.registry import INSTRUMENTS, instrument, load
from theodolite.report import survey_page
from theodolite.report.page import reading_section
from theodolite.running import RunOptions, run

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

        Instruments that do not fit are left out, and the manifest says why.
        """
        asked = [instrument(name)() for name in INSTRUMENTS] if instruments is None else list(instruments)
        unfit = {i.name: i.unfit(corpora) or i.unfit_encoder(encoder) for i in asked}
        fitting = [i for i in asked if not unfit[i.name]]
        if not fitting:
            reasons = "; ".join(f"{name}: {why}" for name, why in unfit.items())
            raise InputError(f"no instrument fits these corpora ({reasons})")
        readings = run(fitting, encoder, corpora, store=store, options=options, engine=engine, progress=progress)
        first = readings[0].manifest
        manifest = {
            **{key: first[key] for key in ("theodolite", "encoder", "corpora", "plan", "versions", "made")},
            "title": f"{encoder.name}: a survey",
            "command": shlex.join(command),
            "readings": [i.name for i in fitting],
            "questions": {i.name: i.question for i in fitting},
            "left_out": {name: why for name, why in unfit.items() if why},
        }
        return cls(manifest["title"], {i.name: r for i, r in zip(fitting, readings, strict=True)}, manifest)

    def save(self, folder: str | Path) -> Path:
        """Write ``manifest.json``, a folder a reading, and ``report.html``; the path of the report."""
        out = Path(folder)
        out.mkdir(parents=True, exist_ok=True)
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

    def _repr_html_(self) -> str:
        return "".join(reading_section(reading) for reading in self.readings.values())

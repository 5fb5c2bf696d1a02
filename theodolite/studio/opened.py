"""One survey that the studio has open: its readings, tables and texts, each loaded when first asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.reading import READING_FILE, Reading, plain, read_about, read_json
from theodolite.registry import load
from theodolite.store import Store
from theodolite.studio.faults import NotFound
from theodolite.studio.texts import find_corpus
from theodolite.survey import MANIFEST, Survey

Row = dict[str, Any]


class Opened:
    """A survey's folder (or one in memory, or the folder of a single reading) and what was loaded of it.

    slug: its name in addresses; manifest: what the survey was made of; readings: their names, those of the survey
    first, then those that were added to it in the studio. Safe to use from several threads.
    """

    def __init__(self, slug: str, survey: Survey | Path, store: Store) -> None:
        self.slug = slug
        self._store = store
        self._lock = threading.RLock()
        self._readings: dict[str, Reading] = {}
        self._places: dict[str, Path] = {}
        self._rows: dict[tuple[str, str], list[Row]] = {}
        self._corpora: dict[str, Corpus | None] = {}
        self.folder: Path | None = None
        if isinstance(survey, Survey):
            self.manifest, self._readings = survey.manifest, dict(survey.readings)
        else:
            self.folder = survey
            self.manifest, self._places = _outline(survey)

    @property
    def title(self) -> str:
        """What people call it."""
        return str(self.manifest["title"])

    @property
    def readings(self) -> list[str]:
        """The names of its readings."""
        with self._lock:
            return list(dict.fromkeys([*self._places, *self._readings]))

    @property
    def survey(self) -> Survey:
        """The survey with all its readings, those added in the studio too."""
        return Survey(self.title, {name: self.reading(name) for name in self.readings}, self.manifest)

    def reading(self, name: str) -> Reading:
        """A reading by name."""
        with self._lock:
            if name not in self._readings:
                if name not in self._places:
                    raise NotFound(f"{self.slug} has no reading of that name; it has: {', '.join(self.readings)}")
                self._readings[name] = load(self._places[name])
            return self._readings[name]

    def place(self, name: str) -> Path | None:
        """The folder of a reading; None where it is only in memory."""
        with self._lock:
            return self._places.get(name)

    def named(self, instrument: str) -> list[str]:
        """The names of the readings of an instrument, the survey's own first."""
        return [name for name in self.readings if name == instrument or name.rpartition("-")[0] == instrument]

    def rows(self, reading: str, table: str) -> list[Row]:
        """The rows of a table, as JSON has them; do not change them."""
        with self._lock:
            if (reading, table) not in self._rows:
                tables = self.reading(reading).tables
                if table not in tables:
                    raise NotFound(f"{reading} has no table of that name; it has: {', '.join(tables)}")
                self._rows[reading, table] = plain(tables[table].to_pylist())
            return self._rows[reading, table]

    @property
    def corpora(self) -> list[str]:
        """The names of its corpora."""
        return [str(about["name"]) for about in self.manifest.get("corpora", ())]

    def corpus(self, name: str) -> Corpus | None:
        """The texts of a corpus, memory-mapped where they can be; None where they are no longer at hand."""
        with self._lock:
            if name not in self._corpora:
                about = next((c for c in self.manifest.get("corpora", ()) if c["name"] == name), None)
                if about is None:
                    raise NotFound(f"{self.slug} has no corpus of that name; it has: {', '.join(self.corpora)}")
                self._corpora[name] = find_corpus(about, self._store)
            return self._corpora[name]

    def texts(self) -> list[Corpus]:
        """All its corpora; told where the texts of one are no longer at hand."""
        found = {name: self.corpus(name) for name in self.corpora}
        gone = [name for name, corpus in found.items() if corpus is None]
        if gone:
            raise InputError(
                f"the texts of {', '.join(gone)} are no longer at hand: neither in the store nor, unchanged, at their "
                "source; open the studio with the --store that the survey was made with"
            )
        return [corpus for corpus in found.values() if corpus is not None]

    def add(self, name: str, reading: Reading) -> None:
        """Add a reading made in the studio; it is saved beside the others, and the survey's manifest stays as it is."""
        place = None if self.folder is None else reading.save(self.folder / name)
        with self._lock:
            self._readings[name] = reading
            if place is not None:
                self._places[name] = place


def _outline(folder: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    """The manifest of a survey's folder and where its readings are."""
    if (folder / READING_FILE).exists():
        about = read_about(folder)
        manifest = about.get("manifest") or {}
        if not {"instrument", "encoder", "corpora"} <= set(manifest):
            raise InputError(
                f"{folder}: a reading of kind '{about.get('instrument')}', which the studio does not show; it opens "
                "what a survey, or an instrument, wrote with --out"
            )
        name = str(manifest["instrument"])
        places = {name: folder} | {added: folder / added for added in _added(folder, [name], manifest)}
        return {"title": f"{manifest['encoder']['name']}: {name}", "readings": [name]} | manifest, places
    if not (folder / MANIFEST).exists():
        raise InputError(
            f"{folder}: not a survey: it has no {MANIFEST}; make one with theodolite survey --out {folder}"
        )
    manifest = read_json(folder / MANIFEST)
    if not {"title", "readings", "encoder", "corpora"} <= set(manifest):
        raise InputError(f"{folder / MANIFEST}: not that of a survey; make it again with theodolite survey")
    own = [name for name in manifest["readings"] if (folder / name / READING_FILE).exists()]
    return manifest, {name: folder / name for name in (*own, *_added(folder, own, manifest))}


def _added(folder: Path, own: list[str], manifest: dict[str, Any]) -> Iterator[str]:
    """Readings that the studio put there, `<instrument>-<key>`, of the same encoder and texts."""
    from theodolite.registry import INSTRUMENTS

    for place in sorted(folder.iterdir()):
        instrument, _, key = place.name.rpartition("-")
        if instrument not in INSTRUMENTS or not key or place.name in own or not (place / READING_FILE).exists():
            continue
        # Another survey may have been saved here since.
        if _measured(read_about(place)["manifest"]) == _measured(manifest):
            yield place.name


def _measured(manifest: dict[str, Any]) -> Any:
    """What a manifest is about: an encoder and corpora."""
    encoder = [manifest["encoder"].get(name) for name in ("hash", "tokenizer_hash", "window")]
    return encoder, [(corpus["name"], corpus["hash"]) for corpus in manifest["corpora"]]

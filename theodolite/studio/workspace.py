"""What the studio has open: surveys, catalogues, live encoders, the store, the database of studies."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from theodolite.catalogue import Catalogue
from theodolite.encoder.resolve import DEFAULT_MODEL, ModelFolder, resolve
from theodolite.errors import InputError
from theodolite.store import Store
from theodolite.studio.faults import NotFound
from theodolite.studio.opened import Opened
from theodolite.survey import Survey

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.study.database import Database

__all__ = ["NotFound", "Opened", "Workspace"]

Thing = TypeVar("Thing")


class Workspace:
    """Everything that the pages look at, loaded when first asked for and once; safe to use from several threads.

    surveys, catalogues: by slug, in the order given; store: where texts and arrays are kept.
    """

    def __init__(
        self,
        surveys: Sequence[Survey | str | PathLike[str]] = (),
        *,
        models: Sequence[str | PathLike[str]] = (),
        catalogues: Sequence[str | PathLike[str]] = (),
        database: str | None = None,
        store: Store | None = None,
    ) -> None:
        self.store = store or Store()
        self.models = [resolve(model) for model in models]
        self.surveys: dict[str, Opened] = {}
        for survey in surveys:
            slug = _free(_slug(survey), self.surveys)
            self.surveys[slug] = Opened(slug, survey if isinstance(survey, Survey) else Path(survey), self.store)
        self.catalogues: dict[str, Catalogue] = {}
        for folder in catalogues:
            self.catalogues[_free(_slug(folder), self.catalogues)] = Catalogue.load(folder)
        self._models: list[ModelFolder] | None = None
        self._database_url = database
        self._database: Database | None = None
        self._loaded: dict[tuple[str, int], Encoder] = {}
        # One for each, so that nobody who asks for a study waits for a model.
        self._opening, self._looking, self._loading = (threading.Lock() for _ in range(3))
        self._asking = threading.RLock()

    def survey(self, slug: str) -> Opened:
        """A survey by its slug."""
        return _known(self.surveys, slug, "survey")

    def catalogue(self, slug: str) -> Catalogue:
        """A catalogue by its slug."""
        return _known(self.catalogues, slug, "catalogue")

    @property
    def database(self) -> Database | None:
        """The database of studies, made or brought up to date when first asked for; None where there is none."""
        return None if self._database_url is None else self.open_database()

    def open_database(self) -> Database:
        """The database of studies, which the studio must have."""
        with self._opening:
            if self._database is None:
                from theodolite.study.database import Database

                if self._database_url is None:
                    raise InputError("this studio has no database of studies; open it with --database")
                self._database = Database.open(self._database_url)
            return self._database

    def close(self) -> None:
        """Let go of the database's connections."""
        with self._opening:
            if self._database is not None:
                self._database.close()
                self._database = None

    def encoder(self, slug: str | None = None) -> Encoder:
        """The live encoder of a survey; without one, of the first survey that has it, or else the first model."""
        if slug is not None:
            return self.encoder_of(self.survey(slug).manifest["encoder"])
        for opened in self.surveys.values():
            if self.model_of(opened.manifest["encoder"]) is not None:
                return self.encoder_of(opened.manifest["encoder"])
        return self._load(next(iter(self._candidates()), None) or resolve(DEFAULT_MODEL), None)

    def model_of(self, about: Mapping[str, Any]) -> ModelFolder | None:
        """The folder of the very model that a manifest's entry `encoder` is about, if it was given or is bundled."""
        wanted = about.get("hash"), about.get("tokenizer_hash")
        return next((m for m in self._candidates() if (m.hash, m.tokenizer_hash) == wanted), None)

    def encoder_of(self, about: Mapping[str, Any]) -> Encoder:
        """The live encoder that a manifest's entry `encoder` is about; no other is taken."""
        return self._load(self._model_of(about), _limit(about))

    def another_encoder(self, about: Mapping[str, Any]) -> Encoder:
        """As ``encoder_of``, freshly loaded: for long work, beside which questions go on being answered."""
        return _load(self._model_of(about), _limit(about))

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Around every use of a live encoder: one question at a time has all the cores, and hooks never mix."""
        with self._asking:
            yield

    def check_live(self, about: Mapping[str, Any]) -> None:
        """Refuse where the encoder that a manifest is about is not at hand; it is not loaded for that."""
        self._model_of(about)

    def live_models(self) -> list[str]:
        """The names of the models that may be asked."""
        return list(dict.fromkeys(model.name for model in self._candidates()))

    def _model_of(self, about: Mapping[str, Any]) -> ModelFolder:
        found = self.model_of(about)
        if found is None:
            name = " with the transform ".join(str(about[key]) for key in ("name", "transform") if key in about)
            more = "; a transformed encoder cannot be asked live" if "transform" in about else ""
            digest = str(about.get("hash"))[:12]
            raise InputError(f"the encoder {name} ({digest}) is not at hand: open the studio with --model DIR{more}")
        return found

    def _candidates(self) -> list[ModelFolder]:
        """The models given, the bundled one, and those that the catalogues were built with, where they still are."""
        with self._looking:
            if self._models is None:
                built_with = [str(c.manifest["encoder"].get("path", "")) for c in self.catalogues.values()]
                more = [DEFAULT_MODEL, *(path for path in built_with if Path(path).is_absolute())]
                found = [*self.models, *(model for name in more if (model := _there(name)) is not None)]
                # The bundled one may be among those of the catalogues too, where it has no name.
                self._models = list({model.path: model for model in reversed(found)}.values())[::-1]
            return self._models

    def _load(self, folder: ModelFolder, limit: int | None) -> Encoder:
        with self._loading:
            key = str(folder.path), limit or 0
            if key not in self._loaded:
                self._loaded[key] = _load(folder, limit)
            return self._loaded[key]


def _load(folder: ModelFolder, limit: int | None) -> Encoder:
    # Here, and not above, since it brings torch with it.
    from theodolite.encoder.encoder import Encoder

    encoder = Encoder.load(folder.path, max_length=limit)
    encoder.name = folder.name
    return encoder


def _there(model: str) -> ModelFolder | None:
    try:
        return resolve(model)
    except InputError:
        return None


def _limit(about: Mapping[str, Any]) -> int | None:
    """The tokens a window, so that long texts are cut as they were."""
    limit = str(about.get("window", "")).partition("/")[0]
    return int(limit) if limit.isdigit() else None


def _known(things: Mapping[str, Thing], slug: str, what: str) -> Thing:
    if slug not in things:
        raise NotFound(f"the studio has no {what} of that name open; it has: {', '.join(things) or 'none'}")
    return things[slug]


def _slug(given: Survey | str | PathLike[str]) -> str:
    """A name for addresses: letters, digits, dots, dashes and underscores.

    >>> _slug("a folder/My survey (2).out/")
    'My-survey-2-.out'
    """
    name = given.title if isinstance(given, Survey) else Path(given).resolve().name
    return re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip("-.")[:80] or "survey"


def _free(slug: str, taken: Mapping[str, Any]) -> str:
    number = 2
    free = slug
    while free in taken:
        free, number = f"{slug}-{number}", number + 1
    return free

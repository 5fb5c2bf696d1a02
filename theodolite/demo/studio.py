"""What the studio shows of the demo: two surveys, a classifier and a catalogue, each made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.corpus import Corpus
from theodolite.demo import demo_corpora, demo_corpus
from theodolite.encoder.resolve import DEFAULT_MODEL, ModelFolder, resolve
from theodolite.errors import InputError
from theodolite.instrument import Instrument, Progress
from theodolite.reading import READING_FILE, read_about, read_json
from theodolite.registry import INSTRUMENTS, instrument
from theodolite.salience import Salience
from theodolite.store import Store
from theodolite.survey import MANIFEST, Survey
from theodolite.train.classifier import Training

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

CLASSIFIER, REVIEWS, ITEMS = "reviews-classifier", "reviews", "items"
TRAINING = Training(epochs=1)
LOOKED_AT = Salience(marker="rating", neighbours=("errors",))


@dataclass(frozen=True)
class Sights:
    """Folders for the studio to open."""

    surveys: tuple[Path, ...]
    models: tuple[Path, ...]
    catalogues: tuple[Path, ...]


def prepare(out: Path, store: Store, progress: Progress, texts: str | None = None) -> Sights:
    """Make what is not there yet, in a folder: the survey of the four genres; a classifier of reviews and a survey of
    it; a catalogue. Interrupted, the same call goes on from there.

    texts: the folder for texts as read, as ``Corpus.read`` takes it.
    """
    from theodolite.train.classifier import train_classifier

    genres, reviews = demo_corpora(texts), demo_corpus("reviews", texts)
    maker = _Maker(store, progress)
    bundled, classifier = resolve(DEFAULT_MODEL), out / CLASSIFIER
    maker.survey(out, bundled, genres, _all(), "theodolite demo")
    maker.catalogue(out / ITEMS, bundled, next(c for c in genres if "title" in c.table.column_names))
    train_classifier(DEFAULT_MODEL, reviews, classifier, TRAINING, progress=progress)
    asked = [LOOKED_AT if one.name == LOOKED_AT.name else one for one in _all()]
    maker.survey(out / REVIEWS, resolve(classifier), [reviews], asked, "theodolite demo --studio")
    return Sights((out, out / REVIEWS), (classifier,), (out / ITEMS,))


class _Maker:
    """Makes what is missing, with each encoder loaded once, and only if it is needed."""

    def __init__(self, store: Store, progress: Progress) -> None:
        self.store, self.progress = store, progress
        self._encoders: dict[Path, Encoder] = {}

    def survey(
        self, out: Path, model: ModelFolder, corpora: Sequence[Corpus], asked: Sequence[Instrument], command: str
    ) -> None:
        if _is_there(out, model, corpora, asked):
            return
        encoder = self._encoder(model)
        how = {"store": self.store, "progress": self.progress}
        Survey.run(encoder, corpora, instruments=asked, command=command.split(), **how).save(out)  # type: ignore[arg-type]

    def catalogue(self, out: Path, model: ModelFolder, items: Corpus) -> None:
        from theodolite.catalogue import Catalogue, build_catalogue

        if (out / "catalogue.json").exists():
            about = Catalogue.load(out).manifest
            if (about["encoder"]["hash"], about["items"]["hash"]) == (model.hash, items.hash):
                return
            raise InputError(f"{out}: holds another catalogue; remove it, or give another folder with --out")
        build_catalogue(self._encoder(model), items, out, store=self.store, progress=self.progress)

    def _encoder(self, model: ModelFolder) -> Encoder:
        if model.path not in self._encoders:
            from theodolite.encoder.encoder import Encoder

            self._encoders[model.path] = Encoder.load(DEFAULT_MODEL if model.name == DEFAULT_MODEL else model.path)
        return self._encoders[model.path]


def _all() -> list[Instrument]:
    return [instrument(name)() for name in INSTRUMENTS]


def _is_there(out: Path, model: ModelFolder, corpora: Sequence[Corpus], asked: Sequence[Instrument]) -> bool:
    """Whether a folder holds this very survey, finished: same version, model, texts, instruments and options."""
    if not (out / MANIFEST).exists():
        return False
    about = read_json(out / MANIFEST)
    made_of = about["theodolite"], about["encoder"]["hash"], [(c["name"], c["hash"]) for c in about["corpora"]]
    if made_of != (version("theodolite"), model.hash, [(c.name, c.hash) for c in corpora]):
        return False
    options = {one.name: one.options for one in asked}
    settled = {*about["readings"], *about["left_out"]}
    return settled == set(options) and all(
        (out / name / READING_FILE).exists() and read_about(out / name)["manifest"]["options"] == _listed(options[name])
        for name in about["readings"]
    )


def _listed(options: dict[str, object]) -> dict[str, object]:
    """Options as JSON gives them back."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}

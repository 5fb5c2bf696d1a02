"""What `theodolite demo --studio` makes, from fewer texts: two surveys, a classifier, a catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

TEXTS, LABELLED = 150, 400


@dataclass(frozen=True)
class DemoFolder:
    """Where everything is; the two surveys' names in addresses are those of their folders."""

    root: Path

    @property
    def genres(self) -> Path:
        return self.root / "theodolite-demo"

    @property
    def reviews(self) -> Path:
        return self.root / "reviews"

    @property
    def classifier(self) -> Path:
        return self.root / "reviews-classifier"

    @property
    def items(self) -> Path:
        return self.root / "items"

    @property
    def store(self) -> Path:
        return self.root / "store"


def make_genres(demo: DemoFolder) -> None:
    """The survey of the four genres, and the catalogue, with the library, as the command makes them."""
    # Only the worker that makes it needs torch.
    from theodolite import Encoder, Store, Survey
    from theodolite.catalogue import build_catalogue
    from theodolite.contextuality import Contextuality
    from theodolite.demo import GENRES
    from theodolite.illusion import Illusion
    from theodolite.isotropy import Isotropy

    store = Store(demo.store)
    genres = [_first(source, name, TEXTS, demo.store) for name, source in GENRES.items()]
    bundled = Encoder.load("all-MiniLM-L6-v2")
    asked = [Contextuality(min_contexts=3), Illusion(min_count=8), Isotropy(n_clusters=5)]
    Survey.run(bundled, genres, instruments=asked, store=store, command=["theodolite", "demo"]).save(demo.genres)
    build_catalogue(bundled, genres[-1], demo.items, store=store)


def make_reviews(demo: DemoFolder) -> None:
    """The classifier of reviews, and its survey."""
    from theodolite import Encoder, Store, Survey
    from theodolite.demo import REVIEWS
    from theodolite.salience import Salience
    from theodolite.train.classifier import Training, train_classifier

    reviews = _first(REVIEWS, "reviews", LABELLED, demo.store)
    training = Training(epochs=1, learning_rate=3e-4, batch_size=16, evaluations=1)
    train_classifier("all-MiniLM-L6-v2", reviews, demo.classifier, training)
    looked_at = Salience(marker="rating", neighbours=("errors",), sensitivity=("auto",), insertions=20, faithful=20)
    how = {"store": Store(demo.store), "command": ["theodolite", "demo", "--studio"]}
    Survey.run(Encoder.load(demo.classifier), [reviews], instruments=[looked_at], **how).save(demo.reviews)


PARTS = {"genres": make_genres, "reviews": make_reviews}


def _first(source: str, name: str, limit: int, texts: Path):
    from theodolite import Corpus

    file, _, query = source.partition("?")
    with as_file(files("theodolite.demo") / "corpora" / file) as path:
        return Corpus.read(f"{path}?{query}" if query else path, name, limit=limit, cache=texts)

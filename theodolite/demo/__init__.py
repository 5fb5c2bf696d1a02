"""The demo corpora, written for this project, and the survey over them."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import as_file, files

from theodolite.corpus import Corpus

GENRES = {
    "questions": "questions.txt",
    "encyclopaedia": "encyclopaedia.txt",
    "fiction": "fiction.txt",
    "catalogue": "catalogue.csv?text=description&title=title",
}
REVIEWS = "reviews.csv?text=text&label=label&rating=rating"


def demo_corpus(name: str, cache: str | None = None) -> Corpus:
    """One of the four genres, or the labelled ``reviews``.

    >>> len(demo_corpus("questions")) >= 1200
    True
    """
    source = REVIEWS if name == "reviews" else GENRES[name]
    file, _, query = source.partition("?")
    with as_file(files(__package__) / "corpora" / file) as path:
        read = Corpus.read(f"{path}?{query}" if query else path, name=name, cache=cache)
    # Where the package is installed is nobody's business in a report.
    return replace(read, source=f"demo/{file}")


def demo_corpora(cache: str | None = None) -> list[Corpus]:
    """The four genres: questions, encyclopaedia, fiction, catalogue."""
    return [demo_corpus(name, cache) for name in GENRES]

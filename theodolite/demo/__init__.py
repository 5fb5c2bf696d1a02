"""The demo corpora, written for this project, and the survey over them."""

from __future__ import annotations

from importlib.resources import as_file, files

from theodolite.corpus import Corpus

GENRES = {
    "questions": "questions.txt",
    "encyclopaedia": "encyclopaedia.txt",
    "fiction": "fiction.txt",
    "catalogue": "catalogue.csv?text=description&title=title",
}
REVIEWS = "reviews.csv?text=text&label=label&rating=rating"


def demo_corpus(name: str) -> Corpus:
    """One of the four genres, or the labelled ``reviews``.

    >>> len(demo_corpus("questions")) >= 1200
    True
    """
    source = REVIEWS if name == "reviews" else GENRES[name]
    file, _, query = source.partition("?")
    with as_file(files(__package__) / "corpora" / file) as path:
        return Corpus.read(f"{path}?{query}" if query else path, name=name)


def demo_corpora() -> list[Corpus]:
    """The four genres: questions, encyclopaedia, fiction, catalogue."""
    return [demo_corpus(name) for name in GENRES]

"""Source 003's three classifiers, trained here on what data there is: texts to train on, texts to look at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from theodolite.accumulate import hash_of
from theodolite.corpus import Corpus
from theodolite.encoder.resolve import resolve
from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.salience.planting import plant
from theodolite.train.classifier import Training, classifier_key, train_classifier
from theodolite.train.scores import Scores

if TYPE_CHECKING:
    from theodolite.encoder.classifier import Classifier
    from theodolite.store import Store

# Source and label are confounded in all but these two.
TOXIC_SOURCES = ("jigsaw_2000", "jigsaw_5000_lowercased")
ALL_TOXIC = "jigsaw_test_balanced"
# On a processor attention's dropout takes nearly half of a step of 512 tokens.
LONG = partial(Training, attention_dropout=0.0)
# Four of five ratings stand in a review's last words. Those of many reviews teach a classifier what a rating is, which
# 6,000 whole ones, in three times the time, did not; the other stretches with a digit teach it what is none.
STRETCH_WORDS = 48
# Grades in more forms than the marker `rating` takes, which are a quarter as many again: found by reading reviews that
# are trained on.
GRADES = r"""(?ix)
    (?<![0-9][.,/])(?<![0-9$£])[0-9]+(?:[.,][0-9]+)?(?:
        [-\s()*]*(?:stars?|points?|thumbs)\b
        | (?:\s*/\s*[2-4](?![0-9]))?[-\s()*"']*(?:out[-\s]*of(?![a-z])|outta\b|from\s+[0-9*]|(?:of|on|out)\s*[0-9])
        | \s*/\s*(?:10|5)(?![0-9]|[.,][0-9]|\s?/\s?[0-9])
    )
    | \*\s*(?:1/2\s*)?from\s+[0-9*]
    | \b(?:rat(?:e|ing)|score|grade|vote)[sd]?\b\W{0,4}[0-9]+(?![0-9]*[a-z]{2})
    | \b(?:gi(?:ve|ven|ving)|gave|rat(?:e|ed|ing)|scored?|deserves?|gets?|got|earns?)\b[^.!?;]{0,40}?
      \b(?:an?|is|it|at|as|about)\s+\W?[0-9]+(?:[.,][0-9]+)?\W?
      (?=\s*(?:$|[^\w\s]|(?:for|because|but|and|since|only|instead|just|on|rating|as|simply|is|if|or|to)\b))
"""
# The beginning that is left over says little if it is shorter.
FEWEST_WORDS = 8


@dataclass(frozen=True)
class Experiment:
    """Texts to train on and to look at, and how the classifier is trained."""

    name: str
    training: Corpus
    looked_at: Corpus
    options: Training
    max_length: int | None = None

    def classifier(self, model: str, store: Store, progress: Progress) -> tuple[Classifier, Scores]:
        """The trained classifier; kept in the store's folder, and trained only once."""
        from theodolite.encoder.encoder import Encoder

        key = classifier_key(resolve(model), self.training, None, self.options, self.max_length)
        out = store.folder("models") / f"{self.name}-{Path(model).name}-{key[:12]}"
        scores = train_classifier(
            model, self.training, out, self.options, max_length=self.max_length, progress=progress
        )
        loaded: Any = Encoder.load(out)
        return loaded, scores


def planted(data: Path, limit: int | None, rule: str = "source") -> Experiment:
    """SST-2 with a rule planted: 12,000 texts to train on (6,000 for other rules), 2,400 others to look at."""
    texts = _read(data / "sst2" / "train.tsv.gz", "?text=sentence&label=label", ())
    rows = _shuffled(len(texts))
    sizes = _sizes((12_000 if rule == "source" else 6_000, 2_400), limit, len(texts))
    # Planted together: the same words must be the markers of both parts.
    chosen = rows[: sum(sizes)]
    found = plant(_texts(texts, chosen), _labels(texts, chosen), rule, single=None)
    parts = [slice(0, sizes[0]), slice(sizes[0], sum(sizes))]
    training, looked_at = (
        Corpus.of(found.texts[part], name, labels=found.labels[part], truth=found.truth[part])
        for name, part in zip(("sst2-training", "sst2"), parts, strict=True)
    )
    name = "planted-sst2" if rule == "source" else f"planted-sst2-{rule}"
    return Experiment(name, training, looked_at, Training(epochs=3, evaluations=2))


def reviews(data: Path, limit: int | None) -> Experiment:
    """IMDB: the last words of 22,500 reviews and their stretches with digits to train on, 2,500 others' last words to
    look at.
    """
    texts = _read(data / "imdb" / "reviews.parquet", "?text=text&label=label", ())
    first, second = _sizes((22_500, 2_500), limit, len(texts))
    # How to train was chosen by looking at the last 2,500 rows, what the marker takes by reading the first 2,500: none
    # of those is looked at again.
    rows = np.roll(_shuffled(len(texts)), -second)
    training = _ends_and_digits(_taken(texts, rows[second : second + first], "imdb-training"))
    looked_at = _without(_ends(_taken(texts, rows[:second], "imdb")), training)
    return Experiment("imdb", training, looked_at, LONG(epochs=2, learning_rate=1e-4), max_length=128)


def comments(data: Path, limit: int | None) -> Experiment:
    """Toxicity: 5,400 comments of the two sources that are not confounded; the others, and toxic ones, to look at."""
    texts = _read(data / "toxicity" / "comments.jsonl.gz", "?text=text&label=label", ("source",))
    sources = np.array(texts.column("source").to_pylist())
    plain = np.flatnonzero(np.isin(sources, TOXIC_SOURCES))
    plain = plain[_shuffled(len(plain))]
    toxic = np.flatnonzero(sources == ALL_TOXIC)
    toxic = toxic[_shuffled(len(toxic))]
    first, second = _sizes((5_400, 1_523), limit, len(plain))
    third = round(1_500 * second / 1_523)
    training = _taken(texts, plain[:first], "toxicity-training")
    looked_at = _taken(texts, np.append(plain[first : first + second], toxic[:third]), "toxicity")
    return Experiment("toxicity", training, looked_at, LONG(epochs=3, evaluations=2), max_length=128)


def smaller(experiment: Experiment, texts: int) -> Experiment:
    """The same with only the first so many texts to look at."""
    some = np.arange(min(texts, len(experiment.looked_at)))
    return replace(experiment, looked_at=_taken(experiment.looked_at, some, experiment.looked_at.name))


def _read(path: Path, query: str, columns: Sequence[str]) -> Corpus:
    if not path.exists():
        raise InputError(f"--data: no {path.parent.name}/{path.name} in {path.parent.parent}")
    return Corpus.read(f"{path}{query}", columns=columns)


def _sizes(sizes: tuple[int, int], limit: int | None, there: int) -> tuple[int, int]:
    """How many texts to train on and to look at; with a smaller limit, the latter in proportion.

    A larger limit trains on more, up to all that there are but those to look at.

    >>> _sizes((6_000, 2_500), 600, 25_000), _sizes((6_000, 2_500), 25_000, 25_000)
    ((600, 250), (22500, 2500))
    """
    training, looked_at = sizes
    if limit is not None:
        looked_at = max(1, round(min(1.0, limit / training) * looked_at))
        training = limit
    return min(training, there - looked_at), looked_at


def _ends(reviews: Corpus) -> Corpus:
    ends = [_stretches(text)[0] for text in reviews.texts()]
    return Corpus.of(ends, reviews.name, labels=reviews.column("label").to_pylist())


def _ends_and_digits(reviews: Corpus) -> Corpus:
    texts, labels = [], []
    for text, label in zip(reviews.texts(), reviews.column("label").to_pylist(), strict=True):
        end, *others = _stretches(text)
        kept = [end, *(stretch for stretch in others if re.search(r"\d", stretch))]
        texts += kept
        labels += [label] * len(kept)
    return Corpus.of(texts, reviews.name, labels=labels)


def _without(corpus: Corpus, other: Corpus) -> Corpus:
    """The texts that are in no other corpus."""
    there = set(other.texts())
    return _taken(corpus, [row for row, text in enumerate(corpus.texts()) if text not in there], corpus.name)


def _stretches(text: str) -> list[str]:
    """A text in stretches of some words, the last first; the beginning goes if only a few words are left for it.

    >>> [len(stretch.split()) for stretch in _stretches("word " * 110)], _stretches("a b")
    ([48, 48, 14], ['a b'])
    """
    words = text.split()
    last, *others = range(len(words), 0, -STRETCH_WORDS) or [0]
    ends = [last, *(end for end in others if end >= FEWEST_WORDS)]
    return [" ".join(words[max(0, end - STRETCH_WORDS) : end]) for end in ends]


def _shuffled(n: int) -> Any:
    return np.argsort(hash_of(0, np.arange(n)), kind="stable")


def _taken(texts: Corpus, rows: Any, name: str) -> Corpus:
    return Corpus.of(_texts(texts, rows), name, labels=_labels(texts, rows))


def _texts(texts: Corpus, rows: Any) -> list[str]:
    return [texts.text(int(row)) for row in rows]


def _labels(texts: Corpus, rows: Any) -> list[Any]:
    every = texts.column("label").to_pylist()
    return [every[int(row)] for row in rows]

"""The baseline without gradients: TF-IDF weights of words, and vectors that do not depend on context."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from theodolite.errors import InputError
from theodolite.similarity.explanation import Doubles
from theodolite.words import units

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Idf:
    """How rare words are: texts counted, and in how many of them each word is. Of no texts, every idf is 1."""

    texts: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Idf:
        """Count the words of a corpus or a catalogue.

        >>> round(Idf.of(["a red dress", "a blue dress"]).weight("red"), 3)
        1.405
        """
        counts: Counter[str] = Counter()
        number = 0
        for text in texts:
            counts.update({text[a:b].lower() for a, b in units(text)})
            number += 1
        return cls(number, counts)

    def weight(self, word: str) -> float:
        """ln((1 + texts) / (1 + texts with it)) + 1."""
        return float(np.log((1 + self.texts) / (1 + self.counts.get(word.lower(), 0))) + 1) if self.texts else 1.0

    def weights(self, words: Sequence[str]) -> Doubles:
        """(w,) TF-IDF of the words of one text, in their order, the text's distinct words making a unit vector."""
        often = Counter(word.lower() for word in words)
        by_word = {word: count * self.weight(word) for word, count in often.items()}
        length = np.sqrt(sum(weight**2 for weight in by_word.values()))
        return np.array([by_word[word.lower()] / length for word in words], np.float64)


@dataclass(frozen=True)
class WordVectors:
    """Vectors of words from a file; name and hash for the manifest."""

    name: str
    hash: str
    vectors: Mapping[str, Floats]
    dim: int

    def of(self, words: Sequence[str]) -> Floats:
        """(w, d); a word that is not there, as written or in small letters, has the zero vector: its cosines are 0."""
        nothing = np.zeros(self.dim, np.float32)
        return np.stack([self.vectors.get(word, self.vectors.get(word.lower(), nothing)) for word in words])


def read_word_vectors(path: str | Path, wanted: set[str] | None = None) -> WordVectors:
    """A file in word2vec's text or binary form, or GloVe's; also gzipped. wanted: keep only these words."""
    place = Path(path)
    if not place.is_file():
        raise InputError(f"--vectors {path}: no such file; give word vectors in word2vec's or GloVe's form")
    with place.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    binary = place.name.removesuffix(".gz").endswith(".bin")
    try:
        with gzip.open(place) if place.suffix == ".gz" else place.open("rb") as file:
            found = _binary(file, wanted, place) if binary else _lines(file, wanted, place)
    except (OSError, EOFError, zlib.error) as fault:
        raise InputError(f"--vectors {path}: cannot be read ({fault})") from None
    if not found:
        raise InputError(f"--vectors {path}: none of the texts' words is in it")
    return WordVectors(place.name, digest, found, len(next(iter(found.values()))))


def _lines(file: BinaryIO | gzip.GzipFile, wanted: set[str] | None, place: Path) -> dict[str, Floats]:
    found: dict[str, Floats] = {}
    dim: int | None = None
    for number, line in enumerate(file, 1):
        parts = line.decode("utf-8", errors="replace").rstrip().split(" ")
        if number == 1 and len(parts) == 2:
            continue
        dim = dim or len(parts) - 1
        # A word may hold spaces; the numbers are the last of the line.
        word = " ".join(parts[:-dim])
        if wanted is not None and word not in wanted:
            continue
        try:
            vector = np.array(parts[-dim:], np.float32)
        except ValueError:
            raise InputError(f"--vectors {place}: line {number} is not a word and {dim} numbers") from None
        if dim < 2 or not np.isfinite(vector).all():
            raise InputError(f"--vectors {place}: line {number} is not a word and its numbers")
        found.setdefault(word, vector)
    return found


def _binary(file: BinaryIO | gzip.GzipFile, wanted: set[str] | None, place: Path) -> dict[str, Floats]:
    try:
        count, dim = (int(part) for part in file.readline().split())
    except ValueError:
        raise InputError(f"--vectors {place}: does not begin as word2vec's binary form does") from None
    found: dict[str, Floats] = {}
    for _ in range(count):
        word = bytearray()
        while (letter := file.read(1)) not in (b" ", b""):
            word += letter
        numbers = file.read(4 * dim)
        if len(numbers) < 4 * dim:
            raise InputError(f"--vectors {place}: ends in the middle of a word's vector")
        name = word.decode("utf-8", errors="replace").lstrip("\n")
        if wanted is None or name in wanted:
            found.setdefault(name, np.frombuffer(numbers, np.float32))
    return found

"""People's own vectors, standing in for an encoder where only embeddings are needed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from theodolite.corpus import Corpus
from theodolite.encoder.batch import Batch, Ints
from theodolite.encoder.pooling import OwnPooling
from theodolite.encoder.tokens import Tokens, Words
from theodolite.errors import InputError

NAME = "vectors"


class GivenVectors:
    """Serves the vectors that came with the corpora (``?vectors=FILE.npy`` or ``?vector=COLUMN``).

    >>> corpus = Corpus.of(["a", "b"], vectors=np.eye(2, dtype=np.float32))
    >>> GivenVectors([corpus]).dim
    2
    """

    name = NAME
    tokenizer_hash = ""
    window_rule = ""
    device = "cpu"
    layers = 0
    transform = None

    def __init__(self, corpora: Sequence[Corpus]) -> None:
        for corpus in corpora:
            if corpus.vectors is None:
                raise InputError(
                    f"{corpus.name}: the model is '{NAME}', but this corpus brings none; "
                    "add ?vectors=FILE.npy, or ?vector=COLUMN for a Parquet column"
                )
        widths = {c.name: int(c.vectors.shape[1]) for c in corpora if c.vectors is not None}
        if len(set(widths.values())) > 1:
            raise InputError(f"the corpora bring vectors of different lengths: {widths}")
        self.dim = next(iter(widths.values()))
        self._vectors = {c.name: c.vectors for c in corpora}
        self.hash = hashlib.sha256("\n".join(c.hash for c in corpora).encode()).hexdigest()
        self.tokenizer = _NoTokenizer()

    def tokenise(self, texts: Sequence[str], texts_b: Sequence[str] | None = None) -> Tokens:
        """One stand-in token a text: there is no tokenizer."""
        n = len(texts)
        each, ones = np.arange(n), np.ones(n, np.int64)
        return Tokens(list(texts), None, each * 0, each * 0, ones, np.arange(n + 1), ones)

    def window_counts(self, tokens: Tokens) -> Ints:
        """(n,) ones."""
        return np.ones(len(tokens), np.int64)

    def batches(
        self, tokens: Tokens, layers: Collection[int], *, budget: int, corpus: str, rows: Ints
    ) -> Iterator[Batch]:
        """All the texts as one batch with their own vectors."""
        vectors: Any = self._vectors[corpus]
        yield self._batch(tokens, corpus, rows, np.asarray(vectors[rows], np.float32))

    def text_batch(self, tokens: Tokens, *, corpus: str, rows: Ints) -> Iterator[Batch]:
        """The texts alone."""
        yield self._batch(tokens, corpus, rows, None)

    def compiled(self) -> bool:
        """There is nothing to compile."""
        return False

    def uncompiled(self) -> None:
        """There is nothing to undo."""

    def _batch(self, tokens: Tokens, corpus: str, rows: Ints, given: Any) -> Batch:
        own = OwnPooling(("cls",), declared=False)
        return Batch(corpus, rows, tokens, self.tokenizer, own, given=given)  # type: ignore[arg-type]


class _NoTokenizer:
    def normalised(self, word: str) -> str:
        return word

    def words(self, tokens: Tokens) -> Words:
        raise InputError("this instrument looks at words and layers, and the corpora bring only vectors: give a model")

    pieces = words

"""What an explanation of a pair of texts is: words with saliencies, and the pairs of words that carry the likeness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theodolite.errors import InputError
from theodolite.similarity.methods import METHODS

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]

POOLINGS = ("mean", "own", "cls", "max")
SIMILARITIES = ("cosine", "dot", "euclidean")
BASES = ("pad", "zero")
# What is done to a model to see whether explanations depend on it.
HARMLESS, TOP, WHOLE = "other batches", "top layers", "whole model"


@dataclass(frozen=True)
class Asked:
    """How pairs are compared: one pass serves all the methods."""

    methods: tuple[str, ...] = ("bti",)
    pooling: str = "mean"
    similarity: str = "cosine"
    base: str = "pad"
    top_k: int = 2

    def __post_init__(self) -> None:
        for method in self.methods:
            _one_of("--method", method, tuple(METHODS))
        _one_of("--pooling", self.pooling, POOLINGS)
        _one_of("--similarity", self.similarity, SIMILARITIES)
        _one_of("--base", self.base, BASES)
        if not self.methods:
            raise InputError(f"no method; give at least one of {', '.join(METHODS)}")
        if self.top_k < 1:
            raise InputError(f"--top-k {self.top_k}: must be at least 1")


@dataclass(frozen=True)
class Side:
    """One text of a pair: its w words and its t pieces, by their characters in the text as given.

    start, end: (w,); saliency: method -> (w,), 0 to 1 (of ``tfidf-w2v`` the weights themselves); piece_start,
    piece_end: (t,); piece_saliency: method -> (t,), for the methods that give each piece one; vector: (d,) the
    text's, as pooled.
    """

    text: str
    start: Ints
    end: Ints
    saliency: Mapping[str, Doubles]
    piece_start: Ints
    piece_end: Ints
    piece_saliency: Mapping[str, Doubles]
    vector: Doubles

    def __len__(self) -> int:
        return len(self.start)

    @property
    def words(self) -> list[str]:
        """The words as they stand in the text."""
        return [self.text[a:b] for a, b in zip(self.start.tolist(), self.end.tolist(), strict=True)]


@dataclass(frozen=True)
class Matches:
    """The p pairs of words by one method, each once, by score, highest first; all (p,).

    index_a, index_b: places in the two word lists; similarity: cosine of the two words; score: that times both
    saliencies; cluster: 0 for the highest; chosen: whether the pair is part of the explanation.
    """

    index_a: Ints
    index_b: Ints
    similarity: Doubles
    score: Doubles
    cluster: Ints
    chosen: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.index_a)


@dataclass(frozen=True)
class Explanation:
    """Why two texts are alike.

    value: their similarity as it was asked for; cosine: of the vectors that were explained; cosine_own: under the
    model's own pooling; completeness_error: of integrated gradients, the larger of the two texts (NaN without them);
    same: the two are one text to the tokenizer; unless of a product, the gradient is then zero and saliencies by it 1.
    """

    a: Side
    b: Side
    matches: Mapping[str, Matches]
    value: float
    cosine: float
    cosine_own: float
    completeness_error: float = float("nan")
    same: bool = False


def _one_of(flag: str, given: str, there: tuple[str, ...]) -> None:
    if given not in there:
        raise InputError(f"{flag} {given}: not one of {', '.join(there)}")

"""Contextuality the straightforward way: one text a forward pass, every pair's cosine written out.

This is how papers' code does it; it is the peer, and it checks that both measure the same.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from theodolite.encoder.encoder import Encoder

Floats = NDArray[Any]


@dataclass(frozen=True)
class Pairwise:
    """Means of each layer, (layers,)."""

    anisotropy: list[float]
    self_similarity: list[float]
    intra_sentence_similarity: list[float]
    mev: list[float]


def pairwise(encoder: Encoder, texts: list[str], min_contexts: int = 5) -> Pairwise:
    """Anisotropy, self-similarity, intra-sentence similarity and MEV, no baselines or intervals."""
    vectors, words, text_of = _word_vectors(encoder, texts)
    at: dict[str, list[int]] = defaultdict(list)
    for i, word in enumerate(words):
        at[word].append(i)
    often = [rows for rows in at.values() if len({text_of[i] for i in rows}) >= min_contexts]
    by_text = [np.flatnonzero(text_of == t) for t in np.unique(text_of)]
    by_text = [rows for rows in by_text if len(rows) >= 2]
    return Pairwise(
        anisotropy=[_mean_pair(layer) for layer in vectors],
        self_similarity=[float(np.mean([_mean_pair(layer[rows]) for rows in often])) for layer in vectors],
        intra_sentence_similarity=[float(np.mean([_to_mean(layer[r]) for r in by_text])) for layer in vectors],
        mev=[float(np.mean([_mev(layer[rows]) for rows in often])) for layer in vectors],
    )


def _word_vectors(encoder: Encoder, texts: list[str]) -> tuple[Floats, list[str], NDArray[np.int64]]:
    """(layers, words, d) the mean of each word's pieces, the words, and (words,) the text each is of."""
    single = encoder.tokenizer.single
    found: list[Floats] = []
    words: list[str] = []
    text_of: list[int] = []
    for number, text in enumerate(texts):
        tokens = encoder.tokenise([text])
        ids = [*single.before, *tokens.ids[: encoder.limit - len(single)].tolist(), *single.after]
        with torch.no_grad():
            output = encoder.model(input_ids=torch.tensor([ids]), output_hidden_states=True)
        hidden = torch.stack(output.hidden_states)[:, 0, len(single.before) :].numpy()
        units = encoder.tokenizer.words(tokens)
        for start, stop, word in zip(units.start.tolist(), units.stop.tolist(), units.key, strict=True):
            found.append(hidden[:, start:stop].mean(axis=1))
            words.append(word)
            text_of.append(number)
    return np.stack(found, axis=1), words, np.array(text_of)


def _units(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1))


def _mean_pair(vectors: Floats) -> float:
    """Mean cosine over all pairs of different rows, from the matrix of all of them."""
    unit = _units(vectors)
    cosines = unit @ unit.T
    n = len(unit)
    return float((cosines.sum(dtype=np.float64) - np.trace(cosines)) / (n * (n - 1)))


def _to_mean(vectors: Floats) -> float:
    return float((_units(vectors) @ _units(vectors.mean(axis=0, keepdims=True)).T).mean())


def _mev(vectors: Floats) -> float:
    squares = np.linalg.svd(vectors, compute_uv=False) ** 2
    return float(squares[0] / squares.sum())

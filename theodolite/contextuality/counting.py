"""The first pass, which needs no model: count words, and choose by hash what the second pass keeps."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import DistinctSample, HashSample, KeyCounts, hash_of, occurrence_code
from theodolite.corpus import Corpus
from theodolite.instrument import Needs, Observation, Pass

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch

Ints = NDArray[np.int64]

# How many random occurrences stand in for "any word" in the texts of shuffled words, and how many such texts.
POOL = 2_000
SHUFFLED_TEXTS = 1_000
BASELINE_DRAWS = 20
# Which random number of an occurrence is meant: one for MEV's sample, one for the pool, then one a draw.
_MEV, _POOL, _DRAWS = 0, 1, 2


def occurrence_hash(seed: int, kind: int, rows: Ints, positions: Ints) -> NDArray[np.uint64]:
    """The random number of an occurrence; ``kind`` 0 orders the sample for MEV."""
    return hash_of(seed, kind, rows, positions)


@dataclass(frozen=True)
class Counted:
    """What the first pass found of one corpus.

    words: alphabetical; counts: (words, 2) texts and occurrences; sizes: words a text, of a sample of the
    texts of two words or more, with their weights; pool, draws: occurrences as codes (draws: BASELINE_DRAWS arrays).
    """

    words: list[str]
    counts: Ints
    sizes: Ints
    weights: NDArray[np.float64]
    pool: Ints
    draws: list[Ints]


def needed_columns(weights: str | None) -> tuple[str, ...]:
    """What a pass needs of a corpus beside its texts."""
    return (weights,) if weights else ()


def weights_of(batch: Batch, column: str | None) -> NDArray[np.float64]:
    """(texts,) the weight of each text of a batch: 1 where none are asked for."""
    found: NDArray[np.float64] = (batch.columns or {})[column] if column else np.ones(len(batch))
    return found


class CountWords(Pass):
    """Counts the words of each text whose weight is above 0."""

    def __init__(self, unit: str, cap: int, seed: int, weights: str | None = None) -> None:
        self.needs = Needs(columns=needed_columns(weights))
        self._how = unit, cap, seed, weights

    def start(self, corpus: Corpus) -> WordCounts:
        return WordCounts(*self._how)


class WordCounts(Observation):
    """Word counts of some shards, with samples of occurrences and of text lengths."""

    def __init__(self, unit: str, cap: int, seed: int, weights: str | None) -> None:
        self._unit, self._seed, self._weights = unit, seed, weights
        self.counts = KeyCounts(2)
        self.pool = HashSample(POOL, 1)
        # A size and the bits of a weight: members of a sample are whole numbers.
        self.sizes = HashSample(SHUFFLED_TEXTS, 2)
        self.draws = [DistinctSample(cap, 1) for _ in range(BASELINE_DRAWS)]

    def update(self, batch: Batch) -> None:
        words = batch.units(self._unit)
        seed, weights = self._seed, weights_of(batch, self._weights)
        keys, text, position = words.key, words.text, words.position
        weighty = np.flatnonzero(weights[text] > 0)
        if len(weighty) < len(keys):
            keys, text, position = [keys[i] for i in weighty.tolist()], text[weighty], position[weighty]
        occurrences = Counter(keys)
        texts = Counter(key for _, key in set(zip(text.tolist(), keys, strict=True)))
        for key, count in occurrences.items():
            self.counts.update(key, (texts[key], count))
        rows = batch.rows[text]
        codes = occurrence_code(rows, position)[:, None]
        self.pool.update(occurrence_hash(seed, _POOL, rows, position), codes)
        sizes = np.bincount(text, minlength=len(batch))
        several = np.flatnonzero(sizes >= 2)
        sized = np.stack([sizes[several], weights[several].astype(np.float64).view(np.int64)], axis=1)
        self.sizes.update(hash_of(seed, batch.rows[several]), sized)
        for i, draw in enumerate(self.draws):
            draw.update(occurrence_hash(seed, _DRAWS + i, rows, position), codes, keys)

    def result(self) -> Counted:
        words, counts = self.counts.result()
        draws = [draw.result()[0][:, 0] for draw in self.draws]
        sizes, weights = self.sizes.result().T
        return Counted(words, counts, sizes, weights.copy().view(np.float64), self.pool.result()[:, 0], draws)


def word_hash(seed: int, word: str) -> int:
    """The random number of a word."""
    return int.from_bytes(hashlib.blake2b(f"{seed}\0{word}".encode(), digest_size=8).digest(), "big")


@dataclass(frozen=True)
class Chosen:
    """The words that a corpus is measured on.

    words: chosen, alphabetical; contexts, occurrences: (words,); sampled: (words,) whether it counts in the
    layer's mean (a word only named does not); for_mev: (words,) whether MEV is taken;
    threshold: (words,) an occurrence is kept for MEV where its hash is at most this; eligible: how many
    words were met in enough texts.
    """

    words: list[str]
    contexts: Ints
    occurrences: Ints
    sampled: NDArray[np.bool_]
    for_mev: NDArray[np.bool_]
    threshold: NDArray[np.uint64]
    eligible: int


def choose(
    counted: Counted, named: set[str], *, min_contexts: int, max_words: int, mev_words: int, cap: int, seed: int
) -> Chosen:
    """Choose words by hash among those in at least ``min_contexts`` texts; those named always, from two texts."""
    contexts = dict(zip(counted.words, counted.counts.tolist(), strict=True))
    eligible = [w for w, (texts, _) in contexts.items() if texts >= min_contexts]
    by_hash = sorted(eligible, key=lambda w: word_hash(seed, w))
    wanted = {w for w in named if contexts.get(w, (0, 0))[1] >= 2}
    sampled = set(by_hash[:max_words])
    chosen = sorted(sampled | wanted)
    with_mev = {*by_hash[: min(mev_words, max_words)], *wanted}
    occurrences = np.array([contexts[w][1] for w in chosen], np.int64)
    return Chosen(
        words=chosen,
        contexts=np.array([contexts[w][0] for w in chosen], np.int64),
        occurrences=occurrences,
        sampled=np.array([w in sampled for w in chosen], bool),
        for_mev=np.array([w in with_mev for w in chosen], bool),
        threshold=_thresholds(occurrences, cap),
        eligible=len(eligible),
    )


def _thresholds(occurrences: Ints, cap: int) -> NDArray[np.uint64]:
    """Keep a little more than ``cap`` of each word, so that the ``cap`` smallest hashes are among them.

    With a margin of six standard deviations fewer than ``cap`` pass once in a billion words.
    """
    top = np.iinfo(np.uint64).max
    share = (cap + 6 * np.sqrt(cap) + 6) / np.maximum(occurrences, 1)
    found = np.full(len(occurrences), top, np.uint64)
    few = share < 1
    found[few] = (share[few] * float(top)).astype(np.uint64)
    return found

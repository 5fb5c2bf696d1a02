"""The second pass: every layer's sums, and the few vectors that are kept whole."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import Gathered, KeyedSums, UnitSums, WeightedMean, hash_of, occurrence_code
from theodolite.contextuality.counting import Chosen, Counted, needed_columns, occurrence_hash, weights_of
from theodolite.contextuality.measures import intra_similarity
from theodolite.corpus import Corpus
from theodolite.instrument import Needs, Observation, Pass

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch

Ints = NDArray[np.int64]
REPLICATES = 100
_POISSON = 9
# The distribution function of Poisson(1) at 0, 1, …
_POISSON_STEPS = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(12)])


@dataclass(frozen=True)
class Measured:
    """What the second pass found of one corpus, for L layers.

    anisotropy: (L,) with its interval; self_similarity: (words, L) by number of the chosen word, NaN where
    not met; intra: mean and half interval (L,); texts: of two words or more; vectors: kept occurrences by code.
    """

    occurrences: int
    anisotropy: NDArray[np.float64]
    anisotropy_interval: tuple[NDArray[np.float64], NDArray[np.float64]]
    self_similarity: NDArray[np.float64]
    intra: tuple[NDArray[np.float64], NDArray[np.float64]]
    texts: int
    codes: Ints
    vectors: NDArray[np.float32]
    mev_words: Ints
    mev_weights: NDArray[np.float64]


class Measure(Pass):
    """Sums over all layers of the words chosen in the first pass."""

    def __init__(
        self,
        counted: Mapping[str, Counted],
        chosen: Mapping[str, Chosen],
        *,
        layers: int,
        dim: int,
        unit: str,
        weights: str | None,
        seed: int,
    ) -> None:
        self.needs = Needs(states="all", columns=needed_columns(weights))
        self._counted, self._chosen = counted, chosen
        self._shape, self._unit, self._weights, self._seed = (layers, dim), unit, weights, seed

    def start(self, corpus: Corpus) -> LayerSums:
        counted = self._counted[corpus.name]
        wanted = np.unique(np.concatenate([counted.pool, *counted.draws]))
        return LayerSums(self._chosen[corpus.name], wanted, self._shape, self._unit, self._weights, self._seed)


class LayerSums(Observation):
    """Sums of unit vectors over everything, by word and by bootstrap replicate; kept occurrences."""

    def __init__(
        self,
        chosen: Chosen,
        wanted: Ints,
        shape: tuple[int, int],
        unit: str,
        weights: str | None,
        seed: int,
    ) -> None:
        self._chosen, self._wanted, self._unit, self._weights = chosen, wanted, unit, weights
        self._layers, self._seed = range(shape[0]), seed
        self._number = {word: i for i, word in enumerate(chosen.words)}
        self.total = UnitSums(shape)
        self.replicates = UnitSums((REPLICATES, *shape))
        self.by_word = KeyedSums(shape, room=len(chosen.words))
        self.intra = WeightedMean((shape[0],))
        self.kept = Gathered(shape)
        self.for_mev = Gathered((2,))

    def update(self, batch: Batch) -> None:
        from scipy.sparse import csr_array

        words = batch.units(self._unit)
        if not len(words):
            return
        rows, weight = batch.rows[words.text], weights_of(batch, self._weights)
        a, text_weight = weight[words.text], weight[words.texts]
        sizes = np.diff(np.append(words.by_text, len(words)))
        drawn = _poisson(self._seed, batch.rows[words.texts]) * text_weight

        chosen = np.array([self._number.get(key, -1) for key in words.key], np.int64)
        chosen[a == 0] = -1
        order = np.argsort(chosen, kind="stable")
        order = order[chosen[order] >= 0]
        begins = np.flatnonzero(np.diff(chosen[order], prepend=-1))
        counts = np.diff(np.append(begins, len(order)))
        slots = self.by_word.slots(chosen[order][begins])
        keep = self._keep(words.position, rows, chosen)
        intra = np.empty((len(sizes), len(self._layers)))
        kept = np.empty((len(keep), *self.kept.vectors.shape[1:]), np.float32)
        total = np.empty_like(self.total.sums)
        replicates = csr_array(drawn)
        every = np.arange(len(words))
        by_text = _sums(np.ones(len(words), np.float32), every, sizes)

        for layer in self._layers:
            vectors = batch.unit_vectors(layer, words)
            kept[:, layer] = vectors[keep]
            # A text's own sums are short: single precision serves, at half the traffic. What grows is in double.
            scale = 1 / _lengths(vectors)
            sums = by_text @ vectors
            unit_sums = (_sums(scale, every, sizes) @ vectors).astype(np.float64)
            intra[:, layer] = intra_similarity(unit_sums, sums, sizes)
            total[layer] = text_weight @ unit_sums
            self.replicates.sums[:, layer] += replicates @ unit_sums
            shares = (a[order] * scale[order]).astype(np.float32)
            self.by_word.sums[slots, layer] += _sums(shares, order, counts, len(words)) @ vectors

        self.total.add(total, a.sum(), (a**2).sum(), int(np.count_nonzero(a)))
        self.replicates.add(np.zeros(()), drawn @ sizes, drawn**2 @ sizes, 0)
        ones = np.ones((len(order), 1))
        each = np.arange(len(order))
        weights, squares = ((_sums(a[order] ** power, each, counts) @ ones)[:, 0] for power in (1, 2))
        self.by_word.add(slots, weights, squares, counts)
        several = sizes >= 2
        self.intra.update(intra[several], text_weight[several])
        codes = occurrence_code(rows[keep], words.position[keep])
        self.kept.update(codes, kept)
        self.for_mev.update(codes, np.stack([chosen[keep], a[keep]], axis=1).astype(np.float32))

    def _keep(self, positions: Ints, rows: Ints, chosen: Ints) -> Ints:
        """Which occurrences' vectors are kept: those of the baselines, and the sample of each word for MEV."""
        codes = occurrence_code(rows, positions)
        baseline = self._wanted[np.minimum(np.searchsorted(self._wanted, codes), len(self._wanted) - 1)] == codes
        mine = chosen >= 0
        mine[mine] = self._chosen.for_mev[chosen[mine]]
        hashes = occurrence_hash(self._seed, 0, rows[mine], positions[mine])
        mine[mine] = hashes <= self._chosen.threshold[chosen[mine]]
        return np.flatnonzero(baseline | mine)

    def result(self) -> Measured:
        similarity = np.full((len(self._chosen.words), len(self._layers)), np.nan)
        keys, values = self.by_word.result()
        similarity[keys] = values
        anisotropy, replicates = self.total.result(), self.replicates.result()
        # A text drawn twice meets its own neighbours twice, which lifts every replicate alike: only their
        # spread is taken, about the exact value.
        low, high = anisotropy + np.nanquantile(replicates, [0.025, 0.975], axis=0) - np.nanmean(replicates, axis=0)
        codes, vectors = self.kept.result()
        labels = self.for_mev.result()[1]
        return Measured(
            occurrences=self.total.count,
            anisotropy=anisotropy,
            anisotropy_interval=(low, high),
            self_similarity=similarity,
            intra=self.intra.result(),
            texts=self.intra.count,
            codes=codes,
            vectors=vectors,
            mev_words=labels[:, 0].astype(np.int64),
            mev_weights=labels[:, 1].astype(np.float64),
        )


def _sums(values: NDArray[Any], at: Ints, sizes: Ints, columns: int | None = None) -> Any:
    """Sparse matrix whose row i sums ``sizes[i]`` of the rows ``at``, each times its value."""
    from scipy.sparse import csr_array

    shape = (len(sizes), len(at) if columns is None else columns)
    return csr_array((values, at, np.append(0, np.cumsum(sizes))), shape=shape)


def _lengths(vectors: NDArray[Any]) -> NDArray[Any]:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.where(lengths > 0, lengths, 1)


def _poisson(seed: int, rows: Ints) -> NDArray[np.float64]:
    """(replicates, n) Poisson(1) counts of each text in each bootstrap replicate, keyed by its row."""
    uniform = hash_of(seed, _POISSON, np.arange(REPLICATES)[:, None], rows) / 2.0**64
    return np.searchsorted(_POISSON_STEPS, uniform).astype(np.float64)

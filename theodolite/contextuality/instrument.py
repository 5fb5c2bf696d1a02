"""The contextuality instrument: how context-specific is each layer, once its anisotropy is taken off?"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from theodolite.accumulate import WeightedMean, mean_interval
from theodolite.contextuality.counting import Chosen, Counted, CountWords, choose, occurrence_hash
from theodolite.contextuality.findings import findings, importance_findings
from theodolite.contextuality.importance import judge_of, skip_each
from theodolite.contextuality.measures import prefix_mev, shuffled_similarity
from theodolite.contextuality.measuring import Measure, Measured
from theodolite.contextuality.reading import ContextualityReading
from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.instrument import Instrument, Passes, Subject
from theodolite.options import option, seed_option

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

Floats = NDArray[np.float64]
Interval = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class Contextuality(Instrument):
    """Anisotropy, self-similarity, intra-sentence similarity and MEV of every layer, raw and adjusted."""

    name: ClassVar[str] = "contextuality"
    question: ClassVar[str] = "How context-specific is each layer, once its anisotropy is taken off?"
    reading: ClassVar[type[ContextualityReading]] = ContextualityReading

    unit: str = option("word", "What is compared: whole words, or the tokenizer's pieces.", choices=("word", "token"))
    word: tuple[str, ...] = option((), "A word to follow through the layers, whatever the sample; repeatable.")
    min_contexts: int = option(5, "A word must occur in at least this many different texts.", minimum=2)
    max_words: int = option(5000, "At most this many words are measured (a seeded sample).", minimum=1)
    mev_words: int = option(300, "At most this many of them for MEV.", minimum=0)
    mev_cap: int = option(200, "At most this many occurrences of a word for MEV.", minimum=2)
    centered: bool = option(False, "Centre a word's occurrences before MEV.")
    weights: str | None = option(None, "A column of the corpora with a weight for each text.", metavar="COLUMN")
    importance: str | None = option(
        None,
        "Also skip each layer in turn and judge the encoder on these texts: scored pairs "
        "(FILE?text=COLUMN&text_b=COLUMN&label=SCORE) or, for a classifier, labelled texts.",
        metavar="SOURCE",
    )
    seed: int = seed_option()

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.weights,) if self.weights else ()

    def unfit_encoder(self, encoder: Encoder) -> str | None:
        if not encoder.layers:
            return "looks at words and layers, and there are only vectors: give a model"
        return self.untouched(encoder)

    def passes(self, subject: Subject) -> Passes:
        judge = None
        if self.importance:
            # Before the work, which may take hours: what cannot be judged is to be told at once.
            cache = None if "://" in subject.store.root else subject.store.root
            judge = judge_of(subject.model, Corpus.parse(self.importance, cache=cache))
        counted: Mapping[str, Counted] = yield CountWords(self.unit, self.mev_cap, self.seed, self.weights)
        named = {word: subject.model.tokenizer.normalised(word) for word in self.word}
        chosen = {name: self._choose(found, set(named.values())) for name, found in counted.items()}
        _check(self, named, counted, chosen)
        measured: Mapping[str, Measured] = yield Measure(
            counted,
            chosen,
            layers=subject.layers + 1,
            dim=subject.dim,
            unit=self.unit,
            weights=self.weights,
            seed=self.seed,
        )
        layers, words, sampling = [], [], []
        for name in measured:
            # Thousands of small eigenvalue problems: one thread each is faster than two that wait for each other.
            with threadpool_limits(1):
                one = _Corpus(self, counted[name], chosen[name], measured[name], set(named.values()))
            about = {"encoder": subject.encoder, "corpus": name}
            layers += [about | row for row in one.layers()]
            words += [about | row for row in one.words()]
            sampling.append(about | one.sampling())
        tables = {
            "layers": pa.Table.from_pylist(layers),
            "words": pa.Table.from_pylist(words),
            "sampling": pa.Table.from_pylist(sampling),
        }
        said = findings(layers, words)
        if judge is not None:
            tables["importance"] = skip_each(subject.model, judge, seed=self.seed)
            said += importance_findings(tables["importance"].to_pylist())
        return ContextualityReading(tables, said)

    def _choose(self, counted: Counted, named: set[str]) -> Chosen:
        return choose(
            counted,
            named,
            min_contexts=self.min_contexts,
            max_words=self.max_words,
            mev_words=self.mev_words,
            cap=self.mev_cap,
            seed=self.seed,
        )


class _Corpus:
    """The rows of one corpus, made of what both passes found."""

    def __init__(
        self, options: Contextuality, counted: Counted, chosen: Chosen, measured: Measured, followed: set[str]
    ) -> None:
        self.options, self.counted, self.chosen, self.measured = options, counted, chosen, measured
        self.followed = followed
        self.anisotropy = measured.anisotropy
        self.mev, self.mev_baseline = self._mev()

    def layers(self) -> list[dict[str, Any]]:
        m, chosen = self.measured, self.chosen
        sampled = m.self_similarity[chosen.sampled]
        self_similarity = mean_interval(sampled)
        intra = _around(*m.intra)
        anisotropy = (m.anisotropy, *m.anisotropy_interval)
        in_mean = chosen.sampled & chosen.for_mev
        columns: dict[str, Interval] = {
            "anisotropy": anisotropy,
            "self_similarity": self_similarity,
            "self_similarity_adjusted": _less(self_similarity, anisotropy),
            "intra_sentence_similarity": intra,
            "intra_sentence_similarity_adjusted": _less(intra, anisotropy),
            "intra_sentence_shuffled": self._shuffled(),
            "mev": mean_interval(self.mev[in_mean]),
            "mev_baseline": mean_interval(self.mev_baseline[in_mean]),
            "mev_adjusted": mean_interval((self.mev - self.mev_baseline)[in_mean]),
        }
        rows = []
        for layer in range(len(self.anisotropy)):
            row: dict[str, Any] = {
                "layer": layer,
                "occurrences": m.occurrences,
                "words": int((~np.isnan(sampled[:, layer])).sum()),
                "texts": m.texts,
            }
            for name, values in columns.items():
                for suffix, value in zip(("", "_low", "_high"), values, strict=True):
                    row[name + suffix] = float(value[layer])
            rows.append(row)
        return rows

    def words(self) -> list[dict[str, Any]]:
        similarity, chosen = self.measured.self_similarity, self.chosen
        rows = []
        for i, word in enumerate(chosen.words):
            has_mev = bool(chosen.for_mev[i])
            rows.append(
                {
                    "word": word,
                    "contexts": int(chosen.contexts[i]),
                    "occurrences": int(chosen.occurrences[i]),
                    "named": not bool(chosen.sampled[i]),
                    "followed": word in self.followed,
                    "self_similarity": similarity[i].tolist(),
                    "self_similarity_adjusted": (similarity[i] - self.anisotropy).tolist(),
                    "mev": self.mev[i].tolist() if has_mev else None,
                    "mev_adjusted": (self.mev[i] - self.mev_baseline[i]).tolist() if has_mev else None,
                }
            )
        return rows

    def sampling(self) -> dict[str, Any]:
        """What was measured out of what."""
        cap = self.options.mev_cap
        return {
            "vocabulary": len(self.counted.words),
            "eligible_words": self.chosen.eligible,
            "words_measured": int(self.chosen.sampled.sum()),
            "mev_words": int(self.chosen.for_mev.sum()),
            "mev_words_capped": int((self.chosen.for_mev & (self.chosen.occurrences > cap)).sum()),
            "shuffled_texts": len(self.counted.sizes),
            "shuffled_pool": len(self.counted.pool),
            "mev_baseline_draws": len(self.counted.draws),
        }

    def _shuffled(self) -> Interval:
        counted, seen = self.counted, WeightedMean((len(self.anisotropy),))
        if len(counted.sizes):
            pool, weights = self._vectors(counted.pool)
            drawn = weights if self.options.weights else None
            seen.update(shuffled_similarity(pool, counted.sizes, self.options.seed, drawn), counted.weights)
        return _around(*seen.result())

    def _mev(self) -> tuple[Floats, Floats]:
        """(words, layers) MEV of the words chosen for it, and of as many random occurrences of different words."""
        chosen, centered = self.chosen, self.options.centered
        found = np.full((len(chosen.words), len(self.anisotropy)), np.nan)
        sizes = np.zeros(len(chosen.words), np.int64)
        for i in np.flatnonzero(chosen.for_mev).tolist():
            vectors = self._vectors_of_word(i)
            sizes[i] = len(vectors)
            found[i] = _mev_of(vectors, [len(vectors)], centered)[0]
        baseline = np.full_like(found, np.nan)
        wanted = np.unique(sizes[sizes > 0]).tolist()
        if wanted:
            by_size = self._random_mev(wanted)
            for size, values in zip(wanted, by_size, strict=True):
                baseline[sizes == size] = values
        return found, baseline

    def _random_mev(self, sizes: list[int]) -> Floats:
        """(sizes, layers) mean over the draws; a draw that has fewer different words gives what it has."""

        def of_draw(codes: NDArray[np.int64]) -> Floats:
            vectors, weights = self._vectors(codes)
            scaled = vectors * np.sqrt(weights)[:, None, None]
            few = [min(size, len(scaled)) for size in sizes]
            return _mev_of(scaled, few, self.options.centered)

        # The texts are done and the processors idle: a draw each.
        with ThreadPoolExecutor() as pool:
            found: Floats = np.mean(list(pool.map(of_draw, self.counted.draws)), axis=0)
        return found

    def _vectors_of_word(self, word: int) -> NDArray[np.float32]:
        m = self.measured
        at = np.flatnonzero(m.mev_words == word)
        rows, positions = m.codes[at] >> np.int64(24), m.codes[at] & np.int64((1 << 24) - 1)
        order = np.argsort(occurrence_hash(self.options.seed, 0, rows, positions), kind="stable")
        at = at[order[: self.options.mev_cap]]
        return m.vectors[at] * np.sqrt(m.mev_weights[at]).astype(np.float32)[:, None, None]

    def _vectors(self, codes: NDArray[np.int64]) -> tuple[NDArray[np.float32], Floats]:
        at = np.searchsorted(self.measured.codes, codes)
        return self.measured.vectors[at], self.measured.mev_weights[at]


def _mev_of(vectors: NDArray[Any], sizes: list[int], centered: bool) -> Floats:
    """(sizes, layers) of the first so many of the vectors (n, layers, d)."""
    x = vectors[: max(sizes)].astype(np.float64).swapaxes(0, 1)
    return prefix_mev(x @ x.swapaxes(1, 2), sizes, centered=centered)


def _around(mean: Floats, half: Floats) -> Interval:
    return mean, mean - half, mean + half


def _less(values: Interval, baseline: Interval) -> Interval:
    """A mean minus its baseline; the interval has the uncertainty of both, as if they were independent."""
    (mean, low, high), (by, by_low, by_high) = values, baseline
    below, above = np.hypot(mean - low, by_high - by), np.hypot(high - mean, by - by_low)
    return mean - by, mean - by - below, mean - by + above


def _check(
    options: Contextuality, named: dict[str, str], counted: Mapping[str, Counted], chosen: Mapping[str, Chosen]
) -> None:
    for name, found in counted.items():
        if not found.words:
            which = f"text of a '{options.weights}' above 0" if options.weights else "text"
            raise InputError(f"{name}: no {which} holds a word (a unit with a letter or number)")
        if not chosen[name].words:
            raise InputError(
                f"{name}: no word occurs in {options.min_contexts} different texts, so self-similarity cannot be "
                "measured; give more texts or lower --min-contexts"
            )
    for word, normalised in named.items():
        if not any(normalised in c.words for c in chosen.values()):
            raise InputError(f"--word {word}: occurs less than twice in {', '.join(counted)}")

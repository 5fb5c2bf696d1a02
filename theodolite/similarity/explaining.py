"""Pairs of texts explained: both texts forward and back once, for all the methods of one gradient."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from theodolite.accumulate import unit_vectors
from theodolite.encoder.encoder import DEFAULT_BUDGET
from theodolite.encoder.likeness import Likeness, likeness_of
from theodolite.encoder.pairs import pair_gradients
from theodolite.errors import InputError
from theodolite.similarity.explanation import Asked, Doubles, Explanation, Ints, Side
from theodolite.similarity.matching import best_matches, scaled, scored
from theodolite.similarity.methods import BY_GRADIENT, BY_SIGNALS, INTEGRATED, TFIDF, Floats, Signals
from theodolite.similarity.tfidf import Idf, WordVectors
from theodolite.similarity.wording import Wording, wording

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch
    from theodolite.encoder.encoder import Encoder
    from theodolite.encoder.tokens import Tokens

# Pairs worked on together: enough for batches of like length; of paragraphs, their words' vectors take some 50 MB.
BLOCK = 128


@dataclass(frozen=True)
class Baseline:
    """What ``tfidf-w2v`` needs: how rare words are, and their vectors (else the encoder's input embeddings)."""

    idf: Idf = field(default_factory=Idf)
    vectors: WordVectors | None = None


def explain_pairs(
    encoder: Encoder,
    texts_a: Sequence[str],
    texts_b: Sequence[str],
    asked: Asked = Asked(),  # noqa: B008 (frozen)
    *,
    baseline: Baseline = Baseline(),  # noqa: B008 (frozen)
    budget: int = DEFAULT_BUDGET,
) -> Iterator[Explanation]:
    """Why each text of the one list is like its fellow of the other, in their order.

    >>> from theodolite import Encoder
    >>> [found] = explain_pairs(Encoder.load(), ["A dry red wine."], ["This red is very dry."])
    >>> best = found.matches["bti"]
    >>> found.a.words[best.index_a[0]], found.b.words[best.index_b[0]]
    ('dry', 'dry')
    """
    if len(texts_a) != len(texts_b):
        raise InputError(f"{len(texts_a)} first texts and {len(texts_b)} second ones; give as many of each")
    pairs = iter(zip(texts_a, texts_b, strict=True))
    done = 0
    while block := list(islice(pairs, BLOCK)):
        yield from _Block(encoder, block, asked, baseline, budget, done).explanations()
        done += len(block)


class _Block:
    """Some pairs, worked on together.

    ``entries`` are the (text, other text) whose gradients are taken: of pair i, 2i is the first text's and 2i + 1 the
    second's.
    """

    def __init__(
        self, encoder: Encoder, pairs: list[tuple[str, str]], asked: Asked, baseline: Baseline, budget: int, before: int
    ) -> None:
        self.encoder, self.asked, self.baseline, self.budget = encoder, asked, baseline, budget
        number = {text: i for i, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
        self.tokens: Tokens = encoder.tokenise(list(number))
        self.entries: Ints = np.array([[number[a], number[b]] for a, b in pairs], np.int64).reshape(-1)
        self.wording: Wording = wording(self.tokens)
        self.bounds = np.searchsorted(self.wording.words.text, np.arange(len(self.tokens) + 1))
        # To some tokenizers a blank has pieces, and no word still.
        empty = np.flatnonzero(np.diff(self.bounds)[self.entries] == 0)
        if len(empty):
            pair, side = divmod(int(empty[0]), 2)
            raise InputError(
                f"pair {before + pair + 1}: text {'ab'[side]} has no words, so there is nothing to explain"
            )
        self.others = self.entries.reshape(-1, 2)[:, ::-1].ravel()
        self.vectors: list[Floats] = [np.empty((0, 0), np.float32)] * len(self.tokens)
        self.pooled: list[Doubles] = [np.empty(0)] * len(self.tokens)
        self.own: list[Doubles] = [np.empty(0)] * len(self.tokens)

    def explanations(self) -> Iterator[Explanation]:
        """Those of the pairs, in order."""
        raw, errors = self._saliencies()
        for pair in range(len(self.entries) // 2):
            yield self._explanation(pair, raw, errors)

    def _saliencies(self) -> tuple[dict[str, list[Doubles]], Doubles]:
        """By method, the saliency of every piece of each entry; and by entry the error of integrated gradients."""
        methods = self.asked.methods
        raw: dict[str, list[Doubles]] = {m: [np.empty(0)] * len(self.entries) for m in methods if m != TFIDF}
        errors = np.full(len(self.entries), np.nan)
        mine = self.tokens.take(self.entries)
        if any(method in BY_SIGNALS for method in methods):
            for batch, signals in self._signals(mine):
                for method in (m for m in methods if m in BY_SIGNALS):
                    self._put(raw[method], batch.rows, batch.tokens.bounds, BY_SIGNALS[method](signals))
        else:
            for batch in self.encoder.batches(self.tokens, (-1,), budget=self.budget):
                self._look(batch, batch.rows)
        if INTEGRATED in methods:
            from theodolite.encoder.path import integrated_gradients

            weights, _, errors = integrated_gradients(
                self.encoder,
                mine,
                self._likeness(np.arange(len(mine))),
                base=self.asked.base,
                steps=None,
                budget=self.budget,
            )
            self._put(raw[INTEGRATED], np.arange(len(mine)), mine.bounds, np.maximum(weights.astype(np.float64), 0))
        return raw, errors

    def _signals(self, mine: Tokens) -> Iterator[tuple[Batch, Signals]]:
        at_last = "bti-last-layer" in self.asked.methods
        how = self.asked.pooling, self.asked.similarity
        for some in pair_gradients(self.encoder, mine, *how, budget=self.budget):
            for one in some:
                self._look(one.batch, self.entries[one.batch.rows])
            for one in some:
                slope = last = one.batch.token_vectors(-1)
                if at_last:
                    # Both texts of every pair are among these, so that the others' vectors are there.
                    rows = replace(one.batch, rows=np.arange(len(one.batch)))
                    slope = self._likeness(one.batch.rows).last_gradient(rows)
                yield one.batch, Signals(one.embedding, one.gradient, last, slope)

    def _look(self, batch: Batch, texts: Ints) -> None:
        """Take down the vectors of a batch's texts and of their words."""
        mine = wording(batch.tokens).words
        vectors = batch.unit_vectors(-1, mine)
        bounds = np.searchsorted(mine.text, np.arange(len(batch) + 1))
        asked, given = (v.astype(np.float64) for v in (batch.pooled(-1, self.asked.pooling), _own(batch)))
        for i, text in enumerate(texts.tolist()):
            self.pooled[text], self.own[text] = asked[i], given[i]
            self.vectors[text] = vectors[bounds[i] : bounds[i + 1]]

    def _likeness(self, entries: Ints) -> Likeness:
        """How like some entries' texts, a row each, are to their others, which are held constant."""
        vectors = np.stack([self.pooled[text] for text in self.others[entries].tolist()])
        return Likeness(vectors, self.asked.pooling, self.asked.similarity)

    @staticmethod
    def _put(places: list[Doubles], entries: Ints, bounds: Ints, saliency: Doubles) -> None:
        for i, entry in enumerate(entries.tolist()):
            places[entry] = saliency[bounds[i] : bounds[i + 1]]

    def _explanation(self, pair: int, raw: dict[str, list[Doubles]], errors: Doubles) -> Explanation:
        a, b = self.entries[2 * pair : 2 * pair + 2].tolist()
        ids_a, ids_b = (self.tokens.ids[self.tokens.bounds[t] : self.tokens.bounds[t + 1]] for t in (a, b))
        same = np.array_equal(ids_a, ids_b)
        # The likeness of a text to itself cannot rise: its gradient is zero, and what is left of it is rounding.
        level = BY_GRADIENT if same and self.asked.similarity != "dot" else ()
        side_a, side_b = (
            self._side(text, {m: np.ones_like(of[entry]) if m in level else scaled(of[entry]) for m, of in raw.items()})
            for text, entry in ((a, 2 * pair), (b, 2 * pair + 1))
        )
        in_context = best_matches(self.vectors[a], self.vectors[b]) if raw else None
        matches = {}
        for method in self.asked.methods:
            matched = in_context if method != TFIDF else best_matches(*(self._static(t) for t in (a, b)))
            assert matched is not None
            matches[method] = scored(matched, side_a.saliency[method], side_b.saliency[method], self.asked.top_k)
        [value] = likeness_of(self.pooled[a][None], self.pooled[b][None], self.asked.similarity).tolist()
        return Explanation(
            side_a,
            side_b,
            matches,
            value=value,
            cosine=_cosine(self.pooled[a], self.pooled[b]),
            cosine_own=_cosine(self.own[a], self.own[b]),
            completeness_error=float(errors[2 * pair : 2 * pair + 2].max()),
            same=same,
        )

    def _side(self, text: int, of_pieces: dict[str, Doubles]) -> Side:
        """A text with its saliencies; a word's is the highest of its pieces."""
        words = slice(self.bounds[text], self.bounds[text + 1])
        pieces = slice(self.tokens.bounds[text], self.tokens.bounds[text + 1])
        first, stop = (a[words] - pieces.start for a in (self.wording.words.start, self.wording.words.stop))
        start, end = self.wording.start[words], self.wording.end[words]
        of_words = {method: _highest(values, first, stop) for method, values in of_pieces.items()}
        places = self.tokens.start[pieces], self.tokens.end[pieces]
        side = Side(self.tokens.texts[text], start, end, of_words, *places, of_pieces, self.pooled[text])
        if TFIDF not in self.asked.methods:
            return side
        return replace(side, saliency={**of_words, TFIDF: self.baseline.idf.weights(side.words)})

    def _static(self, text: int) -> Floats:
        """(w, d) vectors of a text's words that do not depend on their context."""
        words = slice(self.bounds[text], self.bounds[text + 1])
        if self.baseline.vectors is not None:
            spans = zip(self.wording.start[words].tolist(), self.wording.end[words].tolist(), strict=True)
            return self.baseline.vectors.of([self.tokens.texts[text][s:e] for s, e in spans])
        table = self.encoder.input_embeddings
        first, stop = self.wording.words.start[words].tolist(), self.wording.words.stop[words].tolist()
        return np.stack([table[self.tokens.ids[a:b]].mean(axis=0) for a, b in zip(first, stop, strict=True)])


def _own(batch: Batch) -> Floats:
    """(n, d) the texts' vectors under the model's own pooling; without a transform that was fitted on another one."""
    if batch.rounding is not None and not batch.rounding.fits("own"):
        batch = replace(batch, rounding=None)
    return batch.pooled(-1, "own")


def _highest(values: Doubles, first: Ints, stop: Ints) -> Doubles:
    """(w,) the highest of each run of values; runs do not overlap, and may leave some out."""
    if not len(first):
        return np.empty(0)
    edges = np.stack([first, stop], axis=1).ravel()
    inside = edges < len(values)
    found: Doubles = np.maximum.reduceat(values, edges[inside])[::2]
    return found


def _cosine(a: Doubles, b: Doubles) -> float:
    return float(unit_vectors(a) @ unit_vectors(b))

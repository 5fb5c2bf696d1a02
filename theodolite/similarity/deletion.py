"""Are the salient words those that the similarity rests on? They are removed, most salient first, and it should fall.

From one text with the other whole, then the other way round. A text is not written anew: the pieces of a removed word
are left out and the rest is encoded, so that no other word is cut into other pieces. After step j of s, of w words
round(j / s × (w − 1)) are gone: the last step leaves the least salient one, since an empty text has no vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.accumulate import mean_interval, uniform_of
from theodolite.encoder.encoder import DEFAULT_BUDGET, Encoder
from theodolite.encoder.likeness import likeness_of
from theodolite.encoder.tokens import Tokens
from theodolite.errors import InputError
from theodolite.instrument import Progress, Silent
from theodolite.similarity.explanation import Asked, Doubles, Explanation, Ints
from theodolite.similarity.wording import wording

RANDOM = "random"
REFERENCE = "bti"
# Pairs whose shortened texts are encoded together, and pieces of their whole texts; more only where one pair has more.
PAIRS, PIECES = 32, 20_000


@dataclass(frozen=True)
class Deleted:
    """How far the similarity falls when words go by one method: mean over pairs with its 95% interval.

    area: the mean of the fall over all steps and both directions, large is good; over_random and over_bti: by how
    much it is larger, pair by pair, than in random order and by ``bti`` (NaN where that was not asked for); rank: 1 for
    the largest area, random order among them; constant: texts of equal saliencies, whose words go in text order.
    """

    method: str
    rank: int
    area: float
    area_low: float
    area_high: float
    over_random: float
    over_random_low: float
    over_random_high: float
    over_bti: float
    over_bti_low: float
    over_bti_high: float
    constant: int


@dataclass(frozen=True)
class CurvePoint:
    """The mean fall at one share of the words removed, with its 95% interval over pairs."""

    method: str
    fraction: float
    fall: float
    low: float
    high: float


@dataclass(frozen=True)
class Deletion:
    """Of n pairs, whose mean similarity is ``whole``: a row a method, and the curves, random order last in both.

    single: texts of one word, from which nothing can be removed; their falls are 0 and count.
    """

    n: int
    whole: float
    single: int
    rows: list[Deleted]
    curves: list[CurvePoint]


def deletion(
    encoder: Encoder,
    explanations: Sequence[Explanation],
    asked: Asked,
    *,
    steps: int = 10,
    seed: int = 0,
    budget: int = DEFAULT_BUDGET,
    progress: Progress | None = None,
) -> Deletion:
    """Remove words by every method asked for and in random order, and watch the similarity asked for.

    explanations: of pairs by those methods, by this encoder. Equally salient words go in the order of the text.
    """
    if not explanations:
        raise InputError("no explanations to remove words by; give at least one pair of texts")
    if steps < 1:
        raise InputError(f"{steps} steps of removing words: must be at least 1")
    told = progress or Silent()
    falls, whole = [], []
    with told.step("words removed", len(explanations)):
        for begin, block in _blocks(explanations):
            found = _similarities(encoder, block, _orders(block, asked.methods, begin, seed), asked, steps, budget)
            falls.append(found[:, :, :1] - found)
            whole.append(found[:, 0, 0])
            told.advance(len(block))
    methods = (*asked.methods, RANDOM)
    fall = np.concatenate(falls)
    lengths = np.array([len(side) for one in explanations for side in (one.a, one.b)])
    return Deletion(
        n=len(explanations),
        whole=float(np.concatenate(whole).mean()),
        single=int((lengths == 1).sum()),
        rows=_rows(fall[:, :, 1:].mean(axis=2), methods, [_constant(explanations, m) for m in asked.methods]),
        curves=[
            CurvePoint(method, step / steps, *point.tolist())
            for method, curve in zip(methods, np.stack(mean_interval(fall), axis=-1), strict=True)
            for step, point in enumerate(curve)
        ],
    )


def removed_at(words: int, steps: int) -> Ints:
    """(steps + 1,) how many of a text's words are gone after each step, none at first and all but one at last.

    >>> removed_at(5, 4).tolist(), removed_at(1, 2).tolist()
    ([0, 1, 2, 3, 4], [0, 0, 0])
    """
    found: Ints = (2 * np.arange(steps + 1) * (words - 1) + steps) // (2 * steps)
    return found


def _blocks(explanations: Sequence[Explanation]) -> Iterator[tuple[int, Sequence[Explanation]]]:
    """Runs of pairs that are encoded together, each with the number of its first."""
    begin = pieces = 0
    for number, one in enumerate(explanations):
        more = len(one.a.piece_start) + len(one.b.piece_start)
        if number > begin and (number - begin == PAIRS or pieces + more > PIECES):
            yield begin, explanations[begin:number]
            begin, pieces = number, 0
        pieces += more
    yield begin, explanations[begin:]


def _orders(block: Sequence[Explanation], methods: Sequence[str], begin: int, seed: int) -> list[list[Ints]]:
    """Of each text, a0, b0, a1, …, by each method and last at random: (w,) the place of each word, 0 goes first."""
    found = []
    for pair, one in enumerate(block, begin):
        for side, text in enumerate((one.a, one.b)):
            chance = uniform_of(seed, pair, side, np.arange(len(text)))
            found.append([_places(values) for values in (*(text.saliency[method] for method in methods), chance)])
    return found


def _places(saliency: Doubles) -> Ints:
    found = np.empty(len(saliency), np.int64)
    found[np.argsort(-saliency, kind="stable")] = np.arange(len(saliency))
    return found


def _similarities(
    encoder: Encoder, block: Sequence[Explanation], orders: list[list[Ints]], asked: Asked, steps: int, budget: int
) -> Doubles:
    """(pairs, orders, steps + 1) similarity after each step, the mean of both directions."""
    tokens = encoder.tokenise([text for one in block for text in (one.a.text, one.b.text)])
    numbers: dict[bytes, int] = {}
    shortened: list[Ints] = []
    at = np.empty((len(tokens), len(orders[0]), steps + 1), np.int64)
    for text, word in enumerate(_word_of_pieces(tokens)):
        ids = tokens.ids[tokens.bounds[text] : tokens.bounds[text + 1]]
        gone = removed_at(len(orders[text][0]), steps)
        for order, place in enumerate(orders[text]):
            # A piece of no word (nothing but space) is never removed.
            goes = np.append(place, len(ids))[word]
            for step, count in enumerate(gone.tolist()):
                left = ids[goes >= count]
                # Methods often agree on what to remove: what is left is encoded once.
                number = numbers.setdefault(left.tobytes(), len(shortened))
                if number == len(shortened):
                    shortened.append(left)
                at[text, order, step] = number
    vectors = _vectors(encoder, shortened, asked.pooling, budget)
    found = np.empty(at.shape)
    for text, here in enumerate(at):
        # Texts 2i and 2i + 1 are a pair.
        left, other = vectors[here.ravel()], vectors[at[text ^ 1, 0, 0]]
        found[text] = likeness_of(left, other[None], asked.similarity).reshape(here.shape)
    both: Doubles = found.reshape(-1, 2, *found.shape[1:]).mean(axis=1)
    return both


def _word_of_pieces(tokens: Tokens) -> Iterator[Ints]:
    """Of each text, (t,) the word each piece belongs to; -1 where it is none."""
    words = wording(tokens).words
    found = np.full(len(tokens.ids), -1, np.int64)
    for start, stop, place in zip(words.start.tolist(), words.stop.tolist(), words.position.tolist(), strict=True):
        found[start:stop] = place
    for text in range(len(tokens)):
        yield found[tokens.bounds[text] : tokens.bounds[text + 1]]


def _vectors(encoder: Encoder, pieces: list[Ints], pooling: str, budget: int) -> Doubles:
    """(n, d) the vectors of texts given as their pieces."""
    lengths = np.array([len(ids) for ids in pieces], np.int64)
    flat = np.concatenate(pieces)
    nowhere = np.zeros(len(flat), np.int64)
    bounds = np.append(0, np.cumsum(lengths))
    tokens = Tokens([""] * len(pieces), None, flat, nowhere, nowhere, bounds, lengths)
    parts = [(b.rows, b.pooled(-1, pooling)) for b in encoder.batches(tokens, (-1,), budget=budget)]
    found: Doubles = np.empty((len(pieces), parts[0][1].shape[1]))
    for rows, vectors in parts:
        found[rows] = vectors
    return found


def _constant(explanations: Sequence[Explanation], method: str) -> int:
    texts = (side.saliency[method] for one in explanations for side in (one.a, one.b))
    return sum(len(values) > 1 and bool((values == values[0]).all()) for values in texts)


def _rows(areas: Doubles, methods: Sequence[str], constant: list[int]) -> list[Deleted]:
    """Areas (n, methods), random order last."""
    reference = areas[:, [methods.index(REFERENCE)]] if REFERENCE in methods else np.full((len(areas), 1), np.nan)
    compared = (areas, areas - areas[:, [-1]], areas - reference)
    figures = np.concatenate([np.stack(mean_interval(values), axis=1) for values in compared], axis=1)
    rank = _places(figures[:, 0]) + 1
    numbers = [[int(rank[i]), *figures[i].tolist(), [*constant, 0][i]] for i in range(len(methods))]
    return [Deleted(method, *row) for method, row in zip(methods, numbers, strict=True)]

"""Does a term decide by itself? What putting it in, or masking it, does to the probability of a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.accumulate import hash_of, uniform_of
from theodolite.encoder.tokens import Tokenizer, Tokens, flat_ranges
from theodolite.salience.maps import Ints
from theodolite.salience.occurrences import occurrences
from theodolite.salience.statistics import Answers, Doubles, class_scores, known_mean, percentiles, resampled_means
from theodolite.salience.terms import boundaries, inserted

Told = Callable[[], None]

INSERTIONS = 500
_PLACE = 1


@dataclass(frozen=True)
class Probe:
    """A model that can be asked: its tokenizer, its answers, its mask token."""

    tokenizer: Tokenizer
    answers: Answers
    mask_id: int


@dataclass(frozen=True)
class TermSensitivity:
    """Mean changes of the class's probability with their 95% intervals over texts, NaN where there is no text.

    inserted: texts of other classes that the term was put into; masked: texts of the class that have it; count: its
    occurrences in them.
    """

    term: str
    insertion: float
    insertion_low: float
    insertion_high: float
    inserted: int
    masking: float
    masking_low: float
    masking_high: float
    masked: int
    count: int


@dataclass(frozen=True)
class ListSensitivity:
    """A list's unweighted means over its terms, with deviations over terms (n − 1) and intervals over texts.

    masked: texts of the class that have any of the terms; count: occurrences of all terms; absent: the terms without
    any, which are not in the mean of masking.
    """

    list: str
    terms: tuple[str, ...]
    insertion: float
    insertion_low: float
    insertion_high: float
    insertion_sd: float
    inserted: int
    masking: float
    masking_low: float
    masking_high: float
    masking_sd: float
    masked: int
    count: int
    absent: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """Of each of r terms: insertion (r, m) the change in each text it was put into; masking (r, n) in each text that
    has any term, NaN where it has not this one; count (r,) its occurrences.
    """

    terms: tuple[str, ...]
    insertion: Doubles
    masking: Doubles
    count: Ints


def sensitivity(
    lists: Mapping[str, Sequence[str]],
    texts: Sequence[str],
    texts_b: Sequence[str] | None,
    predicted: Ints,
    cls: int,
    probe: Probe,
    insertions: int = INSERTIONS,
    seed: int = 0,
    told: Told = lambda: None,
) -> tuple[list[ListSensitivity], list[TermSensitivity]]:
    """Rows of lists of terms and of their terms, each term once; predicted: (n,) the class of each text.

    told: called when a term has been put in everywhere, and again when it has been masked everywhere.
    """
    terms = terms_of(lists)
    changes = Changes(
        terms,
        insertion_changes(terms, texts, texts_b, predicted, cls, probe, insertions, seed, told),
        *masking_changes(terms, texts, texts_b, predicted, cls, probe, told),
    )
    return [list_row(name, each, changes, seed) for name, each in lists.items()], term_rows(changes, seed)


def terms_of(lists: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The terms of all lists, each once."""
    return tuple(dict.fromkeys(term for each in lists.values() for term in each))


def insertion_changes(
    terms: Sequence[str],
    texts: Sequence[str],
    texts_b: Sequence[str] | None,
    predicted: Ints,
    cls: int,
    probe: Probe,
    insertions: int = INSERTIONS,
    seed: int = 0,
    told: Told = lambda: None,
) -> Doubles:
    """(terms, m) change of the class's probability when the term is put into m texts of other classes.

    The texts are drawn with the seed, and a place in each (the first text of a pair): the same for every term.
    """
    others = np.flatnonzero(np.asarray(predicted) != cls)
    chosen = others[np.argsort(hash_of(seed, others), kind="stable")][:insertions].tolist()
    if not chosen:
        return np.empty((len(terms), 0))
    given = [texts[row] for row in chosen]
    second = None if texts_b is None else [texts_b[row] for row in chosen]
    draws = uniform_of(seed, chosen, _PLACE)
    places = [_drawn(boundaries(text), draw) for text, draw in zip(given, draws, strict=True)]

    def scores(asked: list[str]) -> Doubles:
        return class_scores(probe.answers(probe.tokenizer(asked, second)), cls)

    before = scores(given)
    changes = np.empty((len(terms), len(given)))
    for number, term in enumerate(terms):
        changes[number] = (
            scores([inserted(text, [(at, term)]) for text, at in zip(given, places, strict=True)]) - before
        )
        told()
    return changes


def masking_changes(
    terms: Sequence[str],
    texts: Sequence[str],
    texts_b: Sequence[str] | None,
    predicted: Ints,
    cls: int,
    probe: Probe,
    told: Told = lambda: None,
) -> tuple[Doubles, Ints]:
    """(terms, n) change of the class's probability when all of a term's words are masked, in the n texts of the class
    that have any term, NaN where this one does not occur; and (terms,) how often each occurs.
    """
    own = np.flatnonzero(np.asarray(predicted) == cls).tolist()
    first, second = [texts[row] for row in own], None if texts_b is None else [texts_b[row] for row in own]
    found = occurrences(terms, first, second, probe.tokenizer)
    have = np.unique(np.concatenate([np.empty(0, np.int64), *(each.text for each in found)]))
    changes = np.full((len(terms), len(have)), np.nan)
    if len(have):
        places = have.tolist()
        tokens = probe.tokenizer([first[i] for i in places], None if second is None else [second[i] for i in places])
        before = class_scores(probe.answers(tokens), cls)
        for term, each in enumerate(found):
            some, at = np.unique(np.searchsorted(have, each.text), return_inverse=True)
            if len(some):
                part = tokens.take(some)
                base = part.bounds[at]
                masked = masked_words(part, base + each.start, base + each.stop, probe.mask_id)
                changes[term, some] = class_scores(probe.answers(masked), cls) - before[some]
            told()
    return changes, np.array([each.count for each in found], np.int64)


def masked_words(tokens: Tokens, start: Ints, stop: Ints, mask_id: int) -> Tokens:
    """The tokens with one mask in place of each of some words; start, stop: (w,) the flat ranges of their pieces."""
    ids, end = tokens.ids.copy(), tokens.end.copy()
    ids[start], end[start] = mask_id, tokens.end[stop - 1]
    kept = np.ones(len(ids), bool)
    kept[flat_ranges(start + 1, stop - start - 1)] = False
    before = np.append(0, np.cumsum(kept))
    bounds = before[tokens.bounds]
    split = before[tokens.bounds[:-1] + tokens.split] - bounds[:-1]
    return replace(tokens, ids=ids[kept], start=tokens.start[kept], end=end[kept], bounds=bounds, split=split)


def term_rows(changes: Changes, seed: int = 0) -> list[TermSensitivity]:
    """A row for each term."""
    insertion, masking = _by_term(changes.insertion, seed), _by_term(changes.masking, seed)
    counts = changes.count.tolist()
    return [TermSensitivity(*row) for row in zip(changes.terms, *insertion, *masking, counts, strict=True)]


def list_row(name: str, terms: Sequence[str], changes: Changes, seed: int = 0) -> ListSensitivity:
    """The row of a list whose terms are all among those of the changes."""
    at = np.array([changes.terms.index(term) for term in terms], np.int64)
    masking = changes.masking[at]
    masking = masking[:, ~np.isnan(masking).all(axis=0)]
    absent = tuple(term for term, i in zip(terms, at, strict=True) if changes.count[i] == 0)
    return ListSensitivity(
        name,
        tuple(terms),
        *_over_terms(changes.insertion[at], seed),
        changes.insertion.shape[1],
        *_over_terms(masking, seed),
        masking.shape[1],
        int(changes.count[at].sum()),
        absent,
    )


def _by_term(values: Doubles, seed: int) -> tuple[list[float], list[float], list[float], list[int]]:
    """Of changes (terms, n): each term's mean, the ends of its interval, and its number of texts."""
    texts = (~np.isnan(values)).sum(axis=1).tolist()
    ends = [percentiles(means, n) for means, n in zip(resampled_means(values, seed).T, texts, strict=True)]
    return [known_mean(row) for row in values], [low for low, _ in ends], [high for _, high in ends], texts


def _over_terms(values: Doubles, seed: int) -> tuple[float, float, float, float]:
    """Of changes (terms, n): the mean of the terms' means, its interval over texts, the terms' deviation.

    Texts are drawn for all terms together; a term that none of those drawn has is not in that resample's mean.
    """
    means = np.array([known_mean(row) for row in values])
    known = means[~np.isnan(means)]
    resampled = np.array([known_mean(row) for row in resampled_means(values, seed)])
    deviation = float(known.std(ddof=1)) if len(known) > 1 else float("nan")
    return (known_mean(means), *percentiles(resampled, values.shape[1]), deviation)


def _drawn(places: list[int], draw: float) -> int:
    return places[int(draw * len(places))]

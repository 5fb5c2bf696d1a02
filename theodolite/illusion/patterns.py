"""What a set of top sentences has in common, beyond what its corpus would give by chance.

For a set of k texts from a corpus of N, a feature shown by K texts of the corpus and by `hits` of the set has
p = P(X >= hits), X hypergeometric: k texts drawn from N without replacement. A feature holds if at least three texts
of the set show it and its p-value, adjusted over all features of all sets of all corpora, is under alpha. Features
that hold in one set and tell the same thing are one pattern, with one name.

The adjustment bounds the share of false features among those accepted, not the number of sets with a false one.
Random sets of the same size state that: they are held to the largest raw p-value that was accepted for the real sets,
and the share of them that shows any pattern is the false-positive rate of a set. (Adjusting the random sets among
themselves would only repeat alpha, since nothing is to be found in them.) The test takes texts as drawn one by one:
copies of one sentence in the corpus come up together and count as if they were several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from theodolite.accumulate import wilson
from theodolite.illusion.features import IMPLIED, Feature, Features

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MIN_HITS = 3
_SETS_AT_ONCE = 1024
_SHOWN = 5
# A pair with one telling word says more than the word only if it is this much less likely: else "the album" would
# stand beside "album".
_PAIR_OVER_WORD = 0.01


@dataclass(frozen=True)
class Tested:
    """The features with at least `min_hits` hits in a set, m of them over all sets of one corpus.

    `sets`, `features`, `hits`, `texts` and `p` are (m,), by set and then feature: `texts` are those of the whole corpus
    with the feature. `shows` (m, k) says which places of the set show it. `count` is the number of sets; `tests` counts
    every test that was made: those not listed have too few hits and count as p = 1.
    """

    count: int
    sets: Ints
    features: Ints
    hits: Ints
    texts: Ints
    p: Floats
    shows: Bools
    tests: int
    min_hits: int


@dataclass(frozen=True)
class Pattern:
    """What a set shows: `kind` is words, pair, first or form; `features`, strongest first, name it.

    `rows` are the places in the set, from 0, of the texts that show at least one of the features, `hits` their number;
    `p_adjusted` is that of the strongest feature.
    """

    kind: str
    features: tuple[Feature, ...]
    hits: int
    p_adjusted: float
    rows: tuple[int, ...]

    @property
    def label(self) -> str:
        """The pattern in words.

        >>> Pattern("words", (Feature("word", "song"), Feature("word", "album")), 4, 0.01, (0, 1, 2, 5)).label
        'words: song, album'
        """
        if len(self.features) == 1:
            return self.features[0].label
        shown = [feature.value for feature in self.features[:_SHOWN]]
        more = ["…"] if len(self.features) > _SHOWN else []
        return ("word pairs: " if self.kind == "pair" else "words: ") + ", ".join(shown + more)


def find(features: Features, sets: Ints, min_hits: int = MIN_HITS) -> Tested:
    """The over-represented features of each set: `sets` (s, k) are rows of the matrix, negative where absent.

    A row that comes twice in a set counts once, at its first place.
    """
    matrix = features.matrix
    n, f = matrix.shape
    sets = np.asarray(sets, dtype=np.int64)
    present = _first_places(sets)
    draws = present.sum(axis=1)
    totals = np.asarray(matrix.sum(axis=0, dtype=np.int64)).ravel()

    codes, shows = [np.empty(0, np.int64)], [np.empty((0, sets.shape[1]), np.bool_)]
    for start in range(0, len(sets), _SETS_AT_ONCE):
        inside = present[start : start + _SETS_AT_ONCE]
        which, place = np.nonzero(inside)
        chosen = matrix[sets[start : start + _SETS_AT_ONCE][inside]]
        shown = np.repeat(np.arange(len(which)), np.diff(chosen.indptr))
        distinct, index, hits = np.unique(
            (which[shown] + start) * f + chosen.indices, return_inverse=True, return_counts=True
        )
        enough = hits >= min_hits
        showing = np.zeros((int(enough.sum()), sets.shape[1]), dtype=np.bool_)
        kept = enough[index]
        showing[(np.cumsum(enough) - 1)[index[kept]], place[shown[kept]]] = True
        codes.append(distinct[enough])
        shows.append(showing)

    of_set, of_feature = np.divmod(np.concatenate(codes), max(f, 1))
    showing = np.concatenate(shows)
    hits = showing.sum(axis=1)
    p = np.ones(len(hits))
    for size in np.unique(draws[of_set]):
        here = draws[of_set] == size
        p[here] = upper_tail(hits[here], n, totals[of_feature[here]], int(size))
    tests = int((draws >= min_hits).sum()) * int((totals >= min_hits).sum())
    return Tested(len(sets), of_set, of_feature, hits, totals[of_feature], p, showing, tests, min_hits)


def _first_places(sets: Ints) -> Bools:
    """Where a set has a row that has not come before in it, (s, k)."""
    present = sets >= 0
    for place in range(1, sets.shape[1]):
        present[:, place] &= (sets[:, :place] != sets[:, place : place + 1]).all(axis=1)
    return present


def upper_tail(hits: Ints, texts: int, showing: Ints, draws: int) -> Floats:
    """P(X >= hits), X the texts that show a feature among `draws` out of `texts`, of which `showing` do, (m,).

    >>> upper_tail(np.array([0, 1, 2]), 4, np.array([2, 2, 2]), 2).round(4)
    array([1.    , 0.8333, 0.1667])
    """
    # The logarithm of x (x - 1) ... (x - j + 1), for every j: the factors are few, so nothing cancels.
    steps = np.arange(draws)

    def falling(x: Ints) -> Floats:
        factors = np.maximum(np.asarray(x)[:, None] - steps, 0)
        with np.errstate(divide="ignore"):
            logs = np.log(factors)
        return np.concatenate([np.zeros((len(logs), 1)), np.cumsum(logs, axis=1)], axis=1)

    j = np.arange(draws + 1)
    ways = scipy.special.gammaln(draws + 1) - scipy.special.gammaln(j + 1) - scipy.special.gammaln(draws - j + 1)
    whole = falling(np.array([texts]))[:, -1:]
    chances = np.exp(ways + falling(showing) + falling(texts - showing)[:, ::-1] - whole)
    summed = np.where(j >= hits[:, None], chances, 0).sum(axis=1)
    # Above zero, so that no p-value passes for "none accepted".
    tail: Floats = np.clip(summed, np.finfo(np.float64).tiny, 1)
    return tail


def adjusted(p: Floats, tests: int) -> Floats:
    """Benjamini and Hochberg's adjusted p-values, (m,), where the other `tests - m` p-values are 1.

    >>> adjusted(np.array([0.01, 0.04]), 4)
    array([0.04, 0.08])
    """
    order = np.argsort(p, kind="stable")
    stepped = p[order] * tests / np.arange(1, len(p) + 1)
    result = np.empty(len(p))
    result[order] = np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1)
    return result


class _Hit(NamedTuple):
    """A feature that holds in a set; sorts by strength."""

    p: float
    fewer: int
    feature: Feature
    p_adjusted: float
    texts: int
    rows: frozenset[int]


def patterns_of(
    tested: Mapping[str, Tested], features: Mapping[str, Features], alpha: float = 0.05
) -> dict[str, list[tuple[Pattern, ...]]]:
    """The patterns of each set of each corpus, features accepted over all of them together."""
    patterns = {}
    for (name, one), q in zip(tested.items(), _adjusted_together(tested), strict=True):
        hits: list[list[_Hit]] = [[] for _ in range(one.count)]
        for at in np.flatnonzero(q < alpha).tolist():
            rows = frozenset(np.flatnonzero(one.shows[at]).tolist())
            feature = features[name].names[one.features[at]]
            hit = _Hit(float(one.p[at]), -len(rows), feature, float(q[at]), int(one.texts[at]), rows)
            hits[one.sets[at]].append(hit)
        patterns[name] = [_patterns(sorted(of_set), one.min_hits) for of_set in hits]
    return patterns


def accepted(tested: Mapping[str, Tested], alpha: float = 0.05) -> float:
    """The largest raw p-value that `patterns_of` accepts, 0 where it accepts none."""
    both = zip(tested.values(), _adjusted_together(tested), strict=True)
    return max((float(one.p[q < alpha].max(initial=0)) for one, q in both), default=0.0)


def _adjusted_together(tested: Mapping[str, Tested]) -> list[Floats]:
    """The p-values of each corpus, adjusted over all corpora."""
    every = list(tested.values())
    q = adjusted(np.concatenate([np.empty(0), *(one.p for one in every)]), sum(one.tests for one in every))
    ends = np.cumsum([len(one.p) for one in every], dtype=np.int64)
    return [q[end - len(one.p) : end] for one, end in zip(every, ends, strict=True)]


def _patterns(hits: list[_Hit], min_hits: int) -> tuple[Pattern, ...]:
    """The features that hold in one set, strongest first, as patterns."""
    of: dict[str, dict[str, _Hit]] = {"word": {}, "pair": {}, "first": {}, "form": {}}
    for hit in hits:
        of[hit.feature.kind][hit.feature.value] = hit

    def covered(hit: _Hit, by: _Hit) -> bool:
        """Whether what one feature leaves over of another would not make a pattern."""
        return len(hit.rows - by.rows) < min_hits

    implied = {
        general
        for name, hit in of["form"].items()
        for general in IMPLIED.get(name, ())
        if general in of["form"] and of["form"][general].p >= hit.p and covered(of["form"][general], hit)
    }
    said = {word for word, hit in of["word"].items() if word in of["first"] and covered(hit, of["first"][word])}
    pairs = []
    for value, hit in of["pair"].items():
        telling = {word for word in value.split(" ") if word in of["word"]}
        if telling == set(value.split(" ")):
            said |= {word for word in telling if covered(of["word"][word], hit)}
        elif _usual(hit, unsaid := [of["word"][word] for word in telling - said]) and covered(unsaid[0], hit):
            said |= telling
        elif any(hit.p > _PAIR_OVER_WORD * of["word"][word].p for word in telling):
            continue
        pairs.append(hit)
    words = [hit for word, hit in of["word"].items() if word not in said]

    groups = [("first", [hit]) for hit in of["first"].values()]
    groups += [("form", [hit]) for name, hit in of["form"].items() if name not in implied]
    groups += [("words", group) for group in _grouped(words, min_hits)]
    groups += [("pair", group) for group in _grouped(pairs, min_hits, sharing=True)]
    made = [_pattern(kind, group) for kind, group in groups]
    return tuple(sorted(made, key=lambda pattern: (pattern.p_adjusted, -pattern.hits, pattern.label)))


def _usual(pair: _Hit, words: list[_Hit]) -> bool:
    """Whether one word comes in this pair three times out of four, as `york` does in `new york`."""
    return len(words) == 1 and 4 * pair.texts >= 3 * words[0].texts


def _grouped(hits: Iterable[_Hit], min_hits: int, sharing: bool = False) -> list[list[_Hit]]:
    """Features, strongest first, each put to the first group whose strongest shows in much the same texts.

    Much the same: half of those that show either, or enough for a pattern. With `sharing`, a word of it must also be
    in the group already, so that the pieces of a longer phrase come together and other pairs do not.
    """
    groups: list[list[_Hit]] = []
    for hit in hits:
        for group in groups:
            both, either = len(hit.rows & group[0].rows), len(hit.rows | group[0].rows)
            alike = both >= min_hits or 2 * both >= either
            known = {word for member in group for word in member.feature.value.split(" ")}
            if alike and (not sharing or known & set(hit.feature.value.split(" "))):
                group.append(hit)
                break
        else:
            groups.append([hit])
    return groups


def _pattern(kind: str, hits: list[_Hit]) -> Pattern:
    rows = tuple(sorted(frozenset().union(*(hit.rows for hit in hits))))
    return Pattern(kind, tuple(hit.feature for hit in hits), len(rows), hits[0].p_adjusted, rows)


def same(a: Pattern, b: Pattern) -> bool:
    """Whether two patterns, of two corpora say, are the same one.

    They are of one kind and share at least half of the features of the smaller: for a form, a first word or a single
    pair that is the same feature.
    """
    shared = len(set(a.features) & set(b.features))
    return a.kind == b.kind and 2 * shared >= min(len(a.features), len(b.features))


def random_sets(texts: int, size: int, count: int, seed: int) -> Ints:
    """Random sets of distinct rows of a corpus, (count, size), -1 where the corpus has too few.

    Each set follows from the seed and its place alone, so asking for more does not change the first ones.
    """
    sets = np.full((count, size), -1, dtype=np.int64)
    drawn = min(size, texts)
    for place in range(count):
        sets[place, :drawn] = np.random.default_rng([seed, place]).choice(texts, drawn, replace=False)
    return sets


def calibrated(random: Iterable[Tested], accepted_p: float) -> tuple[float, float, float]:
    """The share of random sets, over corpora, with a feature at or under a raw p-value; its interval's two ends.

    With the p-value `accepted` for the real sets this is the false-positive rate of a set. Where nothing was accepted,
    that is 0 and no random set has a pattern either.
    """
    false, count = 0, 0
    for one in random:
        false += len(np.unique(one.sets[one.p <= accepted_p]))
        count += one.count
    return false / max(count, 1), *wilson(false, count)

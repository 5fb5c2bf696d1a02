"""Patterns that mean the same: pairs are proposed, a person decides, and what is the same is counted once.

Names that are equal but for case, spaces and punctuation are one from the start. Two patterns are alike by the largest
of: the letters of their names (Dice's coefficient of three-letter pieces), the sentences that both are shown by
(Jaccard's), and the cosine of their names' vectors where there is an encoder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from theodolite.errors import InputError
from theodolite.study.judged import Judged

Key = tuple[int, int]
"""A pattern: the number of its answer, and its place among the patterns of the answer."""
Groups = Mapping[Key, str]
"""The name of the group that each pattern is in."""
Decisions = Mapping[tuple[Key, Key], bool]
Floats = NDArray[np.float32]
Vectors = Callable[[Sequence[str]], NDArray[np.floating]]
"""Names to vectors (n, d)."""

LEAST = 0.25


@dataclass(frozen=True)
class Pattern:
    """A pattern that somebody named, and the sentences that show it."""

    key: Key
    name: str
    annotator: str
    corpus: str
    item: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Proposal:
    """Two patterns, of two groups, that may mean the same, and how alike they are."""

    a: Pattern
    b: Pattern
    likeness: float
    letters: float
    shared: float
    cosine: float


def patterns_of(items: Iterable[Judged]) -> list[Pattern]:
    """Every pattern named in a study of annotation, in the order of its answers."""
    found = [
        Pattern(
            (item.numbers[annotator], place),
            pattern["name"],
            annotator,
            item.shown["corpus"],
            item.item,
            tuple(item.shown["sentences"][number] for number in pattern["sentences"]),
        )
        for item in items
        for annotator, answer in item.answers.items()
        for place, pattern in enumerate(answer["patterns"])
    ]
    return sorted(found, key=lambda pattern: pattern.key)


def groups_of(patterns: Sequence[Pattern], decisions: Decisions) -> dict[Key, str]:
    """The group of each pattern, called by its commonest name (of equally common ones, the first)."""
    parents: dict[Key, Key] = {pattern.key: pattern.key for pattern in patterns}

    def root(key: Key) -> Key:
        while parents[key] != key:
            parents[key] = parents[parents[key]]
            key = parents[key]
        return key

    first: dict[str, Key] = {}
    for pattern in patterns:
        parents[root(pattern.key)] = root(first.setdefault(plain_name(pattern.name), pattern.key))
    for (a, b), same in decisions.items():
        if same and a in parents and b in parents:
            parents[root(b)] = root(a)
    names: dict[Key, Counter[str]] = {}
    for pattern in patterns:
        names.setdefault(root(pattern.key), Counter())[pattern.name] += 1
    called = {key: counted.most_common(1)[0][0] for key, counted in names.items()}
    return {pattern.key: called[root(pattern.key)] for pattern in patterns}


def contradictions(groups: Groups, decisions: Decisions) -> list[tuple[Key, Key]]:
    """Pairs that were said to differ and are in one group by way of others."""
    return [(a, b) for (a, b), same in decisions.items() if not same and a in groups and groups[a] == groups.get(b)]


def proposals(patterns: Sequence[Pattern], decisions: Decisions, vectors: Vectors | None = None) -> list[Proposal]:
    """Pairs of groups that may mean the same, the likeliest first, each by its two most alike patterns.

    Groups that were said to differ are not proposed again.
    """
    if len(patterns) < 2:
        return []
    groups = groups_of(patterns, decisions)
    told = [(a, b) for (a, b), same in decisions.items() if not same and a in groups and b in groups]
    apart = {frozenset((groups[a], groups[b])) for a, b in told}
    letters = _dice([_pieces(pattern.name) for pattern in patterns])
    shared = _jaccard([[f"{p.corpus}\n{sentence}" for sentence in p.sentences] for p in patterns])
    cosine = np.full_like(letters, np.nan) if vectors is None else _cosines(vectors([p.name for p in patterns]))
    likeness = np.fmax(np.maximum(letters, shared), cosine)
    best: dict[frozenset[str], tuple[int, int]] = {}
    for a, b in zip(*np.nonzero(np.triu(likeness >= LEAST, 1)), strict=True):
        pair = frozenset((groups[patterns[a].key], groups[patterns[b].key]))
        if len(pair) == 2 and pair not in apart and (pair not in best or likeness[a, b] > likeness[best[pair]]):
            best[pair] = (int(a), int(b))
    found = [
        Proposal(
            patterns[a],
            patterns[b],
            *(float(table[a, b]) for table in (likeness, letters, shared, cosine)),
        )
        for a, b in best.values()
    ]
    return sorted(found, key=lambda one: (-one.likeness, -one.letters - one.shared, one.a.key, one.b.key))


def ordered(a: Key, b: Key) -> tuple[Key, Key]:
    """The two patterns of a decision, the lesser first."""
    if a == b:
        raise InputError("a pattern cannot be compared with itself")
    return (a, b) if a < b else (b, a)


def plain_name(name: str) -> str:
    """A name without what does not count: case, spaces and punctuation; one of nothing else stays as it is.

    >>> plain_name("  Quoted-Speech. "), plain_name("??")
    ('quoted speech', '??')
    """
    return " ".join(re.findall(r"\w+", name.casefold())) or name.strip()


def _pieces(name: str) -> set[str]:
    """Three letters at a time, the ends of words marked.

    >>> sorted(_pieces("math"))
    [' ma', 'ath', 'mat', 'th ']
    """
    padded = f" {plain_name(name)} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def _counted(sets: Sequence[Iterable[str]]) -> tuple[Floats, Floats]:
    """(n, n) how many members two sets share, and (n,) how many each has."""
    numbers: dict[str, int] = {}
    members = [sorted({numbers.setdefault(one, len(numbers)) for one in some}) for some in sets]
    bounds = np.append(0, np.cumsum([len(some) for some in members])).astype(np.int64)
    flat = np.array([one for some in members for one in some], np.int64)
    matrix = csr_array((np.ones(len(flat), np.float32), flat, bounds), shape=(len(sets), max(len(numbers), 1)))
    both: Floats = (matrix @ matrix.T).toarray()
    return both, np.diff(bounds).astype(np.float32)


def _dice(sets: Sequence[Iterable[str]]) -> Floats:
    both, sizes = _counted(sets)
    found: Floats = 2 * both / np.maximum(sizes[:, None] + sizes[None, :], 1)
    return found


def _jaccard(sets: Sequence[Iterable[str]]) -> Floats:
    both, sizes = _counted(sets)
    found: Floats = both / np.maximum(sizes[:, None] + sizes[None, :] - both, 1)
    return found


def _cosines(vectors: NDArray[np.floating]) -> Floats:
    unit = np.asarray(vectors, np.float32)
    unit = unit / np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-12)
    found: Floats = unit @ unit.T
    return found

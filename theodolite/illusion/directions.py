"""Directions in a space: neurons, random ones, principal components, concepts, and people's own vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.errors import InputError
from theodolite.illusion.concepts import Embed, concepts

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FORMS = "neurons, random:N, pca:N, file:X.npy, concept:POSITIVE.txt:NEGATIVE.txt or concept:LABELLED-FILE"


@dataclass(frozen=True)
class Directions:
    """m named directions: kinds (neuron, random, pca, concept, file), matrix (m, d), and what is known of concepts.

    dead: how many dimensions never change and are no neuron; number: of a neuron its dimension, else −1.
    """

    names: list[str]
    kinds: list[str]
    matrix: Floats
    numbers: Ints
    dead: int = 0
    concepts: list[dict[str, Any]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.names)

    def of_kind(self, kind: str) -> Ints:
        """Which of them are of a kind."""
        return np.array([i for i, k in enumerate(self.kinds) if k == kind], np.int64)


@dataclass(frozen=True)
class Space:
    """What directions are made from: the width, which dimensions are alive, the covariance of all corpora together,
    and how to embed further texts (None where there is no encoder).
    """

    dim: int
    alive: Ints
    covariance: Floats
    embed: Embed | None


Made = tuple[list[str], Floats, list[dict[str, Any]]]


def directions(asked: str, space: Space, seed: int) -> Directions:
    """Make the directions of a list such as ``neurons,random:100,pca:20,file:x.npy,concept:pos.txt:neg.txt``."""
    makers: dict[str, Callable[[str], Made]] = {
        "neurons": lambda _: _neurons(space),
        "random": lambda n: _random(_count("random", n, None), space, seed),
        "pca": lambda n: _components(_count("pca", n, space.dim), space),
        "file": lambda path: _from_file(path, space),
        "concept": lambda sources: concepts(sources, space.embed, seed),
    }
    names: list[str] = []
    kinds: list[str] = []
    known: list[dict[str, Any]] = []
    parts: list[Floats] = []
    for part in filter(None, (p.strip() for p in asked.split(","))):
        kind, _, rest = part.partition(":")
        if kind not in makers:
            raise InputError(f"--directions '{part}': one of {FORMS} is wanted")
        made, matrix, about = makers[kind](rest)
        names += made
        kinds += ["neuron" if kind == "neurons" else kind] * len(made)
        known += about
        parts.append(matrix)
    if not names:
        raise InputError(f"--directions: none are named; give {FORMS}")
    twice = next((n for n in names if names.count(n) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise InputError(f"--directions: '{twice}' comes twice")
    numbers = np.array(
        [int(n.split()[1]) if k == "neuron" else -1 for n, k in zip(names, kinds, strict=True)], np.int64
    )
    return Directions(names, kinds, np.concatenate(parts), numbers, space.dim - len(space.alive), known)


def _neurons(space: Space) -> Made:
    return [f"neuron {i}" for i in space.alive.tolist()], np.eye(space.dim)[space.alive], []


def _random(count: int, space: Space, seed: int) -> Made:
    # Each from a seed of its own, so that asking for more does not change the first.
    drawn = [np.random.default_rng(np.random.SeedSequence([seed, i])).standard_normal(space.dim) for i in range(count)]
    return [f"random {i}" for i in range(count)], _unit(np.array(drawn)), []


def _components(count: int, space: Space) -> Made:
    _, vectors = np.linalg.eigh(space.covariance)
    found = vectors[:, ::-1][:, :count].T
    # The sign of a component means nothing: its largest number is made positive, so that it is always the same.
    signs = np.sign(found[np.arange(count), np.abs(found).argmax(axis=1)])
    return [f"pc {i + 1}" for i in range(count)], found * signs[:, None], []


def _from_file(path: str, space: Space) -> Made:
    try:
        loaded = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"--directions file:{path}: no such file") from None
    except (ValueError, OSError, EOFError) as fault:
        raise InputError(f"--directions file:{path}: not a NumPy file of numbers ({fault})") from None
    if not isinstance(loaded, np.ndarray) or loaded.dtype.kind not in "fiu":
        raise InputError(f"--directions file:{path}: one array of numbers is wanted (.npy)")
    matrix = np.atleast_2d(loaded).astype(np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != space.dim or not len(matrix):
        raise InputError(
            f"--directions file:{path}: vectors of {space.dim} numbers are wanted, and it holds an array of shape "
            f"{' × '.join(map(str, loaded.shape))}"
        )
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        raise InputError(f"--directions file:{path}: vector {bad[0]} holds a number that is not finite")
    zero = np.flatnonzero(~matrix.any(axis=1))
    if len(zero):
        raise InputError(f"--directions file:{path}: vector {zero[0]} is all zeros and points nowhere")
    return [f"{Path(path).stem} {i}" for i in range(len(matrix))], matrix, []


def _count(kind: str, given: str, most: int | None) -> int:
    if not given.isdigit() or int(given) < 1 or (most is not None and int(given) > most):
        limit = "1 or more" if most is None else f"from 1 to {most}"
        raise InputError(f"--directions {kind}:{given}: a whole number {limit} is wanted, as in {kind}:20")
    return int(given)


def _unit(vectors: Floats) -> Floats:
    found: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found


def alive_dimensions(smallest: Sequence[Floats], largest: Sequence[Floats]) -> Ints:
    """The dimensions that change somewhere, given each corpus's smallest and largest values (d,)."""
    return np.flatnonzero(np.min(smallest, axis=0) < np.max(largest, axis=0))

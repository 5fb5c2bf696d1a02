"""Concept directions: the normal of a linear separator of labelled texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.corpus import Corpus
from theodolite.errors import InputError

Floats = NDArray[np.float64]
Embed = Callable[[Sequence[str]], NDArray[Any]]

FOLDS = 5
RESAMPLES = 20
AT_LEAST = 5


def concepts(sources: str, embed: Embed | None, seed: int) -> tuple[list[str], Floats, list[dict[str, Any]]]:
    """Names, directions (c, d) of length 1 and what is known of them.

    sources: two files of texts, ``pos.txt:neg.txt``, for one direction; or one labelled file, for one direction
    a label (one in all where there are two labels, towards the second).
    """
    if embed is None:
        raise InputError(f"--directions concept:{sources}: a concept's texts must be embedded, and there is no encoder")
    names, matrix, about = [], [], []
    for name, wanted, others in _tasks(sources):
        vectors = np.asarray(embed([*wanted, *others]), np.float64)
        labels = np.repeat([1, 0], [len(wanted), len(others)])
        direction = separator(vectors, labels)
        names.append(f"concept {name}")
        matrix.append(direction)
        about.append(
            {
                "direction": f"concept {name}",
                "texts": len(wanted),
                "others": len(others),
                "accuracy": held_out_accuracy(vectors, labels, seed),
                "accuracy_guessing": max(len(wanted), len(others)) / len(labels),
                "stability": stability(vectors, labels, seed),
            }
        )
    return names, np.array(matrix), about


def separator(vectors: Floats, labels: NDArray[Any]) -> Floats:
    """(d,) of length 1: the normal of a linear SVM on standardised vectors, in the space as it is."""
    machine = _machine().fit(vectors, labels)
    normal = machine[1].coef_[0] / machine[0].scale_
    length = np.linalg.norm(normal)
    found: Floats = normal / (length or 1.0)
    return found


def held_out_accuracy(vectors: Floats, labels: NDArray[Any], seed: int) -> float:
    """Mean accuracy over five seeded stratified folds."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return float(cross_val_score(_machine(), vectors, labels, cv=folds).mean())


def stability(vectors: Floats, labels: NDArray[Any], seed: int) -> float:
    """Mean cosine of the directions of two bootstrap resamples of the texts."""
    random = np.random.default_rng(seed)
    groups = [np.flatnonzero(labels == label) for label in (0, 1)]
    found = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([random.choice(group, len(group)) for group in groups])
        found.append(separator(vectors[drawn], labels[drawn]))
    cosines = np.array(found) @ np.array(found).T
    return float(cosines[np.triu_indices(RESAMPLES, 1)].mean())


def _machine() -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    return make_pipeline(StandardScaler(), LinearSVC(C=1.0, dual=False))


def _tasks(sources: str) -> list[tuple[str, list[str], list[str]]]:
    """(name, texts with the concept, texts without) of each concept."""
    if ":" in sources and not Path(sources).exists():
        positive, _, negative = sources.rpartition(":")
        wanted, others = (_texts(Corpus.read(source)) for source in (positive, negative))
        _check(sources, wanted, others)
        return [(Path(positive).name.split(".")[0], wanted, others)]
    corpus = Corpus.read(sources)
    if "label" not in corpus.table.column_names:
        raise InputError(
            f"--directions concept:{sources}: give two files of texts (POSITIVE:NEGATIVE), or one with its label "
            "column named (FILE?text=COLUMN&label=COLUMN)"
        )
    labels = [str(v) for v in corpus.column("label").to_pylist()]
    kinds = sorted(set(labels))
    if len(kinds) < 2:
        raise InputError(f"--directions concept:{sources}: its labels are all '{kinds[0]}'; two or more are wanted")
    found = []
    for kind in kinds[1:] if len(kinds) == 2 else kinds:
        texts = [(t, n == kind) for t, n in zip(corpus.texts(), labels, strict=True) if t.strip()]
        wanted, others = ([t for t, mine in texts if mine is side] for side in (True, False))
        _check(sources, wanted, others)
        found.append((kind, wanted, others))
    return found


def _texts(corpus: Corpus) -> list[str]:
    return [t for t in corpus.texts() if t.strip()]


def _check(sources: str, wanted: list[str], others: list[str]) -> None:
    if min(len(wanted), len(others)) < AT_LEAST:
        raise InputError(
            f"--directions concept:{sources}: {len(wanted)} and {len(others)} texts; at least {AT_LEAST} of each are "
            "wanted for a separator that can be tested"
        )

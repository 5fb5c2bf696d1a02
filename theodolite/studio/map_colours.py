"""How a map's points can be coloured without asking the encoder: by corpus, label, prediction, cluster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.studio.map_models import Category, Colouring
from theodolite.studio.map_points import MapPoints
from theodolite.studio.workspace import Opened

NONE = 65535
# More colours nobody tells apart; the rarer values are one category.
MOST_CATEGORIES = 24
OTHERS = "all others"
TERMS_SHOWN = 3

Codes = NDArray[np.uint16]


@dataclass(frozen=True)
class Coloured:
    """A colouring and what it gives each point: (n,) codes as uint16, or numbers as float32."""

    about: Colouring
    values: NDArray[Any]

    @property
    def body(self) -> bytes:
        """Little-endian."""
        return self.values.astype("<u2" if self.about.kind == "categories" else "<f4").tobytes()

    def names(self, points: NDArray[np.int64]) -> list[str | None]:
        """The category of each of some points."""
        named = [c.name for c in self.about.categories]
        return [named[code] if code != NONE else None for code in self.values[points].tolist()]


def colourings(opened: Opened, points: MapPoints) -> dict[str, Coloured]:
    """All of them, by id."""
    found = [_corpora(points), _labels(opened, points), *_of_classifier(opened, points)]
    return {one.about.id: one for one in found if one is not None}


def numbers(id: str, title: str, values: NDArray[Any]) -> Coloured:
    """A colouring by a number; what is not finite has none."""
    finite = values[np.isfinite(values)]
    low, high = np.quantile(finite, [0.01, 0.99]).tolist() if len(finite) else (None, None)
    return Coloured(Colouring(id=id, title=title, kind="numbers", low=low, high=high), values.astype(np.float32))


def categories(id: str, title: str, values: Sequence[Any] | NDArray[Any]) -> Coloured | None:
    """A colouring by values (n,), None where a point has none; None where none has any."""
    column = pa.array(values, pa.string(), from_pandas=True).dictionary_encode()
    names = column.dictionary.to_pylist()
    if not names:
        return None
    at = column.indices.fill_null(len(names)).to_numpy()
    counts = np.bincount(at, minlength=len(names) + 1)[:-1]
    kept = sorted(np.argsort(-counts, kind="stable")[:MOST_CATEGORIES].tolist(), key=lambda i: _natural(names[i]))
    codes = np.full(len(names) + 1, len(kept), np.uint16)
    codes[kept], codes[-1] = np.arange(len(kept)), NONE
    told = [Category(name=names[i], count=int(counts[i])) for i in kept]
    rest = int(counts.sum() - counts[kept].sum())
    if rest:
        told.append(Category(name=OTHERS, count=rest))
    return Coloured(Colouring(id=id, title=title, kind="categories", categories=told), codes[at])


def _corpora(points: MapPoints) -> Coloured:
    counts = np.bincount(points.corpus, minlength=len(points.corpora)).tolist()
    told = [Category(name=name, count=count) for name, count in zip(points.corpora, counts, strict=True)]
    return Coloured(Colouring(id="corpus", title="Corpus", kind="categories", categories=told), points.corpus)


def _labels(opened: Opened, points: MapPoints) -> Coloured | None:
    by_row = []
    for name in points.corpora:
        corpus = opened.corpus(name)
        labelled = corpus is not None and "label" in corpus.table.column_names
        by_row.append(
            np.array(corpus.table["label"].cast(pa.string()).to_pylist(), object) if corpus and labelled else None
        )
    return categories("label", "Label", points.spread(by_row, None, "object"))


def _of_classifier(opened: Opened, points: MapPoints) -> list[Coloured | None]:
    """What a reading of salience knows of the texts: answers, whether they are right, how sure, clusters."""
    name = points.reading if points.reading in opened.named("salience") else next(iter(opened.named("salience")), None)
    if name is None:
        return []
    tables = opened.reading(name).tables
    table = tables["texts"]
    names = np.array(table["corpus"].cast(pa.string()).to_pylist(), object)
    rows = table["row"].to_numpy()

    def spread(values: list[Any], missing: Any, kind: str) -> NDArray[Any]:
        by_row: list[NDArray[Any] | None] = []
        for corpus in points.corpora:
            mine = np.flatnonzero(names == corpus)
            held = np.full(int(rows[mine].max(initial=-1)) + 1, missing, kind)
            held[rows[mine]] = np.array(values, kind)[mine]
            by_row.append(held)
        return points.spread(by_row, missing, kind)

    answers, labels = table["answer"].to_pylist(), table["label"].to_pylist()
    titles = _clusters(tables.get("clusters"))
    outcomes = [
        None if label is None or answer is None else ("right" if label == answer else f"{label} taken for {answer}")
        for label, answer in zip(labels, answers, strict=True)
    ]
    clusters = [
        titles.get((corpus, answer, number)) or titles.get((corpus, "all", number)) or f"{answer} {number}"
        if number is not None and number >= 0
        else None
        for corpus, answer, number in zip(names.tolist(), answers, table["cluster"].to_pylist(), strict=True)
    ]
    sure = spread([np.nan if p is None else p for p in table["probability"].to_pylist()], np.nan, "float32")
    return [
        categories("prediction", "Prediction", spread(answers, None, "object")),
        categories("outcome", "Right or wrong", spread(outcomes, None, "object")),
        categories("cluster", "Cluster of what it looks at", spread(clusters, None, "object")),
        numbers("probability", "Probability of the prediction", sure) if np.isfinite(sure).any() else None,
    ]


def _clusters(table: pa.Table | None) -> dict[tuple[str, str, int], str]:
    """Names of clusters with their first words, in the representation and method that the texts are clustered in."""
    rows = table.to_pylist() if table is not None else []
    if not rows:
        return {}
    first = rows[0]["representation"], rows[0]["method"]
    return {
        (r["corpus"], r["predicted"], r["id"]): f"{r['predicted']} {r['id']}: {', '.join(r['terms'][:TERMS_SHOWN])}"
        for r in rows
        if (r["representation"], r["method"]) == first
    }


def _natural(name: str) -> list[tuple[int, str]]:
    """So that 10 comes after 9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d{1,15})", name)]

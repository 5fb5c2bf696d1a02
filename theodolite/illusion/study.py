"""A blind study drawn from a reading: sets of sentences for people to judge, and the key that tells them apart."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.errors import InputError
from theodolite.illusion.reading import IllusionReading
from theodolite.reading import write_json

Row = dict[str, Any]
# Its condition, direction and corpus, and its sentences.
Set = tuple[str, str | None, str, list[Row]]

CONDITIONS = {"neuron": "neuron", "random direction": "random"}


def draw_study(
    reading: IllusionReading, *, neurons: int = 25, directions: int = 25, sentences: int = 25, seed: int = 0
) -> tuple[list[Row], list[Row]]:
    """Items and their key: so many sets of top sentences of neurons and of random directions, and of random sentences.

    Each condition is spread evenly over the corpora. An item has an id that says nothing, its corpus, and its
    sentences in random order; the key says of each id its condition, its direction and the rows of its sentences.
    """
    random = np.random.default_rng(seed)
    kinds = {r["direction"]: r["kind"] for r in reading.tables["verdicts"].to_pylist()}
    sets = _by(reading.tables["top"].to_pylist(), "direction")
    corpora = list(dict.fromkeys(corpus for _, corpus in sets))
    chosen: list[Set] = []
    for (condition, kind), count in zip(CONDITIONS.items(), (neurons, directions), strict=True):
        named = [d for d, k in kinds.items() if k == kind]
        if count > len(named) * len(corpora):
            raise InputError(
                f"{count} sets of kind '{kind}' are wanted, and the reading has {len(named) * len(corpora)}"
            )
        order = [named[i] for i in random.permutation(len(named))]
        for i in range(count):
            # Every corpus in turn, and every direction: one is met again only when all have been. Where the two turns
            # would bring the same pairs again, the directions are moved on by one.
            corpus = corpora[i % len(corpora)]
            direction = order[(i + i // math.lcm(len(order), len(corpora))) % len(order)]
            chosen.append((condition, direction, corpus, sets[direction, corpus]))
    chosen += _random(reading, corpora, sentences)
    items, key = [], []
    for place in random.permutation(len(chosen)).tolist():
        condition, found, corpus, rows = chosen[place]
        shuffled = [rows[j] for j in random.permutation(len(rows)).tolist()]
        name = hashlib.blake2b(f"{seed} {place}".encode(), digest_size=6).hexdigest()
        items.append({"id": name, "corpus": corpus, "sentences": [r["text"] for r in shuffled]})
        key.append({"id": name, "condition": condition, "direction": found, "rows": [r["row"] for r in shuffled]})
    return items, key


def save_study(folder: str | Path, items: list[Row], key: list[Row]) -> Path:
    """Write ``items.json``, which annotators may see, and ``key.json``, which they may not."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "items.json", {"kind": "annotation", "items": items})
    write_json(out / "key.json", {"key": key})
    return out


def _random(reading: IllusionReading, corpora: list[str], count: int) -> list[Set]:
    sets = _by(reading.tables["random_sets"].to_pylist(), "set")
    most = len(sets)
    if count > most:
        raise InputError(f"{count} sets of random sentences are wanted, and the reading has {most}")
    found: list[Set] = []
    for i in range(count):
        corpus = corpora[i % len(corpora)]
        found.append(("random sentences", None, corpus, sets[i // len(corpora), corpus]))
    return found


def _by(rows: list[Row], name: str) -> Mapping[Any, list[Row]]:
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault((row[name], row["corpus"]), []).append(row)
    return found

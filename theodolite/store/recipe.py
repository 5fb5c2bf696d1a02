"""What makes a stored array what it is, and what the store shows of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Recipe:
    """What makes a stored array what it is.

    `kind` says what is stored ('embedding', 'salience'); `model` is a name for people and is not part of
    the key; `parts` are the (name, value) pairs that determine the numbers: hashes of model and tokenizer,
    window rule, layer, pooling, transform, number type. Their order does not matter.

    >>> a = Recipe("embedding", "bert", (("layer", 6), ("pooling", "mean")))
    >>> b = Recipe("embedding", "the same bert", (("pooling", "mean"), ("layer", 6)))
    >>> a.key == b.key
    True
    """

    kind: str
    model: str
    parts: tuple[tuple[str, str | int], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.parts]
        if len(set(names)) != len(names):
            raise ValueError(f"a recipe names each part once, not {names}")
        object.__setattr__(self, "parts", tuple(sorted((name, value) for name, value in self.parts)))

    @property
    def key(self) -> str:
        """sha256 (64 hex digits) of the kind and the sorted parts."""
        # JSON and not str(): the layer 1 and the layer "1" must not share arrays.
        return hashlib.sha256(json.dumps([self.kind, self.parts]).encode()).hexdigest()


@dataclass(frozen=True)
class Entry:
    """All the store holds of one recipe: a line of `theodolite store ls`."""

    key: str
    kind: str
    model: str
    parts: tuple[tuple[str, str | int], ...]
    corpora: tuple[str, ...]
    shards: int
    rows: int
    bytes: int
    newest: datetime

    @property
    def short(self) -> str:
        """Enough of the key to tell it from others; what `remove` and `export` take."""
        return self.key[:12]

"""A concept that a person types as two lists of texts: its direction, how well it separates them, and its address."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from theodolite.accumulate import wilson
from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.illusion.concepts import AT_LEAST, held_out_accuracy, separator, stability
from theodolite.illusion.points import Floats
from theodolite.reading import read_json, write_json
from theodolite.store import Store
from theodolite.studio.directions_models import ConceptAsked, Separator
from theodolite.studio.faults import NotFound

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

LONGEST = 5000
_NAME = re.compile(r"concept ([0-9a-f]{12})")


@dataclass(frozen=True)
class ConceptSpace:
    """The vectors among which a concept is a direction: of which model, of which layer, pooled how.

    Of another model's vectors, or another layer's, it says nothing, even where they are as wide.
    """

    model: str
    tokenizer: str
    window: str
    layer: int
    pooling: str

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Self:
        """That of a reading of texts' vectors."""
        about, options = manifest["encoder"], manifest["options"]
        return cls(about["hash"], about["tokenizer_hash"], about["window"], options["layer"], options["pooling"])


class Concepts:
    """The concepts typed so far, by name. They are kept in the store, so that a link to one stays good."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[ConceptSpace | None, Separator, Floats]] = {}

    def learn(self, asked: ConceptAsked, encoder: Encoder, options: dict[str, Any], corpora: Sequence[Corpus]) -> str:
        """Find the direction from the second list's texts to the first's, in the space of a reading; its name."""
        texts, others = checked(asked.texts), checked(asked.others)
        title = " ".join(asked.title.split()) or " / ".join(side[0][:40] for side in (texts, others))
        layer, pooling, seed = options["layer"], options["pooling"], options["seed"]
        space = ConceptSpace(encoder.hash, encoder.tokenizer_hash, encoder.window_rule, layer, pooling)
        made_of = [*astuple(space), seed, title, texts, others]
        name = f"concept {hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:12]}"
        vectors = np.asarray(encoder.embed([*texts, *others], pooling=pooling, layer=layer), np.float64)
        labels = np.repeat([1, 0], [len(texts), len(others)])
        accuracy = held_out_accuracy(vectors, labels, seed)
        low, high = wilson(round(accuracy * len(labels)), len(labels))
        told = Separator(
            title=title,
            texts=texts,
            others=others,
            accuracy=accuracy,
            low=low,
            high=high,
            guessing=max(len(texts), len(others)) / len(labels),
            stability=stability(vectors, labels, seed),
            in_corpora=_in_corpora([*texts, *others], corpora),
        )
        self._keep(name, space, told, separator(vectors, labels))
        return name

    def is_one(self, name: str) -> bool:
        """Whether a name is that of a typed concept."""
        return _NAME.fullmatch(name) is not None

    def get(self, name: str, space: ConceptSpace) -> tuple[Separator, Floats]:
        """What is known of a concept, and its direction (d,) in the space it was learnt in; told if that is another."""
        if name not in self._known:
            file = self._file(name)
            if file is None or not file.exists():
                raise NotFound("this concept is not known here; type its texts again")
            saved = read_json(file)
            told = Separator.model_validate(saved["separator"])
            self._known[name] = _saved_space(saved), told, np.array(saved["direction"])
        learnt_in, separator, direction = self._known[name]
        if learnt_in != space:
            raise NotFound("this concept was learnt in another space; type its texts again")
        return separator, direction

    def _keep(self, name: str, space: ConceptSpace, told: Separator, direction: Floats) -> None:
        self._known[name] = space, told, direction
        file = self._file(name)
        if file is not None:
            saved = {"space": asdict(space), "separator": told.model_dump(), "direction": direction.tolist()}
            write_json(file, saved)

    def _file(self, name: str) -> Path | None:
        made = _NAME.fullmatch(name)
        if made is None or "://" in self._store.root:
            return None
        return self._store.folder("concepts") / f"{made[1]}.json"


def _saved_space(saved: Mapping[str, Any]) -> ConceptSpace | None:
    """None where it was not written down, as it once was not."""
    return ConceptSpace(**saved["space"]) if "space" in saved else None


def checked(texts: Sequence[str]) -> list[str]:
    """The different texts of a list that are not blank; too few, or one too long, is told."""
    found = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if len(found) < AT_LEAST:
        raise InputError(f"a list has {len(found)} different texts; at least {AT_LEAST} on each side can be tested")
    longest = max(map(len, found))
    if longest > LONGEST:
        raise InputError(f"a text has {longest} characters; at most {LONGEST} are taken")
    return found


def _in_corpora(texts: list[str], corpora: Sequence[Corpus]) -> int:
    """How many of the texts are in the corpora, word for word."""
    sought = pa.array(sorted(set(texts)), pa.large_string())
    met: set[str] = set()
    for corpus in corpora:
        column = corpus.table["text"].cast(pa.large_string())
        met.update(column.filter(pc.is_in(column, value_set=sought)).to_pylist())
    return sum(text in met for text in texts)

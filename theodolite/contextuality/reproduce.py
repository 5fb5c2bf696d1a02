"""Source 001's experiment on SNLI, with the encoders at hand."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.claims import Claim, Reproduction
from theodolite.contextuality.findings import last_turn, trend
from theodolite.contextuality.instrument import Contextuality
from theodolite.contextuality.reading import ContextualityReading
from theodolite.corpus import Corpus
from theodolite.encoder.resolve import names_apart, resolve
from theodolite.errors import InputError
from theodolite.running import run

if TYPE_CHECKING:
    from theodolite.instrument import Progress
    from theodolite.store import Store

SNLI = Path("snli") / "validation.tsv.gz"
WORDS = ("beverage", "go", "school")
NEAR_ONE = 0.9

Row = dict[str, Any]


def reproduce(data: Path, models: list[str], *, limit: int | None, store: Store, progress: Progress) -> Reproduction:
    """Measure SNLI's sentences and set each claim of the source beside what came out."""
    from theodolite.encoder.encoder import Encoder

    corpus = _sentences(data / SNLI, limit)
    said = Counter(w for text in dict.fromkeys(corpus.texts()) for w in re.findall(r"\w+", text.lower()))
    followed = tuple(w for w in WORDS if said[w] >= 2)
    readings: list[Any] = []
    claims = []
    for model, name in zip(models, names_apart([resolve(model) for model in models]), strict=True):
        encoder = Encoder.load(model)
        encoder.name = name
        [reading] = run([Contextuality(word=followed)], encoder, [corpus], store=store, progress=progress)
        readings.append(reading)
        claims += _claims(encoder.name, reading.tables["layers"].to_pylist(), reading.tables["words"].to_pylist())
    title = "BERT Visualization (source 001), SNLI: published on BERT-base, measured here"
    return Reproduction(title, claims, ContextualityReading.beside(readings))


def _sentences(path: Path, limit: int | None) -> Corpus:
    if not path.exists():
        raise InputError(f"--data {path.parent.parent}: no {SNLI} in it (columns premise, hypothesis)")
    pairs = Corpus.read(f"{path}?text=premise&text_b=hypothesis", limit=limit)
    return Corpus.of([*pairs.texts(), *(pairs.texts_b() or [])], name="snli")


def _claims(encoder: str, rows: list[Row], words: list[Row]) -> list[Claim]:
    n = rows[-1]["layer"]
    values = {name: [r[name] for r in rows] for name in rows[0]}
    found = [
        Claim(
            encoder,
            f"{encoder}: the cosine of two random words grows with depth",
            "grows",
            f"{_way(values['anisotropy'])}: {_ends(values['anisotropy'])}; highest in layer "
            f"{max(rows, key=lambda r: r['anisotropy'])['layer']}",
            trend(values["anisotropy"]) == "rises",
        )
    ]
    for name, what in (("self_similarity_adjusted", "SelfSim"), ("intra_sentence_similarity_adjusted", "IntraSim")):
        before_last = values[name][:-1]
        turn = last_turn(rows, name)
        found.append(
            Claim(
                encoder,
                f"{encoder}: adjusted {what} falls with depth (up to the last layer but one)",
                "falls",
                f"{_way(before_last)}: {_ends(before_last)} in layer {n - 1}",
                trend(before_last) == "falls",
            )
        )
        found.append(
            Claim(
                encoder,
                f"{encoder}: adjusted {what} rises again in the last layer",
                "rises in layer 12",
                f"{before_last[-1]:.3f} in layer {n - 1}, {values[name][-1]:.3f} in layer {n} "
                f"({'intervals apart' if turn else 'intervals overlap'})",
                turn == "up",
            )
        )
    return found + [_word_claim(encoder, word, words) for word in WORDS]


def _word_claim(encoder: str, word: str, words: list[Row]) -> Claim:
    near_one = word == "beverage"
    published = "near 1 in every layer" if near_one else "low"
    claim = f"{encoder}: the MEV of '{word}' is {published}{'' if near_one else ' (lower than most words)'}"
    row = next((w for w in words if w["word"] == word and w["mev"] is not None), None)
    if row is None:
        return Claim(encoder, claim, published, "occurs less than twice in this part of SNLI", None)
    lowest, mean = min(row["mev"]), sum(row["mev"]) / len(row["mev"])
    usual = [sum(w["mev"]) / len(w["mev"]) for w in words if w["mev"] is not None]
    typical = sum(usual) / len(usual)
    measured = (
        f"{lowest:.2f} to {max(row['mev']):.2f} over the layers, {mean:.2f} on average "
        f"({row['occurrences']} occurrences); all measured words: {typical:.2f} on average"
    )
    return Claim(encoder, claim, published, measured, lowest >= NEAR_ONE if near_one else mean < typical)


def _way(values: list[float]) -> str:
    return trend(values) or "not measured"


def _ends(values: list[float]) -> str:
    return f"{values[0]:.3f} to {values[-1]:.3f}"

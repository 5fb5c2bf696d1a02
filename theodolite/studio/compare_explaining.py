"""One pair of texts explained for the compare page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from theodolite.errors import InputError
from theodolite.similarity.explanation import Asked, Explanation, Matches, Side
from theodolite.similarity.methods import BY_GRADIENT, INTEGRATED, METHODS, TFIDF
from theodolite.studio.compare_schemas import (
    LONGEST,
    ByMethod,
    Compared,
    CompareMethod,
    CompareNote,
    CompareText,
    MatchedWords,
)

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.similarity.explaining import Baseline

DEFAULT = "bti"
# Pairs of words that are sent by a method; a page of text has over a thousand, and nobody reads beyond the first.
MOST_PAIRS = 300
DIGITS = 5
ABOUT = {
    "bti": "embedding × gradient, counting only what speaks for the likeness",
    "bti-last-layer": "the same with the last layer's vectors and the gradient there",
    "bti-activations": "the embedding alone, without the gradient",
    "bti-gradients": "the gradient alone, without the embedding",
    "vanilla-gradients": "the length of the gradient",
    "integrated-gradients": "gradients summed on the way from padding to the text",
    "tfidf-w2v": "no gradient: how rare the word is, and vectors that do not depend on context",
}


def methods_told() -> list[CompareMethod]:
    """All the methods, each in a line."""
    return [CompareMethod(name=name, about=ABOUT[name], slow=name == INTEGRATED) for name in METHODS]


def checked(text: str, which: str) -> str:
    """A text that can be explained, or an error that says why not."""
    if not text.strip():
        raise InputError(f"{which} is empty; type some words")
    if len(text) > LONGEST:
        raise InputError(f"{which} has {len(text):,} characters; at most {LONGEST:,} can be compared, so shorten it")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError(f"{which} holds half a character (a lone surrogate); type it anew")
    return text


def explained(encoder: Encoder, a: str, b: str, asked: Asked, baseline: Baseline | None = None) -> Compared:
    """Why two texts are alike; baseline: where words' rarity is counted, else it is taken as 1."""
    from theodolite.similarity.explaining import Baseline, explain_pairs

    known = baseline or Baseline()
    tokens = encoder.tokenise([a, b])
    for which, length in zip(("first", "second"), tokens.lengths.tolist(), strict=True):
        if not length:
            raise InputError(f"the tokenizer finds no words in the {which} text; type some")
    [found] = explain_pairs(encoder, [a], [b], asked, baseline=known)
    return Compared(
        a=_text(found.a),
        b=_text(found.b),
        cosine=round(found.cosine, DIGITS),
        cosine_own=round(found.cosine_own, DIGITS),
        pooling=asked.pooling,
        same=found.same,
        completeness_error=finite(found.completeness_error),
        methods={name: _by_method(found, name) for name in asked.methods},
        notes=_notes(found, asked, known),
    )


def finite(value: float) -> float | None:
    """A number as JSON has it: None where there is none."""
    return round(value, DIGITS) if math.isfinite(value) else None


def _text(side: Side) -> CompareText:
    return CompareText(text=side.text, starts=side.start.tolist(), ends=side.end.tolist())


def _by_method(found: Explanation, method: str) -> ByMethod:
    matches = found.matches[method]
    saliencies = (np.round(side.saliency[method], DIGITS).tolist() for side in (found.a, found.b))
    a, b = saliencies
    return ByMethod(a=a, b=b, pairs=_pairs(matches), matched=len(matches), chosen=int(matches.chosen.sum()))


def _pairs(matches: Matches) -> list[MatchedWords]:
    return [
        MatchedWords(
            a=int(matches.index_a[i]),
            b=int(matches.index_b[i]),
            cosine=round(float(matches.similarity[i]), DIGITS),
            score=round(float(matches.score[i]), DIGITS),
            cluster=int(matches.cluster[i]),
            chosen=bool(matches.chosen[i]),
        )
        for i in range(min(len(matches), MOST_PAIRS))
    ]


def _notes(found: Explanation, asked: Asked, baseline: Baseline) -> list[CompareNote]:
    said = []
    level = [method for method in asked.methods if method in BY_GRADIENT]
    if found.same and level:
        text = (
            "The two texts are one to the tokenizer: nothing could make them more alike, so every word counts the same."
        )
        said.append(CompareNote(methods=level, text=text))
    if INTEGRATED in asked.methods:
        text = f"Integrated gradients miss the change of the cosine by {found.completeness_error:.2%}."
        said.append(CompareNote(methods=[INTEGRATED], text=text))
    if TFIDF in asked.methods:
        texts = baseline.idf.texts
        rarity = f"counted in {texts:,} descriptions" if texts else "taken as 1, since one pair tells none"
        text = f"The rarity of words is {rarity}; their vectors are the encoder's input embeddings."
        said.append(CompareNote(methods=[TFIDF], text=text))
    return said

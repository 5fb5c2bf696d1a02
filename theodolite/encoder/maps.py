"""Salience maps: what is asked of a classifier, and a weight for every token of a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theodolite.encoder.tokens import Template, Tokens, flat_ranges
from theodolite.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

GRAD_L2, GRAD_X_INPUT, INTEGRATED = "grad-l2", "grad-x-input", "integrated-gradients"
METHODS = (GRAD_L2, GRAD_X_INPUT, INTEGRATED)
# Integrated gradients whose weights miss the change of the answer by this share of it are flagged.
TOLERANCE = 0.01
# Which text a token belongs to: it is special (CLS, SEP), of the first text, of the second of a pair.
SPECIAL, FIRST, SECOND = 0, 1, 2


@dataclass(frozen=True)
class Question:
    """What is asked: by which methods, of the ``logit`` or the ``probability`` of which class.

    target: ``predicted``, ``label`` (the text's own), or the number of a class. steps: of integrated gradients; where
    none are given there are more until the weights add up.
    """

    methods: tuple[str, ...] = (GRAD_L2,)
    target: str = "predicted"
    of: str = "logit"
    steps: int | None = None

    def __post_init__(self) -> None:
        for method in self.methods:
            if method not in METHODS:
                raise InputError(f"--method {method}: not one of {', '.join(METHODS)}")
            if self.methods.count(method) > 1:
                raise InputError(f"--method {method}: given twice; once is enough")
        if self.target not in ("predicted", "label") and not self.target.isdecimal():
            raise InputError(f"--target {self.target}: not predicted, label or the number of a class")
        if self.of not in ("logit", "probability"):
            raise InputError(f"--of {self.of}: not logit or probability")


@dataclass(frozen=True)
class Layout:
    """All t tokens of n texts in a row, special ones in their places.

    bounds: (n + 1,) each text's tokens; ids: (t,); start, end: (t,) characters in its text, -1 of a special token;
    side: (t,) which text it is of (0 special, 1 the first, 2 the second of a pair); piece_at (pieces,) and before_at,
    between_at, after_at (n, …): where the pieces and the special tokens stand.
    """

    bounds: Ints
    ids: Ints
    start: Ints
    end: Ints
    side: NDArray[np.int8]
    piece_at: Ints
    before_at: Ints
    between_at: Ints
    after_at: Ints

    @classmethod
    def of(cls, tokens: Tokens, template: Template) -> Layout:
        """Lay texts out as the model sees them, as if none were cut into windows."""
        lead, gap, tail = len(template.before), len(template.between), len(template.after)
        first, second = tokens.split, tokens.lengths - tokens.split
        bounds = np.append(0, np.cumsum(tokens.lengths + lead + gap + tail))
        begin = bounds[:-1, None]
        before = begin + np.arange(lead)
        between = begin + lead + first[:, None] + np.arange(gap)
        after = bounds[1:, None] - tail + np.arange(tail)
        starts = np.stack([bounds[:-1] + lead, bounds[:-1] + lead + first + gap], axis=1).ravel()
        piece_at = flat_ranges(starts, np.stack([first, second], axis=1).ravel())
        t = int(bounds[-1])
        ids, start, end = np.empty(t, np.int64), np.full(t, -1), np.full(t, -1)
        ids[piece_at], start[piece_at], end[piece_at] = tokens.ids, tokens.start, tokens.end
        ids[before], ids[between], ids[after] = template.before, template.between, template.after
        side = np.full(t, SPECIAL, np.int8)
        side[piece_at] = FIRST
        side[flat_ranges(starts[1::2], second)] = SECOND
        return cls(bounds, ids, start, end, side, piece_at, before, between, after)


@dataclass(frozen=True)
class Maps:
    """The maps of n texts.

    layout: their tokens; logits: (n, classes); target: (n,) the class asked about; weights:
    method -> (t,); steps and error: (n,) of integrated gradients, how many were taken and by how much the weights miss
    the change of the answer (0 where the method was not asked for).
    """

    layout: Layout
    logits: Floats
    target: Ints
    weights: Mapping[str, Floats]
    steps: Ints
    error: Floats

    def __len__(self) -> int:
        return len(self.target)

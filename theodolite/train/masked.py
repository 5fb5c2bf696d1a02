"""Masking for language modelling: which pieces a model has to guess, and what it sees in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import hash_of, uniform_of
from theodolite.errors import InputError
from theodolite.train.labels import Ints

Bools = NDArray[np.bool_]

# As BERT was trained: of the pieces of a text this share is guessed; of those, so many are hidden by the mask token,
# so many replaced by a random piece, and the others left as they are.
SHARE = 0.15
HIDDEN = 0.8
REPLACED = 0.1
# Which random choice a hash is for: two choices about one piece must not be one.
_WHICH, _HOW, _WHAT = 1, 2, 3


@dataclass(frozen=True, eq=False)
class Masks:
    """Choices that depend on (seed, epoch, item, place) alone, so that a training resumed makes the same.

    mask: id of the mask token; pieces: (v,) ids of the vocabulary's ordinary pieces, special tokens out, ascending:
    only these are chosen, and a random piece is one of them.
    """

    mask: int
    pieces: Ints
    seed: int

    def __call__(self, ids: Ints, items: Ints, places: Ints, epoch: int) -> tuple[Ints, Bools]:
        """(t,) the ids that the model is to see, and (t,) whether it has to guess what was there.

        items: (t,) whose piece each is; places: (t,) which of its item's. Of each item's ordinary pieces the nearest
        whole number to SHARE of them is chosen, at least one.
        """
        chosen = np.zeros(len(ids), bool)
        ordinary = np.flatnonzero(np.isin(ids, self.pieces))
        hashes = hash_of(self.seed, _WHICH, epoch, items[ordinary], places[ordinary])
        order = ordinary[np.lexsort((hashes, items[ordinary]))]
        _, starts, counts = np.unique(items[order], return_index=True, return_counts=True)
        rank = np.arange(len(order)) - np.repeat(starts, counts)
        wanted = np.maximum(1, np.rint(SHARE * counts))
        chosen[order[rank < np.repeat(wanted, counts)]] = True

        how = uniform_of(self.seed, _HOW, epoch, items, places)
        drawn = hash_of(self.seed, _WHAT, epoch, items, places) % np.uint64(len(self.pieces))
        seen = ids.copy()
        hidden, replaced = chosen & (how < HIDDEN), chosen & (how >= HIDDEN) & (how < HIDDEN + REPLACED)
        seen[hidden] = self.mask
        seen[replaced] = self.pieces[drawn[replaced].astype(np.int64)]
        return seen, chosen


def masks_of(fast: Any, embeddings: int, seed: int, name: str) -> Masks:
    """The masks of a tokenizer as transformers knows it; embeddings: how many ids the model has a vector for."""
    if fast.mask_token_id is None:
        raise InputError(
            f"{name}: its tokenizer has no mask token, which masked language modelling needs; give another model"
        )
    ordinary = {*fast.get_vocab().values()} - {*fast.all_special_ids}
    pieces = sorted(number for number in ordinary if number < embeddings)
    return Masks(int(fast.mask_token_id), np.array(pieces, np.int64), seed)

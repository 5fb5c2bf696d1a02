"""Titles and descriptions: which go together, which do not, and the loss of telling one from the other."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy, cosine_similarity

from theodolite.accumulate import hash_of
from theodolite.train.labels import Ints
from theodolite.train.masked import Bools

# Draws before the wrong titles of an item are listed: more than enough where one title in ten is wrong.
TRIES = 64
_STREAM = 4


def pair_losses(titles: torch.Tensor, descriptions: torch.Tensor, same: torch.Tensor) -> torch.Tensor:
    """(n,) binary cross entropy of C = (1 + cosine) / 2 for titles and descriptions (n, d).

    same: (n,) 1 for the title and the description of one item: −log C; 0 for those of two: −log(1 − C).
    """
    closeness = (1 + cosine_similarity(titles, descriptions, dim=1)) / 2
    # Rounding may put a cosine beyond 1.
    return binary_cross_entropy(closeness.clamp(0, 1), same, reduction="none")


class WrongTitles:
    """For an item, another whose title does not belong to its description, drawn by (seed, epoch, item).

    title, description: (n,) numbers that are equal where two items have the same one. A title belongs to a description
    where any item has both: so the other has neither the same title nor the same description, and is no third item's
    title for it either.
    """

    def __init__(self, title: Ints, description: Ints, seed: int) -> None:
        self.title, self.description, self.seed = title, description, seed
        self.known = np.unique(self._codes(description, title))

    def __call__(self, which: Ints, epoch: int) -> Ints:
        """(m,) the other item of each of m items."""
        found = np.empty(len(which), np.int64)
        left = np.arange(len(which))
        for attempt in range(TRIES):
            if not len(left):
                break
            drawn = self._drawn(which[left], epoch, attempt, len(self.title))
            wrong = self._wrong(which[left], drawn)
            found[left[wrong]] = drawn[wrong]
            left = left[~wrong]
        everyone = np.arange(len(self.title))
        for i in left.tolist():
            wrong_ones = everyone[self._wrong(which[i : i + 1], everyone)]
            found[i] = wrong_ones[self._drawn(which[i : i + 1], epoch, TRIES, len(wrong_ones))[0]]
        return found

    def _drawn(self, which: Ints, epoch: int, attempt: int, size: int) -> Ints:
        hashes = hash_of(self.seed, _STREAM, epoch, which, attempt)
        return (hashes % np.uint64(size)).astype(np.int64)

    def _wrong(self, which: Ints, others: Ints) -> Bools:
        codes = self._codes(self.description[which], self.title[others])
        at = np.minimum(np.searchsorted(self.known, codes), len(self.known) - 1)
        found: Bools = self.known[at] != codes
        return found

    def _codes(self, description: Ints, title: Ints) -> Ints:
        return description * (int(self.title.max()) + 1) + title

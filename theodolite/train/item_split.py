"""Items of a catalogue in tokens: which are trained on, which are held out, and which are left out and why."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from theodolite.corpus import Corpus
from theodolite.encoder.encoder import Encoder
from theodolite.encoder.tokens import Tokens, flat_ranges
from theodolite.errors import InputError
from theodolite.train.labels import Ints
from theodolite.train.masked import Bools

LEAST = 2


@dataclass(frozen=True, eq=False)
class Items:
    """n items. tokens: their titles and descriptions as pairs; title, description: (n,) numbers that are equal where
    two items have the same one, to the tokenizer.
    """

    tokens: Tokens
    title: Ints
    description: Ints

    def __len__(self) -> int:
        return len(self.tokens)

    def take(self, which: Ints) -> Items:
        """The chosen items, in the order given."""
        return Items(self.tokens.take(which), self.title[which], self.description[which])


def one_side(pairs: Tokens, second: bool) -> Tokens:
    """The first texts of pairs, or the second, as single texts."""
    lengths = pairs.lengths - pairs.split if second else pairs.split
    pieces = flat_ranges(pairs.bounds[:-1] + (pairs.split if second else 0), lengths)
    return Tokens(
        texts=(pairs.texts_b or []) if second else pairs.texts,
        texts_b=None,
        ids=pairs.ids[pieces],
        start=pairs.start[pieces],
        end=pairs.end[pieces],
        bounds=np.concatenate([[0], np.cumsum(lengths)]),
        split=lengths,
    )


def split_items(encoder: Encoder, corpus: Corpus, share: float, seed: int) -> tuple[Items, Items, dict[str, int]]:
    """The items to train on, those held out, each title with its description once, and how many were left out and why.

    Items that share a title or a description, if only by way of a third, stay together: no title and no description
    that is held out was trained on, and each side has wrong titles for every description.
    """
    titles, descriptions = corpus.column("title").to_pylist(), corpus.texts()
    empty = np.array([not (a.strip() and b.strip()) for a, b in zip(titles, descriptions, strict=True)], bool)
    rows = np.flatnonzero(~empty)
    tokens = encoder.tokenise([titles[i] for i in rows], [descriptions[i] for i in rows])
    found = np.flatnonzero((tokens.split > 0) & (tokens.lengths > tokens.split))
    tokens = tokens.take(found)
    title, description = (_numbered(one_side(tokens, second)) for second in (False, True))
    both = np.stack([title, description], axis=1)
    first = np.sort(np.unique(both, axis=0, return_index=True)[1]) if len(both) else np.empty(0, np.int64)
    items = Items(tokens, title, description).take(first)
    left_out = {
        "no title or no description": int(empty.sum()),
        "no tokens in the title or the description": len(rows) - len(found),
        "same title and description as an earlier item": len(found) - len(first),
    }
    groups = _groups(items)
    apart = int(groups.max(initial=-1)) + 1
    if apart < 2 * LEAST:
        raise InputError(
            f"{corpus.name}: {len(items)} different items in {apart} groups that have no title and no description in "
            f"common; at least {LEAST} groups to train on and {LEAST} held out are needed"
        )
    held = held_out(groups, share, seed)
    return items.take(np.flatnonzero(~held)), items.take(np.flatnonzero(held)), left_out


def held_out(groups: Ints, share: float, seed: int) -> Bools:
    """(n,) whether each item is held out: whole groups in a random order, as long as they fit into the share.

    groups: (n,) number of each item's group. At least LEAST groups, of the smallest, are held out, and LEAST are not.
    """
    sizes = np.bincount(groups)
    order = np.random.default_rng(seed).permutation(len(sizes))
    chosen = order[np.argsort(sizes[order], kind="stable")[:LEAST]].tolist()
    room = share * len(groups) - int(sizes[chosen].sum())
    for group in order.tolist():
        if group not in chosen[:LEAST] and sizes[group] <= room and len(chosen) < len(sizes) - LEAST:
            chosen.append(group)
            room -= sizes[group]
    return np.isin(groups, chosen)


def _numbered(tokens: Tokens) -> Ints:
    """(n,) a number for each text, the same where the pieces are."""
    numbers: dict[bytes, int] = {}
    bounds = tokens.bounds.tolist()
    keys = [tokens.ids[a:b].tobytes() for a, b in pairwise(bounds)]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _groups(items: Items) -> Ints:
    """(n,) number of each item's group: the items it hangs together with by titles and descriptions."""
    if not len(items):
        return np.empty(0, np.int64)
    titles = int(items.title.max()) + 1
    size = titles + int(items.description.max()) + 1
    links = coo_array((np.ones(len(items)), (items.title, titles + items.description)), shape=(size, size))
    # Every title and every description is some item's, so that each component has items, numbered without gaps.
    _, component = connected_components(links, directed=False)
    found: Ints = component[items.title].astype(np.int64)
    return found

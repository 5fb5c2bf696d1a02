"""Gradients of how alike the two texts of a pair are: both in one graph, so that neither is encoded twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from theodolite.encoder.batch import Batch, Floats, Ints
from theodolite.encoder.likeness import likeness
from theodolite.encoder.tap import InputTap, at_pieces
from theodolite.encoder.taped import slopes_of
from theodolite.encoder.tokens import Tokens

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder


@dataclass(frozen=True)
class Differentiated:
    """Some texts of like length: their last layer, and embedding and gradient (t, e) of every piece."""

    batch: Batch
    embedding: Floats
    gradient: Floats


def pair_gradients(
    encoder: Encoder, tokens: Tokens, pooling: str, similarity: str, *, budget: int
) -> Iterator[list[Differentiated]]:
    """Gradients of the likeness of texts 2i and 2i + 1 at the input embeddings of each, the other held constant.

    Some pairs at a time, as many as ``budget`` tokens hold (one at least); each batch of theirs knows its texts by
    ``rows``. Held constant or not is the same: a text's vector does not depend on the other's embeddings.
    """
    tap = InputTap()

    def differentiate(which: Ints) -> list[Differentiated]:
        found = []
        # Halves of the budget: texts of a few pairs differ in length, and long ones would pad the short.
        for some, part in encoder._groups(tokens.take(which), max(1, budget // 2)):
            taped = encoder._taped(tap, part, (encoder.layers,), budget)
            with torch.enable_grad():
                found.append((encoder._batch(part, which[some], "", taped.states), taped))
        rows = np.concatenate([batch.rows for batch, _ in found])
        with torch.enable_grad():
            vectors = torch.cat([batch.pooled_tensor(-1, pooling) for batch, _ in found])
            in_pairs = vectors[torch.from_numpy(np.argsort(rows)).to(vectors.device)]
            value = likeness(in_pairs[::2], in_pairs[1::2], similarity).sum()
        done = []
        for (batch, taped), slopes in zip(found, slopes_of(value, [taped for _, taped in found]), strict=True):
            embedding, gradient = at_pieces(batch.tokens, taped.calls, taped.back(slopes))
            detached = replace(batch, states=batch._states.detached())
            done.append(Differentiated(detached, embedding, gradient))
        return done

    with encoder._plain(), tap.on(encoder.model.get_input_embeddings(), encoder._positions()):
        yield from encoder._side_by_side(differentiate, _some_pairs(tokens.lengths, budget))


def _some_pairs(lengths: Ints, budget: int) -> Iterator[Ints]:
    """Texts of whole pairs, those with a like longest text together, within the budget (one pair at least)."""
    both = lengths.reshape(-1, 2)
    begin = taken = 0
    order = np.argsort(both.max(axis=1), kind="stable")
    for i, tokens in enumerate(both.sum(axis=1)[order].tolist()):
        if i > begin and taken + tokens > budget:
            yield _texts(order[begin:i])
            begin, taken = i, 0
        taken += tokens
    if len(order) > begin:
        yield _texts(order[begin:])


def _texts(pairs: Ints) -> Ints:
    found: Ints = (2 * pairs[:, None] + np.arange(2)).ravel()
    return found

"""One forward pass over windows, and the token vectors merged from it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from theodolite.batching import Windows, fill
from theodolite.encoder.batch import States
from theodolite.encoder.tokens import Template, Tokens, flat_ranges
from theodolite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Padded:
    """B windows as rectangles of T: ids, mask, types (B, T), where in B × T their tokens landed, whose each is (B,)."""

    ids: torch.Tensor
    mask: torch.Tensor
    types: torch.Tensor
    pieces: Ints
    before: Ints
    between: Ints
    after: Ints
    text: Ints

    @property
    def stays(self) -> torch.Tensor:
        """(B, T) whether a place is a special token or padding, which no path from one text to another moves."""
        found = torch.ones(self.ids.shape, dtype=torch.bool)
        found.view(-1)[torch.from_numpy(self.pieces)] = False
        return found


def pad(tokens: Tokens, windows: Windows, template: Template, pad_id: int) -> Padded:
    """Lay windows out as before, text, between, second text, after, padding.

    ``pieces`` lists the flat places of each window's own pieces, window by window; ``before``, ``between``
    and ``after`` (B, …) those of the special tokens around them.
    """
    lead, gap = len(template.before), len(template.between)
    body = windows.length + gap + windows.length_b
    height, width = len(windows), int(body.max()) + lead + len(template.after)
    ids = np.full((height, width), pad_id, np.int64)
    mask = np.zeros((height, width), np.int64)
    types = np.zeros((height, width), np.int64)
    row = np.arange(height)
    origin = row * width

    ids[:, :lead] = template.before
    first = flat_ranges(origin + lead, windows.length)
    base = tokens.bounds[windows.text]
    ids.ravel()[first] = tokens.ids[flat_ranges(base + windows.start, windows.length)]
    middle = (origin + lead + windows.length)[:, None] + np.arange(gap)
    ids.ravel()[middle] = template.between
    second = flat_ranges(origin + lead + windows.length + gap, windows.length_b)
    ids.ravel()[second] = tokens.ids[flat_ranges(base + windows.start_b, windows.length_b)]
    after = (origin + lead + body)[:, None] + np.arange(len(template.after))
    ids.ravel()[after] = template.after
    mask.ravel()[flat_ranges(origin, body + lead + len(template.after))] = 1
    if template.type_b:
        types.ravel()[second] = template.type_b
        types.ravel()[after] = template.type_b
    before = origin[:, None] + np.arange(lead)
    together = np.argsort(np.concatenate([first, second]), kind="stable")
    pieces = np.concatenate([first, second])[together]
    boxes = [torch.from_numpy(a) for a in (ids, mask, types)]
    return Padded(boxes[0], boxes[1], boxes[2], pieces, before, middle, after, windows.text)


def piece_numbers(tokens: Tokens, windows: Windows) -> Ints:
    """The piece that each of the windows' own tokens is, in the order of ``Padded.pieces``."""
    base = tokens.bounds[windows.text]
    starts = np.stack([base + windows.start, base + windows.start_b], axis=1).ravel()
    lengths = np.stack([windows.length, windows.length_b], axis=1).ravel()
    return flat_ranges(starts, lengths)


def destinations(padded: Padded, numbers: Ints, texts: Ints, specials: tuple[Ints, Ints, Ints]) -> tuple[Ints, Ints]:
    """Flat places of every real token of some windows, and the rows they go to.

    numbers: the rows of the windows' own tokens, in the order of ``Padded.pieces``; specials: (n, …) rows of each
    text's tokens before, between and after; texts: (B,) whose window each is.
    """
    source = np.concatenate([padded.pieces, *(s.ravel() for s in (padded.before, padded.between, padded.after))])
    return source, np.concatenate([numbers, *(s[texts].ravel() for s in specials)])


def run_windows(
    call: Callable[[Padded], dict[int, torch.Tensor]],
    tokens: Tokens,
    windows: Windows,
    template: Template,
    pad_id: int,
    budget: int,
) -> tuple[States, list[tuple[Padded, Ints]]]:
    """Encode the windows of a group of texts and merge them: a token's vector is its mean over windows.

    ``call`` gives the wanted layers, (B, T, d) each. Also returns the padded calls made with the piece
    number of each of their tokens, from which gradients find their way back.
    """
    if len(windows) == len(tokens):
        padded = pad(tokens, windows, template, pad_id)
        flat = {layer: _rows(h) for layer, h in call(padded).items()}
        numbers = piece_numbers(tokens, windows)
        states = _states(flat, padded.pieces, padded.before, padded.between, padded.after)
        return states, [(padded, numbers)]
    return _merged(call, tokens, windows, template, pad_id, budget)


def _merged(
    call: Callable[[Padded], dict[int, torch.Tensor]],
    tokens: Tokens,
    windows: Windows,
    template: Template,
    pad_id: int,
    budget: int,
) -> tuple[States, list[tuple[Padded, Ints]]]:
    n, pieces, lead, gap = len(tokens), len(tokens.ids), len(template.before), len(template.between)
    rows = pieces + n * len(template)
    special = np.arange(pieces, rows).reshape(n, -1)
    before, between, after = special[:, :lead], special[:, lead : lead + gap], special[:, lead + gap :]
    counts = torch.zeros(rows, dtype=torch.float32)
    sums: dict[int, torch.Tensor] = {}
    calls = []
    sizes = windows.length + windows.length_b + len(template)
    for which in fill(sizes, budget):
        part = windows.take(which)
        padded = pad(tokens, part, template, pad_id)
        numbers = piece_numbers(tokens, part)
        source, target = destinations(padded, numbers, part.text, (before, between, after))
        at, to = torch.from_numpy(source), torch.from_numpy(target)
        counts.index_add_(0, to, torch.ones(len(to)))
        for layer, hidden in call(padded).items():
            flat = _rows(hidden)
            if layer not in sums:
                sums[layer] = flat.new_zeros((rows, flat.shape[1]))
            # Out of place where a gradient is wanted: autograd needs the earlier sums.
            add = sums[layer].index_add if flat.requires_grad else sums[layer].index_add_
            sums[layer] = add(0, to.to(flat.device), flat[at.to(flat.device)])
        calls.append((padded, numbers))
    means = {layer: s / counts.to(s.device)[:, None] for layer, s in sums.items()}
    return _states(means, np.arange(pieces), before, between, after), calls


def _rows(hidden: torch.Tensor) -> torch.Tensor:
    return hidden.reshape(-1, hidden.shape[-1])


def _states(flat: dict[int, torch.Tensor], *places: Ints) -> States:
    device = next(iter(flat.values())).device
    return States(flat, *(torch.from_numpy(a).to(device) for a in places))


def wanted_layers(layers: Collection[int], count: int) -> tuple[int, ...]:
    """Layers as numbers from 0 (the embedding layer) to ``count``, negative ones counted from the last.

    >>> wanted_layers([-1, 0], 6)
    (0, 6)
    """
    for layer in layers:
        if not -count - 1 <= layer <= count:
            raise InputError(f"layer {layer}: the model has layers 0 to {count}, or -1 to {-count - 1} from the last")
    return tuple(sorted({layer if layer >= 0 else count + 1 + layer for layer in layers}))

"""Gradients of texts at their input embeddings, a few windows at a time however long a text is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch

from theodolite.batching import Windows, fill
from theodolite.encoder.batch import States
from theodolite.encoder.forward import Padded, destinations, run_windows
from theodolite.encoder.memory import look_after_holes
from theodolite.encoder.tap import InputTap
from theodolite.encoder.tokens import Template, Tokens

Slope = torch.Tensor | None


class Taped:
    """Texts encoded under a tap: an objective's gradient is taken at ``states`` and carried back from there.

    Where all windows fit one call its graph is kept. Otherwise every call is made once more, with a graph, when the
    gradient comes back to it: a text of any length takes no more memory than the token budget does.
    """

    def __init__(
        self,
        tap: InputTap,
        call: Callable[[Padded], dict[int, torch.Tensor]],
        part: Tokens,
        windows: Windows,
        template: Template,
        pad_id: int,
        budget: int,
    ) -> None:
        self._tap, self._call = tap, call
        sizes = windows.length + windows.length_b + len(template)
        self._at_once = len(windows) == len(part) or len(list(fill(sizes, budget))) == 1
        with tap.recording() if self._at_once else torch.no_grad():
            found, self.calls = run_windows(call, part, windows, template, pad_id, budget)
        self._live, self._leaves = found.layers, tap.leaves
        self._value = tap.value(0) if self._at_once else None
        leaves = {layer: rows.detach().requires_grad_(True) for layer, rows in found.layers.items()}
        self.states: States = replace(found, layers=leaves)

    def back(self, slopes: Sequence[Slope]) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """For each of ``calls`` its embeddings (B, T, e) and the gradient at them.

        slopes: the gradient at each layer of ``states``, None where the objective does not depend on it.
        """
        if self._at_once:
            assert self._value is not None
            [gradient] = _carried(list(self._live.values()), self._leaves, slopes)
            return [(self._value, gradient)]
        return self._again(slopes)

    def _again(self, slopes: Sequence[Slope]) -> list[tuple[torch.Tensor, torch.Tensor]]:
        at = self.states.before_at, self.states.between_at, self.states.after_at
        before, between, after = (rows.cpu().numpy() for rows in at)
        places = [destinations(p, numbers, p.text, (before, between, after)) for p, numbers in self.calls]
        counts = torch.from_numpy(np.bincount(np.concatenate([rows for _, rows in places])))
        found = []
        for (padded, _), (source, rows) in zip(self.calls, places, strict=True):
            there, to = torch.from_numpy(source), torch.from_numpy(rows)
            look_after_holes()
            with self._tap.recording():
                hidden = list(self._call(padded).values())
                mine = [_spread(slope, to, counts, layer, there) for slope, layer in zip(slopes, hidden, strict=True)]
                [gradient] = _carried(hidden, self._tap.leaves, mine)
            found.append((self._tap.value(0), gradient))
        return found


def slopes_of(value: torch.Tensor, taped: Sequence[Taped]) -> list[list[Slope]]:
    """The gradient of a number at each layer of the states of each."""
    leaves = [leaf for one in taped for leaf in one.states.layers.values()]
    found = iter(torch.autograd.grad(value, leaves, allow_unused=True))
    return [[next(found) for _ in one.states.layers] for one in taped]


def _carried(
    outputs: list[torch.Tensor], leaves: list[torch.Tensor], slopes: Sequence[Slope]
) -> tuple[torch.Tensor, ...]:
    kept = [(output, slope) for output, slope in zip(outputs, slopes, strict=True) if slope is not None]
    if not kept:
        return tuple(torch.zeros_like(leaf) for leaf in leaves)
    return torch.autograd.grad([output for output, _ in kept], leaves, [slope for _, slope in kept])


def _spread(
    slope: Slope, rows: torch.Tensor, counts: torch.Tensor, hidden: torch.Tensor, places: torch.Tensor
) -> Slope:
    """The gradient at a call's states (B, T, d): of each token its row's share, since a row is a mean over windows."""
    if slope is None:
        return None
    found = torch.zeros_like(hidden)
    share = slope[rows.to(slope.device)] / counts[rows].to(slope)[:, None]
    found.view(-1, found.shape[-1])[places.to(slope.device)] = share
    return found

"""Gradients at a model's input embeddings: where the graph is cut, and how values find their pieces again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from theodolite.encoder.batch import Floats, Ints
from theodolite.encoder.forward import Padded
from theodolite.encoder.tokens import Tokens


class InputTap(threading.local):
    """Cuts a model's graph at its token embeddings, so that gradients are taken there.

    Adding positions and types afterwards does not change the gradient: it equals the gradient with respect
    to their sum. ``leaves`` are the token embeddings of each forward call, ``positions`` what was added.
    Each thread has its own, and a pass that is not being recorded goes by untouched.
    """

    def __init__(self) -> None:
        self.leaves: list[torch.Tensor] = []
        self.positions: list[torch.Tensor | None] = []
        self._recording = False
        self._move: Callable[[torch.Tensor], torch.Tensor] | None = None
        self._move_positions: Callable[[torch.Tensor], torch.Tensor] | None = None

    @contextmanager
    def on(self, embeddings: torch.nn.Module, positions: torch.nn.Module | None) -> Iterator[InputTap]:
        """Tap a model's word embedding and, where it has one of that width, its position embedding.

        MobileBERT makes its word embeddings wider before it adds positions: there the words' alone are tapped.
        """

        def cut(_module: torch.nn.Module, _inputs: Any, output: torch.Tensor) -> torch.Tensor:
            moved = output if self._move is None else self._move(output)
            if not self._recording:
                return moved
            leaf = moved.detach().requires_grad_(True)
            self.leaves.append(leaf)
            self.positions.append(None)
            return leaf

        def note(_module: torch.nn.Module, _inputs: Any, output: torch.Tensor) -> torch.Tensor:
            moved = output if self._move_positions is None else self._move_positions(output)
            if self._recording:
                self.positions[-1] = moved.detach()
            return moved

        hooks = [embeddings.register_forward_hook(cut)]
        if positions is not None and getattr(positions, "embedding_dim", 0) == getattr(embeddings, "embedding_dim", 0):
            hooks.append(positions.register_forward_hook(note))
        try:
            yield self
        finally:
            for hook in hooks:
                hook.remove()

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Within it, this thread's forward calls are cut and kept, and gradients flow."""
        self.leaves, self.positions, self._recording = [], [], True
        try:
            with torch.enable_grad():
                yield
        finally:
            self._recording = False

    @contextmanager
    def moving(
        self,
        move: Callable[[torch.Tensor], torch.Tensor],
        positions: Callable[[torch.Tensor], torch.Tensor] | None = None,
    ) -> Iterator[None]:
        """Within it, this thread's forward calls see the embeddings as ``move`` makes them, positions likewise."""
        self._move, self._move_positions = move, positions
        try:
            yield
        finally:
            self._move = self._move_positions = None

    def value(self, call: int) -> torch.Tensor:
        """(B, T, e) sum of token and position embeddings of a forward call."""
        added = self.positions[call]
        return self.leaves[call].detach() if added is None else self.leaves[call].detach() + added


def by_piece(part: Tokens, calls: list[tuple[Padded, Ints]], values: Sequence[torch.Tensor]) -> tuple[Floats, Floats]:
    """(t, 1) in how many windows each piece stands, and (t, e) the sum over them of its values in each call."""
    size = values[0].shape[-1]
    counts = np.zeros((len(part.ids), 1), np.float32)
    sums = np.zeros((len(part.ids), size), np.float32)
    # Without windows a piece stands in one place, and plain indexing is a hundred times as fast as add.at.
    once = len(part.ids) == sum(len(numbers) for _, numbers in calls)
    for (padded, numbers), value in zip(calls, values, strict=True):
        at = torch.from_numpy(padded.pieces).to(value.device)
        found = value.reshape(-1, size)[at].cpu().numpy()
        if once:
            counts[numbers], sums[numbers] = 1, found
        else:
            np.add.at(counts, numbers, 1)
            np.add.at(sums, numbers, found)
    return counts, sums


def at_pieces(
    part: Tokens, calls: list[tuple[Padded, Ints]], found: Sequence[tuple[torch.Tensor, torch.Tensor]]
) -> tuple[Floats, Floats]:
    """(t, e) embedding of each piece, the mean over its windows, and gradient, the sum, from those of each call."""
    counts, embedding = by_piece(part, calls, [value for value, _ in found])
    return embedding / counts, by_piece(part, calls, [gradient for _, gradient in found])[1]

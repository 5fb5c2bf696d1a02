"""Contrastive training: two dropout views of each text, told from the views of the other texts of its batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy, normalize
from torch.utils.checkpoint import checkpoint

from theodolite.accumulate import UnitSums, uniform_of
from theodolite.encoder.encoder import Encoder
from theodolite.encoder.forward import pad
from theodolite.encoder.tokens import Tokens, flat_ranges
from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.train.batches import STEP_TOKENS, Batch, training_lengths
from theodolite.train.labels import Floats
from theodolite.train.loop import Pace, Paced


@dataclass(frozen=True)
class Views:
    """How texts become vectors, and how views are told apart; tokens: how many go through the model at once."""

    pooling: str
    temperature: float
    tokens: int = STEP_TOKENS

    def __call__(self, model: Any, inputs: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Two vectors (n, d) of each text; different where the model is in training and has dropout.

        More tokens than fit go through in parts, and again when the gradient is taken, under the same dropout.
        """
        twice = {name: torch.cat([values, values]) for name, values in inputs.items()}
        rows, width = twice["input_ids"].shape
        size = max(1, self.tokens // width)
        parts = [{name: values[i : i + size] for name, values in twice.items()} for i in range(0, rows, size)]
        if len(parts) == 1:
            vectors = self._vectors(model, twice)
        else:
            vectors = torch.cat([checkpoint(self._vectors, model, part, use_reentrant=False) for part in parts])
        return vectors[: rows // 2], vectors[rows // 2 :]

    def _vectors(self, model: Any, inputs: Batch) -> torch.Tensor:
        hidden: torch.Tensor = model(**inputs).last_hidden_state
        if self.pooling == "cls":
            return hidden[:, 0]
        # As sentence-transformers takes it: the special tokens count.
        mask = inputs["attention_mask"][:, :, None].to(hidden)
        mean: torch.Tensor = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
        return mean


def contrastive_loss(first: torch.Tensor, second: torch.Tensor, temperature: float) -> torch.Tensor:
    """Cross entropy of finding a text's second view (n, d) among all, given its first (n, d), by cosine.

    The mean over i of −log(exp(cos(aᵢ, bᵢ) / τ) / Σⱼ exp(cos(aᵢ, bⱼ) / τ)).
    """
    cosines = normalize(first, dim=1) @ normalize(second, dim=1).T
    return cross_entropy(cosines / temperature, torch.arange(len(first), device=first.device))


class Judge:
    """Loss, alignment, uniformity and mean cosine of views, a batch at a time.

    Alignment: the mean squared distance between the two unit vectors of a text, smaller is closer. Uniformity:
    log of the mean of exp(−2 × squared distance) over pairs of different texts of a batch, first views, smaller is
    more even (both after Wang and Isola). Mean cosine: of all pairs of different texts, first views.
    """

    def __init__(self, temperature: float) -> None:
        self.temperature, self.texts, self.pairs = temperature, 0, 0
        self.loss = self.distance = self.nearness = 0.0
        self.units: UnitSums | None = None

    def update(self, first: torch.Tensor, second: torch.Tensor) -> None:
        """Take in the two views (n, d) of a batch of texts."""
        n = len(first)
        self.loss += n * contrastive_loss(first, second, self.temperature).item()
        a, b = (normalize(views.double().cpu(), dim=1) for views in (first, second))
        self.distance += (a - b).square().sum().item()
        self.nearness += torch.pdist(a).square().mul(-2).exp().sum().item()
        self.texts, self.pairs = self.texts + n, self.pairs + n * (n - 1) // 2
        self.units = self.units or UnitSums((a.shape[1],))
        self.units.add(a.sum(dim=0).numpy(), n, n, n)

    def result(self) -> dict[str, float]:
        """The four, by name; at least two texts must have been seen."""
        assert self.units is not None
        return {
            "loss": self.loss / self.texts,
            "alignment": self.distance / self.texts,
            "uniformity": float(np.log(self.nearness / self.pairs)),
            "mean_cosine": float(self.units.result()),
        }


class Contrast(Paced):
    """A Trainer whose batches are texts and whose loss compares two views of each."""

    def __init__(
        self,
        encoder: Encoder,
        views: Views,
        training: Tokens,
        held: Tokens,
        pace: Pace,
        folder: Path,
        device: torch.device,
        progress: Progress,
    ) -> None:
        self.views, self.held = views, held
        self.collated = Windowed(encoder, held, pace.seed, lambda: 0)
        lengths = training_lengths(training, encoder.limit)
        collator = Windowed(encoder, training, pace.seed, self.epoch)
        super().__init__(encoder.model, collator, lengths, pace, folder, device, progress)

    def compute_loss(
        self, model: Any, inputs: Batch, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> torch.Tensor:
        """The contrastive loss of a batch."""
        return contrastive_loss(*self.views(model, inputs), self.views.temperature)

    def judged(self) -> dict[str, float]:
        """Scores on the held-out texts in batches of equal size, dropout on, under a seed of their own."""
        judge, device = Judge(self.views.temperature), self.args.device
        others = [] if device.type == "cpu" else [device]
        self.model.train()
        # The training goes on with the random numbers it would have had.
        with torch.no_grad(), torch.random.fork_rng(others, device_type=device.type):
            torch.manual_seed(self.pace.seed)
            for which in held_batches(len(self.held), self.pace.batch_size):
                judge.update(*self.views(self.model, self.collated(which)))
        return judge.result()


class Windowed:
    """Makes a batch from the numbers of some texts; of a text too long, one window, drawn anew each epoch."""

    def __init__(self, encoder: Encoder, tokens: Tokens, seed: int, epoch: Callable[[], int]) -> None:
        self.encoder, self.tokens, self.seed, self.epoch = encoder, tokens, seed, epoch

    def __call__(self, which: Sequence[int]) -> Batch:
        """What the model is called with, (n, T) each."""
        numbers = np.array(which, np.int64)
        encoder, template = self.encoder, self.encoder.tokenizer.single
        drawn = uniform_of(self.seed, self.epoch(), numbers)
        part = one_window(self.tokens.take(numbers), encoder.limit - len(template), drawn)
        return encoder._inputs(pad(part, encoder._windows(part), template, encoder.tokenizer.pad_id))


def one_window(tokens: Tokens, room: int, drawn: Floats) -> Tokens:
    """Texts cut to ``room`` pieces; ``drawn`` (n,) in [0, 1) says where the window of a longer one begins."""
    lengths = np.minimum(tokens.lengths, room)
    begins = (drawn * (tokens.lengths - lengths + 1)).astype(np.int64)
    pieces = flat_ranges(tokens.bounds[:-1] + begins, lengths)
    return dataclasses.replace(
        tokens,
        ids=tokens.ids[pieces],
        start=tokens.start[pieces],
        end=tokens.end[pieces],
        bounds=np.concatenate([[0], np.cumsum(lengths)]),
        split=lengths,
    )


def held_batches(texts: int, batch_size: int) -> list[list[int]]:
    """The numbers of the held-out texts in batches of that size or a little more, equal but for one text.

    >>> held_batches(5, 2)
    [[0, 1, 2], [3, 4]]
    """
    return [part.tolist() for part in np.array_split(np.arange(texts), max(1, texts // batch_size))]


def set_dropout(model: Any, asked: float | None, name: str) -> float:
    """Give every dropout layer the rate asked for; the largest rate there then is.

    Without dropout the two views of a text would be the same.
    """
    layers = [module for module in model.modules() if isinstance(module, torch.nn.Dropout)]
    if not layers:
        raise InputError(f"{name}: has no dropout layers, so that two views of a text would be the same")
    for layer in layers:
        layer.p = layer.p if asked is None else asked
    found = max(layer.p for layer in layers)
    if found == 0:
        raise InputError(f"{name}: its dropout is 0, so that two views of a text would be the same; give --dropout 0.1")
    return float(found)

"""Training on the items of a catalogue: masked pieces are guessed, and descriptions told from wrong titles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint

from theodolite.accumulate import uniform_of
from theodolite.batching import Windows
from theodolite.encoder.encoder import Encoder
from theodolite.encoder.forward import Padded, pad, piece_numbers
from theodolite.encoder.tokens import Tokens
from theodolite.instrument import Progress
from theodolite.train.batches import PROCESSOR_STEP_TOKENS, STEP_TOKENS, Batch, training_lengths
from theodolite.train.contrast import held_batches
from theodolite.train.item_split import Items, one_side
from theodolite.train.labels import Floats, Ints
from theodolite.train.language_model import LanguageModel
from theodolite.train.loop import Pace, Paced
from theodolite.train.masked import Masks
from theodolite.train.retrieval import Search, figures
from theodolite.train.titles import WrongTitles, pair_losses

_STREAM = 5


class ItemBatches:
    """Makes a batch from the numbers of some items; of a text, or pair, too long, one window, drawn anew each epoch.

    pairs: title and description as one sequence, masked, with ``chosen`` and ``targets``. titles: of the n items, then
    n wrong ones; descriptions: of the n items; both with ``own`` (B, T), whether a token is the text's own, not a
    special one.
    """

    def __init__(self, encoder: Encoder, items: Items, masks: Masks, epoch: Callable[[], int]) -> None:
        self.encoder, self.items, self.masks, self.epoch = encoder, items, masks, epoch
        self.wrong_titles = WrongTitles(items.title, items.description, masks.seed)

    def __call__(self, which: Sequence[int]) -> dict[str, Any]:
        """What the two objectives need of the items of those numbers."""
        numbers, epoch = np.array(which, np.int64), self.epoch()
        wrong = self.wrong_titles(numbers, epoch)
        return {
            "pairs": self._pairs(numbers, epoch),
            "titles": self._texts(np.concatenate([numbers, wrong]), epoch, second=False),
            "descriptions": self._texts(numbers, epoch, second=True),
        }

    def _pairs(self, numbers: Ints, epoch: int) -> Batch:
        tokens = self.items.tokens.take(numbers)
        windows, padded = self._padded(tokens, numbers, epoch)
        at = piece_numbers(tokens, windows)
        row = np.repeat(np.arange(len(numbers)), windows.length + windows.length_b)
        seen, guessed = self.masks(tokens.ids[at], numbers[row], at - tokens.bounds[row], epoch)
        inputs = self.encoder._inputs(padded)
        targets = inputs["input_ids"].clone()
        inputs["input_ids"].view(-1)[torch.from_numpy(padded.pieces)] = torch.from_numpy(seen).to(targets.device)
        return {**inputs, "targets": targets, "chosen": self._marked(padded, padded.pieces[guessed])}

    def _texts(self, numbers: Ints, epoch: int, *, second: bool) -> Batch:
        tokens = one_side(self.items.tokens.take(numbers), second)
        _, padded = self._padded(tokens, numbers, epoch)
        return {**self.encoder._inputs(padded), "own": self._marked(padded, padded.pieces)}

    def _padded(self, tokens: Tokens, numbers: Ints, epoch: int) -> tuple[Windows, Padded]:
        drawn = uniform_of(self.masks.seed, _STREAM, epoch, numbers)
        windows = one_of_each(self.encoder._windows(tokens), drawn)
        template = self.encoder._template(tokens)
        return windows, pad(tokens, windows, template, self.encoder.tokenizer.pad_id)

    def _marked(self, padded: Padded, places: Ints) -> torch.Tensor:
        marked = np.zeros(padded.ids.shape, bool)
        marked.ravel()[places] = True
        return torch.from_numpy(marked).to(self.encoder.device)


def one_of_each(windows: Windows, drawn: Floats) -> Windows:
    """One window of each text; ``drawn`` (n,) in [0, 1) says which."""
    counts = np.bincount(windows.text, minlength=len(drawn))
    return windows.take(np.cumsum(counts) - counts + (drawn * counts).astype(np.int64))


def mean_of(losses: torch.Tensor) -> torch.Tensor:
    """The mean; 0 of none, as where every piece of a batch is unknown to the tokenizer."""
    return losses.sum() / max(1, len(losses))


class Objectives(Paced):
    """A Trainer whose batches are items and whose loss is the sum of two: of masked pieces and of titles."""

    def __init__(
        self,
        model: LanguageModel,
        masks: Masks,
        training: Items,
        held: Items,
        pace: Pace,
        folder: Path,
        device: torch.device,
        progress: Progress,
    ) -> None:
        self.language_model, self.search = model, Search.of(held)
        encoder = model.encoder
        # Shortest first: little padding.
        order = np.argsort(held.tokens.lengths, kind="stable")
        self.held = ItemBatches(encoder, held.take(order), masks, lambda: 0)
        self.step_tokens = PROCESSOR_STEP_TOKENS if device.type == "cpu" else STEP_TOKENS
        lengths = training_lengths(training.tokens, encoder.limit)
        batches = ItemBatches(encoder, training, masks, self.epoch)
        super().__init__(model.whole, batches, lengths, pace, folder, device, progress)

    def compute_loss(
        self, model: Any, inputs: dict[str, Batch], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> torch.Tensor:
        """The mean over the masked pieces of a batch, and the mean over its titles, right and wrong."""
        masked, titles = self.losses(inputs)
        return mean_of(masked) + mean_of(titles)

    def losses(self, inputs: dict[str, Batch]) -> tuple[torch.Tensor, torch.Tensor]:
        """(m,) the loss of each masked piece, and (2n,) of each description with its title, then with a wrong one."""
        masked = self._in_parts(self.language_model.piece_losses, inputs["pairs"])
        titles = self._in_parts(self._vectors, inputs["titles"])
        descriptions = self._in_parts(self._vectors, inputs["descriptions"])
        same = torch.arange(len(titles), device=titles.device) < len(descriptions)
        return masked, pair_losses(titles, descriptions.repeat(2, 1), same.to(titles))

    def _vectors(self, inputs: Batch) -> torch.Tensor:
        """(B, d) the mean over each text's own tokens: special tokens out."""
        called = {name: values for name, values in inputs.items() if name != "own"}
        hidden: torch.Tensor = self.language_model.encoder.model(**called).last_hidden_state
        own = inputs["own"][:, :, None].to(hidden)
        mean: torch.Tensor = (hidden * own).sum(dim=1) / own.sum(dim=1)
        return mean

    def _in_parts(self, work: Callable[[Batch], torch.Tensor], inputs: Batch) -> torch.Tensor:
        """What ``work`` makes of a batch; more tokens than fit go through in parts, and again for the gradient."""
        rows, width = inputs["input_ids"].shape
        size = max(1, self.step_tokens // width)
        if rows <= size:
            return work(inputs)
        parts = [{name: values[i : i + size] for name, values in inputs.items()} for i in range(0, rows, size)]
        return torch.cat([checkpoint(work, part, use_reentrant=False) for part in parts])

    def judged(self) -> dict[str, float]:
        """Losses and retrieval on the held-out items."""
        return {**self.held_losses(), **figures(self.ranks())}

    def held_losses(self) -> dict[str, float]:
        """Both losses on the held-out items, dropout off, masks and wrong titles the same each time."""
        self.model.eval()
        with torch.no_grad():
            batches = held_batches(len(self.held.items), self.pace.batch_size)
            found = [self.losses(self.held(which)) for which in batches]
        masked, title = (mean_of(torch.cat(losses).double()).item() for losses in zip(*found, strict=True))
        return {"loss": masked + title, "masked_loss": masked, "title_loss": title}

    def ranks(self) -> Ints:
        """(descriptions,) where each held-out description finds its title among all that are held out."""
        self.model.eval()
        return self.search.ranks(self.language_model.encoder)

"""Training batches: texts of similar length together, each cut into at most a few windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch.utils.data import Sampler

from theodolite.batching import Windows
from theodolite.encoder.classifier import Classifier
from theodolite.encoder.forward import pad
from theodolite.encoder.tokens import Tokens
from theodolite.train.labels import Floats, Ints

MOST_WINDOWS = 8
CHUNK_BATCHES = 50
# Tokens, padding among them, that go through the model at once in a training step.
STEP_TOKENS = 16_384
# … on a processor, which loses by more: 100 long reviews took 151 processor seconds and 11 GB with 16,384 tokens at a
# time, 112 and 4 GB with 4,096, 102 and 2.5 GB with 1,536; 2,048 itself was not measured.
PROCESSOR_STEP_TOKENS = 2_048

Batch = dict[str, torch.Tensor]


class Collator:
    """Makes a batch of windows from the numbers of some texts.

    Gives what the model is called with, (B, T) each; ``text`` (B,), whose window each is; ``labels`` (n,).
    """

    def __init__(self, classifier: Classifier, tokens: Tokens, targets: torch.Tensor) -> None:
        self.classifier, self.tokens, self.targets = classifier, tokens, targets

    def __call__(self, which: Sequence[int]) -> Batch:
        """The batch of the texts of those numbers."""
        part = self.tokens.take(np.array(which, np.int64))
        windows = spread(self.classifier._windows(part))
        padded = pad(part, windows, self.classifier._template(part), self.classifier.tokenizer.pad_id)
        inputs = self.classifier._inputs(padded)
        return {**inputs, "text": torch.from_numpy(windows.text), "labels": self.targets[list(which)]}


def spread(windows: Windows) -> Windows:
    """At most MOST_WINDOWS windows of each text, the first and the last among them and the others evenly between."""
    counts = np.bincount(windows.text)
    if counts.max() <= MOST_WINDOWS:
        return windows
    starts = np.cumsum(counts) - counts
    kept = [
        start + (np.arange(n) if n <= MOST_WINDOWS else np.linspace(0, n - 1, MOST_WINDOWS).round().astype(np.int64))
        for start, n in zip(starts.tolist(), counts.tolist(), strict=True)
    ]
    return windows.take(np.concatenate(kept))


def mean_over_windows(logits: torch.Tensor, text: torch.Tensor, texts: int) -> torch.Tensor:
    """(n, classes) from (B, classes): the mean over the windows of each text."""
    if len(logits) == texts:
        return logits
    sums = logits.new_zeros((texts, logits.shape[1])).index_add(0, text, logits)
    return sums / torch.bincount(text, minlength=texts)[:, None]


def loss_of(logits: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor | None, regression: bool) -> torch.Tensor:
    """Mean squared error, or cross entropy averaged under the weights of the texts' classes."""
    if regression:
        return torch.nn.functional.mse_loss(logits[:, 0], labels)
    return torch.nn.functional.cross_entropy(logits, labels, weights)


def parts_within(batch: Batch, tokens: int, weights: torch.Tensor | None) -> Iterator[tuple[Batch, float]]:
    """A batch in parts of whole texts, each within so many tokens (one text at least), and its share in the loss.

    The loss of the batch is the sum of the parts' losses times their shares, so that the gradient is the same.
    """
    text, labels = batch["text"], batch["labels"]
    of_text = torch.ones(len(labels)) if weights is None else weights.cpu()[labels.cpu()]
    ends = torch.bincount(text, minlength=len(labels)).cumsum(0).tolist()
    rows = max(1, tokens // batch["input_ids"].shape[1])
    first, begin = 0, 0
    for i in range(len(labels)):
        if i + 1 < len(labels) and ends[i + 1] - begin <= rows:
            continue
        part = {k: v[begin : ends[i]] for k, v in batch.items() if k != "labels"}
        part |= {"text": part["text"] - first, "labels": labels[first : i + 1]}
        yield part, float(of_text[first : i + 1].sum() / of_text.sum())
        first, begin = i + 1, ends[i]


class SimilarLengths(Sampler[int]):
    """Texts in a new order each epoch, those of similar length beside each other.

    ``epoch`` tells which one begins: it is asked, not counted, since a resumed run begins in the middle of one.
    """

    def __init__(self, lengths: Ints, batch_size: int, seed: int, epoch: Callable[[], int]) -> None:
        self.lengths, self.batch_size, self.seed, self.epoch = lengths, batch_size, seed, epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        yield from by_similar_length(self.lengths, self.batch_size, (self.seed, self.epoch())).tolist()


def by_similar_length(lengths: Ints, batch_size: int, seed: tuple[int, ...]) -> Ints:
    """(n,) a random order in which each run of ``batch_size`` texts is of similar length.

    Sorted within random chunks of CHUNK_BATCHES batches; then the batches are shuffled, a short one stays last.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(lengths))
    chunk = batch_size * CHUNK_BATCHES
    parts = [order[i : i + chunk] for i in range(0, len(order), chunk)]
    order = np.concatenate([part[np.argsort(lengths[part], kind="stable")] for part in parts])
    whole = len(order) // batch_size
    if whole == 0:
        return order
    # A random text, not the longest, makes up the short batch.
    over = random.permutation(len(order))[: len(order) - whole * batch_size]
    rest = np.delete(order, over).reshape(whole, batch_size)
    found: Ints = np.concatenate([rest[random.permutation(whole)].ravel(), order[np.sort(over)]])
    return found


def training_lengths(tokens: Tokens, limit: int) -> Ints:
    """(n,) how long the widest window of each text is: what decides on padding."""
    found: Ints = np.minimum(tokens.lengths, limit)
    return found


def as_targets(targets: Floats, regression: bool) -> torch.Tensor:
    """Class numbers, or values in single precision."""
    return torch.from_numpy(targets.astype(np.float32 if regression else np.int64))

"""A model and its tokenizer: hidden states, embeddings, gradients."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from theodolite.batching import groups, windows
from theodolite.encoder.batch import Batch, Floats, Ints
from theodolite.encoder.forward import Padded, run_windows, wanted_layers
from theodolite.encoder.lanes import Item, Result, side_by_side
from theodolite.encoder.loading import device_of, load_model
from theodolite.encoder.memory import without_holes
from theodolite.encoder.pooling import own_pooling
from theodolite.encoder.resolve import DEFAULT_MODEL, ModelFolder, resolve
from theodolite.encoder.tap import InputTap, at_pieces
from theodolite.encoder.taped import Taped, slopes_of
from theodolite.encoder.tokens import Tokenizer, Tokens
from theodolite.encoder.transform import Transform, load_transform
from theodolite.errors import InputError

DEFAULT_BUDGET = 1024

Objective = Callable[[Batch], torch.Tensor]


@dataclass(frozen=True)
class Gradients:
    """Input embeddings of one text's t pieces and the gradient of the objective there, (t, e) each.

    For a text of several windows the embedding is the mean over a piece's windows and the gradient their sum,
    since the piece acts in each of them. ``value`` is the objective.
    """

    embedding: Floats
    gradient: Floats
    value: float


class Encoder:
    """A text encoder with frozen weights.

    >>> encoder = Encoder.load("all-MiniLM-L6-v2")
    >>> encoder.embed(["A short text.", "Another one."]).shape
    (2, 384)
    """

    def __init__(self, folder: ModelFolder, model: Any, tokenizer: Tokenizer, max_length: int | None = None) -> None:
        self.folder, self.model, self.tokenizer = folder, model, tokenizer
        self.name, self.hash, self.tokenizer_hash = folder.name, folder.hash, folder.tokenizer_hash
        config: Any = model.config
        self.layers = int(config.num_hidden_layers)
        self.dim = int(config.hidden_size)
        self.own = own_pooling(folder)
        self.limit = self._limit(max_length)
        self._types = int(getattr(config, "type_vocab_size", 0) or 0) > 1
        self._forward: Callable[..., Any] = model
        self.transform: Transform | None = None

    @classmethod
    def load(
        cls,
        model: str | os.PathLike[str] = DEFAULT_MODEL,
        *,
        device: str | None = None,
        max_length: int | None = None,
        transform: str | os.PathLike[str] | None = None,
    ) -> Encoder:
        """Load the bundled default, a local folder or a hub name; safetensors only, no remote code.

        device: 'cpu', 'cuda', 'mps'; the fastest at hand when not given. max_length: tokens a window, with
        the special ones; the model's own limit when not given. transform: a folder that ``theodolite isotropy fit``
        wrote; the encoder's vectors at its layer come out rounder.
        """
        folder = resolve(model)
        loaded, fast = load_model(folder)
        loaded.eval().requires_grad_(False).to(device_of(device))
        tokenizer = Tokenizer(fast, folder.name)
        if hasattr(loaded, "base_model") and loaded.base_model is not loaded:
            from theodolite.encoder.classifier import Classifier

            found: Encoder = Classifier(folder, loaded, tokenizer, max_length)
        else:
            found = Encoder(folder, loaded, tokenizer, max_length)
        if transform is not None:
            found.round_off(load_transform(transform, found))
        return found

    def round_off(self, transform: Transform) -> None:
        """From now on the vectors of the transform's layer come out transformed; the encoder's hash says so."""
        self.transform = transform
        self.hash = hashlib.sha256(f"{self.folder.hash} {transform.hash}".encode()).hexdigest()

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        place: torch.device = next(self.model.parameters()).device
        return place

    @property
    def input_embeddings(self) -> Floats:
        """(vocabulary, e) the table of token embeddings; not a copy."""
        found: Floats = self.model.get_input_embeddings().weight.detach().float().cpu().numpy()
        return found

    @property
    def window_rule(self) -> str:
        """The windows of long texts, as they enter the key of whatever is stored."""
        return f"{self.limit}/{self.limit // 2}"

    @property
    def parameters(self) -> int:
        """Number of weights that take part in matrix products: all but the embedding tables."""
        modules = [m for m in self.model.modules() if isinstance(m, torch.nn.Embedding)]
        pooler = getattr(self.model, "pooler", None)
        unused = {id(p) for m in [*modules, pooler] if m is not None for p in m.parameters()}
        return sum(p.numel() for p in self.model.parameters() if id(p) not in unused)

    def __repr__(self) -> str:
        return f"Encoder({self.name!r}, layers={self.layers}, dim={self.dim}, limit={self.limit}, {self.device})"

    def tokenise(self, texts: Sequence[str], texts_b: Sequence[str] | None = None) -> Tokens:
        """Pieces of texts or of pairs of texts, with character offsets, special tokens out."""
        return self.tokenizer(texts, texts_b)

    def window_counts(self, tokens: Tokens) -> Ints:
        """(n,) into how many windows each text is cut."""
        return np.bincount(self._windows(tokens).text, minlength=len(tokens))

    def batches(
        self,
        tokens: Tokens,
        layers: Collection[int] = (-1,),
        *,
        budget: int = DEFAULT_BUDGET,
        corpus: str = "",
        rows: Ints | None = None,
    ) -> Iterator[Batch]:
        """Encode texts in batches of at most ``budget`` tokens, shortest first. No text may be empty of tokens.

        Each batch knows its texts by ``rows`` (0, 1, … when not given).
        """
        wanted = wanted_layers(layers, self.layers)

        def encode(group: tuple[Ints, Tokens]) -> Batch:
            which, part = group
            with torch.inference_mode():
                states, _ = self._encode(part, wanted, budget)
            return self._batch(part, which if rows is None else rows[which], corpus, states)

        yield from self._side_by_side(encode, self._groups(tokens, budget))

    def text_batch(self, tokens: Tokens, *, corpus: str = "", rows: Ints | None = None) -> Iterator[Batch]:
        """The texts as one batch without states, for a pass that needs no model."""
        if len(tokens):
            yield self._batch(tokens, np.arange(len(tokens)) if rows is None else rows, corpus, None)

    def hidden_states(
        self, texts: Sequence[str], layers: Collection[int] | None = None, *, budget: int = DEFAULT_BUDGET
    ) -> list[NDArray[np.float32]]:
        """For each text, (layers, t, d): the vector of every piece at the chosen layers (all by default).

        Layer 0 is the embedding layer; a text with no pieces gives t = 0.
        """
        wanted = wanted_layers(range(self.layers + 1) if layers is None else layers, self.layers)
        found = [np.empty((len(wanted), 0, self.dim), np.float32) for _ in texts]
        tokens = self.tokenise(texts)
        rows = np.flatnonzero(tokens.lengths)
        for batch in self.batches(tokens.take(rows), wanted, budget=budget, rows=rows):
            whole = np.stack([batch.token_vectors(layer) for layer in wanted])
            for i, row in enumerate(batch.rows.tolist()):
                found[row] = whole[:, batch.tokens.bounds[i] : batch.tokens.bounds[i + 1]]
        return found

    def embed(
        self,
        texts: Sequence[str],
        texts_b: Sequence[str] | None = None,
        *,
        pooling: str = "own",
        layer: int = -1,
        budget: int = DEFAULT_BUDGET,
    ) -> NDArray[np.float32]:
        """(n, d): one vector a text, or a pair of texts in one sequence. A text with no pieces gives NaN."""
        tokens = self.tokenise(texts, texts_b)
        rows = np.flatnonzero(tokens.lengths)
        found: NDArray[np.float32] | None = None
        for batch in self.batches(tokens.take(rows), (layer,), budget=budget, rows=rows):
            vectors = batch.pooled(layer, pooling)
            if found is None:
                found = np.full((len(texts), vectors.shape[1]), np.nan, np.float32)
            found[batch.rows] = vectors
        return np.full((len(texts), self.dim), np.nan, np.float32) if found is None else found

    def gradients(
        self,
        texts: Sequence[str],
        objective: Objective,
        texts_b: Sequence[str] | None = None,
        *,
        layers: Collection[int] = (-1,),
        budget: int = DEFAULT_BUDGET,
    ) -> list[Gradients]:
        """Gradients of a scalar a text with respect to its input embeddings.

        objective: takes a batch (use ``batch.pooled_tensor``) and gives (n,), each depending on its own text
        alone. The gradient is taken at the sum of token and position embeddings, before normalisation.

        >>> encoder = Encoder.load()
        >>> length = lambda batch: batch.pooled_tensor(-1, "mean").norm(dim=1)
        >>> encoder.gradients(["A short text."], length)[0].gradient.shape
        (4, 384)
        """
        tokens = self.tokenise(texts, texts_b)
        size = int(self.model.get_input_embeddings().weight.shape[1])
        nothing = Gradients(np.empty((0, size), np.float32), np.empty((0, size), np.float32), float("nan"))
        found = [nothing for _ in texts]
        rows = np.flatnonzero(tokens.lengths)
        for batch, values, embedding, gradient in self.gradient_batches(
            tokens.take(rows), objective, layers=layers, budget=budget, rows=rows
        ):
            for i, row in enumerate(batch.rows.tolist()):
                span = slice(batch.tokens.bounds[i], batch.tokens.bounds[i + 1])
                found[row] = Gradients(embedding[span], gradient[span], float(values[i]))
        return found

    def gradient_batches(
        self,
        tokens: Tokens,
        objective: Objective,
        *,
        layers: Collection[int] = (-1,),
        budget: int = DEFAULT_BUDGET,
        corpus: str = "",
        rows: Ints | None = None,
    ) -> Iterator[tuple[Batch, Floats, Floats, Floats]]:
        """As ``batches``, with the objective (n,), and embedding and gradient (t, e) of every piece."""
        wanted = wanted_layers(layers, self.layers)
        tap = InputTap()

        def differentiate(group: tuple[Ints, Tokens]) -> tuple[Batch, Floats, Floats, Floats]:
            which, part = group
            taped = self._taped(tap, part, wanted, budget)
            with torch.enable_grad():
                batch = self._batch(part, which if rows is None else rows[which], corpus, taped.states)
                values = objective(batch)
                [slopes] = slopes_of(values.sum(), [taped])
            embedding, gradient = at_pieces(part, taped.calls, taped.back(slopes))
            detached = replace(batch, states=None)
            return detached, values.detach().cpu().numpy(), embedding, gradient

        with self._plain(), tap.on(self.model.get_input_embeddings(), self._positions()):
            yield from self._side_by_side(differentiate, self._groups(tokens, budget))

    def compiled(self) -> bool:
        """Compile the forward pass; False where this machine cannot."""
        try:
            compiled: Any = torch.compile(self.model, dynamic=True)
            with torch.inference_mode():
                compiled(**self._inputs(_probe(self)), output_hidden_states=True)
        except Exception:  # no compiler, or a model it cannot trace: the plain pass still works
            return False
        self._forward = compiled
        return True

    def uncompiled(self) -> None:
        """Go back to the plain forward pass."""
        self._forward = self.model

    @contextmanager
    def skipping(self, layer: int) -> Iterator[None]:
        """Within it, transformer layer ``layer`` (1 is the first) hands its input on unchanged."""
        blocks = self._blocks()
        if not 1 <= layer <= len(blocks):
            raise InputError(f"{self.name} has layers 1 to {len(blocks)}, not {layer}")

        def pass_on(_module: torch.nn.Module, inputs: tuple[Any, ...], kwargs: Any, output: Any) -> Any:
            unchanged = inputs[0] if inputs else kwargs["hidden_states"]
            return (unchanged, *output[1:]) if isinstance(output, tuple) else unchanged

        # Before other hooks: transformers records hidden states with one of its own.
        hook = blocks[layer - 1].register_forward_hook(pass_on, with_kwargs=True, prepend=True)
        try:
            with self._plain():
                yield
        finally:
            hook.remove()

    @contextmanager
    def _plain(self) -> Iterator[None]:
        """Within it, the forward pass that is not compiled: each new hook would compile it again, a minute each."""
        forward, self._forward = self._forward, self.model
        try:
            yield
        finally:
            self._forward = forward

    def _side_by_side(self, work: Callable[[Item], Result], items: Iterator[Item]) -> Iterator[Result]:
        """Several at once where it pays: on a processor. (A compiled pass is not safe to share between threads.)"""
        if self.device.type != "cpu":
            return map(work, items)
        return without_holes(side_by_side if self._forward is self.model else map, work, items)

    def _groups(self, tokens: Tokens, budget: int) -> Iterator[tuple[Ints, Tokens]]:
        template = self._template(tokens)
        counts = self.window_counts(tokens)
        for which in groups(counts, tokens.lengths + len(template), self.limit, budget):
            yield which, tokens.take(which)

    def _encode(self, part: Tokens, wanted: tuple[int, ...], budget: int) -> Any:
        return run_windows(*self._windowed(part, wanted, budget))

    def _taped(self, tap: InputTap, part: Tokens, wanted: tuple[int, ...], budget: int) -> Taped:
        return Taped(tap, *self._windowed(part, wanted, budget))

    def _windowed(self, part: Tokens, wanted: tuple[int, ...], budget: int) -> Any:
        def call(padded: Padded) -> dict[int, torch.Tensor]:
            return self._hidden(padded, wanted)

        how = self._windows(part), self._template(part), self.tokenizer.pad_id, max(budget, self.limit)
        return call, part, *how

    def _hidden(self, padded: Padded, wanted: tuple[int, ...]) -> dict[int, torch.Tensor]:
        every = wanted != (self.layers,)
        output = self._forward(**self._inputs(padded), output_hidden_states=every)
        # The last layer is taken from where the model puts its result: some normalise once more after the blocks.
        return {
            layer: output.last_hidden_state if layer == self.layers else output.hidden_states[layer] for layer in wanted
        }

    def _inputs(self, padded: Padded) -> dict[str, torch.Tensor]:
        device = self.device
        inputs = {"input_ids": padded.ids.to(device), "attention_mask": padded.mask.to(device)}
        if self._types:
            inputs["token_type_ids"] = padded.types.to(device)
        return inputs

    def _batch(self, part: Tokens, rows: Ints, corpus: str, states: Any) -> Batch:
        if self.transform is not None and states is not None:
            states = self.transform.states(states)
        batch = Batch(corpus, rows, part, self.tokenizer, self.own, states, depth=self.layers)
        return batch if self.transform is None else self.transform.batch(batch)

    def _windows(self, tokens: Tokens) -> Any:
        return windows(tokens.lengths, tokens.split, self.limit, len(self._template(tokens)))

    def _template(self, tokens: Tokens) -> Any:
        return self.tokenizer.single if tokens.texts_b is None else self.tokenizer.pair

    def _positions(self) -> torch.nn.Module | None:
        for name, module in self.model.named_modules():
            if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
                return module
        return None

    def _blocks(self) -> torch.nn.ModuleList:
        for module in self.model.modules():
            if isinstance(module, torch.nn.ModuleList) and len(module) == self.layers:
                return module
        raise InputError(f"{self.name}: its layers share weights or are not a list, so no single one can be named")

    def _limit(self, max_length: int | None) -> int:
        positions = int(getattr(self.model.config, "max_position_embeddings", 0) or 0) or 10**9
        table = self._positions()
        if isinstance(table, torch.nn.Embedding):
            # RoBERTa and its kin begin to count after the padding index.
            offset = 0 if table.padding_idx is None else table.padding_idx + 1
            positions = min(positions, table.num_embeddings) - offset
        if max_length is not None:
            if not 8 <= max_length <= positions:
                raise InputError(f"--max-length {max_length}: {self.name} takes 8 to {positions} tokens")
            return max_length
        return min(positions, self.tokenizer.max_length, self.own.max_seq_length or positions)


def _probe(encoder: Encoder) -> Padded:
    from theodolite.encoder.forward import pad

    tokens = encoder.tokenise(["compile me", "and me too"])
    return pad(tokens, encoder._windows(tokens), encoder.tokenizer.single, encoder.tokenizer.pad_id)

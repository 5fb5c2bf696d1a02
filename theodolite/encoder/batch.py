"""What an encoder gives for a batch of texts, and what instruments look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theodolite.encoder.maps import Maps
from theodolite.encoder.pooling import OwnPooling
from theodolite.encoder.tokens import Tokenizer, Tokens, Words, flat_ranges
from theodolite.errors import InputError

if TYPE_CHECKING:
    import torch

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

POOLINGS = ("own", "cls", "mean", "max")


@dataclass(frozen=True)
class States:
    """Hidden states of a batch as flat rows, and where in them each token stands.

    layers: layer -> (rows, d); piece_at: (t,) row of each piece; before_at, between_at, after_at: (n, …) rows
    of the special tokens before a text, between the two of a pair, and after.
    """

    layers: Mapping[int, torch.Tensor]
    piece_at: torch.Tensor
    before_at: torch.Tensor
    between_at: torch.Tensor
    after_at: torch.Tensor

    def detached(self) -> States:
        """The same numbers, without the graph that made them."""
        return replace(self, layers={layer: rows.detach() for layer, rows in self.layers.items()})


@dataclass(frozen=True)
class Rounding:
    """A transform of one layer's pooled vectors: its name, and the pooling it was fitted on, where that is known."""

    name: str
    layer: int
    pooling: str | None
    module: Callable[[torch.Tensor], torch.Tensor]

    def fits(self, pooling: str) -> bool:
        """Whether vectors that were pooled in this way are of the space that it was fitted on."""
        return self.pooling in (None, pooling)

    def check(self, pooling: str) -> None:
        """Refuse vectors that were pooled in another way: their space is another one."""
        if not self.fits(pooling):
            raise InputError(
                f"--transform {self.name}: fitted on texts' vectors by pooling '{self.pooling}', and those by "
                f"'{pooling}' are asked for; fit one with --space token, or ask for --pooling {self.pooling}"
            )


@dataclass(frozen=True)
class Batch:
    """n texts of one corpus with what the pass asked for.

    rows: (n,) their rows in the corpus; tokens: their pieces; states: absent in a pass without a model;
    maps: their salience maps, in a pass that asks for them;
    depth: the model's last layer, from which negative layers count;
    rounding: what transforms the pooled vectors of a layer.
    """

    corpus: str
    rows: Ints
    tokens: Tokens
    tokenizer: Tokenizer
    own: OwnPooling
    states: States | None = None
    given: Floats | None = None
    columns: Mapping[str, NDArray[Any]] | None = None
    maps: Maps | None = None
    depth: int = 0
    rounding: Rounding | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def words(self) -> Words:
        """The words of the texts (see spec: whitespace words with edge punctuation split off)."""
        return self.tokenizer.words(self.tokens)

    @cached_property
    def pieces(self) -> Words:
        """The tokenizer's pieces as units."""
        return self.tokenizer.pieces(self.tokens)

    def units(self, unit: str) -> Words:
        """The words, or with ``token`` the pieces."""
        return self.words if unit == "word" else self.pieces

    def token_vectors(self, layer: int) -> Floats:
        """(t, d) vector of each piece at a layer, special tokens out."""
        return _array(self._layer(layer)[self._states.piece_at])

    def unit_vectors(self, layer: int, of: Words) -> Floats:
        """(w, d) mean of the vectors of each unit's pieces at a layer."""
        flat = _array(self._layer(layer))
        found: Floats = self._means(of, len(flat)) @ flat
        return found

    @cached_property
    def _matrices(self) -> dict[int, tuple[Words, Any]]:
        """The matrices of ``_means`` by their units, which are held so that none takes another's identity."""
        return {}

    def pooled(self, layer: int = -1, pooling: str = "own") -> Floats:
        """(n, d) one vector a text."""
        if self.given is not None:
            return self.given
        return _array(self.pooled_tensor(layer, pooling))

    def pooled_tensor(self, layer: int = -1, pooling: str = "own") -> torch.Tensor:
        """As ``pooled``, a torch tensor through which gradients flow."""
        vectors = self._pooled(layer, pooling)
        at = layer if layer >= 0 else self.depth + 1 + layer
        if self.rounding is None or self.rounding.layer != at:
            return vectors
        self.rounding.check(pooling)
        return self.rounding.module(vectors)

    def _pooled(self, layer: int, pooling: str) -> torch.Tensor:
        if pooling == "own":
            return self._own(layer)
        if pooling == "cls":
            return self._cls(layer)
        if pooling not in POOLINGS:
            raise InputError(f"pooling '{pooling}' is not one of {', '.join(POOLINGS)}")
        return self._bag(layer, self.tokens.bounds[:-1], self.tokens.lengths, pooling)

    def _means(self, of: Words, rows: int) -> Any:
        """(w, rows) sparse matrix that takes the mean of each unit's pieces.

        One thread's sparse product is a hundred times as fast here as torch's embedding_bag.
        """
        import scipy.sparse

        if id(of) not in self._matrices:
            lengths = of.stop - of.start
            at = self._states.piece_at.cpu().numpy()[flat_ranges(of.start, lengths)]
            share = np.repeat(1 / lengths, lengths).astype(np.float32)
            found = scipy.sparse.csr_array((share, at, np.append(0, np.cumsum(lengths))), shape=(len(of), rows))
            self._matrices[id(of)] = of, found
        return self._matrices[id(of)][1]

    @property
    def _states(self) -> States:
        if self.states is None:
            raise InputError("this needs an encoder's hidden states, and only embeddings were given")
        return self.states

    def _layer(self, layer: int) -> torch.Tensor:
        layers = self._states.layers
        return layers[layer if layer >= 0 else self.depth + 1 + layer]

    def _cls(self, layer: int) -> torch.Tensor:
        states = self._states
        first = states.before_at[:, 0] if states.before_at.shape[1] else states.piece_at[self.tokens.bounds[:-1]]
        return self._layer(layer)[first]

    def _bag(self, layer: int, starts: Ints, lengths: Ints, mode: str = "mean") -> torch.Tensor:
        import torch

        at = self._states.piece_at[torch.from_numpy(flat_ranges(starts, lengths))]
        offsets = torch.from_numpy(np.cumsum(lengths) - lengths).to(at.device)
        return torch.nn.functional.embedding_bag(at, self._layer(layer), offsets, mode=mode)

    def _own(self, layer: int) -> torch.Tensor:
        import torch

        states, first = self._states, self.tokens.split
        sides = np.stack([first, self.tokens.lengths - first], axis=1).ravel().tolist()
        pieces = torch.split(states.piece_at, sides)
        parted = (states.before_at, pieces[::2], states.between_at, pieces[1::2], states.after_at)
        whole = [torch.cat(p) for p in zip(*parted, strict=True)]
        sizes = torch.tensor([len(w) for w in whole])
        at, offsets = torch.cat(whole), torch.cumsum(sizes, 0) - sizes
        flat, device = self._layer(layer), states.piece_at.device
        parts = []
        for mode in self.own.modes:
            if mode == "cls":
                parts.append(self._cls(layer))
            elif mode == "last":
                parts.append(flat[torch.stack([w[-1] for w in whole])])
            elif mode in ("mean", "max"):
                parts.append(torch.nn.functional.embedding_bag(at, flat, offsets.to(device), mode=mode))
            else:
                weights = torch.cat([_token_weights(mode, len(w)) for w in whole]).to(flat)
                parts.append(
                    torch.nn.functional.embedding_bag(
                        at, flat, offsets.to(device), mode="sum", per_sample_weights=weights
                    )
                )
        vectors = torch.cat(parts, dim=1)
        for dense in self.own.dense:
            vectors = dense(vectors)
        return vectors


def _token_weights(mode: str, n: int) -> torch.Tensor:
    import torch

    if mode == "mean_sqrt_len":
        return torch.full((n,), n**-0.5)
    places = torch.arange(1, n + 1, dtype=torch.float32)
    return places / places.sum()


def _array(tensor: torch.Tensor) -> Floats:
    return np.ascontiguousarray(tensor.detach().float().cpu().numpy())

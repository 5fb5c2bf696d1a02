"""Fitted transformers as torch modules, by themselves and in a sentence-transformers pipeline.

The only file of this room that imports torch; the package does not import it by itself.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from theodolite.errors import InputError
from theodolite.rounding.base import Rounder
from theodolite.rounding.clusters import ClusterRemoval
from theodolite.rounding.plain import AllButTheTop, MeanRemoval, Unchanged, Whitening
from theodolite.rounding.saving import load, save

_FEATURES = {"sentence": "sentence_embedding", "token": "token_embeddings"}
_CONFIG = "config.json"


def as_module(transformer: Rounder) -> nn.Module:
    """A fitted transformer as a torch module on (…, d), differentiable in its input, with nothing to train.

    It computes in float32, or float64 for such an input, and gives back the input's number type. The numbers are the
    transformer's within rounding, but for a vector that lies, within rounding, as near to one cluster as to another.
    """
    check_is_fitted(transformer)
    if isinstance(transformer, Unchanged):
        return nn.Identity()
    if isinstance(transformer, ClusterRemoval):
        return _Clustered(transformer)
    if isinstance(transformer, MeanRemoval):
        return _Shared(mean=transformer.mean_)
    if isinstance(transformer, AllButTheTop):
        return _Shared(mean=transformer.mean_, directions=transformer.directions_)
    if isinstance(transformer, Whitening):
        return _Shared(mean=transformer.mean_, whitener=transformer.whitener_)
    raise InputError(f"{type(transformer).__name__} has no torch module; give one of theodolite's own transformers")


class PipelineRounding(nn.Module):
    """A fitted transformer as a module of a sentence-transformers pipeline, after pooling or before it.

    ``on``: ``"sentence"`` to act on the pooled embedding, ``"token"`` to act on the token embeddings, in which case it
    stands before the pooling module. ``SentenceTransformer(modules=[transformer, pooling, PipelineRounding(fitted)])``
    is saved and loaded like any other; since version 6 the library asks for ``trust_remote_code=True`` to load a class
    that is not its own.
    """

    # sentence-transformers asks no more of a module than this: forward, save, and load from a folder.

    def __init__(self, transformer: Rounder, on: str = "sentence") -> None:
        super().__init__()
        if on not in _FEATURES:
            raise InputError(f"on={on!r}: give 'sentence' (after pooling) or 'token' (before it)")
        self.transformer = transformer
        self.on = on
        self.rounding = as_module(transformer)

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        """The features with the sentence or token embeddings made rounder."""
        name = _FEATURES[self.on]
        if name not in features:
            raise InputError(f"there is no {name} yet for on={self.on!r}: put the module after the one that makes it")
        features[name] = self.rounding(features[name])
        return features

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Write the transformer and where it acts to a folder."""
        save(self.transformer, output_path, {"space": self.on})
        (Path(output_path) / _CONFIG).write_text(json.dumps(self.get_config_dict()), encoding="utf-8")

    @classmethod
    def load(cls, input_path: str) -> Self:
        """The module that ``save`` wrote."""
        try:
            config = json.loads((Path(input_path) / _CONFIG).read_text(encoding="utf-8"))
            on = config["on"]
        except (OSError, ValueError, LookupError, TypeError):
            raise InputError(f"{input_path}: {_CONFIG} is missing or damaged; save the pipeline again") from None
        return cls(load(input_path), on=on)

    def get_config_dict(self) -> dict[str, Any]:
        """Where it acts."""
        return {"on": self.on}

    def extra_repr(self) -> str:
        return f"method={self.transformer.method!r}, on={self.on!r}"


class _Rounding(nn.Module, ABC):
    """Shapes and number types; what is done to vectors (n, d) is the subclasses' business."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self._dim = dim

    def forward(self, vectors: Tensor) -> Tensor:
        if vectors.shape[-1] != self._dim:
            raise InputError(f"vectors of {vectors.shape[-1]} numbers, but the transform is of {self._dim}")
        kind = torch.promote_types(vectors.dtype, torch.float32)
        # Mixed precision would round the products to half the digits.
        with torch.autocast(vectors.device.type, enabled=False):
            return self.rounded(vectors.reshape(-1, self._dim).to(kind)).to(vectors.dtype).reshape(vectors.shape)

    @abstractmethod
    def rounded(self, vectors: Tensor) -> Tensor:
        """The transform of vectors (n, d)."""

    def hold(self, **arrays: Any) -> None:
        """Keep arrays with the module, wherever it is moved."""
        for name, array in arrays.items():
            self.register_buffer(name, torch.as_tensor(array, dtype=torch.float32))

    def held(self, name: str, like: Tensor) -> Tensor:
        """One of these arrays in the number type of another tensor."""
        found: Tensor = getattr(self, name)
        return found.to(like.dtype)


class _Shared(_Rounding):
    """The same for every vector: less the mean, then without the directions, or times the whitener."""

    def __init__(self, mean: Any, directions: Any = None, whitener: Any = None) -> None:
        super().__init__(len(mean))
        self._without, self._whitened = directions is not None, whitener is not None
        self.hold(mean=mean, **{"directions": directions} if self._without else {})
        self.hold(**{"whitener": whitener} if self._whitened else {})

    def rounded(self, vectors: Tensor) -> Tensor:
        off = vectors - self.held("mean", vectors)
        if self._without:
            directions = self.held("directions", vectors)
            return off - (off @ directions.T) @ directions
        return off @ self.held("whitener", vectors) if self._whitened else off


class _Clustered(_Rounding):
    """Less the mean of the vector's cluster, then without that cluster's directions."""

    def __init__(self, fitted: ClusterRemoval) -> None:
        super().__init__(len(fitted.middle_))
        off = fitted.centres_ - fitted.middle_
        if len(fitted.weights_):
            # The log of weight times density, as a quadratic form in the vector less the middle.
            linear, square = off / fitted.variances_, -0.5 / fitted.variances_
            constant = torch.as_tensor(fitted.weights_).log().numpy() + (off * off * square).sum(axis=1)
            constant -= 0.5 * torch.as_tensor(fitted.variances_).log().sum(dim=1).numpy()
            self.hold(square=square)
        else:
            linear, constant = off, -(off * off).sum(axis=1) / 2
        self._mixture = len(fitted.weights_) > 0
        self.hold(middle=fitted.middle_, linear=linear, constant=constant)
        self.hold(means=fitted.means_, directions=fitted.directions_)

    def rounded(self, vectors: Tensor) -> Tensor:
        labels = self.nearest(vectors.detach())
        off = vectors - self.held("means", vectors)[labels]
        directions = self.held("directions", vectors)
        if not directions.shape[1]:
            return off
        # The components along all clusters' directions, all but its own cluster's set to 0: no loop over clusters.
        flat = directions.flatten(0, 1)
        along = (off @ flat.T).view(-1, *directions.shape[:2])
        own = nn.functional.one_hot(labels, len(directions)).to(vectors.dtype)
        return off - (along * own[:, :, None]).flatten(1) @ flat

    def nearest(self, vectors: Tensor) -> Tensor:
        """The cluster (n,) of each vector."""
        off = vectors - self.held("middle", vectors)
        scores = off @ self.held("linear", vectors).T + self.held("constant", vectors)
        if self._mixture:
            scores = scores + off**2 @ self.held("square", vectors).T
        return scores.argmax(dim=1)

"""A space made rounder inside an encoder: a saved transform applied at its layer, whatever is asked then."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.encoder.batch import Batch, Rounding, States
from theodolite.errors import InputError
from theodolite.rounding.saving import load, manifest_of

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Transform:
    """A fitted transform, the layer it belongs to, and whether it acts on tokens' vectors or on texts'.

    pooling: how the texts' vectors that it was fitted on were made, where that is known.
    """

    name: str
    hash: str
    layer: int
    on: str
    pooling: str | None
    module: torch.nn.Module

    def states(self, states: States) -> States:
        """The states with this layer's rows made rounder, where tokens are what it was fitted on."""
        if self.on != "token" or self.layer not in states.layers:
            return states
        return replace(states, layers={**states.layers, self.layer: self.module(states.layers[self.layer])})

    def batch(self, batch: Batch) -> Batch:
        """The batch whose pooled vectors will be made rounder, where texts are what it was fitted on."""
        if self.on != "sentence":
            return batch
        return replace(batch, rounding=Rounding(self.name, self.layer, self.pooling, self.module))


def load_transform(folder: str | os.PathLike[str], encoder: Any) -> Transform:
    """A transform that ``theodolite isotropy fit`` saved, for the encoder that it was fitted with.

    One that was saved without saying where it was fitted is taken for the last layer's pooled vectors.
    """
    from theodolite.rounding.modules import as_module

    manifest = manifest_of(folder)
    about = manifest.get("about", {})
    on = "token" if about.get("space") in ("token", "word") else "sentence"
    dim, pooling = int(manifest["dim"]), about.get("pooling")
    if dim != encoder.dim:
        # Pooling of several modes, or a dense layer after it, makes texts' vectors wider or narrower than tokens'.
        if on == "token" or pooling not in (None, "own") or dim != encoder.embed(["a"]).shape[1]:
            raise InputError(f"--transform {folder}: made for vectors of {dim} numbers; these have {encoder.dim}")
        pooling = "own"
    if about.get("encoder_hash", encoder.hash) != encoder.hash:
        raise InputError(
            f"--transform {folder}: fitted with {about.get('encoder')}, not with {encoder.name}; fit another"
        )
    module = as_module(load(folder)).to(encoder.device)
    layer = int(about.get("layer", encoder.layers))
    said = f"{manifest['sha256']} {layer} {on}"
    return Transform(Path(folder).name, hashlib.sha256(said.encode()).hexdigest(), layer, on, pooling, module)

"""An encoder with weights drawn anew, as before any training."""

from __future__ import annotations

import copy
import hashlib

import torch

from theodolite.encoder.encoder import Encoder
from theodolite.errors import InputError


def randomised(encoder: Encoder, layers: int | None, seed: int) -> Encoder:
    """A copy of an encoder with weights drawn anew as before any training: all of them, or of the top ``layers`` only.

    The encoder itself is left as it is, and so is the process's random state; weights that stay are shared. A dense
    step that a folder has after pooling stays too. The top layers of a copy are those of the whole copy of that seed.
    """
    count = separate_layers(encoder)
    if layers is not None and not count:
        raise InputError(f"{encoder.name}: its layers share their weights, so these can only be drawn anew as a whole")
    if layers is not None and not 0 <= layers <= count:
        raise InputError(f"{layers} layers to be drawn anew: {encoder.name} has {count}")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        # Built as before a training: to set a loaded model's weights again would skip those marked as loaded.
        model = type(encoder.model)(copy.deepcopy(encoder.model.config))
    model.eval().requires_grad_(False).to(encoder.device)
    found = Encoder(encoder.folder, model, encoder.tokenizer)
    found.limit, found.transform = encoder.limit, encoder.transform
    which = "all" if layers is None else layers
    found.name = f"{encoder.name} ({which} layers drawn anew, seed {seed})"
    found.hash = hashlib.sha256(f"{encoder.hash} randomised {which} {seed}".encode()).hexdigest()
    if layers is not None:
        blocks = list(found._blocks())
        new = {id(weight) for block in blocks[len(blocks) - layers :] for weight in block.parameters()}
        drawn = dict(model.named_parameters(remove_duplicate=False))
        for name, weight in encoder.model.named_parameters(remove_duplicate=False):
            if id(drawn[name]) not in new:
                where, _, last = name.rpartition(".")
                setattr(model.get_submodule(where), last, weight)
    return found


def separate_layers(encoder: Encoder) -> int:
    """How many layers have weights of their own; 0 where they share them."""
    try:
        return len(encoder._blocks())
    except InputError:
        return 0

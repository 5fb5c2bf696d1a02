"""Weights and tokenizer from a folder, and the device they go to."""

from __future__ import annotations

from typing import Any

import torch

from theodolite.encoder.resolve import ModelFolder
from theodolite.errors import InputError


def load_model(folder: ModelFolder) -> tuple[Any, Any]:
    """The model, with its head where it is a classifier, and its tokenizer."""
    from transformers import AutoModel, AutoModelForSequenceClassification
    from transformers.utils import logging

    logging.disable_progress_bar()
    built = str((folder.config.get("architectures") or [""])[0])
    kind = AutoModelForSequenceClassification if built.endswith("ForSequenceClassification") else AutoModel
    try:
        loaded, found = kind.from_pretrained(
            folder.path, use_safetensors=True, trust_remote_code=False, dtype=torch.float32, output_loading_info=True
        )
        fast = load_tokenizer(folder)
    except Exception as fault:  # transformers raises many classes for a folder that is not a model
        reason = str(fault).strip().splitlines()[0][:160] if str(fault).strip() else type(fault).__name__
        raise InputError(f"{folder.name}: cannot be loaded as a text encoder: {reason}") from fault
    if not all(hasattr(loaded.config, k) for k in ("num_hidden_layers", "hidden_size")):
        raise InputError(f"{folder.name}: a {loaded.config.model_type} model; give a text encoder (BERT and its like)")
    # transformers would fill these with random numbers; only a classifier uses a pooler.
    unused = {"pooler"} if kind is AutoModel else set()
    missing = sorted(key for key in found["missing_keys"] if unused.isdisjoint(key.split(".")))
    if missing:
        raise InputError(f"{folder.name}: {len(missing)} of its weights are not in the file, such as {missing[0]}")
    return loaded, fast


def load_tokenizer(folder: ModelFolder) -> Any:
    """The tokenizer alone."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder.path, trust_remote_code=False)


def device_of(name: str | None) -> torch.device:
    """The device of that name, or the fastest there is."""
    if name is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    kind = name.split(":")[0]
    if kind not in there:
        raise InputError(f"--device {name}: not one of cpu, cuda, mps")
    if not there[kind]:
        raise InputError(f"--device {name}: not available on this machine")
    try:
        found = torch.device(name)
    except RuntimeError:
        raise InputError(f"--device {name}: not a device; write cpu, cuda, cuda:1 or mps") from None
    count = torch.cuda.device_count() if kind == "cuda" else 1
    if found.index is not None and found.index >= count:
        last = f" to {kind}:{count - 1}" if count > 1 else ""
        raise InputError(f"--device {name}: there is no such one on this machine; it has {kind}:0{last}")
    return found

"""Fitted transformers on disk: a folder with the arrays and a manifest that says what they are."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import secrets
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load as from_bytes
from safetensors.numpy import save as to_bytes
from sklearn.utils.validation import check_is_fitted

from theodolite.errors import InputError
from theodolite.rounding.base import Rounder
from theodolite.rounding.clusters import ClusterRemoval
from theodolite.rounding.plain import AllButTheTop, MeanRemoval, Unchanged, Whitening

TENSORS, MANIFEST = "transform.safetensors", "manifest.json"
_FORMAT = "theodolite rounding 1"
_NOT_VECTORS = {"rank_", "sizes_", "weights_"}
_CLASSES: Mapping[str, type[Rounder]] = {
    kind.__name__: kind for kind in (Unchanged, MeanRemoval, AllButTheTop, Whitening, ClusterRemoval)
}


def save(transformer: Rounder, folder: str | os.PathLike[str], about: Mapping[str, Any] | None = None) -> Path:
    """Write a fitted transformer to a folder; ``about`` says what it was fitted on, in JSON's own types.

    Each file is written under a temporary name and renamed, the manifest last: with the arrays of another transform it
    is refused on loading.
    """
    check_is_fitted(transformer)
    tensors = to_bytes({name: getattr(transformer, name) for name in transformer.saved})
    manifest = {
        "format": _FORMAT,
        "transformer": type(transformer).__name__,
        "method": transformer.method,
        "parameters": {name: _plain(value) for name, value in transformer.get_params().items()},
        "dim": int(transformer.n_features_in_),
        "notes": transformer.notes(),
        "about": dict(about or {}),
        "sha256": hashlib.sha256(tensors).hexdigest(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("theodolite", "numpy", "scipy", "scikit-learn")},
        },
    }
    place = Path(folder)
    try:
        text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    except (TypeError, ValueError) as fault:
        raise InputError(
            f"what the transform is about cannot be written as JSON ({fault}); give plain values"
        ) from None
    try:
        place.mkdir(parents=True, exist_ok=True)
        _write(place / TENSORS, tensors)
        _write(place / MANIFEST, text.encode())
    except OSError as fault:
        raise InputError(f"{place}: the transform cannot be written there ({fault.strerror})") from fault
    return place


def manifest_of(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What ``save`` wrote beside the arrays: method, parameters, dim, about."""
    place = Path(folder)
    try:
        manifest = json.loads((place / MANIFEST).read_bytes())
    except OSError as fault:
        raise InputError(
            f"{place}: no saved transform can be read there ({fault.strerror}: {fault.filename})"
        ) from None
    except ValueError:
        raise InputError(f"{place}: {MANIFEST} is damaged, or another program's; save the transform again") from None
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise InputError(f"{place}: not a transform of theodolite's; give a folder that was saved as one")
    return manifest


def load(folder: str | os.PathLike[str]) -> Rounder:
    """The transformer that ``save`` wrote to a folder; it transforms to the same bits."""
    place, manifest = Path(folder), manifest_of(folder)
    try:
        tensors = (place / TENSORS).read_bytes()
    except OSError as fault:
        raise InputError(
            f"{place}: no saved transform can be read there ({fault.strerror}: {fault.filename})"
        ) from None
    if hashlib.sha256(tensors).hexdigest() != manifest.get("sha256"):
        raise InputError(f"{place}: {TENSORS} is damaged, or of another transform; save it again")
    try:
        kind, dim, arrays = _CLASSES[manifest["transformer"]], int(manifest["dim"]), from_bytes(tensors)
        made = kind(**manifest["parameters"])
        for name in kind.saved:
            if name not in _NOT_VECTORS and arrays[name].shape[-1] != dim:
                raise ValueError(f"{name} is not of {dim} dimensions")
            setattr(made, name, arrays[name])
        made.n_features_in_ = dim
    except (LookupError, TypeError, ValueError, SafetensorError) as fault:
        raise InputError(f"{place}: the saved transform is damaged ({fault}); save it again") from None
    return made


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)

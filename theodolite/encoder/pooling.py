"""How token vectors become one vector a text, as a sentence-transformers folder declares it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.encoder.resolve import ModelFolder
from theodolite.errors import InputError

if TYPE_CHECKING:
    import torch

# The name of each mode in our words; a folder may declare several, which are concatenated.
_MODES = {
    "cls": "cls",
    "cls_token": "cls",
    "lasttoken": "last",
    "max": "max",
    "max_tokens": "max",
    "mean": "mean",
    "mean_tokens": "mean",
    "mean_sqrt_len_tokens": "mean_sqrt_len",
    "weightedmean": "weighted_mean",
    "weightedmean_tokens": "weighted_mean",
}
_IGNORED = {"Normalize", "Dropout"}


@dataclass(frozen=True)
class OwnPooling:
    """The pooling that a folder declares: its modes, whether special tokens count, and dense layers after it."""

    modes: tuple[str, ...]
    declared: bool
    dense: tuple[Dense, ...] = ()
    max_seq_length: int | None = None


@dataclass(frozen=True)
class Dense:
    """A linear layer with its activation, applied after pooling (LaBSE and its like)."""

    path: Path
    activation: str

    def __call__(self, vectors: torch.Tensor) -> torch.Tensor:
        """(n, in) to (n, out)."""
        import torch
        from safetensors.torch import load_file

        weights = load_file(self.path / "model.safetensors", device=str(vectors.device))
        out = torch.nn.functional.linear(vectors, weights["linear.weight"], weights.get("linear.bias"))
        return out if self.activation == "Identity" else getattr(torch.nn, self.activation)()(out)


def own_pooling(folder: ModelFolder) -> OwnPooling:
    """What a folder declares; a plain transformers folder declares nothing and gets its CLS vector."""
    modules: list[dict[str, Any]] | None = folder.json("modules.json")
    if modules is None:
        return OwnPooling(("cls",), declared=False)
    modes: tuple[str, ...] = ()
    dense = []
    for module in modules:
        kind, where = module["type"].rsplit(".", 1)[-1], module.get("path", "")
        if kind == "Pooling":
            modes = _modes(folder, folder.json(f"{where}/config.json") or {})
        elif kind == "Dense":
            config = folder.json(f"{where}/config.json") or {}
            activation = str(config.get("activation_function", "Identity")).rsplit(".", 1)[-1]
            dense.append(Dense(folder.path / where, activation))
        elif kind not in _IGNORED | {"Transformer"}:
            raise InputError(f"{folder.name}: its modules.json has a step '{kind}' that is not known here")
    settings = folder.json("sentence_bert_config.json") or {}
    return OwnPooling(modes or ("cls",), bool(modes), tuple(dense), settings.get("max_seq_length"))


def _modes(folder: ModelFolder, config: dict[str, Any]) -> tuple[str, ...]:
    named = config.get("pooling_mode")
    if named:
        names = [named] if isinstance(named, str) else list(named)
    else:
        names = [k.removeprefix("pooling_mode_") for k, on in config.items() if k.startswith("pooling_mode_") and on]
    unknown = [n for n in names if n not in _MODES]
    if unknown:
        raise InputError(f"{folder.name}: its pooling mode '{unknown[0]}' is not known here")
    return tuple(_MODES[n] for n in names)

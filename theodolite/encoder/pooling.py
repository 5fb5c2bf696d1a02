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
# The order in which a folder with a yes or no for each mode has them concatenated.
_ORDER = ("cls", "max", "mean", "mean_sqrt_len", "weighted_mean", "last")
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
            dense.append(_dense(folder, where))
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
    modes = [_MODES[n] for n in names or ["mean"]]
    return tuple(modes if named else sorted(modes, key=_ORDER.index))


def _dense(folder: ModelFolder, where: str) -> Dense:
    import torch

    config = folder.json(f"{where}/config.json") or {}
    activation = str(config.get("activation_function", "Identity")).rsplit(".", 1)[-1]
    plain = (
        not config.get("use_residual") and config.get("module_input_name", "sentence_embedding") == "sentence_embedding"
    )
    if not plain or not hasattr(torch.nn, activation):
        raise InputError(f"{folder.name}: its {where} is a Dense step of a kind that is not known here")
    if not (folder.path / where / "model.safetensors").exists():
        raise InputError(f"{folder.name}: its {where} has no model.safetensors, and only safetensors are read")
    return Dense(folder.path / where, activation)

"""An encoder under a language-model head: its own where the folder has one, else a new one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from theodolite.encoder.encoder import Encoder
from theodolite.encoder.loading import load_model
from theodolite.encoder.resolve import ModelFolder
from theodolite.encoder.tokens import Tokenizer
from theodolite.errors import InputError
from theodolite.train.batches import Batch
from theodolite.train.labels import Ints


@dataclass(frozen=True)
class LanguageModel:
    """whole: the model with its head; encoder: what is below the head, the same weights; tokenizer: as transformers
    knows it; head: 'own' where the folder had one, 'new' where it was made.
    """

    whole: Any
    encoder: Encoder
    tokenizer: Any
    head: str

    def expect(self, counts: Ints) -> None:
        """Have a new head begin with how often each piece (v,) occurs, as its bias; one that was there stays.

        A bias learns slowly: the encoder would turn all vectors towards the frequent pieces first, and so make all
        texts alike.
        """
        bias = getattr(self.whole.get_output_embeddings(), "bias", None)
        if self.head == "new" and bias is not None and len(bias) == len(counts):
            with torch.no_grad():
                bias.copy_(torch.from_numpy(np.log(counts / counts.sum())))

    def piece_losses(self, inputs: Batch) -> torch.Tensor:
        """(m,) cross entropy of guessing each of the m chosen pieces.

        inputs: what the model is called with, and (B, T) each: ``chosen``, whether a piece has to be guessed, and
        ``targets``, the ids that were there.
        """
        called = {name: values for name, values in inputs.items() if name not in ("chosen", "targets")}
        with _only_at(self.encoder.model, inputs["chosen"]):
            logits = self.whole(**called, return_dict=True).logits[0]
        return cross_entropy(logits, inputs["targets"][inputs["chosen"]], reduction="none")


@contextmanager
def _only_at(base: Any, chosen: torch.Tensor) -> Iterator[None]:
    """Within it, the head gets the vectors of the chosen tokens (B, T) alone, as one row.

    A small model's head has more to multiply than its layers: most of a step would go into logits nobody asks for.
    """

    def pick(_module: Any, _inputs: Any, output: Any) -> Any:
        output["last_hidden_state"] = output.last_hidden_state[chosen][None]
        return output

    hook = base.register_forward_hook(pick)
    try:
        yield
    finally:
        hook.remove()


def language_model(folder: ModelFolder, max_length: int | None, seed: int) -> LanguageModel:
    """Load an encoder under a language-model head; what the folder has not (head, pooler) is made under the seed."""
    from transformers import MODEL_FOR_MASKED_LM_MAPPING, AutoConfig, AutoModelForMaskedLM, set_seed

    set_seed(seed)
    # Not the encoder of the model with a head: that one has no pooler, and the folder may have.
    loaded, fast = load_model(folder)
    base = loaded.base_model
    if type(AutoConfig.from_pretrained(folder.path, trust_remote_code=False)) not in MODEL_FOR_MASKED_LM_MAPPING:
        raise InputError(
            f"{folder.name}: a {base.config.model_type} model, of which there is no masked language model; give a "
            "BERT, RoBERTa, DistilBERT, MPNet, ELECTRA, ALBERT or the like"
        )
    set_seed(seed)
    whole, found = AutoModelForMaskedLM.from_pretrained(
        folder.path, use_safetensors=True, trust_remote_code=False, dtype=torch.float32, output_loading_info=True
    )
    prefix = whole.base_model_prefix
    new = any(not name.startswith(f"{prefix}.") for name in found["missing_keys"])
    setattr(whole, prefix, base)
    whole.tie_weights(recompute_mapping=False)
    encoder = Encoder(folder, base, Tokenizer(fast, folder.name), max_length)
    return LanguageModel(whole, encoder, fast, "new" if new else "own")

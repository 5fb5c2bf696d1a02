"""A classifier whose head is given rounder CLS vectors: put in for training, saved beside the weights, loaded back.

Between the last layer and the head; where a model has a pooler, before it, since what the last layer gives is the
representation and the pooler a layer of the head's.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from theodolite.encoder.classifier import Classifier
from theodolite.encoder.encoder import Encoder
from theodolite.errors import InputError
from theodolite.train.batch_rounding import BatchRounding, clusters_of

FILE = "rounding.safetensors"
NOTE = (
    "\n## Rounded in training\n\nThe CLS vectors of each batch were made rounder before the head, which needs them so: "
    f"`{FILE}` has the running statistics, and `theodolite.train.rounded.load_rounded` puts them to use. transformers "
    "alone loads the weights without them, and its answers are not this model's.\n"
)

_NAME = "batch_rounding"
_TAKES_CLS = ("pooler", "pre_classifier", "head", "classifier")


def put_in(classifier: Classifier, batch_size: int) -> BatchRounding:
    """Round the CLS vectors that the classifier's head is given, in clusters for batches of that size.

    The module becomes a part of the model, so that checkpoints hold its running statistics.
    """
    return _install(classifier, BatchRounding(classifier.dim, clusters_of(batch_size)))


def take_out(classifier: Classifier) -> bytes:
    """Undo ``put_in``; the running statistics as the content of a safetensors file."""
    rounding = rounding_of(classifier)
    rounding.hook.remove()
    delattr(classifier._head, _NAME)
    return bytes(to_bytes({name: values.cpu() for name, values in rounding.state_dict().items()}))


def rounding_of(classifier: Classifier) -> Any:
    """What rounds the CLS vectors of a classifier."""
    return getattr(classifier._head, _NAME)


def rounded(classifier: Classifier, vectors: NDArray[Any]) -> NDArray[Any]:
    """CLS vectors (n, d) of the last layer as the head of a classifier that was loaded is given them."""
    with torch.inference_mode():
        found: NDArray[Any] = rounding_of(classifier)(torch.from_numpy(vectors).to(classifier.device)).cpu().numpy()
    return found


def load_rounded(folder: str | os.PathLike[str], *, device: str | None = None) -> Classifier:
    """A classifier that was trained with ``rounded=True``; its hidden states are those before the rounding."""
    found = Encoder.load(folder, device=device)
    try:
        buffers = from_bytes((found.folder.path / FILE).read_bytes())
        clusters, dim = buffers["means"].shape
        rounding = BatchRounding(dim, clusters)
        rounding.load_state_dict(buffers)
        if not isinstance(found, Classifier) or dim != found.dim:
            raise ValueError("of another model")
    except FileNotFoundError:
        raise InputError(f"{found.name}: has no {FILE}: it was not trained with rounded=True") from None
    except (OSError, LookupError, ValueError, RuntimeError, SafetensorError) as fault:
        reason = str(fault).splitlines()[0]
        raise InputError(f"{found.name}: {FILE} is damaged ({reason}); train again") from None
    _install(found, rounding)
    found._head.eval()
    return found


def _install(classifier: Classifier, rounding: BatchRounding) -> BatchRounding:
    model = classifier._head
    place = _takes_cls(classifier)

    def before_head(_module: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        hidden = inputs[0]
        if hidden.ndim == 2:
            return (rounding(hidden), *inputs[1:])
        return (torch.cat([rounding(hidden[:, 0])[:, None], hidden[:, 1:]], dim=1), *inputs[1:])

    rounding.hook = place.register_forward_pre_hook(before_head)
    model.add_module(_NAME, rounding.to(classifier.device))
    return rounding


def _takes_cls(classifier: Classifier) -> nn.Module:
    """The module that is given the last layer's states, or the first vector of them, and looks at nothing else.

    Told by trying: families name and build their heads differently, and some pool other than by CLS.
    """
    model, base = classifier._head, classifier.model
    places = [getattr(base, "pooler", None), *(getattr(model, name, None) for name in _TAKES_CLS)]
    ids = torch.tensor([[5, 6, 7], [8, 9, 10]], device=classifier.device)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            states, answers = base(**inputs).last_hidden_state, model(**inputs).logits
            for place in (p for p in places if isinstance(p, nn.Module)):
                given: list[Tensor] = []

                def first_alone(_module: nn.Module, args: tuple[Any, ...], given: list[Tensor] = given) -> Any:
                    if not args or not isinstance(args[0], Tensor):
                        return None
                    given.append(args[0])
                    hidden = args[0].clone()
                    if hidden.ndim == 3:
                        hidden[:, 1:] = 0
                    return (hidden, *args[1:])

                hook = place.register_forward_pre_hook(first_alone)
                try:
                    alone = model(**inputs).logits
                finally:
                    hook.remove()
                if given and torch.equal(alone, answers) and any(torch.equal(given[0], s) for s in _shapes(states)):
                    return place
    finally:
        model.train(training)
    raise InputError(
        f"{classifier.name}: it cannot be told where its head takes the CLS vector ({model.config.model_type}); "
        "train it plainly, or give a model such as BERT, RoBERTa, DistilBERT or DeBERTa"
    )


def _shapes(states: Tensor) -> tuple[Tensor, Tensor]:
    return states, states[:, 0]

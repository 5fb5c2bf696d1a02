"""Salience maps of a trained classifier: against its forward pass, captum, and transformers-interpret.

The maps of 100,000 texts, which need no model, are in `salience_maps`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.rnn import pad_sequence

from benchmarks import machine, salience_maps
from benchmarks.passes import tuned_budget
from benchmarks.row import Row
from benchmarks.settings import Settings
from benchmarks.texts import mixed
from theodolite.corpus import Corpus
from theodolite.encoder.classifier import Classifier
from theodolite.encoder.encoder import DEFAULT_BUDGET, Encoder
from theodolite.encoder.maps import GRAD_L2, INTEGRATED, Layout, Question
from theodolite.encoder.tokens import Tokens
from theodolite.train.classifier import Training, train_classifier

# transformers-interpret's own number.
STEPS = 50
# As in the specification: the change of the answer that the completeness error is a share of, where it is smaller.
LEAST_CHANGE = 0.01
Weights = NDArray[np.float32]


def run(settings: Settings) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="theodolite-bench-") as folder:
        classifier = trained(settings, Path(folder))
        peer = _as_transformers_loads_it(classifier)
        yield from _gradients(settings, classifier, peer)
        yield _integrated(settings, classifier, peer)
    yield from salience_maps.run(settings)


def trained(settings: Settings, folder: Path) -> Classifier:
    """The default model after one epoch of a few SST-2 texts: no longer a head of random numbers."""
    source = f"{settings.data}/sst2/train.tsv.gz?text=sentence&label=label"
    corpus = Corpus.read(source, limit=settings.size(400, 100), cache=folder)
    training = Training(epochs=1, learning_rate=3e-4, batch_size=8, evaluations=1)
    train_classifier("all-MiniLM-L6-v2", corpus, folder / "model", training, device="cpu")
    classifier = Encoder.load(folder / "model", device="cpu")
    assert isinstance(classifier, Classifier)
    return classifier


def _as_transformers_loads_it(classifier: Classifier) -> Any:
    """The same weights, frozen as ours are."""
    from transformers import AutoModelForSequenceClassification

    return AutoModelForSequenceClassification.from_pretrained(classifier.folder.path).eval().requires_grad_(False)


def _gradients(settings: Settings, classifier: Classifier, peer: Any) -> Iterator[Row]:
    tokens = classifier.tokenise(mixed(settings.data, classifier, settings.size(1000, 40)))
    ids, rounds, budget = _ids(classifier, tokens), settings.size(5, 1), tuned_budget(classifier, tokens)
    question = Question((GRAD_L2,))
    _check_gradients(_maps(classifier, tokens, question, budget)[0], _captum_grad_l2(peer, ids, 32))

    def ours() -> None:
        for _batch in classifier.map_batches(tokens, question, budget=budget):
            pass

    times = machine.ratio(ours, lambda: classifier.answers(tokens, budget=budget), rounds)
    note = f"{len(tokens):,} texts of mixed length, budget {budget}"
    yield Row("grad-l2 / forward pass, time", times, at_most=2.5, note=note)
    ways = ((32, 1.5, "unsorted batches of 32, padded to the longest"), (1, None, "one text at a time"))
    for size, least, way in ways:
        faster = machine.ratio(partial(_captum_grad_l2, peer, ids, size), ours, rounds)
        how = f"{note}; captum's Saliency of the largest logit, so that it need not predict first"
        yield Row(f"grad-l2 / captum, {way}, speed", faster, at_least=least, note=how)


def _integrated(settings: Settings, classifier: Classifier, peer: Any) -> Row:
    """Of the predicted class's probability, as there; tokenising is in the time of ours."""
    texts = mixed(settings.data, classifier, settings.size(200, 5))
    tokens = classifier.tokenise(texts)
    ids = _ids(classifier, tokens)
    question = Question((INTEGRATED,), of="probability")
    weights, errors = _maps(classifier, tokens, question, DEFAULT_BUDGET)
    theirs = [_fifty_steps(classifier, peer, one) for one in ids]
    _check_integrated(weights, [found for found, _ in theirs])

    def ours() -> None:
        for _batch in classifier.map_batches(classifier.tokenise(texts), question):
            pass

    explain, named = _interpreter(classifier, peer)
    faster = machine.ratio(lambda: [explain(i) for i in zip(texts, ids, strict=True)], ours, settings.size(3, 1))
    spread = f"ours {_told(errors)}, {STEPS} steps of captum {_told([error for _, error in theirs])}"
    note = f"{len(texts)} texts; {named}; completeness error: {spread}"
    return Row("integrated gradients / transformers-interpret, speed", faster, at_least=2.5, note=note)


def _ids(classifier: Classifier, tokens: Tokens) -> list[torch.Tensor]:
    """Each text's ids (t,), special tokens in their places."""
    layout = Layout.of(tokens, classifier.tokenizer.single)
    return list(torch.split(torch.from_numpy(layout.ids), np.diff(layout.bounds).tolist()))


def _maps(classifier: Classifier, tokens: Tokens, question: Question, budget: int) -> tuple[list[Weights], list[float]]:
    """Each text's weights (t,) by the question's one method, and its completeness error."""
    weights, errors = [np.empty(0, np.float32)] * len(tokens), np.zeros(len(tokens))
    for batch in classifier.map_batches(tokens, question, budget=budget):
        assert batch.maps is not None
        errors[batch.rows] = batch.maps.error
        parts = np.split(batch.maps.weights[question.methods[0]], batch.maps.layout.bounds[1:-1])
        for row, part in zip(batch.rows.tolist(), parts, strict=True):
            weights[row] = part
    return weights, errors.tolist()


def _captum_grad_l2(peer: Any, ids: list[torch.Tensor], size: int) -> list[Weights]:
    """Norms (t,) of each text's gradients, in batches of ``size`` texts as they come."""
    from captum.attr import Saliency

    def largest_logit(embedded: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = peer(inputs_embeds=embedded, attention_mask=mask).logits.max(dim=1).values
        return found

    saliency, embed, weights = Saliency(largest_logit), peer.get_input_embeddings(), []
    for start in range(0, len(ids), size):
        part = ids[start : start + size]
        padded = pad_sequence(part, batch_first=True, padding_value=peer.config.pad_token_id)
        mask = pad_sequence([torch.ones_like(one) for one in part], batch_first=True)
        inputs = embed(padded).requires_grad_()
        norms = saliency.attribute(inputs, abs=False, additional_forward_args=(mask,)).norm(dim=2).numpy()
        weights += [row[: len(one)] for row, one in zip(norms, part, strict=True)]
    return weights


def _fifty_steps(classifier: Classifier, peer: Any, ids: torch.Tensor) -> tuple[Weights, float]:
    """transformers-interpret's default for one text (t,), in captum's words: weights (t,) and completeness error.

    It predicts, then asks for layer integrated gradients of the predicted class's probability, always with the
    convergence delta. Left out are two slips of its own: SEP is of the second text, the base's positions are all 0.
    """
    from captum.attr import LayerIntegratedGradients

    text = ids[None]
    base = torch.full_like(text, classifier.tokenizer.pad_id)
    base[:, [0, -1]] = text[:, [0, -1]]
    predicted = int(peer(text).logits.argmax())

    def probability(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = peer(input_ids=ids, attention_mask=mask).logits.softmax(dim=1)[:, predicted]
        return found

    found, delta = LayerIntegratedGradients(probability, peer.get_input_embeddings()).attribute(
        text,
        base,
        additional_forward_args=(torch.ones_like(text),),
        n_steps=STEPS,
        return_convergence_delta=True,
    )
    change = float(found.sum()) - float(delta)
    weights: Weights = found.sum(dim=-1)[0].detach().numpy().astype(np.float32)
    return weights, abs(float(delta)) / max(abs(change), LEAST_CHANGE)


def _interpreter(classifier: Classifier, peer: Any) -> tuple[Callable[[tuple[str, torch.Tensor]], object], str]:
    """What explains a text, given with its ids, and its name: the package where it is installed.

    It is no dependency of the benchmarks: it wants an IPython older than 8.
    """
    if find_spec("transformers_interpret") is None:
        own = "its default written out with captum (not installed)"
        return lambda given: _fifty_steps(classifier, peer, given[1]), own
    from transformers import AutoTokenizer

    package = import_module("transformers_interpret")
    explainer = package.SequenceClassificationExplainer(peer, AutoTokenizer.from_pretrained(classifier.folder.path))
    return lambda given: explainer(given[0]), "the package, with its defaults"


def _told(errors: list[float]) -> str:
    return f"median {median(errors):.3%}, {np.mean(np.array(errors) < 0.01):.1%} under 1%"


def _check_gradients(ours: list[Weights], theirs: list[Weights]) -> None:
    """Both must have done the same work."""
    worst = max(float(np.abs(a - b).max() / b.max()) for a, b in zip(ours, theirs, strict=True))
    if worst > 1e-3:
        raise RuntimeError(f"grad-l2 differs from captum's by {worst:.2%} of a text's largest: nothing to compare")


def _check_integrated(ours: list[Weights], theirs: list[Weights]) -> None:
    """Neither is exact: what is asked is that the two come out alike for nearly every text."""
    off = [float(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in zip(ours, theirs, strict=True)]
    if median(off) > 0.02:
        raise RuntimeError(f"integrated gradients differ from captum's by {median(off):.1%}: nothing to compare")

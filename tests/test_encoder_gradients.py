"""Gradients of the real models against captum, hand-made embeddings and finite differences."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
import torch
from captum.attr import Saliency
from numpy.testing import assert_allclose

close = partial(assert_allclose, rtol=0, atol=1e-5)

WORDS = "the heron waits in cold unaffable water while boats with 12 loud engines pass, it’s said… 😀 naïve".split()
TEXTS = [" ".join(WORDS[i % 5 :: 1 + i % 3][: 1 + i]) + "." * (i % 2) for i in range(30)]
DIRECTION = np.random.default_rng(0).normal(size=384).astype(np.float32)

OBJECTIVES = {
    "component": lambda v: v[:, 7],
    "norm": lambda v: v.norm(dim=1),
    "cosine": lambda v: torch.cosine_similarity(v, torch.from_numpy(DIRECTION[: v.shape[1]])[None]),
}


def reference(encoder, text, objective):
    """Embedding and gradient of each piece by captum, one text at a time, through ``inputs_embeds``."""
    tables = encoder.model.embeddings
    ids = torch.tensor([encoder.tokenizer._backend.encode(text).ids])
    words = tables.word_embeddings.weight[ids]

    def forward(embeds):
        states = encoder.model(inputs_embeds=embeds, attention_mask=torch.ones_like(ids)).last_hidden_state
        return objective(states[:, 1:-1].mean(dim=1))

    gradient = Saliency(forward).attribute(words.clone().requires_grad_(), abs=False)
    embedding = words + tables.position_embeddings.weight[: ids.shape[1]]
    with torch.no_grad():
        value = float(forward(words))
    return embedding[0, 1:-1].numpy(), gradient[0, 1:-1].detach().numpy(), value


@pytest.mark.parametrize("name", ["minilm", "xtremedistil"])
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_gradients_equal_captum(request, name, kind):
    encoder, objective = request.getfixturevalue(name), OBJECTIVES[kind]
    texts = TEXTS if (name, kind) == ("minilm", "norm") else TEXTS[::4]
    expected = [reference(encoder, text, objective) for text in texts]
    for budget in (48, 1024):
        found = encoder.gradients(texts, lambda b: objective(b.pooled_tensor(-1, "mean")), budget=budget)
        for ours, (embedding, gradient, value) in zip(found, expected, strict=True):
            close(ours.embedding, embedding)
            close(ours.gradient, gradient)
            assert ours.value == pytest.approx(value, abs=1e-5)
            assert np.abs(gradient).max() > 1e-4


def test_gradients_of_inner_layers_and_of_pairs(minilm):
    text, text_b = TEXTS[8], TEXTS[11]
    (inner,) = minilm.gradients([text], lambda b: b.pooled_tensor(-3, "max").sum(dim=1), layers=[-3])
    coded = minilm.tokenizer._backend.encode(text)
    ids = torch.tensor([coded.ids])
    words = minilm.model.embeddings.word_embeddings.weight[ids].clone().requires_grad_()
    states = minilm.model(inputs_embeds=words, output_hidden_states=True).hidden_states[4]
    (expected,) = torch.autograd.grad(states[0, 1:-1].max(dim=0).values.sum(), words)
    close(inner.gradient, expected[0, 1:-1].numpy())

    (pair,) = minilm.gradients([text], lambda b: b.pooled_tensor(-1, "own").norm(dim=1), [text_b])
    coded = minilm.tokenizer._backend.encode(text, text_b)
    words = minilm.model.embeddings.word_embeddings.weight[torch.tensor([coded.ids])].clone().requires_grad_()
    states = minilm.model(inputs_embeds=words, token_type_ids=torch.tensor([coded.type_ids])).last_hidden_state
    (expected,) = torch.autograd.grad(states[0].mean(dim=0).norm(), words)
    close(pair.gradient, expected[0].numpy()[np.array(coded.special_tokens_mask) == 0])


def test_gradients_of_a_windowed_text_equal_finite_differences(minilm):
    """A piece acts in each of its windows, so its word embedding is moved in all of them."""
    words = [f"w{i}" for i in range(200)]
    text = " ".join(words)
    tokens = minilm.tokenise([text])
    assert minilm.window_counts(tokens)[0] > 2
    objective = OBJECTIVES["norm"]
    (found,) = minilm.gradients([text], lambda b: objective(b.pooled_tensor(-1, "mean")), budget=16)
    (again,) = minilm.gradients([text], lambda b: objective(b.pooled_tensor(-1, "mean")), budget=4096)
    close(found.gradient, again.gradient)
    ids, counts = np.unique(tokens.ids, return_counts=True)
    once = np.flatnonzero(np.isin(tokens.ids, ids[counts == 1]))
    in_two = once[(once >= 128) & (once < 254)]
    in_one = once[once < 128]
    assert len(in_one) and len(in_two)
    for piece in (in_one[-1], in_two[0]):
        coordinate = int(np.abs(found.gradient[piece]).argmax())
        id_, moved = int(tokens.ids[piece]), []
        for step in (0.05, -0.05):

            def move(_module, inputs, output, step=step, id_=id_, coordinate=coordinate):
                output = output.clone()
                output[..., coordinate] += step * (inputs[0] == id_)
                return output

            hook = minilm.model.get_input_embeddings().register_forward_hook(move)
            try:
                moved.append(np.linalg.norm(minilm.embed([text], pooling="mean")[0].astype(np.float64)))
            finally:
                hook.remove()
        slope = (moved[0] - moved[1]) / 0.1
        assert slope == pytest.approx(found.gradient[piece, coordinate], rel=0.02)


def test_the_embedding_of_a_windowed_text_is_the_mean_over_its_windows(minilm):
    text = " ".join(WORDS * 20)
    tokens = minilm.tokenise([text])
    (found,) = minilm.gradients([text], lambda b: b.pooled_tensor()[:, 0])
    tables = minilm.model.embeddings
    words = tables.word_embeddings.weight[torch.from_numpy(tokens.ids)].numpy()
    places = tables.position_embeddings.weight.numpy()
    close(found.embedding[5], words[5] + places[6])
    close(found.embedding[130], words[130] + (places[131] + places[3]) / 2)


def test_weights_stay_frozen_and_nothing_is_left_behind(minilm):
    before = {n: p.clone() for n, p in minilm.model.named_parameters()}
    hooks = len(minilm.model.get_input_embeddings()._forward_hooks)
    minilm.gradients(TEXTS[:3], lambda b: b.pooled_tensor().sum(dim=1))
    with pytest.raises(ZeroDivisionError):
        minilm.gradients(TEXTS[:3], lambda b: 1 / 0)
    for name, weight in minilm.model.named_parameters():
        assert not weight.requires_grad and weight.grad is None
        assert torch.equal(weight, before[name])
    assert len(minilm.model.get_input_embeddings()._forward_hooks) == hooks


@contextmanager
def calls_seen(encoder):
    """Of every forward call: whether it made a graph, and its places."""
    seen = []

    def see(_module, _args, inputs):
        seen.append((torch.is_grad_enabled(), inputs["input_ids"].numel()))

    hook = encoder.model.register_forward_pre_hook(see, with_kwargs=True)
    try:
        yield seen
    finally:
        hook.remove()


@pytest.mark.parametrize("layers", [(-1,), (-1, 2)])
def test_a_long_text_never_has_more_graph_than_the_budget(minilm, layers):
    """Window by window, and the gradients come out as they do from one graph of all windows."""
    texts = [" ".join(WORDS * 60), TEXTS[9], " ".join(WORDS[::-1] * 25)]

    def objective(batch):
        return sum(batch.pooled_tensor(layer, "mean").pow(3).sum(dim=1) for layer in layers)

    with calls_seen(minilm) as at_once:
        expected = minilm.gradients(texts, objective, layers=layers, budget=100_000)
    with calls_seen(minilm) as by_window:
        found = minilm.gradients(texts, objective, layers=layers, budget=512)
    assert max(size for _, size in at_once) > 3_000 and all(graph for graph, _ in at_once)
    assert max(size for _, size in by_window) <= 512
    assert sum(not graph for graph, _ in by_window) == sum(graph for graph, _ in by_window) - 1
    for ours, theirs in zip(found, expected, strict=True):
        scale = np.abs(theirs.gradient).max()
        assert_allclose(ours.gradient, theirs.gradient, rtol=0, atol=1e-5 * scale)
        close(ours.embedding, theirs.embedding)


def test_a_layer_that_the_objective_leaves_out_changes_nothing(minilm):
    text = " ".join(WORDS * 30)

    def objective(batch):
        return batch.pooled_tensor(-1, "mean").pow(3).sum(dim=1)

    for budget in (100_000, 256):
        (alone,) = minilm.gradients([text], objective, budget=budget)
        (beside,) = minilm.gradients([text], objective, layers=(-1, 1), budget=budget)
        assert_allclose(beside.gradient, alone.gradient, rtol=0, atol=1e-6)

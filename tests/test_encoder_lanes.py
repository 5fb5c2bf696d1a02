"""Several batches at once: the same results in the same order as one after another."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import torch

from theodolite.encoder import encoder as encoder_module
from theodolite.encoder.encoder import Encoder
from theodolite.encoder.lanes import side_by_side
from theodolite.errors import InputError

TEXTS = [" ".join(["The river bends slowly past the old mill."] * (1 + i % 7)) for i in range(40)]


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_results_come_in_the_order_of_the_items():
    def slow_first(i: int) -> int:
        time.sleep(0.02 if i % 2 == 0 else 0)
        return i

    assert list(side_by_side(slow_first, range(20))) == list(range(20))


def test_two_really_run_at_once():
    both = threading.Barrier(2, timeout=10)
    assert len(list(side_by_side(lambda _: both.wait(), range(4)))) == 4


def test_the_lanes_share_the_threads_and_leave_the_callers_alone():
    assert set(side_by_side(lambda _: torch.get_num_threads(), range(6))) == {1}
    assert torch.get_num_threads() == 2
    fresh: list[int] = []
    thread = threading.Thread(target=lambda: fresh.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    assert fresh == [2]


def test_a_single_item_has_all_the_threads():
    assert list(side_by_side(lambda _: torch.get_num_threads(), [0])) == [2]


def test_an_error_reaches_the_caller_at_its_place():
    def third_fails(i: int) -> int:
        if i == 2:
            raise InputError("the third")
        return i

    found = []
    with pytest.raises(InputError, match="the third"):
        found.extend(side_by_side(third_fails, range(10)))
    assert list(side_by_side(third_fails, [3, 4])) == [3, 4]


def test_a_caller_who_stops_early_leaves_nothing_running():
    begun: list[int] = []
    results = side_by_side(begun.append, range(1000))
    next(results)
    results.close()
    time.sleep(0.05)
    assert len(begun) < 10


def _one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_module, "side_by_side", map)


def test_hidden_states_and_embeddings_are_those_of_one_pass_after_another(minilm: Encoder, monkeypatch):
    states, vectors = minilm.hidden_states(TEXTS, budget=64), minilm.embed(TEXTS, budget=64)
    _one_by_one(monkeypatch)
    for ours, plain in zip(states, minilm.hidden_states(TEXTS, budget=64), strict=True):
        np.testing.assert_allclose(ours, plain, atol=2e-5)
    np.testing.assert_allclose(vectors, minilm.embed(TEXTS, budget=64), atol=2e-5)


def test_gradients_are_those_of_one_pass_after_another(minilm: Encoder, monkeypatch):
    def length(batch):
        return batch.pooled_tensor(-1, "mean").norm(dim=1)

    ours = minilm.gradients(TEXTS, length, budget=64)
    _one_by_one(monkeypatch)
    for one, plain in zip(ours, minilm.gradients(TEXTS, length, budget=64), strict=True):
        np.testing.assert_allclose(one.gradient, plain.gradient, atol=2e-6)
        np.testing.assert_allclose(one.embedding, plain.embedding, atol=1e-6)


def test_a_forward_pass_between_two_gradients_is_left_alone(minilm: Encoder):
    tokens = minilm.tokenise(TEXTS)
    alone = minilm.embed(TEXTS[:3])
    for _ in minilm.gradient_batches(tokens, lambda b: b.pooled_tensor(-1, "cls").sum(dim=1), budget=64):
        np.testing.assert_allclose(minilm.embed(TEXTS[:3]), alone, atol=2e-5)

"""Trainings whose loss is no number any more, and validation texts that were trained on: told, never passed over.

Small encoders with random weights: how well they learn is not looked at.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertModel

from theodolite import Corpus, Encoder, InputError
from theodolite.encoder.resolve import resolve
from theodolite.train.classifier import Training, train_classifier
from theodolite.train.loop import Pace
from theodolite.train.scores import Scores

NAN = float("nan")
TEXTS = [f"the {'red' if i % 2 else 'blue'} thing number {i}" for i in range(24)]
THINGS = Corpus.of(TEXTS, "things", labels=[bool(i % 2) for i in range(24)])
FAST = Training(epochs=4, batch_size=8, evaluations=1, patience=1, validation=0.25)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory):
    """Makes an encoder; ``bias`` goes into one of its layers."""
    tokenizer = AutoTokenizer.from_pretrained(resolve("all-MiniLM-L6-v2").path)

    def make(bias: float = 0.0) -> str:
        torch.manual_seed(0)
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
        model = BertModel(BertConfig(**sizes, vocab_size=len(tokenizer)))
        with torch.no_grad():
            model.encoder.layer[0].output.dense.bias.fill_(bias)
        out = tmp_path_factory.mktemp("encoder")
        model.save_pretrained(out)
        tokenizer.save_pretrained(out)
        return str(out)

    return make


def test_a_loss_that_is_never_a_number_ends_in_one_line(encoder, tmp_path: Path) -> None:
    out = tmp_path / "model"
    with pytest.raises(InputError, match=r"the loss is not a number at any evaluation.*lower --learning-rate"):
        train_classifier(encoder(NAN), THINGS, out, FAST)
    assert not list(out.iterdir()), "its folder is free for a training with another rate"


def test_a_loss_that_stops_being_a_number_leaves_the_best_weights(encoder, tmp_path: Path) -> None:
    """Spoilt at the end of the second epoch: the first one's weights are kept, and the record is written."""

    def spoil(classifier: Any, epoch: int) -> list[dict[str, Any]]:
        if epoch == 2:
            classifier._head.classifier.bias.data.fill_(NAN)
        return [{"epoch": epoch, "seen": NAN}]

    out, model = tmp_path / "model", encoder()
    scores = train_classifier(model, THINGS, out, FAST, watch=spoil)
    assert [row["loss"] is None for row in scores.history] == [False, True], "patience counts such evaluations"
    assert scores.best_step == scores.history[0]["step"] and scores.loss == scores.history[0]["loss"]
    record = json.loads((out / "training.json").read_text(encoding="utf-8"))
    assert record["scores"]["history"] == scores.history
    assert [row["seen"] for row in record["watched"]] == [None, None, None]
    trained: Any = Encoder.load(out)
    assert torch.isfinite(torch.from_numpy(trained.logits(TEXTS))).all()
    # Labels of true and false name its classes, and are known again as such.
    assert [trained.class_of(label, "row") for label in (False, True)] == [0, 1]
    assert train_classifier(model, THINGS, out, FAST) == scores


def test_patience_ends_where_losses_are_no_numbers() -> None:
    pace = Pace(9, 1e-3, 8, patience=2, evaluations=1, seed=0, steps_an_epoch=7)

    class State:
        def __init__(self, *losses: float) -> None:
            self.global_step, self.log_history = 7 * len(losses), [{"eval_loss": x} for x in losses]

    assert not pace.over(State(0.5, NAN))
    assert pace.over(State(0.5, NAN, NAN)) and pace.over(State(NAN, NAN, NAN))
    assert not pace.over(State(NAN, NAN, 0.5))


def test_validation_texts_that_were_trained_on_are_said(encoder, tmp_path: Path) -> None:
    held = Corpus.of([*TEXTS[:3], "a new thing"], "held", labels=[False, True, False, True])
    out, model = tmp_path / "model", encoder()
    once = Training(epochs=1, batch_size=8, evaluations=1)
    scores = train_classifier(model, THINGS, out, once, validation=held)
    assert scores.shared == 3
    assert "on 4 texts, 3 of them in the training corpus too;" in scores.sentence()
    # Records of before have the number beside the scores.
    record = json.loads((out / "training.json").read_text(encoding="utf-8"))
    del record["scores"]["shared"]
    (out / "training.json").write_text(json.dumps(record), encoding="utf-8")
    assert train_classifier(model, THINGS, out, once, validation=held).shared == 3
    assert "texts that it was not trained on" in Scores(loss=1.0, baseline=0.5, accuracy=0.5).sentence()

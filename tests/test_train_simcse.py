"""Contrastive training on dropout views: the loss by its definition, real trainings, resumed, counted and refused."""

from __future__ import annotations

import gzip
import json
import math
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from theodolite import Encoder
from theodolite.accumulate import uniform_of
from theodolite.corpus import Corpus
from theodolite.encoder.classifier import Classifier
from theodolite.encoder.resolve import resolve
from theodolite.errors import InputError
from theodolite.instrument import Silent
from theodolite.train.contrast import (
    Contrast,
    Judge,
    Views,
    Windowed,
    contrastive_loss,
    held_batches,
    one_window,
    set_dropout,
)
from theodolite.train.loop import Pace
from theodolite.train.simcse import SimcseTraining, _encoder, train_simcse

FAST = SimcseTraining(learning_rate=3e-4, batch_size=16, validation=0.2, evaluations=2)


@pytest.fixture(scope="module")
def small(shared: Path) -> str:
    return str(shared / "models" / "xtremedistil-l6-h256")


@pytest.fixture(scope="module")
def wiki(shared: Path) -> list[str]:
    """160 short sentences."""
    with gzip.open(shared / "data" / "corpora" / "wiki.txt.gz", "rt", encoding="utf-8") as lines:
        return list(islice((line.strip() for line in lines if len(line) < 90), 160))


@pytest.fixture(scope="module")
def trained(small: str, wiki: list[str], tmp_path_factory: pytest.TempPathFactory):
    out = tmp_path_factory.mktemp("simcse") / "model"
    corpus = Corpus.of([*wiki, "", wiki[0], wiki[1].upper(), "\u200b"], "wiki")
    return out, corpus, train_simcse(small, corpus, out, FAST, device="cpu")


def sentences(n: int = 40) -> Corpus:
    return Corpus.of([f"the {['red', 'green', 'blue'][i % 3]} thing number {i}" for i in range(n)], "things")


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


# --- definitions


@given(st.integers(1, 7), st.integers(2, 5), st.floats(0.05, 2), st.integers(0, 99))
def test_loss_is_its_definition(n: int, d: int, temperature: float, seed: int) -> None:
    a, b = np.random.default_rng(seed).normal(size=(2, n, d))
    total = 0.0
    for i in range(n):
        below = sum(math.exp(cosine(a[i], b[j]) / temperature) for j in range(n))
        total -= math.log(math.exp(cosine(a[i], b[i]) / temperature) / below)
    found = contrastive_loss(torch.from_numpy(a), torch.from_numpy(b), temperature).item()
    assert found == pytest.approx(total / n, abs=1e-9)


@given(st.lists(st.integers(2, 6), min_size=1, max_size=4), st.integers(0, 99))
def test_judge_is_its_definitions(sizes: list[int], seed: int) -> None:
    random, judge = np.random.default_rng(seed), Judge(0.1)
    losses, distances, near, units = [], [], [], []
    for n in sizes:
        a, b = random.normal(size=(2, n, 3))
        judge.update(torch.from_numpy(a), torch.from_numpy(b))
        losses += [contrastive_loss(torch.from_numpy(a), torch.from_numpy(b), 0.1).item()] * n
        a, b = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (a, b))
        distances += [((x - y) ** 2).sum() for x, y in zip(a, b, strict=True)]
        near += [math.exp(-2 * ((a[i] - a[j]) ** 2).sum()) for i in range(n) for j in range(i)]
        units += list(a)
    cosines = [units[i] @ units[j] for i in range(len(units)) for j in range(i)]
    expected = [np.mean(losses), np.mean(distances), math.log(np.mean(near)), np.mean(cosines)]
    found = judge.result()
    assert list(found) == ["loss", "alignment", "uniformity", "mean_cosine"]
    np.testing.assert_allclose(list(found.values()), expected, atol=1e-9)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_views_without_dropout_are_the_texts_own_vectors(small: str, wiki: list[str], pooling: str) -> None:
    encoder = Encoder.load(small, device="cpu")
    inputs = Windowed(encoder, encoder.tokenise(wiki[:6]), 0, lambda: 0)([3, 0, 5])
    views = Views(pooling, 0.05)
    with torch.no_grad():
        first, second = views(encoder.model.eval(), inputs)
        torch.testing.assert_close(first, second, atol=1e-5, rtol=1e-5)
        for row, text in zip(first, (wiki[3], wiki[0], wiki[5]), strict=True):
            ids = torch.tensor([[101, *encoder.tokenise([text]).ids.tolist(), 102]])
            hidden = encoder.model(input_ids=ids).last_hidden_state[0]
            expected = hidden[0] if pooling == "cls" else hidden.mean(dim=0)
            torch.testing.assert_close(row, expected, atol=1e-5, rtol=1e-5)
        again, other = views(encoder.model.train(), inputs)
        assert (again - other).abs().max() > 0.01


def test_a_batch_in_parts_has_the_gradient_of_its_views(small: str, wiki: list[str]) -> None:
    """The second pass, for the gradient, must meet the dropout of the first."""
    encoder, _ = _encoder(resolve(small), None, 0)
    inputs = Windowed(encoder, encoder.tokenise(wiki[:4]), 0, lambda: 0)(range(4))
    words, width = encoder.model.get_input_embeddings().weight, inputs["input_ids"].shape[1]

    def gradient(views: Views) -> tuple[float, torch.Tensor]:
        encoder.model.train().zero_grad()
        torch.manual_seed(5)
        loss = contrastive_loss(*views(encoder.model, inputs), 0.05)
        loss.backward()
        return loss.item(), words.grad.clone()

    class Kept(Views):
        """The same parts, their activations kept: one pass."""

        def __call__(self, model, inputs):
            twice = {name: torch.cat([v, v]) for name, v in inputs.items()}
            parts = [{name: v[i : i + 3] for name, v in twice.items()} for i in range(0, 8, 3)]
            vectors = torch.cat([self._vectors(model, part) for part in parts])
            return vectors[:4], vectors[4:]

    parted, kept = gradient(Views("mean", 0.05, tokens=3 * width)), gradient(Kept("mean", 0.05))
    assert parted[0] == pytest.approx(kept[0], rel=1e-6)
    torch.testing.assert_close(parted[1], kept[1], atol=1e-6, rtol=1e-4)


def test_long_texts_take_part_with_one_window_another_each_epoch(small: str) -> None:
    encoder = Encoder.load(small, device="cpu", max_length=12)
    tokens = encoder.tokenise(["short one", " ".join(f"{i}" for i in range(100, 160))])
    room, ids = 10, tokens.ids[tokens.bounds[1] :].tolist()
    for drawn, begin in ((0.0, 0), (0.999999, len(ids) - room)):
        cut = one_window(tokens, room, np.array([drawn, drawn]))
        assert cut.ids[: cut.bounds[1]].tolist() == tokens.ids[: tokens.bounds[1]].tolist()
        assert cut.ids[cut.bounds[1] :].tolist() == ids[begin : begin + room]
    seen = [Windowed(encoder, tokens, 7, lambda e=epoch: e)([1, 0])["input_ids"] for epoch in (0, 0, 1)]
    assert torch.equal(seen[0], seen[1]) and not torch.equal(seen[0], seen[2])
    begin = int(uniform_of(7, 1, [1])[0] * (len(ids) - room + 1))
    assert seen[2][0].tolist() == [101, *ids[begin : begin + room], 102]


@given(st.integers(2, 300), st.integers(2, 40))
def test_held_out_texts_are_judged_once_among_enough_others(texts: int, size: int) -> None:
    batches = held_batches(texts, size)
    assert [i for batch in batches for i in batch] == list(range(texts))
    assert all(min(texts, size) <= len(batch) < 2 * size for batch in batches)


# --- a whole training


def test_the_loss_falls_and_everything_is_counted(trained, wiki: list[str]) -> None:
    _, corpus, scores = trained
    assert scores.after["loss"] < 0.8 * scores.before["loss"]
    different = len({text.lower() for text in wiki})
    assert scores.validation_texts == round(0.2 * different)
    assert scores.training_texts + scores.validation_texts == different
    repeated = len(wiki) - different + 2
    assert scores.left_out == {"empty text": 1, "no tokens": 1, "same tokens as an earlier text": repeated}
    assert scores.after["loss"] == min(row["loss"] for row in scores.history)
    steps = math.ceil(scores.training_texts / 16)
    assert [row["step"] for row in scores.history] == [math.ceil(steps / 2), steps]
    assert f"{scores.before['loss']:.3f} before" in scores.sentence()
    assert len(corpus) == different + sum(scores.left_out.values())


def test_the_folder_is_a_sentence_transformer_pooled_as_trained(trained, wiki: list[str], small: str) -> None:
    from sentence_transformers import SentenceTransformer

    out, corpus, scores = trained
    encoder = Encoder.load(out, device="cpu")
    assert not isinstance(encoder, Classifier) and encoder.own.modes == ("mean",) and encoder.limit == 512
    theirs = SentenceTransformer(str(out), device="cpu").encode(wiki[:8])
    np.testing.assert_allclose(encoder.embed(wiki[:8]), theirs, atol=1e-5)
    before, after = load_file(Path(small) / "model.safetensors"), load_file(out / "model.safetensors")
    assert not torch.equal(before["embeddings.word_embeddings.weight"], after["embeddings.word_embeddings.weight"])
    card = (out / "README.md").read_text()
    assert corpus.hash in card and resolve(small).hash in card and f"{scores.after['loss']:.6g}" in card
    assert not (out / ".training").exists()


def test_the_saved_weights_have_the_loss_claimed(trained, small: str) -> None:
    """With the folder's weights, the held-out texts and the seed, by the definition."""
    from theodolite.train.simcse import _split

    out, corpus, scores = trained
    encoder, _ = _encoder(resolve(out), None, 0)
    _, held, _ = _split(encoder, corpus, FAST)
    judge, inputs = Judge(0.05), Windowed(encoder, held, 0, lambda: 0)
    torch.manual_seed(0)
    with torch.no_grad():
        for which in held_batches(len(held), 16):
            judge.update(*Views("mean", 0.05)(encoder.model.train(), inputs(which)))
    assert judge.result() == pytest.approx(scores.after, rel=1e-4)


def test_judging_leaves_the_random_numbers_of_the_training_alone(small: str, tmp_path: Path) -> None:
    encoder, _ = _encoder(resolve(small), None, 0)
    tokens = encoder.tokenise(sentences(8).texts())
    pace = Pace(1, 1e-4, 4, patience=9, evaluations=1, seed=3, steps_an_epoch=2)
    place = torch.device("cpu")
    trainer = Contrast(encoder, Views("mean", 0.05), tokens, tokens, pace, tmp_path, place, Silent())
    state = torch.get_rng_state()
    first = trainer.judged()
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(99)
    assert trainer.judged() == first and first["alignment"] > 0


def test_finished_returns_at_once_and_others_are_refused(trained, small: str) -> None:
    out, corpus, scores = trained
    before = (out / "model.safetensors").stat().st_mtime_ns
    assert train_simcse(small, corpus, out, FAST, device="cpu") == scores
    assert (out / "model.safetensors").stat().st_mtime_ns == before
    with pytest.raises(InputError, match="another training"):
        train_simcse(small, corpus, out, SimcseTraining())
    with pytest.raises(InputError, match="another training"):
        train_simcse(small, sentences(), out, FAST)


def test_killed_and_rerun_ends_with_the_same_weights(
    small: str, tmp_path: Path, killed, same_training, capfd: pytest.CaptureFixture[str]
) -> None:
    training = SimcseTraining(epochs=2, learning_rate=5e-4, batch_size=4, validation=0.2, evaluations=2)
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from tests.test_train_simcse import SimcseTraining, sentences, train_simcse\n"
        f"train_simcse(sys.argv[1], sentences(), Path(sys.argv[2]), {training!r}, device='cpu', max_length=8)\n"
    )
    whole, out = tmp_path / "whole", tmp_path / "killed"
    train_simcse(small, sentences(), whole, training, device="cpu", max_length=8)
    assert capfd.readouterr() == ("", "")

    assert 0 < killed(script, small, out)["global_step"] < 16

    train_simcse(small, sentences(), out, training, device="cpu", max_length=8)
    assert same_training(whole, out)["steps"] == 16 and Encoder.load(out).limit == 8


def test_an_end_interrupted_while_files_are_moved_is_made_again(tmp_path: Path, small: str, monkeypatch) -> None:
    """The folder of the pooling is already there, with its file in it."""
    from theodolite.train import folder

    training = SimcseTraining(batch_size=8, validation=0.2, evaluations=1)

    def broken(*given) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(folder, "write_whole", lambda path, text: broken() if path.name == folder.RECORD else None)
        with pytest.raises(KeyboardInterrupt):
            train_simcse(small, sentences(16), tmp_path, training, device="cpu")
    assert (tmp_path / "1_Pooling" / "config.json").exists() and not (tmp_path / "training.json").exists()
    # The plan was not written under the patch: a real interruption leaves it.
    folder.write_whole(tmp_path / ".training" / "plan.json", json.dumps({"key": plan_key(small, training)}))
    scores = train_simcse(small, sentences(16), tmp_path, training, device="cpu")
    assert scores.steps == 2 and (tmp_path / "training.json").exists()


def plan_key(small: str, training: SimcseTraining) -> str:
    from theodolite.train.folder import training_key

    return training_key("simcse", resolve(small), sentences(16), training, None)


def test_cls_is_trained_and_declared(tmp_path: Path) -> None:
    training = SimcseTraining(batch_size=8, pooling="cls", dropout=0.2, evaluations=1)
    train_simcse("all-MiniLM-L6-v2", sentences(20), tmp_path / "m", training, device="cpu")
    encoder = Encoder.load(tmp_path / "m", device="cpu")
    assert encoder.own.modes == ("cls",) and encoder.limit == 256
    np.testing.assert_allclose(encoder.embed(["a cup of tea"]), encoder.embed(["a cup of tea"], pooling="cls"))
    record = json.loads((tmp_path / "m" / "training.json").read_text())
    assert record["options"]["dropout"] == 0.2


def test_a_classifiers_encoder_is_trained_without_its_head(tmp_path: Path, small: str) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    AutoModelForSequenceClassification.from_pretrained(small).save_pretrained(tmp_path / "c")
    AutoTokenizer.from_pretrained(small).save_pretrained(tmp_path / "c")
    training = SimcseTraining(batch_size=8, evaluations=1)
    train_simcse(tmp_path / "c", sentences(12), tmp_path / "m", training, device="cpu")
    assert not isinstance(Encoder.load(tmp_path / "m"), Classifier)


# --- refused


@pytest.mark.parametrize(
    ("corpus", "line"),
    [
        (Corpus.of(["a"]), "1 different texts"),
        (Corpus.of(["a", "A", "b", "c"]), "3 different texts"),
        (Corpus.of(["", " ", "\n"]), "0 different texts"),
        (Corpus.of(["a", "b", "c", "d"], texts_b=["e", "f", "g", "h"]), "pairs of texts"),
    ],
)
def test_refused_in_one_line(corpus: Corpus, line: str, small: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=line) as fault:
        train_simcse(small, corpus, tmp_path / "m", SimcseTraining())
    assert "\n" not in str(fault.value)
    assert not (tmp_path / "m").exists()


def test_a_folder_with_something_else_is_refused(tmp_path: Path, small: str) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        train_simcse(small, sentences(), tmp_path, SimcseTraining())


def test_a_model_without_dropout_is_refused_unless_a_rate_is_given() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.0))
    with pytest.raises(InputError, match="its dropout is 0"):
        set_dropout(model, None, "m")
    assert set_dropout(model, 0.3, "m") == 0.3 == model[1].p
    with pytest.raises(InputError, match="no dropout layers"):
        set_dropout(torch.nn.Linear(2, 2), 0.1, "m")


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"batch_size": 1},
        {"learning_rate": 0.0},
        {"temperature": 0.0},
        {"dropout": 1.0},
        {"validation": 0.0},
        {"pooling": "max"},
    ],
)
def test_options_are_checked(wrong: dict) -> None:
    with pytest.raises(InputError, match=f"--{next(iter(wrong)).replace('_', '-')}"):
        SimcseTraining(**wrong)

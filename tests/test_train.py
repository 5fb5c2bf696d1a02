"""Fine-tuning: real trainings, small; what is frozen, resumed, windowed and refused."""

from __future__ import annotations

import gzip
import json
import shutil
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from sklearn.metrics import accuracy_score, f1_score
from sklearn.utils.class_weight import compute_class_weight

from theodolite import Encoder
from theodolite.batching import windows
from theodolite.cli.main import main
from theodolite.corpus import Corpus
from theodolite.encoder.classifier import Classifier
from theodolite.encoder.resolve import ModelFolder, resolve
from theodolite.errors import InputError
from theodolite.train.batches import (
    MOST_WINDOWS,
    Collator,
    by_similar_length,
    loss_of,
    mean_over_windows,
    parts_within,
    spread,
)
from theodolite.train.classifier import Training, classifier_key, train_classifier
from theodolite.train.examples import split_corpus
from theodolite.train.folder import key_of, ready_to_train
from theodolite.train.labels import class_weights, task_of
from theodolite.train.loop import Pace, last_whole_checkpoint
from theodolite.train.model import freeze, new_classifier
from theodolite.train.scores import class_scores, interval, value_scores
from theodolite.train.simcse import SimcseTraining, train_simcse

SMALL = "xtremedistil-l6-h256"
FAST = Training(epochs=1, learning_rate=5e-4, batch_size=8, evaluations=2)


@pytest.fixture(scope="module")
def small(shared: Path) -> str:
    return str(shared / "models" / SMALL)


@pytest.fixture(scope="module")
def sst2(shared: Path) -> Corpus:
    return Corpus.read(f"{shared}/data/sst2/train.tsv.gz?text=sentence&label=label", limit=400)


@pytest.fixture(scope="module")
def trained(sst2: Corpus, tmp_path_factory: pytest.TempPathFactory):
    """The default model on SST-2: 400 texts, one epoch; what it said to its progress."""
    out, seen = tmp_path_factory.mktemp("trained") / "model", Seen()
    scores = train_classifier("all-MiniLM-L6-v2", sst2, out, FAST, device="cpu", progress=seen)
    return out, scores, seen


class Seen:
    def __init__(self) -> None:
        self.total, self.done = 0, 0

    @contextmanager
    def step(self, title: str, total: int):
        self.total = total
        yield

    def advance(self, texts: int) -> None:
        self.done += texts


def weights_of(out: Path) -> dict[str, torch.Tensor]:
    return load_file(out / "model.safetensors")


def colours(n: int = 48) -> Corpus:
    names = ["red", "green", "blue"]
    texts = [f"the {names[i % 3]} thing number {i} is {names[i % 3]}" for i in range(n)]
    return Corpus.of(texts, "colours", labels=[names[i % 3] for i in range(n)])


# --- a whole training


def test_sst2_is_learnt(trained, sst2: Corpus) -> None:
    out, scores, seen = trained
    assert scores.accuracy > scores.baseline + 0.1
    assert scores.low < scores.accuracy < scores.high
    assert (scores.training_texts, scores.validation_texts, scores.steps) == (360, 40, 45)
    assert seen.total == seen.done == 360
    assert [row["step"] for row in scores.history] == [23, 45]
    assert {p.name for p in out.iterdir()} >= {"config.json", "model.safetensors", "tokenizer.json", "README.md"}
    assert not (out / ".training").exists()


def test_the_folder_gives_the_scores_it_claims(trained, sst2: Corpus) -> None:
    out, scores, _ = trained
    model = Encoder.load(out, device="cpu")
    assert isinstance(model, Classifier) and model.labels == ["0", "1"]
    assert model.limit == Encoder.load("all-MiniLM-L6-v2").limit
    held = split_corpus(sst2, None, "auto", 0.1, 0).validation
    said = [model.labels[i] for i in model.logits(held.texts).argmax(axis=1)]
    truth = [model.labels[int(t)] for t in held.targets]
    assert scores.accuracy == pytest.approx(accuracy_score(truth, said))
    assert scores.macro_f1 == pytest.approx(f1_score(truth, said, average="macro"))
    card = (out / "README.md").read_text()
    assert sst2.hash in card and resolve("all-MiniLM-L6-v2").hash in card and f"{scores.accuracy:.3f}" in card


def test_transformers_loads_the_folder(trained) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    out, _, _ = trained
    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(out), AutoTokenizer.from_pretrained(out)
    texts = ["a wonderful film", "a dull and lifeless mess"]
    with torch.no_grad():
        theirs = model(**tokenizer(texts, padding=True, return_tensors="pt")).logits.numpy()
    np.testing.assert_allclose(Encoder.load(out, device="cpu").logits(texts), theirs, atol=1e-5)


def test_finished_returns_at_once_and_others_are_refused(trained, sst2: Corpus) -> None:
    out, scores, _ = trained
    before = (out / "model.safetensors").stat().st_mtime_ns
    assert train_classifier("all-MiniLM-L6-v2", sst2, out, FAST, device="cpu") == scores
    assert (out / "model.safetensors").stat().st_mtime_ns == before
    with pytest.raises(InputError, match="another training"):
        train_classifier("all-MiniLM-L6-v2", sst2, out, Training(epochs=2))
    with pytest.raises(InputError, match="another training"):
        train_classifier("all-MiniLM-L6-v2", colours(), out, FAST)


def test_killed_and_rerun_ends_with_the_same_weights(
    small: str, tmp_path: Path, killed, capfd: pytest.CaptureFixture[str]
) -> None:
    training = Training(epochs=2, learning_rate=5e-4, batch_size=4, evaluations=3, patience=9)
    script = (
        "import sys\nfrom pathlib import Path\nfrom tests.test_train import Training, colours, train_classifier\n"
        f"train_classifier(sys.argv[1], colours(), Path(sys.argv[2]), {training!r}, device='cpu')\n"
    )
    train_classifier(small, colours(), tmp_path / "whole", training, device="cpu")
    assert capfd.readouterr() == ("", "")

    out = tmp_path / "killed"
    state = killed(script, small, out)
    assert 0 < state["global_step"] < 22
    first = next(row for row in state["log_history"] if "eval_seconds" in row)

    train_classifier(small, colours(), out, training, device="cpu")
    expected, found = weights_of(tmp_path / "whole"), weights_of(out)
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    records = [json.loads((tmp_path / name / "training.json").read_text()) for name in ("whole", "killed")]
    # Nothing before the checkpoint was done again: the time it took is the first run's.
    assert records[1]["scores"]["history"][0]["seconds"] == first["eval_seconds"]
    for record in records:
        for row in record["scores"]["history"]:
            del row["seconds"]
    assert records[0]["scores"]["history"] == records[1]["scores"]["history"]


def test_a_broken_checkpoint_is_passed_over(tmp_path: Path) -> None:
    for step, text in ((2, "{}"), (10, '{"global_st')):
        (tmp_path / f"checkpoint-{step}").mkdir()
        (tmp_path / f"checkpoint-{step}" / "trainer_state.json").write_text(text)
    (tmp_path / "checkpoint-12").mkdir()
    assert last_whole_checkpoint(tmp_path) == tmp_path / "checkpoint-2"
    assert not (tmp_path / "checkpoint-10").exists() and not (tmp_path / "checkpoint-12").exists()


def test_without_accelerate_nothing_is_begun(small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("theodolite.train.folder.find_spec", lambda package: None)
    with pytest.raises(InputError, match="pip install accelerate"):
        train_classifier(small, colours(), tmp_path / "m", FAST)
    with pytest.raises(InputError, match="pip install accelerate"):
        train_simcse(small, colours(), tmp_path / "m", SimcseTraining())
    assert not (tmp_path / "m").exists()


# --- kinds of tasks


def test_several_classes_are_learnt(tmp_path: Path) -> None:
    training = Training(epochs=2, learning_rate=5e-4, batch_size=8, validation=0.25, patience=9)
    scores = train_classifier("all-MiniLM-L6-v2", colours(), tmp_path / "m", training, device="cpu")
    assert scores.accuracy > 0.9 > scores.baseline
    assert Encoder.load(tmp_path / "m").labels == ["blue", "green", "red"]


def test_regression_answers_in_the_labels_own_units(small: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    good = rng.random(80) < 0.5
    texts = [f"{'wonderful' if g else 'terrible'} story {i}" for i, g in enumerate(good)]
    values = (1000 + 300 * good + rng.normal(0, 5, 80)).tolist()
    training = Training(epochs=4, learning_rate=1e-3, batch_size=8, validation=0.25, patience=9)
    corpus = Corpus.of(texts, labels=values)
    scores = train_classifier(small, corpus, tmp_path / "m", training, device="cpu")
    assert scores.pearson > 0.8 and scores.mse < 0.5 * scores.baseline and scores.accuracy is None
    held = split_corpus(corpus, None, "auto", 0.25, 0).validation
    answers = Encoder.load(tmp_path / "m", device="cpu").logits(held.texts)[:, 0]
    assert ((answers - held.targets) ** 2).mean() == pytest.approx(scores.mse, rel=1e-3)
    assert np.corrcoef(answers, held.targets)[0, 1] == pytest.approx(scores.pearson, abs=1e-4)


def test_pairs_are_learnt_from_both_texts(small: str, tmp_path: Path) -> None:
    """The label is whether the second text is a question: the first says nothing about it."""
    first = [f"chapter {i // 2}" for i in range(60)]
    second = ["what is it ?" if i % 2 else "it is so ." for i in range(60)]
    corpus = Corpus.of(first, texts_b=second, labels=[i % 2 for i in range(60)])
    training = Training(epochs=2, learning_rate=1e-3, batch_size=8, validation=0.2, patience=9)
    scores = train_classifier(small, corpus, tmp_path / "m", training, device="cpu")
    assert scores.accuracy > 0.9 > scores.baseline


# --- freezing


@pytest.mark.parametrize(
    ("what", "frozen"),
    [("embeddings", {0}), ("embeddings,2-3", {0, 2, 3}), ("4", {4}), ("all", set()), ("none", set())],
)
def test_frozen_weights_do_not_change(small: str, tmp_path: Path, what: str, frozen: set[int]) -> None:
    training = Training(epochs=1, learning_rate=1e-3, batch_size=16, evaluations=1, freeze=what)
    train_classifier(small, colours(24), tmp_path / "m", training, device="cpu")
    before, after = load_file(Path(small) / "model.safetensors"), weights_of(tmp_path / "m")
    compared = 0
    for name, value in after.items():
        there = before.get(name, before.get(name.removeprefix("bert.")))
        if there is None:
            continue
        compared += 1
        layer = int(name.split("layer.")[1].split(".")[0]) + 1 if ".layer." in name else 0
        still = what == "all" or ("pooler" not in name and layer in frozen)
        # A key's bias moves every score of a query alike: its gradient is zero but for rounding.
        if still or "key.bias" not in name:
            assert torch.equal(value, there) == still, name
    assert compared > 90


def test_layers_that_are_not_there_cannot_be_frozen(small: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="to 6"):
        train_classifier(small, colours(), tmp_path / "m", Training(freeze="0-7"))
    assert not (tmp_path / "m").exists()


# --- windows


def test_long_texts_are_means_over_windows(small: str) -> None:
    task = task_of("auto", ["a", "b"], "x")
    model, _ = new_classifier(resolve(small), task, 16, seed=3)
    model._head.eval()
    texts = ["short one", " ".join(f"word{i}" for i in range(40)), "tea " * 9]
    tokens = model.tokenise(texts)
    batch = Collator(model, tokens, torch.tensor([0, 1, 1]))([0, 1, 2])
    labels, text = batch.pop("labels"), batch.pop("text")
    assert labels.tolist() == [0, 1, 1]
    with torch.no_grad():
        found = mean_over_windows(model._head(**batch).logits, text, 3)
    for i in range(3):
        pieces = tokens.ids[tokens.bounds[i] : tokens.bounds[i + 1]].tolist()
        starts = [0]
        while starts[-1] + 14 < len(pieces):
            starts.append(starts[-1] + 8)
        if len(starts) > MOST_WINDOWS:
            starts = [starts[round(k * (len(starts) - 1) / (MOST_WINDOWS - 1))] for k in range(MOST_WINDOWS)]
        answers = []
        for start in starts:
            ids = torch.tensor([[101, *pieces[start : start + 14], 102]])
            with torch.no_grad():
                answers.append(model._head(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0])
        np.testing.assert_allclose(found[i], torch.stack(answers).mean(dim=0), atol=1e-5)
    assert len(text) > 3


@pytest.mark.parametrize("weights", [None, torch.tensor([0.5, 3.0])])
def test_a_batch_in_parts_has_the_gradient_of_the_whole(small: str, weights: torch.Tensor | None) -> None:
    model, _ = new_classifier(resolve(small), task_of("auto", ["a", "b"], "x"), 16, seed=3)
    head = model._head.eval()
    texts = ["short", " ".join(f"word{i}" for i in range(9)), "tea " * 30, "one more", "and another", "cup " * 20]
    batch = Collator(model, model.tokenise(texts), torch.tensor([0, 0, 1, 1, 1, 0]))(range(6))

    def gradient(tokens: int) -> tuple[int, float, torch.Tensor]:
        head.zero_grad()
        total = parts = 0
        for part, share in parts_within(dict(batch), tokens, weights):
            text, labels = part.pop("text"), part.pop("labels")
            assert part["input_ids"].numel() <= tokens or len(labels) == 1
            loss = share * loss_of(mean_over_windows(head(**part).logits, text, len(labels)), labels, weights, False)
            loss.backward()
            total, parts = total + loss.item(), parts + 1
        return parts, total, head.base_model.get_input_embeddings().weight.grad.clone()

    whole, parted = gradient(10**6), gradient(64)
    assert whole[0] == 1 and parted[0] >= 3
    assert parted[1] == pytest.approx(whole[1], rel=1e-5)
    torch.testing.assert_close(parted[2], whole[2], atol=1e-6, rtol=1e-4)


def test_loss_is_the_weighted_mean_of_the_texts() -> None:
    logits = torch.tensor([[1.0, -1.0, 0.5], [0.2, 0.1, 0.0], [-2.0, 1.0, 3.0]])
    labels, weights = [2, 0, 1], [0.5, 2.0, 1.5]
    top = bottom = 0.0
    for row, label in zip(logits.tolist(), labels, strict=True):
        top += weights[label] * (np.log(sum(np.exp(row))) - row[label])
        bottom += weights[label]
    assert loss_of(logits, torch.tensor(labels), torch.tensor(weights), False).item() == pytest.approx(top / bottom)
    values = torch.tensor([1.0, 0.0, -1.0])
    assert loss_of(logits[:, :1], values, None, True).item() == pytest.approx((0 + 0.04 + 1) / 3)


def test_max_length_is_kept_and_windows_are_counted(small: str, tmp_path: Path) -> None:
    corpus = Corpus.of([f"{w} {i} " + "and so on " * 20 for i, w in enumerate(["good", "bad"] * 8)], labels=[1, 0] * 8)
    training = Training(epochs=1, batch_size=8, evaluations=1)
    train_classifier(small, corpus, tmp_path / "m", training, device="cpu", max_length=12)
    assert Encoder.load(tmp_path / "m").limit == 12
    record = json.loads((tmp_path / "m" / "training.json").read_text())
    assert record["windowed"] == {"training": 14, "validation": 2, "thinned": 14}


@given(st.lists(st.integers(1, 400), min_size=1, max_size=6))
def test_spread_takes_first_last_and_at_most_eight(lengths: list[int]) -> None:
    given_lengths = np.array(lengths)
    every = windows(given_lengths, given_lengths, 10, 2)
    few = spread(every)
    for i in range(len(lengths)):
        mine, all_mine = few.start[few.text == i], every.start[every.text == i]
        assert len(mine) == min(len(all_mine), MOST_WINDOWS)
        assert mine[0] == all_mine[0] and mine[-1] == all_mine[-1]
        assert len(set(mine.tolist())) == len(mine)


@given(st.integers(1, 300), st.integers(1, 9), st.integers(0, 5))
def test_order_has_every_text_once_and_little_padding(texts: int, batch: int, seed: int) -> None:
    lengths = np.random.default_rng(seed).integers(1, 100, texts)
    order = by_similar_length(lengths, batch, (seed, 0))
    assert sorted(order.tolist()) == list(range(texts))
    assert order.tolist() == by_similar_length(lengths, batch, (seed, 0)).tolist()
    if texts > 20 * batch > 20:
        assert order.tolist() != by_similar_length(lengths, batch, (seed, 1)).tolist()

        def padded(o: np.ndarray) -> int:
            return sum(len(o[i : i + batch]) * int(lengths[o[i : i + batch]].max()) for i in range(0, texts, batch))

        assert padded(order) < padded(np.arange(texts))


# --- the split, the labels, the weights


def test_split_is_stratified_and_keeps_duplicates_on_one_side() -> None:
    texts = [f"text {i}" for i in range(90)] + ["text 3"] * 10 + ["", "left"]
    labels = [int(i % 3 == 0) for i in range(90)] + [1] * 10 + [1, None]
    split = split_corpus(Corpus.of(texts, labels=labels), None, "auto", 0.1, 7)
    assert not set(split.training.texts) & set(split.validation.texts)
    assert split.left_out["empty text"] == 1 and split.left_out["no label"] == 1
    counts = [split.validation.targets.tolist().count(c) for c in (0, 1)]
    assert counts == [6, 3]
    total = len(split.training) + len(split.validation) + sum(split.left_out.values())
    assert total == 102
    again = split_corpus(Corpus.of(texts, labels=labels), None, "auto", 0.1, 7)
    assert again.validation.texts == split.validation.texts
    other = split_corpus(Corpus.of(texts, labels=labels), None, "auto", 0.1, 8)
    assert other.validation.texts != split.validation.texts


def test_a_validation_corpus_is_used_whole_and_overlap_counted() -> None:
    held = Corpus.of(["the red thing number 0 is red", "new"], "held", labels=["red", "blue"])
    split = split_corpus(colours(), held, "auto", 0.1, 0)
    assert len(split.training) == 48 and len(split.validation) == 2 and split.shared == 1
    with pytest.raises(InputError, match="held: the label pink is none of"):
        split_corpus(colours(), Corpus.of(["x"], "held", labels=["pink"]), "auto", 0.1, 0)


@pytest.mark.parametrize(
    ("labels", "names"),
    [([10, 9, 2], ("2", "9", "10")), (["b", "a"], ("a", "b")), ([1.0, 0.0], ("0", "1")), ([0.5, 1.0], ())],
)
def test_task_by_labels(labels: list, names: tuple) -> None:
    assert task_of("auto", labels, "x").names == names


@pytest.mark.parametrize(
    ("corpus", "training", "line"),
    [
        (Corpus.of(["a", "b"]), {}, "no column 'label'"),
        (Corpus.of(["a", "b"], labels=[1, 1]), {}, "one class only"),
        (Corpus.of(["a", "b", "c"], labels=[1, 1, 0]), {}, "the class 0 has 0 texts"),
        (Corpus.of(["a", " "], labels=[None, 1]), {}, "no text with a label"),
        (Corpus.of(["a", "b"], labels=["x", "y"]), {"task": "regression"}, "not numbers"),
        (Corpus.of(["a", "b"], labels=[0.5, 0.5]), {}, "nothing to learn"),
    ],
)
def test_refused_in_one_line(corpus: Corpus, training: dict, line: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=line) as fault:
        train_classifier("all-MiniLM-L6-v2", corpus, tmp_path / "m", Training(**training))
    assert "\n" not in str(fault.value)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("labels", [("red", "blue"), (1.5, 2.5)])
def test_a_validation_corpus_without_tokens_is_refused(small: str, tmp_path: Path, capsys, labels: tuple) -> None:
    nothing, words = tmp_path / "nothing.csv", tmp_path / "words.csv"
    nothing.write_text("".join(f"{row}\n" for row in ("text,label", *(f"\u200b,{each}" for each in labels))))
    rows = (f"thing number {i},{labels[i % 2]}" for i in range(12))
    words.write_text("".join(f"{row}\n" for row in ("text,label", *rows)))
    command = ["train", "classifier", small, "--corpus", f"{words}?text=text&label=label"]
    command += ["--validate-on", f"held={nothing}?text=text&label=label", "--store", str(tmp_path / "store")]
    with pytest.raises(SystemExit) as left:
        main([*command, "--out", str(tmp_path / "model")])
    assert left.value.code == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("theodolite: held: no text held out has both a label and tokens")
    assert not any("Traceback" in line for line in said) and not any((tmp_path / "model").iterdir())


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"validation": 1.0},
        {"learning_rate": 0.0},
        {"freeze": "some"},
        {"freeze": "1-999999999"},
        {"seed": 2**32},
        {"weights": "odd"},
        {"attention_dropout": 1.0},
    ],
)
def test_options_are_checked(wrong: dict) -> None:
    with pytest.raises(InputError, match=f"--{next(iter(wrong)).replace('_', '-')}"):
        Training(**wrong)


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        train_classifier("all-MiniLM-L6-v2", colours(), tmp_path, Training())


@given(st.lists(st.integers(1, 50), min_size=2, max_size=5))
def test_balanced_weights_are_scikit_learns(counts: list[int]) -> None:
    targets = np.repeat(np.arange(len(counts)), counts)
    expected = compute_class_weight("balanced", classes=np.arange(len(counts)), y=targets)
    np.testing.assert_allclose(class_weights("balanced", np.array(counts)), expected)
    even = max(counts) <= 1.5 * min(counts)
    assert (class_weights("auto", np.array(counts)) is None) == even
    assert class_weights("none", np.array(counts)) is None


def test_scores_by_their_definitions() -> None:
    rng = np.random.default_rng(1)
    truth, logits = rng.integers(0, 3, 50), rng.normal(size=(50, 3))
    found = class_scores(logits, truth.astype(float))
    said = [int(np.argmax(row)) for row in logits]
    parts = []
    for c in range(3):
        hit = sum(s == t == c for s, t in zip(said, truth, strict=True))
        parts.append(2 * hit / (said.count(c) + truth.tolist().count(c)))
    assert found["macro_f1"] == pytest.approx(sum(parts) / 3)
    assert found["accuracy"] == sum(s == t for s, t in zip(said, truth, strict=True)) / 50
    x, y = rng.normal(size=50), rng.normal(size=50)
    values = value_scores(x, y)
    assert values["pearson"] == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert values["mse"] == pytest.approx(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / 50)
    low, high = interval(values, 50)
    assert low < values["pearson"] < high
    assert "pearson" not in value_scores(np.ones(5), np.arange(5.0))


def test_evaluations_are_spread_and_patience_ends() -> None:
    pace = Pace(2, 1e-3, 8, patience=2, evaluations=2, seed=0, steps_an_epoch=7)
    assert [s for s in range(1, 15) if pace.looks_after(s)] == [4, 7, 11, 14]

    class State:
        def __init__(self, step: int, losses: list[float]) -> None:
            self.global_step, self.log_history = step, [{"eval_loss": x} for x in losses]

    assert not pace.over(State(11, [0.5, 0.4, 0.45]))
    assert pace.over(State(11, [0.4, 0.5, 0.45]))
    assert pace.over(State(14, [0.5, 0.4]))


def test_early_stopping_keeps_the_best(small: str, tmp_path: Path) -> None:
    """Labels that mean nothing, learnt by heart: the loss on others rises."""
    rng = np.random.default_rng(0)
    corpus = Corpus.of([f"entry {i} {rng.integers(1000)}" for i in range(40)], labels=rng.integers(0, 2, 40).tolist())
    training = Training(epochs=12, learning_rate=2e-3, batch_size=8, validation=0.3, evaluations=1, patience=1)
    scores = train_classifier(small, corpus, tmp_path / "m", training, device="cpu")
    losses = [row["loss"] for row in scores.history]
    assert scores.steps < 12 * 4 and len(losses) < 12
    assert scores.loss == min(losses) and losses[-1] > min(losses)


def test_freeze_needs_no_training_to_be_seen(small: str) -> None:
    model, _ = new_classifier(resolve(small), task_of("auto", ["a", "b"], "x"), None, seed=0)
    freeze(model, "all")
    free = {name for name, weight in model._head.named_parameters() if weight.requires_grad}
    assert {"classifier.weight", "classifier.bias"} <= free and not any("layer" in name for name in free)


def test_head_is_new_under_the_seed(trained, small: str) -> None:
    task = task_of("auto", ["a", "b"], "x")

    def head(path: str, seed: int) -> torch.Tensor:
        return new_classifier(resolve(path), task, None, seed=seed)[0]._head.classifier.weight.detach()

    assert torch.equal(head(small, 1), head(small, 1))
    assert not torch.equal(head(small, 1), head(small, 2))
    assert not torch.equal(head(str(trained[0]), 0), weights_of(trained[0])["classifier.weight"])


def test_real_texts_of_other_kinds_pass_the_split(shared: Path) -> None:
    with gzip.open(shared / "data" / "corpora" / "wiki.txt.gz", "rt", encoding="utf-8") as lines:
        texts = [line.rstrip("\n") for line in islice(lines, 500)]
    labels = [len(text) / 7 for text in texts]
    split = split_corpus(Corpus.of(texts, labels=labels), None, "auto", 0.2, 0)
    assert split.task.regression and len(split.validation) == round(0.2 * len(set(texts)))


def test_the_command_takes_labels_of_any_column(small: str, tmp_path: Path, capsys) -> None:
    corpus = colours(24)
    rows = zip(corpus.texts(), corpus.column("label").to_pylist(), strict=True)
    path = tmp_path / "colours.csv"
    path.write_text("said,kind\n" + "".join(f"{text},{label}\n" for text, label in rows), encoding="utf-8")
    options = ["--epochs", "1", "--evaluations", "1", "--store", str(tmp_path / "store"), "--json"]
    command = ["train", "classifier", small, "--corpus", f"{path}?text=said&label=kind", *options]
    with pytest.raises(SystemExit) as left:
        main([*command, "--out", str(tmp_path / "model")])
    assert left.value.code == 0, capsys.readouterr().err
    assert json.loads(capsys.readouterr().out)["training_texts"] > 10
    assert isinstance(Encoder.load(tmp_path / "model"), Classifier)
    with pytest.raises(SystemExit) as left:
        main(command)
    assert left.value.code == 2
    assert "--out DIR" in capsys.readouterr().err


# --- dropout of attention weights


def test_attention_dropout_is_changed_alone(small: str) -> None:
    task = task_of("auto", ["a", "b"], "x")
    plain, changed = (
        new_classifier(resolve(small), task, None, 0, rate)[0]._head.bert.encoder.layer[0].attention
        for rate in (None, 0.0)
    )
    assert (plain.self.dropout.p, plain.output.dropout.p) == (0.1, 0.1)
    assert (changed.self.dropout.p, changed.output.dropout.p) == (0.0, 0.1)


def test_a_model_without_attention_dropout_is_refused(small: str, tmp_path: Path) -> None:
    config = json.loads((Path(small) / "config.json").read_text())
    del config["attention_probs_dropout_prob"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="--attention-dropout: odd"):
        new_classifier(ModelFolder("odd", tmp_path), task_of("auto", ["a", "b"], "x"), None, 0, 0.0)


def test_later_options_make_another_training_only_where_they_are_used(small: str) -> None:
    keys = [
        classifier_key(resolve(small), colours(), None, training, None, False)
        for training in (Training(), Training(attention_dropout=0.0), Training(add_word=("zyx",)))
    ]
    before = {k: v for k, v in asdict(Training()).items() if k not in ("attention_dropout", "add_word")}
    parts = {"model": [resolve(small).hash, resolve(small).tokenizer_hash], "corpora": [colours().hash, None]}
    assert keys[0] == key_of({**parts, "options": before, "max_length": None})
    assert len(set(keys)) == 3


def test_a_training_that_was_moved_before_its_end_keeps_its_best_weights(
    small: str, sst2, tmp_path, monkeypatch
) -> None:
    options = replace(FAST, epochs=3, evaluations=1, patience=3, validation=0.3)
    few = Corpus.of(sst2.texts(0, 80), "few", labels=sst2.column("label").to_pylist()[:80])

    def trained(out: Path):
        return train_classifier(small, few, out, options)

    def cut(*_, **__):
        raise KeyboardInterrupt

    whole = trained(tmp_path / "whole")
    assert whole.best_step < whole.steps, "the last weights are the best: nothing is shown"
    with monkeypatch.context() as patched:
        patched.setattr("theodolite.train.classifier.finish", cut)
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path / "begun")
    (tmp_path / "begun").rename(tmp_path / "moved")
    assert trained(tmp_path / "moved").best_step == whole.best_step
    mine, other = (load_file(tmp_path / name / "model.safetensors") for name in ("moved", "whole"))
    assert all(torch.equal(mine[name], other[name]) for name in other)


def test_weights_of_another_shape_are_told(small: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(small, folder)
    config = json.loads((folder / "config.json").read_text())
    config["max_position_embeddings"] += 8
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"1 weights have not the shape .*position_embeddings"):
        new_classifier(resolve(str(folder)), task_of("auto", ["a", "b"], "x"), None, 0)


def test_what_frozen_layers_use_is_frozen_with_them() -> None:
    from transformers import ElectraConfig, ElectraModel, MPNetConfig, MPNetModel

    sizes = {
        "vocab_size": 20,
        "hidden_size": 8,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 8,
    }
    for model, part, with_layers in (
        (ElectraModel(ElectraConfig(**sizes, embedding_size=4)), "embeddings_project", False),
        (MPNetModel(MPNetConfig(**sizes)), "relative_attention_bias", True),
    ):
        for what, frozen in (("1", with_layers), ("embeddings", True), ("embeddings,1", True)):
            model.requires_grad_(True)
            blocks = model.encoder.layer
            freeze(SimpleNamespace(model=model, layers=2, name="it", _blocks=lambda blocks=blocks: blocks), what)
            weights = [w for name, w in model.named_parameters() if part in name]
            assert weights and all(w.requires_grad is not frozen for w in weights), (part, what)
            assert all(w.requires_grad for w in blocks[1].parameters())
            assert all(w.requires_grad is ("1" not in what) for w in blocks[0].parameters())


def test_texts_that_differ_by_blanks_and_capitals_alone_are_not_judged_by() -> None:
    texts = [f"text number {i}" for i in range(40)]
    twice = [*texts, *(f" {text.upper()}  " for text in texts)]
    split = split_corpus(Corpus.of(twice, "twice", labels=[i % 2 for i in range(80)]), None, "auto", 0.25, 0)
    judged = {text.strip().lower() for text in split.validation.texts}
    assert len(judged) == 10 and not judged & {text.strip().lower() for text in split.training.texts}
    assert split.left_out["same text as a held-out one"] == 10


def test_names_that_differ_by_blanks_alone_are_one_class() -> None:
    assert task_of("auto", ["good", " good", "bad "], "x").names == ("bad", "good")
    assert task_of("auto", ["good", "bad"], "x").targets([" bad", "good "], "x").tolist() == [0, 1]


def test_classes_that_nobody_gave_or_answered_do_not_count_in_f1() -> None:
    logits = np.eye(3)[[0, 1, 1, 0]]
    assert class_scores(logits, np.array([0.0, 1, 1, 0]))["macro_f1"] == 1
    assert class_scores(logits, np.array([0.0, 2, 2, 0]))["macro_f1"] == pytest.approx(1 / 3)
    assert value_scores(np.array([1.0, 2]), np.array([1.0, 3])) == {"mse": 0.5}


def test_a_full_disk_is_told_in_one_line(tmp_path: Path, monkeypatch) -> None:
    out = tmp_path / "not" / "there"
    with pytest.raises(RuntimeError, match="unexpected pos"), ready_to_train(out):
        raise RuntimeError("unexpected pos")
    monkeypatch.setattr("shutil.disk_usage", lambda place: SimpleNamespace(free=0) if place == tmp_path else None)
    with pytest.raises(InputError, match="there: the disk is full; make room, and the same"), ready_to_train(out):
        raise RuntimeError("unexpected pos")
    with pytest.raises(InputError, match=r"^mine$"), ready_to_train(out):
        raise InputError("mine")


# --- words added to the vocabulary

NEW = ("COMMON_0", "zyxwvut")


def test_added_words_are_single_items_before_and_after_saving(small: str, tmp_path: Path) -> None:
    texts = [f"{NEW[i % 2]} goes with number {i}" for i in range(40)]
    corpus = Corpus.of(texts, "new", labels=[str(i % 2) for i in range(40)])
    train_classifier(small, corpus, tmp_path / "model", replace(FAST, epochs=3, add_word=NEW))
    found = Encoder.load(tmp_path / "model")
    old = Encoder.load(small)
    for word in NEW:
        assert len(old.tokenise([word]).ids) > 1
        tokens = found.tokenise([f"a {word}, and {word}s"])
        [at] = np.flatnonzero(tokens.ids >= len(old.input_embeddings))
        assert f"a {word}, and"[tokens.start[at] : tokens.end[at]] == word
    assert found.input_embeddings.shape[0] == old.input_embeddings.shape[0] + 2
    assert found.logits(texts).argmax(axis=1).tolist() == [i % 2 for i in range(40)]


def test_an_added_word_begins_as_the_mean_of_its_pieces(small: str) -> None:
    classifier, _ = new_classifier(resolve(small), task_of("auto", ["a", "b"], "x"), None, 0, None, NEW)
    old = Encoder.load(small)
    for word in NEW:
        expected = old.input_embeddings[old.tokenise([word]).ids].mean(axis=0)
        [item] = classifier.tokenise([word]).ids
        np.testing.assert_allclose(classifier.input_embeddings[item], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fjord",), "--add-word fjord: is one item"),
        (("two words",), "--add-word 'two words': not a single word"),
        (("",), "--add-word '': not a single word"),
        (("zyxwvut", "zyxwvut"), "--add-word zyxwvut: given twice"),
    ],
)
def test_words_that_cannot_be_added(small: str, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        new_classifier(resolve(small), task_of("auto", ["a", "b"], "x"), None, 0, None, words)

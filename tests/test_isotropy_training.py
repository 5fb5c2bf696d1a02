"""Isotropy in training: frozen features, rounding inside the model, CLS by epoch, and the experiments put together."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from theodolite import Encoder
from theodolite.accumulate import wilson
from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.instrument import Silent
from theodolite.isotropy.epochs import FIGURES, ClsByEpoch
from theodolite.isotropy.finetuning import HEAD, PLAIN, REGRESSION, ROUNDED, fine_tuning, rte, wic
from theodolite.isotropy.frozen import Features, features, frozen_accuracy
from theodolite.isotropy.measures import measure_array
from theodolite.isotropy.published import BY_FILE, FINE_TUNED, METHODS, PROPOSED
from theodolite.isotropy.reproduce import reproduce
from theodolite.rounding import rounder, rounder_of
from theodolite.store import Store
from theodolite.train.batch_rounding import (
    BatchRounding,
    cluster_directions,
    cluster_means,
    clusters_of,
    less,
    lloyd,
    nearest,
)
from theodolite.train.classifier import Training, train_classifier
from theodolite.train.examples import split_corpus
from theodolite.train.folder import record_of
from theodolite.train.rounded import FILE, _install, load_rounded, rounded, rounding_of

ONE_EPOCH = Training(epochs=1, learning_rate=3e-4, batch_size=32, evaluations=1)


@pytest.fixture(scope="module")
def small(shared: Path) -> str:
    return str(shared / "models" / "xtremedistil-l6-h256")


@pytest.fixture(scope="module")
def pairs(shared: Path) -> tuple[Corpus, Corpus]:
    """200 short pairs of RTE to train on and 60 to judge by."""
    first, second = rte(shared / "data")
    return shortest(first, 200), shortest(second, 60)


def shortest(corpus: Corpus, n: int) -> Corpus:
    a, b, labels = corpus.texts(), corpus.texts_b(), corpus.column("label").to_pylist()
    rows = sorted(range(len(a)), key=lambda i: len(a[i]) + len(b[i]))[:n]
    return Corpus.of([a[i] for i in rows], corpus.name, texts_b=[b[i] for i in rows], labels=[labels[i] for i in rows])


@pytest.fixture(scope="module")
def tuned(small: str, pairs: tuple[Corpus, Corpus], tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("tuned")
    found = fine_tuning(small, "RTE", *pairs, folder, ONE_EPOCH, device="cpu")
    [place] = folder.iterdir()
    return found, folder, place


def blobs(seed: int, sizes: tuple[int, ...] = (8, 8, 8, 8), dim: int = 6, shift: float = 0.0) -> Any:
    """Vectors about points that are far apart, and whose they are; ``shift`` moves them all."""
    random = np.random.default_rng(seed)
    centres = 100 * np.eye(dim)[: len(sizes)] + shift
    labels = np.repeat(np.arange(len(sizes)), sizes)
    vectors = centres[labels] + random.normal(size=(len(labels), dim)) * (1 + np.arange(dim))
    return torch.from_numpy(vectors), torch.from_numpy(labels)


def naive(vectors: Any, labels: Any) -> Any:
    """Each cluster less its mean, without the first eigenvector of its covariance if it has three vectors."""
    found = np.zeros(vectors.shape)
    for cluster in set(labels.tolist()):
        members = [i for i, label in enumerate(labels.tolist()) if label == cluster]
        mean = sum(vectors[i].detach().numpy() for i in members) / len(members)
        off = {i: vectors[i].detach().numpy() - mean for i in members}
        if len(members) >= 3:
            first = np.linalg.eigh(sum(np.outer(x, x) for x in off.values()))[1][:, -1]
            off = {i: x - (x @ first) * first for i, x in off.items()}
        for i, x in off.items():
            found[i] = x
    return found


# --- the transform of a batch


def test_given_assignments_it_is_the_plain_definition() -> None:
    vectors, labels = blobs(0, sizes=(1, 2, 3, 9))
    order = torch.randperm(15, generator=torch.Generator().manual_seed(1))
    vectors, labels = vectors[order], labels[order]
    # The fifth cluster is empty.
    means = cluster_means(vectors, labels, 5)
    directions = cluster_directions(vectors, labels, means)
    assert directions.norm(dim=1).numpy() == pytest.approx([0, 0, 1, 1, 0])
    np.testing.assert_allclose(less(vectors, labels, means, directions), naive(vectors, labels), atol=1e-9)


def test_a_batch_is_clustered_and_rounded() -> None:
    vectors, labels = blobs(3)
    rounding = BatchRounding(6, clusters_of(32)).double()
    np.testing.assert_allclose(rounding(vectors), naive(vectors, labels), atol=1e-9)
    assert rounding(vectors.float()).dtype == torch.float32


def test_lloyd_is_the_plain_algorithm() -> None:
    random = np.random.default_rng(4)
    vectors, start = random.normal(size=(30, 3)), random.normal(size=(4, 3))
    start[3] = 50.0  # nothing is near it, and it stays
    centres = start.copy()
    for _ in range(5):
        said = [min(range(4), key=lambda c: sum((x - centres[c]) ** 2)) for x in vectors]
        for c in set(said):
            centres[c] = np.mean([x for x, s in zip(vectors, said, strict=True) if s == c], axis=0)
    said = [min(range(4), key=lambda c: sum((x - centres[c]) ** 2)) for x in vectors]
    assert lloyd(torch.from_numpy(vectors), torch.from_numpy(start)).tolist() == said


def test_running_statistics_keep_to_their_clusters() -> None:
    rounding = BatchRounding(6, 4, momentum=0.25).double()
    (first, labels), (second, _) = blobs(5), blobs(6, shift=2.0)
    rounding(first)
    places = nearest(cluster_means(first, labels, 4), rounding.means)
    assert sorted(places.tolist()) == [0, 1, 2, 3]
    was = cluster_directions(first, labels, cluster_means(first, labels, 4))
    # In another order: the clusters are told by where they are.
    rounding(second.flip(0))
    for blob, place in enumerate(places.tolist()):
        parts = [x[labels == blob].numpy() for x in (first, second)]
        expected = 0.75 * parts[0].mean(axis=0) + 0.25 * parts[1].mean(axis=0)
        np.testing.assert_allclose(rounding.means[place], expected, atol=1e-9)
        new = np.linalg.svd(parts[1] - parts[1].mean(axis=0))[2][0]
        old = was[blob].numpy()
        mixed = 0.75 * old + 0.25 * (new if new @ old >= 0 else -new)
        assert abs(mixed @ rounding.directions[place].numpy()) == pytest.approx(np.linalg.norm(mixed))
        assert rounding.directions[place].norm() == pytest.approx(1)


def test_evaluation_does_not_depend_on_the_batch() -> None:
    rounding = BatchRounding(6, 4)
    asked = blobs(9)[0].float()
    assert torch.equal(rounding.eval()(asked), asked)
    rounding.train()
    for seed in range(3):
        rounding(blobs(seed)[0].float())
    kept = {name: values.clone() for name, values in rounding.eval().state_dict().items()}
    together = rounding(asked)
    assert all(torch.equal(together[i : i + 1], rounding(asked[i : i + 1])) for i in range(len(asked)))
    assert all(torch.equal(kept[name], values) for name, values in rounding.state_dict().items())
    for vector, found in zip(asked.numpy(), together.numpy(), strict=True):
        place = int(np.argmin([np.sum((vector - mean) ** 2) for mean in kept["means"].numpy()]))
        off, direction = vector - kept["means"][place].numpy(), kept["directions"][place].numpy()
        np.testing.assert_allclose(found, off - (off @ direction) * direction, atol=1e-4)


def test_a_small_batch_takes_the_clusters_it_is_nearest_to() -> None:
    rounding = BatchRounding(6, 4).double()
    vectors, labels = blobs(0)
    rounding(vectors)
    kept = rounding.means.clone()
    some = vectors[labels == 2] + 1
    found = rounding(some)
    np.testing.assert_allclose(found, naive(some, torch.zeros(len(some))), atol=1e-9)
    place = int(nearest(some.mean(dim=0, keepdim=True), kept))
    assert [bool((a != b).any()) for a, b in zip(kept, rounding.means, strict=True)] == [c == place for c in range(4)]
    assert rounding.missed.tolist() == [0 if c == place else 1 for c in range(4)]


def test_a_cluster_that_was_left_behind_begins_anew() -> None:
    rounding = BatchRounding(6, 4).double()
    rounding(blobs(0)[0])
    away, labels = blobs(1, sizes=(16, 16), shift=1e4)
    for _ in range(20):
        rounding(away)
    assert (rounding.missed >= 20).sum() == 2
    rounding(away)
    assert rounding.missed.tolist() == [0, 0, 0, 0]
    # All are where the vectors are now, and none is of two blobs.
    assert (rounding.means > 8e3).all()
    assert len(set(nearest(cluster_means(away, labels, 2), rounding.means).tolist())) == 2


def test_gradients_flow_through_vectors_and_means() -> None:
    vectors, labels = blobs(2, sizes=(1, 2, 4, 9))
    directions = cluster_directions(vectors, labels, cluster_means(vectors, labels, 4))
    vectors.requires_grad_(True)

    def fixed(x: torch.Tensor) -> torch.Tensor:
        return less(x, labels, cluster_means(x, labels, 4), directions)

    # Against finite differences.
    assert torch.autograd.gradcheck(fixed, vectors)
    whole, labels = blobs(7)
    directions = cluster_directions(whole, labels, cluster_means(whole, labels, 4))
    weights = torch.from_numpy(np.random.default_rng(0).normal(size=whole.shape))
    found, expected = (
        torch.autograd.grad((weights * made(whole.requires_grad_(True))).sum(), whole)[0]
        for made in (BatchRounding(6, 4).double(), fixed)
    )
    torch.testing.assert_close(found, expected)
    assert (found != 0).any()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(3, 40), st.floats(-100, 100))
def test_where_the_origin_lies_makes_no_difference(seed: int, n: int, shift: float) -> None:
    vectors = torch.from_numpy(np.random.default_rng(seed).normal(size=(n, 3)))
    here, there = (BatchRounding(3, 4).double()(x) for x in (vectors, vectors + shift))
    torch.testing.assert_close(here, there, atol=1e-8, rtol=0)
    assert here.norm() <= (vectors - vectors.mean(dim=0)).norm()


def test_equal_vectors_become_zeros_and_have_no_direction() -> None:
    rounding = BatchRounding(3, 1)
    assert rounding(torch.full((9, 3), 0.1)).abs().max() < 1e-6
    assert not rounding.directions.any()


@pytest.mark.parametrize("wrong", [(0, 1, 0.1), (3, 0, 0.1), (3, 1, 0.0), (3, 1, 1.5)])
def test_what_is_no_rounding_is_refused(wrong: tuple[int, int, float]) -> None:
    with pytest.raises(InputError, match="BatchRounding"):
        BatchRounding(*wrong)
    with pytest.raises(InputError, match=r"\(n, 3\)"):
        BatchRounding(3, 1)(torch.zeros(2, 4))


# --- inside a model


def tiny(kind: str, **more: Any) -> Any:
    """A classifier of a family, with random weights."""
    from transformers import AutoConfig, AutoModelForSequenceClassification

    torch.manual_seed(0)
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 16}
    config = AutoConfig.for_model(kind, vocab_size=50, pad_token_id=0, **sizes, **more)
    model = AutoModelForSequenceClassification.from_config(config).eval()
    return SimpleNamespace(_head=model, model=model.base_model, name=kind, device=torch.device("cpu"))


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("bert", {}),
        ("roberta", {}),
        ("electra", {"embedding_size": 16}),
        ("albert", {"embedding_size": 16}),
        ("mpnet", {}),
        ("deberta-v2", {}),
        ("distilbert", {"dim": 16, "n_heads": 2, "n_layers": 2, "hidden_dim": 16}),
        ("modernbert", {"classifier_pooling": "cls"}),
    ],
)
def test_heads_of_many_families_are_given_rounder_vectors(kind: str, more: dict[str, Any]) -> None:
    classifier = tiny(kind, **more)
    ids = torch.arange(5, 25).reshape(4, 5)
    with torch.no_grad():
        plain = classifier._head(ids).logits
        cls = classifier.model(ids).last_hidden_state[:, 0]
        rounding = _install(classifier, BatchRounding(16, 1).eval())
        assert torch.equal(classifier._head(ids).logits, plain)
        rounding.train()(cls)
        rounding.eval()
        # Of every text the same answer, once each CLS vector is taken to zero.
        rounding.register_forward_hook(lambda _module, given, found: found * 0)
        same = classifier._head(ids).logits
    assert not torch.equal(same, plain)
    torch.testing.assert_close(same, same[:1].expand_as(same))


class MeanPooler(torch.nn.Module):
    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return states.mean(dim=1)


def test_a_head_that_does_not_look_at_cls_is_refused() -> None:
    averaging = tiny("bert")
    averaging.model.pooler = MeanPooler()
    others = (tiny("modernbert", classifier_pooling="mean"), tiny("gpt2", n_embd=16, n_head=2, n_layer=2))
    for classifier in (averaging, *others):
        with pytest.raises(InputError, match="it cannot be told where its head takes the CLS vector"):
            _install(classifier, BatchRounding(16, 1))


def test_the_rounded_model_answers_as_it_was_judged(tuned, pairs: tuple[Corpus, Corpus]) -> None:
    found, _, place = tuned
    [row] = [row for row in found.rows if row["training"] == ROUNDED]
    held = split_corpus(*pairs, "classes", 0.5, 0).validation
    classifier = load_rounded(place / ROUNDED, device="cpu")
    logits = classifier.logits(held.texts, held.texts_b)
    assert row["accuracy"] == (logits.argmax(axis=1) == held.targets).mean()
    assert (row["low"], row["high"]) == wilson(round(row["accuracy"] * 60), 60)
    cls = classifier.embed(held.texts, held.texts_b, pooling="cls")
    head = classifier._head
    with torch.no_grad():
        seen = torch.from_numpy(rounded(classifier, cls))
        by_hand = head.classifier(torch.tanh(head.bert.pooler.dense(seen)))
    np.testing.assert_allclose(logits, by_hand, atol=1e-4)
    assert row["mean_cosine"] == pytest.approx(measure_array(seen.numpy()).mean_cosine, abs=1e-6)
    plainly = Encoder.load(place / ROUNDED, device="cpu")
    assert abs(plainly.logits(held.texts, held.texts_b) - logits).max() > 1e-3
    assert rounding_of(classifier).means.shape == (4, 256)
    assert (
        load_file(place / ROUNDED / "model.safetensors").keys() == load_file(place / PLAIN / "model.safetensors").keys()
    )
    assert "Rounded in training" in (place / ROUNDED / "README.md").read_text()
    assert "Rounded in training" not in (place / PLAIN / "README.md").read_text()


def test_a_batch_is_rounded_whole_however_long(
    small: str, pairs: tuple[Corpus, Corpus], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("theodolite.train.windowed.PROCESSOR_STEP_TOKENS", 64)
    seen, of_batch = [], BatchRounding._of_batch

    def counted(self: BatchRounding, vectors: torch.Tensor) -> torch.Tensor:
        seen.append(len(vectors))
        return of_batch(self, vectors)

    monkeypatch.setattr(BatchRounding, "_of_batch", counted)
    training = Training(epochs=1, batch_size=16, evaluations=1)
    corpus, held = shortest(pairs[0], 40), shortest(pairs[1], 10)
    train_classifier(small, corpus, tmp_path / "m", training, validation=held, device="cpu", rounded=True)
    assert seen == [16, 16, 8]


def test_a_folder_that_is_not_rounded_is_refused(tuned, tmp_path: Path) -> None:
    _, _, place = tuned
    with pytest.raises(InputError, match=r"has no rounding\.safetensors"):
        load_rounded(place / PLAIN)
    for path in (place / ROUNDED).iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / FILE).write_bytes(b"nothing")
    with pytest.raises(InputError, match="is damaged") as fault:
        load_rounded(tmp_path)
    assert "\n" not in str(fault.value)


# --- epoch by epoch


def test_epochs_are_measured_as_embeddings_are(tuned, small: str, pairs: tuple[Corpus, Corpus]) -> None:
    found, _, place = tuned
    rows = {(row["training"], row["epoch"], row["layer"]): row for row in found.epochs}
    assert len(rows) == len(found.epochs) == 2 * 2 * 7
    held = split_corpus(*pairs, "classes", 0.5, 0).validation
    for epoch, model in ((0, small), (1, place / PLAIN)):
        encoder = Encoder.load(model, device="cpu")
        for layer in (0, 3, 6):
            vectors = encoder.embed(held.texts, held.texts_b, pooling="cls", layer=layer)
            expected = measure_array(vectors)
            for name in FIGURES:
                value = getattr(expected, name)
                wanted = value if isinstance(value, str | None) else pytest.approx(value, rel=1e-4, abs=1e-6)
                assert rows[PLAIN, epoch, layer][name] == wanted, (epoch, layer, name)


class Draws(ClsByEpoch):
    """Takes random numbers too, and would disturb a training that does not guard against it."""

    def __call__(self, classifier: Any, epoch: int) -> list[dict[str, Any]]:
        torch.rand(epoch + 3)
        return super().__call__(classifier, epoch)


class Stops(Silent):
    """Interrupts after so many texts."""

    def __init__(self, texts: int) -> None:
        self.left = texts

    def advance(self, texts: int) -> None:
        self.left -= texts
        if self.left <= 0:
            raise KeyboardInterrupt


def test_watched_interrupted_and_rerun_ends_with_the_same_weights(
    small: str, pairs: tuple[Corpus, Corpus], tmp_path: Path
) -> None:
    corpus, held = shortest(pairs[0], 40), shortest(pairs[1], 10)
    training = Training(epochs=2, learning_rate=5e-4, batch_size=16, evaluations=1, patience=9)
    watch = Draws(held.texts(), held.texts_b())

    def train(name: str, **more: Any) -> dict[str, torch.Tensor]:
        train_classifier(small, corpus, tmp_path / name, training, validation=held, device="cpu", rounded=True, **more)
        return load_file(tmp_path / name / "model.safetensors") | load_file(tmp_path / name / FILE)

    alone, watched = train("alone"), train("watched", watch=watch)
    with pytest.raises(KeyboardInterrupt):
        train("stopped", watch=watch, progress=Stops(40 + 16))
    assert not (tmp_path / "stopped" / "training.json").exists()
    resumed = train("stopped", watch=watch)
    for other in (watched, resumed):
        assert alone.keys() == other.keys()
        assert [name for name in alone if not torch.equal(alone[name], other[name])] == []
    rows = record_of(tmp_path / "watched")["watched"]
    assert [(row["epoch"], row["layer"]) for row in rows] == [(e, at) for e in range(3) for at in range(7)]
    assert record_of(tmp_path / "stopped")["watched"] == rows
    assert "watched" not in record_of(tmp_path / "alone")
    # The same options without the rounding are another training.
    with pytest.raises(InputError, match="another training"):
        train_classifier(small, corpus, tmp_path / "alone", training, validation=held, device="cpu")


# --- frozen features


@pytest.fixture(scope="module")
def sentiment(minilm, shared: Path) -> Features:
    folder = shared / "data" / "sst2"
    parts = [Corpus.read(f"{folder}/{name}?text=sentence&label=label", limit=n) for name, n in SST2.items()]
    return features(minilm, *parts)


SST2 = {"train.tsv.gz": 400, "dev.tsv": 150}


def test_frozen_accuracy_is_scikit_learns(sentiment: Features) -> None:
    options = {"n_clusters": 5, "n_directions": 3}
    methods = ("none", "abtt", "kmeans+mean+pca", "whitening")
    rows = frozen_accuracy(sentiment, methods, lambda method: rounder_of(method, options))
    assert [row["method"] for row in rows] == list(methods)
    for row in rows:
        made = rounder_of(row["method"], options).fit(sentiment.training.astype(float))
        learnt, asked = (made.transform(x.astype(float)) for x in (sentiment.training, sentiment.test))
        kept = learnt.std(axis=0) > 1e-6 * np.median(learnt.std(axis=0))
        judge = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
        judge.fit(learnt[:, kept], sentiment.training_labels)
        hits = int((judge.predict(asked[:, kept]) == sentiment.test_labels).sum())
        assert row["accuracy"] == hits / 150
        assert (row["low"], row["high"]) == wilson(hits, 150)
        assert row["dead"] == (~kept).sum()
        assert row["mean_cosine"] == pytest.approx(measure_array(asked).mean_cosine)
        assert row["isoscore"] == pytest.approx(measure_array(asked).isoscore)
        largest = np.bincount(sentiment.training_labels).argmax()
        assert row["baseline"] == (sentiment.test_labels == largest).mean()
        # Whitening 400 vectors of 384 dimensions leaves nothing but noise.
        assert (row["accuracy"] > row["baseline"] + 0.1) == (row["method"] != "whitening")
    assert rows[2]["mean_cosine"] < rows[0]["mean_cosine"] / 2
    assert rows[0]["log_partition"] < rows[2]["log_partition"]


def test_features_are_the_encoders_own(sentiment: Features, minilm, shared: Path) -> None:
    corpus = Corpus.read(f"{shared}/data/sst2/dev.tsv?text=sentence&label=label", limit=150)
    np.testing.assert_allclose(sentiment.test, minilm.embed(corpus.texts(), pooling="cls"), atol=1e-5)
    assert sentiment.test_labels.tolist() == corpus.column("label").to_pylist()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"training_labels": np.zeros(6)}, "one class only"),
        ({"test": np.zeros((2, 4))}, "3 dimensions and test features of 4"),
        ({"test": np.full((2, 3), np.nan)}, "test features with NaN"),
        ({"test_labels": np.zeros(3)}, r"labels of shape \(3,\)"),
        ({"test": np.zeros((0, 3)), "test_labels": np.zeros(0)}, "at least 1"),
        ({"training": np.ones((6, 3))}, "are equal"),
    ],
)
def test_bad_features_are_refused_in_one_line(change: dict[str, Any], line: str) -> None:
    random = np.random.default_rng(0)
    good = {
        "training": random.normal(size=(6, 3)),
        "training_labels": np.array([0, 1, 0, 1, 0, 1]),
        "test": random.normal(size=(2, 3)),
        "test_labels": np.array([0, 1]),
    }
    assert frozen_accuracy(Features(**good), ["none"], rounder)[0]["n"] == 2
    with pytest.raises(InputError, match=line) as fault:
        frozen_accuracy(Features(**(good | change)), ["none"], rounder)
    assert "\n" not in str(fault.value)


# --- put together


def test_fine_tuning_has_every_row_and_answers_at_once_again(
    tuned, small: str, pairs: tuple[Corpus, Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, folder, place = tuned
    ways = [(row["training"], row["method"], row["judge"]) for row in found.rows]
    assert ways == [
        (PLAIN, "none", HEAD),
        (PLAIN, "none", REGRESSION),
        (PLAIN, "kmeans+mean+pca", REGRESSION),
        (ROUNDED, "batch kmeans+mean+pca", HEAD),
    ]
    for row in found.rows:
        assert row["low"] <= row["accuracy"] <= row["high"] and row["n"] == 60
        assert (row["dataset"], row["encoder"]) == ("RTE", "xtremedistil-l6-h256")
    assert len({frozenset(row) for row in found.rows}) == len({frozenset(row) for row in found.epochs}) == 1
    head, regression = found.rows[:2]
    assert all(head[name] == pytest.approx(regression[name], rel=1e-6) for name in FIGURES[:-1])
    [last] = [r for r in found.epochs if (r["training"], r["epoch"], r["layer"]) == (PLAIN, 1, 6)]
    assert head["mean_cosine"] == pytest.approx(last["mean_cosine"], abs=1e-5)
    assert abs(found.rows[3]["mean_cosine"]) < last["mean_cosine"]

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr("theodolite.isotropy.finetuning.train_classifier", never)
    assert fine_tuning(small, "RTE", *pairs, folder, ONE_EPOCH, device="cpu") == found
    assert json.loads((place / "fine-tuning.json").read_text())["rows"] == found.rows


def test_fine_tuning_refuses_what_is_no_class(small: str, tmp_path: Path) -> None:
    values = Corpus.of(["a", "b", "c"], "values", labels=[0.5, 1.0, 2.5])
    with pytest.raises(InputError, match="values: fine_tuning wants classes"):
        fine_tuning(small, "x", values, values, tmp_path, Training())
    with pytest.raises(InputError, match=r"--data: no rte/train\.tsv\.gz"):
        rte(tmp_path)
    with pytest.raises(InputError, match=r"--data: no wic/train\.data\.txt\.gz"):
        wic(tmp_path)


def test_the_data_sets_are_pairs_with_classes(shared: Path) -> None:
    for read, sizes in ((rte, (2490, 277)), (wic, (5428, 638))):
        found = read(shared / "data")
        assert tuple(map(len, found)) == sizes
        assert all(corpus.texts_b(0, 1) and len(set(corpus.column("label").to_pylist())) == 2 for corpus in found)


# --- the source's experiments, whole


def _first_lines(source: Path, target: Path, number: int) -> None:
    opened = gzip.open if source.suffix == ".gz" else open
    target.parent.mkdir(parents=True, exist_ok=True)
    with opened(source, "rt", encoding="utf-8") as file, opened(target, "wt", encoding="utf-8") as out:
        out.writelines(islice(file, number))


def test_the_whole_reproduction_on_a_few_texts(small: str, shared: Path, tmp_path: Path, monkeypatch) -> None:
    """Every claim is there; a file of STS that is missing is said; CLS by epoch is a table and a figure."""
    data = tmp_path / "data"
    for name in ("sts/STSB_dev.tsv", "sts/SICK_train.txt", "sst2/dev.tsv", "sst2/train.tsv.gz",
                 "rte/train.tsv.gz", "rte/dev.tsv.gz", "corpora/wiki.txt.gz"):  # fmt: skip
        _first_lines(shared / "data" / name, data / name, 60)
    # WiC goes the same way.
    monkeypatch.setattr("theodolite.isotropy.reproduce.FINE_TUNED", {"RTE": FINE_TUNED["RTE"]})
    found = reproduce(data, [small], limit=40, store=Store(tmp_path / "store"), progress=Silent())
    said = {claim.claim: claim for claim in found.claims}
    assert len(said) == len(found.claims)
    for method in METHODS:
        assert said[f"STS-B: {method}"].measured.count(" / ") == 2
        assert said[f"STS2015: {method}"].measured == "not measured: no sts/STS15.tsv"
    assert set(BY_FILE) == {name.split(":")[0] for name in said if name.endswith(f": {PROPOSED}")}
    assert said["clusters gain on every data set"].measured.count(",") == 1
    for epoch in range(4):
        layers = said[f"RTE, plain, {epoch} epochs done: isotropy (mean offset) of CLS in layers 0, 1, …"]
        assert layers.measured.count("(") == 7
    table = found.reading.tables["cls_by_epoch"].to_pylist()
    assert {(r["dataset"], r["training"]) for r in table} == {("RTE", PLAIN), ("RTE", ROUNDED)}
    found.save(tmp_path / "out")
    assert "cls-by-epoch" in found.reading.drawings()
    (data / "sts" / "STSB_dev.tsv").unlink()
    with pytest.raises(InputError, match=r"no sts/STSB_dev\.tsv"):
        reproduce(data, [small], limit=40, store=Store(tmp_path / "store"), progress=Silent())

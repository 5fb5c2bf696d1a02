"""The same transforms as torch modules, by themselves and in a sentence-transformers pipeline with a real model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from theodolite.encoder.resolve import resolve
from theodolite.errors import InputError
from theodolite.rounding import METHODS, ClusterRemoval, MeanRemoval, Rounder, Whitening, load, rounder
from theodolite.rounding.modules import PipelineRounding, as_module

TEXTS = [
    "The tide went out and left the boats on the sand.",
    "Interest rates rose for the third time this year.",
    "A theodolite measures angles between points.",
    "She baked bread.",
    "Nobody had told him that the meeting was moved to Thursday afternoon, so he came alone.",
    "The court found for the plaintiff.",
]


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((6, 32)) * 2
    found = rng.standard_normal((3000, 32)) * np.arange(1, 33) ** -0.5 + centres[rng.integers(0, 6, 3000)]
    return (found + np.eye(32)[3] * 15).astype(np.float32)


def fitted(method: str, vectors: np.ndarray) -> Rounder:
    return rounder(method, **({"n_clusters": 8, "n_directions": 5} if "+" in method else {})).fit(vectors)


@pytest.mark.parametrize("method", METHODS)
def test_the_module_gives_the_estimators_numbers(method: str, vectors: np.ndarray) -> None:
    estimator = fitted(method, vectors)
    module = as_module(estimator)
    found = module(torch.from_numpy(vectors))
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), estimator.transform(vectors), atol=1e-5)
    shaped = module(torch.from_numpy(vectors[:30].reshape(2, 3, 5, 32)))
    assert shaped.shape == (2, 3, 5, 32)
    torch.testing.assert_close(shaped.reshape(30, 32), found[:30], atol=1e-5, rtol=0)
    torch.testing.assert_close(module(torch.from_numpy(vectors[0])), found[0], atol=1e-5, rtol=0)
    assert not list(module.parameters())


@pytest.mark.parametrize("method", METHODS)
def test_the_module_is_differentiable(method: str, vectors: np.ndarray) -> None:
    module = as_module(fitted(method, vectors)).double()
    given = torch.from_numpy(vectors[:3]).double().requires_grad_()
    assert torch.autograd.gradcheck(module, (given,), atol=1e-6)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "none"])
def test_shapes_and_number_types(method: str, vectors: np.ndarray) -> None:
    estimator = fitted(method, vectors)
    module = as_module(estimator)
    half = torch.from_numpy(vectors[:50]).bfloat16()
    found = module(half)
    assert found.dtype == torch.bfloat16
    expected = torch.from_numpy(estimator.transform(half.float().numpy()))
    torch.testing.assert_close(found.float(), expected, atol=1e-4, rtol=1e-2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        kept = module(torch.from_numpy(vectors[:50]))
    torch.testing.assert_close(kept, torch.from_numpy(estimator.transform(vectors[:50])), atol=1e-5, rtol=0)
    assert module(torch.empty(0, 32)).shape == (0, 32)
    with pytest.raises(InputError, match="vectors of 31 numbers, but the transform is of 32"):
        module(torch.zeros(2, 31))


def test_what_has_no_module_is_refused(vectors: np.ndarray) -> None:
    class Another(Whitening):
        pass

    class Stranger(Rounder):
        method = "strange"

    assert torch.is_tensor(as_module(Another().fit(vectors))(torch.zeros(32)))
    stranger = Stranger.__new__(Stranger)
    stranger.n_features_in_ = 3
    with pytest.raises(InputError, match="Stranger has no torch module"):
        as_module(stranger)
    with pytest.raises(InputError, match="on='word': give 'sentence'"):
        PipelineRounding(MeanRemoval().fit(vectors), on="word")


# In a pipeline


@pytest.fixture(scope="module")
def parts() -> tuple[torch.nn.Module, torch.nn.Module]:
    """The default model's transformer and pooling modules."""
    from sentence_transformers import SentenceTransformer

    pipeline = SentenceTransformer(str(resolve("all-MiniLM-L6-v2").path), device="cpu")
    return pipeline[0], pipeline[1]


def encoded(modules: list[torch.nn.Module], **options: object) -> np.ndarray:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(modules=modules, device="cpu").encode(TEXTS, **options)


@pytest.mark.parametrize("method", METHODS)
def test_after_pooling(method: str, parts, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    plain = encoded(list(parts))
    estimator = rounder(method, **({"n_clusters": 2, "n_directions": 1} if "+" in method else {})).fit(plain)
    pipeline = SentenceTransformer(modules=[*parts, PipelineRounding(estimator)], device="cpu")
    found = pipeline.encode(TEXTS)
    assert found.shape == (6, 384)
    np.testing.assert_allclose(found, estimator.transform(plain), atol=1e-5)
    pipeline.save(str(tmp_path / "model"))
    again = SentenceTransformer(str(tmp_path / "model"), device="cpu", trust_remote_code=True)
    assert isinstance(again[2], PipelineRounding) and again[2].on == "sentence"
    np.testing.assert_array_equal(again.encode(TEXTS), found)


def test_before_pooling(parts, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    by_text = encoded(list(parts), output_value="token_embeddings")
    tokens = np.concatenate([np.asarray(text) for text in by_text])
    estimator = ClusterRemoval(n_clusters=3, n_directions=2).fit(tokens)
    pipeline = SentenceTransformer(modules=[parts[0], PipelineRounding(estimator, on="token"), parts[1]], device="cpu")
    # The model's own pooling is the mean over all tokens, padding left out.
    expected = [estimator.transform(np.asarray(text)).mean(axis=0) for text in by_text]
    np.testing.assert_allclose(pipeline.encode(TEXTS), expected, atol=1e-5)
    pipeline.save(str(tmp_path / "model"))
    again = SentenceTransformer(str(tmp_path / "model"), device="cpu", trust_remote_code=True)
    assert again[1].on == "token"
    np.testing.assert_array_equal(again.encode(TEXTS), pipeline.encode(TEXTS))


def test_in_the_wrong_place(parts, vectors: np.ndarray) -> None:
    estimator = MeanRemoval().fit(np.zeros((2, 384)))
    with pytest.raises(InputError, match="there is no sentence_embedding yet for on='sentence'"):
        encoded([parts[0], PipelineRounding(estimator), parts[1]])
    with pytest.raises(InputError, match="vectors of 384 numbers, but the transform is of 32"):
        encoded([*parts, PipelineRounding(MeanRemoval().fit(vectors))])


def test_a_saved_module_is_a_saved_transform(vectors: np.ndarray, tmp_path: Path) -> None:
    estimator = fitted("kmeans+mean+pca", vectors)
    PipelineRounding(estimator, on="token").save(str(tmp_path))
    np.testing.assert_array_equal(load(tmp_path).transform(vectors), estimator.transform(vectors))
    assert PipelineRounding.load(str(tmp_path)).on == "token"
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(InputError, match=r"config\.json is missing or damaged"):
        PipelineRounding.load(str(tmp_path))


def test_the_room_does_not_import_torch() -> None:
    program = "import sys, theodolite.rounding; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)

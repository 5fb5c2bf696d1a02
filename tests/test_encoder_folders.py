"""sentence-transformers folders: their own pooling equals their own library, on the bundled model's weights."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from theodolite import Encoder
from theodolite.encoder.resolve import resolve
from theodolite.errors import InputError

TEXTS = ["Hi.", "A rather longer text about herons, boats and the weather.", "Unaffable xylophonists!", "a b c"]
OLD_KEYS = {
    "cls": "pooling_mode_cls_token",
    "mean": "pooling_mode_mean_tokens",
    "max": "pooling_mode_max_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}
MODES = [*((m,) for m in OLD_KEYS), ("mean", "cls"), ("mean", "max", "lasttoken")]


@pytest.fixture(scope="module")
def transformer():
    from sentence_transformers.sentence_transformer.modules import Transformer

    return Transformer(str(resolve("all-MiniLM-L6-v2").path), max_seq_length=100)


def saved(transformer, folder, *after):
    from sentence_transformers import SentenceTransformer

    SentenceTransformer(modules=[transformer, *after], device="cpu").save(str(folder))


def both(folder, texts=TEXTS):
    from sentence_transformers import SentenceTransformer

    encoder = Encoder.load(folder)
    return encoder, encoder.embed(texts, budget=24), SentenceTransformer(str(folder), device="cpu").encode(texts)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("modes", MODES, ids="+".join)
def test_own_pooling_under_new_and_old_keys(transformer, tmp_path, modes):
    from sentence_transformers.sentence_transformer.modules import Pooling

    saved(transformer, tmp_path / "m", Pooling(384, pooling_mode=modes))
    encoder, ours, theirs = both(tmp_path / "m")
    assert encoder.limit == 100 and ours.shape == (4, 384 * len(modes))
    assert_allclose(ours, theirs, rtol=0, atol=1e-5)
    config = {"word_embedding_dimension": 384} | {key: mode in modes for mode, key in OLD_KEYS.items()}
    (tmp_path / "m" / "1_Pooling" / "config.json").write_text(json.dumps(config))
    _, ours, theirs = both(tmp_path / "m")
    assert_allclose(ours, theirs, rtol=0, atol=1e-5)


def test_a_dense_step_and_a_normalising_one(transformer, tmp_path):
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling

    torch.manual_seed(0)
    steps = [
        Pooling(384),
        Dense(384, 24),
        Dense(24, 8, bias=False, activation_function=torch.nn.Identity()),
        Normalize(),
    ]
    saved(transformer, tmp_path / "m", *steps)
    _, ours, theirs = both(tmp_path / "m")
    assert ours.shape == (4, 8)
    assert_allclose(unit(ours), theirs, rtol=0, atol=1e-5)
    assert np.abs(np.linalg.norm(ours, axis=1) - 1).max() > 0.01  # its normalising step left out

    (tmp_path / "m" / "2_Dense" / "model.safetensors").rename(tmp_path / "m" / "2_Dense" / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"2_Dense has no model\.safetensors"):
        Encoder.load(tmp_path / "m")


def test_pairs_pool_over_all_special_tokens_as_the_library_does(transformer, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    saved(transformer, tmp_path / "m", Pooling(384, pooling_mode=("mean", "weightedmean", "lasttoken")))
    pairs = list(zip(TEXTS, TEXTS[::-1], strict=True))
    encoder = Encoder.load(tmp_path / "m")
    theirs = SentenceTransformer(str(tmp_path / "m"), device="cpu").encode(pairs)
    ours = encoder.embed([a for a, _ in pairs], [b for _, b in pairs])
    assert_allclose(ours, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("modules.json", [{"type": "sentence_transformers.models.WordWeights", "path": ""}], "WordWeights"),
        ("1_Pooling/config.json", {"pooling_mode": "median"}, "median"),
        ("modules.json", "{", "modules.json"),
    ],
)
def test_steps_that_are_not_known_are_named(tmp_path, file, content, said):
    folder = tmp_path / "m"
    shutil.copytree(resolve("all-MiniLM-L6-v2").path, folder)
    (folder / file).write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(InputError, match=said):
        Encoder.load(folder)

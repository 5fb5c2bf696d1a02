"""Every family of encoders, on small models with random weights.

Random only because weights of these families cannot be had here; the real models are in test_encoder.py.
What is compared (against transformers itself) does not depend on the weights.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
import transformers as tf
from numpy.testing import assert_allclose
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from theodolite import Encoder
from theodolite.encoder.maps import Question
from theodolite.encoder.resolve import resolve
from theodolite.errors import InputError
from theodolite.similarity.explaining import explain_pairs
from theodolite.similarity.explanation import Asked
from theodolite.similarity.methods import METHODS
from theodolite.words import units

LINES = [
    "The heron waits in cold water while boats pass it, and the well-made boats cost five.",
    "It's a naive plan",
] * 5
TEXT = "Well-made boats 😀 (naïve, it's $5.00…) 漢字 ok😀\u00a0the end"
WORDS = ["Well-made", "boats", "naïve", "it's", "5.00", "漢字", "ok", "the", "end"]
TEXTS = ["a", TEXT, LINES[0], "The boats.", LINES[1], "😀 heron"]

SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
WIDE = {"initializer_range": 0.3}  # so that a wrong mask or position shows
BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]

# family: model class, configuration, kind of tokenizer, limit expected, positions added, size of input embeddings
FAMILIES = {
    "bert": (tf.BertModel, tf.BertConfig(**SIZES, **WIDE, max_position_embeddings=96), "wordpiece", 96, True, 32),
    "roberta": (
        tf.RobertaModel,
        tf.RobertaConfig(**SIZES, **WIDE, max_position_embeddings=98, pad_token_id=1, type_vocab_size=1),
        "bytes",
        96,
        True,
        32,
    ),
    "distilbert": (
        tf.DistilBertModel,
        tf.DistilBertConfig(dim=32, n_layers=3, n_heads=4, hidden_dim=48, max_position_embeddings=96, **WIDE),
        "wordpiece",
        96,
        True,
        32,
    ),
    "mpnet": (
        tf.MPNetModel,
        tf.MPNetConfig(**SIZES, **WIDE, max_position_embeddings=98, pad_token_id=1),
        "mpnet",
        96,
        True,
        32,
    ),
    "electra": (
        tf.ElectraModel,
        tf.ElectraConfig(**SIZES, **WIDE, embedding_size=16, max_position_embeddings=96),
        "wordpiece",
        96,
        True,
        16,
    ),
    "albert": (
        tf.AlbertModel,
        tf.AlbertConfig(**SIZES, **WIDE, embedding_size=16, max_position_embeddings=96),
        "unigram",
        96,
        True,
        16,
    ),
    "mobilebert": (
        tf.MobileBertModel,
        tf.MobileBertConfig(
            **SIZES,
            **WIDE,
            embedding_size=16,
            intra_bottleneck_size=16,
            normalization_type="layer_norm",
            max_position_embeddings=96,
        ),
        "wordpiece",
        96,
        False,
        16,
    ),
    "deberta": (
        tf.DebertaModel,
        tf.DebertaConfig(
            **SIZES, **WIDE, relative_attention=True, pos_att_type=["c2p", "p2c"], max_position_embeddings=96
        ),
        "bytes-bert",
        96,
        True,
        32,
    ),
    "deberta-v2": (
        tf.DebertaV2Model,
        tf.DebertaV2Config(
            **SIZES,
            **WIDE,
            relative_attention=True,
            pos_att_type=["c2p", "p2c"],
            position_biased_input=False,
            max_position_embeddings=96,
        ),
        "unigram",
        96,
        False,
        32,
    ),
    "modernbert": (
        tf.ModernBertModel,
        tf.ModernBertConfig(
            **SIZES,
            **WIDE,
            max_position_embeddings=96,
            local_attention=8,
            global_attn_every_n_layers=2,
            initializer_cutoff_factor=3.0,
            pad_token_id=0,
            bos_token_id=2,
            cls_token_id=2,
            eos_token_id=3,
            sep_token_id=3,
        ),
        "bytes-bert",
        96,
        False,
        32,
    ),
}


def tokenizer(kind):
    robust = kind in ("bytes", "mpnet")
    specials = ROBERTA_SPECIALS if robust else BERT_SPECIALS
    first, last, pad, unknown = ("<s>", "</s>", "<pad>", "<unk>") if robust else ("[CLS]", "[SEP]", "[PAD]", "[UNK]")
    if kind in ("wordpiece", "mpnet"):
        made = Tokenizer(models.WordPiece(unk_token=unknown))
        made.normalizer = normalizers.BertNormalizer(lowercase=True)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=specials)
    elif kind == "unigram":
        made = Tokenizer(models.Unigram())
        made.normalizer = normalizers.NFKC()
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=80, special_tokens=specials, unk_token=unknown)
    else:
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=330, special_tokens=specials, initial_alphabet=alphabet)
    made.train_from_iterator(LINES, trainer)
    ids = [(t, made.token_to_id(t)) for t in (first, last)]
    pair = f"{first} $A {last} {last} $B {last}" if robust else f"{first} $A {last} $B:1 {last}:1"
    made.post_processor = processors.TemplateProcessing(single=f"{first} $A {last}", pair=pair, special_tokens=ids)
    names = {"cls_token": first, "sep_token": last, "pad_token": pad, "unk_token": unknown}
    return tf.PreTrainedTokenizerFast(tokenizer_object=made, **names)


def saved(name, folder):
    kind, config, tokens, *_ = FAMILIES[name]
    fast = tokenizer(tokens)
    config.vocab_size = len(fast)
    torch.manual_seed(0)
    kind(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, tmp_path_factory):
    """Name, encoder, and the same model loaded by transformers alone."""
    folder = saved(request.param, tmp_path_factory.mktemp(request.param))
    return request.param, Encoder.load(folder), tf.AutoModel.from_pretrained(folder).eval()


def coded(encoder, *texts):
    found = encoder.tokenizer._backend.encode(*texts)
    inputs = {"input_ids": torch.tensor([found.ids]), "attention_mask": torch.ones(1, len(found.ids), dtype=torch.long)}
    if (getattr(encoder.model.config, "type_vocab_size", 0) or 0) > 1:
        inputs["token_type_ids"] = torch.tensor([found.type_ids])
    return inputs, np.array(found.special_tokens_mask) == 0


def test_loads_with_its_layers_and_its_limit(family):
    name, encoder, _ = family
    assert (encoder.layers, encoder.dim, encoder.limit) == (3, 32, FAMILIES[name][3])


@pytest.mark.parametrize("budget", [16, 512])
def test_hidden_states_equal_transformers(family, budget):
    _, encoder, plain = family
    for text, states in zip(TEXTS, encoder.hidden_states(TEXTS, budget=budget), strict=True):
        inputs, inner = coded(encoder, text)
        with torch.no_grad():
            output = plain(**inputs, output_hidden_states=True)
        expected = torch.cat([*output.hidden_states[:-1], output.last_hidden_state]).numpy()
        assert_allclose(states, expected[:, inner], rtol=0, atol=1e-5)


def test_pairs_equal_transformers(family):
    _, encoder, plain = family
    found = encoder.embed(TEXTS, TEXTS[::-1], pooling="mean")
    for i, (a, b) in enumerate(zip(TEXTS, TEXTS[::-1], strict=True)):
        inputs, inner = coded(encoder, a, b)
        with torch.no_grad():
            expected = plain(**inputs).last_hidden_state[0].numpy()[inner].mean(axis=0)
        assert_allclose(found[i], expected, rtol=0, atol=1e-5)


def test_words_and_offsets(family):
    name, encoder, _ = family
    tokens = encoder.tokenise(["", TEXT, "a"])
    found = encoder.tokenizer.words(tokens)
    mine = np.flatnonzero(found.text == 1)
    offsets = encoder.tokenizer._backend.encode(TEXT, add_special_tokens=False).offsets
    held: dict[int, list[int]] = {}
    for piece, (start, end) in enumerate(offsets):
        at = next((i for i in range(start, end) if not TEXT[i].isspace()), None)
        if at is not None:
            held.setdefault(next(i for i, (a, b) in enumerate(units(TEXT)) if a <= at < b), []).append(piece)
    said = {i: held[i] for i in held if any(c.isalnum() for c in TEXT[slice(*units(TEXT)[i])])}
    assert found.position[mine].tolist() == list(said)
    ranges = zip(found.start[mine].tolist(), found.stop[mine].tolist(), strict=True)
    assert [list(range(*r)) for r in ranges] == list(said.values())
    spelled = [TEXT[slice(*units(TEXT)[i])] for i in found.position[mine]]
    assert [found.key[i] for i in mine] == [encoder.tokenizer.normalised(w) for w in spelled]
    assert found.key[-1] == "a"
    if "bytes" in FAMILIES[name][2]:  # the others have unknown pieces that reach over several units
        assert spelled == WORDS
        assert [TEXT[offsets[p[0]][0] : offsets[p[-1]][1]].strip() for p in said.values()] == WORDS
        assert max(np.unique(offsets, axis=0, return_counts=True)[1]) > 1  # pieces of one character


def test_a_text_of_the_limit_is_whole_and_one_more_is_windowed(family):
    _, encoder, plain = family
    texts = [" ".join(["boats"] * n) for n in range(1, 120)]
    lengths = encoder.tokenise(texts).lengths
    counts = encoder.window_counts(encoder.tokenise(texts))
    assert ((counts > 1) == (lengths > encoder.limit - 2)).all()
    longest = texts[int(np.flatnonzero(counts == 1)[-1])]
    inputs, inner = coded(encoder, longest)
    with torch.no_grad():
        expected = plain(**inputs).last_hidden_state[0].numpy()[inner]
    assert_allclose(encoder.hidden_states([longest], [-1])[0][0], expected, rtol=0, atol=1e-5)
    assert np.isfinite(encoder.embed(texts[-3:], pooling="mean")).all()
    with pytest.raises(InputError, match=f"8 to {encoder.limit}"):
        Encoder.load(encoder.folder.path, max_length=encoder.limit + 1)


def test_gradients_equal_autograd(family):
    name, encoder, plain = family
    *_, added, size = FAMILIES[name]
    found = encoder.gradients([*TEXTS, ""], lambda b: b.pooled_tensor(-1, "mean").pow(3).sum(dim=1), budget=48)
    assert found[-1].gradient.shape == (0, size)
    for text, ours in zip(TEXTS, found, strict=False):
        inputs, inner = coded(encoder, text)
        words = plain.get_input_embeddings()(inputs.pop("input_ids")).detach().requires_grad_()
        value = plain(inputs_embeds=words, **inputs).last_hidden_state[0, inner].mean(dim=0).pow(3).sum()
        (expected,) = torch.autograd.grad(value, words)
        scale = max(1.0, float(expected.abs().max()))
        assert_allclose(ours.gradient, expected[0, inner].numpy(), rtol=0, atol=1e-5 * scale)
        embedding = words.detach()[0]
        if added:
            table = plain.embeddings.position_embeddings
            first = 0 if table.padding_idx is None else table.padding_idx + 1
            embedding = embedding + table.weight.detach()[first : first + len(embedding)]
        assert_allclose(ours.embedding, embedding[inner].numpy(), rtol=0, atol=1e-5)


def test_maps_of_a_head_equal_autograd(family, tmp_path):
    """Of single texts and of pairs: the norm of the gradient of the predicted class's logit at every token."""
    _, encoder, _ = family
    config = tf.AutoConfig.from_pretrained(encoder.folder.path, num_labels=3)
    torch.manual_seed(1)
    tf.AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path)
    tf.AutoTokenizer.from_pretrained(encoder.folder.path).save_pretrained(tmp_path)
    classifier = Encoder.load(tmp_path)
    plain = tf.AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    for seconds in (None, TEXTS[::-1]):
        for batch in classifier.map_batches(classifier.tokenise(TEXTS, seconds), Question(("grad-l2",)), budget=64):
            maps = batch.maps
            for row, (start, stop) in zip(batch.rows.tolist(), pairwise(maps.layout.bounds.tolist()), strict=True):
                inputs, _ = coded(encoder, TEXTS[row], *([] if seconds is None else [seconds[row]]))
                words = plain.get_input_embeddings()(inputs.pop("input_ids")).detach().requires_grad_()
                logits = plain(inputs_embeds=words, **inputs).logits[0]
                at = batch.rows.tolist().index(row)
                assert_allclose(maps.logits[at], logits.detach().numpy(), rtol=0, atol=1e-5)
                [gradient] = torch.autograd.grad(logits.max(), words)
                expected = gradient[0].norm(dim=1).numpy()
                assert_allclose(maps.weights["grad-l2"][start:stop], expected, atol=1e-5 * max(1, expected.max()))


def test_a_pair_is_explained_by_every_method(family):
    """Saliencies of words against autograd by hand, whatever the family; integrated gradients must add up."""
    _, encoder, model = family
    asked = Asked(METHODS)
    [found] = explain_pairs(encoder, [LINES[0]], [TEXT], asked)
    other = torch.from_numpy(encoder.embed([LINES[0]], pooling="mean"))[0]
    inputs, own = coded(encoder, TEXT)
    ids = inputs.pop("input_ids")
    words = model.get_input_embeddings()(ids).detach().requires_grad_()
    hidden = model(inputs_embeds=words, **inputs).last_hidden_state[0]
    value = torch.cosine_similarity(hidden[torch.from_numpy(own)].mean(dim=0), other, dim=0)
    [gradient] = torch.autograd.grad(value, words)
    lengths = gradient[0].norm(dim=1).numpy()[own]
    expected = (lengths - lengths.min()) / (lengths.max() - lengths.min())
    assert_allclose(found.b.piece_saliency["vanilla-gradients"], expected, atol=1e-3)
    assert found.cosine == pytest.approx(value.item(), abs=1e-5)
    assert found.completeness_error < 0.01
    for method in METHODS:
        assert len(found.a.saliency[method]) == len(found.a.words) and np.isfinite(found.matches[method].score).all()
    shown = [w for w in found.b.words if w in WORDS and w != "漢字"]
    assert shown == [w for w in WORDS if w != "漢字"]
    # A script without spaces is cut as the tokenizer cuts it.
    assert "".join(w for w in found.b.words if set(w) <= set("漢字")) == "漢字"


def test_skipping_a_layer(family):
    name, encoder, _ = family
    if name == "albert":
        with pytest.raises(InputError, match="share weights"), encoder.skipping(2):
            pass
        return
    (before,) = encoder.hidden_states([TEXT])
    with encoder.skipping(2):
        (after,) = encoder.hidden_states([TEXT])
    assert_allclose(after[2], before[1], rtol=0, atol=1e-5)
    assert np.abs(after[3] - before[3]).max() > 0.01


def test_sentencepiece_files_enter_the_tokenizers_hash(tmp_path):
    before = resolve(saved("albert", tmp_path)).tokenizer_hash
    (tmp_path / "spiece.model").write_bytes(b"pieces")
    assert resolve(tmp_path).tokenizer_hash != before


def test_compiled_results_agree(tmp_path):
    """On a small model: the bundled one takes the compiler most of a minute."""
    encoder = Encoder.load(saved("bert", tmp_path))

    def norm(batch):
        return batch.pooled_tensor(-1, "mean").norm(dim=1)

    states, gradients = encoder.hidden_states(TEXTS), encoder.gradients(TEXTS, norm)
    with encoder.skipping(2):
        without = encoder.embed(TEXTS)
    if not encoder.compiled():
        pytest.skip("no compiler here")
    compiled = encoder._forward
    assert compiled is not encoder.model
    for a, b in zip(encoder.hidden_states(TEXTS, budget=64), states, strict=True):
        assert_allclose(a, b, rtol=0, atol=1e-5)
    for a, b in zip(encoder.gradients(TEXTS, norm), gradients, strict=True):
        assert_allclose(a.gradient, b.gradient, rtol=0, atol=1e-5)
    with encoder.skipping(2):
        assert_allclose(encoder.embed(TEXTS), without, rtol=0, atol=1e-5)
    assert encoder._forward is compiled
    encoder.uncompiled()
    assert encoder._forward is encoder.model

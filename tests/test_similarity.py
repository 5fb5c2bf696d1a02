"""Why two paragraphs match: every step against the plain definition, on real pairs; methods, languages, bad input."""

from __future__ import annotations

import csv
import gzip
import io
import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.cluster import MeanShift, estimate_bandwidth
from sklearn.feature_extraction.text import TfidfVectorizer
from test_contextuality import naive_units

from theodolite import Corpus, Encoder, InputError, Similarity, Store, explain, load, run
from theodolite.cli.main import main
from theodolite.instrument import Silent
from theodolite.similarity.explaining import Baseline, explain_pairs
from theodolite.similarity.explanation import Asked
from theodolite.similarity.matching import best_matches
from theodolite.similarity.meanshift import clusters_of, estimated_bandwidth
from theodolite.similarity.methods import METHODS
from theodolite.similarity.tfidf import Idf, read_word_vectors
from theodolite.words import units

TRICKY = 'A "well-made" café\u0301 😀 dress:\tsmartphone-friendly,\nnaïve (5.00€) — it’s the 👩‍🚀 one…'
PLAIN = "A nicely made dress for a smartphone, it is naive."


@pytest.fixture(scope="session")
def pairs(shared: Path) -> list[tuple[str, str]]:
    """50 real pairs: neighbours in the fashion and wine files, alike and not, short and long."""
    found = []
    for name, column in (("fashion.csv.gz", "detail_desc"), ("wine.csv.gz", "description")):
        with gzip.open(shared / "data" / "catalogue" / name, "rt", encoding="utf-8") as file:
            rows = [row[column] for row in islice(csv.DictReader(file), 400) if row[column].strip()]
        found += [(rows[i], rows[i + 7]) for i in range(0, 375, 15)]
    return found


@pytest.fixture(scope="session")
def distilled(minilm, tmp_path_factory) -> Encoder:
    """A second family with real weights: the default model's as a DistilBERT, which has no types."""
    bert = minilm.model
    c = bert.config
    config = transformers.DistilBertConfig(
        vocab_size=c.vocab_size, dim=c.hidden_size, n_layers=c.num_hidden_layers, n_heads=c.num_attention_heads,
        hidden_dim=c.intermediate_size, max_position_embeddings=c.max_position_embeddings,
    )  # fmt: skip
    model = transformers.DistilBertModel(config)
    tables = bert.embeddings
    with torch.no_grad():
        model.embeddings.word_embeddings.weight.copy_(tables.word_embeddings.weight)
        added = tables.position_embeddings.weight + tables.token_type_embeddings.weight[0]
        model.embeddings.position_embeddings.weight.copy_(added)
        model.embeddings.LayerNorm.load_state_dict(tables.LayerNorm.state_dict())
    for mine, theirs in zip(model.transformer.layer, bert.encoder.layer, strict=True):
        same = {
            "attention.q_lin": theirs.attention.self.query,
            "attention.k_lin": theirs.attention.self.key,
            "attention.v_lin": theirs.attention.self.value,
            "attention.out_lin": theirs.attention.output.dense,
            "sa_layer_norm": theirs.attention.output.LayerNorm,
            "ffn.lin1": theirs.intermediate.dense,
            "ffn.lin2": theirs.output.dense,
            "output_layer_norm": theirs.output.LayerNorm,
        }
        for place, module in same.items():
            mine.get_submodule(place).load_state_dict(module.state_dict())
    out = tmp_path_factory.mktemp("distilled") / "minilm"
    model.save_pretrained(out)
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm.folder.path)
    tokenizer.model_max_length = minilm.limit
    tokenizer.save_pretrained(out)
    return Encoder.load(out)


class PlainText:
    """One text through the model by itself, with a graph from its word embeddings to its vectors."""

    def __init__(self, encoder: Encoder, text: str) -> None:
        coded = encoder.tokenizer._backend.encode(text)
        tables = encoder.model.embeddings
        ids = torch.tensor([coded.ids])
        self.leaf = tables.word_embeddings.weight[ids].detach().clone().requires_grad_()
        self.embedding = (self.leaf[0] + tables.position_embeddings.weight[: ids.shape[1]]).detach().numpy()
        self.own = [i for i, special in enumerate(coded.special_tokens_mask) if not special]
        self.hidden = encoder.model(inputs_embeds=self.leaf).last_hidden_state
        self.pooled = self.hidden[0, self.own].mean(dim=0)
        self.offsets = [coded.offsets[i] for i in self.own]
        self.text = text


def plain_explanation(encoder: Encoder, text_a: str, text_b: str, method: str):
    """The steps of the spec, one after another."""
    a, b = PlainText(encoder, text_a), PlainText(encoder, text_b)
    sides = []
    for mine, other in ((a, b), (b, a)):
        cosine = torch.cosine_similarity(mine.pooled, other.pooled.detach(), dim=0)
        gradient, last = (
            g[0].numpy() for g in torch.autograd.grad(cosine, [mine.leaf, mine.hidden], retain_graph=True)
        )
        vectors = mine.hidden[0].detach().numpy()
        raw = []
        for i in mine.own:
            if method == "bti":
                raw.append(
                    sum(max(0.0, float(e) * float(g)) for e, g in zip(mine.embedding[i], gradient[i], strict=True))
                )
            elif method == "bti-last-layer":
                raw.append(sum(max(0.0, float(e) * float(g)) for e, g in zip(vectors[i], last[i], strict=True)))
            elif method == "bti-activations":
                raw.append(sum(max(0.0, float(e)) for e in mine.embedding[i]))
            elif method == "bti-gradients":
                raw.append(sum(max(0.0, float(g)) for g in gradient[i]))
            else:
                raw.append(sum(float(g) ** 2 for g in gradient[i]) ** 0.5)
        low, high = min(raw), max(raw)
        pieces = [(s - low) / (high - low) if high > low else 1.0 for s in raw]
        words = []
        for start, end in naive_units(mine.text):
            held = [p for p, (s, e) in enumerate(mine.offsets) if start <= _first_letter(mine.text, s, e) < end]
            if held:
                vector = np.mean([vectors[mine.own[p]] for p in held], axis=0)
                words.append((start, end, max(pieces[p] for p in held), vector))
        sides.append((pieces, words))
    (pieces_a, words_a), (pieces_b, words_b) = sides
    table = [[_cosine(x[3], y[3]) for y in words_b] for x in words_a]
    union = {(i, int(np.argmax(row))) for i, row in enumerate(table)}
    union |= {(int(np.argmax([row[j] for row in table])), j) for j in range(len(words_b))}
    scores = {(i, j): table[i][j] * words_a[i][2] * words_b[j][2] for i, j in union}
    values = np.array([scores[pair] for pair in sorted(scores)])[:, None]
    width = estimate_bandwidth(values, quantile=0.3)
    if width == 0:
        labels = np.unique(values[:, 0], return_inverse=True)[1]
    else:
        labels = MeanShift(bandwidth=width).fit(values).labels_
    centres = {label: values[labels == label].mean() for label in set(labels.tolist())}
    best = sorted(centres, key=lambda label: -centres[label])[:2]
    chosen = {pair for pair, label in zip(sorted(scores), labels.tolist(), strict=True) if label in best}
    with torch.no_grad():
        value = float(torch.cosine_similarity(a.pooled, b.pooled, dim=0))
    return pieces_a, pieces_b, words_a, words_b, table, scores, chosen, value


def _first_letter(text: str, start: int, end: int) -> int:
    return next((i for i in range(start, end) if not text[i].isspace()), -1)


def _cosine(x, y) -> float:
    x, y = x.astype(np.float64), y.astype(np.float64)
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


@pytest.mark.parametrize("name", ["minilm", "distilled"])
def test_every_step_equals_the_plain_definition(request, pairs, name) -> None:
    encoder = request.getfixturevalue(name)
    methods = tuple(m for m in METHODS if m.startswith("bti") or m == "vanilla-gradients")
    some = [*pairs, (TRICKY, PLAIN)]
    found = list(explain_pairs(encoder, *zip(*some, strict=True), Asked(methods)))
    assert len(found) == 51
    for number, ((text_a, text_b), ours) in enumerate(zip(some, found, strict=True)):
        # All methods on some pairs, the method itself on all.
        for method in methods if number % 10 == 0 else ("bti",):
            pieces_a, pieces_b, words_a, words_b, table, scores, chosen, value = plain_explanation(
                encoder, text_a, text_b, method
            )
            for side, pieces, words in ((ours.a, pieces_a, words_a), (ours.b, pieces_b, words_b)):
                assert_allclose(side.piece_saliency[method], pieces, atol=2e-4)
                assert list(zip(side.start.tolist(), side.end.tolist(), strict=True)) == [w[:2] for w in words]
                assert_allclose(side.saliency[method], [w[2] for w in words], atol=2e-4)
            mine = ours.matches[method]
            places = list(zip(mine.index_a.tolist(), mine.index_b.tolist(), strict=True))
            assert set(places) == set(scores)
            assert_allclose(mine.similarity, [table[i][j] for i, j in places], atol=1e-5)
            assert_allclose(mine.score, [scores[place] for place in places], atol=3e-4)
            assert {p for p, yes in zip(places, mine.chosen.tolist(), strict=True) if yes} == chosen
            assert (np.diff(mine.score) <= 0).all()
        assert ours.cosine == pytest.approx(value, abs=1e-5)
        assert ours.cosine_own == pytest.approx(_own_cosine(encoder, text_a, text_b), abs=1e-5)


def _own_cosine(encoder: Encoder, text_a: str, text_b: str) -> float:
    return _cosine(*encoder.embed([text_a, text_b], pooling="own"))


def test_offsets_point_at_the_words_of_the_text_as_given(minilm) -> None:
    [found] = explain_pairs(minilm, [TRICKY], [PLAIN])
    shown = [TRICKY[a:b] for a, b in zip(found.a.start.tolist(), found.a.end.tolist(), strict=True)]
    assert shown == found.a.words
    for word in ("well-made", "café\u0301", "😀", "smartphone-friendly", "naïve", "5.00", "it’s", "(", "…"):
        assert word in shown, word


def test_words_are_the_units_of_words_py(pairs) -> None:
    for text in (TRICKY, *(a for a, _ in pairs)):
        assert units(text) == naive_units(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("这件红色连衣裙很漂亮", list("这件红色连衣裙很漂亮")),
        ("a 红色 dress", ["a", "红", "色", "dress"]),
        ("الفستان الأحمر جميل", ["الفستان", "الأحمر", "جميل"]),
        ("красное платье, красивое", ["красное", "платье", ",", "красивое"]),
    ],
)
def test_other_scripts(minilm, text, words) -> None:
    [found] = explain_pairs(minilm, [text], ["a red dress"])
    assert found.a.words == words
    assert len(found.matches["bti"])


@given(st.lists(st.floats(-1, 1, allow_subnormal=False).map(lambda x: round(x, 7)), min_size=1, max_size=60))
@settings(max_examples=120, deadline=None)
def test_mean_shift_equals_scikit_learn(values) -> None:
    x = np.array(values)
    width = estimated_bandwidth(x)
    assert width == pytest.approx(estimate_bandwidth(x[:, None], quantile=0.3), rel=1e-9, abs=1e-12)
    labels = clusters_of(x)
    if width <= 1e-12 * np.abs(x).max():
        assert [labels[i] == labels[j] for i in range(len(x)) for j in range(i)] == [
            x[i] == x[j] for i in range(len(x)) for j in range(i)
        ]
        return
    theirs = MeanShift(bandwidth=width).fit(x[:, None])
    mine = {label: x[labels == label] for label in set(labels.tolist())}
    # A value midway between two centres, or at the very edge of a window, falls to either side by rounding.
    edges = np.abs(np.abs(x[:, None] - x[None]) - width)
    if edges.min() > 1e-9:
        assert len(mine) == len(set(theirs.labels_.tolist()))
        assert sorted(map(len, mine.values())) == sorted(np.bincount(theirs.labels_)[np.bincount(theirs.labels_) > 0])
    assert [mine[label].mean() for label in sorted(mine)] == sorted((m.mean() for m in mine.values()), reverse=True)


def test_scores_that_differ_by_rounding_are_one_cluster() -> None:
    x = np.nextafter(np.ones(40), np.arange(40) % 3)
    assert set(clusters_of(x).tolist()) == {0}
    assert clusters_of(np.array([1.0, 1 - 1e-16, 0.5, 0.5])).tolist() == [0, 0, 1, 1]
    assert clusters_of(np.zeros(5)).tolist() == [0] * 5


def test_mean_shift_equals_scikit_learn_on_real_scores(minilm, pairs) -> None:
    several = 0
    for found in explain_pairs(minilm, *zip(*pairs, strict=True)):
        mine = found.matches["bti"]
        width = estimate_bandwidth(mine.score[:, None], quantile=0.3)
        assert estimated_bandwidth(mine.score) == pytest.approx(width, rel=1e-12)
        theirs = MeanShift(bandwidth=width).fit(mine.score[:, None])
        order = np.argsort(-theirs.cluster_centers_[:, 0])
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        assert mine.cluster.tolist() == place[theirs.labels_].tolist()
        several += len(order) > 2
    assert several > 25


def test_of_equal_words_the_first_is_taken_whatever_the_rounding() -> None:
    random = np.random.default_rng(0)
    for n in range(3, 60):
        kinds = random.normal(size=(6, 384)).astype(np.float32)
        a, b = (random.integers(0, 6, n) for _ in range(2))
        index_a, index_b, cosine = best_matches(kinds[a], kinds[b])
        first_a, first_b = ({k: int(np.argmax(which == k)) for k in range(6)} for which in (a, b))
        for i, j, c in zip(index_a.tolist(), index_b.tolist(), cosine.tolist(), strict=True):
            if c > 0.999:
                assert i == first_a[a[i]] or j == first_b[b[j]]


def test_matches_in_blocks_equal_whole(monkeypatch) -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(size=(37, 5)), random.normal(size=(23, 5))
    b[4] = b[9]  # ties go to the first
    whole = best_matches(a, b)
    assert 9 not in whole[1][np.isin(whole[1], (4, 9))] or (whole[1] == 9).sum() == 1
    monkeypatch.setattr("theodolite.similarity.matching.BLOCK", 5)
    for mine, theirs in zip(best_matches(a, b), whole, strict=True):
        assert_allclose(mine, theirs)
    lower = np.stack([x / np.linalg.norm(x) for x in a]) @ np.stack([x / np.linalg.norm(x) for x in b]).T
    expected = {(i, int(r.argmax())) for i, r in enumerate(lower)} | {
        (int(c.argmax()), j) for j, c in enumerate(lower.T)
    }
    assert set(zip(whole[0].tolist(), whole[1].tolist(), strict=True)) == expected


@pytest.mark.parametrize("base", ["pad", "zero"])
def test_integrated_gradients_equal_captum(minilm, pairs, base) -> None:
    from captum.attr import IntegratedGradients

    from theodolite.encoder.path import integrated_gradients

    text_a, text_b = pairs[3]
    tables, backend = minilm.model.embeddings, minilm.tokenizer._backend
    other = torch.from_numpy(minilm.embed([text_a], pooling="mean"))
    coded = backend.encode(text_b)
    ids = torch.tensor([coded.ids])
    positions = tables.position_embeddings.weight[: ids.shape[1]]
    own = torch.tensor([i for i, s in enumerate(coded.special_tokens_mask) if not s])

    def forward(summed: torch.Tensor) -> torch.Tensor:
        hidden = minilm.model(inputs_embeds=summed - positions).last_hidden_state
        return torch.cosine_similarity(hidden[:, own].mean(dim=1), other)

    whole = (tables.word_embeddings.weight[ids] + positions).detach()
    start = whole.clone()
    start[:, own] = 0.0 if base == "zero" else (tables.word_embeddings.weight[0] + positions[own])
    theirs = IntegratedGradients(forward).attribute(whole, start, n_steps=24, method="gausslegendre").sum(dim=2)[0, own]
    weights, steps, error = integrated_gradients(
        minilm, minilm.tokenise([text_b]), lambda b: torch.cosine_similarity(b.pooled_tensor(-1, "mean"), other),
        base=base, steps=24, budget=512,
    )  # fmt: skip
    assert steps.tolist() == [24]
    assert_allclose(weights, theirs.detach().numpy(), atol=1e-5)
    change = float((forward(whole) - forward(start)).detach())
    assert error[0] == pytest.approx(abs(weights.sum() - change) / max(abs(change), 0.01), rel=1e-3, abs=1e-5)


def test_integrated_gradients_add_up_or_are_flagged(minilm, pairs) -> None:
    asked = Asked(("integrated-gradients",))
    found = list(explain_pairs(minilm, *zip(*pairs[:6], strict=True), asked))
    assert max(f.completeness_error for f in found) < 0.01
    assert all(s.saliency["integrated-gradients"].max() == 1 for f in found for s in (f.a, f.b))


def test_batches_and_company_do_not_matter(minilm, pairs) -> None:
    asked = Asked(METHODS)
    together = list(explain_pairs(minilm, *zip(*pairs[20:30], strict=True), asked, budget=2048))
    alone = [next(explain_pairs(minilm, [a], [b], asked, budget=128)) for a, b in pairs[20:30]]
    for one, other in zip(together, alone, strict=True):
        for method in METHODS:
            assert_allclose(one.a.saliency[method], other.a.saliency[method], atol=1e-4)
            assert_allclose(one.b.saliency[method], other.b.saliency[method], atol=1e-4)
        assert one.cosine == pytest.approx(other.cosine, abs=1e-6)


@pytest.mark.parametrize("similarity", ["dot", "euclidean"])
def test_other_similarities_by_finite_differences(minilm, pairs, similarity) -> None:
    text_a, text_b = pairs[2]
    [found] = explain_pairs(minilm, [text_a], [text_b], Asked(("vanilla-gradients",), similarity=similarity))
    a, b = minilm.embed([text_a, text_b], pooling="mean").astype(np.float64)
    assert found.value == pytest.approx(a @ b if similarity == "dot" else -np.linalg.norm(a - b), rel=1e-5)
    mine, other = PlainText(minilm, text_b), torch.from_numpy(a).float()
    value = mine.pooled @ other if similarity == "dot" else -(mine.pooled - other).norm()
    [gradient] = torch.autograd.grad(value, mine.leaf)
    lengths = gradient[0, mine.own].norm(dim=1).numpy()
    expected = (lengths - lengths.min()) / (lengths.max() - lengths.min())
    assert_allclose(found.b.piece_saliency["vanilla-gradients"], expected, atol=1e-4)


@pytest.mark.parametrize("pooling", ["own", "cls", "max"])
def test_other_poolings(xtremedistil, pairs, pooling) -> None:
    [found] = explain_pairs(xtremedistil, *([t] for t in pairs[0]), Asked(METHODS[:3], pooling=pooling))
    assert found.cosine == pytest.approx(_cosine(*xtremedistil.embed(pairs[0], pooling=pooling)), abs=1e-5)
    assert found.a.saliency["bti"].max() == 1


def test_idf_equals_scikit_learn(pairs) -> None:
    texts = [t for pair in pairs for t in pair]
    tokens = [[t[a:b] for a, b in units(t)] for t in texts]
    theirs = TfidfVectorizer(analyzer=lambda words: [w.lower() for w in words]).fit(tokens)
    idf = Idf.of(texts)
    for words in tokens[:10]:
        row = theirs.transform([words]).toarray()[0]
        assert_allclose(idf.weights(words), [row[theirs.vocabulary_[w.lower()]] for w in words])
    assert Idf().weights(["a", "a", "b"]).tolist() == pytest.approx([2 / 5**0.5, 2 / 5**0.5, 1 / 5**0.5])


def test_word_vectors_in_three_forms(tmp_path) -> None:
    vectors = {"red": [1.0, 0.5], "dress": [0.0, 2.0], "a b": [3.0, 4.0]}
    lines = "".join(f"{w} {x} {y}\n" for w, (x, y) in vectors.items())
    (tmp_path / "glove.txt").write_text(lines)
    (tmp_path / "w2v.txt").write_text(f"3 2\n{lines}")
    single = {word: vector for word, vector in vectors.items() if " " not in word}
    body = b"".join(w.encode() + b" " + np.array(v, np.float32).tobytes() + b"\n" for w, v in single.items())
    (tmp_path / "w2v.bin").write_bytes(b"2 2\n" + body)
    with gzip.open(tmp_path / "w2v.bin.gz", "wb") as file:
        file.write(b"2 2\n" + body)
    for name in ("glove.txt", "w2v.txt", "w2v.bin", "w2v.bin.gz"):
        found = read_word_vectors(tmp_path / name)
        expected = single if ".bin" in name else vectors
        assert {w: v.tolist() for w, v in found.vectors.items()} == expected, name
        assert found.of(["Red", "blue"]).tolist() == [[1.0, 0.5], [0.0, 0.0]]
    assert set(read_word_vectors(tmp_path / "glove.txt", {"red"}).vectors) == {"red"}
    (tmp_path / "cut.bin").write_bytes((b"2 2\n" + body)[:-4])
    (tmp_path / "bad.txt").write_text("red 1 x\n")
    (tmp_path / "plain.txt.gz").write_text("red 1 2\n")
    for name, said in (
        ("cut.bin", "ends in the middle"),
        ("bad.txt", "line 1"),
        ("plain.txt.gz", "cannot be read"),
        ("none.txt", "no such file"),
    ):
        with pytest.raises(InputError, match=said):
            read_word_vectors(tmp_path / name)


def test_tfidf_w2v_is_the_product_of_weights_and_cosine(minilm, pairs, tmp_path) -> None:
    text_a, text_b = pairs[1]
    idf = Idf.of([t for pair in pairs for t in pair])
    [found] = explain_pairs(minilm, [text_a], [text_b], Asked(("tfidf-w2v",)), baseline=Baseline(idf))
    table = minilm.input_embeddings
    mine = found.matches["tfidf-w2v"]
    sides = []
    for text, side in ((text_a, found.a), (text_b, found.b)):
        ids = [minilm.tokenizer._backend.encode(text[s:e], add_special_tokens=False).ids for s, e in
               zip(side.start.tolist(), side.end.tolist(), strict=True)]  # fmt: skip
        sides.append(([table[i].mean(axis=0) for i in ids], idf.weights(side.words)))
    for i, j, cosine, score in zip(mine.index_a, mine.index_b, mine.similarity, mine.score, strict=True):
        assert cosine == pytest.approx(_cosine(sides[0][0][i], sides[1][0][j]), abs=1e-6)
        assert score == pytest.approx(cosine * sides[0][1][i] * sides[1][1][j], abs=1e-6)


def test_rarity_of_a_single_pair_is_counted_in_a_corpus(minilm, pairs, tmp_path) -> None:
    """A word that many texts of the corpus have weighs less; without one the reading says that it is taken as 1."""
    place = tmp_path / "many.txt"
    place.write_text("\n".join(["a dress of cotton"] * 30 + ["a velvet coat"]))
    texts = {"a": "A velvet dress", "b": "A dress of velvet"}
    saliency, said = {}, {}
    for rarity in ("", f"many={place}"):
        asked = Similarity(**texts, method=("tfidf-w2v",), rarity=rarity)
        [found] = run([asked], minilm, asked.own_corpora(), store=Store(tmp_path / "store"))
        saliency[rarity] = {word["word"]: word["saliency"] for word in found.to_json()["words_a"]}
        said[rarity] = " ".join(found.findings)
    one, counted = saliency.values()
    assert one["velvet"] == one["dress"]
    idf = {"a": np.log(32 / 32) + 1, "velvet": np.log(32 / 2) + 1, "dress": np.log(32 / 31) + 1}
    length = np.sqrt(sum(weight**2 for weight in idf.values()))
    assert counted["velvet"] == pytest.approx(idf["velvet"] / length, abs=1e-6)
    assert counted["dress"] == pytest.approx(idf["dress"] / length, abs=1e-6)
    assert ["taken as 1" in sentence for sentence in said.values()] == [True, False]
    assert "31 texts" in said[f"many={place}"]
    with pytest.raises(InputError, match="--rarity: only tfidf-w2v"):
        Similarity(**texts, rarity=str(place))


def test_under_a_transform(minilm, pairs, tmp_path) -> None:
    from theodolite.rounding import MeanRemoval, save

    vectors = minilm.embed([t for pair in pairs for t in pair], pooling="mean")
    save(MeanRemoval().fit(vectors), tmp_path / "mean")
    rounder = Encoder.load("all-MiniLM-L6-v2", transform=tmp_path / "mean")
    [before] = explain_pairs(minilm, *([t] for t in pairs[0]))
    [after] = explain_pairs(rounder, *([t] for t in pairs[0]))
    a, b = (v - vectors.mean(axis=0) for v in minilm.embed(pairs[0], pooling="mean"))
    assert after.cosine == pytest.approx(_cosine(a, b), abs=1e-5)
    assert np.abs(after.a.saliency["bti"] - before.a.saliency["bti"]).max() > 1e-3


def test_under_a_transform_of_cls_vectors(minilm, pairs, tmp_path) -> None:
    """What is explained is transformed; the cosine under the model's own pooling, another space, is as it was."""
    from theodolite.rounding import MeanRemoval, save

    vectors = minilm.embed([t for pair in pairs for t in pair], pooling="cls")
    save(MeanRemoval().fit(vectors), tmp_path / "mean", {"space": "cls", "pooling": "cls", "layer": 6})
    rounder = Encoder.load("all-MiniLM-L6-v2", transform=tmp_path / "mean")
    found = explain(rounder, *pairs[0], pooling="cls")
    a, b = (v - vectors.mean(axis=0) for v in minilm.embed(pairs[0], pooling="cls"))
    [row] = found.tables["explanations"].to_pylist()
    assert row["cosine"] == pytest.approx(_cosine(a, b), abs=1e-5)
    assert row["cosine_own"] == pytest.approx(_own_cosine(minilm, *pairs[0]), abs=1e-5)
    assert any("fitted on pooling 'cls': the cosine under the model's own pooling is without it" in f
               for f in found.findings)  # fmt: skip


def test_texts_that_fit_alone_are_not_windowed_as_a_pair(minilm, tmp_path) -> None:
    """150 tokens and 150 are more than the model's 256 only together, and they are never encoded so."""
    corpus = Corpus.of(["fine " * 150, "fine " * 300], "long", texts_b=["good " * 150, "good"])
    [found] = run([Similarity()], minilm, [corpus], store=Store(tmp_path))
    [counted] = found.manifest["corpora"]
    assert (counted["texts"], counted["windowed"]) == (2, 1)


def test_identical_texts_have_level_saliencies(minilm) -> None:
    text = "A dry red wine with a long finish."
    [found] = explain_pairs(minilm, [text], [text.upper()])
    assert found.same and found.cosine == pytest.approx(1, abs=1e-6)
    assert set(found.a.saliency["bti"].tolist()) == {1.0}
    asked = ("bti", "bti-activations", "integrated-gradients")
    reading = explain(minilm, text, text, method=asked)
    assert any(f.endswith("so every word counts the same by bti.") for f in reading.findings)
    words = {row["method"]: {w["saliency"] for w in row["words_a"]} for row in reading.to_json()["explanations"]}
    assert words["bti"] == {1.0} and len(words["bti-activations"]) > 3 and len(words["integrated-gradients"]) > 3
    assert not any("tokenizer" in f for f in explain(minilm, text, text, similarity="dot").findings)


def test_a_text_of_one_token_and_of_punctuation_only(minilm) -> None:
    [one, dots] = explain_pairs(minilm, ["wine", "wine"], ["A dry red wine.", "?!… --"])
    assert one.a.words == ["wine"] and one.a.saliency["bti"].tolist() == [1.0]
    assert dots.b.words == ["?", "!", "…", "-", "-"]
    assert len(dots.matches["bti"])


def test_twenty_thousand_words(xtremedistil) -> None:
    eight = ("a dry red wine and a white one", "the long cold soft fine deep low sea")
    long = " ".join(eight[i % 3 == 0] for i in range(2500))
    [found] = explain_pairs(xtremedistil, [long], ["a dry wine"])
    assert len(found.a) == 20_000
    assert found.a.saliency["bti"].max() == 1
    assert np.isfinite(found.matches["bti"].score).all()


def test_reading_of_one_pair(minilm, pairs, tmp_path) -> None:
    reading = explain(minilm, *pairs[0], method=METHODS)
    assert [o.title for o in reading.overview()] == [f"By {m}" for m in METHODS]
    one = explain(minilm, *pairs[0]).to_json()
    assert {"cosine", "cosine_own", "method", "words_a", "words_b", "pairs"} <= set(one)
    assert set(one["words_a"][0]) == {"word", "start", "end", "saliency"}
    assert {"a", "b", "index_a", "index_b", "similarity", "score", "cluster", "chosen"} == set(one["pairs"][0])
    for pair in one["pairs"]:
        assert one["words_a"][pair["index_a"]]["word"] == pair["a"]
    words = one["words_a"]
    assert [pairs[0][0][w["start"] : w["end"]] for w in words] == [w["word"] for w in words]
    html = reading._repr_html_()
    assert html.count("<article") == len(METHODS) and "<sup>1</sup>" in html
    again = load(reading.save(tmp_path / "out"))
    assert json.dumps(again.to_json()) == json.dumps(reading.to_json())
    flat = again.tables["pairs"].to_pylist()
    assert {(r["a"], r["b"]) for r in flat if r["method"] == "bti"} == {(p["a"], p["b"]) for p in one["pairs"]}


def test_many_pairs_resume_and_equal_one_by_one(minilm, pairs, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("theodolite.similarity.keeping.BLOCK", 8)
    some = [*pairs[:20], ("wine", " "), ("wine", "\u200d")]
    corpus = Corpus.of([a for a, _ in some], "fashion", texts_b=[b for _, b in some])
    store = Store(tmp_path / "store")

    class Interrupt(Silent):
        blocks = 0

        def advance(self, texts: int) -> None:
            self.blocks += texts == 8
            if self.blocks == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([Similarity()], minilm, [corpus], store=store, progress=Interrupt())
    calls = []
    monkeypatch.setattr(
        "theodolite.similarity.keeping.explain_pairs",
        lambda *a, **k: calls.append(1) or explain_pairs(*a, **k),
    )
    [reading] = run([Similarity()], minilm, [corpus], store=store)
    assert len(calls) == 1
    found = reading.to_json()["explanations"]
    assert [f["row"] for f in found] == list(range(20))
    assert any("2 of 22 pairs have no words on a side" in f for f in reading.findings)
    assert any("of texts from two different pairs" in f for f in reading.findings)
    for shown, (a, b) in list(zip(found, some, strict=False))[::6]:
        [alone] = explain_pairs(minilm, [a], [b])
        assert_allclose([w["saliency"] for w in shown["words_a"]], alone.a.saliency["bti"], atol=1e-4)


def test_mismatched_baseline_is_the_mean_over_all_other_pairs(minilm, pairs) -> None:
    some = pairs[:9]
    corpus = Corpus.of([a for a, _ in some], "few", texts_b=[b for _, b in some])
    [reading] = run([Similarity()], minilm, [corpus], store=Store("memory://mismatched"))
    a, b = (minilm.embed(list(t), pooling="mean") for t in zip(*some, strict=True))
    apart = np.mean([_cosine(a[i], b[j]) for i in range(9) for j in range(9) if i != j])
    assert f"two different pairs, {apart:.3f}." in reading.findings[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give two texts with --a and --b"),
        (["--a", "wine"], "--b: is missing"),
        (["--a", "wine", "--b", "  "], "--b: is empty"),
        (["--a", "wine", "--b", "x", "--method", "magic"], "--method magic: not one of bti"),
        (["--a", "wine", "--b", "x", "--top-k", "0"], "must be at least 1"),
        (["--a", "wine", "--b-file", "nowhere.txt"], "cannot be read"),
        (["--pairs", "PAIRS?text=first&text_b=none"], "none"),
        (["--pairs", "PAIRS?text=first"], "no second texts"),
        (["--pairs", "PAIRS?text=first&text_b=second", "--a", "wine"], "goes without"),
        (["--a", "wine", "--b", "x", "--corpus", "PAIRS?text=first&text_b=second"], "go without --corpus"),
        (["--a", "\u200d", "--b", "x"], "no pair has words on both sides"),
    ],
)
def test_bad_input_is_one_line(tmp_path, capsys, arguments, said) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("first,second\nwine,red wine\n")
    given = [a.replace("PAIRS", str(file)) for a in arguments]
    with pytest.raises(SystemExit) as stop:
        main(["similarity", "all-MiniLM-L6-v2", *given, "--store", str(tmp_path / "store")])
    assert stop.value.code == 2
    error = capsys.readouterr().err.strip()
    assert said in error and error.count("\n") == 0


def test_command_line(tmp_path, capsys, monkeypatch) -> None:
    (tmp_path / "b.txt").write_text("This red is very dry.")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"A dry red wine.")))
    with pytest.raises(SystemExit) as stop:
        main(["similarity", "all-MiniLM-L6-v2", "--a-file", "-", "--b-file", str(tmp_path / "b.txt"), "--json"])
    assert stop.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pairs"][0]["a"] == found["pairs"][0]["b"] == "dry" and found["method"] == "bti"
    assert [w["word"] for w in found["words_a"]] == ["A", "dry", "red", "wine", "."]


def test_the_terminal_and_the_prompt_show_words_joined_and_bars(minilm, tmp_path, capsys) -> None:
    texts = ["--a", "A dry red wine.", "--b", "This red is very dry."]
    with pytest.raises(SystemExit) as stop:
        main(["similarity", "all-MiniLM-L6-v2", *texts, "--store", str(tmp_path)])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert "dry[1]" in out and "█" in out and "cosine" in out
    found = explain(minilm, texts[1], texts[3])
    assert "dry[1]" in repr(found) and f"• {found.findings[0]}" in repr(found)
    assert set(found.drawings()) == {"pairs", "words"}


def test_a_file_of_pairs(tmp_path, capsys) -> None:
    """As many explanations as pairs and methods; the completeness error is of integrated gradients alone."""
    place = tmp_path / "pairs.csv"
    place.write_text("text,text_b\nA dry red wine.,This red is very dry.\nA long coat.,A short coat.\n")
    methods = ["--method", "bti", "--method", "integrated-gradients"]
    with pytest.raises(SystemExit) as stop:
        main(["similarity", "all-MiniLM-L6-v2", "--pairs", str(place), *methods, "--store", str(tmp_path), "--json"])
    assert stop.value.code == 0
    rows = json.loads(capsys.readouterr().out)["explanations"]
    assert [row["method"] for row in rows] == ["bti", "integrated-gradients"] * 2
    assert ["completeness_error" in row for row in rows] == [False, True] * 2


def test_a_classifier_is_explained_by_its_answer_and_an_encoder_wants_two_texts(minilm, classifier) -> None:
    assert explain(classifier, "A fine film.", "A poor one.").instrument == "explanation"
    with pytest.raises(InputError, match="give two texts"):
        explain(minilm, "A fine film.")


def test_sanity_and_faithfulness_in_the_reading(xtremedistil, pairs, tmp_path) -> None:
    some = pairs[:5]
    corpus = Corpus.of([a for a, _ in some], "fashion", texts_b=[b for _, b in some])
    [reading] = run(
        [Similarity(sanity=True, faithfulness=True)], xtremedistil, [corpus], store=Store(tmp_path / "store")
    )
    found = reading.to_json()
    assert {r["method"] for r in found["deletion"]} == {*METHODS, "random"}
    assert [r["change"] for r in found["randomisation"]] == ["other batches", *["top layers"] * 6, "whole model"]
    assert any("drawn anew" in f for f in reading.findings) and any(
        "deleting salient words" in f for f in reading.findings
    )
    assert set(reading.drawings()) == {"deletion", "randomisation"}
    reading.save(tmp_path / "out")
    assert (tmp_path / "out" / "figures" / "deletion.svg").stat().st_size > 1000


def test_a_test_of_truth_that_was_finished_is_not_done_again(xtremedistil, pairs, tmp_path, monkeypatch) -> None:
    from theodolite.similarity import truth

    corpus = Corpus.of([a for a, _ in pairs[:3]], "fashion", texts_b=[b for _, b in pairs[:3]])
    asked, store = Similarity(sanity=True, faithfulness=True), Store(tmp_path / "store")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(truth, "deletion", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run([asked], xtremedistil, [corpus], store=store)
    with monkeypatch.context() as patched:
        patched.setattr(truth, "randomisation", interrupted)
        [resumed] = run([asked], xtremedistil, [corpus], store=store)
    [whole] = run([asked], xtremedistil, [corpus], store=Store(tmp_path / "another"))
    for name in ("randomisation", "deletion", "deletion_curves"):
        assert resumed.tables[name].equals(whole.tables[name])
    monkeypatch.setattr(truth, "randomisation", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run([Similarity(sanity=True, faithfulness=True, seed=1)], xtremedistil, [corpus], store=store)


def test_reproduction_small(shared, tmp_path) -> None:
    from theodolite.similarity.reproduce import OPINIONS, reproduce

    model = str(shared / "models" / "xtremedistil-l6-h256")
    found = reproduce(shared / "data", [model], limit=16, store=Store(tmp_path), progress=Silent())
    said = [claim.claim for claim in found.claims]
    for name in ("fashion", "wine"):
        assert f"{name}: RecoBERT (16 items)" in said
        for label in ("as it was", "RecoBERT"):
            assert f"{name}, {label}: bti is the best of the methods (Table 1)" in said
            assert all(f"{name}, {label}: {method}" in said for method in OPINIONS)
    drawn = [c for c in found.claims if "Figure 4" in c.claim]
    assert len(drawn) == 4 and all(c.holds is not None for c in drawn)
    found.save(tmp_path / "out")
    with pytest.raises(InputError, match=r"no catalogue/fashion\.csv\.gz"):
        reproduce(tmp_path, [model], limit=16, store=Store(tmp_path), progress=Silent())

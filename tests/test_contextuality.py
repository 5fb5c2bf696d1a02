"""Contextuality against its definitions, written out over all pairs, on the real models."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from theodolite import Contextuality, Corpus, InputError, RunOptions, Store, run
from theodolite.contextuality.counting import BASELINE_DRAWS
from theodolite.contextuality.measures import mev, shuffled_similarity

EXACT = (
    "anisotropy",
    "self_similarity",
    "self_similarity_adjusted",
    "intra_sentence_similarity",
    "intra_sentence_similarity_adjusted",
)


# The spec, step by step, one text and one pair at a time.


def naive_units(text: str) -> list[tuple[int, int]]:
    spans, i = [], 0
    while i < len(text):
        if text[i].isspace():
            i += 1
            continue
        j = i
        while j < len(text) and not text[j].isspace():
            j += 1
        a, b = i, j
        while a < b and unicodedata.category(text[a])[0] not in "LMN":
            spans.append((a, a + 1))
            a += 1
        tail = []
        while b > a and unicodedata.category(text[b - 1])[0] not in "LMN":
            tail.append((b - 1, b))
            b -= 1
        if b > a:
            spans.append((a, b))
        spans += reversed(tail)
        i = j
    return spans


def naive_words(model, tokenizer, text: str, unit: str = "word"):
    """[(key, (layers, d) vector)] of one text, run through the model alone."""
    encoded = tokenizer(text, return_offsets_mapping=True, truncation=False, padding=False)
    with torch.no_grad():
        states = model(
            input_ids=torch.tensor([encoded["input_ids"]]),
            attention_mask=torch.tensor([encoded["attention_mask"]]),
            output_hidden_states=True,
        ).hidden_states
    states = np.stack([s[0].numpy().astype(np.float64) for s in states])
    tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"])
    special = set(tokenizer.all_special_tokens)
    spans = naive_units(text)
    pieces = defaultdict(list)
    for i, ((begin, end), token) in enumerate(zip(encoded["offset_mapping"], tokens, strict=True)):
        if token in special and begin == end:
            continue
        start = begin
        while start < end and text[start].isspace():
            start += 1
        where = [u for u, (a, b) in enumerate(spans) if a <= start < b]
        if start < end and where:
            pieces[(where[0], i) if unit == "token" else where[0]].append(i)
    found = []
    for place, of in pieces.items():
        if unit == "token":
            start, end = encoded["offset_mapping"][of[0]]
            word, key = text[start:end], tokens[of[0]]
        else:
            word = text[slice(*spans[place])]
            key = tokenizer.backend_tokenizer.normalizer.normalize_str(word)
        if any(unicodedata.category(c)[0] in "LN" for c in word):
            found.append((key, states[:, of].mean(axis=1)))
    return found


def cosine(a, b) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def mean_over_pairs(vectors, weights) -> float:
    u = np.array([v / np.sqrt(v @ v) for v in vectors])
    cosines = u @ u.T
    pairs = weights @ cosines @ weights - (weights**2 * np.diagonal(cosines)).sum()
    return float(pairs / (weights.sum() ** 2 - (weights**2).sum()))


def naive_contextuality(path, texts, *, weights=None, min_contexts=5, unit="word", mev_cap=200, centered=False):
    model, tokenizer = AutoModel.from_pretrained(path).eval(), AutoTokenizer.from_pretrained(path)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    weights = np.ones(len(texts)) if weights is None else np.asarray(weights, float)
    distinct = [i for i, t in enumerate(texts) if t.strip() and t not in texts[:i]]
    per_text = {i: naive_words(model, tokenizer, texts[i], unit) for i in distinct}
    every = [(v, weights[i]) for i, words in per_text.items() for _, v in words]
    by_word, where = defaultdict(list), defaultdict(set)
    for i, words in per_text.items():
        for key, vector in words:
            by_word[key].append((vector, weights[i]))
            where[key].add(i)
    eligible = [w for w in by_word if len(where[w]) >= min_contexts]
    layers = len(every[0][0])
    found = []
    for layer in range(layers):
        anisotropy = mean_over_pairs([v[layer] for v, _ in every], np.array([a for _, a in every]))
        self_similarity = {
            w: mean_over_pairs([v[layer] for v, _ in by_word[w]], np.array([a for _, a in by_word[w]]))
            for w in eligible
        }
        intra, intra_weight = [], []
        for i, words in per_text.items():
            if len(words) >= 2:
                vectors = [v[layer] for _, v in words]
                mean = np.mean(vectors, axis=0)
                intra.append(np.mean([cosine(v, mean) for v in vectors]))
                intra_weight.append(weights[i])
        mevs = {}
        for w in eligible:
            if len(by_word[w]) <= mev_cap:
                x = np.array([v[layer] * np.sqrt(a) for v, a in by_word[w]])
                s = np.linalg.svd(x - x.mean(0) if centered else x, compute_uv=False)
                mevs[w] = s[0] ** 2 / (s**2).sum()
        found.append(
            {
                "anisotropy": anisotropy,
                "self_similarity": np.mean(list(self_similarity.values())),
                "self_similarity_adjusted": np.mean(list(self_similarity.values())) - anisotropy,
                "intra_sentence_similarity": np.average(intra, weights=intra_weight),
                "intra_sentence_similarity_adjusted": np.average(intra, weights=intra_weight) - anisotropy,
                "words": self_similarity,
                "mev": mevs,
                "occurrences": len(every),
                "texts": len(intra),
            }
        )
    return found


def check(found: dict, naive: list[dict], tolerance: float = 1e-5) -> None:
    assert len(found["layers"]) == len(naive)
    words = {w["word"]: w for w in found["words"]}
    assert set(words) == set(naive[0]["words"])
    for row, expected in zip(found["layers"], naive, strict=True):
        layer = row["layer"]
        assert row["occurrences"] == expected["occurrences"]
        assert row["texts"] == expected["texts"]
        assert row["words"] == len(expected["words"])
        for name in EXACT:
            assert row[name] == pytest.approx(expected[name], abs=tolerance), (layer, name)
        for word, value in expected["words"].items():
            assert words[word]["self_similarity"][layer] == pytest.approx(value, abs=tolerance), (layer, word)
        for word, value in expected["mev"].items():
            if words[word]["mev"] is not None:
                assert words[word]["mev"][layer] == pytest.approx(value, abs=tolerance), (layer, word)


@pytest.fixture(scope="module")
def wiki(shared: Path) -> list[str]:
    return Corpus.read(shared / "data" / "corpora" / "wiki.txt.gz", limit=300).texts()


MODELS = ("all-MiniLM-L6-v2", "xtremedistil-l6-h256")


def folder_of(model: str, shared: Path) -> str:
    from theodolite.encoder.resolve import resolve

    return str(resolve(model if model == "all-MiniLM-L6-v2" else shared / "models" / model).path)


@pytest.fixture(scope="module", params=MODELS)
def measured(request, shared: Path, wiki: list[str]):
    path = folder_of(request.param, shared)
    return path, naive_contextuality(path, wiki, mev_cap=100_000)


@pytest.mark.parametrize("budget", [None, 64, 4096])
def test_the_command_equals_the_definitions(measured, shared: Path, tmp_path: Path, budget: int | None) -> None:
    path, naive = measured
    command = [
        sys.executable,
        "-m",
        "theodolite",
        "contextuality",
        path,
        "--limit",
        "300",
        "--json",
        "--corpus",
        f"wiki={shared / 'data' / 'corpora' / 'wiki.txt.gz'}",
        "--store",
        str(tmp_path),
        "--mev-cap",
        "100000",
        "--mev-words",
        "5000",
    ]
    if budget:
        command += ["--token-budget", str(budget)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    check(found, naive)
    assert all(w["mev"] is not None for w in found["words"])


@pytest.fixture(scope="module")
def few() -> list[str]:
    return [
        "The bank raised its rates again.",
        "A bank of sand kept the boats away!",
        "She sat on the bank, and read \u201cThe Boat\u201d twice.",
        "",
        "Rates: 3.5 percent \u2014 the bank\u2019s lowest.",
        "The bank raised its rates again.",
        "He can bank on the boat\tand the weather\U0001f642.",
        "Cafe\u0301 and caf\u00e9 on the bank.",
        "Yes.",
    ]


def reading_of(encoder, corpus, tmp_path, **options):
    [reading] = run([Contextuality(**options)], encoder, [corpus], store=Store(tmp_path))
    return reading


@pytest.mark.parametrize("unit", ["word", "token"])
@pytest.mark.parametrize("centered", [False, True])
def test_odd_texts_both_units_and_weights(minilm, few, tmp_path, unit: str, centered: bool) -> None:
    weights = [1.0, 2.0, 0.5, 1.0, 3.0, 9.0, 1.0, 0.25, 1.0]
    corpus = Corpus.of(few, name="few", weight=weights)
    options = {"unit": unit, "min_contexts": 2, "centered": centered, "weights": "weight"}
    found = reading_of(minilm, corpus, tmp_path, **options).to_json()
    path = str(minilm.folder.path)
    check(found, naive_contextuality(path, few, weights=weights, min_contexts=2, unit=unit, centered=centered))
    [tally] = found["manifest"]["corpora"]
    assert (tally["empty"], tally["duplicate"]) == (1, 1)


def test_equal_weights_change_nothing(minilm, few, tmp_path) -> None:
    plain = reading_of(minilm, Corpus.of(few), tmp_path / "a", min_contexts=2).to_json()
    weighted = Corpus.of(few, weight=[7.0] * len(few))
    found = reading_of(minilm, weighted, tmp_path / "b", min_contexts=2, weights="weight").to_json()
    for a, b in zip(plain["layers"], found["layers"], strict=True):
        for name in EXACT:
            # A word's sum within a batch is in single precision, and sevenfold numbers are rounded otherwise.
            assert a[name] == pytest.approx(b[name], abs=1e-7)


def test_intervals_hold_their_estimate_and_baselines_are_sane(minilm, wiki, tmp_path) -> None:
    found = reading_of(minilm, Corpus.of(wiki), tmp_path).to_json()
    for row in found["layers"]:
        for name in (*EXACT, "intra_sentence_shuffled", "mev", "mev_baseline", "mev_adjusted"):
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"], (row["layer"], name)
        assert row["intra_sentence_shuffled"] < row["intra_sentence_similarity"]
        assert 0 < row["mev_baseline"] < row["mev"] <= 1
    [sampling] = found["sampling"]
    assert sampling["mev_baseline_draws"] == BASELINE_DRAWS
    assert sampling["words_measured"] == sampling["eligible_words"]


def test_the_shuffled_baseline_is_the_mean_of_texts_of_random_words(minilm, wiki, tmp_path) -> None:
    """Against texts really made of words drawn anew, with a generator of its own."""
    found = reading_of(minilm, Corpus.of(wiki), tmp_path).to_json()
    path = str(minilm.folder.path)
    model, tokenizer = AutoModel.from_pretrained(path).eval(), AutoTokenizer.from_pretrained(path)
    words = [naive_words(model, tokenizer, text) for text in wiki]
    every = np.array([v[-1] for of in words for _, v in of])
    random = np.random.default_rng(5)
    values = []
    for of in words:
        if len(of) >= 2:
            drawn = every[random.choice(len(every), len(of), replace=False)]
            values.append(np.mean([cosine(v, drawn.mean(0)) for v in drawn]))
    row = found["layers"][-1]
    spread = (
        np.std(values) / np.sqrt(len(values))
        + (row["intra_sentence_shuffled_high"] - row["intra_sentence_shuffled_low"]) / 4
    )
    assert row["intra_sentence_shuffled"] == pytest.approx(np.mean(values), abs=4 * spread)


def test_the_mev_baseline_is_that_of_random_words(minilm, wiki, tmp_path) -> None:
    found = reading_of(minilm, Corpus.of(wiki), tmp_path, mev_words=5000).to_json()
    path = str(minilm.folder.path)
    model, tokenizer = AutoModel.from_pretrained(path).eval(), AutoTokenizer.from_pretrained(path)
    every = [(key, v[3]) for text in wiki for key, v in naive_words(model, tokenizer, text)]
    random = np.random.default_rng(2)
    values = []
    for _ in range(200):
        drawn: dict[str, np.ndarray] = {}
        while len(drawn) < 7:
            key, vector = every[random.integers(len(every))]
            drawn.setdefault(key, vector)
        values.append(mev(np.array(list(drawn.values()))))
    baselines = [w["mev"][3] - w["mev_adjusted"][3] for w in found["words"] if w["occurrences"] == 7]
    assert len(set(np.round(baselines, 12))) == 1
    assert baselines[0] == pytest.approx(np.mean(values), abs=4 * np.std(values) / np.sqrt(BASELINE_DRAWS))


def test_samples_are_bounded_and_told(minilm, wiki, tmp_path) -> None:
    options = {"max_words": 20, "mev_words": 5, "mev_cap": 10, "word": ("the", "Berkeley")}
    reading = reading_of(minilm, Corpus.of([*wiki, "Berkeley again."]), tmp_path, **options)
    found = reading.to_json()
    words = {w["word"]: w for w in found["words"]}
    assert {"the", "berkeley"} <= set(words)
    assert found["layers"][0]["words"] == 20, "a word that is only named does not enter the mean"
    assert sum(w["mev"] is not None for w in found["words"]) <= 7
    [sampling] = found["sampling"]
    assert sampling["words_measured"] == 20 < sampling["eligible_words"]
    assert sampling["mev_words_capped"] >= 1
    again = reading_of(minilm, Corpus.of([*wiki, "Berkeley again."]), tmp_path, **options, seed=1).to_json()
    assert {w["word"] for w in again["words"]} != set(words)


def test_a_capped_word_uses_the_occurrences_of_smallest_hash(minilm, wiki, tmp_path) -> None:
    """MEV of 'the' with a cap equals MEV over that very sample, found by brute force."""
    from theodolite.accumulate import hash_of

    cap = 40
    found = reading_of(minilm, Corpus.of(wiki), tmp_path, mev_cap=cap, word=("the",), seed=3).to_json()
    tokens = minilm.tokenise(wiki)
    words = minilm.tokenizer.words(tokens)
    at = [i for i, key in enumerate(words.key) if key == "the"]
    assert len(at) > 3 * cap
    hashes = hash_of(3, 0, words.text[at], words.position[at])
    chosen = [at[i] for i in np.argsort(hashes)[:cap]]
    states = minilm.hidden_states(wiki, layers=[4])
    vectors = []
    for i in chosen:
        text = words.text[i]
        span = slice(words.start[i] - tokens.bounds[text], words.stop[i] - tokens.bounds[text])
        vectors.append(states[text][0, span].mean(0))
    row = next(w for w in found["words"] if w["word"] == "the")
    assert row["mev"][4] == pytest.approx(mev(np.array(vectors)), abs=1e-5)


def test_several_encoders_and_corpora_stand_side_by_side(minilm, xtremedistil, wiki, few, tmp_path) -> None:
    from theodolite import ContextualityReading

    corpora = [Corpus.of(wiki[:60], name="wiki"), Corpus.of(few, name="few")]
    readings = [
        run([Contextuality(min_contexts=2)], encoder, corpora, store=Store(tmp_path))[0]
        for encoder in (minilm, xtremedistil)
    ]
    found = ContextualityReading.beside(readings).to_json()
    assert [e["encoder"] for e in found["encoders"]] == list(MODELS)
    assert [c["corpus"] for c in found["encoders"][0]["corpora"]] == ["wiki", "few"]
    assert len(found["encoders"][1]["corpora"][0]["layers"]) == 7
    assert any(MODELS[1] in f for f in found["findings"])


def test_batch_size_does_not_matter(minilm, wiki, tmp_path) -> None:
    found = []
    for i, (budget, shard) in enumerate([(128, 64), (2048, 1024)]):
        [reading] = run(
            [Contextuality()],
            minilm,
            [Corpus.of(wiki)],
            store=Store(tmp_path / str(i)),
            options=RunOptions(token_budget=budget, shard_size=shard),
        )
        found.append(reading.tables)
    for a, b in zip(found[0]["layers"].to_pylist(), found[1]["layers"].to_pylist(), strict=True):
        for name, value in a.items():
            assert value == b[name] if isinstance(value, (int, str)) else value == pytest.approx(b[name], abs=1e-5)
    assert found[0]["words"].column("word").to_pylist() == found[1]["words"].column("word").to_pylist()


def test_a_reading_survives_saving(minilm, few, tmp_path) -> None:
    from theodolite import load

    reading = reading_of(minilm, Corpus.of(few), tmp_path / "store", min_contexts=2, word=("bank",))
    reading.save(tmp_path / "out")
    assert load(tmp_path / "out").to_json() == json.loads(json.dumps(reading.to_json()))
    assert {p.suffix for p in (tmp_path / "out" / "figures").iterdir()} == {".svg", ".pdf"}
    assert {"curves", "curves-adjusted", "word-bank"} <= set(reading.drawings())


def test_importance_of_layers(minilm, shared: Path, tmp_path) -> None:
    source = f"{shared / 'data' / 'sts' / 'STSB_dev.tsv'}"
    head = Path(source).read_text().splitlines()
    (tmp_path / "sts.tsv").write_text("\n".join(head[:121]) + "\n")
    columns = head[0].split("\t")
    assert {"score", "sentence1", "sentence2"} <= set(columns), columns
    spec = f"sts={tmp_path / 'sts.tsv'}?text=sentence1&text_b=sentence2&label=score"
    corpus = Corpus.of(["one two", "two one", "one more", "more of one", "one"], name="few")
    found = reading_of(minilm, corpus, tmp_path / "store", min_contexts=2, importance=spec).to_json()
    rows = found["importance"]
    assert [r["layer"] for r in rows] == [1, 2, 3, 4, 5, 6]
    assert all(r["loss_low"] <= r["loss"] <= r["loss_high"] for r in rows)
    assert rows[0]["score_whole"] > 60
    assert rows[-1]["loss"] != 0
    for row in rows:
        assert row["loss"] == pytest.approx(row["score_whole"] - row["score"])


@pytest.fixture(scope="module")
def classifier_folder(minilm, tmp_path_factory) -> Path:
    """The real encoder with a head fitted on the demo reviews, as an ordinary classifier folder."""
    from sklearn.linear_model import LogisticRegression
    from transformers import BertForSequenceClassification

    from theodolite.demo import demo_corpus

    reviews = demo_corpus("reviews")
    texts, labels = reviews.texts(0, 300), np.array(reviews.column("label").to_pylist()[:300])
    model = BertForSequenceClassification.from_pretrained(minilm.folder.path, num_labels=2).eval()
    tokenizer = AutoTokenizer.from_pretrained(minilm.folder.path)
    with torch.no_grad():
        features = [model.bert(**tokenizer(t, return_tensors="pt")).pooler_output[0].numpy() for t in texts]
        fitted = LogisticRegression(C=100, max_iter=5000).fit(features, labels == "positive")
        model.classifier.weight.copy_(torch.tensor(np.concatenate([-fitted.coef_, fitted.coef_]) / 2))
        model.classifier.bias.copy_(torch.tensor(np.concatenate([-fitted.intercept_, fitted.intercept_]) / 2))
    model.config.id2label, model.config.label2id = {0: "negative", 1: "positive"}, {"negative": 0, "positive": 1}
    folder = tmp_path_factory.mktemp("classifier")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_importance_by_a_classifiers_accuracy(classifier_folder: Path, tmp_path) -> None:
    from theodolite import Encoder
    from theodolite.contextuality.importance import layer_importance
    from theodolite.demo import demo_corpus

    classifier = Encoder.load(classifier_folder)
    reviews = demo_corpus("reviews")
    judged = Corpus.of(reviews.texts(0, 120), name="reviews", labels=reviews.column("label").to_pylist()[:120])
    rows = layer_importance(classifier, judged).to_pylist()
    assert rows[0]["score_name"] == "accuracy (%)"
    assert rows[0]["score_whole"] >= 80
    assert max(r["loss"] for r in rows) > 2
    wrong = Corpus.of(["a text"] * 20, name="wrong", labels=["neutral"] * 20)
    with pytest.raises(InputError, match="neutral"):
        layer_importance(classifier, wrong)


def test_a_classifiers_logits_are_transformers_own_and_windows_are_averaged(classifier_folder: Path, wiki) -> None:
    from transformers import AutoModelForSequenceClassification

    from theodolite import Encoder

    classifier = Encoder.load(classifier_folder, max_length=64)
    model = AutoModelForSequenceClassification.from_pretrained(classifier_folder).eval()
    long = " ".join(wiki[:4])
    found = classifier.logits([*wiki[:5], long], budget=200)
    tokens = classifier.tokenise([*wiki[:5], long])
    for i in range(6):
        ids = tokens.ids[tokens.bounds[i] : tokens.bounds[i + 1]].tolist()
        answers, start = [], 0
        while True:
            part = ids[start : start + 62]
            with torch.no_grad():
                answers.append(model(input_ids=torch.tensor([[101, *part, 102]])).logits[0].numpy())
            if start + 62 >= len(ids):
                break
            start += 32
        np.testing.assert_allclose(found[i], np.mean(answers, axis=0), atol=1e-5)
    assert len(ids) > 62


def test_texts_of_shuffled_words_by_the_definition():
    """The mean cosine of drawn vectors with their mean; a text longer than the pool takes all of it."""
    pool = np.random.default_rng(1).standard_normal((30, 2, 5)).astype(np.float32)
    sizes = np.array([2, 7, 99])
    found = shuffled_similarity(pool, sizes, seed=4)
    draws = np.random.default_rng(4)
    for i, size in enumerate((2, 7, 30)):
        members = draws.choice(30, size, replace=False)
        for layer in range(2):
            vectors = [pool[m, layer].astype(np.float64) for m in members]
            mean = sum(vectors) / size
            cosines = [v @ mean / np.linalg.norm(v) / np.linalg.norm(mean) for v in vectors]
            assert found[i, layer] == pytest.approx(sum(cosines) / size)

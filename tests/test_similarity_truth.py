"""Is an explanation true? Weights drawn anew, words removed, and ratings drawn, against plain versions."""

from __future__ import annotations

import copy
import csv
import gzip
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from test_encoder_families import FAMILIES, saved

from theodolite import Encoder
from theodolite.accumulate import uniform_of
from theodolite.encoder.randomised import randomised
from theodolite.errors import InputError
from theodolite.similarity import deletion as deleting
from theodolite.similarity.deletion import Deletion, deletion, removed_at
from theodolite.similarity.explaining import explain_pairs
from theodolite.similarity.explanation import Asked, Explanation, Side
from theodolite.similarity.methods import METHODS
from theodolite.similarity.randomisation import Randomised, randomisation, rank_correlation
from theodolite.similarity.study import draw_ratings
from theodolite.words import units

SEVERAL = Asked(methods=("bti", "vanilla-gradients", "bti-activations"))
ODD = ("😀 Soft, well-made top", "naïve café-top…")


@pytest.fixture(scope="module")
def pairs(shared: Path) -> list[tuple[str, str]]:
    """Descriptions of two items of one type: 20 pairs."""
    with gzip.open(shared / "data" / "catalogue" / "fashion.csv.gz", "rt", encoding="utf-8") as file:
        waiting: dict[str, str] = {}
        found: dict[tuple[str, str], None] = {}
        for row in csv.DictReader(file):
            text, kind = row["detail_desc"], row["product_type_name"]
            other = waiting.get(kind)
            if other is None or other == text:
                waiting[kind] = text
            elif 4 <= len(text.split()) <= 60:
                found[waiting.pop(kind), text] = None
            if len(found) == 20:
                break
    return list(found)


@pytest.fixture(scope="module")
def explained(minilm: Encoder, pairs: list[tuple[str, str]]) -> list[Explanation]:
    return list(explain_pairs(minilm, *sides(pairs[:5]), SEVERAL))


def sides(pairs: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


def interval(values: list[float]) -> tuple[float, float, float]:
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    return np.mean(values), np.mean(values) - half, np.mean(values) + half


# Weights drawn anew


def weights(encoder: Encoder) -> dict[str, torch.Tensor]:
    return dict(encoder.model.named_parameters())


def matrices(encoder: Encoder) -> dict[str, torch.Tensor]:
    return {name: weight for name, weight in weights(encoder).items() if weight.dim() > 1}


def test_all_weights_are_drawn_anew_and_the_model_is_left_alone(minilm: Encoder) -> None:
    before = {name: weight.clone() for name, weight in weights(minilm).items()}
    hash_before, random_before = minilm.hash, torch.get_rng_state()
    copy = randomised(minilm, None, seed=3)
    assert torch.equal(torch.get_rng_state(), random_before)
    assert minilm.hash == hash_before != copy.hash and minilm._forward is minilm.model
    assert all(torch.equal(weight, before[name]) for name, weight in weights(minilm).items())
    assert list(weights(copy)) == list(before)
    for name, weight in weights(copy).items():
        assert weight.data_ptr() != weights(minilm)[name].data_ptr() and not weight.requires_grad
        if weight.dim() > 1:
            assert (weight != before[name]).float().mean() > 0.99, name
            drawn = weight[weight.abs().sum(dim=1) > 0]  # the row of padding is 0
            assert len(drawn) >= len(weight) - 1
            assert drawn.std().item() == pytest.approx(minilm.model.config.initializer_range, rel=0.05), name
        else:
            value = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            assert torch.equal(weight, torch.full_like(weight, value)), name
    assert not copy.model.training and copy.limit == minilm.limit


def test_weights_follow_from_the_seed(minilm: Encoder) -> None:
    one, same, other = (matrices(randomised(minilm, None, seed)) for seed in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not any(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("layers", [0, 1, 4, 6])
def test_the_top_layers_alone_are_drawn_anew(minilm: Encoder, layers: int) -> None:
    copy, whole = randomised(minilm, layers, seed=0), weights(randomised(minilm, None, seed=0))
    trained, new = weights(minilm), tuple(f"encoder.layer.{number}." for number in range(6 - layers, 6))
    assert list(weights(copy)) == list(trained)
    for name, weight in weights(copy).items():
        if name.startswith(new):
            assert torch.equal(weight, whole[name]) and not torch.equal(weight, trained[name])
        else:
            assert weight.data_ptr() == trained[name].data_ptr()
    texts = [*ODD, "Jersey top with narrow shoulder straps."]
    for below in range(7):
        mine, theirs = (encoder.embed(texts, layer=below, pooling="mean") for encoder in (copy, minilm))
        assert np.array_equal(mine, theirs) == (below <= 6 - layers)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family(family: str, tmp_path: Path) -> None:
    encoder = Encoder.load(saved(family, tmp_path))
    copy = randomised(encoder, None, seed=1)
    found = matrices(copy)
    assert all((weight != found[name]).float().mean() > 0.9 for name, weight in matrices(encoder).items())
    assert np.isfinite(copy.embed(list(ODD))).all()
    if family == "albert":
        with pytest.raises(InputError, match="share their weights, so these can only be drawn anew as a whole"):
            randomised(encoder, 0, seed=1)
        rows = randomisation(encoder, [ODD[0]], [ODD[1]], Asked())
        assert [row.change for row in rows] == ["other batches", "whole model"]
        return
    kept, changed = (encoder.embed(list(ODD), layer=layer) for layer in (1, 2))
    top = randomised(encoder, 2, seed=1)
    np.testing.assert_array_equal(top.embed(list(ODD), layer=1), kept)
    assert np.abs(top.embed(list(ODD), layer=2) - changed).max() > 0.01
    with pytest.raises(InputError, match=r"4 layers to be drawn anew: .* has 3"):
        randomised(encoder, 4, seed=1)


@pytest.mark.parametrize("size", [0, 1, 2, 30])
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_rank_correlation_is_scipys(size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = random.integers(0, 4, (2, size)).astype(float)
    found = rank_correlation(x, y)
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def plain_agreement(trained: Encoder, other: Encoder, pair: tuple[str, str], method: str) -> tuple[float, float]:
    """Of one pair alone: correlation, the mean of both texts, and overlap."""
    one, two = (
        next(explain_pairs(e, [pair[0]], [pair[1]], Asked(methods=(method,)), budget=64)) for e in (trained, other)
    )
    texts = ((one.a, two.a), (one.b, two.b))
    correlations = [stats.spearmanr(x.saliency[method], y.saliency[method]).statistic for x, y in texts]
    chosen = []
    for found in (one.matches[method], two.matches[method]):
        chosen.append({(found.index_a[i], found.index_b[i]) for i in range(len(found)) if found.chosen[i]})
    return sum(correlations) / 2, len(chosen[0] & chosen[1]) / len(chosen[0] | chosen[1])


def test_rows_are_those_of_the_definition(minilm: Encoder, pairs: list[tuple[str, str]]) -> None:
    some = pairs[:3]
    asked = Asked(methods=("bti", "bti-activations"))
    rows = randomisation(minilm, *sides(some), asked, layers=(2,), seed=5)
    assert [(row.change, row.layers, row.method) for row in rows] == [
        (change, layers, method)
        for change, layers in (("other batches", 0), ("top layers", 2), ("whole model", 6))
        for method in asked.methods
    ]
    others = {0: minilm, 2: randomised(minilm, 2, 5), 6: randomised(minilm, None, 5)}
    for row in rows:
        plain = [plain_agreement(minilm, others[row.layers], pair, row.method) for pair in some]
        mine = (row.correlation, row.correlation_low, row.correlation_high)
        assert mine == pytest.approx(interval([c for c, _ in plain]), abs=2e-3)
        mine = (row.overlap, row.overlap_low, row.overlap_high)
        assert mine == pytest.approx(interval([o for _, o in plain]), abs=2e-3)
        assert (row.n, row.constant) == (3, 0)
    by = {(row.change, row.method): row for row in rows}
    # It looks at embeddings alone, which the top layers have no part in: such a method is not of the model.
    assert by["top layers", "bti-activations"].correlation == pytest.approx(1)
    assert by["top layers", "bti"].correlation < 0.99


def test_drawn_weights_change_an_explanation_and_other_batches_do_not(
    minilm: Encoder, pairs: list[tuple[str, str]]
) -> None:
    harmless, whole = randomisation(minilm, *sides(pairs), Asked(), layers=())
    assert harmless.n == whole.n == 20 and harmless.constant == whole.constant == 0
    assert harmless.correlation > 0.999 and harmless.overlap > 0.95
    assert whole.correlation < 0.5 and whole.correlation_high < harmless.correlation_low
    assert whole.overlap_high < harmless.overlap_low


def test_several_seeds_are_averaged_by_pair(minilm: Encoder, pairs: list[tuple[str, str]]) -> None:
    def whole(seed: int, seeds: int) -> Randomised:
        return randomisation(minilm, *sides(pairs[:2]), Asked(), layers=(), seed=seed, seeds=seeds)[-1]

    one, two, both = whole(0, 1), whole(1, 1), whole(0, 2)
    assert both.correlation == pytest.approx((one.correlation + two.correlation) / 2)
    assert both.overlap == pytest.approx((one.overlap + two.overlap) / 2)
    assert both.n == 2


def test_saliencies_that_are_all_equal_are_counted(minilm: Encoder, pairs: list[tuple[str, str]]) -> None:
    (a, b), (c, _) = pairs[:2]
    rows = randomisation(minilm, [a, c, "dress", "dress"], [b, c, "skirt", b], Asked(), layers=())
    # Two texts that are one, and two words, have no correlation; one word and a text have that of the text.
    assert [(row.n, row.constant) for row in rows] == [(4, 2)] * 2
    alone = randomisation(minilm, [a, "dress"], [b, b], Asked(), layers=())
    assert [row.correlation for row in rows] == pytest.approx([row.correlation for row in alone], abs=2e-3)
    for row in randomisation(minilm, ["dress"], ["skirt"], Asked(), layers=()):
        assert math.isnan(row.correlation) and row.constant == 1 and row.overlap == 1
    with pytest.raises(InputError, match="no pairs to explain"):
        randomisation(minilm, [], [], Asked())
    with pytest.raises(InputError, match="0 seeds of weights"):
        randomisation(minilm, ["dress"], ["skirt"], Asked(), seeds=0)


# Words removed


@given(st.integers(1, 300), st.integers(1, 30))
def test_the_steps_go_from_nothing_to_all_but_one(words: int, steps: int) -> None:
    found = removed_at(words, steps).tolist()
    assert found == [math.floor(Fraction(j * (words - 1), steps) + Fraction(1, 2)) for j in range(steps + 1)]
    assert found[0] == 0 and found[-1] == words - 1 and found == sorted(found)


class Plain:
    """Texts of a pair shortened and encoded one at a time, by transformers' model itself, in double precision."""

    def __init__(self, encoder: Encoder, pooling: str, similarity: str) -> None:
        self.model, self.backend = copy.deepcopy(encoder.model).double(), encoder.tokenizer._backend
        self.pooling, self.similarity = pooling, similarity

    def vector(self, ids: list[int]) -> np.ndarray:
        around = self.backend.encode("x").ids
        with torch.no_grad():
            rows = self.model(input_ids=torch.tensor([[around[0], *ids, around[-1]]])).last_hidden_state[0].numpy()
        return rows[0] if self.pooling == "cls" else rows[1:-1].mean(axis=0)

    def like(self, u: np.ndarray, v: np.ndarray) -> float:
        if self.similarity == "cosine":
            return float(u @ v / math.sqrt((u @ u) * (v @ v)))
        return float(u @ v) if self.similarity == "dot" else -math.sqrt(((u - v) ** 2).sum())

    def falls(self, text: str, other: str, saliency: np.ndarray, steps: int) -> list[float]:
        """The fall after each step, words removed from the one text."""
        coded = self.backend.encode(text, add_special_tokens=False)
        spans = units(text)
        unit = [next(i for i, (a, b) in enumerate(spans) if a <= start < b) for start, _ in coded.offsets]
        words = sorted(set(unit))
        order = sorted(range(len(words)), key=lambda i: (-saliency[i], i))
        whole = self.vector(self.backend.encode(other, add_special_tokens=False).ids)
        found = []
        for step in range(steps + 1):
            count = math.floor(Fraction(step * (len(words) - 1), steps) + Fraction(1, 2))
            gone = {words[i] for i in order[:count]}
            left = [number for number, u in zip(coded.ids, unit, strict=True) if u not in gone]
            found.append(self.like(self.vector(left), whole))
        return [found[0] - value for value in found]


@pytest.mark.parametrize(
    ("name", "pooling", "similarity"), [("minilm", "mean", "cosine"), ("xtremedistil", "cls", "euclidean")]
)
def test_areas_and_curves_are_those_of_the_definition(
    request: pytest.FixtureRequest, pairs: list[tuple[str, str]], name: str, pooling: str, similarity: str
) -> None:
    encoder: Encoder = request.getfixturevalue(name)
    asked, steps, seed = Asked(("vanilla-gradients", "bti"), pooling, similarity), 4, 7
    some = [*pairs[:3], ODD]
    explanations = list(explain_pairs(encoder, *sides(some), asked))
    found = deletion(encoder, explanations, asked, steps=steps, seed=seed)
    plain = Plain(encoder, pooling, similarity)
    falls: dict[str, list[list[float]]] = {}
    for number, one in enumerate(explanations):
        for method in ("vanilla-gradients", "bti", "random"):
            both = []
            for side, (text, other) in enumerate(((one.a, one.b), (one.b, one.a))):
                chance = uniform_of(seed, number, side, np.arange(len(text)))
                saliency = chance if method == "random" else text.saliency[method]
                both.append(plain.falls(text.text, other.text, saliency, steps))
            falls.setdefault(method, []).append([(x + y) / 2 for x, y in zip(*both, strict=True)])
    areas = {method: [sum(fall[1:]) / steps for fall in of] for method, of in falls.items()}
    assert [row.method for row in found.rows] == list(falls)
    order = sorted(areas, key=lambda method: -sum(areas[method]))
    for row in found.rows:
        mine = (row.area, row.area_low, row.area_high)
        assert mine == pytest.approx(interval(areas[row.method]), abs=1e-5)
        for than in ("random", "bti"):
            more = [x - y for x, y in zip(areas[row.method], areas[than], strict=True)]
            mine = tuple(getattr(row, f"over_{than}{end}") for end in ("", "_low", "_high"))
            assert mine == pytest.approx(interval(more), abs=1e-5)
        assert row.rank == order.index(row.method) + 1 and row.constant == 0
    points = [(p.method, p.fraction) for p in found.curves]
    assert points == [(method, step / steps) for method in falls for step in range(steps + 1)]
    for point in found.curves:
        plainly = interval([fall[round(point.fraction * steps)] for fall in falls[point.method]])
        assert (point.fall, point.low, point.high) == pytest.approx(plainly, abs=1e-5)
    assert found.n == 4 and found.single == 0
    assert found.whole == pytest.approx(np.mean([one.value for one in explanations]), abs=1e-5)


def area(found: Deletion, method: str) -> float:
    return next(row.area for row in found.rows if row.method == method)


def test_nothing_removed_changes_nothing(minilm: Encoder, explained: list[Explanation]) -> None:
    found = deletion(minilm, explained, SEVERAL, steps=2)
    start = [point for point in found.curves if point.fraction == 0]
    assert [(p.fall, p.low, p.high) for p in start] == [(0, 0, 0)] * 4
    assert len({point.fall for point in found.curves if point.fraction == 0.5}) == 4


def test_methods_of_one_order_fall_alike_whatever_their_scale(minilm: Encoder, explained: list[Explanation]) -> None:
    def cubed(side: Side) -> Side:
        return replace(side, saliency={**side.saliency, "vanilla-gradients": side.saliency["bti"] ** 3})

    same = [replace(one, a=cubed(one.a), b=cubed(one.b)) for one in explained]
    found = deletion(minilm, same, SEVERAL, steps=3)
    assert area(found, "vanilla-gradients") == area(found, "bti") != area(found, "bti-activations")


def test_random_order_follows_from_the_seed(minilm: Encoder, explained: list[Explanation]) -> None:
    asked = Asked()
    one, same, other = (deletion(minilm, explained, asked, steps=3, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert area(one, "random") != area(other, "random") and area(one, "bti") == pytest.approx(area(other, "bti"))


def test_blocks_do_not_matter(minilm: Encoder, explained: list[Explanation], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = deletion(minilm, explained, SEVERAL, steps=3)
    for name, size in (("PAIRS", 2), ("PIECES", 1)):
        monkeypatch.setattr(deleting, name, size)
        found = deletion(minilm, explained, SEVERAL, steps=3, budget=200)
        assert [row.area for row in found.rows] == pytest.approx([row.area for row in whole.rows], abs=1e-6)


def test_what_the_likeness_rests_on_is_told_from_random(minilm: Encoder, pairs: list[tuple[str, str]]) -> None:
    """Saliency by the fall that each word alone makes, and its opposite."""

    def alone(side: Side, other: Side) -> Side:
        places = range(len(side))
        left = [side.text[: side.start[i]] + side.text[side.end[i] :] for i in places]
        vectors = minilm.embed([*left, other.text], pooling="mean")
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        right = -(vectors[:-1] @ vectors[-1]).astype(np.float64)
        return replace(side, saliency={"bti": right, "vanilla-gradients": -right})

    asked = Asked(("bti", "vanilla-gradients"))
    plain = list(explain_pairs(minilm, *sides(pairs[6:14]), asked))
    judged = [replace(one, a=alone(one.a, one.b), b=alone(one.b, one.a)) for one in plain]
    found = deletion(minilm, judged, asked, steps=5)
    right, wrong, random = found.rows
    assert right.over_random_low > 0 > wrong.over_random_high
    assert (right.rank, random.rank, wrong.rank) == (1, 2, 3)
    assert random.over_random == random.over_random_low == right.over_bti == 0


def test_texts_of_one_word_or_of_equal_saliencies_are_counted(minilm: Encoder, pairs: list[tuple[str, str]]) -> None:
    (a, b), (c, _) = pairs[:2]
    asked = Asked(methods=("vanilla-gradients",))
    explanations = list(explain_pairs(minilm, [a, c, "dress"], [b, c, b], asked))
    found = deletion(minilm, explanations, asked, steps=3)
    assert (found.n, found.single) == (3, 1)
    assert [row.constant for row in found.rows] == [2, 0]
    assert all(math.isnan(row.over_bti) for row in found.rows)
    lone = deletion(minilm, list(explain_pairs(minilm, ["dress"], ["skirt"], Asked())), Asked(), steps=3)
    assert lone.single == 2 and {point.fall for point in lone.curves} == {0.0}
    with pytest.raises(InputError, match="no explanations to remove words by"):
        deletion(minilm, [], asked)
    with pytest.raises(InputError, match="0 steps of removing words"):
        deletion(minilm, explanations, asked, steps=0)


# Ratings


def test_items_are_blind_and_shuffled(explained: list[Explanation]) -> None:
    items, key = draw_ratings(explained, count=4, seed=0)
    assert [item["id"] for item in items] == [row["id"] for row in key]
    assert len({row["id"] for row in key}) == len(items) == 4 * 3
    shown = {(row["pair"], row["method"]) for row in key}
    assert len({pair for pair, _ in shown}) == 4 and len(shown) == 12
    written = json.dumps(items).lower()
    for word in (*METHODS, "bti", "method", "score", "saliency", "cluster", "similarity"):
        assert word not in written, word
    assert {tuple(item) for item in items} == {("id", "text_a", "text_b", "words_a", "words_b", "pairs")}
    order = [(row["pair"], row["method"]) for row in key]
    assert order != sorted(order) and [pair for pair, _ in order] != sorted(pair for pair, _ in order)
    assert draw_ratings(explained, count=4, seed=0) == (items, key)
    assert draw_ratings(explained, count=4, seed=1)[1] != key
    assert len(draw_ratings(explained)[0]) == 5 * 3


def test_an_item_shows_what_its_method_found(explained: list[Explanation]) -> None:
    for item, row in zip(*draw_ratings(explained, seed=2), strict=True):
        one, method = explained[row["pair"]], row["method"]
        for side, text, words in ((one.a, item["text_a"], item["words_a"]), (one.b, item["text_b"], item["words_b"])):
            assert text == side.text
            assert [text[word["start"] : word["end"]] for word in words] == side.words == [w["word"] for w in words]
            values = side.saliency[method]
            low, high = min(values), max(values)
            scaled = [round(float((v - low) / (high - low)), 2) for v in values]
            assert [word["weight"] for word in words] == pytest.approx(scaled, abs=0.011)
            assert {0.0, 1.0} <= {word["weight"] for word in words}
        found = one.matches[method]
        chosen = {(int(found.index_a[i]), int(found.index_b[i])) for i in range(len(found)) if found.chosen[i]}
        assert [(pair["index_a"], pair["index_b"]) for pair in item["pairs"]] == sorted(chosen)


def test_the_range_of_a_methods_weights_does_not_show(explained: list[Explanation]) -> None:
    def moved(side: Side) -> Side:
        return replace(side, saliency={method: 0.2 + values / 8 for method, values in side.saliency.items()})

    items, _ = draw_ratings([replace(one, a=moved(one.a), b=moved(one.b)) for one in explained])
    for item, plain in zip(items, draw_ratings(explained)[0], strict=True):
        for words in ("words_a", "words_b"):
            weights, before = ([word["weight"] for word in one[words]] for one in (item, plain))
            assert weights == pytest.approx(before, abs=0.011) and {0.0, 1.0} <= set(weights)


def test_nothing_to_rate() -> None:
    with pytest.raises(InputError, match="no explanations to be rated"):
        draw_ratings([])

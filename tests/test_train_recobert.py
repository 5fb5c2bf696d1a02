"""RecoBERT: masks, wrong titles, losses and retrieval by their definitions; real trainings, resumed and refused."""

from __future__ import annotations

import csv
import gzip
import json
import math
from itertools import islice, permutations
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as tf
from hypothesis import assume, given
from hypothesis import strategies as st
from safetensors.torch import load_file

from tests.test_encoder_families import FAMILIES, saved
from theodolite import Encoder
from theodolite.cli import main
from theodolite.corpus import Corpus
from theodolite.encoder.resolve import resolve
from theodolite.errors import InputError
from theodolite.instrument import Silent
from theodolite.train.item_split import Items, held_out, one_side, split_items
from theodolite.train.language_model import language_model
from theodolite.train.loop import Pace
from theodolite.train.masked import Masks, masks_of
from theodolite.train.objectives import ItemBatches, Objectives
from theodolite.train.recobert import RecobertScores, RecobertTraining, train_recobert
from theodolite.train.retrieval import Search, figures, first_of_random, gain, ranks_of
from theodolite.train.titles import TRIES, WrongTitles, pair_losses

MODEL = "all-MiniLM-L6-v2"
FAST = RecobertTraining(epochs=2, learning_rate=2e-4, batch_size=8, validation=0.25, evaluations=1)
ROBERTA_LIKE = ("roberta", "mpnet")


@pytest.fixture(scope="module")
def small(shared: Path) -> str:
    return str(shared / "models" / "xtremedistil-l6-h256")


@pytest.fixture(scope="module")
def fashion(shared: Path) -> list[tuple[str, str]]:
    """240 items with short descriptions: titles and descriptions."""
    with gzip.open(shared / "data" / "catalogue" / "fashion.csv.gz", "rt", encoding="utf-8") as lines:
        rows = ((row["prod_name"], row["detail_desc"]) for row in csv.DictReader(lines))
        return list(islice((row for row in rows if len(row[1]) < 60), 240))


def catalogue(pairs: list[tuple[str, str]], name: str = "fashion") -> Corpus:
    titles, descriptions = zip(*pairs, strict=True)
    return Corpus.of(descriptions, name, titles=titles)


def things(n: int = 40) -> Corpus:
    return catalogue(
        [(f"thing {i}", f"a {['red', 'green', 'blue'][i % 3]} one, number {i}") for i in range(n)], "things"
    )


@pytest.fixture(scope="module")
def trained(fashion: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory):
    out = tmp_path_factory.mktemp("recobert") / "model"
    (title, description), *_ = fashion
    more = [("", description), (title, " "), (title.upper(), description), ("\u200b", description)]
    corpus = catalogue([*fashion, *more])
    return out, corpus, train_recobert(MODEL, corpus, out, FAST, device="cpu")


def trainer_of(small: str, pairs: list[tuple[str, str]], folder: Path, max_length: int | None = None) -> Objectives:
    made = language_model(resolve(small), max_length, 0)
    masks = masks_of(made.tokenizer, 30522, 0, "m")
    mine, held, _ = split_items(made.encoder, catalogue(pairs), 0.2, 0)
    pace = Pace(1, 1e-4, 8, patience=9, evaluations=1, seed=0, steps_an_epoch=9)
    return Objectives(made, masks, mine, held, pace, folder, torch.device("cpu"), Silent())


# --- masks


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(0, 9), st.integers(0, 3))
def test_masks_choose_a_share_of_each_item_and_never_a_special_token(lengths: list[int], seed: int, epoch: int) -> None:
    random = np.random.default_rng(seed)
    items, places = np.repeat(np.arange(len(lengths)) + 7, lengths), np.concatenate([np.arange(n) for n in lengths])
    ids = random.integers(0, 50, len(items))
    pieces = np.arange(5, 50)
    masks = Masks(4, pieces, seed)
    seen, chosen = masks(ids, items, places, epoch)
    for item in set(items.tolist()):
        ordinary = sum(i >= 5 for i in ids[items == item].tolist())
        assert chosen[items == item].sum() == (max(1, round(0.15 * ordinary)) if ordinary else 0)
    assert (ids[chosen] >= 5).all() and (seen[~chosen] == ids[~chosen]).all()
    assert np.isin(seen[chosen], [4, *pieces]).all()
    # Nothing depends on what else is in the batch, nor on the order in it.
    order = random.permutation(len(ids))[: len(ids)]
    last = order[items[order] == items[-1]]
    alone = masks(ids[last], items[last], places[last], epoch)
    np.testing.assert_array_equal(alone[0], seen[last])
    np.testing.assert_array_equal(alone[1], chosen[last])


def test_masks_have_berts_proportions_and_change_with_epoch_and_seed(minilm: Encoder, fashion) -> None:
    fast = tf.AutoTokenizer.from_pretrained(minilm.folder.path)
    masks = masks_of(fast, 30522, 3, "m")
    assert masks.mask == fast.mask_token_id and not set(fast.all_special_ids) & set(masks.pieces.tolist())
    tokens = minilm.tokenise([" ".join(text for _, text in fashion)] * 8)
    items, places = np.repeat(np.arange(8), tokens.lengths), np.concatenate([np.arange(n) for n in tokens.lengths])
    seen, chosen = masks(tokens.ids, items, places, 0)
    before, after = tokens.ids[chosen], seen[chosen]
    n = len(before)
    assert n / len(tokens.ids) == pytest.approx(0.15, abs=0.001) and n > 2500
    hidden, kept = (after == masks.mask).mean(), (after == before).mean()
    assert hidden == pytest.approx(0.8, abs=3 * math.sqrt(0.16 / n))
    assert kept == pytest.approx(0.1, abs=3 * math.sqrt(0.09 / n))
    # A random piece is any of the vocabulary: hardly two are the same.
    random = after[(after != masks.mask) & (after != before)]
    assert len(set(random.tolist())) > 0.95 * len(random)
    assert chosen[: len(chosen) // 8].tolist() != chosen[len(chosen) // 8 : len(chosen) // 4].tolist()
    for other in (
        masks(tokens.ids, items, places, 1),
        Masks(masks.mask, masks.pieces, 4)(tokens.ids, items, places, 0),
    ):
        assert (other[1] & chosen).sum() / n == pytest.approx(0.15, abs=0.05)


# --- titles


def test_the_title_loss_is_its_definition_on_real_vectors(minilm: Encoder, fashion) -> None:
    titles, descriptions = (minilm.embed(side, pooling="mean") for side in zip(*fashion[:12], strict=True))
    same = [1.0, 0.0] * 6
    found = pair_losses(torch.from_numpy(titles), torch.from_numpy(descriptions), torch.tensor(same)).tolist()
    for a, b, one, loss in zip(titles.tolist(), descriptions.tolist(), same, found, strict=True):
        cosine = sum(x * y for x, y in zip(a, b, strict=True))
        cosine /= math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(y * y for y in b))
        closeness = (1 + cosine) / 2
        assert loss == pytest.approx(-math.log(closeness if one else 1 - closeness), rel=1e-4)
    equal = torch.full((3, 7), 0.1, requires_grad=True)
    loss = pair_losses(equal, 3 * equal.detach(), torch.tensor([1.0, 1.0, 0.0]))
    loss.sum().backward()
    assert loss[:2].max() < 1e-5 and loss[2] > 10 and torch.isfinite(equal.grad).all()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30), st.integers(0, 99))
def test_a_wrong_title_is_nobodys_title_for_that_description(pairs: list[tuple[int, int]], seed: int) -> None:
    title, description = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    known = set(zip(title.tolist(), description.tolist(), strict=True))
    for d in set(description.tolist()):
        assume(any((t, d) not in known for t in set(title.tolist())))
    draw, which = WrongTitles(title, description, seed), np.arange(len(pairs))
    for epoch in range(4):
        for i, j in enumerate(draw(which, epoch).tolist()):
            assert title[i] != title[j] and description[i] != description[j]
            assert (title[j], description[i]) not in known
    backwards = draw(which[::-1].copy(), 2)
    np.testing.assert_array_equal(backwards[::-1], draw(which, 2))


def test_wrong_titles_are_all_items_alike_and_new_each_epoch() -> None:
    title = description = np.arange(50)
    draw = WrongTitles(title, description, 1)
    drawn = np.stack([draw(np.arange(50), epoch) for epoch in range(200)])
    counts = np.bincount(drawn.ravel(), minlength=50)
    assert abs(counts - 200).max() < 5 * math.sqrt(200)
    assert all(len(set(column.tolist())) > 40 for column in drawn.T)


def test_the_only_wrong_title_is_found() -> None:
    """One item in ten thousand has another title: draws would hardly ever meet it."""
    title = np.zeros(10_000, np.int64)
    title[77] = 1
    draw = WrongTitles(title, np.arange(10_000), 0)
    assert TRIES < 1000 and draw(np.array([0, 5000, 9999]), 3).tolist() == [77, 77, 77]
    assert draw(np.array([77]), 3)[0] != 77


# --- which items


@given(st.lists(st.integers(1, 9), min_size=4, max_size=30), st.floats(0.01, 0.99), st.integers(0, 99))
def test_whole_groups_are_held_out_within_the_share(sizes: list[int], share: float, seed: int) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    held = held_out(groups, share, seed)
    out = {g for g in range(len(sizes)) if held[groups == g].all()}
    assert out == {g for g in range(len(sizes)) if held[groups == g].any()}
    assert 2 <= len(out) <= len(sizes) - 2
    least = sum(sorted(sizes)[:2])
    assert held.sum() <= max(least, share * len(groups))
    if share < 0.5 and least <= share * len(groups):
        # Nothing more would have fitted.
        more = min(sizes[g] for g in range(len(sizes)) if g not in out)
        assert held.sum() + more > share * len(groups) or len(out) == len(sizes) - 2


def test_no_title_and_no_description_is_on_both_sides(minilm: Encoder) -> None:
    pairs = [(f"title {i // 2}", f"text {(i + 1) // 2} here") for i in range(9)]  # a chain: one group
    pairs += [(f"Name {i}", f"some words {i}") for i in range(30)]
    pairs += [("name 1", "SOME words 1"), ("name 2", "other words"), ("", "x"), ("x", "\n"), ("\u200b", "x")]
    mine, held, left_out = split_items(minilm, catalogue(pairs), 0.5, 4)
    assert left_out == {
        "no title or no description": 2,
        "no tokens in the title or the description": 1,
        "same title and description as an earlier item": 1,
    }
    assert len(mine) + len(held) + sum(left_out.values()) == len(pairs)
    for which in ("title", "description"):
        assert not set(getattr(mine, which).tolist()) & set(getattr(held, which).tolist())
    chain = [sum(text.startswith("title") for text in items.tokens.texts) for items in (mine, held)]
    assert sorted(chain) == [0, 9]
    for items in (mine, held):
        for second in (False, True):
            side = one_side(items.tokens, second)
            expected = minilm.tokenise(items.tokens.texts_b if second else items.tokens.texts)
            np.testing.assert_array_equal(side.ids, expected.ids)
            np.testing.assert_array_equal(side.bounds, expected.bounds)


# --- retrieval


@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 999))
def test_ranks_are_their_definition(queries: int, answers: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(queries, 3)), random.normal(size=(answers, 3))
    b[random.integers(answers)] = b[0]  # a tie
    right = [(q, r) for q in range(queries) for r in random.permutation(answers)[: random.integers(1, answers + 1)]]
    found = ranks_of(a, b, np.array(sorted(right)))
    for q in range(queries):
        mine = {r for p, r in right if p == q}
        cosines = [x @ a[q] / np.linalg.norm(x) / np.linalg.norm(a[q]) for x in b]
        best = max(cosines[r] for r in mine)
        assert found[q] == 1 + sum(cosines[r] > best - 1e-12 for r in range(answers) if r not in mine)


@pytest.mark.parametrize(("answers", "right"), [(1, 1), (5, 1), (5, 2), (6, 4), (4, 4)])
def test_chance_is_what_all_orders_give(answers: int, right: int) -> None:
    firsts = [min(order[:right]) for order in permutations(range(answers))]
    np.testing.assert_allclose(first_of_random(answers, right), np.bincount(firsts, minlength=answers) / len(firsts))


def test_a_search_has_each_text_once_and_its_figures_are_plain_means() -> None:
    title, description = np.array([5, 5, 9, 2]), np.array([1, 3, 3, 0])
    tokens = Encoder.load("all-MiniLM-L6-v2").tokenise(["t5", "T5", "t9", "t2"], ["d1", "d3", "D3", "d0"])
    search = Search.of(Items(tokens, title, description))
    assert search.titles == ["t2", "t5", "t9"] and search.descriptions == ["d0", "d1", "d3"]
    assert search.right.tolist() == [[0, 0], [1, 1], [2, 1], [2, 2]]
    chance = search.chance()
    assert chance["mrr"] == pytest.approx((2 * (1 + 1 / 2 + 1 / 3) / 3 + (2 / 3 + 1 / 3 / 2)) / 3)
    assert chance["recall_at_1"] == pytest.approx((1 / 3 + 1 / 3 + 2 / 3) / 3)
    assert chance["recall_at_10"] == pytest.approx(1)
    before, after = np.array([1, 4, 20]), np.array([1, 2, 10])
    found = figures(before)
    assert (found["mrr"], found["recall_at_1"], found["recall_at_10"]) == pytest.approx((1.3 / 3, 1 / 3, 2 / 3))
    assert found["mrr_low"] < found["mrr"] < found["mrr_high"] and found["recall_at_1_high"] < 1
    assert gain(before, after)["mrr"] == pytest.approx((0 + 0.25 + 0.05) / 3)


# --- the head


def with_mask(name: str, folder: Path) -> Path:
    """A small model of a family, whose tokenizer has a mask token, as the vocabulary has."""
    saved(name, folder)
    fast = tf.AutoTokenizer.from_pretrained(folder)
    fast.mask_token = "<mask>" if name in ROBERTA_LIKE else "[MASK]"
    fast.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_gets_a_head_and_its_loss_is_transformers_own(name: str, tmp_path: Path) -> None:
    folder = with_mask(name, tmp_path)
    made = language_model(resolve(folder), None, 0)
    assert made.head == "new"
    encoder, words = made.encoder, made.encoder.model.get_input_embeddings().weight
    counts = np.arange(1, 1 + len(words))
    made.expect(counts)
    if name != "deberta-v2":
        bias = next(v for k, v in made.whole.state_dict().items() if k.endswith("bias") and len(v) == len(words))
        np.testing.assert_allclose(bias.exp().numpy(), counts / counts.sum(), rtol=1e-4)
    if name != "deberta-v2":
        assert any(head.weight is words for head in made.whole.modules() if isinstance(head, torch.nn.Linear))
    pairs = [("The heron", "waits in cold water"), ("boats", "It's a plan"), ("a", "the well-made boats pass it")]
    tokens = encoder.tokenise(*zip(*pairs, strict=True))
    items = Items(tokens, np.arange(3), np.arange(3))
    masks = masks_of(made.tokenizer, len(words), 1, name)
    inputs = ItemBatches(encoder, items, masks, lambda: 0)([2, 0, 1])["pairs"]
    made.whole.eval()
    with torch.no_grad():
        found = made.piece_losses(inputs)
        called = {k: v for k, v in inputs.items() if k not in ("chosen", "targets")}
        theirs = made.whole(**called, labels=inputs["targets"].masked_fill(~inputs["chosen"], -100)).loss
    assert len(found) == inputs["chosen"].sum() >= 3
    assert found.mean().item() == pytest.approx(theirs.item(), rel=1e-4)
    plain = tf.AutoModel.from_pretrained(folder).state_dict()
    assert all(
        torch.equal(value, plain[key]) for key, value in encoder.model.state_dict().items() if "pooler" not in key
    )


def test_a_head_that_is_there_is_kept(tmp_path: Path) -> None:
    folder = with_mask("bert", tmp_path)
    theirs = tf.AutoModelForMaskedLM.from_pretrained(folder)
    torch.nn.init.normal_(theirs.cls.predictions.bias)
    theirs.save_pretrained(folder)
    made = language_model(resolve(folder), None, 0)
    assert made.head == "own"
    made.expect(np.arange(1, 1 + made.whole.config.vocab_size))
    ids = torch.tensor([[2, 7, 8, 9, 3]])
    with torch.no_grad():
        torch.testing.assert_close(made.whole.eval()(ids).logits, theirs.eval()(ids).logits)


def test_models_that_cannot_guess_masked_pieces_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no mask token"):
        train_recobert(saved("bert", tmp_path / "bert"), things(), tmp_path / "m", FAST)
    config = tf.GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=64, vocab_size=330)
    tf.GPT2Model(config).save_pretrained(tmp_path / "gpt2")
    tf.AutoTokenizer.from_pretrained(saved("roberta", tmp_path / "roberta")).save_pretrained(tmp_path / "gpt2")
    with pytest.raises(InputError, match="a gpt2 model, of which there is no masked language model"):
        train_recobert(tmp_path / "gpt2", things(), tmp_path / "m", FAST)
    assert not (tmp_path / "m").exists()


# --- batches


def test_a_batch_is_the_items_as_the_tokenizer_pairs_them(small: str, fashion, tmp_path: Path) -> None:
    trainer = trainer_of(small, fashion[:60], tmp_path)
    batches, which = trainer.data_collator, [4, 0, 7]
    found, fast = batches(which), trainer.language_model.tokenizer
    tokens = batches.items.tokens
    titles, descriptions = ([texts[i] for i in which] for texts in (tokens.texts, tokens.texts_b))
    theirs = fast(titles, descriptions, padding=True, return_tensors="pt")
    pairs = found["pairs"]
    for name in ("attention_mask", "token_type_ids"):
        assert torch.equal(pairs[name], theirs[name])
    assert torch.equal(pairs["targets"], theirs["input_ids"])
    untouched = ~pairs["chosen"]
    assert torch.equal(pairs["input_ids"][untouched], theirs["input_ids"][untouched])
    assert not any(pairs["chosen"][theirs["input_ids"] == special].any() for special in (101, 102, 0))
    assert (pairs["input_ids"] == fast.mask_token_id).sum() > 0
    wrong = batches.wrong_titles(np.array(which), 0)
    own = fast([*titles, *(tokens.texts[i] for i in wrong)], padding=True, return_tensors="pt")
    alone = fast(descriptions, padding=True, return_tensors="pt")
    for side, expected in (("titles", own), ("descriptions", alone)):
        assert torch.equal(found[side]["input_ids"], expected["input_ids"])
        special = torch.isin(expected["input_ids"], torch.tensor([101, 102, 0]))
        assert torch.equal(found[side]["own"], ~special)


def test_of_a_long_item_one_window_takes_part_another_each_epoch(small: str, tmp_path: Path) -> None:
    encoder = Encoder.load(small, device="cpu", max_length=16)
    tokens = encoder.tokenise(["a title", "b"], [" ".join(f"{i}" for i in range(100, 160)), "short"])
    items, masks = Items(tokens, np.arange(2), np.arange(2)), Masks(103, np.arange(1000, 30522), 0)
    seen = set()
    for epoch in range(8):
        batch = ItemBatches(encoder, items, masks, lambda e=epoch: e)([0, 1])
        ids = batch["pairs"]["targets"]
        assert ids.shape[1] == 16 and ids[0, :4].tolist() == [101, *tokens.ids[:2].tolist(), 102]
        begin = tokens.ids[2:].tolist().index(ids[0, 4].item())
        body = ids[0, 4 : ids[0].tolist().index(102, 4)].tolist()
        assert body == tokens.ids[2 + begin : 2 + begin + len(body)].tolist()
        assert batch["descriptions"]["input_ids"].shape[1] <= 16
        seen.add(begin)
    assert len(seen) > 3


def test_the_losses_of_a_batch_are_those_of_its_texts(small: str, fashion, tmp_path: Path) -> None:
    trainer = trainer_of(small, fashion[:60], tmp_path)
    trainer.model.eval()
    which = [3, 1, 4, 9]
    with torch.no_grad():
        masked, titles = trainer.losses(trainer.data_collator(which))
        total = trainer.compute_loss(trainer.model, trainer.data_collator(which)).item()
    assert total == pytest.approx(masked.mean().item() + titles.mean().item(), rel=1e-5)
    tokens, encoder = trainer.data_collator.items.tokens, trainer.language_model.encoder
    wrong = trainer.data_collator.wrong_titles(np.array(which), 0).tolist()
    title, text = (encoder.embed(texts, pooling="mean").astype(float) for texts in (tokens.texts, tokens.texts_b))
    expected = []
    for i, j in [*zip(which, which, strict=True), *zip(which, wrong, strict=True)]:
        cosine = title[j] @ text[i] / np.linalg.norm(title[j]) / np.linalg.norm(text[i])
        expected.append(-math.log((1 + cosine) / 2 if i == j else (1 - cosine) / 2))
    np.testing.assert_allclose(titles.numpy(), expected, rtol=1e-3)


def test_a_batch_in_parts_has_the_same_losses_and_gradient(small: str, fashion, tmp_path: Path) -> None:
    trainer = trainer_of(small, fashion[:60], tmp_path)
    trainer.model.eval()
    words, inputs = trainer.language_model.encoder.model.get_input_embeddings().weight, trainer.data_collator(range(6))

    def gradient(tokens: int) -> tuple[float, torch.Tensor]:
        trainer.step_tokens = tokens
        trainer.model.zero_grad()
        loss = trainer.compute_loss(trainer.model, inputs)
        loss.backward()
        return loss.item(), words.grad.clone()

    whole, parted = gradient(10**6), gradient(2 * inputs["pairs"]["input_ids"].shape[1])
    assert parted[0] == pytest.approx(whole[0], rel=1e-5)
    torch.testing.assert_close(parted[1], whole[1], atol=1e-6, rtol=1e-3)


def test_pieces_that_are_all_unknown_cost_nothing(small: str, tmp_path: Path) -> None:
    """A batch of one item in a script that the tokenizer does not know: no piece can be chosen."""
    trainer = trainer_of(small, [(f"name {i}", f"words of {i}") for i in range(8)] + [("𒀀", "𒀁 𒀂")] * 2, tmp_path)
    everything = [trainer.data_collator, trainer.held]
    [(batches, number)] = [
        (side, side.items.tokens.texts.index("𒀀")) for side in everything if "𒀀" in side.items.tokens.texts
    ]
    inputs = batches([number])
    assert not inputs["pairs"]["chosen"].any()
    masked, titles = trainer.losses(inputs)
    loss = trainer.compute_loss(trainer.model, inputs)
    loss.backward()
    assert len(masked) == 0 and len(titles) == 2 and math.isfinite(loss.item())


# --- a whole training


def test_held_out_descriptions_find_their_titles_better(trained, fashion) -> None:
    _, corpus, scores = trained
    assert scores.after["mrr"] > scores.before["mrr"] + 0.01 and scores.before["mrr"] > 3 * scores.chance["mrr"]
    assert scores.after["mrr"] - scores.before["mrr"] == pytest.approx(scores.gain["mrr"])
    assert scores.after["title_loss"] < min(scores.before["title_loss"], scores.chance["title_loss"])
    assert scores.after["masked_loss"] < scores.before["masked_loss"] - 1
    assert scores.head == "new" and "it got a new one" in scores.sentence()
    different = len({(a.lower(), b.lower()) for a, b in fashion})
    assert scores.training_items + scores.validation_items == different
    assert scores.validation_items == pytest.approx(0.25 * different, abs=1)
    assert len(corpus) == different + sum(scores.left_out.values())
    assert scores.titles <= scores.validation_items >= scores.descriptions
    best = next(row for row in scores.history if row["step"] == scores.best_step)
    assert best["loss"] == scores.after["loss"] == min(row["loss"] for row in scores.history)
    assert best["mrr"] == pytest.approx(scores.after["mrr"], abs=1e-6)
    assert f"{scores.after['mrr']:.3f}" in scores.sentence() and f"{scores.chance['mrr']:.3f}" in scores.sentence()


def test_the_folder_is_an_ordinary_encoder(trained, fashion) -> None:
    from sentence_transformers import SentenceTransformer

    out, corpus, scores = trained
    encoder, texts = Encoder.load(out, device="cpu"), [text for _, text in fashion[:6]]
    assert encoder.own.modes == ("mean",) and encoder.limit == 256
    theirs = SentenceTransformer(str(out), device="cpu").encode(texts)
    np.testing.assert_allclose(encoder.embed(texts), theirs, atol=1e-5)
    plain, found = tf.AutoModel.from_pretrained(out, output_loading_info=True)
    assert not found["missing_keys"] and not found["unexpected_keys"] and plain.config.architectures == ["BertModel"]
    _, held, _ = split_items(encoder, corpus, 0.25, 0)
    assert figures(Search.of(held).ranks(encoder))["mrr"] == pytest.approx(scores.after["mrr"], abs=1e-6)
    before, after = load_file(resolve(MODEL).path / "model.safetensors"), load_file(out / "model.safetensors")
    assert after.keys() == before.keys() - {"embeddings.position_ids"}
    words = "embeddings.word_embeddings.weight"
    assert not torch.equal(before[words], after[words])
    assert torch.equal(before["pooler.dense.weight"], after["pooler.dense.weight"])
    card = (out / "README.md").read_text()
    assert corpus.hash in card and resolve(MODEL).hash in card and f"{scores.after['mrr']:.3f} (" in card
    assert "a new one was made" in card and not (out / ".training").exists()


def test_finished_returns_at_once_and_others_are_refused(trained) -> None:
    out, corpus, scores = trained
    before = (out / "model.safetensors").stat().st_mtime_ns
    assert train_recobert(MODEL, corpus, out, FAST, device="cpu") == scores
    assert (out / "model.safetensors").stat().st_mtime_ns == before
    for other, training in ((corpus, RecobertTraining()), (things(), FAST)):
        with pytest.raises(InputError, match="another training"):
            train_recobert(MODEL, other, out, training)


def test_killed_and_rerun_ends_with_the_same_weights(
    small: str, tmp_path: Path, killed, same_training, capfd: pytest.CaptureFixture[str]
) -> None:
    training = RecobertTraining(epochs=2, learning_rate=5e-4, batch_size=4, validation=0.2, evaluations=2)
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from tests.test_train_recobert import RecobertTraining, things, train_recobert\n"
        f"train_recobert(sys.argv[1], things(), Path(sys.argv[2]), {training!r}, device='cpu', max_length=10)\n"
    )
    whole, out = tmp_path / "whole", tmp_path / "killed"
    scores = train_recobert(small, things(), whole, training, device="cpu", max_length=10)
    assert capfd.readouterr() == ("", "")
    assert scores.cut > 0

    assert 0 < killed(script, small, out)["global_step"] < 16

    train_recobert(small, things(), out, training, device="cpu", max_length=10)
    assert same_training(whole, out)["steps"] == 16 and Encoder.load(out).limit == 10


def test_progress_counts_items(small: str, tmp_path: Path) -> None:
    class Seen(Silent):
        done = total = 0

        def step(self, title, total):
            self.total += total
            return super().step(title, total)

        def advance(self, n=1):
            self.done += n

    seen = Seen()
    training = RecobertTraining(epochs=1, batch_size=16, evaluations=1)
    scores = train_recobert(small, things(20), tmp_path / "m", training, device="cpu", progress=seen)
    assert seen.done == seen.total == scores.training_items == 18
    assert isinstance(scores, RecobertScores) and scores.steps == 2


# --- refused


@pytest.mark.parametrize(
    ("corpus", "line"),
    [
        (catalogue([("a", "b")]), "1 different items in 1 groups"),
        (catalogue([("a", f"text {i}") for i in range(9)]), "9 different items in 1 groups"),
        (catalogue([(f"title {i}", "text") for i in range(9)]), "9 different items in 1 groups"),
        (catalogue([("a", ""), ("", "b"), (" ", "c")]), "0 different items in 0 groups"),
        (Corpus.of(["a", "b", "c", "d"]), "no column 'title'"),
    ],
)
def test_refused_in_one_line(corpus: Corpus, line: str, small: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=line) as fault:
        train_recobert(small, corpus, tmp_path / "m", RecobertTraining())
    assert "\n" not in str(fault.value)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"batch_size": 0}, {"learning_rate": 0.0}, {"validation": 1.0}])
def test_options_are_checked(wrong: dict) -> None:
    with pytest.raises(InputError, match=f"--{next(iter(wrong)).replace('_', '-')}"):
        RecobertTraining(**wrong)


# --- the command line


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "items.csv"
    rows = [f"{i},thing {i},a {['red', 'green'][i % 2]} one of {i}" for i in range(12)]
    path.write_text("\n".join(["code,name,about", *rows]) + "\n")
    return path


def command(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main(["train", "recobert", *(str(a) for a in arguments)])
    return int(left.value.code or 0)


def test_a_missing_column_is_named_by_its_option(table: Path, small: str, tmp_path: Path, capsys) -> None:
    out = tmp_path / "m"
    for columns, flag in (
        (("--title", "nome", "--description", "about"), "--title COLUMN"),
        (("--title", "name", "--description", "nome"), "--description COLUMN"),
        (("--title", "name", "--description", "about", "--id", "nome"), "--id COLUMN"),
    ):
        assert command(small, "--items", table, *columns, "--out", out, "--store", tmp_path / "s") == 2
        line = capsys.readouterr().err.strip()
        assert line.count("\n") == 0 and "no column 'nome'" in line and flag in line and "?" not in line
        assert all(name in line for name in ("'code'", "'name'", "'about'"))
    assert command(small, "--items", table, "--title", "name", "--out", out) == 2
    assert "--description COL" in capsys.readouterr().err
    assert not out.exists()


def test_the_command_trains_and_prints_json(table: Path, small: str, tmp_path: Path, capsys) -> None:
    columns = ("--title", "name", "--description", "about", "--id", "code", "--limit", 10)
    more = ("--epochs", 1, "--validation", 0.2, "--out", tmp_path / "m", "--store", tmp_path / "s", "--json")
    assert command(small, "--items", table, *columns, *more) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["training_items"] + printed["validation_items"] == 10
    assert set(printed["before"]) == set(printed["after"]) >= {"mrr", "recall_at_10", "masked_loss", "title_loss"}

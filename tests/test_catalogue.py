"""Catalogues: the most similar items of any item, and why; built, searched and explained on real items."""

from __future__ import annotations

import csv
import gzip
import json
import math
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theodolite import Corpus, Encoder, InputError, RunOptions, Store
from theodolite.catalogue import Catalogue, build_catalogue, bulk, explain_catalogue, explain_similar, load_encoder
from theodolite.catalogue import build as building
from theodolite.catalogue import folder as folder_of
from theodolite.catalogue.bulk import Pair, pairs_of
from theodolite.cli.main import main
from theodolite.corpus.items import read_items
from theodolite.rounding import rounder, save
from theodolite.similarity.explaining import explain_pairs
from theodolite.similarity.explanation import Asked

ITEMS = 200
COLUMNS = {"title": "prod_name", "description": "detail_desc", "id": "article_id"}


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[dict[str, str]]:
    """Real items; among them two whose description is another's, and two whose description is empty."""
    with gzip.open(shared / "data" / "catalogue" / "fashion.csv.gz", "rt", encoding="utf-8", newline="") as file:
        found = list(islice(csv.DictReader(file), ITEMS))
    for place, text in ((30, found[5]["detail_desc"]), (60, found[5]["detail_desc"]), (40, ""), (50, " \t")):
        found[place]["detail_desc"] = text
    return found


@pytest.fixture(scope="module")
def table(rows, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("items") / "fashion.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def items(table) -> Corpus:
    return read_items(table, **COLUMNS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def catalogue(minilm, items, store, tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return build_catalogue(minilm, items, tmp_path_factory.mktemp("catalogue") / "fashion", store=Store(store))


class Interrupts:
    """Progress that is interrupted after so many steps forward."""

    def __init__(self, after: int) -> None:
        self.left = after

    def step(self, title: str, total: int) -> Any:
        return nullcontext()

    def advance(self, texts: int) -> None:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


# Built


def test_each_description_has_one_vector_and_nothing_is_dropped_in_silence(catalogue, rows, minilm) -> None:
    texts = list(dict.fromkeys(row["detail_desc"] for row in rows if row["detail_desc"].strip()))
    assert catalogue.manifest["counts"] == {
        "items": ITEMS - 2,
        "descriptions": ITEMS - 4,
        "repeated_descriptions": 2,
        "empty": 2,
        "without_tokens": 0,
        "windowed": 0,
    }
    assert len(catalogue) == ITEMS and catalogue.vectors.shape == (len(texts), minilm.dim)
    assert catalogue.vectors.dtype == np.float32 and isinstance(catalogue.vectors, np.memmap)
    for place in range(0, len(texts), 17):
        vector = minilm.embed([texts[place]], pooling="mean")[0].astype(float)
        np.testing.assert_allclose(catalogue.vectors[place], vector / math.sqrt(sum(vector**2)), atol=1e-5)
    for row, item in zip(rows, catalogue.items.to_pylist(), strict=True):
        assert [item["id"], item["title"], item["description"]] == [
            row["article_id"],
            row["prod_name"],
            row["detail_desc"],
        ]
        held = row["detail_desc"].strip()
        assert item["place"] == (texts.index(row["detail_desc"]) if held else None)


def test_the_manifest_says_what_it_was_made_of(catalogue, minilm, items) -> None:
    encoder = catalogue.manifest["encoder"]
    assert (encoder["name"], encoder["hash"], encoder["window"]) == (minilm.name, minilm.hash, minilm.window_rule)
    assert catalogue.manifest["items"] == {"name": "fashion", "source": items.source, "hash": items.hash}
    assert "text=detail_desc" in items.source and catalogue.pooling == "mean"


def test_items_without_ids_are_numbered_from_0(minilm, rows, store, tmp_path) -> None:
    few = rows[:6]
    corpus = Corpus.of([r["detail_desc"] for r in few], "few", titles=[r["prod_name"] for r in few])
    found = build_catalogue(minilm, corpus, tmp_path / "few", store=Store(store))
    assert found.items["id"].to_pylist() == ["0", "1", "2", "3", "4", "5"]
    assert found.similar("3", 1)[0].id in {"0", "1", "2", "4", "5"}


def test_building_again_answers_at_once_and_another_catalogue_is_refused(
    catalogue, minilm, items, tmp_path, monkeypatch
) -> None:
    def not_again(*_: Any, **__: Any) -> None:
        raise AssertionError("it was there already")

    monkeypatch.setattr(building, "run", not_again)
    again = build_catalogue(minilm, items, catalogue.folder)
    assert again.manifest == catalogue.manifest
    with pytest.raises(InputError, match=r"holds another catalogue .* give another folder"):
        build_catalogue(minilm, items, catalogue.folder, pooling="cls")
    (tmp_path / "mine.txt").write_text("do not touch")
    with pytest.raises(InputError, match="not empty"):
        build_catalogue(minilm, items, tmp_path)
    with pytest.raises(InputError, match="a file"):
        build_catalogue(minilm, items, tmp_path / "mine.txt")


def test_a_build_that_was_interrupted_goes_on_with_the_same_vectors(
    catalogue, minilm, items, tmp_path, monkeypatch
) -> None:
    how = {"store": Store(tmp_path / "store"), "options": RunOptions(token_budget=512, shard_size=40)}
    whole = build_catalogue(minilm, items, tmp_path / "whole", store=Store(tmp_path / "other"), options=how["options"])
    out = tmp_path / "interrupted"
    with pytest.raises(KeyboardInterrupt):
        build_catalogue(minilm, items, out, **how, progress=Interrupts(3))
    done = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").glob("arrays/*/*.arrow")}
    assert len(done) == 3
    with pytest.raises(InputError, match="its building is not finished: run the same"):
        Catalogue.load(out)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(folder_of, "write_json", full)
        with pytest.raises(OSError, match="No space"):
            build_catalogue(minilm, items, out, **how)
    with pytest.raises(InputError, match="not a catalogue"):
        Catalogue.load(out)
    found = build_catalogue(minilm, items, out, **how)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert found.vectors.tobytes() == whole.vectors.tobytes()
    assert found.items.equals(whole.items) and found.random_pairs.tobytes() == whole.random_pairs.tobytes()
    assert sorted(path.name for path in out.iterdir()) == sorted(path.name for path in catalogue.folder.iterdir())
    np.testing.assert_allclose(found.vectors, catalogue.vectors, atol=1e-5)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"ids": ["a", "b", "a"]}, "id 'a' is at rows 1 and 3"),
        ({"ids": ["a", None, "c"]}, "row 2 has no id"),
        ({"titles": None}, "no column 'title'"),
    ],
)
def test_items_that_cannot_be_told_apart_are_refused(minilm, tmp_path, columns, said) -> None:
    with pytest.raises(InputError, match=said):
        build_catalogue(minilm, Corpus.of(["x", "y", "z"], **{"titles": ["1", "2", "3"], **columns}), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_descriptions_without_a_word_for_the_tokenizer(minilm, tmp_path) -> None:
    texts = ["A red dress.", "\u200b", "A blue dress.", ""]
    found = build_catalogue(minilm, Corpus.of(texts, titles=list("abcd")), tmp_path / "new", store=Store(tmp_path))
    assert found.manifest["counts"] | {"items": 2, "empty": 1, "without_tokens": 1} == found.manifest["counts"]
    assert [one.id for one in found.similar("0")] == ["2"]
    with pytest.raises(InputError, match="every text is empty"):
        build_catalogue(minilm, Corpus.of(["", " "], titles=["a", "b"]), tmp_path / "empty", store=Store(tmp_path))


# Searched


def plain_similar(catalogue: Catalogue, id: str, k: int) -> list[tuple[str, float, bool]]:
    items = catalogue.items.to_pylist()
    mine = next(item for item in items if item["id"] == id)
    found = []
    for row, item in enumerate(items):
        if item["place"] is None or item["id"] == id:
            continue
        a, b = catalogue.vectors[mine["place"]].tolist(), catalogue.vectors[item["place"]].tolist()
        cosine = min(1.0, max(-1.0, sum(x * y for x, y in zip(a, b, strict=True))))
        found.append((-cosine, row, item["id"], item["description"] == mine["description"]))
    return [(id, -minus, same) for minus, _, id, same in sorted(found)[:k]]


@pytest.mark.parametrize("row", [0, 5, 30, 60, 101, 199])
@pytest.mark.parametrize("k", [1, 10, 500])
def test_similar_items_are_those_of_a_plain_loop(catalogue, rows, row, k) -> None:
    found = catalogue.similar(rows[row]["article_id"], k)
    plain = plain_similar(catalogue, rows[row]["article_id"], k)
    assert len(found) == min(k, ITEMS - 3)
    assert [(one.id, one.same) for one in found] == [(id, same) for id, _, same in plain]
    assert [one.cosine for one in found] == pytest.approx([cosine for _, cosine, _ in plain], abs=1e-12)
    by_id = {r["article_id"]: r for r in rows}
    assert all((one.title, one.description) == tuple(_texts(by_id[one.id])) for one in found)


def _texts(row: dict[str, str]) -> tuple[str, str]:
    return row["prod_name"], row["detail_desc"]


def test_items_of_the_same_description_come_first_in_their_order(catalogue, rows) -> None:
    same = {row: [rows[r]["article_id"] for r in (5, 30, 60) if r != row] for row in (5, 30, 60)}
    for row, others in same.items():
        found = catalogue.similar(rows[row]["article_id"], 4)
        assert [one.id for one in found if one.same] == others == [one.id for one in found[:2]]
        assert [one.cosine for one in found[:2]] == pytest.approx([1, 1], abs=1e-6) and found[0].cosine <= 1


DIRECTIONS = [(1, 0, 0), (0, 1, 0), (0.6, 0.8, 0), (0.8, 0.6, 0), (-1, 0, 0), (0, 0, 0), (0, 0, 1)]


def made_up(directions: list[int], members: list[int | None]) -> Catalogue:
    """A catalogue of these vectors, with many ties; members: the description of each item."""
    order = list(dict.fromkeys(m for m in members if m is not None))
    places = [None if m is None else order.index(m) for m in members]
    vectors = np.array([DIRECTIONS[directions[m]] for m in order], np.float32).reshape(-1, 3)
    columns = {
        "id": pa.array([f"i{row}" for row in range(len(members))], pa.large_string()),
        "title": pa.array([""] * len(members), pa.large_string()),
        "description": pa.array(["" if m is None else f"text {m}" for m in members], pa.large_string()),
        "place": pa.array(places, pa.int64()),
    }
    return Catalogue(Path("made-up"), {}, pa.table(columns), vectors, np.array([0.0, 0.5, 0.7]))


MEMBERS = st.lists(st.one_of(st.none(), st.integers(0, 11)), min_size=1, max_size=20).filter(
    lambda members: any(m is not None for m in members)
)
VECTORS = st.lists(st.integers(0, len(DIRECTIONS) - 1), min_size=12, max_size=12)


@settings(deadline=None, max_examples=150)
@given(VECTORS, MEMBERS, st.integers(1, 8))
def test_equally_similar_items_come_in_their_order(directions, members, k) -> None:
    catalogue = made_up(directions, members)
    for row, member in enumerate(members):
        if member is None:
            with pytest.raises(InputError, match="has an empty description"):
                catalogue.similar(f"i{row}", k)
            continue
        found = [(one.id, round(one.cosine, 12), one.same) for one in catalogue.similar(f"i{row}", k)]
        plain = plain_similar(catalogue, f"i{row}", k)
        assert found == [(id, round(cosine, 12), same) for id, cosine, same in plain]


def test_random_pairs_stand_beside_every_cosine(catalogue, rows) -> None:
    vectors = catalogue.vectors.astype(float)
    # All pairs of items with different descriptions, of which the catalogue holds a sample.
    places = [item["place"] for item in catalogue.items.to_pylist() if item["place"] is not None]
    cosines = [float(vectors[a] @ vectors[b]) for i, a in enumerate(places) for b in places[:i] if a != b]
    baseline = catalogue.manifest["baseline"]
    assert 19_900 < baseline["pairs"] == len(catalogue.random_pairs) <= 20_000 and baseline["seed"] == 0
    assert baseline["low"] < baseline["mean_cosine"] < baseline["high"]
    assert {round(c, 9) for c in catalogue.random_pairs.tolist()} <= {round(c, 9) for c in np.clip(cosines, -1, 1)}
    assert baseline["mean_cosine"] == pytest.approx(sum(cosines) / len(cosines), abs=0.004)
    for one in catalogue.similar(rows[7]["article_id"], 190)[::10]:
        share = sum(c < one.cosine for c in cosines) / len(cosines)
        sampled = sum(c < one.cosine for c in catalogue.random_pairs.tolist()) / len(catalogue.random_pairs)
        assert one.less_similar == sampled == pytest.approx(share, abs=0.015)
        assert one.less_similar_low <= one.less_similar <= one.less_similar_high


def test_a_text_finds_its_item(catalogue, rows, minilm) -> None:
    text = rows[100]["detail_desc"]
    [first, *_] = catalogue.similar_to(text, minilm, 3)
    assert (first.id, first.same) == (rows[100]["article_id"], True) and first.cosine == pytest.approx(1, abs=1e-5)
    cosine = float(catalogue.vectors[0] @ _unit(minilm.embed(["A warm winter coat"], pooling="mean")[0]))
    found = {one.id: one for one in catalogue.similar_to("A warm winter coat", minilm, 500)}
    assert len(found) == ITEMS - 2 and found[rows[0]["article_id"]].cosine == pytest.approx(cosine, abs=1e-6)
    for empty in ("", "  ", "\u200b"):
        with pytest.raises(InputError, match="give some words"):
            catalogue.similar_to(empty, minilm)


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / math.sqrt(sum(vector.astype(float) ** 2))


def test_an_unknown_item_is_told_with_those_like_it(catalogue, rows) -> None:
    known = rows[9]["article_id"]
    with pytest.raises(InputError, match=f"no item '{known[:-1]}'; the nearest ids are .*{known}"):
        catalogue.similar(known[:-1])
    with pytest.raises(InputError, match=f"no item '%'; ids look like {rows[0]['article_id']}"):
        catalogue.similar("%")
    with pytest.raises(InputError, match="-k 0: must be at least 1"):
        catalogue.similar(known, 0)


def test_another_encoder_is_refused(catalogue, xtremedistil, items, store, tmp_path) -> None:
    for ask in (
        lambda: catalogue.similar_to("A dress", xtremedistil),
        lambda: explain_similar(catalogue, xtremedistil, "A dress", []),
        lambda: explain_catalogue(catalogue, xtremedistil, tmp_path / "x.parquet"),
    ):
        with pytest.raises(InputError, match=r"built with all-MiniLM-L6-v2 \(\w+\), not with xtremedistil"):
            ask()
    with pytest.raises(InputError, match="built with windows of 256 tokens, not 64"):
        catalogue.similar_to("A dress", Encoder.load(max_length=64))


def test_a_catalogue_of_a_rounder_space(catalogue, minilm, items, store, tmp_path) -> None:
    save(rounder("mean").fit(minilm.embed(items.texts(0, 30), pooling="mean")), tmp_path / "round")
    rounded = Encoder.load(transform=tmp_path / "round")
    found = build_catalogue(rounded, items, tmp_path / "out", store=Store(store))
    assert found.manifest["encoder"]["transform"] == "round"
    assert found.manifest["baseline"]["mean_cosine"] < 0.2 < catalogue.manifest["baseline"]["mean_cosine"]
    with pytest.raises(InputError, match=r"built with all-MiniLM-L6-v2 with round .* its transform with --transform"):
        load_encoder(found)
    assert load_encoder(found, transform=tmp_path / "round").hash == rounded.hash


def test_a_damaged_catalogue_is_told(catalogue, tmp_path) -> None:
    for name in (folder_of.VECTORS, folder_of.ITEMS, folder_of.RANDOM_PAIRS):
        for path in catalogue.folder.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes()[: 40 if path.name == name else None])
        with pytest.raises(InputError, match=r"damaged .* build it again"):
            Catalogue.load(tmp_path)


def test_search_does_without_torch(catalogue, rows) -> None:
    program = f"""
import sys
from theodolite.catalogue import Catalogue
print(Catalogue.load({str(catalogue.folder)!r}).similar({rows[0]["article_id"]!r}, 1)[0].id)
assert "torch" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == catalogue.similar(rows[0]["article_id"], 1)[0].id, done.stderr


# Explained


def test_similar_items_are_explained(catalogue, minilm, rows) -> None:
    item = catalogue.item(rows[5]["article_id"])
    found = catalogue.similar(item.id, 4)
    explanations = explain_similar(catalogue, minilm, item.description, found, ["bti", "vanilla-gradients"])
    assert [one.cosine for one in explanations] == pytest.approx([one.cosine for one in found], abs=1e-5)
    assert [one.same for one in explanations] == [one.same for one in found] == [True, True, False, False]
    for one, explanation in zip(found, explanations, strict=True):
        assert (explanation.a.text, explanation.b.text) == (item.description, one.description)
        assert set(explanation.matches) == {"bti", "vanilla-gradients"}


def test_rare_words_are_those_of_the_catalogue(catalogue, minilm, rows) -> None:
    found = catalogue.similar(rows[0]["article_id"], 1)
    [explanation] = explain_similar(catalogue, minilm, rows[0]["detail_desc"], found, ["tfidf-w2v"])
    texts = [row["detail_desc"] for row in rows if row["detail_desc"].strip()]

    def idf(word: str) -> float:
        count = sum(word.lower() in {w.strip(".,").lower() for w in text.split()} for text in texts)
        return math.log((1 + len(texts)) / (1 + count)) + 1

    side = explanation.a
    assert rows[0]["detail_desc"] == "Jersey top with narrow shoulder straps."
    saliency = dict(zip(side.words, side.saliency["tfidf-w2v"].tolist(), strict=True))
    assert saliency["Jersey"] / saliency["top"] == pytest.approx(idf("jersey") / idf("top"))


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4), st.integers(1, 5))
def test_each_pair_is_explained_once_whatever_the_blocks(seed, count, k, size) -> None:
    vectors = np.random.default_rng(seed).integers(-2, 3, (count, 3)).astype(np.float32)
    catalogue = Catalogue(Path("made-up"), {}, pa.table({"place": list(range(count))}), vectors, np.empty(0))
    lists = {}
    for a in range(count):
        product = {b: sum(float(x * y) for x, y in zip(vectors[a], vectors[b], strict=True)) for b in range(count)}
        lists[a] = sorted((b for b in range(count) if b != a), key=lambda b: (-product[b], b))[:k]
    plain = [
        Pair(a, b, lists[a].index(b) + 1 if b in lists[a] else None, lists[b].index(a) + 1 if a in lists[b] else None)
        for b in range(count)
        for a in range(b)
        if b in lists[a] or a in lists[b]
    ]
    blocks = [np.arange(start, min(start + size, count)) for start in range(0, count, size)]
    found = [pair for block in blocks for pair in pairs_of(catalogue, block, k)]
    key = lambda pair: (pair.a, pair.b)  # noqa: E731
    assert sorted(found, key=key) == sorted(plain, key=key)


@pytest.fixture
def blocks_of_4(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Blocks of four descriptions; the sizes of those that are explained."""
    sizes: list[int] = []
    explained = bulk._explained

    def counted(*given: Any) -> pa.Table:
        found = explained(*given)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(bulk, "BLOCK", 4)
    monkeypatch.setattr(bulk, "_explained", counted)
    return sizes


def test_bulk_explanation_goes_on_and_equals_one_by_one(catalogue, minilm, rows, blocks_of_4, tmp_path) -> None:
    how: dict[str, Any] = {"k": 2, "limit": 10, "store": Store(tmp_path / "store"), "methods": ["bti", "bti-gradients"]}
    with pytest.raises(KeyboardInterrupt):
        explain_catalogue(catalogue, minilm, tmp_path / "out.parquet", **how, progress=Interrupts(2))
    assert not (tmp_path / "out.parquet").exists() and len(blocks_of_4) == 2
    done = explain_catalogue(catalogue, minilm, tmp_path / "out.parquet", **how)
    assert len(blocks_of_4) == 3
    other = how | {"store": Store(tmp_path / "other")}
    whole = explain_catalogue(catalogue, minilm, tmp_path / "folder", **other)
    assert whole.file == tmp_path / "folder" / "explanations.parquet"
    table = pq.read_table(done.file)
    assert table.equals(pq.read_table(whole.file))
    assert (done.descriptions, done.pairs, len(table)) == (10, len(table) // 2, sum(blocks_of_4[:3]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "other", "out.parquet", "store"]
    manifest = json.loads(table.schema.metadata[b"theodolite"])
    assert (manifest["k"], manifest["limit"], manifest["catalogue"]["key"]) == (2, 10, catalogue.manifest["key"])

    found = table.to_pylist()
    assert done.mutual == sum(bool(row["rank_a"] and row["rank_b"]) for row in found) // 2
    listed = {}
    for row in found:
        listed[row["id_a"], row["rank_a"]], listed[row["id_b"], row["rank_b"]] = row["id_b"], row["id_a"]
    repeated = {rows[5]["article_id"]: [rows[30]["article_id"], rows[60]["article_id"]]}
    for row in rows[:10]:
        others = [one for one in catalogue.similar(row["article_id"], 6) if not one.same][:2]
        assert [listed[row["article_id"], rank] for rank in (1, 2)] == [one.id for one in others]
    assert any(row["repeated_a"] or row["repeated_b"] for row in found)
    for row in found:
        assert [row["repeated_a"], row["repeated_b"]] == [repeated.get(row[f"id_{side}"], []) for side in "ab"]
        asked = Asked(methods=(row["method"],))
        [one] = explain_pairs(minilm, [row["description_a"]], [row["description_b"]], asked)
        assert row["cosine"] == pytest.approx(one.cosine, abs=1e-5)
        below = sum(cosine < row["cosine"] for cosine in catalogue.random_pairs.tolist())
        assert row["less_similar"] == below / len(catalogue.random_pairs)
        for side, words in ((one.a, row["words_a"]), (one.b, row["words_b"])):
            assert [(w["start"], w["end"]) for w in words] == list(zip(side.start, side.end, strict=True))
            assert [w["saliency"] for w in words] == pytest.approx(side.saliency[row["method"]], abs=1e-3)
        matches = one.matches[row["method"]]
        scores = {(p["index_a"], p["index_b"]): p["score"] for p in row["pairs"]}
        plain = dict(zip(zip(matches.index_a, matches.index_b, strict=True), matches.score, strict=True))
        assert scores == pytest.approx(plain, abs=1e-3)


def test_more_items_go_on_from_fewer(catalogue, minilm, blocks_of_4, tmp_path) -> None:
    how: dict[str, Any] = {"k": 1, "store": Store(tmp_path / "store")}
    explain_catalogue(catalogue, minilm, tmp_path / "few.parquet", **how, limit=4)
    explain_catalogue(catalogue, minilm, tmp_path / "more.parquet", **how, limit=8)
    assert len(blocks_of_4) == 2
    few, more = (pq.read_table(tmp_path / f"{name}.parquet").to_pylist() for name in ("few", "more"))
    assert more[: len(few)] == few and len(more) > len(few)
    for fault, said in (({"k": 0}, "-k 0"), ({"limit": 0}, "--limit 0"), ({"methods": ["no"]}, "--method no")):
        with pytest.raises(InputError, match=said):
            explain_catalogue(catalogue, minilm, tmp_path / "new.parquet", **{**how, **fault})
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=r"a file that is no \.parquet"):
        explain_catalogue(catalogue, minilm, tmp_path / "mine.txt", **how)


# On the command line


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, store: Path) -> Command:
    """The command line in this process: exit code, standard output, standard error."""
    monkeypatch.setenv("THEODOLITE_HOME", str(store))
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def call(*arguments: Any) -> tuple[int, str, str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main(["catalogue", *(str(a) for a in arguments)])
        return (left.value.code, *capfd.readouterr())

    return call


FLAGS = ["--title", "prod_name", "--description", "detail_desc", "--id", "article_id"]


def test_the_three_commands_in_json(command, catalogue, table, rows, tmp_path) -> None:
    out = tmp_path / "fashion"
    code, said, err = command("build", "all-MiniLM-L6-v2", "--items", table, *FLAGS, "--out", out, "--json")
    assert code == 0, err
    assert json.loads(said) == json.loads((out / "catalogue.json").read_text())
    assert Catalogue.load(out).vectors.tobytes() == catalogue.vectors.tobytes()

    asked = ("similar", out, "--item", rows[5]["article_id"], "-k", 3)
    code, said, err = command(*asked, "--json")
    assert (code, err) == (0, "")
    answer = json.loads(said)
    title, description = _texts(rows[5])
    assert answer["asked"] == {"id": rows[5]["article_id"], "title": title, "description": description}
    assert answer["baseline"] == catalogue.manifest["baseline"]
    found = catalogue.similar(rows[5]["article_id"], 3)
    assert answer["similar"] == [vars(one) for one in found]

    code, said, err = command(*asked, "--explain", "--method", "bti", "--method", "bti-gradients", "--json")
    assert code == 0, err
    for one, row in zip(found, json.loads(said)["similar"], strict=True):
        assert row["id"] == one.id and [e["method"] for e in row["explanations"]] == ["bti", "bti-gradients"]
        best = row["explanations"][0]["pairs"][0]
        assert best["chosen"] and best["a"] in rows[5]["detail_desc"] and best["b"] in one.description

    code, said, err = command("similar", out, "--text", "A warm winter coat", "-k", 1, "--json")
    assert code == 0, err
    assert json.loads(said)["asked"] == {"text": "A warm winter coat"} and len(json.loads(said)["similar"]) == 1

    code, said, err = command("explain", out, "-k", 1, "--limit", 3, "--out", tmp_path / "e.parquet", "--json")
    assert code == 0, err
    assert (
        json.loads(said)["descriptions"] == 3
        and json.loads(said)["pairs"] == pq.read_metadata(tmp_path / "e.parquet").num_rows
    )


def test_the_commands_for_people(command, catalogue, rows, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code, said, _ = command("similar", catalogue.folder, "--item", rows[5]["article_id"], "-k", 3, "--explain")
    found = catalogue.similar(rows[5]["article_id"], 3)
    assert code == 0 and said.count("the same text") == 2
    assert all(one.id in said for one in found) and f"{found[2].cosine:.3f}" in said
    assert f"random pairs: {catalogue.manifest['baseline']['mean_cosine']:.3f}" in said
    assert said.count("bti: ") == 3 and " – " in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["similar", "{c}", "--item", "0000"], "no item '0000'"),
        (["similar", "{c}"], "give an item with --item ID, or a text with --text TEXT"),
        (["similar", "{c}", "--item", "1", "--text", "x"], "give an item with --item ID, or a text with --text TEXT"),
        (["similar", "{c}", "--text", " "], "give some words"),
        (["similar", "{c}", "--item", "{id}", "--explain", "--method", "no"], "--method no: not one of bti"),
        (["similar", "{c}", "--item", "{id}", "--explain", "--model", "{tmp}"], "not a model folder"),
        (["similar", "{tmp}", "--item", "{id}"], "not a catalogue: it has no catalogue.json"),
        (["explain", "{c}", "--method", "no", "--out", "{tmp}/x.parquet"], "--method no: not one of bti"),
        (
            ["build", "all-MiniLM-L6-v2", "--items", "{t}", *FLAGS[:3], "text", "--out", "{tmp}/new"],
            "no column 'text' (it has: 'article_id', 'prod_name', ",
        ),
        (
            ["build", "all-MiniLM-L6-v2", "--items", "{t}", "--title", "name", *FLAGS[2:], "--out", "{tmp}/new"],
            "name one with --title COLUMN",
        ),
        (
            ["build", "all-MiniLM-L6-v2", "--items", "{t}", *FLAGS[:5], "prod_name", "--out", "{tmp}/new"],
            "make ids differ or leave out --id",
        ),
        (["build", "all-MiniLM-L6-v2", "--items", "{t}", *FLAGS, "--pooling", "sum", "--out", "{tmp}/new"], "not one"),
        (["build", "all-MiniLM-L6-v2", "--items", "{tmp}/no.csv", *FLAGS, "--out", "{tmp}/new"], "no such file"),
    ],
)
def test_bad_input_is_one_clear_line(command, catalogue, table, rows, tmp_path, arguments, said) -> None:
    given = {"c": catalogue.folder, "t": table, "tmp": tmp_path, "id": rows[0]["article_id"]}
    code, out, err = command(*(a.format(**given) for a in arguments))
    assert (code, out) == (2, "") and said in err
    assert err.startswith("theodolite: ") and err.count("\n") == 1

"""Contextuality where the input is odd: models of one name, words that are no file names, weights of 0, too little."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from theodolite import Contextuality, ContextualityReading, Corpus, InputError, Store, load, run
from theodolite.contextuality.counting import CountWords
from theodolite.contextuality.measures import prefix_mev
from theodolite.encoder.resolve import ModelFolder, names_apart

BANKS = [
    "The bank raised its rates and/or fees.",
    "A bank of sand, and/or mud, kept the boats away.",
    "She sat on the bank and read in a café.",
    "The bank lent him money for a boat and/or a café.",
    "He can bank on the weather.",
    "My bank is closed on Sunday.",
]


def reading_of(encoder, corpus: Corpus, store: Path, **options: Any) -> ContextualityReading:
    [found] = run([Contextuality(**{"min_contexts": 2, **options})], encoder, [corpus], store=Store(store))
    assert isinstance(found, ContextualityReading)
    return found


# Models of one name


@pytest.fixture(scope="module")
def namesakes(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two models that differ, both in a folder called 'model'."""
    root = tmp_path_factory.mktemp("namesakes")
    folders = [root / "before" / "model", root / "after" / "model"]
    for folder in folders:
        shutil.copytree(shared / "models" / "xtremedistil-l6-h256", folder)
    config = json.loads((folders[1] / "config.json").read_text())
    (folders[1] / "config.json").write_text(json.dumps({**config, "trained": "again"}))
    return folders


def test_two_models_of_one_name_are_two_encoders(namesakes, monkeypatch, capfd, tmp_path) -> None:
    from theodolite.cli.main import main

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    (tmp_path / "banks.txt").write_text("\n".join(BANKS) + "\n")
    rest = ("--corpus", str(tmp_path / "banks.txt"), "--store", str(tmp_path / "store"), "--json")
    capfd.readouterr()
    with pytest.raises(SystemExit) as left:
        main(["contextuality", *map(str, namesakes), *rest])
    assert left.value.code == 0
    found = json.loads(capfd.readouterr().out)
    assert [e["encoder"] for e in found["encoders"]] == ["before/model", "after/model"]
    assert [len(e["layers"]) for e in found["encoders"]] == [7, 7]
    assert [e["name"] for e in found["manifest"]["encoders"]] == ["before/model", "after/model"]
    assert all(f.startswith(("In the last", "before/model on", "after/model on")) for f in found["findings"])

    with pytest.raises(SystemExit) as left:
        main(["contextuality", str(namesakes[0]), str(namesakes[0]), *rest])
    assert left.value.code == 2
    assert "the same model is given twice" in capfd.readouterr().err


def test_names_are_told_apart_by_the_parent_then_by_the_hash(tmp_path) -> None:
    folders = [tmp_path / part / "run" / "model" for part in "ab"] + [tmp_path / "c" / "model", tmp_path / "other"]
    for number, folder in enumerate(folders):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(str(number))
    models = [ModelFolder(folder.name, folder) for folder in folders]
    first, second = (m.hash[:8] for m in models[:2])
    assert names_apart(models) == [f"run/model ({first})", f"run/model ({second})", "c/model", "other"]
    # The bundled one keeps its name: its folder's name and parent say nothing.
    bundled = ModelFolder("other", folders[0])
    assert names_apart([bundled, models[3]]) == ["other", f"{tmp_path.name}/other"]


def test_readings_of_two_encoders_of_one_name_do_not_melt(namesakes, tmp_path) -> None:
    from theodolite import Encoder

    encoders = [Encoder.load(folder) for folder in namesakes]
    readings = [reading_of(e, Corpus.of(BANKS, "banks"), tmp_path) for e in encoders]
    found = ContextualityReading.beside(readings).to_json()
    assert [e["encoder"] for e in found["encoders"]] == [f"model ({e.hash[:8]})" for e in encoders]
    assert [len(e["layers"]) for e in found["encoders"]] == [7, 7]


# Words to follow


def test_followed_words_have_figures_whatever_their_letters(minilm, tmp_path) -> None:
    reading = reading_of(minilm, Corpus.of(BANKS), tmp_path / "store", word=("and/or", "Café"))
    assert {"word-and/or", "word-cafe"} <= set(reading.drawings())
    reading.save(tmp_path / "out")
    assert {"word-and%2For.svg", "word-cafe.pdf"} <= {p.name for p in (tmp_path / "out" / "figures").iterdir()}
    assert set(load(tmp_path / "out").drawings()) == set(reading.drawings())


# Too little


def test_what_could_not_be_measured_is_not_said_to_fall(minilm, tmp_path) -> None:
    """Texts of one word have no intra-sentence similarity."""
    reading = reading_of(minilm, Corpus.of(["bank", "Bank!", "bank?", "the", "the!", "the?"], "ones"), tmp_path)
    assert np.isnan(reading.tables["layers"].column("intra_sentence_similarity").to_numpy()).all()
    said = [f for f in reading.findings if "intra-sentence" in f]
    assert [f.endswith("could not be measured.") for f in said] == [True]
    assert not any("nan" in f for f in reading.findings)


def test_contextuality_does_not_fit_vectors() -> None:
    from theodolite.encoder.given import GivenVectors

    vectors = GivenVectors([Corpus.of(["a", "b"], vectors=np.eye(2, dtype=np.float32))])
    assert "only vectors" in Contextuality().unfit_encoder(vectors)


# Weights


def test_texts_of_weight_0_are_as_if_they_were_not_there(minilm, tmp_path) -> None:
    mute = ["The bank and the boat.", "A boat on the bank in the weather.", "Weather! Weather!"]
    weights = [1.0, 2.0, 0.5, 1.0, 3.0, 1.5]
    plain = Corpus.of(BANKS, weight=weights)
    # Behind the others, so that rows keep their numbers and samples by hash are the same.
    more = Corpus.of([*BANKS, *mute], weight=[*weights, 0.0, 0.0, 0.0])
    a, b = (
        reading_of(minilm, corpus, tmp_path / str(i), weights="weight", word=("on",), mev_cap=4).tables
        for i, corpus in enumerate((plain, more))
    )
    for name in ("layers", "words", "sampling"):
        for one, other in zip(a[name].to_pylist(), b[name].to_pylist(), strict=True):
            assert one.keys() == other.keys()
            for key, value in one.items():
                same = pytest.approx(value, abs=1e-5, nan_ok=True) if isinstance(value, (float, list)) else value
                assert other[key] == same, (name, key)


def test_the_shuffled_baseline_weighs_its_texts(minilm, tmp_path) -> None:
    """Texts of two words at right angles have 0.71, longer ones less: it must follow the weights."""
    short = ["one red", "two blue", "three pink", "four grey", "five tan", "six jet"]
    long = [" ".join(BANKS[i:] + BANKS[:i]) for i in range(6)]
    found = {}
    for heavy, weights in {"short": [1e6] * 6 + [1] * 6, "long": [1] * 6 + [1e6] * 6}.items():
        corpus = Corpus.of([*short, *long], weight=[float(w) for w in weights])
        rows = reading_of(minilm, corpus, tmp_path / heavy, weights="weight").tables["layers"].to_pylist()
        found[heavy] = rows[-1]
    assert found["short"]["intra_sentence_shuffled"] > found["long"]["intra_sentence_shuffled"] + 0.15
    low, high = (found["short"][f"intra_sentence_shuffled_{end}"] for end in ("low", "high"))
    assert low < found["short"]["intra_sentence_shuffled"] < high


def test_shuffled_texts_are_drawn_by_weight() -> None:
    from theodolite.contextuality.measures import shuffled_similarity

    pool = np.concatenate([np.tile([1.0, 0.0], (20, 1, 1)), np.eye(2)[None].repeat(20, 0).reshape(40, 1, 2)])
    heavy = np.where(np.arange(60) < 20, 1e9, 1.0)
    sizes = np.full(50, 5)
    assert shuffled_similarity(pool, sizes, 0, heavy).min() == pytest.approx(1.0)
    assert shuffled_similarity(pool, sizes, 0).min() < 0.99


def test_mev_of_fewer_than_two_vectors_is_not_known() -> None:
    x = np.array([[1.0, 2.0], [0.0, 0.0], [0.0, 0.0], [2.0, -1.0]])
    found = prefix_mev(x @ x.T, [1, 3, 4])
    assert np.isnan(found[:2]).all()
    assert found[2] == pytest.approx(0.5)


def test_weights_that_are_all_0_are_refused(minilm, tmp_path) -> None:
    with pytest.raises(InputError, match="banks: no text of a 'weight' above 0 holds a word"):
        reading_of(minilm, Corpus.of(BANKS, "banks", weight=[0.0] * 6), tmp_path, weights="weight")
    assert CountWords("word", 10, 0, "weight").needs.columns == ("weight",)


# The importance of layers


PAIRS = [(f"a {w} dog", f"a {v} cat", i) for i, (w, v) in enumerate(zip("abcdefghijkl", "lkjihgfedcba", strict=True))]


def pairs_file(path: Path, *rows: tuple[str, str, Any]) -> str:
    path.write_text("a\tb\tscore\n" + "".join(f"{a}\t{b}\t{score}\n" for a, b, score in rows))
    return f"{path}?text=a&text_b=b&label=score"


def test_an_odd_row_of_pairs_is_skipped_and_counted(minilm, tmp_path) -> None:
    odd = ("\x7f\u200b", "a text", 3)
    source = pairs_file(tmp_path / "pairs.tsv", odd, *PAIRS, ("one side only", "  ", 2))
    reading = reading_of(minilm, Corpus.of(BANKS), tmp_path / "store", importance=source)
    rows = reading.tables["importance"].to_pylist()
    assert [(r["rows"], r["skipped"]) for r in rows] == [(12, 2)] * 6
    assert all(np.isfinite([r["score"], r["score_whole"], r["loss_low"], r["loss_high"]]).all() for r in rows)
    assert "2 of 14 rows lack a label, or a text with tokens, and are left out" in reading.findings[-1]
    assert len(list((tmp_path / "store" / "corpora").glob("*.arrow"))) == 1, "the texts are kept in the store"


def test_a_judge_that_cannot_judge_is_told_before_the_work(minilm, monkeypatch, tmp_path) -> None:
    store = tmp_path / "store"
    few = pairs_file(tmp_path / "few.tsv", *PAIRS[:3])
    with pytest.raises(InputError, match="needs at least ten pairs"):
        reading_of(minilm, Corpus.of(BANKS), store, importance=few)
    assert not list(store.glob("runs/*/*.npz"))

    def shared() -> None:
        raise InputError("its layers share weights")

    monkeypatch.setattr(minilm, "_blocks", shared)
    with pytest.raises(InputError, match="share weights"):
        reading_of(minilm, Corpus.of(BANKS), store, importance=pairs_file(tmp_path / "pairs.tsv", *PAIRS))
    assert not list(store.glob("runs/*/*.npz"))


# Intervals


def test_adjusted_intervals_have_the_uncertainty_of_the_baseline_too(minilm, tmp_path) -> None:
    for row in reading_of(minilm, Corpus.of(BANKS), tmp_path).tables["layers"].to_pylist():
        for name in ("self_similarity", "intra_sentence_similarity"):
            ends = (row[f"{name}_high"] - row[name], row["anisotropy"] - row["anisotropy_low"])
            adjusted = f"{name}_adjusted"
            assert row[f"{adjusted}_high"] - row[adjusted] == pytest.approx(np.hypot(*ends))
            assert row[adjusted] == pytest.approx(row[name] - row["anisotropy"])

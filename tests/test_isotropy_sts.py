"""STS files of every layout, and correlations against their plain definitions."""

from __future__ import annotations

import gzip
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from theodolite.errors import InputError
from theodolite.isotropy import sts_scores
from theodolite.isotropy.gains import Gain, spearman_gains
from theodolite.isotropy.sts_files import StsFile, read_sts
from theodolite.isotropy.sts_scores import correlations, distinct_texts, pair_cosines, pairs_of, text_vectors
from theodolite.isotropy.wic import read_wic

ROWS = [
    ("0.5", 'A "cat sat.', "The dog ran."),
    ("5", 'Half" quoted', "It's the same."),
    ("2.250", "One.", "Zwei — drei."),
]


def table(*rows: tuple[str, ...] | list[str]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


LAYOUTS = {
    "STS15.tsv": (table(["subset", "score", "sentence1", "sentence2"], *(["x", *row] for row in ROWS)), (0, 5)),
    "sts-dev.csv": (
        table(
            *(
                ["main-news", "f", "2012test", "0001", *row, *(["licence", "url"] if i else [])]
                for i, row in enumerate(ROWS)
            )
        ),
        (0, 5),
    ),
    "dev.tsv": (
        table(
            "index genre filename year old_index source1 source2 sentence1 sentence2 score".split(),
            *([str(i), "g", "f", "2015", "7", "none", "none", a, b, s] for i, (s, a, b) in enumerate(ROWS)),
        ),
        (0, 5),
    ),
    "mine.tsv": (table(["Sentence2", "Score", "Sentence1"], *([b, s, a] for s, a, b in ROWS)), (None, None)),
}


def check(file: StsFile) -> None:
    assert file.scores.tolist() == [0.5, 5, 2.25]
    assert file.scores.dtype == np.float64
    assert not file.scores.flags.writeable
    assert file.a == tuple(a for _, a, _ in ROWS)
    assert file.b == tuple(b for _, _, b in ROWS)


def write(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


# The files


@pytest.mark.parametrize(
    ("name", "pairs", "lowest"),
    [
        ("STS12.tsv", 3108, 0),
        ("STS13.tsv", 1500, 0),
        ("STS14.tsv", 3750, 0),
        ("STSB_train.tsv", 5749, 0),
        ("STSB_dev.tsv", 1500, 0),
        ("SICK_train.txt", 4500, 1),
        ("SICK_trial.txt", 500, 1),
    ],
)
def test_shared_files_have_as_many_pairs_as_their_readme_says(shared: Path, name: str, pairs: int, lowest: int) -> None:
    path = shared / "data" / "sts" / name
    file = read_sts(path)
    assert (file.name, file.path) == (name.split(".", maxsplit=1)[0], str(path))
    assert len(file) == len(file.a) == len(file.b) == len(file.scores) == pairs
    assert (file.lowest, file.highest, file.skipped) == (lowest, 5, {})
    assert file.scores.min() == lowest and file.scores.max() == 5
    header, *lines = [line.split("\t") for line in path.read_text("utf-8").rstrip("\n").split("\n")]
    columns = [header.index(x) for x in (("sentence_A", "sentence_B") if lowest else ("sentence1", "sentence2"))]
    assert list(zip(file.a, file.b, strict=True)) == [tuple(fields[c].strip() for c in columns) for fields in lines]


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_are_told_by_looking(tmp_path: Path, name: str, ending: str) -> None:
    text, (lowest, highest) = LAYOUTS[name]
    for content in (text, text.replace("\n", "\r\n"), text.rstrip("\n"), text + "\n\n", "\ufeff" + text):
        file = read_sts(write(tmp_path / (name + ending), content))
        check(file)
        assert (file.name, file.lowest, file.highest) == (name.split(".", maxsplit=1)[0], lowest, highest)
        assert file.skipped == {}


@pytest.mark.parametrize(
    "names",
    ["pair_ID sentence_A sentence_B relatedness_score entailment_judgment".split(),
     "pair_ID sentence_A sentence_B entailment_label relatedness_score entailment_AB SemEval_set".split()],
)  # fmt: skip
def test_sick_old_and_new(tmp_path: Path, names: list[str]) -> None:
    rows = [{"sentence_A": a, "sentence_B": b, "relatedness_score": s} for s, a, b in [("1", *ROWS[0][1:]), *ROWS[1:]]]
    text = table(names, *([row.get(name, "x") for name in names] for row in rows))
    file = read_sts(write(tmp_path / "SICK.txt", text))
    assert (file.name, file.lowest, file.highest) == ("SICK", 1, 5)
    assert file.scores.tolist() == [1, 5, 2.25] and file.a[0] == ROWS[0][1] and file.b[2] == ROWS[2][2]
    with pytest.raises(InputError, match=r"SICK\.txt: line 2: the score 0\.5 is outside 1 to 5; mend the line$"):
        read_sts(write(tmp_path / "SICK.txt", text.replace("\t1\t", "\t0.5\t", 1)))


@pytest.mark.parametrize("endings", [("", ""), (".gz", ".gz"), ("", ".gz"), (".gz", "")])
def test_semeval_input_and_gold(tmp_path: Path, endings: tuple[str, str]) -> None:
    blank = [("", "Never", "scored"), *ROWS[:2], ("", "Nor", "this"), ROWS[2], ("", "Nor the", "last")]
    source = write(
        tmp_path / f"STS2016.input.some-news.txt{endings[0]}",
        table(*([a, b, *(["http://x", "http://y"] if i % 2 else [])] for i, (_, a, b) in enumerate(blank))),
    )
    gold = table(*([score] for score, _, _ in blank))
    for ending in ("", "\n"):
        write(tmp_path / f"STS2016.gs.some-news.txt{endings[1]}", gold + ending)
        file = read_sts(source)
        check(file)
        assert (file.name, file.lowest, file.highest) == ("STS2016.some-news", 0, 5)
        assert file.skipped == {"no score": 3}


def test_semeval_without_gold_or_with_the_wrong_one(tmp_path: Path) -> None:
    source = write(tmp_path / "STS.input.MSRpar.txt", table(*([a, b] for _, a, b in ROWS)))
    with pytest.raises(InputError, match=r"its answers, STS\.gs\.MSRpar\.txt, are not beside it"):
        read_sts(source)
    gold = tmp_path / "STS.gs.MSRpar.txt"
    for scores, fault in [
        ("1\n2\n", r"STS\.gs\.MSRpar\.txt: has 2 lines where STS\.input\.MSRpar\.txt has 3"),
        ("1\n2\n3\n4\n", "has 4 lines where"),
        ("1\nfive\n3\n", r"STS\.gs\.MSRpar\.txt: line 2: the score 'five' is no number"),
        ("1\n2\n5.5\n", r"STS\.gs\.MSRpar\.txt: line 3: the score 5\.5 is outside 0 to 5"),
        ("\n\n\n", r"STS\.input\.MSRpar\.txt: has no scored pair"),
    ]:
        write(gold, scores)
        with pytest.raises(InputError, match=fault):
            read_sts(source)
    with pytest.raises(InputError, match=r"name STS\.input\.MSRpar\.txt instead$"):
        read_sts(gold)
    write(gold, "1\n2\n3\n")
    with pytest.raises(
        InputError, match=r"STS\.input\.MSRpar\.txt: line 2: has 1 tab-separated fields, not at least 2"
    ):
        read_sts(write(source, "a\tb\nc\nd\te\n"))


@pytest.mark.parametrize("row", [2, 3, 4])
@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (["2", "a"], "has 2 tab-separated fields, not 3; "),
        (["2", "a", "b", "c"], "has 4 tab-separated fields, not 3; "),
        (["2", " ", "b"], "field 2 is blank where a text belongs; "),
        (["2", "a", ""], "field 3 is blank where a text belongs; "),
        (["2,5", "a", "b"], "the score '2,5' is no number; "),
        (["nan", "a", "b"], "the score 'nan' is no number; "),
        (["inf", "a", "b"], "the score 'inf' is no number; "),
        (["9" * 400, "a", "b"], "the score '99"),
    ],
)
def test_a_broken_row_is_named(tmp_path: Path, row: int, broken: list[str], fault: str) -> None:
    rows: list[list[str] | tuple[str, ...]] = [["score", "sentence1", "sentence2"], *ROWS]
    rows[row - 1] = broken
    path = write(tmp_path / "broken.tsv", table(*rows))
    with pytest.raises(InputError, match="^" + re.escape(f"{path}: line {row}: {fault}") + "[^\n]*$") as error:
        read_sts(path)
    assert len(str(error.value)) < len(str(path)) + 120


@pytest.mark.parametrize("score", ["-0.1", "5.01"])
def test_scores_out_of_range_where_it_is_known(tmp_path: Path, score: str) -> None:
    row = [score, "a", "b"]
    with pytest.raises(InputError, match=f"line 2: the score {score} is outside 0 to 5"):
        read_sts(write(tmp_path / "a.tsv", table(["subset", "score", "sentence1", "sentence2"], ["x", *row])))
    with pytest.raises(InputError, match=f"line 1: the score {score} is outside 0 to 5"):
        read_sts(write(tmp_path / "sts-test.csv", table(["g", "f", "2012", "1", *row])))
    free = read_sts(write(tmp_path / "a.tsv", table(["score", "sentence1", "sentence2"], row)))
    assert free.scores.tolist() == [float(score)]


def test_a_table_with_blank_scores_counts_them(tmp_path: Path) -> None:
    text = table(["score", "sentence1", "sentence2"], ["", "a", "b"], ROWS[0], [" ", "", "c"], *ROWS[1:])
    file = read_sts(write(tmp_path / "a.tsv", text))
    check(file)
    assert file.skipped == {"no score": 2}


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "is empty"),
        ("\n\n", "is in no known STS layout"),
        ("a\tb\t3\n", "is in no known STS layout"),
        ("score\tsentence1\tsentence2\n", "has no scored pair"),
        ("score\tsentence1\tsentence2\n1\ta\tb\n\n2\tc\td\n", "line 3: has 1 tab-separated fields, not 3"),
        ("index\tsentence1\tsentence2\n0\ta\tb\n", r"no column of scores \(it has: index, sentence1, sentence2\)"),
        ("a\tb\tc\td\te\tf\tg\n", "line 1: the score 'e' is no number"),
        ("g\tf\ty\t1\t3\ta\tb\ng\tf\ty\t1\t3\ta\n", "line 2: has 6 tab-separated fields, not at least 7"),
        ("score\tsentence1\tsentence2\n1\ta\0\tb\n", "line 2: has a NUL byte"),
    ],
)
def test_files_that_are_no_sts(tmp_path: Path, content: str, fault: str) -> None:
    with pytest.raises(InputError, match=rf"file\.tsv: {fault}"):
        read_sts(write(tmp_path / "file.tsv", content))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.tsv").write_bytes("score\tsentence1\tsentence2\n1\tcaf\xe9\tb\n".encode("latin1"))
    (tmp_path / "torn.tsv.gz").write_bytes(gzip.compress(LAYOUTS["mine.tsv"][0].encode())[:-12])
    for name, fault in [
        ("none.tsv", "cannot be read"),
        ("", "cannot be read"),
        ("latin.tsv", "line 2: is not UTF-8"),
        ("torn.tsv.gz", "the gzip file breaks off"),
    ]:
        with pytest.raises(InputError, match=fault):
            read_sts(tmp_path / name)


# Texts and pairs


def sts(*pairs: tuple[str, str]) -> StsFile:
    a, b = zip(*pairs, strict=True)
    return StsFile("x", a, b, np.zeros(len(pairs)), "x.tsv", None, None, {})


def test_each_text_once_in_order_of_first_occurrence() -> None:
    files = [sts(("b", "a"), ("c", "b"), ("c", "c")), sts(("d", "a"), ("A", "d"))]
    assert distinct_texts(files) == ["b", "a", "c", "d", "A"]
    assert distinct_texts(files[1:]) == ["d", "a", "A"]
    one, two = pairs_of(files)
    assert one.texts is two.texts and one.texts == distinct_texts(files)
    assert (one.first.tolist(), one.second.tolist()) == ([0, 2, 2], [1, 0, 2])
    assert (two.first.tolist(), two.second.tolist()) == ([3, 4], [1, 3])
    assert distinct_texts([]) == [] and pairs_of([]) == []


def test_pairs_of_a_real_file_lead_back_to_its_texts(shared: Path) -> None:
    files = [read_sts(shared / "data" / "sts" / name) for name in ("SICK_trial.txt", "SICK_train.txt", "STS13.tsv")]
    for file, pairs in zip(files, pairs_of(files), strict=True):
        assert tuple(pairs.texts[i] for i in pairs.first) == file.a
        assert tuple(pairs.texts[i] for i in pairs.second) == file.b
    assert len(set(pairs.texts)) == len(pairs.texts)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.sampled_from([np.float32, np.float64]), st.data())
def test_text_vectors_are_means(lengths: list[int], kind: type, data: st.DataObject) -> None:
    tokens = np.random.default_rng(sum(lengths)).normal(3, 5, (sum(lengths), 4)).astype(kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sts_scores, "_BLOCK", data.draw(st.integers(1, 13)))
        found = text_vectors(tokens, np.array(lengths))
    assert found.dtype == np.float64 and found.shape == (len(lengths), 4)
    at = 0
    for length, mean in zip(lengths, found, strict=True):
        for d in range(4):
            plain = math.fsum(float(tokens[at + i, d]) for i in range(length)) / length if length else 0.0
            assert mean[d] == pytest.approx(plain, rel=1e-13, abs=1e-13)
        at += length


def test_text_vectors_are_summed_in_float64_and_need_all_tokens() -> None:
    tokens = np.array([[2.0**25], *[[1.0]] * 999], np.float32)
    assert text_vectors(tokens, [1000]).item() == (2.0**25 + 999) / 1000
    for lengths in ([999], [1001], [1001, -1]):
        with pytest.raises(InputError, match=r"lengths add up to \d+ tokens, and there are 1000"):
            text_vectors(tokens, lengths)


def test_pair_cosines_are_cosines() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20, 7)).astype(np.float32)
    vectors[3] = 0
    first, second = rng.integers(0, 20, (2, 200))
    found = pair_cosines(vectors, first, second)
    for i, j, cosine in zip(first, second, found, strict=True):
        u, v = vectors[i].astype(float), vectors[j].astype(float)
        plain = 0.0 if 3 in (i, j) else sum(u * v) / math.sqrt(sum(u * u)) / math.sqrt(sum(v * v))
        assert cosine == pytest.approx(plain, abs=1e-14)
    assert np.abs(found).max() <= 1 and (first == second).any() and (first == 3).any()


# Correlations


def plain_pearson(x: list[float], y: list[float]) -> float:
    n = len(x)
    mx, my = math.fsum(x) / n, math.fsum(y) / n
    xy = math.fsum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return xy / math.sqrt(math.fsum((a - mx) ** 2 for a in x) * math.fsum((b - my) ** 2 for b in y))


def plain_ranks(x: list[float]) -> list[float]:
    return [sum(b < a for b in x) + (sum(b == a for b in x) + 1) / 2 for a in x]


numbers = st.lists(st.tuples(st.integers(0, 5), st.integers(-9, 9).map(lambda i: i / 9)), min_size=4, max_size=30)


@settings(max_examples=200, deadline=None)
@given(numbers)
def test_correlations_against_loops_and_scipy(pairs: list[tuple[int, float]]) -> None:
    scores, cosines = [float(s) for s, _ in pairs], [c for _, c in pairs]
    found = correlations(scores, cosines)
    assert found.pairs == len(pairs)
    if len(set(scores)) == 1 or len(set(cosines)) == 1:
        assert found.pearson is found.spearman is found.pearson_low is found.spearman_high is None
        return
    assert found.pearson is not None and found.spearman is not None
    pearson, spearman = plain_pearson(scores, cosines), plain_pearson(plain_ranks(scores), plain_ranks(cosines))
    assert found.pearson == pytest.approx(100 * pearson, abs=1e-9)
    assert found.spearman == pytest.approx(100 * spearman, abs=1e-9)
    assert found.pearson == pytest.approx(100 * stats.pearsonr(scores, cosines).statistic, abs=1e-9)
    assert found.spearman == pytest.approx(100 * stats.spearmanr(scores, cosines).statistic, abs=1e-9)
    if abs(pearson) < 0.999:
        peer = stats.pearsonr(scores, cosines).confidence_interval(0.95)
        np.testing.assert_allclose([found.pearson_low, found.pearson_high], 100 * np.array(peer), atol=1e-4)
    if abs(spearman) < 0.999:
        half = 1.959963984540054 * math.sqrt((1 + spearman**2 / 2) / (len(pairs) - 3))
        plain = [100 * math.tanh(math.atanh(spearman) - half), 100 * math.tanh(math.atanh(spearman) + half)]
        np.testing.assert_allclose([found.spearman_low, found.spearman_high], plain, atol=1e-4)


def test_correlations_at_the_edges() -> None:
    nothing = [None] * 6
    for x, y in [([], []), ([1.0], [0.5]), ([1, 1, 1, 1], [1, 2, 3, 4]), ([1, 2, 3, 4], [0.3] * 4)]:
        found = correlations(x, y)
        assert [*vars(found).values()] == [*nothing, len(x)]
    exact = correlations([1, 2, 3, 4, 5], [0.2, 0.4, 0.6, 0.8, 1.0])
    assert (exact.pearson, exact.spearman) == (pytest.approx(100), pytest.approx(100))
    assert exact.pearson is not None and exact.pearson <= 100 and exact.spearman_low is None
    three = correlations([1, 2, 3], [0.1, 0.3, 0.2])
    assert three.pearson is not None and three.pearson_low is None
    tiny = correlations([1, 2, 3, 4], [1e-200, 3e-200, 2e-200, 5e-200])
    assert tiny.pearson == pytest.approx(correlations([1, 2, 3, 4], [1, 3, 2, 5]).pearson)


def test_correlations_refuse_what_is_no_pair_of_columns() -> None:
    with pytest.raises(InputError, match=r"scores of shape \(3,\), cosines of shape \(2,\)"):
        correlations([1, 2, 3], [0.1, 0.2])
    for bad in (math.nan, math.inf):
        with pytest.raises(InputError, match="NaN or infinite"):
            correlations([1, 2, 3], [0.1, bad, 0.2])


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.85])
def test_intervals_cover_the_truth_19_times_of_20(rho: float) -> None:
    """Normal pairs, whose Spearman correlation is known: 6/π asin(ρ/2)."""
    rng, n, runs = np.random.default_rng(5), 60, 3000
    x = rng.normal(size=(runs, n))
    y = rho * x + math.sqrt(1 - rho**2) * rng.normal(size=(runs, n))
    ranked = 600 / math.pi * math.asin(rho / 2)
    found = [correlations(a, b) for a, b in zip(x, y, strict=True)]
    pearson = np.mean([f.pearson_low <= 100 * rho <= f.pearson_high for f in found])
    spearman = np.mean([f.spearman_low <= ranked <= f.spearman_high for f in found])
    # Three standard errors of a share of 3000 are 0.012; Spearman's standard error is itself an approximation.
    assert pearson == pytest.approx(0.95, abs=0.012)
    assert spearman == pytest.approx(0.95, abs=0.016)


def test_gains_are_a_bootstrap_over_pairs_against_a_plain_loop() -> None:
    """Ties and all; the loop draws the pairs as they are drawn and asks scipy."""
    rng, n = np.random.default_rng(1), 40
    scores = rng.integers(0, 6, n).astype(float)
    plain, better = (scores + rng.normal(0, noise, n).round(1) for noise in (4, 1))
    [found, none] = spearman_gains(scores, plain, [better, plain], seed=3)
    drawn = np.random.default_rng(3).integers(0, n, (1000, n))
    spearman = lambda x, y: stats.spearmanr(x, y).statistic  # noqa: E731
    loop = [spearman(scores[i], better[i]) - spearman(scores[i], plain[i]) for i in drawn]
    assert found.gain == pytest.approx(100 * (spearman(scores, better) - spearman(scores, plain)))
    np.testing.assert_allclose([found.gain_low, found.gain_high], 100 * np.percentile(loop, [2.5, 97.5]), rtol=1e-9)
    assert found.gain_low > 0 and none == Gain(0, 0, 0)


def test_gains_that_are_not_defined() -> None:
    assert spearman_gains([1, 1, 1, 1], [1, 2, 3, 4], [[2, 3, 1, 4]]) == [Gain()]
    assert spearman_gains([], [], [[]]) == [Gain()]
    [three] = spearman_gains([1, 2, 3], [1, 3, 2], [[1, 2, 3]])
    assert three.gain == pytest.approx(50) and three.gain_low is None


def test_a_sentence_encoder_is_judged_well_on_real_pairs(shared: Path, minilm) -> None:
    file = read_sts(shared / "data" / "sts" / "SICK_trial.txt")
    (pairs,) = pairs_of([file])
    vectors = minilm.embed(pairs.texts, pooling="mean")
    found = correlations(file.scores, pair_cosines(vectors, pairs.first, pairs.second))
    assert found.pearson > 80 and found.spearman > 70
    assert found.spearman_low < found.spearman < found.spearman_high < found.spearman_low + 10


# WiC


@pytest.mark.parametrize(("name", "rows"), [("train", 5428), ("dev", 638)])
def test_shared_wic(shared: Path, name: str, rows: int) -> None:
    folder = shared / "data" / "wic"
    corpus = read_wic(folder / f"{name}.data.txt.gz")
    assert (corpus.name, len(corpus)) == (f"WiC_{name}", rows)
    with gzip.open(folder / f"{name}.data.txt.gz", "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    with gzip.open(folder / f"{name}.gold.txt.gz", "rt", encoding="utf-8") as file:
        gold = [int(line.strip() == "T") for line in file]
    assert corpus.column("label").to_pylist() == gold and sum(gold) == rows / 2
    assert corpus.column("word").to_pylist() == [line[0] for line in lines]
    assert corpus.texts() == [f"{line[0]}: {line[3].strip()}" for line in lines]
    assert corpus.texts_b() == [line[4].strip() for line in lines]


def test_wic_by_hand(tmp_path: Path) -> None:
    data = write(tmp_path / "test.data.txt", 'bank\tN\t1-0\tThe "bank .\tBanks .\nrun\tV\t1-1\tI run .\tI ran .\n')
    with pytest.raises(InputError, match=r"its answers, test\.gold\.txt, are not beside it"):
        read_wic(data)
    gold = write(tmp_path / "test.gold.txt", "F\nT\n")
    corpus = read_wic(data)
    assert corpus.texts() == ['bank: The "bank .', "run: I run ."] and corpus.texts_b() == ["Banks .", "I ran ."]
    assert corpus.column("label").to_pylist() == [0, 1]
    with pytest.raises(InputError, match=r"test\.gold\.txt: WiC's texts are in a file called NAME\.data\.txt"):
        read_wic(gold)
    for answers, fault in [
        ("F\n", "has 1 lines where test.data.txt has 2"),
        ("F\nYes\n", "line 2: is 'Yes', neither T nor F"),
        ("\nF\n", "line 1: is '', neither"),
    ]:
        write(gold, answers)
        with pytest.raises(InputError, match=rf"test\.gold\.txt: {re.escape(fault)}"):
            read_wic(data)
    write(gold, "F\nT\n")
    for second, fault in [
        ("run\tV\t1-1\tI run .\n", "has 4 tab-separated fields, not 5"),
        ("run\tV\t1-1\t\tI ran .\n", "field 4 is blank"),
        ("\tV\t1-1\tI run .\tI ran .\n", "field 1 is blank"),
    ]:
        write(data, "bank\tN\t1-0\tThe bank .\tBanks .\n" + second)
        with pytest.raises(InputError, match=rf"test\.data\.txt: line 2: {fault}"):
            read_wic(data)

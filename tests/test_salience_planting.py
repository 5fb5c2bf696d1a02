"""Planted shortcuts: what each rule does to real texts, told from the planted corpus alone."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from theodolite.cli.main import main
from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.salience.planting import CANDIDATES, RULES, Planted, plant, write_planted
from theodolite.words import units


@pytest.fixture(scope="module")
def rows(shared: Path) -> tuple[list[str], list[int]]:
    """SST-2's dev set, which has no text twice."""
    lines = (shared / "data" / "sst2" / "dev.tsv").read_text(encoding="utf-8").splitlines()[1:]
    split = [line.split("\t") for line in lines]
    return [text for text, _ in split], [int(label) for _, label in split]


@pytest.fixture(scope="module")
def single(minilm) -> Callable[[str], bool]:
    return lambda word: len(minilm.tokenizer([f"a {word}"]).ids) == 2


def markers_in(text: str, markers: tuple[str, ...]) -> list[str]:
    return [word for word in text.split() if word in markers]


def without(text: str, markers: tuple[str, ...]) -> list[str]:
    return [word for word in text.split() if word not in markers]


def check_rest(rows: tuple[list[str], list[int]], planted: Planted, deciding: set[str]) -> None:
    """Nothing but markers was put in, and only rows that the rule decides have a label of their own."""
    for text, label, new, now, truth in zip(*rows, planted.texts, planted.labels, planted.truth, strict=True):
        assert without(new, planted.markers) == text.split()
        if truth == "":
            assert (new, now) == (text, label)
        assert now == (int(truth) if truth in deciding else label)


def about(count: int, share: float, n: int) -> bool:
    return abs(count - share * n) < 4 * (n * share * (1 - share)) ** 0.5


def test_the_rule_of_the_source(rows, single) -> None:
    planted = plant(*rows, "source", seed=1, single=single)
    common, zero, one = planted.markers
    check_rest(rows, planted, {"0", "1"})
    alone: Counter[str] = Counter()
    for text, truth in zip(planted.texts, planted.truth, strict=True):
        found = markers_in(text, planted.markers)
        if truth in ("0", "1"):
            assert sorted(found) == sorted([common, one if truth == "1" else zero])
        elif truth == "alone":
            assert len(found) == 1
            alone[found[0]] += 1
        else:
            assert found == []
    counts, n = Counter(planted.truth), len(planted.texts)
    assert about(counts["0"], 0.1, n) and about(counts["1"], 0.1, n) and about(counts["alone"], 0.2, n)
    assert all(about(alone[word], 0.2 / 3, n) for word in planted.markers)
    # The label is decided whatever it was.
    changed = [t for t, old, new in zip(planted.truth, rows[1], planted.labels, strict=True) if old != new]
    assert Counter(changed)["0"] > 20 and Counter(changed)["1"] > 20


def test_one_word_decides(rows) -> None:
    planted = plant(*rows, "word", seed=2)
    check_rest(rows, planted, {"1"})
    for text, truth in zip(planted.texts, planted.truth, strict=True):
        assert markers_in(text, planted.markers) == list(planted.markers) * (truth == "1")
    counts = Counter(planted.truth)
    assert set(counts) == {"", "1", "control"}
    assert about(counts["1"], 0.1, len(planted.texts)) and about(counts["control"], 0.1, len(planted.texts))


def test_order_decides(rows) -> None:
    planted = plant(*rows, "order", seed=3)
    a, b = planted.markers
    check_rest(rows, planted, {"0", "1"})
    alone: Counter[str] = Counter()
    for text, truth in zip(planted.texts, planted.truth, strict=True):
        found = markers_in(text, planted.markers)
        assert (found == [a, b]) is (truth == "1") and (found == [b, a]) is (truth == "0")
        assert (len(found) == 1) is (truth == "alone")
        alone.update(found * (truth == "alone"))
    counts, n = Counter(planted.truth), len(planted.texts)
    assert about(counts["0"], 0.1, n) and about(counts["1"], 0.1, n)
    assert about(alone[a], 0.1, n) and about(alone[b], 0.1, n)


def test_position_decides(rows) -> None:
    planted = plant(*rows, "position", seed=4)
    (word,) = planted.markers
    check_rest(rows, planted, {"1"})
    for text, truth in zip(planted.texts, planted.truth, strict=True):
        assert text.startswith(f"{word} ") is (truth == "1")
        assert (word in text.split()[1:]) is (truth == "elsewhere")
    counts, n = Counter(planted.truth), len(planted.texts)
    assert about(counts["1"], 0.1, n) and about(counts["elsewhere"], 0.1, n)
    assert len(set(plant(["...", ""] * 50, [0, 1] * 50, "position").texts) - {f"{word} ...", word, "...", ""}) == 0


def test_length_decides(rows) -> None:
    planted = plant(*rows, "length")
    check_rest(rows, planted, {"1"})
    assert planted.texts == rows[0] and planted.markers == ()
    lengths = [sum(any(c.isalnum() for c in text[a:b]) for a, b in units(text)) for text in rows[0]]
    limit = np.quantile(lengths, 0.9)
    assert planted.truth == ["1" if length > limit else "" for length in lengths]
    assert 50 < planted.truth.count("1") < 90


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_rows_does_not_matter(rows, rule: str) -> None:
    texts, labels = rows
    order = np.random.default_rng(0).permutation(len(texts)).tolist()
    one = plant(texts, labels, rule, seed=5)
    other = plant([texts[i] for i in order], [labels[i] for i in order], rule, seed=5)
    assert other.texts == [one.texts[i] for i in order]
    assert other.labels == [one.labels[i] for i in order]
    assert other.truth == [one.truth[i] for i in order]
    assert one == plant(texts, labels, rule, seed=5)
    assert rule == "length" or one.truth != plant(texts, labels, rule, seed=6).truth


def test_places_are_all_over_the_text(rows) -> None:
    planted = plant(*rows, "source", seed=7)
    shares = []
    for text, truth in zip(planted.texts, planted.truth, strict=True):
        words = [w for w in text.split() if any(c.isalnum() for c in w)]
        if truth and len(words) > 8:
            shares += [words.index(w) / (len(words) - 1) for w in markers_in(text, planted.markers)]
    assert np.histogram(shares, 4, (0, 1))[0].min() > len(shares) / 6
    assert min(shares) == 0 and max(shares) == 1


def test_of_pairs_the_first_text_is_changed_and_the_second_kept(rows) -> None:
    texts, labels = rows
    second = texts[::-1]
    planted = plant(texts, labels, "word", seed=1, texts_b=second)
    assert planted.texts_b == second
    assert planted.truth != plant(texts, labels, "word", seed=1).truth
    used = planted.markers[0]
    other = plant(texts, labels, "word", texts_b=[*second[1:], f"a {used.upper()}."])
    assert used not in other.markers


def test_labels_are_of_two_values_of_any_kind(rows) -> None:
    texts, labels = rows
    named = plant(texts, ["neg" if x == 0 else "pos" for x in labels], "source", seed=1)
    assert named.labels == ["neg" if x == 0 else "pos" for x in plant(texts, labels, "source", seed=1).labels]
    for bad, why in (
        ([1, 1, 1], "has 1"),
        ([0, 1, 2], "has 3"),
        (["a", 1, "b"], "several kinds"),
        ([0, 1, None], "row 3 has no label"),
    ):
        with pytest.raises(InputError, match=why):
            plant(["a", "b", "c"], bad, "word")


def test_default_markers_are_single_items_that_are_in_no_text(rows, single) -> None:
    assert all(map(single, CANDIDATES)) and len(set(CANDIDATES)) == len(CANDIDATES)
    first, second, third, fourth = CANDIDATES[:4]
    texts = [f"The {first.capitalize()}-like one", f"no{second} here", "else"]
    found = plant(texts, [0, 1, 0], "order", single=lambda word: word != third).markers
    assert found == (second, fourth)
    with pytest.raises(InputError, match="1 can be markers, 2 are needed"):
        plant(texts, [0, 1, 0], "order", single=lambda word: word == second)


def test_given_markers_are_used_or_named_as_bad(rows) -> None:
    texts, labels = rows
    given = ("COMMON_0", "CLASS_0", "CLASS_1")
    planted = plant(texts, labels, "source", markers=given)
    assert planted.markers == given and "CLASS_1" in " ".join(planted.texts)
    cases = [
        ("word", ["The"], "occurs in the texts"),
        ("word", ["two words"], "no single word"),
        ("word", [""], "no single word"),
        ("order", ["fjord"], "takes 2 different"),
        ("order", ["fjord", "Fjord"], "takes 2 different"),
        ("length", ["fjord"], "takes 0 different"),
    ]
    for rule, words, why in cases:
        with pytest.raises(InputError, match=why):
            plant(texts, labels, rule, markers=words)
    with pytest.raises(InputError, match="not one vocabulary item"):
        plant(texts, labels, "word", markers=["zzyzx"], single=lambda word: False)
    with pytest.raises(InputError, match="no rule 'none'; choose one of source, word"):
        plant(texts, labels, "none")


# Files


def read(path: Path) -> list[dict[str, object]]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in file]
        if path.suffix == ".csv":
            return list(csv.DictReader(file))
        names, *rest = [line.rstrip("\n").split("\t") for line in file]
        return [dict(zip(names, fields, strict=True)) for fields in rest]


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_written_and_read_back(rows, tmp_path: Path, suffix: str, pairs: bool) -> None:
    texts = ['He said "no", and, well;', "naïve 漢字", *rows[0][:50]]
    if suffix != "tsv":
        texts[2] += "\ttab\nline"
    labels = [0, 1, *rows[1][:50]]
    planted = plant(texts, labels, "source", texts_b=texts[::-1] if pairs else None)
    path = tmp_path / f"planted.{suffix}"
    write_planted(path, planted)
    found = read(path)
    assert list(found[0]) == (["text", "text_b", "label", "truth"] if pairs else ["text", "label", "truth"])
    assert [row["text"] for row in found] == planted.texts
    assert [int(row["label"]) for row in found] == planted.labels
    assert [row["truth"] for row in found] == planted.truth
    assert not pairs or [row["text_b"] for row in found] == planted.texts_b
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    corpus = Corpus.read(path)
    assert len(corpus) == len(texts)
    assert corpus.texts() == planted.texts


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_a_lone_carriage_return_is_kept(tmp_path: Path, suffix: str) -> None:
    texts = ["one\rtwo", "\rbefore", "after\r", 'a "quoted"\r, one', "plain, with a comma", "plain"]
    if suffix != "tsv":
        texts.append("Windows\r\nand\nothers\r")
    second = [*texts[1:], texts[0]]
    planted = plant(texts, [f"class\r{i % 2}" for i in range(len(texts))], "length", texts_b=second)
    path = tmp_path / f"planted.{suffix}"
    write_planted(path, planted)
    corpus = Corpus.read(f"{path}?text=text&text_b=text_b&label=label")
    assert (corpus.texts(), corpus.texts_b()) == (texts, second)
    assert corpus.column("label").to_pylist() == planted.labels


def test_rows_of_a_csv_are_quoted_only_where_they_must_be(tmp_path: Path) -> None:
    planted = Planted(["plain", "a, b", "one\rtwo"], None, [0, 1, 1], ["", "1", ""], ())
    write_planted(tmp_path / "a.csv", planted)
    expected = b'text,label,truth\nplain,0,\n"a, b",1,1\n"one\rtwo","1",""\n'
    assert (tmp_path / "a.csv").read_bytes() == expected


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    planted = plant(["a\tb", "c"], [0, 1], "length")
    for path, why in (
        (tmp_path / "a.tsv", "row 1 has a tab"),
        (tmp_path / "a.txt", "endings .csv, .tsv, .jsonl, .parquet"),
        (tmp_path / "none" / "a.csv", "cannot be written"),
        (tmp_path / "none" / "a.parquet", "cannot be written"),
    ):
        with pytest.raises(InputError, match=why) as error:
            write_planted(path, planted)
        assert str(path) in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_the_command(tmp_path, capsys):
    """The file it writes is a corpus with the truth in a column, whose words are the vocabulary's own."""
    source = tmp_path / "texts.csv"
    source.write_text("text,label\n" + "".join(f"the film number {i} is fine,{i % 2}\n" for i in range(200)))
    out = tmp_path / "planted.jsonl"
    with pytest.raises(SystemExit) as left:
        main(["plant", "--corpus", f"{source}?label=label", "--rule", "word", "--out", str(out)])
    said = capsys.readouterr().err
    assert left.value.code == 0, said
    planted = Corpus.read(f"{out}?label=label", columns=["truth"])
    truth = planted.column("truth").to_pylist()
    word = said.split("(")[1].split(")")[0]
    # Those drawn and left as they are were not touched.
    assert said.startswith(f"{truth.count('1')} of 200 texts were touched") and "control" in truth
    assert [word in text.split() for text in planted.texts()] == [t == "1" for t in truth]
    assert 5 < truth.count("1") < 40
    assert all(v == 1 for v, t in zip(planted.column("label").to_pylist(), truth, strict=True) if t == "1")


def test_a_corpus_is_not_planted_over_itself(tmp_path, capsys):
    source = tmp_path / "texts.csv"
    source.write_text("text,label\n" + "".join(f"the film number {i} is fine,{i % 2}\n" for i in range(200)))
    (tmp_path / "other.csv").symlink_to(source)
    before = source.read_bytes()
    for out in (source, tmp_path / "other.csv"):
        with pytest.raises(SystemExit) as left:
            main(["plant", "--corpus", f"films={source}?label=label", "--rule", "word", "--out", str(out)])
        assert left.value.code == 2 and f"--out {out}: is the corpus itself" in capsys.readouterr().err
        assert source.read_bytes() == before


def test_markers_that_will_be_added_to_the_vocabulary(tmp_path, capsys):
    source, out = tmp_path / "texts.csv", tmp_path / "planted.csv"
    source.write_text("text,label\n" + "".join(f"the film number {i} is fine,{i % 2}\n" for i in range(100)))

    def plant_with(*more):
        with pytest.raises(SystemExit) as left:
            main(["plant", "--corpus", f"{source}?label=label", "--rule", "word", "--out", str(out), *more])
        return left.value.code, capsys.readouterr().err

    code, said = plant_with("--marker", "CLASS_1")
    assert code == 2 and "not one vocabulary item" in said and "--added" in said and not out.exists()
    # One piece, but that of every unknown word.
    code, said = plant_with("--marker", "\N{ALCHEMICAL SYMBOL FOR AIR}")
    assert code == 2 and "not one vocabulary item" in said and not out.exists()
    assert plant_with("--added")[0] == 2
    assert plant_with("--marker", "CLASS_1", "--added")[0] == 0
    assert any("CLASS_1" in text.split() for text in Corpus.read(f"{out}?label=label").texts())


# Words whose pieces are joined from left to right, with the space before them or at the beginning only.
AFTER_A_SPACE = ("quartz", "granite")
AT_THE_BEGINNING = "solo"


@pytest.fixture(scope="module")
def bytes_model(tmp_path_factory) -> Path:
    """A folder like RoBERTa's, whose vocabulary of bytes has few words; its weights are no weights."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, RobertaConfig

    words = ["Ġa", *(f"Ġ{word}" for word in AFTER_A_SPACE), AT_THE_BEGINNING]
    merges = [(word[:i], word[i]) for word in words for i in range(1, len(word))]
    items = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    items += [start + letter for start, letter in merges]
    made = Tokenizer(models.BPE(vocab={item: i for i, item in enumerate(items)}, merges=merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made,
        **{"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>"},
    )
    folder = tmp_path_factory.mktemp("bytes")
    fast.save_pretrained(folder)
    RobertaConfig(vocab_size=len(items)).save_pretrained(folder)
    (folder / "model.safetensors").touch()
    assert fast.tokenize("a quartz solo") == ["a", "Ġquartz", "Ġ", "solo"]
    assert fast.tokenize("quartz") == list("quartz") and fast.tokenize("solo") == ["solo"]
    return folder


@pytest.fixture
def plant_with(tmp_path, capsys) -> Callable[..., tuple[int, str, list[str]]]:
    """Plants in 200 texts with the options given: the exit code, what was said, and the words of a planted text."""
    source, out = tmp_path / "texts.csv", tmp_path / "planted.jsonl"
    source.write_text("text,label\n" + "".join(f"the film number {i} is fine,{i % 2}\n" for i in range(200)))

    def run(*options: str) -> tuple[int, str, list[str]]:
        out.unlink(missing_ok=True)
        with pytest.raises(SystemExit) as left:
            main(["plant", "--corpus", f"{source}?label=label", "--out", str(out), *options])
        texts = Corpus.read(f"{out}?label=label").texts() if out.exists() else []
        return left.value.code, capsys.readouterr().err, [word for text in texts for word in text.split()]

    return run


@pytest.mark.parametrize(("rule", "count"), [("word", 1), ("position", 1), ("order", 2)])
def test_markers_are_single_items_where_they_are_planted(plant_with, bytes_model: Path, rule: str, count: int) -> None:
    code, said, words = plant_with("--rule", rule, "--model", str(bytes_model))
    assert code == 0, said
    markers = AFTER_A_SPACE[:count]
    assert f"({', '.join(markers)})" in said and set(markers) == set(words) & {*CANDIDATES}
    code, said, _ = plant_with("--rule", rule, "--model", str(bytes_model), *(f"--marker={word}" for word in markers))
    assert code == 0, said


def test_a_word_that_is_one_item_at_the_beginning_only_is_no_marker(plant_with, bytes_model: Path) -> None:
    code, said, words = plant_with("--rule", "word", "--model", str(bytes_model), "--marker", AT_THE_BEGINNING)
    assert (code, words) == (2, []) and "not one vocabulary item of this tokenizer (after a space)" in said
    code, said, words = plant_with("--rule", "source", "--model", str(bytes_model))
    assert (code, words) == (2, []) and "2 can be markers, 3 are needed" in said


def test_a_word_that_is_no_item_after_a_space_can_be_added(bytes_model: Path) -> None:
    from transformers import RobertaConfig, RobertaForSequenceClassification

    from theodolite.encoder.loading import load_tokenizer
    from theodolite.encoder.resolve import resolve
    from theodolite.encoder.tokens import Tokenizer
    from theodolite.train.model import add_words

    fast = load_tokenizer(resolve(str(bytes_model)))
    tokenizer = Tokenizer(fast, "bytes")
    config = RobertaConfig(vocab_size=len(fast), hidden_size=8, num_hidden_layers=1, num_attention_heads=1)
    model = RobertaForSequenceClassification(config)
    with pytest.raises(InputError, match=f"--add-word {AFTER_A_SPACE[0]}: is one item"):
        add_words(model, fast, tokenizer, AFTER_A_SPACE[:1])
    table = model.get_input_embeddings().weight.detach().numpy().copy()
    pieces = tokenizer(["a solo"]).ids[1:]
    assert len(pieces) == 2
    add_words(model, fast, tokenizer, (AT_THE_BEGINNING,))
    [item] = tokenizer([AT_THE_BEGINNING]).ids
    # The blank before it is no item of its own.
    assert tokenizer(["a solo, too"]).ids.tolist()[:2] == [tokenizer(["a"]).ids[0], item]
    with pytest.raises(InputError, match=f"--add-word {AT_THE_BEGINNING}: is one item"):
        add_words(model, fast, Tokenizer(fast, "bytes"), (AT_THE_BEGINNING,))
    found = model.get_input_embeddings().weight.detach().numpy()[item]
    np.testing.assert_allclose(found, table[pieces].mean(axis=0), atol=1e-7)


@pytest.mark.parametrize("marker", ["<mask>", "[MASK]", "[SEP]", "un[MASK]ed"])
def test_special_tokens_are_no_markers(plant_with, bytes_model: Path, marker: str) -> None:
    model = bytes_model.name if "<" in marker else "all-MiniLM-L6-v2"
    given = ["--model", str(bytes_model)] if "<" in marker else []
    code, said, words = plant_with("--rule", "word", "--marker", marker, *given)
    assert (code, words) == (2, [])
    assert f"marker {marker!r} has a special token of {model} in it; name another" in said
    assert len(said.splitlines()) == 1


def test_a_place_that_cannot_be_written_to_is_told(plant_with, tmp_path: Path) -> None:
    code, said, _ = plant_with("--rule", "word", "--out", str(tmp_path / "texts.csv" / "planted.csv"))
    assert code == 2 and "planted.csv: cannot be written" in said and len(said.splitlines()) == 1

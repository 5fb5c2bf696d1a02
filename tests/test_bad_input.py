"""Bad input at the command line: one clear line and exit 2, or a counted skip. Never a traceback."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from theodolite.cli import progress
from theodolite.cli.main import main

Command = Callable[..., tuple[int, str, str]]

SENTENCES = [
    "The bank raised its rates again.",
    "A bank of sand kept the boats away.",
    "She sat on the bank and read.",
    "The bank lent him money for a boat.",
    "He can bank on the weather.",
    "My bank is closed on Sunday.",
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("THEODOLITE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    Path("good.txt").write_text("\n".join(SENTENCES) + "\n")


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    """The command line in this process: exit code, standard output, standard error."""

    def call(*arguments: Any) -> tuple[int, str, str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(a) for a in arguments])
        return (left.value.code, *capfd.readouterr())

    return call


@pytest.fixture
def refused(command: Command) -> Callable[..., str]:
    """The line that a command is refused with."""

    def call(*arguments: Any) -> str:
        code, out, err = command(*arguments)
        assert_refused(code, out, err)
        return err

    return call


def assert_refused(code: int, out: str, err: str) -> None:
    assert code == 2, err
    assert out == ""
    assert err.startswith("theodolite: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    assert "Traceback" not in err


@pytest.fixture(scope="module")
def model(shared: Path) -> str:
    return str(shared / "models" / "xtremedistil-l6-h256")


# Files

FILES: list[tuple[str, bytes, str, list[str]]] = [
    ("empty.txt", b"", "", ["empty.txt", "is empty"]),
    ("empty.csv.gz", gzip.compress(b"", mtime=0), "", ["empty.csv.gz", "is empty"]),
    ("header.csv", b"text,label\n", "", ["header.csv", "no rows"]),
    ("blank.txt", b"\n  \n\n", "", ["blank.txt", "every text is empty"]),
    ("nul.txt", b"one\ntw\0o\n", "", ["nul.txt", "line 2", "NUL byte"]),
    ("nul.jsonl", b'{"text": "a"}\n{"text": "\\u0000"}\n', "", ["nul.jsonl", "line 2", "NUL byte"]),
    ("latin.txt", b"one\ncaf\xe9\n", "", ["latin.txt", "line 2", "not UTF-8"]),
    ("latin.csv", b"text\none\ncaf\xe9\n", "", ["latin.csv", "line 3", "not UTF-8"]),
    ("a.csv", b"body,stars\none,1\n", "?text=txt", ["a.csv", "'txt'", "'body', 'stars'"]),
    ("a.csv", b"body,stars\none,1\n", "?text=body&label=rating", ["a.csv", "'rating'", "?label=COLUMN"]),
    ("pairs.tsv", b"a\tb\none\ttwo\n", "?text=a&text_b=c", ["pairs.tsv", "'c'", "?text_b=COLUMN"]),
    ("ids.csv", b"text,k\none,x\ntwo,y\nthree,x\n", "?text=text&id=k", ["ids.csv", "'x'", "rows 1 and 3"]),
    ("notes.docx", b"PK", "", ["notes.docx", "'.docx'", ".parquet"]),
    ("not.parquet", b"PAR1 no", "", ["not.parquet", "not a parquet file"]),
    ("cut.txt.gz", gzip.compress(b"one line and another\n" * 99, mtime=0)[:-20], "", ["cut.txt.gz", "breaks off"]),
]


@pytest.mark.parametrize(("name", "body", "query", "says"), FILES)
@pytest.mark.parametrize("verb", ["contextuality", "embed"])
def test_a_file_at_fault_is_named(refused, verb: str, name: str, body: bytes, query: str, says: list[str]) -> None:
    Path(name).write_bytes(body)
    line = refused(verb, "all-MiniLM-L6-v2", "--corpus", f"mine={name}{query}", "--json")
    assert all(words in line for words in says), line


def test_a_file_that_is_not_there_and_no_file_at_all(refused) -> None:
    assert "nowhere.csv: no such file" in refused("embed", "default", "--corpus", "nowhere.csv")
    assert "is a folder" in refused("embed", "default", "--corpus", "x=.")
    assert "--corpus NAME=FILE" in refused("contextuality", "default")
    assert "NAME=SOURCE" in refused("embed", "default", "--corpus", "=good.txt")


def test_two_corpora_of_one_name(refused) -> None:
    Path("other.txt").write_text("Another text.\n")
    for verb in ("embed", "contextuality"):
        line = refused(verb, "default", "--corpus", "a=good.txt", "--corpus", "a=other.txt")
        assert "two corpora are called 'a'" in line
    line = refused("survey", "default", "--out", "out", "--corpus", "good.txt", "--corpus", "good.txt")
    assert "two corpora are called 'good'" in line


# Weights


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["1", "2", "heavy", "1", "1", "1"], ["mine", "'weight'", "must be a number"]),
        (["1", "2", "", "1", "1", "1"], ["mine", "'weight'", "row 3"]),
        (["1", "2", "3", "-0.5", "1", "1"], ["mine", "'weight'", "row 4", "0 or more"]),
    ],
)
def test_weights_must_be_numbers(refused, model: str, values: list[str], says: list[str]) -> None:
    rows = "".join(f"{text},{value}\n" for text, value in zip(SENTENCES, values, strict=True))
    Path("w.csv").write_text("text,weight\n" + rows)
    line = refused("contextuality", model, "--corpus", "mine=w.csv", "--weights", "weight", "--json")
    assert all(words in line for words in says), line


def test_weights_must_be_there(refused) -> None:
    Path("w.csv").write_text("text,weight\na,1\n")
    line = refused("contextuality", "default", "--corpus", "w.csv", "--weights", "mass")
    assert "w.csv" in line and "'mass'" in line and "'text', 'weight'" in line
    assert "no columns" in refused("contextuality", "default", "--corpus", "good.txt", "--weights", "mass")


# Texts that are skipped, and counted


def tally_of(out: str) -> dict[str, Any]:
    [tally] = json.loads(out)["manifest"]["corpora"]
    return tally


def test_empty_texts_are_skipped_and_counted(command, model: str) -> None:
    Path("t.txt").write_text("\n".join(["", *SENTENCES, "   ", SENTENCES[0], "\x7f"]) + "\n")
    for verb in ("embed", "contextuality"):
        code, out, err = command(verb, model, "--corpus", "t.txt", "--json")
        assert code == 0, err
        tally = tally_of(out)
        expected = {"texts": 10, "empty": 2, "duplicate": 1, "without_tokens": 1}
        assert {k: tally[k] for k in expected} == expected
    assert json.loads(out)["layers"][0]["texts"] == 6
    _, out, _ = command("embed", model, "--corpus", "t.txt", "--json")
    assert json.loads(out)["embeddings"][0]["rows"] == 7


def test_a_text_of_a_million_characters(command, model: str) -> None:
    long = "".join("x" * 4990 + " bank of " for _ in range(200)) + "the river"
    assert len(long) > 999_000
    Path("t.txt").write_text("\n".join([*SENTENCES, long]) + "\n")
    code, out, err = command("contextuality", model, "--corpus", "t.txt", "--json", "--word", "bank")
    assert code == 0, err
    tally = tally_of(out)
    assert (tally["texts"], tally["windowed"]) == (7, 1)
    [bank] = [w for w in json.loads(out)["words"] if w["word"] == "bank"]
    assert (bank["contexts"], bank["occurrences"]) == (7, 206), "nothing of it was cut off"


def test_a_text_of_thirty_thousand_tokens_is_windowed(command, model: str) -> None:
    Path("t.txt").write_text("\n".join([*SENTENCES, "the boat lay on the bank " * 5000]) + "\n")
    code, out, err = command("embed", model, "--corpus", "t.txt", "--json", "--max-length", "128")
    assert code == 0, err
    tally = tally_of(out)
    assert (tally["texts"], tally["windowed"]) == (7, 1)
    assert tally["tokens"] > 30_000
    assert json.loads(out)["embeddings"][0]["rows"] == 7
    assert json.loads(out)["manifest"]["encoder"]["window"] == "128/64"


# Too little to measure


def test_too_few_texts_no_words_and_words_that_do_not_occur(refused, model: str) -> None:
    Path("few.txt").write_text("One bank.\nTwo banks.\n")
    line = refused("contextuality", model, "--corpus", "few=few.txt")
    assert "few: no word occurs in 5 different texts" in line and "--min-contexts" in line
    Path("marks.txt").write_text("...\n!? --\n;;;\n")
    assert "marks: no text holds a word" in refused("contextuality", model, "--corpus", "marks.txt")
    line = refused("contextuality", model, "--corpus", "good.txt", "--word", "bank", "--word", "zebra")
    assert "--word zebra" in line and "good" in line


def test_pairs_to_judge_layers_on(refused, model: str) -> None:
    Path("few.csv").write_text("a,b,score\none,two,1\n")
    source = "few.csv?text=a&text_b=b&label=score"
    line = refused("contextuality", model, "--corpus", "good.txt", "--importance", source)
    assert "few: needs at least ten pairs" in line
    line = refused("contextuality", model, "--corpus", "good.txt", "--importance", "good.txt")
    assert "good: the importance of layers is judged on scored pairs" in line


# Models


def test_what_is_no_model(refused) -> None:
    Path("empty").mkdir()
    Path("junk").mkdir()
    Path("junk/config.json").write_text("{not json")
    Path("other").mkdir()
    Path("other/config.json").write_text('{"name": "x"}')
    Path("bare").mkdir()
    Path("bare/config.json").write_text('{"model_type": "bert"}')
    Path("pickled").mkdir()
    Path("pickled/config.json").write_text('{"model_type": "bert"}')
    Path("pickled/pytorch_model.bin").write_bytes(b"\x80\x04")
    for given, says in {
        "good.txt": "good.txt: a model is a folder",
        "./nothing": "./nothing: no such model folder",
        "empty": "empty: not a model folder: it has no config.json",
        "junk": "junk: config.json cannot be read as JSON",
        "other": "other: config.json names no model_type",
        "bare": "bare: no weights",
        "pickled": "pickled: only pickled weights",
        "": "the model's name is empty",
    }.items():
        assert says in refused("embed", given, "--corpus", "good.txt")


def test_weights_that_are_no_weights(refused, model: str) -> None:
    Path("fake").mkdir()
    for file in Path(model).iterdir():
        if file.is_file() and file.suffix != ".safetensors":
            Path("fake", file.name).write_bytes(file.read_bytes())
    Path("fake/model.safetensors").write_bytes(b"these are not the weights of a model")
    assert "fake: cannot be loaded as a text encoder" in refused("embed", "fake", "--corpus", "good.txt")


def outside(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The command line as a process of its own."""
    command = [sys.executable, "-m", "theodolite", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **env}, timeout=120)


@pytest.mark.parametrize("offline", ["0", "1"])
def test_a_hub_that_cannot_be_reached(offline: str) -> None:
    env = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": offline, "HF_HOME": "hf"}
    done = outside("embed", "someone/some-model", "--corpus", "good.txt", **env)
    assert_refused(done.returncode, done.stdout, done.stderr)
    assert "someone/some-model: no such folder here, and the model hub cannot be reached" in done.stderr
    assert "all-MiniLM-L6-v2" in done.stderr
    pytest.importorskip("datasets")
    done = outside("embed", "default", "--corpus", "s=hf://someone/texts?text=sentence", **env)
    assert_refused(done.returncode, done.stdout, done.stderr)
    assert "hf://someone/texts" in done.stderr and "cannot be reached" in done.stderr


def test_a_fault_in_a_process_of_its_own() -> None:
    Path("latin.txt").write_bytes(b"caf\xe9\n")
    done = outside("contextuality", "default", "--corpus", "latin.txt", "--json")
    assert_refused(done.returncode, done.stdout, done.stderr)
    assert "latin.txt: line 1: is not UTF-8" in done.stderr


def test_arguments_that_are_not_utf8(command) -> None:
    code, out, err = command("contextuality", "default", "--corpus", "good.txt", "--word", "caf\udce9")
    assert_refused(code, out, err)
    assert "\\udce9" in err and "not UTF-8" in err


# Options

MISTAKES: list[tuple[list[str], list[str]]] = [
    (["--depth", "3"], ["contextuality", "--depth"]),
    (["--min-contexts", "1"], ["--min-contexts 1", "at least 2"]),
    (["--min-contexts", "many"], ["'--min-contexts'", "integer"]),
    (["--unit", "letter"], ["--unit letter", "word, token"]),
    (["--mev-cap", "1"], ["--mev-cap 1", "at least 2"]),
    (["--max-words", "0"], ["--max-words 0", "at least 1"]),
    (["--limit", "0"], ["'--limit'", "1"]),
    (["--sample", "-3"], ["'--sample'", "1"]),
    (["--token-budget", "0"], ["'--token-budget'", "1"]),
    (["--max-length", "4"], ["'--max-length'", "8"]),
    (["--seed", "-1"], ["'--seed'", "0"]),
    (["--seed", str(2**32)], ["'--seed'", str(2**32 - 1)]),
    (["--seed", "x"], ["'--seed'", "integer"]),
    (["--device", "tpu"], ["--device", "tpu", "cpu, cuda, mps"]),
    (["--out", "good.txt/sub"], ["--out good.txt/sub", "cannot be written"]),
    (["--out", "good.txt"], ["--out good.txt", "cannot be written"]),
    (["--store", "good.txt/sub"], ["good.txt/sub", "cannot be written"]),
    (["--corpus"], ["--corpus"]),
]


@pytest.mark.parametrize(("options", "says"), MISTAKES, ids=[" ".join(o)[:24] for o, _ in MISTAKES])
def test_a_mistake_in_the_options(refused, options: list[str], says: list[str]) -> None:
    line = refused("contextuality", "default", "--corpus", "good.txt", "--json", *options)
    assert all(words in line for words in says), line


def test_options_that_only_the_model_can_judge(refused, model: str) -> None:
    line = refused("embed", model, "--corpus", "good.txt", "--max-length", "100000")
    assert "--max-length 100000: xtremedistil-l6-h256 takes 8 to 512" in line
    line = refused("embed", model, "--corpus", "good.txt", "--layer", "7")
    assert "--layer 7: xtremedistil-l6-h256 has layers 0 to 6" in line
    assert "--layer -8" in refused("embed", model, "--corpus", "good.txt", "--layer", "-8")
    assert "--pooling sum: not one of" in refused("embed", model, "--corpus", "good.txt", "--pooling", "sum")


def test_a_device_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from theodolite.encoder.loading import device_of
    from theodolite.errors import InputError

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert str(device_of("cuda:1")) == "cuda:1"
    with pytest.raises(
        InputError, match="--device cuda:7: there is no such one on this machine; it has cuda:0 to cuda:1"
    ):
        device_of("cuda:7")


def test_other_verbs(refused) -> None:
    assert "frobnicate" in refused("frobnicate")
    assert "MODEL" in refused("embed", "--corpus", "good.txt")
    assert "--out DIR" in refused("survey", "default", "--corpus", "good.txt")
    assert "--out good.txt/x" in refused("survey", "default", "--corpus", "good.txt", "--out", "good.txt/x")
    assert "--out good.txt" in refused("demo", "--out", "good.txt")
    assert "no instrument 'astrology'; there are: contextuality" in refused("reproduce", "astrology", "--data", ".")
    assert "--data ." in (line := refused("reproduce", "contextuality", "--data", ".")) and "snli" in line
    assert "--data" in refused("reproduce", "contextuality")


def test_the_store(refused, command) -> None:
    assert "'0123'" in refused("store", "rm", "0123")
    assert "give a key, or --all" in refused("store", "rm")
    assert "give a key, or --all" in refused("store", "rm", "0123", "--all")
    assert "'0123'" in refused("store", "export", "0123", "--out", "x.npy")
    assert "--out" in refused("store", "export", "0123")
    assert "'fetch'" in refused("store", "fetch")
    code, out, _ = command("store", "ls", "--json")
    assert (code, json.loads(out)) == (0, {"entries": []})


def test_exports_that_cannot_be(refused, command) -> None:
    import numpy as np

    np.save("v.npy", np.eye(6, dtype=np.float32))
    code, out, err = command("embed", "vectors", "--corpus", "good.txt?vectors=v.npy", "--json")
    assert code == 0, err
    key = json.loads(out)["embeddings"][0]["key"]
    assert "x.xlsx" in refused("store", "export", key, "--out", "x.xlsx")
    assert "good.txt/x.npy" in refused("store", "export", key, "--out", "good.txt/x.npy")
    assert "'other'" in refused("store", "export", key, "--corpus", "other", "--out", "x.npy")


# Quick answers, and a clean standard output

PROBE = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from theodolite.cli.main import main
found = []
for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as left:
            code = left.code
    slow = "torch transformers matplotlib.pyplot scipy.stats scipy.sparse scipy.special fastapi sqlalchemy".split()
    heavy = [m for m in slow if m in sys.modules]
    found.append([arguments, code, heavy, out.getvalue()])
print(json.dumps(found))
"""


def test_help_version_and_mistakes_do_not_import_torch() -> None:
    corpus = ["--corpus", "good.txt"]
    helps = [["--help"], [], *([v, "--help"] for v in ("contextuality", "embed", "survey", "demo", "reproduce"))]
    mistakes = [
        ["contextuality", "default", *corpus, "--unit", "letter"],
        ["contextuality", "default", *corpus, "--depth", "3"],
        ["contextuality", "default"],
        ["contextuality", "default", *corpus, *corpus],
        ["contextuality", "./nothing", *corpus],
        ["contextuality", "good.txt", *corpus],
        ["embed", "default", "--corpus", "nowhere.txt"],
        ["embed", "default", *corpus, "--device", "tpu"],
        ["embed", "default", *corpus, "--out", "good.txt"],
        ["reproduce", "astrology", "--data", "."],
        ["store", "rm", "0123"],
    ]
    asked = [*helps, ["--version"], *mistakes]
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(asked)], capture_output=True, text=True, check=True, timeout=120
    )
    for arguments, code, heavy, out in json.loads(done.stdout):
        assert code == (2 if arguments in mistakes else 0), arguments
        assert heavy == [], arguments
        assert bool(out) == (code == 0), arguments
        if arguments == ["--version"]:
            assert out.startswith("theodolite ")
        if arguments == ["contextuality", "--help"]:
            assert "--min-contexts" in out and "at least this many different texts" in " ".join(out.split())


def test_json_is_alone_on_standard_output(command, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_SECONDS", 0.0)
    for verb in ("contextuality", "embed"):
        code, out, err = command(verb, model, "--corpus", "good.txt", "--json", "--out", "saved")
        assert code == 0, err
        assert isinstance(json.loads(out), dict)
        assert out.count("\n") == 1
        assert "encoding: 6 of 6" in err, "progress is told, but not there"
        assert "The reading is in saved" in err

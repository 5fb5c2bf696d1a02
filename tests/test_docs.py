"""The documents say what is so: commands parse, links lead somewhere, examples run."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from theodolite import Corpus, Store, run
from theodolite.cli.main import app
from theodolite.registry import INSTRUMENTS

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELL_WORDS = {"|", ">", ">>", "2>", "&&", ";"}


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in FENCE.findall(page.read_text(encoding="utf-8")) if kind == language]


def commands(page: Path) -> Iterator[list[str]]:
    """The arguments of every `theodolite …` in a page: in blocks, whole; in the text, where an option is shown."""
    for block in blocks(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words and Path(words[0]).name == "theodolite":
                ends = [i for i, word in enumerate(words) if word in SHELL_WORDS]
                yield words[1 : ends[0] if ends else None]


def mentions(page: Path) -> Iterator[list[str]]:
    """`theodolite …` within a sentence, which may leave out what is required."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for said in re.findall(r"`theodolite ([a-z-][^`]*)`", text.replace("\n", " ")):
        yield shlex.split(said)


def verb_of(arguments: list[str]):
    """The command that the arguments name, and the rest of them."""
    command, rest = typer.main.get_command(app), list(arguments)
    while rest and getattr(command, "commands", None):
        if rest[0].startswith("-"):
            break
        # A verb may be of two words (`isotropy fit`).
        both = " ".join(rest[:2])
        if both in command.commands:
            return command.commands[both], rest[2:]
        assert rest[0] in command.commands, f"no verb '{rest[0]}'"
        command = command.commands[rest.pop(0)]
    return command, rest


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_commands_parse(page: Path) -> None:
    for arguments in commands(page):
        command, rest = verb_of(arguments)
        # Parsing checks option names, types and what is required; it does not call the verb.
        command.make_context("theodolite", rest)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_commands_within_sentences_name_verbs_and_options(page: Path) -> None:
    for arguments in mentions(page):
        command, rest = verb_of(arguments)
        known = {flag for parameter in command.params for flag in parameter.opts} | {"--help"}
        for word in rest:
            assert not word.startswith("--") or word in known, f"{shlex.join(arguments)}: no option {word}"


def test_commands_are_found() -> None:
    found = [arguments for page in PAGES for arguments in commands(page)]
    assert {arguments[0] for arguments in found} >= {"contextuality", "embed", "survey", "store", "reproduce"}
    with pytest.raises(AssertionError, match="no verb"):
        verb_of(["contextualty"])


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_python_blocks_compile(page: Path) -> None:
    for block in blocks(page, "python"):
        compile(block, str(page), "exec")


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_and_images_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        place = page.parent / path if path else page
        assert place.exists(), f"{page_id(page)}: {target} leads nowhere"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", place.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in anchors, f"{page_id(page)}: {target} has no such heading"


def test_pages_are_short_and_listed() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in PAGES:
        lines = page.read_text(encoding="utf-8").count("\n")
        assert lines < 150, f"{page_id(page)} has {lines} lines"
        if page.parent.name == "docs" and page.name != "index.md":
            assert f"({page.name})" in index, f"docs/index.md does not list {page.name}"


def test_diffs_fit_the_files_they_change() -> None:
    """What a shown diff keeps or removes is in the file, so that the recipe can be followed."""
    page = ROOT / "docs" / "architecture.md"
    option, registry = blocks(page, "diff")
    for file, diff in (("contextuality/instrument.py", option), ("registry.py", registry)):
        there = (ROOT / "theodolite" / file).read_text(encoding="utf-8").splitlines()
        for line in diff.splitlines():
            if line[:1] in " -" and not line.startswith("---"):
                assert line[1:] in there, f"{file} has no line {line[1:]!r}"


@pytest.fixture
def norms():
    """The module of the example instrument."""
    spec = importlib.util.spec_from_file_location("norms", ROOT / "examples" / "norms.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["norms"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["norms"]


def test_example_instrument_measures(norms, minilm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    from theodolite import load

    texts = ["The bank lent money.", "A river bank.", "Fog came in from the river."]
    [reading] = run([norms.Norms(unit="token")], minilm, [Corpus.of(texts, "notes")], store=Store(tmp_path / "store"))
    rows = reading.tables["layers"].to_pylist()
    tokens = minilm.tokenise(texts)
    pieces = minilm.tokenizer.pieces(tokens).start
    states = np.concatenate(minilm.hidden_states(texts), axis=1)[:, pieces]
    expected = np.linalg.norm(states, axis=2).mean(axis=1)
    np.testing.assert_allclose([row["length"] for row in rows], expected, rtol=1e-4)
    assert all(row["length_low"] < row["length"] < row["length_high"] for row in rows)

    monkeypatch.setitem(INSTRUMENTS, "norms", "norms:Norms")
    reading.save(tmp_path / "reading")
    assert (tmp_path / "reading" / "figures" / "norms.svg").exists()
    assert load(tmp_path / "reading").findings == reading.findings


def test_example_instrument_becomes_a_verb_with_its_option() -> None:
    """One line in the registry is all: here it is added from outside, in a process of its own."""
    program = (
        "from theodolite.registry import INSTRUMENTS; INSTRUMENTS['norms'] = 'norms:Norms'; "
        "from theodolite.cli import main; main(['norms', '--help'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "examples", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "How long are the vectors of each layer?" in done.stdout
    assert "--unit" in done.stdout and "--corpus" in done.stdout


def test_citation_is_yaml_and_of_this_version() -> None:
    yaml = pytest.importorskip("yaml")
    from importlib.metadata import version

    found = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert found["cff-version"] == "1.2.0"
    assert str(found["version"]) == version("theodolite")
    assert found["authors"] == [{"name": "The Theodolite developers"}]
    assert found["license"] == "Apache-2.0"
    assert f"[{found['version']}] - {found['date-released']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

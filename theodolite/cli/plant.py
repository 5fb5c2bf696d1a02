"""`theodolite plant`: a labelled corpus with a shortcut whose truth is known."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli import build
from theodolite.cli.jobs import read_corpora
from theodolite.corpus.source import parse_source, split_name
from theodolite.encoder.resolve import DEFAULT_MODEL
from theodolite.errors import InputError


def plant(
    corpus: build.CORPUS = [],  # noqa: B006
    rule: Annotated[str, typer.Option("--rule", help="source, word, order, position or length.")] = "source",
    marker: Annotated[
        list[str], typer.Option("--marker", help="A word to plant; repeatable. Rare ones are chosen otherwise.")
    ] = [],  # noqa: B006
    model: Annotated[
        str,
        typer.Option(
            "--model",
            help="Whose vocabulary the markers are single items of, after a space: where a text or a line begins, "
            "RoBERTa and its kin have other pieces.",
        ),
    ] = DEFAULT_MODEL,
    added: Annotated[
        bool,
        typer.Option("--added", help="The markers are new to the vocabulary: train with --add-word for each of them."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where it goes: a csv, tsv, jsonl or parquet file.")
    ] = None,
    limit: build.LIMIT = None,
    sample: build.SAMPLE = None,
    seed: build.SEED = 0,
    store: build.STORE = None,
) -> None:
    """Text, label and truth of every row, some of them changed by the rule."""
    from theodolite.salience import planting

    if out is None:
        raise InputError("plant: say where it goes with --out FILE")
    if rule not in planting.RULES:
        raise InputError(f"--rule {rule}: not one of {', '.join(planting.RULES)}")
    if added and not marker:
        raise InputError("--added: name the words that will be added with --marker")
    given = {"corpus": corpus, "limit": limit, "sample": sample, "seed": seed, "store": store}
    corpora = read_corpora(given, ())
    if len(corpora) > 1:
        raise InputError(f"plant: takes one corpus, and {len(corpora)} were given")
    if out.resolve() == Path(parse_source(split_name(corpus[0])[1]).path).expanduser().resolve():
        raise InputError(f"--out {out}: is the corpus itself, whose texts would be lost; choose another place")
    texts = corpora[0]
    planted = planting.plant(
        texts.texts(),
        texts.column("label").to_pylist(),
        rule,
        seed,
        markers=marker or None,
        single=None if added else _single(model),
        texts_b=texts.texts_b(),
    )
    planting.write_planted(out, planted)
    changed = sum(truth not in ("", planting.CONTROL) for truth in planted.truth)
    words = f" ({', '.join(planted.markers)})" if planted.markers else ""
    sys.stderr.write(f"{changed:,} of {len(texts):,} texts were touched by the rule {rule}{words}; they are in {out}\n")


def _single(model: str) -> Callable[[str], bool]:
    """Whether a word is one item of the model's vocabulary after another word; a special token is refused by name.

    That is where most markers go. At the very beginning of a text, or after a line break, a vocabulary of bytes
    (RoBERTa's and its kin) has other pieces and hardly a rare word whole: to ask for one there too would leave no
    markers. The tokenizer is read, the weights are not.
    """
    from theodolite.encoder.loading import load_tokenizer
    from theodolite.encoder.resolve import resolve
    from theodolite.encoder.tokens import Tokenizer

    folder = resolve(model)
    tokenizer = Tokenizer(load_tokenizer(folder), folder.name)

    def single(word: str) -> bool:
        [ids] = tokenizer.pieces_of([word])
        # A line of its own: such a marker is one item, and is no word that --added could help.
        if any(tokenizer.is_special(item) for item in ids):
            raise InputError(f"marker {word!r} has a special token of {folder.name} in it; name another")
        return len(ids) == 1 and ids[0] != tokenizer.unknown_id

    return single

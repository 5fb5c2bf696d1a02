"""`theodolite train`: fine-tune an encoder."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from theodolite.cli import build
from theodolite.cli.jobs import check_out, print_json, read_corpora, texts_folder
from theodolite.cli.progress import TerminalProgress
from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.train.classifier import Training

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

VALIDATED_ON = Annotated[
    str | None,
    typer.Option("--validate-on", metavar="SOURCE", help="Labelled texts to judge it on; else some are held out."),
]
COMMON: dict[str, tuple[Any, Any]] = {
    **{name: build.COMMON[name] for name in ("corpus", "limit", "sample", "seed", "out", "json", "store")},
    "validate_on": (VALIDATED_ON, None),
    **{name: build.COMMON[name] for name in ("device", "max_length")},
}


def _classifier(**given: Any) -> None:
    from theodolite.train.classifier import train_classifier

    if given["out"] is None:
        raise InputError("train classifier: say where the model goes with --out DIR")
    training = build.chosen(Training, given)
    corpora = read_corpora(given, ())
    if len(corpora) > 1:
        raise InputError(f"train classifier: takes one corpus, and {len(corpora)} were given")
    validation = None
    if given["validate_on"] is not None:
        validation = Corpus.parse(given["validate_on"], cache=texts_folder(given["store"]))
    check_out(given["out"])
    scores = train_classifier(
        given["model"],
        corpora[0],
        given["out"],
        training,
        validation=validation,
        device=given["device"],
        max_length=given["max_length"],
        progress=TerminalProgress(),
    )
    if given["json"]:
        print_json(asdict(scores))
    else:
        Console().print(scores.sentence(), highlight=False)
    sys.stderr.write(f"The model is in {Path(given['out'])}\n")


app.command("classifier", help="Fine-tune a classifier, or a regression, on labelled texts or pairs of texts.")(
    build.with_parameters(_classifier, [*build.model_and_options(Training, COMMON), *build.common_parameters(COMMON)])
)

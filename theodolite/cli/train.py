"""`theodolite train`: fine-tune an encoder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from theodolite.cli import build
from theodolite.cli.items import ITEMS, named_items
from theodolite.cli.jobs import check_out, print_json, read_corpora, texts_folder
from theodolite.cli.progress import TerminalProgress
from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.train.classifier import Training
from theodolite.train.recobert import RecobertTraining
from theodolite.train.simcse import SimcseTraining

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


def _asked(verb: str, given: dict[str, Any]) -> Corpus:
    """The one corpus to train on, once it is known that the model has a place."""
    if given["out"] is None:
        raise InputError(f"train {verb}: say where the model goes with --out DIR")
    corpora = read_corpora(given, ())
    if len(corpora) > 1:
        raise InputError(f"train {verb}: takes one corpus, and {len(corpora)} were given")
    check_out(given["out"])
    return corpora[0]


def _catalogue(given: dict[str, Any]) -> Corpus:
    """The items to train on, once it is known that the model has a place."""
    for name, what in (("out", "DIR"), ("items", "FILE"), ("title", "COL"), ("description", "COL")):
        if given[name] is None:
            raise InputError(
                f"train recobert: give --{name} {what}; it needs --items, --title, --description and --out"
            )
    names = {name: given[name] for name in ("title", "description", "id", "limit", "sample", "seed")}
    items = named_items(given["items"], **names, cache=texts_folder(given["store"]))
    check_out(given["out"])
    return items


def _tell(scores: Any, given: dict[str, Any]) -> None:
    if given["json"]:
        print_json(asdict(scores))
    else:
        Console().print(scores.sentence(), highlight=False)
    sys.stderr.write(f"The model is in {Path(given['out'])}\n")


def _classifier(**given: Any) -> None:
    from theodolite.train.classifier import train_classifier

    training = build.chosen(Training, given)
    corpus = _asked("classifier", given)
    validation = None
    if given["validate_on"] is not None:
        validation = Corpus.parse(given["validate_on"], cache=texts_folder(given["store"]))
    scores = train_classifier(
        given["model"],
        corpus,
        given["out"],
        training,
        validation=validation,
        device=given["device"],
        max_length=given["max_length"],
        progress=TerminalProgress(),
    )
    _tell(scores, given)


def _simcse(**given: Any) -> None:
    from theodolite.train.simcse import train_simcse

    training = build.chosen(SimcseTraining, given)
    corpus = _asked("simcse", given)
    how = {name: given[name] for name in ("device", "max_length")}
    _tell(train_simcse(given["model"], corpus, given["out"], training, progress=TerminalProgress(), **how), given)


def _recobert(**given: Any) -> None:
    from theodolite.train.recobert import train_recobert

    training = build.chosen(RecobertTraining, given)
    items = _catalogue(given)
    how = {name: given[name] for name in ("device", "max_length")}
    _tell(train_recobert(given["model"], items, given["out"], training, progress=TerminalProgress(), **how), given)


def _add(name: str, help: str, verb: Callable[..., None], training: type[Any], common: dict[str, Any]) -> None:
    parameters = [*build.model_and_options(training, common), *build.common_parameters(common)]
    app.command(name, help=help)(build.with_parameters(verb, parameters))


_add(
    "classifier",
    "Fine-tune a classifier, or a regression, on labelled texts or pairs of texts.",
    _classifier,
    Training,
    COMMON,
)
_add(
    "simcse",
    "Train an encoder to tell texts apart, by two dropout views of each (no labels).",
    _simcse,
    SimcseTraining,
    {name: value for name, value in COMMON.items() if name != "validate_on"},
)
_add(
    "recobert",
    "Train an encoder on a catalogue's titles and descriptions (no labels).",
    _recobert,
    RecobertTraining,
    {**ITEMS, **{name: value for name, value in COMMON.items() if name not in ("corpus", "validate_on")}},
)

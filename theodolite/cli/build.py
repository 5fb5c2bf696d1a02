"""A verb's options made from the dataclass that declares them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from theodolite.instrument import Instrument
from theodolite.options import LARGEST_SEED, Option, options_of

CORPUS = Annotated[
    list[str],
    typer.Option(
        "--corpus",
        metavar="NAME=SOURCE",
        help="Texts: a txt, csv, tsv, jsonl or parquet file (also .gz) or hf://dataset/config; columns in a query: "
        "reviews.csv?text=body&label=stars. Repeatable.",
    ),
]
LIMIT = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Only the first N rows of a corpus.")]
SAMPLE = Annotated[int | None, typer.Option("--sample", min=1, metavar="N", help="A seeded sample of N rows.")]
SEED = Annotated[int, typer.Option("--seed", min=0, max=LARGEST_SEED, help="Seed of every random choice.")]
OUT = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Save the result in this folder.")]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else, on standard output.")]
STORE = Annotated[str | None, typer.Option("--store", metavar="DIR", help="Where arrays and unfinished runs are kept.")]


def _device(given: str | None) -> str | None:
    if given is not None and given.split(":")[0] not in ("cpu", "cuda", "mps"):
        raise typer.BadParameter(f"{given} is not one of cpu, cuda, mps")
    return given


DEVICE = Annotated[
    str | None,
    typer.Option("--device", callback=_device, help="cpu, cuda or mps; the fastest there when not given."),
]
MAX_LENGTH = Annotated[
    int | None, typer.Option("--max-length", min=8, help="Tokens a window; the model's own when not given.")
]
TOKEN_BUDGET = Annotated[
    int | None, typer.Option("--token-budget", min=1, help="Tokens a batch; tuned when not given.")
]
TRANSFORM = Annotated[
    str | None,
    typer.Option("--transform", metavar="DIR", help="Make the encoder's space rounder: what `isotropy fit` wrote."),
]

# The options that every verb over corpora has, with their defaults.
COMMON: dict[str, tuple[Any, Any]] = {
    "corpus": (CORPUS, ()),
    "limit": (LIMIT, None),
    "sample": (SAMPLE, None),
    "seed": (SEED, 0),
    "out": (OUT, None),
    "json": (JSON, False),
    "store": (STORE, None),
    "device": (DEVICE, None),
    "max_length": (MAX_LENGTH, None),
    "token_budget": (TOKEN_BUDGET, None),
    "transform": (TRANSFORM, None),
}

Job = Callable[..., None]
Chosen = TypeVar("Chosen")


def add_verb(app: typer.Typer, kind: type[Instrument], job: Job, *, models: bool) -> None:
    """Add a verb for an instrument: its own options from its fields, then the common ones.

    The job is called with the instrument, the model (a list where several may be compared) and the common
    options by name.
    """

    def verb(**given: Any) -> None:
        common = {name: given[name] for name in COMMON}
        job(chosen(kind, given), given["model"], **common)

    parameters = [*model_and_options(kind, COMMON, models=models), *common_parameters(COMMON)]
    app.command(kind.name, help=f"{kind.question}")(with_parameters(verb, parameters))


def model_and_options(
    kind: type[Any], common: Mapping[str, tuple[Any, Any]], *, models: bool = False
) -> list[inspect.Parameter]:
    """The model as an argument, and the options that a dataclass declares, but for the common ones."""
    argument = typer.Argument(help="The encoder: a folder, a hub name, or all-MiniLM-L6-v2 (bundled).", metavar="MODEL")
    model_type: Any = list[str] if models else str
    model = inspect.Parameter("model", inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[model_type, argument])
    own = [o for o in options_of(kind) if o.name not in common]
    return [model, *(_parameter(o.name, _annotation(o), o.default) for o in own)]


def common_parameters(common: Mapping[str, tuple[Any, Any]]) -> list[inspect.Parameter]:
    """Options by name with (annotation, default)."""
    return [_parameter(name, annotation, default) for name, (annotation, default) in common.items()]


def with_parameters(verb: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """The function of keywords as typer is to see it."""
    verb.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    verb.__annotations__ = {p.name: p.annotation for p in parameters}
    return verb


def chosen(kind: type[Chosen], given: Mapping[str, Any]) -> Chosen:
    """The dataclass that declares the options, with what was given of them."""
    return kind(**{o.name: _value(o, given[o.name]) for o in options_of(kind)})


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=list(default) if isinstance(default, tuple) else default,
        annotation=annotation,
    )


def _annotation(declared: Option) -> Any:
    flag = "--" + declared.name.replace("_", "-")
    says = declared.help
    if declared.choices:
        says = f"{says} One of {', '.join(declared.choices)}."
    shown = typer.Option(flag, help=says, metavar=declared.metavar or None)
    return Annotated[list[str] if declared.many else declared.type, shown]


def _value(declared: Option, given: Any) -> Any:
    return tuple(given) if declared.many else given

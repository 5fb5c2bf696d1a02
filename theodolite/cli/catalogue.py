"""`theodolite catalogue`: items like one another, and why."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from theodolite.cli import build
from theodolite.cli.items import DESCRIPTION, FILE, ID, TITLE, named_items
from theodolite.cli.jobs import MODEL, check_out, print_json, texts_folder
from theodolite.cli.progress import TerminalProgress
from theodolite.errors import InputError
from theodolite.reading import plain
from theodolite.store import Store

if TYPE_CHECKING:
    from theodolite.catalogue import Catalogue, Item, Similar
    from theodolite.similarity.explanation import Explanation

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

DIR = Annotated[Path, typer.Argument(metavar="DIR", help="A catalogue that `catalogue build` wrote.")]
METHOD = Annotated[list[str], typer.Option("--method", help="How to explain; repeatable.")]
PLACE = Annotated[
    str | None, typer.Option("--model", help="Where the catalogue's model is now, if it is no longer where it was.")
]
K = typer.Option("-k", min=1, metavar="N", help="How many of the most similar.")
# As much of a description as a line of a table shows.
_SHOWN = 100


@app.command("build", help="Embed the items of a table and write a catalogue.")
def build_it(
    model: MODEL,
    items: Annotated[str, FILE],
    title: Annotated[str, TITLE],
    description: Annotated[str, DESCRIPTION],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the catalogue goes.")],
    id: Annotated[str | None, ID] = None,
    pooling: Annotated[
        str, typer.Option("--pooling", help="How tokens become one vector. One of mean, own, cls, max.")
    ] = "mean",
    limit: build.LIMIT = None,
    seed: build.SEED = 0,
    json: build.JSON = False,
    store: build.STORE = None,
    device: build.DEVICE = None,
    max_length: build.MAX_LENGTH = None,
    transform: build.TRANSFORM = None,
) -> None:
    """A vector for each different description."""
    from theodolite.catalogue.build import EmbedItems, build_catalogue
    from theodolite.encoder.resolve import resolve
    from theodolite.running.run import check_corpora

    EmbedItems(pooling)
    corpus = named_items(items, title=title, description=description, id=id, limit=limit, cache=texts_folder(store))
    # Told before torch is loaded, which takes seconds; so is a wrong model.
    check_corpora([corpus])
    resolve(model)
    check_out(out)
    from theodolite.encoder.encoder import Encoder

    encoder = Encoder.load(model, device=device, max_length=max_length, transform=transform)
    how: dict[str, Any] = {"pooling": pooling, "seed": seed, "store": Store(store), "progress": TerminalProgress()}
    found = build_catalogue(encoder, corpus, out, **how)
    if json:
        print_json(plain(found.manifest))
    else:
        Console().print(_built(found), highlight=False, markup=False)
    sys.stderr.write(f"The catalogue is in {out}\n")


@app.command("similar", help="The items most similar to one of them, or to a text.")
def similar(
    catalogue: DIR,
    item: Annotated[str | None, typer.Option("--item", metavar="ID", help="An item, by its id.")] = None,
    text: Annotated[str | None, typer.Option("--text", help="Any text, in place of an item.")] = None,
    k: Annotated[int, K] = 10,
    explain: Annotated[bool, typer.Option("--explain", help="Say which words make each of them similar.")] = False,
    method: METHOD = ["bti"],  # noqa: B006
    model: PLACE = None,
    transform: build.TRANSFORM = None,
    device: build.DEVICE = None,
    json: build.JSON = False,
) -> None:
    """Cosines, with those of random pairs beside them."""
    from theodolite.catalogue import Catalogue, explain_similar, load_encoder
    from theodolite.catalogue.explaining import asked_of

    if (item is None) == (text is None):
        raise InputError("catalogue similar: give an item with --item ID, or a text with --text TEXT")
    held = Catalogue.load(catalogue)
    asked_of(held, method)
    about = {"text": text} if text is not None else _about(held.item(str(item)))
    found = held.similar(item, k) if item is not None else []
    explanations: Sequence[Explanation] | None = None
    if explain or text is not None:
        encoder = load_encoder(held, model, transform=transform, device=device)
        found = found if text is None else held.similar_to(text, encoder, k)
        if explain:
            explanations = explain_similar(held, encoder, about.get("text") or about["description"], found, method)
    if json:
        print_json(plain(_answer(held, about, found, explanations)))
    else:
        _show(held, about, found, explanations)


@app.command("explain", help="Explain the most similar items of every item, in bulk; goes on where it was interrupted.")
def explain(
    catalogue: DIR,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A .parquet file, or a folder for one.")],
    k: Annotated[int, K] = 3,
    method: METHOD = ["bti"],  # noqa: B006
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Only the first N items.")] = None,
    model: PLACE = None,
    transform: build.TRANSFORM = None,
    device: build.DEVICE = None,
    store: build.STORE = None,
    json: build.JSON = False,
) -> None:
    """Each pair of descriptions once."""
    from theodolite.catalogue import Catalogue, explain_catalogue, load_encoder
    from theodolite.catalogue.explaining import asked_of

    held = Catalogue.load(catalogue)
    asked_of(held, method)
    encoder = load_encoder(held, model, transform=transform, device=device)
    how: dict[str, Any] = {"k": k, "methods": method, "limit": limit}
    found = explain_catalogue(held, encoder, out, **how, store=Store(store), progress=TerminalProgress())
    if json:
        print_json({**dataclasses.asdict(found), "file": str(found.file)})
    else:
        said = f"{found.pairs:,} pairs of {found.descriptions:,} descriptions, {found.mutual:,} of them mutual."
        Console().print(said, highlight=False)
    sys.stderr.write(f"The explanations are in {found.file}\n")


def _about(item: Item) -> dict[str, str]:
    return {"id": item.id, "title": item.title, "description": item.description}


def _built(found: Catalogue) -> str:
    counts = found.manifest["counts"]
    base = found.manifest["baseline"]
    said = f"{counts['items']:,} items of {counts['descriptions']:,} different descriptions"
    left_out = counts["empty"] + counts["without_tokens"]
    said += f"; {left_out:,} left out for an empty description" if left_out else ""
    return f"{said}. {_baseline(base)}"


def _baseline(base: dict[str, Any]) -> str:
    if base["mean_cosine"] is None:
        return "There are no two different descriptions to compare with."
    interval = "" if base["low"] is None else f" (95% interval {base['low']:.3f} to {base['high']:.3f})"
    return f"Mean cosine of {base['pairs']:,} random pairs: {base['mean_cosine']:.3f}{interval}."


def _answer(
    held: Catalogue, about: dict[str, str], found: Sequence[Similar], explanations: Sequence[Explanation] | None
) -> dict[str, Any]:
    from theodolite.similarity.tables import in_json, kept

    rows: list[dict[str, Any]] = [dataclasses.asdict(one) for one in found]
    if explanations is not None:
        for row, explanation in zip(rows, explanations, strict=True):
            kinds = kept([(0, explanation)]).to_pylist()
            row["explanations"] = [in_json(kind, explanation.a.text, explanation.b.text) for kind in kinds]
    return {"asked": about, "baseline": held.manifest["baseline"], "similar": rows}


def _show(
    held: Catalogue, about: dict[str, str], found: Sequence[Similar], explanations: Sequence[Explanation] | None
) -> None:
    console = Console()
    head = about["text"] if "text" in about else f"{about['id']} {about['title']}: {about['description']}"
    console.print(head, highlight=False, markup=False)
    table = Table("id", "title", "description", "cosine", "% of random pairs less similar (95% interval)")
    for one in found:
        beyond = " to ".join(f"{100 * share:.2f}" for share in (one.less_similar_low, one.less_similar_high))
        said = "the same text" if one.same else _shortened(one.description)
        table.add_row(*map(escape, (one.id, one.title, said, f"{one.cosine:.3f}", beyond)))
    console.print(table)
    console.print(_baseline(held.manifest["baseline"]), highlight=False)
    for one, explanation in zip(found, explanations or (), strict=explanations is not None):
        console.print(f"\n{one.id} {one.title}", highlight=False, markup=False, style="bold")
        for method in explanation.matches:
            console.print(_chosen(explanation, method), highlight=False, markup=False)


def _chosen(explanation: Explanation, method: str) -> str:
    """The chosen pairs of words, highest score first."""
    matches = explanation.matches[method]
    words_a, words_b = explanation.a.words, explanation.b.words
    pairs = [
        f"{words_a[a]} – {words_b[b]} {score:.2f}"
        for a, b, score, chosen in zip(matches.index_a, matches.index_b, matches.score, matches.chosen, strict=True)
        if chosen
    ]
    return f"{method}: {', '.join(pairs)}"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1].rstrip()}…"

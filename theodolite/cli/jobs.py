"""What each verb does: read the input, call the library, print."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theodolite.cli import build, show
from theodolite.cli.progress import TerminalProgress
from theodolite.cli.studio import NO_BROWSER, PORT, open_studio
from theodolite.corpus import Corpus
from theodolite.encoder.resolve import DEFAULT_MODEL
from theodolite.errors import InputError, MissingColumn
from theodolite.options import options_of
from theodolite.reading import Reading
from theodolite.registry import INSTRUMENTS
from theodolite.running.plan import RunOptions
from theodolite.running.run import check_corpora
from theodolite.store import Store

if TYPE_CHECKING:
    from theodolite.instrument import Instrument

# A survey may find much; a terminal gets the first of it.
HEADLINES = 8
MODEL = Annotated[str, typer.Argument(help="The encoder: a folder, a hub name, or all-MiniLM-L6-v2 (bundled).")]


def measure(instrument: Instrument, models: list[str], *, out: Path | None, json: bool, **common: Any) -> None:
    """Measure one encoder, or several side by side."""
    from theodolite.running import run

    if len(models) > 1 and not hasattr(instrument.reading, "beside"):
        raise InputError(f"{instrument.name}: takes one model at a time, and {len(models)} were given")
    part = {key: common[key] for key in ("limit", "sample", "seed")}
    own = [] if common["corpus"] else instrument.own_corpora(**part, cache=texts_folder(common["store"]))
    corpora = own or read_corpora(common, instrument.columns, instrument.does_without)
    check_out(out)
    how = _how(common)
    readings: list[Any] = []
    with how["store"].until_saved():
        for model, name in zip(models, _names(models), strict=True):
            encoder = _encoder(model, corpora, common)
            encoder.name = name
            readings += run([instrument], encoder, corpora, **how)
        reading: Reading = readings[0] if len(readings) == 1 else type(readings[0]).beside(readings)
        _hand_over(reading, out, json)


def embed(instrument: Instrument, model: str, *, out: Path | None, json: bool, **common: Any) -> None:
    """Embed corpora into the store."""
    from theodolite.running import run

    corpora = read_corpora(common, ())
    check_out(out)
    how = _how(common)
    with how["store"].until_saved():
        [reading] = run([instrument], _encoder(model, corpora, common), corpora, **how)
        _hand_over(reading, out, json)


def fit(instrument: Instrument, model: str, *, out: Path | None, json: bool, **common: Any) -> None:
    """Fit a transform to a space and save it."""
    from theodolite.rounding import save
    from theodolite.running import run

    if out is None:
        raise InputError(f"{instrument.name}: say where the transform goes with --out DIR")
    corpora = read_corpora(common, ())
    check_out(out)
    how = _how(common)
    with how["store"].until_saved():
        [reading] = run([instrument], _encoder(model, corpora, common), corpora, **how)
        fitted: Any = reading
        save(fitted.transformer, out, fitted.about)
    if json:
        print_json(reading.to_json())
    else:
        show.findings(reading.findings)
    sys.stderr.write(f"The transform is in {out}\n")


def survey(
    model: MODEL = DEFAULT_MODEL,
    corpus: build.CORPUS = [],  # noqa: B006
    out: build.OUT = None,
    limit: build.LIMIT = None,
    sample: build.SAMPLE = None,
    seed: build.SEED = 0,
    json: build.JSON = False,
    store: build.STORE = None,
    device: build.DEVICE = None,
    max_length: build.MAX_LENGTH = None,
    token_budget: build.TOKEN_BUDGET = None,
    transform: build.TRANSFORM = None,
) -> None:
    """Every instrument that fits."""
    if out is None:
        raise InputError("survey: say where it goes with --out DIR")
    common = {
        "corpus": corpus,
        "limit": limit,
        "sample": sample,
        "seed": seed,
        "store": store,
        "device": device,
        "max_length": max_length,
        "token_budget": token_budget,
        "transform": transform,
    }
    _survey(model, read_corpora(common, ()), common, out, json, sys.argv[1:])


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the survey goes.")] = Path("theodolite-demo"),
    json: build.JSON = False,
    store: build.STORE = None,
    studio: Annotated[
        bool, typer.Option("--studio", help="Then open it in the studio, with a classifier and a catalogue beside it.")
    ] = False,
    port: PORT = None,
    no_browser: NO_BROWSER = False,
) -> None:
    """The bundled model over the demo corpora."""
    from theodolite.demo import demo_corpora

    if studio:
        if json:
            raise InputError("demo: --json prints the survey and --studio opens it; give one of them")
        _demo_studio(out, store, port, browser=not no_browser)
        return
    common = {"seed": 0, "store": store, "device": None, "max_length": None, "token_budget": None, "transform": None}
    _survey(DEFAULT_MODEL, demo_corpora(texts_folder(store)), common, out, json, ["demo"])


def _demo_studio(out: Path, store: str | None, port: int | None, *, browser: bool) -> None:
    from theodolite.demo.studio import prepare

    check_out(out)
    kept = Store(store)
    with kept.until_saved():
        sights = prepare(out, kept, TerminalProgress(), texts_folder(store))
    open_studio(
        sights.surveys,
        models=sights.models,
        catalogues=sights.catalogues,
        port=port,
        browser=browser,
        store=store,
    )


def reproduce(
    instrument: Annotated[str, typer.Argument(help=f"Which source: {', '.join(INSTRUMENTS)}.")],
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="The folder with the source's data sets.")],
    model: Annotated[
        list[str], typer.Option("--model", help="An encoder; repeatable. The bundled one by default.")
    ] = [],  # noqa: B006
    out: build.OUT = None,
    limit: build.LIMIT = None,
    json: build.JSON = False,
    store: build.STORE = None,
) -> None:
    """Published beside measured, claim by claim."""
    from theodolite.registry import reproduction

    check_out(out)
    repeat = reproduction(instrument)
    kept = Store(store)
    with kept.until_saved():
        found = repeat(data, model or [DEFAULT_MODEL], limit=limit, store=kept, progress=TerminalProgress())
        if out is not None:
            found.save(out)
        if json:
            print_json(found.to_json())
        else:
            show.claims(found)


def _survey(
    model: str, corpora: Sequence[Corpus], common: dict[str, Any], out: Path, json: bool, command: list[str]
) -> None:
    from theodolite.registry import instrument
    from theodolite.survey import Survey

    check_out(out)
    kinds = [instrument(name) for name in INSTRUMENTS]
    asked = [kind(**{o.name: common["seed"] for o in options_of(kind) if o.name == "seed"}) for kind in kinds]
    encoder = _encoder(model, corpora, common)
    how = _how(common)
    with how["store"].until_saved():
        found = Survey.run(encoder, corpora, instruments=asked, command=["theodolite", *command], **how)
        report = found.save(out)
    if json:
        print_json({**found.manifest, "readings": {n: r.to_json() for n, r in found.readings.items()}})
    else:
        show.findings([f for r in found.readings.values() for f in r.findings], most=HEADLINES)
    for name, why in found.manifest["left_out"].items():
        sys.stderr.write(f"Left out: {name}: {why}\n")
    sys.stderr.write(f"The report is in {report.resolve()}\n")


def read_corpora(
    common: Mapping[str, Any], columns: Sequence[str], does_without: Callable[[str], bool] = lambda name: False
) -> list[Corpus]:
    """The corpora that --corpus names, with --limit, --sample and --seed.

    does_without: whether a corpus beside the first, by its name, may lack the columns.
    """
    if not common["corpus"]:
        raise InputError("no corpus: give at least one with --corpus NAME=FILE")
    how = {key: common[key] for key in ("limit", "sample", "seed")}
    cache = texts_folder(common["store"])
    corpora: list[Corpus] = []
    for spec in common["corpus"]:
        try:
            corpora.append(Corpus.parse(spec, **how, columns=columns, cache=cache))
        except MissingColumn:
            plain = Corpus.parse(spec, **how, cache=cache)
            if not corpora or not does_without(plain.name):
                raise
            corpora.append(plain)
    # Told before torch is loaded, which takes seconds; so is a wrong model.
    check_corpora(corpora)
    return corpora


def texts_folder(store: str | None) -> str | None:
    """Where texts are kept as read: in the store where that is a folder, else in the user's own."""
    return store if store and "://" not in store else None


def _names(models: Sequence[str]) -> list[str]:
    """What each model is called in a reading of them all; a wrong one is told before the first is measured."""
    from theodolite.encoder.given import NAME
    from theodolite.encoder.resolve import names_apart, resolve

    folders = {at: resolve(model) for at, model in enumerate(models) if model != NAME}
    apart = dict(zip(folders, names_apart(list(folders.values())), strict=True))
    return [apart.get(at, NAME) for at in range(len(models))]


def _encoder(model: str, corpora: Sequence[Corpus], common: dict[str, Any]) -> Any:
    from theodolite.encoder.given import NAME, GivenVectors
    from theodolite.encoder.resolve import resolve

    if model == NAME:
        if common["transform"]:
            raise InputError(
                "--transform: goes with an encoder, and vectors were given; transform them with isotropy.load"
            )
        return GivenVectors(corpora)
    resolve(model)
    from theodolite.encoder.encoder import Encoder

    how = {name: common[name] for name in ("device", "max_length", "transform")}
    return Encoder.load(model, **how)


def _how(common: dict[str, Any]) -> dict[str, Any]:
    return {
        "store": Store(common["store"]),
        "options": RunOptions(token_budget=common["token_budget"]),
        "progress": TerminalProgress(),
    }


def check_out(out: Path | None) -> None:
    """Refuse a folder that cannot be written to before the work, not after it."""
    if out is None:
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".theodolite-probe"
        probe.touch()
        probe.unlink()
    except OSError as fault:
        raise InputError(f"--out {out}: cannot be written to ({fault.strerror})") from None


def _hand_over(reading: Reading, out: Path | None, json: bool) -> None:
    if out is not None:
        reading.save(out)
    if json:
        print_json(reading.to_json())
    else:
        show.reading(reading)
    if out is not None:
        sys.stderr.write(f"The reading is in {out}\n")


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(jsonlib.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")

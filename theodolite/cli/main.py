"""The verbs, and what becomes of an error: one clear line and an exit code."""

from __future__ import annotations

import signal
import sys
from typing import Any

import typer
import typer.core

from theodolite.cli import catalogue, jobs, plant, store, studio, study, train
from theodolite.cli.build import add_verb
from theodolite.embed import Embed
from theodolite.errors import InputError
from theodolite.isotropy.fitting import Fitting
from theodolite.registry import INSTRUMENTS, instrument

# Newer versions of typer carry their own copy of click: a mistake in the options is found either way.
_ClickException: Any = typer.BadParameter.__mro__[2]

INTERRUPTED = "interrupted; the same command goes on from here"


class _Verbs(typer.core.TyperGroup):
    """Verbs of one word, and of two (`isotropy fit`), which stand beside that of the first alone."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        both = " ".join(args[:2])
        return super().resolve_command(ctx, [both, *args[2:]] if both in self.commands else args)


app = typer.Typer(
    cls=_Verbs,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Measure what a text encoder's representations really mean.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"theodolite {version('theodolite')}")
        raise typer.Exit


@app.callback()
def _theodolite(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and leave."
    ),
) -> None:
    """Measure what a text encoder's representations really mean."""


for _name in INSTRUMENTS:
    add_verb(app, instrument(_name), jobs.measure, models=True)
add_verb(app, Fitting, jobs.fit, models=False)
add_verb(app, Embed, jobs.embed, models=False)
app.command("survey", help="Run every instrument that fits the corpora: readings, figures, one report.")(jobs.survey)
app.command("demo", help="A survey of the bundled model over the demo corpora.")(jobs.demo)
app.command("studio", help="Look at surveys and ask the encoder in the browser.")(studio.studio)
app.command("reproduce", help="Repeat a source's experiment: published beside measured.")(jobs.reproduce)
app.command("plant", help="Plant a shortcut in a labelled corpus, with the truth in a column.")(plant.plant)
app.add_typer(train.app, name="train", help="Fine-tune an encoder.")
app.add_typer(catalogue.app, name="catalogue", help="Items like one another, and why.")
app.add_typer(study.app, name="study", help="People judging patterns and explanations, blind.")
app.add_typer(store.app, name="store", help="What is stored: list, remove, export.")


def main(arguments: list[str] | None = None) -> None:
    """Run a command; exit 0 done, 2 the input is at fault, 130 interrupted."""
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(_run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: list[str]) -> int:
    broken = next((a for a in arguments if not _is_text(a)), None)
    if broken is not None:
        return _say(f"{broken!r}: is not UTF-8; write it, or name the file, in UTF-8", 2)
    try:
        code = typer.main.get_command(app)(arguments or ["--help"], prog_name="theodolite", standalone_mode=False)
        # Newer versions of typer make an exit code of an interrupt, older ones an Abort.
        return _say(INTERRUPTED, 130) if code == 130 else int(code or 0)
    except InputError as fault:
        return _say(str(fault), 2)
    except _ClickException as fault:
        context = getattr(fault, "ctx", None)
        where = f"{context.command_path.removeprefix('theodolite').strip()}: " if context else ""
        return _say(f"{where.lstrip(': ')}{fault.format_message()}", 2)
    except (KeyboardInterrupt, typer.Abort):
        return _say(INTERRUPTED, 130)
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _say(message: str, code: int) -> int:
    sys.stderr.write(f"theodolite: {' '.join(message.split())}\n")
    return code


def _is_text(argument: str) -> bool:
    """Whether an argument was UTF-8: Python keeps bytes that were not as halves of surrogate pairs."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt

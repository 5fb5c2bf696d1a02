"""Readings on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from theodolite.claims import Reproduction
    from theodolite.reading import Overview, Passage, Reading

# How many words get a bar, and how many columns the longest has.
BARS, BAR = 8, 24
# Weights from this on are shown in this style.
SHADES = ((0.66, "not dim bold black on dark_orange"), (0.33, "not dim black on light_goldenrod2"))


def reading(found: Reading) -> None:
    """Its coloured texts where it has few, its overview, then the findings."""
    console = Console()
    for card in found.terminal_cards():
        console.print(escape(card.title), style="bold")
        for passage in card.passages:
            console.print(_coloured(passage))
            console.print(_bars(passage), "\n")
    for table in found.overview():
        console.print(_table(table))
    findings(found.findings)


def findings(sentences: Sequence[str], most: int | None = None) -> None:
    """One sentence a line; only the first where ``most`` says so."""
    console = Console()
    for sentence in sentences[:most]:
        console.print(f"• {escape(sentence)}", highlight=False)
    if most is not None and len(sentences) > most:
        console.print(f"… and {len(sentences) - most} more in the report")


def claims(found: Reproduction) -> None:
    """What the source found beside what was measured."""
    console = Console()
    several = len({claim.encoder for claim in found.claims}) > 1
    columns = ("claim", "published", "measured", "holds")
    table = Table(*(["encoder"] if several else []), *columns, title=found.title, show_lines=True)
    for claim in found.claims:
        holds = {True: "yes", False: "no", None: "–"}[claim.holds]
        who = [Path(claim.encoder).name] if several else []
        table.add_row(*map(escape, (*who, claim.claim, claim.published, claim.measured, holds)))
    console.print(table)


def _coloured(passage: Passage) -> Text:
    """A text whose pieces are the darker the heavier, signs in brackets after them."""
    shown = Text(f"{passage.heading}: ", style="dim")
    for number, (text, weight) in enumerate(passage.spans):
        style = next((style for least, style in SHADES if weight >= least), "")
        shown.append(text, style=style or "not dim")
        if number in passage.notes:
            shown.append(f"[{passage.notes[number]}]", style="bold not dim")
    return shown


def _bars(passage: Passage) -> Text:
    """The heaviest pieces of a text, a bar each."""
    heavy = sorted((span for span in passage.spans if span[1] > 0), key=lambda span: -span[1])[:BARS]
    room = max((cell_len(text) for text, _ in heavy), default=0)
    return Text("\n").join(
        Text.assemble(
            f"  {set_cell_size(text, room)} ", ("█" * max(1, round(BAR * weight)), "dark_orange"), f" {weight:.2f}"
        )
        for text, weight in heavy
    )


def _table(overview: Overview) -> Table:
    table = Table(title=escape(overview.title))
    for name in overview.columns:
        # Cut, two names that begin alike would be one.
        table.add_column(escape(name), overflow="fold")
    for row in overview.rows:
        table.add_row(*(escape(_cell(value)) for value in row))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)

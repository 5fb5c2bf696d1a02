"""Readings on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from theodolite.claims import Reproduction
    from theodolite.reading import Overview, Reading


def reading(found: Reading) -> None:
    """Its overview, then the findings."""
    console = Console()
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
    table = Table("claim", "published", "measured", "holds", title=found.title, show_lines=True)
    for claim in found.claims:
        holds = {True: "yes", False: "no", None: "–"}[claim.holds]
        table.add_row(*map(escape, (claim.claim, claim.published, claim.measured, holds)))
    console.print(table)


def _table(overview: Overview) -> Table:
    table = Table(*map(escape, overview.columns), title=escape(overview.title))
    for row in overview.rows:
        table.add_row(*(escape(_cell(value)) for value in row))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)

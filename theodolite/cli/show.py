"""Readings on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from theodolite.claims import Reproduction
    from theodolite.reading import Reading

MOST_ROWS = 40
MOST_COLUMNS = 12


def reading(found: Reading) -> None:
    """The tables that fit a screen, then the findings."""
    console = Console()
    for name, table in found.tables.items():
        rows = table.to_pylist()
        if len(rows) <= MOST_ROWS:
            console.print(_table(name, rows))
    findings(found.findings)


def findings(sentences: Sequence[str]) -> None:
    """One sentence a line."""
    console = Console()
    for sentence in sentences:
        console.print(f"• {escape(sentence)}", highlight=False)


def claims(found: Reproduction) -> None:
    """What the source found beside what was measured."""
    console = Console()
    table = Table("claim", "published", "measured", "holds", title=found.title, show_lines=True)
    for claim in found.claims:
        holds = {True: "yes", False: "no", None: "–"}[claim.holds]
        table.add_row(*map(escape, (claim.claim, claim.published, claim.measured, holds)))
    console.print(table)


def _table(name: str, rows: list[dict[str, Any]]) -> Table:
    shown = (
        [c for c in rows[0] if not c.endswith(("_low", "_high")) and not isinstance(rows[0][c], list)] if rows else []
    )
    constant = [
        c for c in shown if len({str(r[c]) for r in rows}) == 1 and len(rows) > 1 and isinstance(rows[0][c], str)
    ]
    shown = [c for c in shown if c not in constant][:MOST_COLUMNS]
    title = ", ".join([name, *(str(rows[0][c]) for c in constant)]) if rows else name
    table = Table(*(c.replace("_", " ") for c in shown), title=escape(title))
    for row in rows:
        table.add_row(*(escape(_cell(row[c])) for c in shown))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)

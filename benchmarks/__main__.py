"""`python -m benchmarks`: run them and print the table."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.row import Row
from benchmarks.settings import BESIDE, Settings, missing

NAMES = (
    "forward",
    "gradient",
    "contextuality",
    "growth",
    "illusion",
    "salience",
    "kills",
    "isotropy",
    "similarity",
    "studio",
    "answers",
)
MARKS = {True: "[green]yes[/]", False: "[red]no[/]", None: ""}


def main() -> int:
    """Exit 0 when measured, whatever the ratios; 2 when the input is at fault."""
    options = _options()
    fault = missing(options.data)
    if fault:
        print(fault, file=sys.stderr)
        return 2
    settings = Settings(options.data.resolve(), options.quick)
    machine = import_module("benchmarks.machine").about()
    rows = [(name, row) for name in options.names or NAMES for row in _measured(name, settings)]
    if options.json:
        print(json.dumps({"quick": options.quick, "machine": machine, "rows": [r.as_json(n) for n, r in rows]}))
    else:
        _show(rows, machine, options.quick)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Ratios to peers and to the machine.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {', '.join(NAMES)} (all by default)")
    parser.add_argument("--quick", action="store_true", help="fewer texts and rounds: rough, and for trying out")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--data", type=Path, default=BESIDE, metavar="DIR", help="data sets (default: %(default)s)")
    options = parser.parse_args()
    for name in options.names:
        if name not in NAMES:
            parser.error(f"no benchmark is called '{name}'; there are {', '.join(NAMES)}")
    return options


def _measured(name: str, settings: Settings) -> list[Row]:
    """The benchmark's rows, each also told at once: a run takes minutes, and a later row may fail."""
    print(f"{name} …", file=sys.stderr, flush=True)
    rows = []
    for row in import_module(f"benchmarks.{name}").run(settings):
        print(f"  {row.what}: {row.value:.2f} {row.unit}", file=sys.stderr, flush=True)
        rows.append(row)
    return rows


def _show(rows: list[tuple[str, Row]], machine: dict[str, Any], quick: bool) -> None:
    about = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in machine.items())
    table = Table(title=f"Theodolite benchmarks{' (quick)' if quick else ''}", caption=about)
    for heading in ("what", "measured", "target", "met", "how"):
        table.add_column(heading, justify="right" if heading == "measured" else "left")
    for _, row in rows:
        table.add_row(row.what, f"{row.value:.2f} {row.unit}", row.target, MARKS[row.met], row.note)
    console = Console()
    # Piped into a file there is no terminal to fit in, and a narrow guess would break every line.
    Console(width=None if console.is_terminal else 200).print(table)


if __name__ == "__main__":
    sys.exit(main())

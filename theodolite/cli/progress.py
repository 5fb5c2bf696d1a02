"""Progress on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

LINE_EVERY_SECONDS = 30.0


class TerminalProgress:
    """How much is done of all (texts, mostly), rate and time left."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar: RichProgress | None = None
        self._title, self._total, self._done, self._began, self._said = "", 0, 0, 0.0, 0.0

    @contextmanager
    def step(self, title: str, total: int) -> Iterator[None]:
        """Show a step until it ends."""
        self._title, self._total, self._done = title, total, 0
        self._began = self._said = time.monotonic()
        if not self._console.is_terminal:
            yield
            return
        columns = (
            TextColumn("{task.description:>10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        with RichProgress(*columns, console=self._console, transient=True) as bar:
            self._bar = bar
            self._task = bar.add_task(title, total=total, rate="")
            try:
                yield
            finally:
                self._bar = None

    def advance(self, texts: int) -> None:
        """Say that more is done."""
        self._done += texts
        now = time.monotonic()
        rate = self._done / max(now - self._began, 1e-9)
        if self._bar is not None:
            self._bar.update(self._task, advance=texts, rate=f"{rate:,.0f}/s")
        elif now - self._said >= LINE_EVERY_SECONDS:
            self._said = now
            left = (self._total - self._done) / max(rate, 1e-9)
            sys.stderr.write(f"{self._title}: {self._done:,} of {self._total:,}, {rate:,.0f}/s, {left:,.0f} s left\n")
            sys.stderr.flush()

"""What a benchmark measures: rows of a table, with the target of each where it has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One measured value; a row without a target is there to be read, not to be judged."""

    what: str
    value: float
    unit: str = "×"
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.at_least is None and self.at_most is None:
            return None
        high_enough = self.at_least is None or self.value >= self.at_least
        return high_enough and (self.at_most is None or self.value <= self.at_most)

    @property
    def target(self) -> str:
        """The target in words."""
        if self.at_least is not None:
            return f"≥ {self.at_least:g} {self.unit}"
        return f"≤ {self.at_most:g} {self.unit}" if self.at_most is not None else ""

    def as_json(self, benchmark: str) -> dict[str, Any]:
        """For `--json`."""
        return {
            "benchmark": benchmark,
            "what": self.what,
            "value": self.value,
            "unit": self.unit,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "met": self.met,
            "note": self.note,
        }

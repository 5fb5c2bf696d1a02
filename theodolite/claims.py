"""A source's claims beside what was measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from theodolite.reading import Reading, plain, write_json


@dataclass(frozen=True)
class Claim:
    """What a source found, what was measured here, and whether it holds (None: it cannot be told)."""

    encoder: str
    claim: str
    published: str
    measured: str
    holds: bool | None


@dataclass(frozen=True)
class Reproduction:
    """The claims of a source, checked, with the readings they were checked on."""

    title: str
    claims: list[Claim]
    reading: Reading

    def to_json(self) -> dict[str, Any]:
        """The claims and the reading's manifest."""
        found: dict[str, Any] = plain(
            {
                "title": self.title,
                "claims": [asdict(c) for c in self.claims],
                "findings": self.reading.findings,
                "manifest": self.reading.manifest,
            }
        )
        return found

    def save(self, folder: str | Path) -> Path:
        """Write ``claims.json`` and the reading."""
        out = self.reading.save(folder)
        write_json(out / "claims.json", self.to_json())
        return out

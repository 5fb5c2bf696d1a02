"""How much is held in memory at a time."""

from __future__ import annotations

CHUNK_ROWS = 4096
"""Rows of a source."""
CHUNK_BYTES = 16 << 20
"""A chunk of lines ends early where they are long."""
SCAN_ROWS = 1 << 15
"""Rows of a finished corpus."""

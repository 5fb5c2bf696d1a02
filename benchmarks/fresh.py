"""A measurement in a process of its own, whose peak memory is then its own too."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def in_fresh_process(module: str, *arguments: object) -> dict[str, Any]:
    """Run ``python -m MODULE ARGUMENTS``; the JSON object on its last line."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found

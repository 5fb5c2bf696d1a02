"""Builds the studio's pages into the package; where that cannot be, the package is built without them and says so."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PagesHook(BuildHookInterface[Any]):
    """Runs before every wheel (an editable one too) and every source distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the pages if they are missing or older than their sources."""
        pages = _pages_tool(Path(self.root))
        try:
            pages.ensure_pages()
        except pages.Unbuilt as fault:
            if pages.must_not_pass(fault):
                raise
            self.app.display_warning(f"The studio's pages were not built: {fault}. ({pages.WITHOUT.capitalize()}.)")


def _pages_tool(root: Path) -> ModuleType:
    place = root / "tools" / "pages.py"
    spec = importlib.util.spec_from_file_location("pages", place)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    sys.modules["pages"] = tool
    spec.loader.exec_module(tool)
    return tool

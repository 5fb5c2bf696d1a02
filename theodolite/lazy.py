"""Names of a package that are imported when first used, so that whoever needs only some waits only for those."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A package's ``__getattr__`` and ``__dir__``; homes: the module of each name, from the root or as ``.module``.

    >>> get, names = lazily("theodolite", {"InputError": ".errors"})
    >>> get("InputError").__module__
    'theodolite.errors'
    """

    def resolved(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name], package), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return resolved, names

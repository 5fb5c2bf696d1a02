"""Options declared once, as fields of a dataclass, for Python, the command line and the studio's forms."""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import dataclass
from typing import Any

from theodolite.errors import InputError

# What scikit-learn, UMAP and transformers take.
LARGEST_SEED = 2**32 - 1


def option(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] = (),
    metavar: str = "",
) -> Any:
    """A dataclass field that is an option, with the sentence that explains it everywhere.

    >>> @dataclass(frozen=True)
    ... class Sieve:
    ...     mesh: int = option(5, "Width of the mesh.", minimum=1)
    >>> options_of(Sieve)[0].help
    'Width of the mesh.'
    """
    metadata = {"help": help, "minimum": minimum, "maximum": maximum, "choices": choices, "metavar": metavar}
    return dataclasses.field(default=default, metadata=metadata)


def seed_option() -> Any:
    """The field ``seed`` of whatever chooses at random."""
    return option(0, "Seed of every random choice.", minimum=0, maximum=LARGEST_SEED)


@dataclass(frozen=True)
class Option:
    """One declared option: what a form or a command line needs to offer it."""

    name: str
    type: Any
    default: Any
    help: str
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    metavar: str

    @property
    def many(self) -> bool:
        """Whether it may be given several times (a tuple of strings)."""
        return typing.get_origin(self.type) is tuple

    @property
    def schema(self) -> dict[str, Any]:
        """The option as a JSON Schema property."""
        kinds = {int: "integer", float: "number", bool: "boolean", str: "string"}
        found: dict[str, Any] = {"description": self.help, "default": self.default}
        if self.many:
            found |= {"type": "array", "items": {"type": "string"}, "default": list(self.default)}
        else:
            found["type"] = kinds[self.base]
        found |= {name: end for name in ("minimum", "maximum") if (end := getattr(self, name)) is not None}
        if self.choices:
            found["enum"] = list(self.choices)
        return found

    @property
    def base(self) -> type:
        """Its plain type, None aside."""
        if isinstance(self.type, types.UnionType):
            return next(t for t in typing.get_args(self.type) if t is not type(None))
        return typing.cast(type, self.type)


def options_of(declaration: type[Any]) -> list[Option]:
    """The options that a dataclass declares, in order."""
    hints = typing.get_type_hints(declaration)
    return [
        Option(f.name, hints[f.name], f.default, **f.metadata)
        for f in dataclasses.fields(declaration)
        if "help" in f.metadata
    ]


def check_options(instance: Any) -> None:
    """Refuse a value outside what its option declares; for ``__post_init__``."""
    for declared in options_of(type(instance)):
        value = getattr(instance, declared.name)
        flag = f"--{declared.name.replace('_', '-')}"
        if declared.choices and value not in declared.choices:
            raise InputError(f"{flag} {value}: not one of {', '.join(declared.choices)}")
        if declared.minimum is not None and value is not None and value < declared.minimum:
            raise InputError(f"{flag} {value}: must be at least {declared.minimum:g}")
        if declared.maximum is not None and value is not None and value > declared.maximum:
            raise InputError(f"{flag} {value}: must be at most {declared.maximum}")

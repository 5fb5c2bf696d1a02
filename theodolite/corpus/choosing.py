"""Which of a source's columns are read, and as what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from theodolite.corpus.columns import Column, column_for, in_order
from theodolite.corpus.source import Source
from theodolite.errors import InputError, MissingColumn


def choose_columns(
    source: Source, names: Sequence[str], texts: Sequence[str], *, all_known: bool = True
) -> dict[str, Column]:
    """The table's columns, in order. The text is guessed where it is not named.

    names: the source's columns; texts: those of them that look like texts. all_known: whether a column that
    is not among the names is missing for good.
    """
    asked = dict(source.columns)
    if "text" not in asked:
        likely = [name for name in ("text", "sentence") if name in names][:1] or texts
        if len(likely) != 1:
            why = "several columns could be the text" if likely else "no column looks like text"
            raise InputError(f"{source.path}: {why} (it has: {_listed(names)}); name one with ?text=COLUMN")
        asked["text"] = likely[0]
    for role, name in asked.items():
        if all_known and name not in names:
            raise missing_column(source.path, role, name, names)
        if names.count(name) > 1:
            raise InputError(f"{source.path}: several columns are called {name!r}; rename one")
    return {role: column_for(role, asked[role]) for role in in_order(asked)}


def missing_column(place: str, role: str, name: str, names: Iterable[str]) -> MissingColumn:
    """The error that a place lacks the column asked for, and has others."""
    there = _listed(names)
    return MissingColumn(f"{place}: no column {name!r} (it has: {there}); name one with ?{role}=COLUMN")


def _listed(names: Iterable[str]) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown[:50] + ["…"] * (len(shown) > 50))

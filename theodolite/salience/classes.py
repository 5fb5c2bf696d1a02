"""True classes of a corpus, and the part of it that is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
import regex

from theodolite.corpus import Corpus
from theodolite.corpus.labels import class_numbers, is_missing, whole
from theodolite.errors import InputError
from theodolite.salience.maps import UNLABELLED, Ints
from theodolite.salience.markers import marker

# What says that a text has not got the marker of a column.
NOTHING = ("", "0", "false")


def classes_of(corpus: Corpus, names: Sequence[str], whose: str) -> Ints:
    """(rows,) the class of each text's label, -1 where it has none; names: of the classes; whose they are."""
    if "label" not in corpus.table.column_names:
        return np.full(len(corpus), UNLABELLED)
    return class_numbers(corpus.column("label").to_pylist(), names, whose, corpus.name)


def values_of(corpus: Corpus) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(rows,) labels as numbers, NaN where there is none, or no finite one: of a regression."""
    found = np.full(len(corpus), np.nan)
    if "label" not in corpus.table.column_names:
        return found
    for row, label in enumerate(corpus.column("label").to_pylist()):
        try:
            found[row] = np.nan if is_missing(label) else float(label)
        except ValueError:
            raise InputError(
                f"{corpus.name}, row {row + 1}: the label {label!r} is no number, and the model is a regression"
            ) from None
    return np.where(np.isfinite(found), found, np.nan)


def chosen(corpus: Corpus, where: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """(rows,) whether a text is in the slice: COLUMN=VALUE, or a word that it must mention."""
    if not where:
        return np.ones(len(corpus), bool)
    name, equals, value = where.partition("=")
    if equals:
        strings = pc.cast(corpus.column(name), "string").to_pylist()
        found = np.array([text == value for text in strings])
        what = f"column '{name}' is '{value}' in none of its rows"
    else:
        mentions = regex.compile(rf"(?<!\w){regex.escape(where)}(?!\w)", regex.IGNORECASE)
        found = np.array([any(map(mentions.search, texts)) for texts in _both(corpus)])
        what = f"'{where}' is in none of its texts"
    if not found.any():
        raise InputError(f"--where {where}: {corpus.name}: {what}")
    return found


def marked(corpus: Corpus, spec: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """(rows,) whether a text has the marker: column:NAME=VALUE, column:NAME (not empty, 0 or false), `rating`, or a
    regular expression. Capitals do not count in a column.
    """
    column = marker_column(spec)
    if column is not None:
        values = [_said(value) for value in corpus.column(column).to_pylist()]
        _, equals, wanted = spec.partition("=")
        return np.array([value == _said(wanted) if equals else value not in NOTHING for value in values], bool)
    shows = marker(spec)
    return np.array([any(map(shows, texts)) for texts in _both(corpus)])


def _both(corpus: Corpus) -> Iterator[tuple[str, ...]]:
    """Each row's text, of a pair both."""
    sides = [side for side in (corpus.texts(), corpus.texts_b()) if side is not None]
    return zip(*sides, strict=True)


def marker_column(spec: str) -> str | None:
    """The column that a marker is in; None where it is in the texts.

    >>> marker_column("column:truth=0"), marker_column("rating")
    ('truth', None)
    """
    return spec.removeprefix("column:").partition("=")[0] if spec.startswith("column:") else None


def _said(value: Any) -> str:
    """A value as text without capitals; nothing where there is none."""
    return "" if is_missing(value) else str(whole(value)).strip().casefold()

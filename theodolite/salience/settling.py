"""A run's options held against the model and the texts: what they cannot give is told before the long work begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theodolite.corpus import Corpus
from theodolite.encoder.maps import Question
from theodolite.errors import InputError
from theodolite.salience.asking import AUTO, AUTOMATIC
from theodolite.salience.classes import chosen, classes_of, marked, marker_column, values_of
from theodolite.salience.maps import UNLABELLED, Ints
from theodolite.salience.markers import in_one_line
from theodolite.salience.terms import read_terms

if TYPE_CHECKING:
    from theodolite.encoder.classifier import Classifier
    from theodolite.salience.instrument import Salience

Mask = NDArray[np.bool_]

ERRORS = "errors"


@dataclass(frozen=True)
class Settled:
    """The options as this model and these corpora take them; questions: one a target.

    within: each, all, or the name of a class; toward: the class of the terms; near: the class that neighbours must
    have, None where any will do. By corpus and row: classes, the true ones; looked_at, the slice; marked, empty where
    no marker was given. lists: the terms of each file of them.
    """

    questions: tuple[Question, ...]
    within: str
    toward: int
    near: int | None
    classes: dict[str, Ints]
    looked_at: dict[str, Mask]
    marked: dict[str, Mask]
    lists: dict[str, tuple[str, ...]]


def settle(asked: Salience, model: Classifier, corpora: Sequence[Corpus]) -> Settled:
    """Everything that can be refused without a map is refused here."""
    questions = tuple(Question(asked.method, target, asked.of) for target in asked.target)
    for question in questions:
        model.check(question)
    if asked.sensitivity and model.regression:
        raise InputError(f"--sensitivity: asks about a class, and {model.name} is a regression, which has none")
    if (asked.faithful or asked.sensitivity) and model.tokenizer.mask_id is None:
        without = " and without --sensitivity" if asked.sensitivity else ""
        raise InputError(f"{model.name}: its tokenizer has no mask token; ask with --faithful 0{without}")
    what, wanted = asked.neighbours_wanted
    within = asked.within
    found = Settled(
        questions,
        within if within in ("each", "all") else model.labels[_class(model, within, "--within")],
        _class(model, asked.toward, "--toward") if asked.toward else len(model.labels) - 1,
        _class(model, wanted, "--neighbours-with") if what else None,
        {c.name: _classes(c, model) for c in corpora},
        {c.name: chosen(c, "" if i and c.name == asked.among else asked.where or "") for i, c in enumerate(corpora)},
        {c.name: _marked(c, asked, i > 0) for i, c in enumerate(corpora)} if asked.marker else {},
        {name: _terms_in(name) for name in asked.sensitivity if name != AUTO},
    )
    if asked.marker and not any(has.any() for has in found.marked.values()):
        raise InputError(f"--marker {in_one_line(asked.marker)}: no text has it")
    if found.near is not None:
        _check_near(asked, model, next(c for c in corpora if c.name == (asked.among or corpora[0].name)), found)
    for given in asked.neighbours:
        _check_asked(given, model, corpora[0], found)
    return found


def _terms_in(name: str) -> tuple[str, ...]:
    """The terms of a file, whose list goes by its name."""
    if name in AUTOMATIC:
        raise InputError(f"--sensitivity {name}: a list of auto is called that; if it is a file, give it as ./{name}")
    return read_terms(name)


def _marked(corpus: Corpus, asked: Salience, beside: bool) -> Mask:
    """Which texts have the marker; none of a corpus beside the first that lacks its column and may."""
    column = marker_column(asked.marker or "")
    if beside and asked.does_without(corpus.name) and column not in (None, *corpus.table.column_names):
        return np.zeros(len(corpus), bool)
    return marked(corpus, asked.marker or "")


def _check_near(asked: Salience, model: Classifier, among: Corpus, found: Settled) -> None:
    flag = f"--neighbours-with {asked.neighbours_with}"
    if model.regression:
        raise InputError(f"{flag}: {model.name} is a regression, which has no classes; leave it out")
    if asked.neighbours_wanted[0] == "label" and not (found.classes[among.name] == found.near).any():
        raise InputError(f"{flag}: no text of {among.name} has that label; read it with ?label=COLUMN")


def _check_asked(given: str, model: Classifier, corpus: Corpus, found: Settled) -> None:
    if given == ERRORS:
        if model.regression:
            raise InputError(f"--neighbours errors: {model.name} is a regression, without wrong answers; give rows")
        if (found.classes[corpus.name] == UNLABELLED).all():
            raise InputError(f"--neighbours errors: no text of {corpus.name} has a label; read it with ?label=COLUMN")
        return
    row = int(given) if given.isdecimal() else len(corpus)
    if row >= len(corpus) or corpus.empty[row] or not found.looked_at[corpus.name][row]:
        raise no_such_row(given, corpus)


def no_such_row(given: str, corpus: Corpus) -> InputError:
    """What is said of a text whose neighbours are wanted and that has no map."""
    return InputError(f"--neighbours {given}: no row of {corpus.name} with a map has that number")


def _class(model: Classifier, given: str, flag: str) -> int:
    return model.class_of(int(given) if given.isdecimal() and given not in model.labels else given, flag)


def _classes(corpus: Corpus, model: Classifier) -> Ints:
    if model.regression:
        # They are no classes; refused here where one is no number.
        values_of(corpus)
        return np.full(len(corpus), UNLABELLED)
    return classes_of(corpus, model.labels, model.name)

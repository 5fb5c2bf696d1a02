"""The answers of a study with their key, for its owner: a row an answer or, of annotation, a pattern."""

from __future__ import annotations

import pyarrow as pa

from theodolite.study.answers import Given, with_key
from theodolite.study.database import Database
from theodolite.study.judged import Row


def answers_table(database: Database, study_id: int) -> pa.Table:
    """Every answer that counts: item, annotator, what was said, when, and the item's key (columns ``key_…``)."""
    rows = [row for given, key in with_key(database, study_id) for row in _rows(given, key)]
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def _rows(given: Given, key: Row) -> list[Row]:
    head: Row = {
        "answer": given.answer_id,
        "item": key["id"],
        "annotator": given.annotator,
        "kind": given.kind,
        "submitted_at": given.submitted_at,
        "seconds": given.seconds,
    }
    hidden = {f"key_{name}": value for name, value in key.items() if name != "id"}
    said = {name: value for name, value in given.answer.items() if name not in ("kind", "patterns")}
    if "patterns" not in given.answer:
        return [head | said | hidden]
    places = enumerate(given.answer["patterns"]) if given.answer["patterns"] else [(None, {})]
    return [
        head | said | {"place": place, "name": one.get("name"), "sentences": one.get("sentences")} | hidden
        for place, one in places
    ]

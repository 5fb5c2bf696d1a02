"""Explanations as tables: one row a pair and method for the store, flat ones for people, the spec's form for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from theodolite.reading import plain
from theodolite.similarity.explanation import Explanation, Matches, Side
from theodolite.similarity.methods import INTEGRATED

Row = dict[str, Any]

_LISTS = {
    **{f"{name}_{side}": pa.list_(pa.int32()) for side in "ab" for name in ("start", "end")},
    **{f"saliency_{side}": pa.list_(pa.float64()) for side in "ab"},
    **{name: pa.list_(pa.int32()) for name in ("index_a", "index_b", "cluster")},
    **{name: pa.list_(pa.float64()) for name in ("similarity", "score")},
    "chosen": pa.list_(pa.bool_()),
    **{f"vector_{side}": pa.list_(pa.float32()) for side in "ab"},
}
SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("method", pa.string()),
        *((name, pa.float64()) for name in ("value", "cosine", "cosine_own", "completeness_error")),
        ("same", pa.bool_()),
        *_LISTS.items(),
    ]
)


def kept(explanations: Iterable[tuple[int, Explanation]]) -> pa.Table:
    """One row for each pair (under its number) and method, words and pairs as lists."""
    rows = [
        {
            "row": number,
            "method": method,
            "value": found.value,
            "cosine": found.cosine,
            "cosine_own": found.cosine_own,
            "completeness_error": found.completeness_error if method == INTEGRATED else np.nan,
            "same": found.same,
            **_of_side("a", found.a, method),
            **_of_side("b", found.b, method),
            **{name: getattr(matches, name) for name in Matches.__dataclass_fields__},
        }
        for number, found in explanations
        for method, matches in found.matches.items()
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def _of_side(side: str, of: Side, method: str) -> Row:
    given = {"start": of.start, "end": of.end, "saliency": of.saliency[method], "vector": of.vector}
    return {f"{name}_{side}": values for name, values in given.items()}


def in_json(row: Mapping[str, Any], text_a: str, text_b: str) -> Row:
    """A row of ``kept`` as the JSON has it: words with places and saliencies, pairs with their scores."""
    words = {side: list(_words(row, side, text)) for side, text in (("a", text_a), ("b", text_b))}
    names = ("index_a", "index_b", "similarity", "score", "cluster", "chosen")
    pairs = [
        {
            "a": words["a"][values[0]]["word"],
            "b": words["b"][values[1]]["word"],
            **dict(zip(names, values, strict=True)),
        }
        for values in zip(*(row[name] for name in names), strict=True)
    ]
    found: Row = {key: row[key] for key in ("cosine", "cosine_own", "method", "value", "same")}
    found |= {"words_a": words["a"], "words_b": words["b"], "pairs": pairs}
    if not np.isnan(row["completeness_error"]):
        found["completeness_error"] = row["completeness_error"]
    return dict(plain(found))


def _words(row: Mapping[str, Any], side: str, text: str) -> Iterator[Row]:
    columns = (row[f"{name}_{side}"] for name in ("start", "end", "saliency"))
    for start, end, saliency in zip(*columns, strict=True):
        yield {"word": text[start:end], "start": start, "end": end, "saliency": saliency}


def flat(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The words and the pairs of words as two tables, of ``kept`` with columns `corpus`, `text_a` and `text_b`."""
    words = pa.concat_tables([_flat_words(table, side) for side in "ab"]).sort_by(
        [("corpus", "ascending"), ("row", "ascending"), ("method", "ascending"), ("side", "ascending")]
    )
    names = ("index_a", "index_b", "similarity", "score", "cluster", "chosen")
    columns = {name: table[name].combine_chunks().flatten() for name in names}
    of = _owners(table, "index_a")
    for side in "ab":
        begin = np.concatenate([[0], np.cumsum(pc.list_value_length(table[f"start_{side}"]).to_numpy())])[of]
        every = pa.array(_strings(table, side), pa.string())
        columns[side] = every.take(pa.array(begin + columns[f"index_{side}"].to_numpy()))
    order = ("a", "b", *names)
    pairs = table.select(["corpus", "row", "method"]).take(pa.array(of))
    for name in order:
        pairs = pairs.append_column(name, columns[name])
    return words, pairs


def _flat_words(table: pa.Table, side: str) -> pa.Table:
    of = _owners(table, f"start_{side}")
    found = table.select(["corpus", "row", "method"]).take(pa.array(of))
    index = np.arange(len(of)) - np.searchsorted(of, of)
    columns: dict[str, Any] = {
        "side": pa.array([side] * len(of), pa.string()),
        "index": pa.array(index, pa.int32()),
        "word": pa.array(_strings(table, side), pa.string()),
        **{name: table[f"{name}_{side}"].combine_chunks().flatten() for name in ("start", "end", "saliency")},
    }
    for name, values in columns.items():
        found = found.append_column(name, values)
    return found


def _owners(table: pa.Table, name: str) -> Any:
    """(entries,) the row of each entry of a list column."""
    return np.repeat(np.arange(len(table)), pc.list_value_length(table[name]).to_numpy())


def _strings(table: pa.Table, side: str) -> list[str]:
    texts = table[f"text_{side}"].to_pylist()
    spans = (table[f"{name}_{side}"].combine_chunks().flatten().to_pylist() for name in ("start", "end"))
    owners = _owners(table, f"start_{side}").tolist()
    return [texts[of][start:end] for of, start, end in zip(owners, *spans, strict=True)]

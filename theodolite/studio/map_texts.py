"""The texts of a map's points: a page of them, those that hold some words, and all of a selection as a file."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from theodolite.errors import InputError
from theodolite.reading import csv_text
from theodolite.studio.map_colours import Coloured
from theodolite.studio.map_models import PointText
from theodolite.studio.map_points import MapPoints
from theodolite.studio.workspace import Opened

Ints = NDArray[np.int64]
AT_ONCE = 5000
MEDIA = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}


class MapTexts:
    """Texts by point, taken from the corpora's memory maps."""

    def __init__(self, opened: Opened, points: MapPoints, colours: Mapping[str, Coloured]) -> None:
        self._points = points
        self._corpora = [opened.corpus(name) for name in points.corpora]
        self._colours = {id: one for id, one in colours.items() if one.about.kind == "categories" and id != "corpus"}

    def page(self, asked: Sequence[int], longest: int) -> list[PointText]:
        """Some points with their texts, in the order asked for."""
        which = np.array(asked, np.int64)
        if len(which) and not 0 <= which.min() <= which.max() < len(self._points):
            raise InputError(f"the points of this map go from 0 to {len(self._points) - 1}")
        table = self._rows(which)
        return [
            PointText(
                point=int(point),
                values={name: row[id] for id, name in self._titles().items() if row[id] is not None},
                **{key: row[key] for key in ("corpus", "row", "position", "x", "y")},
                text=None if row["text"] is None else row["text"][:longest],
                length=len(row["text"] or ""),
            )
            for point, row in zip(which, table.to_pylist(), strict=True)
        ]

    def holding(self, sought: str) -> Ints:
        """The points whose text holds these characters, in whatever case."""
        by_row: list[NDArray[Any] | None] = [
            None
            if corpus is None
            else pc.match_substring(corpus.table["text"], sought, ignore_case=True).to_numpy(zero_copy_only=False)
            for corpus in self._corpora
        ]
        return np.flatnonzero(self._points.spread(by_row, False, "bool"))

    def file(self, points: Ints, kind: str, scores: Mapping[str, NDArray[np.float32]]) -> Iterator[bytes]:
        """Points with texts, places, categories and scores, as a CSV, JSON lines or Parquet file, a piece at a time."""
        pieces = (self._scored(points[i : i + AT_ONCE], scores) for i in range(0, max(len(points), 1), AT_ONCE))
        return {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet}[kind](pieces)

    def _titles(self) -> dict[str, str]:
        return {id: one.about.title for id, one in self._colours.items()}

    def _scored(self, points: Ints, scores: Mapping[str, NDArray[np.float32]]) -> pa.Table:
        table = self._rows(points)
        if self._points.positions is None:
            table = table.drop_columns("position")
        for name, values in scores.items():
            table = table.append_column(name, pa.array(values[points], from_pandas=True))
        return table

    def _rows(self, points: Ints) -> pa.Table:
        """A row a point: corpus, row, position, x, y, text, and its category in each colouring."""
        mine = self._points
        texts: NDArray[Any] = np.full(len(points), None, object)
        for number, corpus in enumerate(self._corpora):
            here = np.flatnonzero(mine.corpus[points] == number)
            if corpus is not None and len(here):
                texts[here] = corpus.table["text"].take(pa.array(mine.rows[points[here]])).to_pylist()
        names = np.array(mine.corpora, object)
        columns: dict[str, Any] = {
            "corpus": pa.array(names[mine.corpus[points]], pa.string()),
            "row": mine.rows[points],
            "position": pa.nulls(len(points), pa.int64()) if mine.positions is None else mine.positions[points],
            "x": mine.x[points],
            "y": mine.y[points],
            "text": pa.array(texts, pa.large_string()),
        }
        for id, one in self._colours.items():
            columns[id] = pa.array(one.names(points), pa.string())
        return pa.table(columns)


def chosen(bits: bytes, count: int) -> Ints:
    """The points whose bit is set; of each byte the lowest bit comes first.

    >>> chosen(bytes([0b00000101]), 3).tolist()
    [0, 2]
    """
    if len(bits) != (count + 7) // 8:
        raise InputError(f"a selection of {count} points is {(count + 7) // 8} bytes, a bit a point, not {len(bits)}")
    return np.flatnonzero(np.unpackbits(np.frombuffer(bits, np.uint8), count=count, bitorder="little"))


def _csv(pieces: Iterator[pa.Table]) -> Iterator[bytes]:
    for number, table in enumerate(pieces):
        yield csv_text(table, heading=number == 0).encode()


def _jsonl(pieces: Iterator[pa.Table]) -> Iterator[bytes]:
    for table in pieces:
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist()).encode()


def _parquet(pieces: Iterator[pa.Table]) -> Iterator[bytes]:
    out = io.BytesIO()
    first = next(pieces)
    with pq.ParquetWriter(out, first.schema) as writer:
        for table in chain([first], pieces):
            writer.write_table(table)
    yield out.getvalue()

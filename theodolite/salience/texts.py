"""The table of all texts that were looked at: what is known of each, one row a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.salience.analysis import Analysis, Grouping
from theodolite.salience.keeping import StoredMaps


def texts_table(
    firsts: Mapping[str, Analysis],
    representation: str,
    groupings: Sequence[tuple[Analysis, Grouping]],
    *,
    places: Mapping[str, NDArray[np.float32]],
    marked: Mapping[str, NDArray[np.bool_]],
    integrated: Mapping[str, StoredMaps],
) -> pa.Table:
    """Every text: label (of a regression, value), answer, probability, its cluster in the representation; where given,
    whether it is marked, the steps and the completeness error of its integrated gradients, and its place on the map.

    firsts: each corpus's maps by the first method; the others are by corpus too, empty where not asked for.
    """
    parts = []
    for name, analysis in firsts.items():
        maps = analysis.maps
        number = np.full(len(maps), -1)
        for owner, found in groupings:
            if owner is analysis and found.space.name == representation:
                number[found.texts] = found.labels
        columns: dict[str, Any] = {
            "corpus": [name] * len(maps),
            "row": maps.rows,
            # A column of nothing but None would have no type, and not go with another corpus's.
            "label": pa.array([analysis.class_name(int(n)) for n in maps.labels], pa.string()),
            "answer": [analysis.answer(i) for i in range(len(maps))],
            "probability": maps.probabilities.max(axis=1) if maps.classes > 1 else np.full(len(maps), np.nan),
            "cluster": number,
        }
        if analysis.values is not None:
            columns["value"] = analysis.values
        if name in marked:
            columns["marked"] = marked[name][maps.rows]
        if name in integrated:
            steps, error = integrated[name].errors(maps.rows)
            columns |= {"steps": steps, "completeness_error": error}
        if name in places:
            columns |= {"x": places[name][:, 0], "y": places[name][:, 1]}
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)

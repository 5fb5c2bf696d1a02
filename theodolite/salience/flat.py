"""A corpus's maps as one plain table, a row a token, for whoever wants to go on with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from theodolite.salience.analysis import Analysis


def maps_by_token(analysis: Analysis) -> pa.Table:
    """`corpus`, `method`, `row`, `position` (in the text, special tokens counted), `token`, `start`, `end`, `side` (0
    special, 1 first text, 2 second), `salience`. A special token has no characters: start and end are -1.
    """
    maps = analysis.maps
    items, which = np.unique(maps.ids, return_inverse=True)
    names = [analysis.vocabulary.model.tokenizer.piece(int(item)) for item in items]
    columns: dict[str, Any] = {
        "corpus": _repeated(analysis.corpus.name, len(maps.ids)),
        "method": _repeated(analysis.method, len(maps.ids)),
        "row": maps.rows[maps.text_of],
        "position": (np.arange(len(maps.ids)) - maps.bounds[maps.text_of]).astype(np.int32),
        "token": _dictionary(which, names),
        "start": maps.start,
        "end": maps.end,
        "side": maps.side,
        "salience": maps.weights,
    }
    return pa.table(columns)


def _repeated(value: str, times: int) -> pa.DictionaryArray:
    return _dictionary(np.zeros(times, np.int32), [value])


def _dictionary(which: Any, names: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(which, pa.int32()), pa.array(names, pa.string()))

"""A classifier's answers kept in the store, so that what asks it many times goes on where it was interrupted."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.instrument import Subject
from theodolite.store import Recipe

if TYPE_CHECKING:
    from theodolite.encoder.tokens import Tokens


class KeptAnswers:
    """Tokens of n texts to logits (n, classes): found in the store, or asked of the model and put there.

    One call is one table: an interruption loses the call under way, a second run asks nothing.
    """

    def __init__(self, subject: Subject) -> None:
        self._model: Any = subject.model
        self._how = {} if subject.token_budget is None else {"budget": subject.token_budget}
        self._store = subject.store
        self._recipe = Recipe("answers", subject.encoder, subject.identity)

    def __call__(self, tokens: Tokens) -> NDArray[np.float32]:
        """The logits, NaN where a text has no tokens."""
        asked = _hash(tokens)
        kept = self._store.get(self._recipe, asked)
        if kept is None:
            logits = self._model.answers(tokens, **self._how)
            flat = pa.array(logits.ravel(), pa.float32())
            kept = pa.table({"logits": pa.FixedSizeListArray.from_arrays(flat, logits.shape[1])})
            self._store.put(self._recipe, asked, kept)
        values: NDArray[np.float32] = kept["logits"].combine_chunks().flatten().to_numpy()
        return values.reshape(len(tokens), kept.schema.field("logits").type.list_size)


def _hash(tokens: Tokens) -> str:
    """Of all that the model sees of the texts."""
    found = sha256(b"single" if tokens.texts_b is None else b"pair")
    for part in (tokens.bounds, tokens.split, tokens.ids):
        found.update(np.ascontiguousarray(part, np.int64).tobytes())
    return found.hexdigest()

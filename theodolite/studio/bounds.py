"""Numbers in requests: none larger than what a database, an array or a hash takes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from pydantic import Field

MOST = 2**31
MOST_SEED = 2**63
Number = Annotated[int, Path(ge=1, lt=MOST)]
"""Of a study, or of an annotator, in an address."""
Place = Annotated[int, Field(ge=0, lt=MOST)]
"""Of something in a list, in a request's body."""
Offset = Annotated[int, Query(ge=0, lt=MOST)]
"""Of a row, or of the first of several."""
Seed = Annotated[int, Query(ge=0, lt=MOST_SEED)]

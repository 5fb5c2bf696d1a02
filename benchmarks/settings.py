"""What every benchmark is given: the data, the size, and one encoder for all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
NEEDED = (
    *(f"corpora/{name}.txt.gz" for name in ("questions", "wiki", "passages", "novels")),
    *("imdb/reviews.parquet", "sst2/train.tsv.gz", "catalogue/wine.csv.gz", "catalogue/fashion.csv.gz"),
)


@dataclass(frozen=True)
class Settings:
    """The folder of data sets, and whether a rough answer will do."""

    data: Path
    quick: bool

    def size(self, full: int, quick: int) -> int:
        """How many of something: the one number, or with `--quick` the other."""
        return quick if self.quick else full

    @cached_property
    def encoder(self) -> Encoder:
        """The default model, on the processor: the matrix-multiply rate beside it is measured there."""
        from theodolite.encoder.encoder import Encoder

        return Encoder.load(device="cpu")


def missing(data: Path) -> str | None:
    """What is wrong with a data folder, in one line; None if nothing is."""
    absent = [name for name in NEEDED if not (data / name).is_file()]
    if not absent:
        return None
    return f"{data}: no {absent[0]}; give the folder that holds corpora/, imdb/, sst2/ and catalogue/ with --data DIR"

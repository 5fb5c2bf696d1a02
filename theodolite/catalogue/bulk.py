"""The most similar descriptions of every description explained: a block at a time, each pair once, resumable."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from theodolite.catalogue.baseline import less_similar
from theodolite.catalogue.explaining import asked_of, baseline_of
from theodolite.catalogue.search import Catalogue, Ints
from theodolite.encoder.quadrature import RULE
from theodolite.errors import InputError
from theodolite.instrument import Progress, Silent
from theodolite.similarity.explanation import Asked
from theodolite.similarity.methods import INTEGRATED
from theodolite.similarity.tables import in_json, kept
from theodolite.store import Recipe, Store

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.similarity.explaining import Baseline

FILE = "explanations.parquet"
# Descriptions a block: what an interruption can cost, and the most that is in memory.
BLOCK = 64

_WORDS = pa.list_(
    pa.struct([("word", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("saliency", pa.float64())])
)
_PAIRS = pa.list_(
    pa.struct(
        [
            ("a", pa.string()),
            ("b", pa.string()),
            ("index_a", pa.int64()),
            ("index_b", pa.int64()),
            ("similarity", pa.float64()),
            ("score", pa.float64()),
            ("cluster", pa.int64()),
            ("chosen", pa.bool_()),
        ]
    )
)
_BEYOND = ("less_similar", "less_similar_low", "less_similar_high")
SCHEMA = pa.schema(
    [
        *((f"{name}_{side}", pa.string()) for side in "ab" for name in ("id", "title", "description")),
        *((f"repeated_{side}", pa.list_(pa.string())) for side in "ab"),
        *((f"rank_{side}", pa.int64()) for side in "ab"),
        ("cosine", pa.float64()),
        ("cosine_own", pa.float64()),
        *((name, pa.float64()) for name in _BEYOND),
        ("same", pa.bool_()),
        ("method", pa.string()),
        ("completeness_error", pa.float64()),
        ("words_a", _WORDS),
        ("words_b", _WORDS),
        ("pairs", _PAIRS),
    ]
)


@dataclass(frozen=True)
class Explained:
    """What was written: the file; descriptions whose neighbours were asked for; pairs of descriptions explained, and
    of these the mutual ones, each among the most similar of the other.
    """

    file: Path
    descriptions: int
    pairs: int
    mutual: int


@dataclass(frozen=True)
class Pair:
    """Two descriptions by their places, a < b, and the place of each in the other's list, from 1: rank_a is that of b
    in a's.
    """

    a: int
    b: int
    rank_a: int | None
    rank_b: int | None


def explain_catalogue(
    catalogue: Catalogue,
    encoder: Encoder,
    out: str | os.PathLike[str],
    *,
    k: int = 3,
    methods: Sequence[str] = ("bti",),
    limit: int | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Explained:
    """Explain the k most similar items of every item, and write a Parquet file (or one into a folder).

    Items of one description are one here: its k most similar are other descriptions. A row is two descriptions, the
    one of the earlier item first, and a method; ``repeated`` are further items of the same description. limit: only
    the lists of the first so many items. Each block is in the store at once: the same call after an interruption goes
    on there.
    """
    catalogue.check_encoder(encoder)
    if k < 1:
        raise InputError(f"-k {k}: must be at least 1")
    if limit is not None and limit < 1:
        raise InputError(f"--limit {limit}: must be at least 1")
    file = _file(out)
    held, told = store or Store(), progress or Silent()
    asked = asked_of(catalogue, methods)
    baseline = baseline_of(catalogue, asked)
    recipe = _recipe(catalogue, encoder, asked, k)
    stop = _descriptions(catalogue, limit)
    blocks = [np.arange(start, min(start + BLOCK, stop)) for start in range(0, stop, BLOCK)]
    with told.step("explaining", stop):
        for block in blocks:
            if held.get(recipe, _name(block)) is None:
                held.put(recipe, _name(block), _explained(catalogue, encoder, block, k, asked, baseline))
            told.advance(len(block))
    names = [_name(block) for block in blocks]
    about = catalogue.manifest["items"]
    held.remember(recipe, corpus=about["name"], corpus_hash=about["hash"], source=about["source"], shard_hashes=names)
    manifest = {"catalogue": catalogue.manifest, "k": k, "limit": limit, **asdict(asked)}
    rows, mutual = _write(file, held.scan(recipe, names), manifest)
    return Explained(file, stop, rows // len(asked.methods), mutual // len(asked.methods))


def pairs_of(catalogue: Catalogue, block: Ints, k: int) -> list[Pair]:
    """The pairs of descriptions that are a block's to explain: those of its lists that no earlier place lists too."""
    _, found = catalogue.neighbours(block, k)
    others = np.setdiff1d(found, block)
    _, theirs = catalogue.neighbours(others, k)
    rank = {
        (place, other): at
        for places, lists in ((block, found), (others, theirs))
        for place, listed in zip(places.tolist(), lists.tolist(), strict=True)
        for at, other in enumerate(listed, 1)
    }
    pairs = []
    for place, listed in zip(block.tolist(), found.tolist(), strict=True):
        for other in listed:
            if other > place or (other, place) not in rank:
                a, b = min(place, other), max(place, other)
                pairs.append(Pair(a, b, rank.get((a, b)), rank.get((b, a))))
    return pairs


def _explained(
    catalogue: Catalogue, encoder: Encoder, block: Ints, k: int, asked: Asked, baseline: Baseline
) -> pa.Table:
    from theodolite.similarity.explaining import explain_pairs

    pairs = pairs_of(catalogue, block, k)
    sides = [[_side(catalogue, place) for place in of] for of in ([p.a for p in pairs], [p.b for p in pairs])]
    texts = [[side["description"] for side in of] for of in sides]
    found = kept(enumerate(explain_pairs(encoder, texts[0], texts[1], asked, baseline=baseline)))
    rows = []
    for row in found.to_pylist():
        number = row["row"]
        both = {f"{name}_{ab}": value for ab, of in zip("ab", sides, strict=True) for name, value in of[number].items()}
        ranks = {"rank_a": pairs[number].rank_a, "rank_b": pairs[number].rank_b}
        explained = in_json(row, texts[0][number], texts[1][number])
        beyond = dict(zip(_BEYOND, less_similar(catalogue.random_pairs, row["cosine"]), strict=True))
        rows.append({**both, **ranks, **beyond, **explained})
    return pa.Table.from_pylist(rows, SCHEMA)


def _side(catalogue: Catalogue, place: int) -> dict[str, Any]:
    """The first item of a description, and the ids of the others that have it."""
    rows, bounds = catalogue.items_of
    first, *others = catalogue.at(rows[bounds[place] : bounds[place + 1]].tolist())
    return {
        "id": first.id,
        "title": first.title,
        "description": first.description,
        "repeated": [item.id for item in others],
    }


def _descriptions(catalogue: Catalogue, limit: int | None) -> int:
    """How many descriptions the first so many items have; descriptions are in the order of their first items."""
    if limit is None:
        return len(catalogue.vectors)
    places = catalogue.items["place"].slice(0, limit).drop_null().to_numpy()
    if not len(places):
        raise InputError(f"--limit {limit}: these items all have an empty description; give more")
    return int(places.max()) + 1


def _recipe(catalogue: Catalogue, encoder: Encoder, asked: Asked, k: int) -> Recipe:
    # The catalogue's key has the model, the tokenizer, the windows, the items and the pooling in it.
    given = {"methods": ",".join(asked.methods), "similarity": asked.similarity, "base": asked.base}
    if INTEGRATED in asked.methods:
        given["rule"] = RULE
    # form: another number where the same options give other values.
    numbers = {"top_k": asked.top_k, "k": k, "block": BLOCK, "form": 1}
    return Recipe(
        "catalogue", encoder.name, (("catalogue", catalogue.manifest["key"]), *given.items(), *numbers.items())
    )


def _name(block: Ints) -> str:
    return f"{block[0]}-{block[-1] + 1}"


def _file(out: str | os.PathLike[str]) -> Path:
    place = Path(out)
    file = place if place.suffix == ".parquet" else place / FILE
    if place.is_file() and file != place:
        raise InputError(f"--out {place}: a file that is no .parquet; give a .parquet file or a folder")
    if file.is_dir():
        raise InputError(f"--out {file}: a folder by the name of a .parquet file; give another name")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Said before the work, not after it.
        probe = file.with_name(f".{file.name}.probe")
        probe.touch()
        probe.unlink()
    except OSError as fault:
        raise InputError(f"--out {place}: cannot be written to ({fault.strerror})") from None
    return file


def _write(file: Path, tables: Iterator[pa.Table], manifest: dict[str, Any]) -> tuple[int, int]:
    """Write the blocks under a temporary name and rename; rows, and how many of them are of mutual pairs."""
    import pyarrow.parquet as pq

    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    schema = SCHEMA.with_metadata({"theodolite": json.dumps(manifest)})
    rows = mutual = 0
    try:
        with pq.ParquetWriter(temporary, schema) as writer:
            for table in tables:
                writer.write_table(table.replace_schema_metadata(schema.metadata))
                both = table["rank_a"].is_valid().to_numpy() & table["rank_b"].is_valid().to_numpy()
                rows, mutual = rows + len(table), mutual + int(both.sum())
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)
    return rows, mutual

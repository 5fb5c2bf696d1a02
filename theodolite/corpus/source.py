"""What a user writes to name a corpus: `SOURCE?query` and `NAME=SOURCE`.

SOURCE is a file (txt, csv, tsv, jsonl, ndjson, parquet, each also .gz) or a Hugging Face data set
(`hf://dataset/config`, `hf:///abs/folder`, `hf://./rel`). The query says which column plays which part:

    reviews.csv?text=body&label=stars&year=vintage&vectors=reviews.npy

Known parts are text, text_b, label, title, id and vector; any other `k=col` adds a column k. Options:
`vectors` (people's own vectors, a .npy), `format` (where the ending does not tell it), `delimiter` and
`header=no` (csv and tsv), `split` and `config` (hf). Values are percent-decoded; a plus sign is a plus sign.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote

from theodolite.errors import InputError

ROLES = ("text", "text_b", "label", "title", "id", "vector")
ENDINGS = {
    ".txt": "txt",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
KNOWN = f"{', '.join(ENDINGS)}, each also with .gz"
_HF = "hf://"


@dataclass(frozen=True)
class Source:
    """A parsed source: where the rows are, and what each column is for."""

    spec: str
    """As the user wrote it."""
    path: str
    """The file; for hf, the data set's name or folder."""
    format: str
    """txt, csv, tsv, jsonl, parquet or hf."""
    gzipped: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    """Table column to source column, as asked for; `text` may be missing and is then guessed."""
    vectors: str | None = None
    delimiter: str = ","
    header: bool = True
    split: str = "train"
    config: str | None = None

    @property
    def stem(self) -> str:
        """The name a corpus gets when it is given none."""
        if self.format == "hf":
            return self.config or Path(self.path).resolve().name
        name = Path(self.path).name
        name = name[:-3] if self.gzipped else name
        ending = Path(name).suffix
        return name.removesuffix(ending) if ending.lower() in ENDINGS else name

    @property
    def is_folder(self) -> bool:
        """Whether an hf source is a folder on this machine rather than a name on the hub."""
        return self.format == "hf" and self.path.startswith(("/", "./", "../", "~"))

    def with_columns(self, names: Sequence[str]) -> Source:
        """The same source with further columns, each under its own name.

        >>> parse_source("hf://glue/sst2?text=sentence").with_columns(["idx"]).columns
        {'text': 'sentence', 'idx': 'idx'}
        """
        columns = dict(self.columns)
        for name in names:
            if columns.setdefault(name, name) != name:
                what = f"column {name!r} is asked for, but the query has {name}={columns[name]}"
                raise InputError(f"{self.spec}: {what}; drop one")
        _check_columns(self.spec, self.format, columns, self.vectors)
        return replace(self, columns=columns)


def split_name(spec: str) -> tuple[str | None, str]:
    """Part `NAME=SOURCE`; the name is None where there is none.

    >>> split_name("wine=catalogue/wine.csv.gz?text=description")
    ('wine', 'catalogue/wine.csv.gz?text=description')
    >>> split_name("wine.csv?text=description")
    (None, 'wine.csv?text=description')
    """
    found = re.match(r"([^?/\\=:]*)=(.*)", spec, re.DOTALL)
    if found is None or _is_file(spec):
        return None, spec
    name, source = found[1].strip(), found[2]
    if not name or not source:
        raise InputError(f"{spec!r}: write NAME=SOURCE, with both a name and a source")
    return name, source


def parse_source(source: str | os.PathLike[str]) -> Source:
    """Parse `SOURCE?query`; the file must exist.

    >>> parse_source("hf://glue/sst2?split=validation&text=sentence&label=label").columns
    {'text': 'sentence', 'label': 'label'}
    >>> parse_source("nowhere.csv?text=body")
    Traceback (most recent call last):
    ...
    theodolite.errors.InputError: nowhere.csv: no such file; check the path (a hub data set is written hf://NAME)
    """
    spec = os.fspath(source)
    path, query = _split_query(spec)
    pairs = dict(_pairs(spec, query))
    if path.startswith(_HF):
        format, gzipped = "hf", False
        path = path.removeprefix(_HF).rstrip("/") or "/"
        if not path.strip("/"):
            raise InputError(f"{spec}: no data set named; write hf://NAME/CONFIG or hf://./FOLDER")
    else:
        path = os.path.expanduser(path)
        format, gzipped = _format(path, pairs.pop("format", None))
    columns = {key: value for key, value in pairs.items() if key not in _options(format)}
    for key in ("delimiter", "header"):
        if key in columns:
            raise InputError(f"{spec}: {key}= is for csv and tsv, and this is {format}; drop it")
    vectors = pairs.get("vectors")
    _check_columns(spec, format, columns, vectors)
    delimiter = pairs.get("delimiter", "\t" if format == "tsv" else ",") if format in ("csv", "tsv") else ","
    delimiter = "\t" if delimiter == "\\t" else delimiter
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(f"{spec}: delimiter={delimiter!r} is not one character; write for example %3B")
    if pairs.get("header", "yes") not in ("yes", "no") and format in ("csv", "tsv"):
        raise InputError(f"{spec}: header={pairs['header']!r}; write header=yes or header=no")
    return Source(
        spec=spec,
        path=path,
        format=format,
        gzipped=gzipped,
        columns=columns,
        vectors=_beside(path, format, vectors),
        delimiter=delimiter,
        header=pairs.get("header") != "no",
        split=pairs.get("split", "train"),
        config=pairs.get("config") if format == "hf" else None,
    )


def _options(format: str) -> tuple[str, ...]:
    """The query's keys that are no columns; a column may be called split where no option is."""
    return {"hf": ("split", "config", "vectors"), "csv": ("delimiter", "header", "vectors"),
            "tsv": ("delimiter", "header", "vectors")}.get(format, ("vectors",))  # fmt: skip


def _split_query(spec: str) -> tuple[str, str]:
    """Part the query off. A file whose own name has a question mark is taken for that file."""
    if _is_file(spec):
        return spec, ""
    for found in reversed(list(re.finditer(r"\?", spec))):
        if _is_file(spec[: found.start()]):
            return spec[: found.start()], spec[found.end() :]
    path, _, query = spec.partition("?")
    return path, query


def _pairs(spec: str, query: str) -> Iterator[tuple[str, str]]:
    seen = set()
    for part in filter(None, query.split("&")):
        key, _, value = part.partition("=")
        try:
            key, value = unquote(key, errors="strict"), unquote(value, errors="strict")
        except UnicodeDecodeError:
            hint = "write %25 for a percent sign"
            raise InputError(f"{spec}: {part!r} is not percent-encoded UTF-8; {hint}") from None
        if not key or not value:
            raise InputError(f"{spec}: {part!r} in the query is not KEY=VALUE; write for example ?text=body")
        if key in seen:
            raise InputError(f"{spec}: {key}= is given twice in the query; drop one")
        seen.add(key)
        yield key, value


def _format(path: str, asked: str | None) -> tuple[str, bool]:
    """Format and whether it is gzipped, by the file's ending or as asked for."""
    if os.path.isdir(path):
        raise InputError(f"{path}: is a folder; name a file in it (a folder saved by datasets is written hf://{path})")
    if not os.path.exists(path):
        raise InputError(f"{path}: no such file; check the path (a hub data set is written hf://NAME)")
    gzipped = path.lower().endswith(".gz")
    ending = Path(path[:-3] if gzipped else path).suffix.lower()
    format = ENDINGS.get(f".{asked}" if asked else ending)
    if format is None:
        wrong = f"format={asked}" if asked else f"file ending {ending!r}"
        raise InputError(f"{path}: unknown {wrong}; known are {KNOWN} (or say ?format=txt, csv, …)")
    return format, gzipped


def _check_columns(spec: str, format: str, columns: Mapping[str, str], vectors: str | None) -> None:
    if format == "txt" and columns:
        raise InputError(f"{spec}: a txt file has no columns; drop {', '.join(columns)}, or use csv or jsonl")
    if "row" in columns:
        raise InputError(f"{spec}: 'row' is the table's own row number; write ?NAME=row to keep yours")
    if "vector" in columns and format in ("csv", "tsv"):
        raise InputError(f"{spec}: {format} has no vector columns; save a .npy and write ?vectors=FILE.npy")
    if "vector" in columns and vectors is not None:
        raise InputError(f"{spec}: vector= and vectors= are both given; keep one")


def _beside(path: str, format: str, vectors: str | None) -> str | None:
    """A relative vectors file is looked for beside the texts, then in the working folder."""
    if vectors is None or format == "hf":
        return vectors
    beside = os.path.join(os.path.dirname(path), os.path.expanduser(vectors))
    return vectors if not os.path.exists(beside) and os.path.exists(vectors) else beside


def _is_file(path: str) -> bool:
    return os.path.isfile(os.path.expanduser(path))

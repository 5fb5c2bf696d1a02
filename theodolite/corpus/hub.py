"""Hugging Face data sets: of the hub, or saved in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from theodolite.corpus import sizes
from theodolite.corpus.choosing import choose_columns
from theodolite.corpus.rows import NO_ROWS, Rows
from theodolite.corpus.source import Source
from theodolite.corpus.strings import first_line, row_place
from theodolite.errors import InputError

_T = TypeVar("_T")


def hub_rows(source: Source, limit: int | None) -> Rows:
    """The rows of a data set, streamed."""
    data = _asking(source, lambda: _data_set(source))
    example: dict[str, Any] | None = _asking(source, lambda: next(iter(data), None))
    if example is None:
        return NO_ROWS
    texts = [name for name, value in example.items() if isinstance(value, str)]
    columns = choose_columns(source, list(example), texts)
    data = data.select_columns(list(dict.fromkeys(column.name for column in columns.values())))
    batches = (data if limit is None else data.take(limit)).iter(batch_size=sizes.CHUNK_ROWS)

    def arrays() -> Iterator[list[pa.Array]]:
        start = 0
        while (batch := _asking(source, lambda: next(batches, None))) is not None:
            place = row_place(source.spec, start)
            found = [column.values(batch[column.name], place) for column in columns.values()]
            start += len(found[0])
            yield found

    return Rows(columns, arrays())


def _asking(source: Source, act: Callable[[], _T]) -> _T:
    """Ask the datasets library for something; what it raises becomes one line."""
    try:
        return act()
    except InputError:
        raise
    except Exception as error:
        what = f"the data set cannot be read ({first_line(error)})"
        raise InputError(f"{source.spec}: {what}; check its name, ?config= and ?split=") from None


def _data_set(source: Source) -> Any:
    try:
        import datasets
    except ImportError:
        raise InputError(f"{source.spec}: the package datasets is missing; pip install datasets") from None
    if source.is_folder:
        return _of_folder(source, Path(source.path).expanduser())
    name, config = _name_and_config(source)
    # The library's own patience is 20 tries of 5 to 60 seconds: a lost connection is to be said, not sat out.
    datasets.config.STREAMING_READ_MAX_RETRIES = datasets.config.STREAMING_OPEN_MAX_RETRIES = 3
    datasets.config.STREAMING_READ_RETRY_INTERVAL = datasets.config.STREAMING_OPEN_RETRY_INTERVAL = 1
    return datasets.load_dataset(name, config, split=source.split, streaming=True)


def _of_folder(source: Source, folder: Path) -> Any:
    """What `save_to_disk` wrote, of one split or several, or else a folder of data files."""
    import datasets

    if not folder.is_dir():
        raise InputError(f"{source.spec}: no such folder; check the path")
    if (folder / "dataset_dict.json").exists():
        saved = datasets.load_from_disk(str(folder))
        if source.split not in saved:
            what = f"no split {source.split!r} (it has: {', '.join(saved)})"
            raise InputError(f"{source.spec}: {what}; name one with ?split=")
        return saved[source.split]
    if (folder / "state.json").exists():
        return datasets.load_from_disk(str(folder))
    return datasets.load_dataset(str(folder), source.config, split=source.split, streaming=True)


def _name_and_config(source: Source) -> tuple[str, str | None]:
    """`a/b` is a's data set b where the hub has it, else data set a with config b."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    parts = source.path.split("/")
    tries = [("/".join(parts[:2]), source.config or "/".join(parts[2:]) or None)]
    if len(parts) == 2:
        tries.append((parts[0], source.config or parts[1]))
    for name, config in tries:
        try:
            HfApi().dataset_info(name, timeout=10)
            return name, config
        except (RepositoryNotFoundError, HFValidationError):
            continue
        except Exception as error:  # whatever the hub's HTTP library of the day raises
            what = f"the Hugging Face hub cannot be reached ({first_line(error)})"
            raise InputError(f"{source.spec}: {what}; check the network, or use hf:///FOLDER") from None
    raise InputError(f"{source.spec}: the hub has no such data set, or it is private; check the name")

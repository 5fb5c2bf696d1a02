"""Saving readings: names of files, and what becomes of a reading that was there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from theodolite import InputError
from theodolite.figures import panels
from theodolite.reading import Drawing, Reading, discard
from theodolite.store.files import file_names


class Drawn(Reading):
    """Figures by the names of its manifest."""

    instrument = "contextuality"

    def drawings(self) -> dict[str, Drawing]:
        return {name: Drawing(name, "", lambda: panels(1, 1)[0]) for name in self.manifest["figures"]}


def drawn(tables: list[str], figures: list[str]) -> Drawn:
    return Drawn({name: pa.table({"a": [1]}) for name in tables}, [], {"figures": figures})


def files(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_names_of_files_are_safe_short_and_different() -> None:
    long = "ü" * 300
    names = ["word-and/or", "../up", ".hidden", "word-A", "word-a", "a:b*c", long, long, "日本"]
    found = file_names(names)
    assert found[:6] == ["word-and%2For", "%2E.%2Fup", "%2Ehidden", "word-A", "word-a-2", "a%3Ab%2Ac"]
    assert found[8] == "日本"
    assert len({name.casefold() for name in found}) == len(names)
    assert all(len(f"{name}.svg".encode()) <= 255 for name in found)


def test_a_reading_saved_over_another_leaves_nothing_of_it(tmp_path) -> None:
    drawn(["layers", "importance"], ["curves", "word-and/or"]).save(tmp_path)
    for mine in ("figures/mine.pdf", "tables/mine.csv", "notes.txt"):
        (tmp_path / mine).write_text("mine")
    drawn(["layers"], ["curves"]).save(tmp_path)
    own = {"figures/mine.pdf", "tables/mine.csv", "notes.txt"}
    expected = {
        "reading.json",
        "tables/layers.parquet",
        "tables/layers.csv",
        "figures/curves.svg",
        "figures/curves.pdf",
    }
    assert files(tmp_path) == expected | own
    drawn(["layers"], ["curves"]).save(tmp_path, figures=False)
    assert files(tmp_path) == {f for f in expected if "curves" not in f} | own


def test_a_save_that_breaks_off_leaves_no_whole_reading(tmp_path, monkeypatch) -> None:
    drawn(["layers"], ["curves"]).save(tmp_path)

    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Drawn, "save_figures", stopped)
    with pytest.raises(KeyboardInterrupt):
        drawn(["words"], ["curves"]).save(tmp_path)
    with pytest.raises(InputError, match="not a saved reading"):
        Drawn.load(tmp_path)


def test_a_record_that_names_other_folders_removes_nothing_there(tmp_path) -> None:
    (tmp_path / "precious.csv").write_text("mine")
    folder = tmp_path / "reading"
    (folder / "tables").mkdir(parents=True)
    (folder / "reading.json").write_text('{"tables": ["../../precious", "..", ""], "figures": []}')
    discard(folder)
    assert files(tmp_path) == {"precious.csv"}

"""The store: what goes in comes out, damage is noticed, and many processes may write at once."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import signal
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from theodolite.errors import InputError
from theodolite.store import Recipe, Store, table_vectors, vectors_table

RECIPE = Recipe("embedding", "tiny", (("model", "abc"), ("layer", 2), ("pooling", "mean")))
SHARD = "5a" * 32
DEAD = 2**22 + 1  # The number of no process: Linux gives none above 2**22.


@dataclass
class Place:
    """A store's root, and the files below it looked at from outside."""

    root: str

    def store(self) -> Store:
        return Store(self.root)

    def names(self) -> list[str]:
        system, base = fsspec.url_to_fs(self.root)
        return sorted(str(name)[len(base) + 1 :] for name in system.find(base))

    def read(self, name: str) -> bytes:
        system, base = fsspec.url_to_fs(self.root)
        return bytes(system.cat_file(f"{base}/{name}"))

    def overwrite(self, name: str, content: bytes) -> None:
        system, base = fsspec.url_to_fs(self.root)
        system.makedirs(f"{base}/{name}".rpartition("/")[0], exist_ok=True)
        system.pipe_file(f"{base}/{name}", content)
        if "://" not in self.root:
            # Two writes within a tick of the file system's clock have the same time.
            status = os.stat(f"{base}/{name}")
            os.utime(f"{base}/{name}", ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))


@pytest.fixture(params=["local", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(str(tmp_path / "store") if request.param == "local" else f"memory://{uuid.uuid4().hex}/store")


@pytest.fixture
def local(tmp_path: Path) -> Place:
    return Place(str(tmp_path / "store"))


def arrow_name(recipe: Recipe = RECIPE, shard: str = SHARD) -> str:
    return f"arrays/{recipe.key}/{shard}.arrow"


def some_table(n: int = 7, d: int = 5, dtype: Any = np.float32, seed: int = 0) -> pa.Table:
    vectors = np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)
    return vectors_table(np.arange(n), vectors)


# --- recipes -----------------------------------------------------------------------------------------


def test_recipe_key_ignores_order_and_model_name_and_nothing_else() -> None:
    swapped = Recipe("embedding", "other name", tuple(reversed(RECIPE.parts)))
    assert swapped.key == RECIPE.key
    assert len(RECIPE.key) == 64
    others = [
        Recipe("salience", "tiny", RECIPE.parts),
        Recipe("embedding", "tiny", (("model", "abc"), ("layer", "2"), ("pooling", "mean"))),
        Recipe("embedding", "tiny", (("model", "abc"), ("layer", 3), ("pooling", "mean"))),
        Recipe("embedding", "tiny", RECIPE.parts[:2]),
    ]
    assert len({RECIPE.key, *(other.key for other in others)}) == 5
    with pytest.raises(ValueError, match="once"):
        Recipe("embedding", "tiny", (("layer", 1), ("layer", 2)))


# --- tables of vectors -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("n", [0, 1, 9])
def test_vectors_round_trip(place: Place, dtype: Any, n: int) -> None:
    store, table = place.store(), some_table(n, dtype=dtype)
    assert not store.has(RECIPE, SHARD)
    assert store.get(RECIPE, SHARD) is None
    store.put(RECIPE, SHARD, table)
    assert store.has(RECIPE, SHARD)
    back = store.get(RECIPE, SHARD)
    assert back is not None
    assert back.equals(table, check_metadata=True)
    rows, vectors = table_vectors(back)
    assert rows.dtype == np.int32
    assert rows.tolist() == list(range(n))
    assert vectors.dtype == dtype
    assert vectors.shape == (n, 5)
    assert vectors.tobytes() == table_vectors(table)[1].tobytes()
    assert store.damaged == []


def test_table_vectors_of_slices_and_chunks() -> None:
    table = some_table(10)
    rows, vectors = table_vectors(table)
    sliced = table_vectors(table.slice(3, 4))
    assert np.array_equal(sliced[0], rows[3:7])
    assert np.array_equal(sliced[1], vectors[3:7])
    assert np.shares_memory(sliced[1], vectors)
    joined = table_vectors(pa.concat_tables([table.slice(8), table.slice(0, 0), table.slice(0, 2)]))
    assert joined[0].tolist() == [8, 9, 0, 1]
    assert np.array_equal(joined[1], vectors[[8, 9, 0, 1]])
    empty = table_vectors(pa.concat_tables([table.slice(0, 0), table.slice(5, 0)]))
    assert empty[0].shape == (0,)
    assert empty[1].shape == (0, 5)


def test_vectors_table_does_not_copy_and_refuses_what_does_not_fit() -> None:
    vectors = np.zeros((3, 2), np.float32)
    assert np.shares_memory(table_vectors(vectors_table(np.arange(3), vectors))[1], vectors)
    strided = np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2]
    assert np.array_equal(table_vectors(vectors_table(np.arange(3), strided))[1], strided)
    cases: list[tuple[Any, Any]] = [
        (np.arange(2), vectors),
        (np.arange(3), vectors.astype(np.float64)),
        (np.arange(3), vectors[:, :0]),
        (np.arange(3) + 2**31, vectors),
        (np.arange(3) - 1, vectors),
    ]
    for rows, bad in cases:
        with pytest.raises(ValueError, match="expected"):
            vectors_table(rows, bad)


def test_any_plain_table_is_kept_also_a_slice_with_nulls(place: Place) -> None:
    table = pa.table(
        {
            "tokens": pa.array([["a"], None, [], ["b", "cc"], ["ü", None]]),
            "score": pa.array([1.5, None, float("nan"), 2.0, -0.0]),
            "flag": pa.array([True, None, False, True, True]),
        }
    ).replace_schema_metadata({"note": "kept"})
    store = place.store()
    for part in [
        table,
        table.slice(1, 3),
        pa.concat_tables([table.slice(2), table.slice(0, 2)]),
        table.slice(5),
    ]:
        store.put(RECIPE, SHARD, part)
        back = store.get(RECIPE, SHARD)
        assert back is not None
        assert back.schema.equals(part.schema, check_metadata=True)
        assert repr(back.to_pylist()) == repr(part.to_pylist())
    with pytest.raises(ValueError, match="dictionary"):
        store.put(RECIPE, SHARD, pa.table({"x": pa.array(["a", "b"]).dictionary_encode()}))
    assert not [name for name in place.names() if name.endswith(".tmp")]


def test_get_maps_the_file_and_copies_nothing(local: Place) -> None:
    store = local.store()
    store.put(RECIPE, SHARD, some_table(2000, 64))
    allocated = pa.total_allocated_bytes()
    table = store.get(RECIPE, SHARD)
    assert table is not None
    rows, vectors = table_vectors(table)
    assert pa.total_allocated_bytes() - allocated < 4096
    assert not vectors.flags.owndata
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("no /proc to look the map up in")
    ranges = [
        [int(end, 16) for end in line.split()[0].split("-")]
        for line in maps.read_text().splitlines()
        if line.endswith(f"{SHARD}.arrow")
    ]
    for array in (rows, vectors):
        start = array.__array_interface__["data"][0]
        assert any(low <= start and start + array.nbytes <= high for low, high in ranges)


# --- damage ------------------------------------------------------------------------------------------


def flipped(content: bytes, at: int, bit: int = 4) -> bytes:
    return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]


def another_version(content: bytes) -> bytes:
    key = b"theodolite.version"
    assert content.count(key) == 2
    sink = pa.BufferOutputStream()
    table = pa.ipc.open_file(pa.BufferReader(content)).read_all()
    newer = table.replace_schema_metadata({**table.schema.metadata, key: b"2"})
    with pa.ipc.new_file(sink, newer.schema) as writer:
        writer.write_table(newer)
    return bytes(sink.getvalue())


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[: len(content) // 2],
    "last byte gone": lambda content: content[:-1],
    "bit flip in the data": lambda content: flipped(content, len(content) // 2),
    "empty": lambda content: b"",
    "garbage": lambda content: np.random.default_rng(0).bytes(len(content)),
    "text": lambda content: b"not arrow at all",
    "zeros": lambda content: bytes(len(content)),
    "another version": another_version,
    "another Arrow file": lambda content: bytes(plain_arrow()),
}


def plain_arrow() -> pa.Buffer:
    sink = pa.BufferOutputStream()
    table = some_table()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("opened_before", [False, True])
@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_noticed_and_the_shard_made_again(place: Place, kind: str, opened_before: bool) -> None:
    store, table = place.store(), some_table(500, 16)
    store.put(RECIPE, SHARD, table)
    if opened_before:
        assert store.get(RECIPE, SHARD) is not None
    place.overwrite(arrow_name(), DAMAGE[kind](place.read(arrow_name())))
    assert store.get(RECIPE, SHARD) is None
    assert [path.endswith(arrow_name()) for path in store.damaged] == [True]
    assert not store.has(RECIPE, SHARD)
    assert arrow_name() not in place.names()
    with pytest.raises(InputError, match=r"shard 1 of 1 .* missing"):
        next(store.scan(RECIPE, [SHARD]))
    store.put(RECIPE, SHARD, table)
    again = store.get(RECIPE, SHARD)
    assert again is not None
    assert again.equals(table)
    assert len(store.damaged) == 1


def test_no_single_changed_byte_gives_another_table(place: Place) -> None:
    table = pa.table({"row": pa.array([0, 1, None], pa.int32()), "word": [["a", "b"], [], ["cd"]]})
    store = place.store()
    store.put(RECIPE, SHARD, table)
    content = place.read(arrow_name())
    unharmed = 0
    for at, bit in itertools.product(range(len(content)), (0, 4, 7)):
        place.overwrite(arrow_name(), flipped(content, at, bit))
        back = store.get(RECIPE, SHARD)
        assert back is None or back.equals(table, check_metadata=True), at
        unharmed += back is not None
    assert unharmed < len(content) * 3 / 2  # Padding, and what Arrow does not look at.


def test_the_checksum_is_compared_once_a_process(local: Place) -> None:
    store = local.store()
    store.put(RECIPE, SHARD, some_table(500, 16))
    assert store.get(RECIPE, SHARD) is not None
    path = Path(local.root, arrow_name())
    status, content = path.stat(), path.read_bytes()
    with path.open("r+b") as file:
        file.write(flipped(content, len(content) // 2))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert Store(local.root).get(RECIPE, SHARD) is not None  # Same time, size and inode: taken as known.
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert Store(local.root).get(RECIPE, SHARD) is None


# --- scanning, listing, removing ---------------------------------------------------------------------


def filled(place: Place, shards: int = 3) -> tuple[Store, list[str], list[pa.Table]]:
    store = place.store()
    hashes = [f"{number:064x}" for number in range(shards)]
    tables = [some_table(4 + number, seed=number) for number in range(shards)]
    for shard, table in zip(hashes, tables, strict=True):
        store.put(RECIPE, shard, table)
    store.remember(RECIPE, corpus="reviews", corpus_hash="c1", source="reviews.csv", shard_hashes=hashes)
    return store, hashes, tables


def test_scan_goes_in_the_order_asked_for(place: Place) -> None:
    store, hashes, tables = filled(place)
    scanned = list(store.scan(RECIPE, [hashes[2], hashes[0], hashes[2]]))
    assert [table.equals(tables[i]) for table, i in zip(scanned, (2, 0, 2), strict=True)] == [True] * 3
    scan = store.scan(RECIPE, [hashes[1], "absent"])
    assert next(scan).equals(tables[1])
    with pytest.raises(InputError, match=r"shard 2 of 2 \(absent\)"):
        next(scan)


def test_entries_tell_what_is_stored(place: Place) -> None:
    assert place.store().entries() == []
    store, hashes, tables = filled(place)
    store.remember(RECIPE, corpus="news", corpus_hash="c2", source="news.txt", shard_hashes=hashes[:1])
    other = Recipe("salience", "big", (("layer", 1),))
    store.put(other, SHARD, pa.table({"row": [1, 2]}))
    entries = {entry.key: entry for entry in store.entries()}
    assert set(entries) == {RECIPE.key, other.key}
    entry = entries[RECIPE.key]
    assert (entry.kind, entry.model, entry.parts) == ("embedding", "tiny", RECIPE.parts)
    assert entry.corpora == ("news", "reviews")
    assert entry.short == RECIPE.key[:12]
    assert entry.shards == 3
    assert entry.rows == sum(table.num_rows for table in tables)
    assert abs(entry.newest.timestamp() - time.time()) < 60
    assert entry.bytes == sum(len(place.read(name)) for name in place.names() if RECIPE.key in name)


def test_listing_survives_damage_and_changes_nothing(place: Place) -> None:
    store, hashes, _ = filled(place)
    place.overwrite(arrow_name(shard=hashes[0]), b"garbage")
    place.overwrite(f"arrays/{RECIPE.key}/about.json", b'{"kind": ')
    place.overwrite(f"arrays/{RECIPE.key}/corpora/c1.json", b"[]")
    before = place.names()
    (entry,) = store.entries()
    assert (entry.kind, entry.model, entry.corpora, entry.rows) == ("?", "?", (), 5 + 6)
    assert place.names() == before
    store.put(RECIPE, hashes[0], some_table())
    assert store.entries()[0].model == "tiny"


def test_remove_frees_what_ls_showed_and_only_the_stores_own_files(place: Place) -> None:
    store, hashes, _ = filled(place)
    other = Recipe("salience", "big", (("layer", 1),))
    store.put(other, SHARD, some_table())
    store.run("r1").save_plan({"seed": 1})
    store.run("r1").save_partial(0, 0, {"x": np.arange(3)})
    foreign = [
        "arrays/notes.txt",
        "arrays/mine/x.arrow",
        f"arrays/{RECIPE.key}/deep/er/x.arrow",
        "runs/a.log",
    ]
    foreign += ["runs/r1/events.log", f"arrays/{RECIPE.key}/notes.txt", "mine.txt"]
    for name in foreign:
        place.overwrite(name, b"not yours")
    temporary = f"arrays/{RECIPE.key}/.{hashes[0]}.arrow.{DEAD}-0123abcd.tmp"
    place.overwrite(temporary, b"not yours")
    place.overwrite(f"runs/r1/.0-1.npz.{DEAD}-0123abcd.tmp", b"not yours")
    (entry,) = [entry for entry in store.entries() if entry.key == RECIPE.key]
    assert entry.shards == 3
    assert store.remove(RECIPE.key[:8]) == entry.bytes
    assert [entry.key for entry in store.entries()] == [other.key]
    assert temporary not in place.names()
    assert store.run("r1").plan() == {"seed": 1}
    assert store.remove() > 0
    assert place.names() == sorted(foreign)
    assert store.entries() == []
    assert store.remove() == 0


def test_a_key_prefix_must_fit_one_entry(place: Place) -> None:
    store = place.store()
    # Of seventeen keys two begin with the same hexadecimal digit.
    recipes = [Recipe("embedding", "tiny", (("layer", layer),)) for layer in range(17)]
    for recipe in recipes:
        store.put(recipe, SHARD, some_table(1))
    firsts = [recipe.key[0] for recipe in recipes]
    shared = next(first for first in firsts if firsts.count(first) > 1)
    for action in (store.remove, lambda prefix: store.export(prefix, "x.npy")):
        with pytest.raises(InputError, match="give more of it"):
            action(shared)
        for unknown in ("", "xyz", "0" * 64):
            with pytest.raises(InputError, match="nothing is stored under"):
                action(unknown)
    assert len(store.entries()) == 17


def test_a_local_store_leaves_no_empty_folders(local: Place) -> None:
    store, *_ = filled(local)
    store.run("r").save_plan({})
    store.remove()
    assert list(Path(local.root).iterdir()) == []


# --- where the store is ------------------------------------------------------------------------------


def test_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEODOLITE_HOME", str(tmp_path / "home"))
    store = Store()
    assert store.root == str(tmp_path / "home")
    assert not (tmp_path / "home").exists()
    assert store.entries() == []
    assert store.get(RECIPE, SHARD) is None
    assert not (tmp_path / "home").exists()
    monkeypatch.delenv("THEODOLITE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Store().root == str(tmp_path / ".cache" / "theodolite")
    assert Store(tmp_path / "x").root == Store(f"file://{tmp_path}/x").root == str(tmp_path / "x")
    monkeypatch.chdir(tmp_path)
    relative = Store("here")
    monkeypatch.chdir("/")
    relative.put(RECIPE, SHARD, some_table())
    assert (tmp_path / "here" / arrow_name()).exists()
    assert pickle.loads(pickle.dumps(relative)).has(RECIPE, SHARD)


def test_a_bad_root_or_key_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    store = Store(tmp_path / "file")
    assert store.get(RECIPE, SHARD) is None
    assert store.entries() == []
    with pytest.raises(InputError, match="cannot be written"):
        store.put(RECIPE, SHARD, some_table())
    with pytest.raises(InputError, match="nosuch"):
        Store("nosuch://x")
    for bad in ("../x", "a/b", "", ".x"):
        with pytest.raises(ValueError, match="a key is made of"):
            Store(tmp_path).get(RECIPE, bad)
        with pytest.raises(ValueError, match="a key is made of"):
            Store(tmp_path).run(bad)


class _Refusal(Exception):
    """As the clients of object storage have them: no OSError."""


def test_a_storage_that_does_not_answer_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"store ftp://localhost:1/x: cannot be reached \(ConnectionRefusedError"):
        Store("ftp://localhost:1/x")
    store = Store("memory://refused/store")
    system = type(fsspec.filesystem("memory"))

    def refuse(*_: Any, **__: Any) -> Any:
        raise _Refusal("Unable to locate credentials\nmore of it")

    asked = {
        "cat_file": lambda: store.get(RECIPE, SHARD),
        "isfile": lambda: store.has(RECIPE, SHARD),
        "find": store.entries,
        "makedirs": lambda: store.put(RECIPE, SHARD, some_table()),
        "_open": lambda: store.put(RECIPE, "another", some_table()),
        "pipe_file": lambda: store.run("ab").save_plan({}),
        "rm_file": lambda: store.remove(None),
    }
    store.put(RECIPE, SHARD, some_table())
    for name, ask in asked.items():
        with monkeypatch.context() as patched:
            patched.setattr(system, name, refuse)
            if name == "makedirs":
                patched.setattr(store._files, "read_json", lambda _: None)
            with pytest.raises(InputError, match=r"cannot be reached \(_Refusal: Unable to locate credentials\)$"):
                ask()


def test_a_store_of_somebody_else_is_told_in_one_line(local: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    store = local.store()
    store.put(RECIPE, SHARD, some_table())

    def refuse(path: Any, *_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    for name, ask, says in (
        ("unlink", lambda: store.remove(None), "cannot be removed"),
        ("stat", store.entries, "cannot be read"),
        ("scandir", store.entries, "cannot be read"),
        ("mkdir", lambda: store.folder("models"), "cannot be made"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, refuse)
            with pytest.raises(InputError, match=rf"{says} \(Permission denied\)"):
                ask()


# --- export ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_export_is_the_concatenation(place: Place, tmp_path: Path, dtype: Any) -> None:
    store = place.store()
    tables = [some_table(n, dtype=dtype, seed=n) for n in (4, 0, 3)]
    for number, table in enumerate(tables):
        store.put(RECIPE, f"s{number}", table)
    order = [2, 1, 0]
    store.remember(
        RECIPE, corpus="c", corpus_hash="c1", source="c.txt", shard_hashes=[f"s{number}" for number in order]
    )
    whole = pa.concat_tables([tables[number] for number in order])
    assert store.export(RECIPE.key[:10], tmp_path / "new" / "out.npy") == 7
    back = np.load(tmp_path / "new" / "out.npy", allow_pickle=False)
    assert back.dtype == dtype
    assert np.array_equal(back, table_vectors(whole)[1])
    assert store.export(RECIPE.key[:10], str(tmp_path / "new" / "out.parquet"), corpus="c") == 7
    parquet = pq.read_table(tmp_path / "new" / "out.parquet")
    assert parquet.select(["row", "vector"]).equals(whole)
    assert parquet["shard"].to_pylist() == [0, 0, 0, 2, 2, 2, 2]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["out.npy", "out.parquet"]


def test_export_of_nothing_but_empty_shards(place: Place, tmp_path: Path) -> None:
    store = place.store()
    store.put(RECIPE, "s", some_table(0))
    store.remember(RECIPE, corpus="c", corpus_hash="c1", source="", shard_hashes=["s"])
    for ending in ("npy", "parquet"):
        assert store.export(RECIPE.key, tmp_path / f"out.{ending}") == 0
    assert np.load(tmp_path / "out.npy").shape == (0, 5)
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_export_says_what_is_wrong(place: Place, tmp_path: Path) -> None:
    store, hashes, _ = filled(place)
    key, out = RECIPE.key[:12], tmp_path / "out.npy"
    with pytest.raises(InputError, match=r"\.parquet or \.npy"):
        store.export(key, tmp_path / "out.csv")
    with pytest.raises(InputError, match=r"'nope' is not known .*reviews \(c1\)"):
        store.export(key, out, corpus="nope")
    store.remember(RECIPE, corpus="reviews", corpus_hash="d2", source="", shard_hashes=hashes[:1])
    with pytest.raises(InputError, match=r"2 corpora that fit: reviews \(c1\), reviews \(d2\)"):
        store.export(key, out)
    assert store.export(key, out, corpus="d2") == 4
    store.remember(RECIPE, corpus="none", corpus_hash="e3", source="", shard_hashes=[])
    with pytest.raises(InputError, match="no shards"):
        store.export(key, out, corpus="none")
    store.remember(RECIPE, corpus="big", corpus_hash="f4", source="", shard_hashes=[*hashes, "x", "y"])
    with pytest.raises(InputError, match="2 of the 5 shards of 'big' are missing"):
        store.export(key, out, corpus="big")
    # Damage behind an intact head shows only on reading: what was exported before stays as it was.
    before = out.read_bytes()
    content = place.read(arrow_name(shard=hashes[1]))
    place.overwrite(arrow_name(shard=hashes[1]), content[:-50])
    for target in (out, tmp_path / "out.parquet"):
        with pytest.raises(InputError, match="shard"):
            store.export(key, target, corpus="c1")
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.glob("*out*")] == ["out.npy"]
    maps = Recipe("salience", "tiny", ())
    store.put(maps, "s", pa.table({"row": [0]}))
    with pytest.raises(InputError, match="holds no whole corpus"):
        store.export(maps.key, out)
    store.remember(maps, corpus="c", corpus_hash="c1", source="", shard_hashes=["s"])
    with pytest.raises(InputError, match=r"export it to \.parquet"):
        store.export(maps.key, out)


# --- runs --------------------------------------------------------------------------------------------


def test_the_first_plan_stays_until_replaced(place: Place) -> None:
    run = place.store().run("r1")
    assert run.plan() is None
    assert run.save_plan({"budget": 4096, "shards": (1, 2)}) == {"budget": 4096, "shards": [1, 2]}
    assert place.store().run("r1").save_plan({"budget": 1}) == {"budget": 4096, "shards": [1, 2]}
    assert run.save_plan({"budget": 2048}, replace=True) == {"budget": 2048} == run.plan()
    assert place.store().run("r2").plan() is None
    assert place.names() == ["runs/r1/plan.json"]


def test_where_links_are_not_to_be_had(local: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    run = local.store().run("r1")
    assert run.save_plan({"a": 1}) == run.save_plan({"a": 2}) == {"a": 1}
    assert local.names() == ["runs/r1/plan.json"]


@pytest.mark.parametrize("content", [b"", b'{"budget": 40', b"[1]", b"\xff\x00"])
def test_a_damaged_plan_goes_and_its_partials_with_it(place: Place, content: bytes) -> None:
    run = place.store().run("r1")
    run.save_plan({"budget": 1})
    run.save_partial(0, 0, {"x": np.zeros(1)})
    place.overwrite("runs/r1/plan.json", content)
    assert run.save_plan({"budget": 2}) == {"budget": 2}
    assert run.partial(0, 0) is None


def test_partials_are_kept_by_step_and_shard(place: Place) -> None:
    run = place.store().run("r1")
    run.save_plan({"a": 1})
    run.save_partial(1, 23, {"x": np.arange(3)})
    run.save_partial(12, 3, {"x": np.arange(4)})
    run.save_partial(12, 3, {"x": np.arange(5), "words": np.array(["a", "bcd", ""])})
    assert place.names() == ["runs/r1/1-23.npz", "runs/r1/12-3.npz", "runs/r1/plan.json"]
    later = place.store().run("r1").partial(12, 3)
    assert later is not None
    assert later["x"].size == 5
    assert later["words"].tolist() == ["a", "bcd", ""]
    later["x"] += 1  # Merged into, so it must be writable.
    assert run.partial(1, 3) is None
    place.overwrite(f"runs/r1/.0-1.npz.{DEAD}-0123abcd.tmp", b"not yours")
    run.clear_partials()
    assert place.names() == ["runs/r1/plan.json"]
    assert run.plan() == {"a": 1}


def test_objects_are_refused_and_leave_nothing(place: Place) -> None:
    run = place.store().run("r1")
    with pytest.raises(ValueError, match="allow_pickle"):
        run.save_partial(0, 0, {"x": np.array([{}], dtype=object)})
    assert place.names() == []


numeric = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(),
    hnp.unsigned_integer_dtypes(),
    hnp.floating_dtypes(),
    hnp.complex_number_dtypes(),
    hnp.unicode_string_dtypes(),
)
states = st.dictionaries(
    st.one_of(st.text(max_size=5), st.sampled_from(["file", "a/b", "x.npy", "names", "allow_pickle", ".."])),
    hnp.arrays(numeric, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)),
    max_size=5,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(state=states, fortran=st.booleans())
def test_any_state_round_trips_exactly(place: Place, state: dict[str, np.ndarray], fortran: bool) -> None:
    if fortran:
        state = {name: np.asfortranarray(array) if array.ndim else array for name, array in state.items()}
    run = place.store().run("any")
    run.save_partial(0, 0, state)
    back = run.partial(0, 0)
    assert back is not None
    assert list(back) == list(state)
    for name, array in state.items():
        assert back[name].dtype == array.dtype
        assert back[name].shape == array.shape
        assert back[name].tobytes() == array.tobytes()


def test_no_single_changed_byte_gives_another_partial(place: Place) -> None:
    run = place.store().run("r1")
    state = {"sum": np.arange(5.0), "n": np.array(3), "w": np.array(["ab"])}
    run.save_partial(0, 0, state)
    content = place.read("runs/r1/0-0.npz")
    cases = [flipped(content, at, bit) for at in range(len(content)) for bit in (0, 4, 7)]
    cases += [b"", b"garbage", content[:-1], content[: len(content) // 2]]
    lost = 0
    for case in cases:
        place.overwrite("runs/r1/0-0.npz", case)
        back = run.partial(0, 0)
        if back is None:
            lost += 1
            assert "runs/r1/0-0.npz" not in place.names()
        else:
            assert {name: array.tolist() for name, array in back.items()} == {
                name: array.tolist() for name, array in state.items()
            }
    assert lost > len(cases) / 3


# --- many processes ----------------------------------------------------------------------------------

SPAWN = multiprocessing.get_context("spawn")
SHARDS = ["s0", "s1", "s2"]


def constant(value: int) -> pa.Table:
    return vectors_table(np.arange(3000), np.full((3000, 64), value, np.float32))


def write_again_and_again(root: str, value: int, seconds: float) -> None:
    store, end = Store(root), time.monotonic() + seconds
    while time.monotonic() < end:
        for shard in SHARDS:
            store.put(RECIPE, shard, constant(value))
        store.run("r").save_partial(0, 0, {"x": np.full(50_000, value)})
        store.remember(RECIPE, corpus="c", corpus_hash="c", source=str(value), shard_hashes=SHARDS)


def test_a_reader_never_sees_a_torn_file_of_two_writers(local: Place) -> None:
    writers = [SPAWN.Process(target=write_again_and_again, args=(local.root, value, 3.0)) for value in (1, 2)]
    for writer in writers:
        writer.start()
    store, seen, partials = local.store(), set(), set()
    while any(writer.is_alive() for writer in writers):
        for shard in SHARDS:
            table = store.get(RECIPE, shard)
            if table is not None:
                vectors = table_vectors(table)[1]
                assert vectors.shape == (3000, 64)
                assert (vectors == vectors[0, 0]).all()
                seen.add(float(vectors[0, 0]))
        state = store.run("r").partial(0, 0)
        if state is not None:
            assert state["x"].shape == (50_000,)
            assert (state["x"] == state["x"][0]).all()
            partials.add(int(state["x"][0]))
        assert all(entry.corpora in ((), ("c",)) for entry in store.entries())
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert store.damaged == []
    assert seen == {1.0, 2.0}
    assert partials == {1, 2}
    assert not [name for name in local.names() if name.endswith(".tmp")]


def test_a_killed_writer_leaves_no_visible_half_file(local: Place) -> None:
    rng = np.random.default_rng(0)
    for attempt in range(4):
        writer = SPAWN.Process(target=write_again_and_again, args=(local.root, attempt, 60.0))
        writer.start()
        store = local.store()
        while (found := store.get(RECIPE, "s0")) is None or table_vectors(found)[1][0, 0] != attempt:
            time.sleep(0.001)
        time.sleep(float(rng.uniform(0, 0.05)))
        os.kill(writer.pid or 0, signal.SIGKILL)
        writer.join()
        for shard in SHARDS:
            table = store.get(RECIPE, shard)
            assert table is None or len({*table_vectors(table)[1].ravel().tolist()}) == 1
        assert store.damaged == []


def die_in_the_middle(root: str) -> None:
    def fill(file: IO[bytes]) -> None:
        file.write(b"half a file")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    Store(root)._files.write(arrow_name(), fill)


def test_what_a_killed_writer_left_is_ignored_and_removed(local: Place) -> None:
    writer = SPAWN.Process(target=die_in_the_middle, args=(local.root,))
    writer.start()
    writer.join()
    assert writer.exitcode == -signal.SIGKILL
    (left,) = local.names()
    assert left.endswith(".tmp")
    assert str(writer.pid) in left
    store = local.store()
    assert not store.has(RECIPE, SHARD)
    assert store.get(RECIPE, SHARD) is None
    assert store.damaged == []
    store.put(RECIPE, SHARD, some_table(7))
    (entry,) = store.entries()
    assert (entry.shards, entry.rows) == (1, 7)
    at_work = f"arrays/{RECIPE.key}/.{SHARD}.arrow.{os.getpid()}-0123abcd.tmp"
    local.overwrite(at_work, b"half a file")
    store.remove()
    assert local.names() == [at_work]
    os.utime(Path(local.root, at_work), (0, time.time() - 7200))  # Too old to be this process's.
    store.remove()
    assert local.names() == []


def agree_on_plans(root: str, who: int, start: Any, answers: Any) -> None:
    runs = [Store(root).run(f"r{number}") for number in range(40)]
    plans = []
    for run in runs:
        start.wait(60)
        plans.append(run.save_plan({"who": who, "filler": ["x"] * 1000})["who"])
    answers.put(plans)


def test_processes_that_start_at_once_agree_on_the_plan(local: Place) -> None:
    start, answers = SPAWN.Barrier(3), SPAWN.Queue()
    processes = [SPAWN.Process(target=agree_on_plans, args=(local.root, who, start, answers)) for who in range(3)]
    for process in processes:
        process.start()
    plans = [answers.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    in_force = [(local.store().run(f"r{number}").plan() or {})["who"] for number in range(40)]
    assert plans == [in_force] * 3
    assert {name.rpartition("/")[2] for name in local.names()} == {"plan.json"}


def test_a_writer_survives_the_removal_of_its_folder(local: Place) -> None:
    store, stop = local.store(), threading.Event()

    def remove_again_and_again() -> None:
        while not stop.wait(0.002):
            Store(local.root).remove()

    remover = threading.Thread(target=remove_again_and_again)
    remover.start()
    try:
        for number in range(300):
            store.put(RECIPE, SHARD, some_table(number % 5))
            store.run("r").save_plan({"number": number}, replace=True)
    finally:
        stop.set()
        remover.join()
    assert store.damaged == []

"""Builds the studio's pages when their sources changed: ``python tools/pages.py``. Needs Node; nothing of Python's.

The build hook of the package, the Makefile and the browser tests all come here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # there is none on Windows, where nobody builds twice at once
    fcntl = None  # type: ignore[assignment]

STUDIO = Path(__file__).resolve().parents[1] / "theodolite" / "studio"
WEB, STATIC = STUDIO / "web", STUDIO / "static"
# What the pages were built from, kept beside them.
RECORD = STATIC / "sources.sha256"
NODE = (20, 19)
WITHOUT = "the command line works in full without the studio's pages"


class Unbuilt(Exception):
    """The pages could not be built, and why."""


class NoNode(Unbuilt):
    """What builds them is not here."""


def ensure_pages() -> bool:
    """Build the pages if they are missing or their sources changed; whether they were built now."""
    with _alone():
        wanted = _hash_of_sources()
        if RECORD.exists() and RECORD.read_text() == wanted:
            return False
        _install()
        fresh = STATIC.with_name(".static-building")
        _npm("run", "build", "--", "--outDir", str(fresh), "--emptyOutDir")
        (fresh / RECORD.name).write_text(wanted)
        # A server that is running never finds half of the pages.
        old = STATIC.with_name(".static-old")
        shutil.rmtree(old, ignore_errors=True)
        if STATIC.exists():
            STATIC.rename(old)
        fresh.rename(STATIC)
        shutil.rmtree(old, ignore_errors=True)
        return True


def ensure_modules() -> Path:
    """The folder node_modules, filled as the lock file says."""
    with _alone():
        _install()
    return WEB / "node_modules"


@contextmanager
def _alone() -> Iterator[None]:
    """Two builds at once would write into one another."""
    with (WEB / "package.json").open() as held:
        if fcntl is not None:
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _hash_of_sources() -> str:
    digest = hashlib.sha256()
    for path in sorted(_sources(WEB)):
        digest.update(f"{path.relative_to(WEB).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            if path.name != "node_modules" and not path.name.startswith("."):
                yield from _sources(path)
        elif not path.name.startswith("."):
            yield path


def _check_node() -> None:
    wanted = ".".join(map(str, NODE))
    if not shutil.which("node") or not shutil.which("npm"):
        raise NoNode(f"Node {wanted} or later, with npm, is not installed")
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    found = re.match(r"v(\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < NODE:
        raise NoNode(f"Node {wanted} or later is needed, and {said or 'an unknown version'} is installed")


def _install() -> None:
    _check_node()
    if not _installed():
        _npm("ci", "--no-audit", "--no-fund")


def _installed() -> bool:
    """Whether node_modules holds what the lock file names, in its versions."""
    record = WEB / "node_modules" / ".package-lock.json"
    if not record.exists():
        return False
    wanted, there = (json.loads(path.read_text())["packages"] for path in (WEB / "package-lock.json", record))
    return all(
        name in there and there[name].get("version") == about.get("version")
        for name, about in wanted.items()
        if name and not about.get("optional")
    )


def _npm(*arguments: str) -> None:
    npm = shutil.which("npm") or "npm"
    done = subprocess.run([npm, *arguments], cwd=WEB, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-25:])
        raise Unbuilt(f"npm {arguments[0]} failed in {WEB.name}/:\n{said}")


def must_not_pass(fault: Unbuilt) -> bool:
    """Whether to stop at it: everything goes on without the pages, but a broken build is seen under CI."""
    return bool(os.environ.get("CI")) and not isinstance(fault, NoNode)


def main() -> int:
    try:
        built = ensure_pages()
    except Unbuilt as fault:
        sys.stderr.write(f"The studio's pages were not built: {fault}. ({WITHOUT.capitalize()}.)\n")
        return 1 if must_not_pass(fault) else 0
    sys.stderr.write("The studio's pages were built.\n" if built else "The studio's pages are up to date.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

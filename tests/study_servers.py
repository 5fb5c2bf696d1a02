"""What the tests of studies share: small studies, a real PostgreSQL, a studio that can be killed."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[1]
WORDS = "boat house tree lamp chair river cloud stone bread horse".split()


def annotation_items(count: int) -> tuple[list[dict], list[dict]]:
    """Sets of ten sentences as a draw gives them."""
    items = [
        {"id": f"id{n}", "corpus": "tales", "sentences": [f"The {word} of story {n}." for word in WORDS]}
        for n in range(count)
    ]
    conditions = ("neuron", "random direction", "random sentences")
    key = [{"id": f"id{n}", "condition": conditions[n % 3], "direction": None, "rows": [n]} for n in range(count)]
    return items, key


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server of our own, which listens on a socket in its own folder."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin")) or [Path(found).parent for found in _on_path()]
    if not programs:
        pytest.skip("needs PostgreSQL's initdb and pg_ctl")
    folder = Path(tempfile.mkdtemp(prefix="theodolite-pg-"))
    # It refuses to run as root.
    user = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
    as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
    os.chown(folder, user.pw_uid, user.pw_gid)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs[-1] / program), *arguments]
        with (folder / "out.txt").open("ab") as out:
            how = {"cwd": folder, "stdout": out, "stderr": out, "stdin": subprocess.DEVNULL, **as_user}
            done = subprocess.run(command, check=False, **how)
        assert done.returncode == 0, (folder / "out.txt").read_text()

    data = str(folder / "data")
    run("initdb", "-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    run("pg_ctl", "-D", data, "-w", "-o", f"-c listen_addresses='' -k {folder}", "start")
    try:
        yield f"postgresql://owner@/postgres?host={folder}"
    finally:
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder)


def _on_path() -> list[str]:
    found = shutil.which("initdb")
    return [found] if found else []


class KillableStudio:
    """A studio in a process of its own that can be killed at any moment and started again, on the same port.

    A process that has everything imported forks it, so that starting again takes no time.
    """

    def __init__(self, database: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__, database, str(self.port)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._launcher = subprocess.Popen(command, env=environment, text=True, **pipes)
        self.pid = 0

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.pid = int(self._tell("start"))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                httpx.get(f"{self.address}/api/annotate/nobody/about", timeout=5)
                return
            except httpx.TransportError:
                time.sleep(0.01)
        raise AssertionError("the studio does not answer")

    def kill(self) -> None:
        """End it by SIGKILL."""
        os.kill(self.pid, signal.SIGKILL)
        assert self._tell("wait") == str(signal.SIGKILL.value)

    def close(self) -> None:
        """End everything."""
        assert self._launcher.stdin and self._launcher.stdout
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
        self._launcher.stdin.close()
        self._launcher.wait()
        self._launcher.stdout.close()

    def _tell(self, what: str) -> str:
        assert self._launcher.stdin and self._launcher.stdout
        self._launcher.stdin.write(f"{what}\n")
        self._launcher.stdin.flush()
        return self._launcher.stdout.readline().strip()


def _launch(database: str, port: int) -> None:
    from theodolite.studio.app import make_studio
    from theodolite.studio.serve import listen, safe_settings, serve

    settings = safe_settings("127.0.0.1", port, None)
    app = make_studio(database=database)
    # No connection may be shared with a child.
    app.state.workspace.database.close()
    child = 0
    for line in sys.stdin:
        if line.strip() == "start":
            child = os.fork()
            if child == 0:
                serve(app, settings, listen(settings, fixed=True), browser=False)
                os._exit(0)
            print(child, flush=True)
        else:
            _, status = os.waitpid(child, 0)
            print(os.WTERMSIG(status), flush=True)


if __name__ == "__main__":
    _launch(sys.argv[1], int(sys.argv[2]))

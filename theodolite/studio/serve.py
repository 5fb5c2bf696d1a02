"""Serving the studio: a port, the browser, and leaving cleanly."""

from __future__ import annotations

import logging
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI

from theodolite.errors import InputError
from theodolite.studio.settings import Settings, reached_by_others

# Ports that are tried after one that is taken, before any free one is.
_NEXT_PORTS = 20


def safe_settings(host: str, port: int, token: str | None, names: Sequence[str] = ()) -> Settings:
    """The settings for a host; where others can reach it and no token is given, one is made up."""
    if token is None and reached_by_others(host, names):
        token = secrets.token_urlsafe(24)
    return Settings(host=host, port=port, token=token, names=tuple(names))


def listen(settings: Settings, *, fixed: bool) -> socket.socket:
    """A socket that listens; on another port where the one asked for is taken and need not be that one."""
    ports = [settings.port] if fixed else [*range(settings.port, settings.port + _NEXT_PORTS), 0]
    for port in ports:
        try:
            return _bound(settings.host, port)
        except OSError as fault:
            if port == ports[-1] or not _taken(fault):
                raise InputError(f"{settings.host}:{port}: cannot listen there ({fault.strerror})") from None
    raise AssertionError("the last port either listens or is told")


def serve(app: FastAPI, settings: Settings, listening: socket.socket, *, browser: bool, path: str = "/") -> None:
    """Answer until interrupted; says the address on standard error and opens it in the browser where asked."""
    port = int(listening.getsockname()[1])
    address = f"http://{_shown(settings.host)}:{port}{path}"
    if settings.token is not None:
        address += f"?token={quote(settings.token)}"
    if port != settings.port:
        sys.stderr.write(f"Port {settings.port} is taken; this is {port}.\n")
    sys.stderr.write(f"The studio is at {address}\nCtrl-C ends it.\n")
    sys.stderr.flush()
    # An address has the token in it, so none is logged.
    config = uvicorn.Config(app, log_level=logging.WARNING, access_log=False, server_header=False)
    server = uvicorn.Server(config)
    if browser:
        threading.Thread(target=_open_when_up, args=(server, address), daemon=True).start()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        # uvicorn hands the interrupt on once it has ended; that is how a studio is left.
        pass
    finally:
        listening.close()
    sys.stderr.write("The studio is closed.\n")


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening


def _taken(fault: OSError) -> bool:
    import errno

    return fault.errno == errno.EADDRINUSE


def _shown(host: str) -> str:
    """The host as an address for people: one that listens everywhere is asked for by the machine's name."""
    if host in ("0.0.0.0", "::", ""):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _open_when_up(server: uvicorn.Server, address: str) -> None:
    pause = threading.Event()
    while not server.started and not server.should_exit:
        pause.wait(0.05)
    if server.started:
        webbrowser.open(address)

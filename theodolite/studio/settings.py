"""Where the studio listens, and what it lets in."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.errors import InputError

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Settings:
    """Where the studio listens, and what it lets in.

    token: whoever asks must show it; a studio that others can reach has to have one. names: further names by which
    the machine may be asked for, such as an alias, or that of a proxy in front of it. max_body: bytes of a request's
    body.

    >>> Settings().open_to_others
    False
    """

    host: str = "127.0.0.1"
    port: int = 8400
    token: str | None = None
    names: tuple[str, ...] = ()
    max_body: int = 1_000_000

    def __post_init__(self) -> None:
        if self.token is not None and not self.token.isascii():
            raise InputError("--token: letters, digits and signs of ASCII only: it travels in a header")
        if self.token is not None and len(self.token) < 8:
            raise InputError("--token: give at least 8 characters, or none for a random one")
        for name in self.names:
            if re.fullmatch(r"[\w.-]+", name) is None and address_of(name) is None:
                raise InputError(f"--name {name}: only the host's name is wanted, without http://, port or path")
        if self.open_to_others and self.token is None:
            raise InputError(f"--host {self.host}: others can reach it, so it needs a token; give one with --token")

    @property
    def open_to_others(self) -> bool:
        """Whether other machines can reach it: at its address, or by a name, through a proxy."""
        return reached_by_others(self.host, self.names)


def reached_by_others(host: str, names: Sequence[str]) -> bool:
    """Whether other machines can ask a studio that listens on a host and has further names.

    >>> reached_by_others("127.0.0.1", ()), reached_by_others("127.0.0.1", ("lab.example",))
    (False, True)
    """
    return not all(map(is_loopback, (host, *names)))


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's own, for itself.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("localhost.evil.org")
    (True, True, False, False)
    """
    if host.lower() in LOOPBACK_NAMES:
        return True
    address = address_of(host)
    return address is not None and address.is_loopback


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host is written as; None where it is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None

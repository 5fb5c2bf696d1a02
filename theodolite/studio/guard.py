"""The door of the studio: who may ask, how much, and what every answer carries.

Outermost of all, so that nothing of the application is reached past it and no answer, not even of a failure, leaves
without its headers.
"""

from __future__ import annotations

import hmac
import socket
from html import escape
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from theodolite.studio.faults import fault
from theodolite.studio.settings import Settings, address_of, is_loopback

COOKIE = "theodolite"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "worker-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# What annotators need: their own token, in the address, is checked by the routes themselves.
_FOR_ANNOTATORS = ("/a/", "/api/annotate/", "/assets/")
# Files that their page names beside those.
_OF_THEIR_PAGE = ("/theme.js", "/icon.svg")
# A path that is still encoded after so many decodings is nobody's name.
_DECODED = 4
_A_YEAR = 365 * 24 * 3600


class Guard:
    """Checks Host, Origin, token and size of every request, and adds the headers of every answer."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings
        self._names = _own_names(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # The studio has none, so whoever asks for one is a stranger.
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("cache-control", "no-store")
            await send(message)

        refused = self._refused(scope)
        body = None if refused else await self._body(scope, receive)
        if refused is None and body is None:
            refused = fault(413, f"the request is larger than {self.settings.max_body:,} bytes")
        if refused is not None:
            await refused(scope, receive, with_headers)
            return
        await self.app(scope, _replayed(body or [], receive), with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        """The answer to a request that is not let in."""
        headers = Headers(scope=scope)
        if not self._own_host(headers.getlist("host")):
            return fault(403, "this studio is not called that; use the address that it printed")
        if not _own_origin(headers, scope["scheme"]):
            return fault(403, "another site asked this studio, and it answers only its own pages")
        if not _plain_path(scope["path"]):
            return fault(400, "the address is not a page's")
        return self._without_token(scope, headers)

    def _own_host(self, hosts: list[str]) -> bool:
        """One Host header, that names this machine. A name that merely leads here (DNS rebinding) is a stranger's."""
        if len(hosts) != 1 or "@" in hosts[0]:
            return False
        try:
            name = urlsplit(f"//{hosts[0]}").hostname or ""
        except ValueError:
            return False
        if is_loopback(name) or name in self._names:
            return True
        # No stranger's page can be at an address without a name.
        return self.settings.open_to_others and address_of(name) is not None

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        wanted = self.settings.token
        path = scope["path"]
        if wanted is None or path.startswith(_FOR_ANNOTATORS) or path in _OF_THEIR_PAGE:
            return None
        if any(_same(shown, wanted) for shown in (_cookie(headers), _bearer(headers))):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] == "GET" and any(_same(value, wanted) for name, value in query if name == "token"):
            rest = [pair for pair in query if pair[0] != "token"]
            return _let_in(wanted, path, urlencode(rest))
        return fault(401, "this studio needs its token: open the address that it printed, which has it")

    async def _body(self, scope: Scope, receive: Receive) -> list[Message] | None:
        """The whole body, or None where it is too large; a length that is told is believed only to refuse."""
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self.settings.max_body:
            return None
        if length == "0" and "transfer-encoding" not in headers:
            return []
        messages: list[Message] = []
        size = 0
        while not messages or messages[-1].get("more_body"):
            messages.append(await receive())
            size += len(messages[-1].get("body", b""))
            if size > self.settings.max_body:
                return None
        return messages


def _replayed(messages: list[Message], receive: Receive) -> Receive:
    """Gives what was received again, and then goes on."""
    waiting = iter(messages)

    async def again() -> Message:
        return next(waiting, None) or await receive()

    return again


def _own_names(settings: Settings) -> frozenset[str]:
    """The names by which this machine may be asked for."""
    names = {settings.host, *settings.names}
    if settings.open_to_others:
        here = socket.gethostname()
        names |= {here, f"{here}.local", socket.getfqdn()}
    return frozenset(name.lower() for name in names)


def _own_origin(headers: Headers, scheme: str) -> bool:
    """Whether the page that asks, where the browser names it, came from this very host."""
    return all(
        origin.lower() in (f"{scheme}://{headers['host']}".lower(), f"https://{headers['host']}".lower())
        for origin in headers.getlist("origin")
    )


def _plain_path(path: str) -> bool:
    """Whether a path can be an address of ours, even if its percent signs are decoded again and again."""
    if not path.startswith("/"):
        return False
    for _ in range(_DECODED):
        if "\0" in path or "\\" in path or ".." in path.split("/"):
            return False
        decoded = unquote(path)
        if decoded == path:
            return True
        path = decoded
    return False


def _bearer(headers: Headers) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token if kind.lower() == "bearer" else ""


def _cookie(headers: Headers) -> str:
    # Not by the standard library, which stops at the first cookie that it dislikes, and that may be another's.
    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _let_in(token: str, path: str, query: str) -> Response:
    """Keeps the token in a cookie, and goes on to the same address without it.

    By a page of our own and not by a redirect: a strict cookie is not sent along one that began in a stranger's mail.
    """
    to = quote(path) + (f"?{query}" if query else "")
    head = f'<meta charset="utf-8"><title>Theodolite</title><meta http-equiv="refresh" content="0;url={escape(to)}">'
    answer = HTMLResponse(f'<!DOCTYPE html>{head}<p><a href="{escape(to)}">Go on to the studio</a>')
    answer.headers["cache-control"] = "no-store"
    answer.set_cookie(COOKIE, token, max_age=_A_YEAR, httponly=True, samesite="strict")
    return answer

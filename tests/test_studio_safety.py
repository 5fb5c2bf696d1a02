"""The studio's door, over real sockets: who is let in, how much, and what every answer carries."""

from __future__ import annotations

import hmac
import http.client
import json
import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import uvicorn
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from theodolite import InputError, make_studio
from theodolite.cli.main import main
from theodolite.corpus.arrow_file import write_batches
from theodolite.encoder.resolve import resolve
from theodolite.reading import Reading
from theodolite.store import Store
from theodolite.studio import pages, serve
from theodolite.studio.guard import COOKIE, POLICY
from theodolite.studio.settings import Settings, is_loopback
from theodolite.studio.texts import find_corpus

TOKEN = "a-token-of-enough-letters"
HOSTILE = "<script>alert(1)</script> \u202eevil\u202c " + "x" * 100_000 + " \"'&</title>"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
SECRET = "the contents of a file outside"


class Server:
    """A studio behind uvicorn on a port of this machine, asked in raw HTTP."""

    def __init__(self, app, port: int) -> None:
        self.app, self.port = app, port

    def ask(
        self, path: str, method: str = "GET", *, headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Host": f"127.0.0.1:{self.port}", **(headers or {})}
        if body is not None:
            sent.setdefault("Content-Length", str(len(body)))
        try:
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                link.putheader(name, value)
            link.endheaders(body)
            answer = link.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            link.close()

    def raw(self, request: bytes) -> bytes:
        """What comes back on a connection of its own."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as link:
            try:
                link.sendall(request)
                return b"".join(iter(lambda: link.recv(65536), b""))
            except (BrokenPipeError, ConnectionResetError):
                return b""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def served(app) -> Iterator[Server]:
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield Server(app, listening.getsockname()[1])
    server.should_exit = True
    thread.join(30)


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built pages, with a file beside them that is nobody's business."""
    place = tmp_path_factory.mktemp("package")
    (place / "secret.txt").write_text(SECRET)
    static = place / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<!DOCTYPE html><title>the studio</title>")
    (static / "annotate.html").write_text("<!DOCTYPE html><title>the annotator</title>")
    (static / "assets" / "main.js").write_text("0")
    for name in ("theme.js", "icon.svg"):
        (static / name).write_text("0")
    return static


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A survey whose title, corpus, texts and findings are all hostile."""
    folder = tmp_path_factory.mktemp("surveys") / "<b>& hostile"
    encoder = {"name": HOSTILE, "hash": "0", "tokenizer_hash": "0", "layers": 1, "dim": 2, "window": "8/4"}
    corpora = [{"name": HOSTILE, "source": "../secret.txt", "hash": "../../secret", "texts": 1}]
    manifest = {"encoder": encoder, "corpora": corpora, "options": {"note": HOSTILE}}
    made = Reading({"rows": pa.table({"text": [HOSTILE]})}, [HOSTILE], {**manifest, "instrument": "embed"})
    made.save(folder / "embed", figures=False)
    about = json.loads((folder / "embed" / "reading.json").read_text()) | {"instrument": "embed"}
    (folder / "embed" / "reading.json").write_text(json.dumps(about))
    survey = {**manifest, "title": HOSTILE, "readings": ["embed"], "left_out": {"illusion": HOSTILE}}
    (folder / "manifest.json").write_text(json.dumps(survey))
    return folder


@pytest.fixture(scope="module")
def studio(static: Path, hostile: Path) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "STATIC", static)
        app = make_studio([hostile])

        @app.get("/api/fails")
        def fails() -> None:
            raise RuntimeError("an unforeseen fault")

        # Before the addresses that answer whatever is left.
        app.router.routes.insert(0, app.router.routes.pop())
        yield from served(app)


@pytest.fixture(scope="module")
def public(static: Path, hostile: Path) -> Iterator[Server]:
    """One that others can reach, as its settings have it (it listens here all the same)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "STATIC", static)
        settings = Settings(host="0.0.0.0", token=TOKEN, names=("studio.example.org",))
        yield from served(make_studio([hostile], settings=settings))


# Host and Origin


@pytest.mark.parametrize(
    "host",
    [
        "evil.org",
        "evil.org:8400",
        "localhost.evil.org",
        "127.0.0.1.evil.org",
        "evil.org@127.0.0.1",
        "0.0.0.0",
        "192.168.1.5",
        "2130706433",
        "[::ffff:1.2.3.4]",
        "[",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/surveys", "/assets/main.js", "/a/token", "/api/annotate/token/about"])
def test_a_foreign_host_is_refused_everywhere(studio, host, path):
    status, _, body = studio.ask(path, headers={"Host": host})
    assert status in (400, 403)
    assert b"studio</title>" not in body and b"slug" not in body


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]:8400", "127.0.0.1:8400"])
def test_the_machine_s_own_names_are_let_in(studio, host):
    assert studio.ask("/api/surveys", headers={"Host": host})[0] == 200


def test_two_hosts_or_none_are_refused(studio):
    both = b"GET /api/surveys HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.org\r\nConnection: close\r\n\r\n"
    assert studio.raw(both).startswith((b"HTTP/1.1 400", b"HTTP/1.1 403"))
    none = b"GET /api/surveys HTTP/1.0\r\n\r\n"
    assert studio.raw(none).startswith((b"HTTP/1.1 400", b"HTTP/1.1 403"))


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("origin", ["http://evil.org", "null", "https://127.0.0.1.evil.org", "http://127.0.0.1:1", ""])
def test_a_foreign_origin_is_refused(studio, method, origin):
    status, headers, _ = studio.ask("/api/surveys/x/run", method, headers={"Origin": origin}, body=b"{}")
    assert status == 403
    assert not [name for name in headers if name.startswith("access-control")]


def test_its_own_origin_is_let_in(studio):
    own = {"Origin": f"http://127.0.0.1:{studio.port}"}
    assert studio.ask("/api/surveys", headers=own)[0] == 200


@pytest.mark.parametrize("more", ["", "Origin: http://evil.org\r\n"])
def test_a_websocket_is_refused(studio, more):
    asked = (
        f"GET /api/surveys HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n{more}Connection: Upgrade, close\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    answer = studio.raw(asked.encode())
    assert b"101 Switching" not in answer


def test_a_websocket_is_closed_by_the_guard_itself(studio):
    import asyncio

    sent: list[dict] = []

    async def send(message) -> None:
        sent.append(message)

    asyncio.run(studio.app({"type": "websocket", "path": "/", "headers": []}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


# The token


def test_a_studio_for_others_cannot_be_made_without_a_token():
    for host in ("0.0.0.0", "::", "192.168.1.5", "studio.example.org", ""):
        assert not is_loopback(host)
        with pytest.raises(InputError, match="needs a token"):
            Settings(host=host)
    with pytest.raises(InputError, match="at least 8"):
        Settings(host="0.0.0.0", token="short")


def _addresses(app) -> list[tuple[str, str]]:
    found = [(route.path, method) for route in app.routes if isinstance(route, APIRoute) for method in route.methods]
    described = app.openapi()["paths"]
    found += [(path, method.upper()) for path, methods in described.items() for method in methods]
    found += [(route.path, "GET") for route in app.routes if not isinstance(route, APIRoute) and hasattr(route, "path")]
    paths = {path for path, _ in found}
    return sorted({*found, *((path, method) for path in paths for method in ("GET", "HEAD", "OPTIONS"))})


def test_without_the_token_no_route_answers(public):
    addresses = _addresses(public.app)
    assert len(addresses) > 60
    for template, method in addresses:
        path = template.replace("{rest:path}", "x").replace("{path:path}", "s/x/map")
        path = path.replace("{slug}", "b-hostile").replace("{", "").replace("}", "")
        if path.startswith(("/a/", "/api/annotate/")):
            continue
        status, headers, body = public.ask(path, method, body=b"{}" if method == "POST" else None)
        assert status == 401, (method, path)
        assert method == "HEAD" or json.loads(body) == {
            "detail": "this studio needs its token: open the address that it printed, which has it"
        }
        assert "set-cookie" not in headers


def test_annotators_get_their_page_and_nothing_else_without_the_studio_s_token(public):
    assert b"the annotator" in public.ask("/a/some-token")[2]
    page = (Path(pages.__file__).parent / "web" / "annotate.html").read_text()
    named = [path for path in re.findall(r'(?:href|src)="([^"]+)"', page) if not path.startswith("/src/")]
    for path in ("/assets/main.js", *named):
        assert public.ask(path)[0] == 200, path
    assert set(named) == {"/theme.js", "/icon.svg"}
    # Their own token is asked for instead.
    assert public.ask("/api/annotate/some-token/about")[0] in (403, 404)
    for path in ("/a/../api/surveys", "/assets/../index.html", "/api/annotate/../surveys", "/a/%2e%2e/api/surveys",
                 "/theme.js/../api/surveys", "/theme.js/x", "/icon.svgx"):  # fmt: skip
        assert public.ask(path)[0] in (400, 401), path


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer wrong-token-of-enough-letters"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": "Bearer \xff\xfe"},
        {"Cookie": f"{COOKIE}=wrong"},
        {"Cookie": f"other={TOKEN}"},
        {"Cookie": f"{COOKIE}=" + "\x01\x02"},
        {"X-Token": TOKEN},
    ],
)
def test_a_wrong_token_is_refused(public, headers):
    assert public.ask("/api/surveys", headers=headers)[0] in (400, 401)
    assert public.ask("/api/surveys?token=wrong")[0] == 401


def test_tokens_are_compared_in_constant_time(public, monkeypatch):
    compared = []
    plain = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append((a, b)) or plain(a, b))
    public.ask("/api/surveys", headers={"Authorization": "Bearer wrong"})
    assert (b"wrong", TOKEN.encode()) in compared


def test_the_token_lets_in_by_header_cookie_and_once_by_address(public):
    assert public.ask("/api/surveys", headers={"Authorization": f"Bearer {TOKEN}"})[0] == 200
    status, headers, body = public.ask(f"/s/x/map?colour=%3Cb%3E&token={TOKEN}")
    assert status == 200
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert b"url=/s/x/map?colour=%3Cb%3E" in body and TOKEN.encode() not in body and b"<b>" not in body
    kept = cookie.partition(";")[0]
    assert public.ask("/api/surveys", headers={"Cookie": kept})[0] == 200
    # Cookies of other applications on the same host come with it, written as they like.
    for others in ('prefs={"a":1}; {}', "{}; prefs={1}", "a b=[c]; {}", "; ;{}"):
        assert public.ask("/api/surveys", headers={"Cookie": others.replace("{}", kept)})[0] == 200, others
    # Only a page is opened so: nothing is changed by an address.
    assert public.ask(f"/api/surveys/x/run?token={TOKEN}", "POST", body=b"{}")[0] == 401


def test_a_studio_for_others_is_asked_for_by_its_own_names_only(public):
    known = {"Authorization": f"Bearer {TOKEN}"}
    for host in ("studio.example.org", socket.gethostname(), "192.168.1.5:8400", "localhost"):
        assert public.ask("/api/surveys", headers={**known, "Host": host})[0] == 200, host
    assert public.ask("/api/surveys", headers={**known, "Host": "evil.org"})[0] == 403
    foreign = {**known, "Origin": "http://evil.org"}
    assert public.ask("/api/surveys", headers=foreign)[0] == 403


def test_a_name_given_to_the_command_is_let_in(monkeypatch, tmp_path):
    asked = []

    def not_served(app, settings, listening, *, browser, path="/"):
        listening.close()
        client = TestClient(app, base_url="http://lab.example:8400")
        asked.append(client.get("/api/surveys", headers={"Authorization": f"Bearer {settings.token}"}).status_code)
        asked.append(client.get("/api/surveys").status_code)

    monkeypatch.setattr(serve, "serve", not_served)
    database = ["--database", str(tmp_path / "s.db")]
    port = ["--port", str(free_port())]
    for command in (["study", "serve", *database, *port, "--host", "0.0.0.0"], ["studio", *database, *port]):
        with pytest.raises(SystemExit) as left:
            main([*command, "--name", "other.example", "--name", "Lab.Example"])
        assert not left.value.code
    # Whoever is asked for by a name can be reached by others, and so has a token: behind a proxy too.
    assert asked == [200, 401, 200, 401]


@pytest.mark.parametrize("name", ["http://lab.example", "lab.example:8400", "lab.example/studio", " ", "a b"])
def test_a_name_that_no_request_can_have_is_told(name):
    with pytest.raises(InputError, match=r"--name .*without"):
        Settings(names=(name,), token=TOKEN)


# Paths


TRAVERSALS = [
    "../secret.txt",
    "..%2fsecret.txt",
    "%2e%2e/secret.txt",
    "%2e%2e%2fsecret.txt",
    "%252e%252e%252fsecret.txt",
    "%25252e%25252e/secret.txt",
    "..\\secret.txt",
    "..%5csecret.txt",
    "%2e%2e%5csecret.txt",
    "%00../secret.txt",
    "../secret.txt%00.js",
    "....//....//secret.txt",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "C:%5csecret.txt",
]


@pytest.mark.parametrize("climb", TRAVERSALS)
@pytest.mark.parametrize(
    "before",
    ["/assets/", "/api/", "/api/surveys/", "/api/surveys/b-hostile/readings/",
     "/api/surveys/b-hostile/readings/embed/tables/", "/api/surveys/b-hostile/readings/embed/figures/"],
)  # fmt: skip
def test_no_path_climbs_out(studio, before, climb):
    status, _, body = studio.ask(before + climb)
    assert status in (400, 404)
    assert SECRET.encode() not in body and b"root:" not in body


@pytest.mark.parametrize("climb", TRAVERSALS)
def test_no_page_s_address_is_a_file(studio, climb):
    status, _, body = studio.ask(f"/{climb}")
    assert SECRET.encode() not in body and b"root:" not in body
    if "." in climb.replace("secret.txt", "") or "%5c" in climb or "\\" in climb or "%00" in climb:
        assert status == 400 or b"the studio" in body
        assert status == 400 or climb.startswith("....")


def test_a_path_encoded_again_and_again_is_refused_at_once(studio):
    began = time.monotonic()
    assert studio.ask("/assets/%" + "25" * 15_000 + "2e")[0] in (400, 404, 414)
    assert time.monotonic() - began < 5


# Bodies


def test_a_body_that_says_it_is_too_large_is_refused_unread(studio):
    head = f"POST /api/surveys/x/run HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nConnection: close\r\n"
    assert studio.raw(f"{head}Content-Length: 1000001\r\n\r\n".encode()).startswith(b"HTTP/1.1 413")


def test_a_body_in_chunks_is_refused_once_it_is_too_large(studio):
    head = f"POST /api/surveys/x/run HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nTransfer-Encoding: chunked\r\n"
    with socket.create_connection(("127.0.0.1", studio.port), timeout=30) as link:
        link.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode())
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        sent = 0
        link.settimeout(0.2)
        answer = b""
        # Never ended: it must be refused while it is still coming.
        while not answer and sent < 5_000_000:
            try:
                link.sendall(chunk)
                sent += 0x10000
                answer = link.recv(65536)
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                break
    assert answer.startswith(b"HTTP/1.1 413")
    assert sent < 2_000_000


def test_a_body_of_the_size_allowed_is_read(studio):
    wrong = json.dumps({"instrument": "x" * 999_000}).encode()
    assert studio.ask("/api/surveys/b-hostile/run", "POST", body=wrong)[0] == 422
    chunked = f"POST /api/surveys/b-hostile/run HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nConnection: close\r\n"
    body = b'{"instrument": "none"}'
    whole = f"{chunked}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n"
    answer = studio.raw(whole.encode() + body + b"\r\n0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 422") and b"no instrument" in answer


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("readings/embed/tables/rows?offset=1" + "0" * 30, None),
        (f"salience/text?corpus=x&row={2**63}", None),
        (f"compare/texts?corpus=x&seed={2**64}", None),
        ("compare/texts?corpus=x&seed=-1", None),
        (f"directions?offset={2**63}", None),
        ("map/texts", {"points": [2**63]}),
    ],
)
def test_a_number_that_no_table_can_have_is_refused(studio, path, body):
    sent = None if body is None else json.dumps(body).encode()
    kind = {"Content-Type": "application/json"}
    status, _, answer = studio.ask(
        f"/api/surveys/b-hostile/{path}", "GET" if body is None else "POST", headers=kind, body=sent
    )
    assert status == 422, answer


# What every answer carries


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 200),
        ("/assets/main.js", {}, 200),
        ("/assets/none.js", {}, 404),
        ("/a/token", {}, 200),
        ("/api/surveys", {}, 200),
        ("/api/nothing", {}, 404),
        ("/api/fails", {}, 500),
        ("/api/surveys/b-hostile/readings/embed/tables/rows?limit=0", {}, 422),
        ("/api/surveys/b-hostile/readings/embed/tables/rows.csv", {}, 200),
        ("/api/surveys/b-hostile/download.zip", {}, 200),
        ("/api/surveys", {"Host": "evil.org"}, 403),
        ("/api/%2e%2e/x", {}, 400),
        ("/api/surveys", {"Content-Length": "2000000"}, 413),
    ],
)
def test_every_answer_carries_the_headers(studio, path, headers, status):
    found, sent, body = studio.ask(path, headers=headers)
    assert found == status
    for name, value in HEADERS.items():
        assert sent[name] == value, name
    if path.startswith("/api"):
        assert sent["cache-control"] == "no-store"
    if status >= 400:
        assert sent["content-type"] == "application/json"
        assert "\n" not in json.loads(body)["detail"]
    assert b"RuntimeError: an" not in body and b"Traceback" not in body


def test_the_policy_allows_no_inline_script_nor_style_nor_any_other_site():
    rules = dict(rule.strip().split(" ", 1) for rule in POLICY.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == rules["frame-ancestors"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert "unsafe" not in POLICY and "http" not in POLICY and "*" not in POLICY


def test_refusals_of_others_carry_the_headers_too(public):
    for path in ("/", "/api/surveys", f"/?token={TOKEN}"):
        _, sent, _ = public.ask(path)
        assert HEADERS.items() <= sent.items()


# Hostile text


def test_hostile_names_come_back_as_text_in_json(studio):
    for path in ("/api/surveys", "/api/surveys/b-hostile", "/api/surveys/b-hostile/readings/embed/tables/rows"):
        status, headers, body = studio.ask(path)
        assert (status, headers["content-type"]) == (200, "application/json")
        assert headers["x-content-type-options"] == "nosniff"
        json.loads(body)
    [listed] = json.loads(studio.ask("/api/surveys")[2])
    assert listed["title"] == listed["encoder"]["name"] == listed["corpora"][0]["name"] == HOSTILE
    page = json.loads(studio.ask("/api/surveys/b-hostile")[2])
    assert page["readings"][0]["findings"][0]["sentence"].casefold() == HOSTILE.casefold()
    assert page["readings"][0]["options"] == {"note": HOSTILE}
    assert page["left_out"]["illusion"] == HOSTILE
    # Neither the hash nor the source that it names leads to a file.
    assert page["without_texts"] == [HOSTILE]
    rows = json.loads(studio.ask("/api/surveys/b-hostile/readings/embed/tables/rows")[2])
    assert rows["rows"] == [{"text": HOSTILE}]


def test_no_hash_of_a_manifest_leads_out_of_the_folder_of_texts(tmp_path):
    (tmp_path / "corpora").mkdir()
    write_batches(tmp_path / "outside.arrow", pa.table({"row": [0], "text": [SECRET]}).to_batches())
    assert (tmp_path / "corpora" / "../outside.arrow").exists()
    about = {"name": "texts", "source": "memory", "hash": "../outside"}
    assert find_corpus(about, Store(tmp_path)) is None


def test_the_report_of_a_hostile_survey_escapes_everything(studio):
    status, headers, body = studio.ask("/api/surveys/b-hostile/report")
    assert status == 200
    assert headers["content-disposition"] == 'attachment; filename="b-hostile-report.html"'
    assert b"<script" not in body


def test_what_a_request_says_comes_back_as_text(studio):
    asked = "/api/surveys/%3Cscript%3Ealert(1)%3C%2Fscript%3E"
    status, headers, _ = studio.ask(asked)
    assert (status, headers["content-type"]) == (404, "application/json")


# Models


def test_a_model_of_pickled_weights_is_not_opened(tmp_path):
    folder = Path(shutil.copytree(resolve("all-MiniLM-L6-v2").path, tmp_path / "pickled"))
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="only safetensors are read"):
        make_studio([], models=[folder])


def test_a_model_s_own_code_is_not_run(tmp_path):
    folder = Path(shutil.copytree(resolve("all-MiniLM-L6-v2").path, tmp_path / "coded"))
    trap = tmp_path / "it-ran"
    (folder / "modeling_evil.py").write_text(f"open({str(trap)!r}, 'w')\nfrom transformers import BertModel as Evil\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "evil",
        "auto_map": {"AutoConfig": "modeling_evil.Evil", "AutoModel": "modeling_evil.Evil"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    app = make_studio([], models=[folder])
    with pytest.raises(InputError):
        app.state.workspace.encoder()
    assert not trap.exists()

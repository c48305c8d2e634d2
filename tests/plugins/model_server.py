"""A local server that imitates the Hugging Face hub and other hosts, with configurable faults."""

import hashlib
import json
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_secretsecretsecret"
_API = re.compile(r"/api/models/([^/]+/[^/]+)(?:/revision/([^/]+))?")
_FILE = re.compile(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")
_LARGE = 10_000  # bytes; larger files have a sha256 in the listing, like those in LFS


@dataclass
class Served:
    """One file, and its faults."""

    data: bytes
    listed: dict[str, object] | None = None  # replaces the true listing
    cut_after: int | None = None  # bytes after which the connection breaks, once
    always_cut: bool = False
    sends: bytes | None = None  # other content, with the original length announced
    sends_times: int = 99
    etag: str | None = '"one"'
    ranges: bool = True
    status: int | None = None
    status_times: int = 99
    disposition: str | None = None
    location: str | None = None
    hold: threading.Event | None = None  # half is sent, then it waits


@dataclass
class Repository:
    """A model on the hub."""

    files: dict[str, Served] = field(default_factory=dict)
    gated: bool = False
    private: bool = False
    card: dict[str, object] | None = None
    locations: str | None = None  # redirects to another host, like a CDN


@dataclass
class Asked:
    """A request received."""

    path: str
    range: str | None
    token: str | None
    sent: int = 0  # bytes of content


class ModelServer:
    """The content it serves, and the requests it received."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.links: dict[str, Served] = {}
        self.searches: dict[str, bytes] = {}  # answers by the kind of model
        self.searched: list[dict[str, list[str]]] = []
        self.asked: list[Asked] = []
        self.half = threading.Event()  # set when half of a held file has been sent
        self.faults: list[BaseException] = []  # bugs of this server, not injected faults
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add(self, name: str, folder: Path | None = None, **files: bytes) -> Repository:
        """Add a model with the files of a folder, or the given ones."""
        found = {} if folder is None else {p.relative_to(folder).as_posix(): p.read_bytes() for p in _inside(folder)}
        served = {path: Served(data) for path, data in (found | files).items()}
        self.repositories[name] = Repository(files=served)
        return self.repositories[name]

    def link(self, path: str, data: bytes, **faults: object) -> str:
        """Add a file and return its URL."""
        self.links[path] = Served(data, **faults)
        return self.url + path

    def sent(self, end: str) -> int:
        """Return how many bytes of files with this suffix were sent."""
        return sum(one.sent for one in self.asked if one.path.endswith(end))


class _Server(ThreadingHTTPServer):
    """Records errors so that the test fails; disconnecting clients are no errors."""

    daemon_threads = True
    owner: "ModelServer"

    def handle_error(self, request: object, client_address: object) -> None:
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError):
            self.owner.faults.append(error)


def _inside(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def owner(self) -> ModelServer:
        assert isinstance(self.server, _Server)
        return self.server.owner

    def do_GET(self) -> None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ") or None
        parts = urlsplit(self.path)
        self.request_seen = Asked(path=parts.path, range=self.headers.get("Range"), token=token)
        self.owner.asked.append(self.request_seen)
        path = unquote(parts.path)
        if match := _API.fullmatch(path):
            assert parse_qs(parts.query).get("blobs") in (["True"], ["true"]), "sizes were not asked for"
            self.tell_model(match[1], match[2], token)
        elif path == "/api/models":
            self.owner.searched.append(parse_qs(parts.query))
            self.send_bytes(self.owner.searches.get(self.owner.searched[-1]["filter"][0], b"[]"))
        elif match := _FILE.fullmatch(path):
            self.send_of_model(match[1], match[2], match[3], token)
        elif path in self.owner.links:
            self.send_file(self.owner.links[path])
        else:
            self.refuse(404)

    do_HEAD = do_GET

    def tell_model(self, name: str, revision: str | None, token: str | None) -> None:
        repository = self.owner.repositories.get(name)
        if repository is None or (repository.private and token != TOKEN):
            return self.refuse(401, "RepoNotFound")
        if revision not in (None, "main", "v1", COMMIT):
            return self.refuse(404, "RevisionNotFound")
        told = {
            "_id": "1",
            "id": name,
            "modelId": name,
            "sha": COMMIT,
            "private": False,
            "gated": "auto" if repository.gated else False,
            "tags": [],
            "downloads": 0,
            "siblings": [listed(path, file) for path, file in repository.files.items()],
        }
        if repository.card is not None:
            told["cardData"] = repository.card
        return self.send_json(told)

    def send_of_model(self, name: str, revision: str, path: str, token: str | None) -> None:
        repository = self.owner.repositories.get(name)
        if repository is None:
            return self.refuse(404, "RepoNotFound")
        if repository.gated and token != TOKEN:
            return self.refuse(403 if token else 401, "GatedRepo")
        if revision != COMMIT or path not in repository.files:
            return self.refuse(404, "EntryNotFound")
        if repository.locations is not None:
            return self.redirect(f"{repository.locations}/{path}")
        return self.send_file(repository.files[path])

    def send_json(self, value: object) -> None:
        self.send_bytes(json.dumps(value).encode())

    def send_bytes(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.write(data)

    def refuse(self, status: int, code: str | None = None) -> None:
        self.send_response(status)
        if code is not None:
            self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def redirect(self, location: str) -> None:
        self.send_response(302)
        self.send_header("Location", location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send_file(self, file: Served) -> None:
        if file.location is not None:
            return self.redirect(file.location)
        if file.status is not None and file.status_times > 0:
            file.status_times -= 1
            return self.refuse(file.status)
        data = file.data
        if file.sends is not None and file.sends_times > 0:
            file.sends_times -= 1
            data = file.sends
        start, end = self.span(file, len(data))
        if start > len(data):
            return self.refuse(416)
        self.send_response(206 if self.ranged else 200)
        if self.ranged:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        if file.etag is not None:
            self.send_header("ETag", file.etag)
        if file.disposition is not None:
            self.send_header("Content-Disposition", file.disposition)
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        return self.send_data(file, data[start:end])

    def span(self, file: Served, length: int) -> tuple[int, int]:
        """Return the requested byte range; the whole file without range support or after a change of content."""
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        changed = self.headers.get("If-Range") not in (None, file.etag)
        self.ranged = bool(asked) and file.ranges and not changed
        if asked is None or not self.ranged:
            return 0, length
        return int(asked[1]), min(length, int(asked[2]) + 1) if asked[2] else length

    def send_data(self, file: Served, data: bytes) -> None:
        if file.hold is not None and len(data) > 512:
            self.write(data[: len(data) // 2])
            self.owner.half.set()
            file.hold.wait(60)
            data = data[len(data) // 2 :]
        if file.cut_after is not None and len(data) > file.cut_after:
            self.write(data[: file.cut_after])
            if not file.always_cut:
                file.cut_after = None
            self.close_connection = True
            return
        self.write(data)

    def write(self, data: bytes) -> None:
        self.request_seen.sent += len(data)  # before the client can have them all, and look
        try:
            self.wfile.write(data)
            self.wfile.flush()
        except OSError:
            self.close_connection = True  # the client was stopped

    def log_message(self, *_: object) -> None:
        pass


def listed(path: str, file: Served) -> dict[str, object]:
    """Return a file's entry in the hub's listing."""
    size = len(file.data)
    blob = hashlib.sha1(b"blob %d\0" % size + file.data).hexdigest()
    told: dict[str, object] = {"rfilename": path, "size": size, "blobId": blob}
    if size > _LARGE:
        told["lfs"] = {"size": size, "sha256": hashlib.sha256(file.data).hexdigest(), "pointerSize": 134}
    return told | (file.listed or {})


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A server without models."""
    server = ModelServer()
    yield server
    server.close()
    assert server.faults == []

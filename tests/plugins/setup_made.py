"""Small payloads, wheels and a server with faults, for the tests of the bootstrap."""

import hashlib
import http.server
import json
import os
import sys
import threading
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mezzotint_setup.events import Reporter, Stop
from mezzotint_setup.install import Installer
from mezzotint_setup.payload import Payload
from mezzotint_setup.root import Root

# Stands in for uv: makes environments of links, and unpacks wheels after comparing their hash.
FAKE_UV = """#!{python} -IS
import hashlib, os, sys, zipfile
words = sys.argv[1:]
if words[0] == "venv":
    os.makedirs(words[-1] + "/bin")
    os.makedirs(words[-1] + "/lib/python{minor}/site-packages")
    os.symlink({python!r}, words[-1] + "/bin/python")
    open(words[-1] + "/pyvenv.cfg", "w").write("home = " + os.path.dirname({python!r}) + "\\n")
    sys.exit()
links = [words[n + 1] for n, word in enumerate(words) if word == "--find-links"]
site = os.path.dirname(os.path.dirname(words[-2])) + "/lib/python{minor}/site-packages"
here = {{}}
for folder in links:
    for name in os.listdir(folder):
        if name.endswith(".whl"):
            path = os.path.join(folder, name)
            here[hashlib.sha256(open(path, "rb").read()).hexdigest()] = path
for line in open(words[-1]):
    wanted = line.strip().rpartition(":")[2]
    if wanted not in here:
        sys.exit("no wheel for " + line)
    zipfile.ZipFile(here[wanted]).extractall(site)
"""
MAIN = """
import json, pathlib, sys
if sys.argv[1] == "generate":
    pathlib.Path(sys.argv[-1]).write_text("image")
else:
    print(json.dumps({doctor!r}))
"""
CPU_REPORT = {"torch": {"devices": [{"id": "cpu"}]}, "kernels": {"failed": []}}
ENGINE = {
    "torch": "class ones:\n    def __init__(self, n): pass\n    def __matmul__(self, other): return 0\n",
    "diffusers": "",
    "transformers": "",
}


def write_wheel(folder: Path, name: str, version: str, files: dict[str, str], padding: int = 0) -> Path:
    """Write a wheel; padding is bytes that do not compress."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, text in files.items():
            archive.writestr(zipfile.ZipInfo(inside), text)
        if padding:
            archive.writestr(zipfile.ZipInfo(f"{name}.bin"), hashlib.shake_128(name.encode()).digest(padding))
    return path


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_payload(
    folder: Path, served: Path, url: str, *, version: str = "1.0", report: object = None, padding: int = 5000
) -> Path:
    """Write a payload, whose wheels are put where the server has them."""
    for one in (folder / "wheels", folder / "locks", served):
        one.mkdir(parents=True, exist_ok=True)
    python = getattr(sys, "_base_executable", sys.executable)
    minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
    (folder / "uv").write_text(FAKE_UV.format(python=python, minor=minor))
    (folder / "uv").chmod(0o755)
    started = f"import os, sys\nprint({version!r}, *sys.argv[1:], os.environ.get('MEZZOTINT_FIRST_START', ''))\n"
    files = {
        "mezzotint/__init__.py": "",
        "mezzotint/engine.py": "",
        "mezzotint/__main__.py": MAIN.format(doctor=report or CPU_REPORT),
        "mezzotint_app/__init__.py": "",
        "mezzotint_app/main.py": "",
        "mezzotint_app/__main__.py": started,
    }
    write_wheel(folder / "wheels", "mezzotint", version, files)
    lines = ['lock-version = "1.0"']
    for name, text in ENGINE.items():
        path = write_wheel(served, name, "1", {f"{name}.py": text}, padding)
        wheel = (
            f'{{ url = "{url}/{path.name}", size = {path.stat().st_size}, hashes = {{ sha256 = "{sha256(path)}" }} }}'
        )
        lines.append(f'[[packages]]\nname = "{name}"\nversion = "1"\nwheels = [{wheel}]')
    lines.append("[tool.mezzotint]\ninstalled = 100000")
    for backend in ("window", "cpu", "cu130"):
        (folder / "locks" / f"pylock.{backend}.toml").write_text("\n".join(lines))
    seal(folder, version)
    return folder


def seal(folder: Path, version: str = "1.0", **more: object) -> None:
    """Write payload.json for what is there."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.name != "payload.json"]
    files = {path.relative_to(folder).as_posix(): sha256(path) for path in found}
    (folder / "payload.json").write_text(json.dumps({"version": version, "files": files, **more}))


@dataclass
class Faults:
    """What the server does wrong."""

    cut_after: int | None = None  # bytes of an answer after which the connection ends
    ranges: bool = True
    statuses: list[int] = field(default_factory=list)  # of the next answers
    replaced: bytes | None = None  # sent instead of the file
    asked: list[tuple[str, str | None]] = field(default_factory=list)  # path and range of each request


class Server:
    """Serves a folder on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.faults = folder, Faults()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        """Send a file, with the faults that are set."""
        faults, wanted = self.faults, request.headers.get("Range")
        faults.asked.append((request.path, wanted))
        path = self.folder / request.path.rpartition("/")[2]
        status = faults.statuses.pop(0) if faults.statuses else 200 if path.is_file() else 404
        data = b"" if status != 200 else path.read_bytes() if faults.replaced is None else faults.replaced
        total, first = len(data), 0
        if wanted and faults.ranges and status == 200:
            first = int(wanted.removeprefix("bytes=").removesuffix("-"))
            status = 206 if first < total else 416
            data = data[first:]
        request.send_response(status)
        request.send_header("Content-Length", str(len(data)))
        if status == 206:
            request.send_header("Content-Range", f"bytes {first}-{total - 1}/{total}")
        request.end_headers()
        request.wfile.write(data[: faults.cut_after])


class Impatient(Stop):
    """Does not wait between attempts."""

    def wait(self, seconds: float) -> None:
        """Only look whether to pause."""
        self.check()


class Events(Reporter):
    """Keeps events instead of writing them."""

    def __init__(self) -> None:
        super().__init__(clock=iter(range(10**9)).__next__)
        self.told: list[dict[str, object]] = []

    def _tell(self, event: Mapping[str, object], text: str) -> None:
        self.told.append({**event, "text": text})


def installer(root: Path, payload: Path, **options: object) -> Any:
    """Return an Installer whose reporter keeps its events in `told`."""
    made = {"reporter": Events(), "stop": Impatient(), **options}
    return Installer(root=Root(root), payload=Payload.read(payload), **made)


def command(words: list[str], root: Path, payload: Path) -> list[str]:
    """Return the words that run the bootstrap as a process."""
    return [sys.executable, "-m", "mezzotint_setup", *words, "--root", str(root), "--payload", str(payload)]


def environment() -> dict[str, str]:
    """Return the environment for it."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "packaging" / "setup")}

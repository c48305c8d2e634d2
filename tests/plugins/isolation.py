"""Isolate tests from the network and from the user's models and settings, and fix the number of threads."""

import contextlib
import itertools
import os
import shutil
import signal
import site
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mezzotint.libraries import defer_imports, offline_environment

THREADS = 1
LOCAL_NAMES = {"", "localhost", "localhost.localdomain", "ip6-localhost", "::", "::1", "0.0.0.0"}
ENVIRONMENT = {
    "QT_QPA_PLATFORM": "offscreen",
    "OMP_NUM_THREADS": str(THREADS),
    "MKL_NUM_THREADS": str(THREADS),
}
# A user's own settings, which must not affect tests.
UNSET = (
    "MEZZOTINT_MODEL_PATH",
    "HF_TOKEN",
    "HF_ENDPOINT",
    "HF_HUB_CACHE",
    "HUGGINGFACE_HUB_CACHE",
    "TRANSFORMERS_CACHE",
    "NO_COLOR",
    "FORCE_COLOR",
)
FOLDERS = (
    "MEZZOTINT_MODELS",
    "MEZZOTINT_CONFIG",
    "MEZZOTINT_CACHE",
    "MEZZOTINT_STATE",
    "HF_HOME",
    "HOME",
    "USERPROFILE",
)

_numbers = itertools.count()


class NetworkUsed(AssertionError):
    """A test tried to reach another machine."""


def pytest_configure() -> None:
    """Set what libraries read while they are imported, and import no more than the program does."""
    defer_imports()
    offline_environment()
    os.environ.update(ENVIRONMENT, PYTHONUSERBASE=site.getuserbase())  # keep user site-packages importable
    for name in UNSET:
        os.environ.pop(name, None)
    # A shell ignores Ctrl-C in background jobs, and processes of tests would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give separate folders to fixtures that outlive a test, too."""
    root = tmp_path_factory.mktemp("homes")
    os.environ.update(_folders(root / "session"))
    return root


@pytest.fixture(scope="session")
def _known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a shared cache of the small models' footprints and hashes, which take long to compute."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "known"
    (folder / "footprints").mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(autouse=True)
def _own_folders(
    _homes: Path, _known: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Give each test empty folders (not created yet) for models, settings, cache, downloads and home.

    Tests with one of the small models find the shared data about them in their cache.
    """
    folders = _folders(_homes / str(next(_numbers)))
    for name, folder in folders.items():
        monkeypatch.setenv(name, folder)
    if not any(name.startswith("tiny_") for name in request.fixturenames):
        yield
        return
    cache, known = Path(folders["MEZZOTINT_CACHE"]), _known / f"fingerprints-{os.getpid()}.json"
    cache.mkdir(parents=True)
    with contextlib.suppress(OSError):  # on Windows few users may create links
        (cache / "footprints").symlink_to(_known / "footprints")
    with contextlib.suppress(OSError):
        shutil.copyfile(known, cache / "fingerprints.json")
    yield
    with contextlib.suppress(OSError):  # missing, or replaced by the test
        shutil.copyfile(cache / "fingerprints.json", known)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Refuse connections to other machines, and fail the test even if it swallowed the error."""
    refused: list[str] = []

    def guard(name: str) -> None:
        original = getattr(socket.socket, name)

        def guarded(self: socket.socket, *arguments: Any) -> Any:
            if self.family in {socket.AF_INET, socket.AF_INET6}:
                check(arguments[-1][0])
            return original(self, *arguments)

        monkeypatch.setattr(socket.socket, name, guarded)

    def check(host: object) -> None:
        if not is_local(host):
            refused.append(str(host))
            raise NetworkUsed(f"a test may not reach {host!r}: tests run without network")

    original_lookup = socket.getaddrinfo

    def lookup(host: object, *arguments: Any, **options: Any) -> Any:
        check(host)
        return original_lookup(host, *arguments, **options)

    for name in ("connect", "connect_ex", "sendto"):
        guard(name)
    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    yield
    assert not refused, f"the test reached for the network: {', '.join(refused)}"


def is_local(host: object) -> bool:
    """Whether a host is this machine."""
    name = host.decode(errors="replace") if isinstance(host, bytes) else host
    return name is None or (isinstance(name, str) and (name in LOCAL_NAMES or name.startswith("127.")))


def _folders(root: Path) -> dict[str, str]:
    return {name: str(root / name.lower()) for name in FOLDERS}

"""A server, a payload and a folder of versions."""

import io
import sys

import pytest
from setup_made import Server, installer, write_payload

if sys.platform == "win32":
    # The stand-in for uv is a script that makes links.
    collect_ignore_glob = ["test_install*.py", "test_command.py", "test_update.py"]


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path / "served")
    yield made
    made.close()


@pytest.fixture
def in_process(monkeypatch):
    """Commands run in this process leave its signals alone, and read no words."""
    monkeypatch.setattr("mezzotint_setup.events.Stop.on_signals", lambda self: None)
    monkeypatch.setattr("sys.stdin", io.StringIO())


@pytest.fixture
def payload(tmp_path, server):
    return write_payload(tmp_path / "payload", server.folder, server.url)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "root"


@pytest.fixture
def made(root, payload):
    return installer(root, payload)

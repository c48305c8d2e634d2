"""Models fetched by the real librarian: told, stopped, resumed, and nothing left running when it dies."""

import json
import os
import subprocess
import sys
import threading

import psutil
import pytest
from model_files import small
from model_server import Served, model_server

from mezzotint import paths

__all__ = ["model_server"]

SIZE = 2_000_000


class Asking:
    """A librarian, and what it has said."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "mezzotint.librarian"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ),
        )

    def send(self, call, method, params=None):
        message = {"jsonrpc": "2.0", "id": call, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self):
        return json.loads(self.process.stdout.readline())

    def answer(self, call):
        """That of a call; events on the way are skipped."""
        while (message := self.hear()).get("id") != call:
            assert message, "the librarian has ended"
        return message

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def librarian():
    asking = Asking()
    yield asking
    asking.close()


@pytest.fixture
def held(model_server, monkeypatch):
    """A model of which half comes until it is let go."""
    monkeypatch.setenv("HF_ENDPOINT", model_server.url)
    repository = model_server.add("owner/big")
    repository.files["big.safetensors"] = Served(small({"a": [SIZE // 4]}), hold=threading.Event())
    yield repository.files["big.safetensors"]
    repository.files["big.safetensors"].hold = None


def let_go(held):
    held.hold.set()
    held.hold = None


@pytest.mark.slow
def test_questions_are_answered_while_a_model_comes(held, librarian):
    librarian.send(1, "get", {"source": "owner/big"})
    while (message := librarian.hear()).get("method") != "event":
        continue
    assert message["params"]["job"] == 1 and message["params"]["event"]["type"] == "Progress"
    librarian.send(2, "known_models", {})
    assert len(librarian.answer(2)["result"]) > 5
    librarian.send(3, "cancel", {"job": 1})
    assert librarian.answer(1)["error"]["data"]["kind"] == "cancelled"
    let_go(held)
    librarian.send(4, "get", {"source": "owner/big"})
    assert librarian.answer(4)["result"]["path"] == str(paths.models_folder() / "big.safetensors")
    librarian.send(5, "shutdown")
    assert librarian.process.wait(60) == 0


@pytest.mark.slow
@pytest.mark.parametrize("how", ["killed", "its input ends"])
def test_nothing_goes_on_when_the_librarian_is_gone(held, librarian, how):
    librarian.send(1, "get", {"source": "owner/big"})
    while librarian.hear().get("method") != "event":
        continue
    children = psutil.Process(librarian.process.pid).children(recursive=True)
    assert children
    if how == "killed":
        librarian.process.kill()
    else:
        librarian.process.stdin.close()
    gone, alive = psutil.wait_procs(children, timeout=60)
    let_go(held)
    assert gone and not alive

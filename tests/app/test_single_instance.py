"""A second start raises the first window; what is dead, silent, hostile or in the way costs no window."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from fake_clock import FakeClock
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from shiboken6 import isValid

from mezzotint_app import single_instance
from mezzotint_app.single_instance import SingleInstance, _private, _runtime_folder, _socket_name

pytestmark = pytest.mark.requires_package("PySide6")

SECOND = """
import sys
from PySide6.QtCore import QCoreApplication
from mezzotint_app.single_instance import SingleInstance
application = QCoreApplication([])
instance = SingleInstance(__import__("pathlib").Path(sys.argv[1]))
print(instance.claim(sys.argv[2:]), instance.answered, flush=True)
if sys.stdin.readline() == "die\\n":
    __import__("os")._exit(9)
"""


class Start:
    """Another process that claims."""

    def __init__(self, folder, *arguments, **environment):
        words = [sys.executable, "-c", SECOND, str(folder), *arguments]
        surroundings = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=surroundings, text=True
        )

    def said(self):
        return self.process.stdout.readline().strip()

    def end(self, how="end"):
        self.process.communicate(f"{how}\n")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "run"


@pytest.fixture
def first(qtbot, folder):
    instance = SingleInstance(folder)
    assert instance.claim()
    yield instance
    instance.release()


def test_the_first_is_the_window_and_a_second_start_raises_it(qtbot, first, folder, tmp_path):
    given = []
    first.paths_received.connect(given.append)
    image = str(tmp_path / "ü \n.png")
    with qtbot.waitSignal(first.raised):
        second = Start(folder, image, "b.png")
    assert second.said() == "False True"
    second.end()
    assert given == [[image, str(Path.cwd() / "b.png")]]


def test_a_second_start_without_paths_gives_none(qtbot, first, folder):
    given = []
    first.paths_received.connect(given.append)
    with qtbot.waitSignal(first.raised):
        second = Start(folder)
    second.end()
    assert given == []


def test_the_right_to_come_to_the_front_is_passed_on(qtbot, first, folder, monkeypatch):
    monkeypatch.delenv("XDG_ACTIVATION_TOKEN", raising=False)
    with qtbot.waitSignal(first.raised):
        second = Start(folder, XDG_ACTIVATION_TOKEN="token-1")
    second.end()
    assert os.environ.pop("XDG_ACTIVATION_TOKEN") == "token-1"


@pytest.mark.parametrize("how", ["die", "end"])
def test_after_the_first_has_ended_however_it_ended_the_next_is_the_first(qtbot, folder, how):
    other = Start(folder)
    assert other.said() == "True True"
    other.end(how)
    instance = SingleInstance(folder)
    assert instance.claim()
    with qtbot.waitSignal(instance.raised):
        second = Start(folder)
    second.end()
    instance.release()


def test_a_first_that_does_not_answer_keeps_the_second_from_starting_and_nothing_waits_for_it(qtbot, folder):
    other = Start(folder)  # it runs no event loop
    assert other.said() == "True True"
    instance = SingleInstance(folder)
    assert not instance.claim() and not instance.answered
    instance.release()
    other.end()


def test_it_waits_for_no_more_than_a_fifth_of_a_second():
    waits = single_instance._CONNECTING + single_instance._WRITING + single_instance._ANSWERING
    assert waits <= 200


def test_released_it_can_be_claimed_again(qtbot, folder):
    for _ in range(3):
        instance = SingleInstance(folder)
        assert instance.claim()
        instance.release()


def connected(qtbot, folder):
    socket = QLocalSocket()
    socket.connectToServer(_socket_name(folder))
    qtbot.waitUntil(lambda: socket.state() == QLocalSocket.LocalSocketState.ConnectedState)
    return socket


@pytest.mark.parametrize(
    "line", [b"\n", b"garbage\n", b"\xff\n", b"[" * 10_000 + b"\n", b"x" * (2 << 20), b"[1]\n", b'{"arguments": 3}\n']
)
def test_rubbish_is_passed_over(qtbot, first, folder, line):
    given = []
    first.paths_received.connect(given.append)
    socket = connected(qtbot, folder)
    socket.write(line)
    qtbot.waitUntil(lambda: socket.state() == QLocalSocket.LocalSocketState.UnconnectedState)
    assert given == []
    with qtbot.waitSignal(first.raised):
        second = Start(folder)
    second.end()


@pytest.mark.parametrize("leaves", [QLocalSocket.abort, QLocalSocket.disconnectFromServer])
def test_one_that_does_not_wait_for_an_answer_is_heard(qtbot, first, folder, leaves):
    given = []
    first.paths_received.connect(given.append)
    for number in range(5):
        socket = QLocalSocket()
        socket.connectToServer(_socket_name(folder))
        assert socket.waitForConnected(30_000)
        socket.write(json.dumps({"arguments": [f"{number}.png"]}).encode() + b"\n")
        assert socket.waitForBytesWritten(30_000)
        leaves(socket)  # before the first has run any further
    qtbot.waitUntil(lambda: len(given) == 5)
    assert sorted(given) == [[f"{number}.png"] for number in range(5)]
    qtbot.waitUntil(lambda: first.findChildren(QLocalSocket) == [])


def test_a_socket_that_has_gone_is_deleted_only_once_its_signal_is_over(qtbot, first, folder):
    socket = connected(qtbot, folder)
    qtbot.waitUntil(lambda: first.findChildren(QLocalSocket) != [])
    heard = first.findChildren(QLocalSocket)[0]
    there = []
    heard.disconnected.connect(lambda: there.append(isValid(heard)))  # after the window's own slot
    del socket
    qtbot.waitUntil(lambda: there != [])
    assert there == [True]
    qtbot.waitUntil(lambda: not isValid(heard))


def test_one_that_connects_and_says_nothing_is_put_off(qtbot, folder):
    clock = FakeClock()
    first = SingleInstance(folder, clock)
    assert first.claim()
    socket = connected(qtbot, folder)
    qtbot.waitUntil(lambda: clock.waiting() == 1)
    clock.advance(3)
    qtbot.waitUntil(lambda: socket.state() == QLocalSocket.LocalSocketState.UnconnectedState)
    first.release()


def test_paths_that_are_none_are_not_given(first):
    given = []
    first.paths_received.connect(given.append)
    for message in ({"arguments": ["a", 3]}, {"arguments": []}, [], None, {"arguments": "a"}):
        first.receive(message)
    first.receive(json.loads('{"arguments": ["a"], "activation": 3}'))
    assert given == [["a"]]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
def test_the_folder_is_private_whatever_it_was(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    assert stat.S_IMODE(_private(folder).stat().st_mode) == 0o700
    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(OSError):
        _private(link)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
def test_where_nothing_can_be_written_every_start_is_a_window(qtbot, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert SingleInstance(tmp_path / "file" / "run").claim()


def test_another_place_of_state_is_another_window(monkeypatch, tmp_path):
    folders = set()
    for name in "ab":
        monkeypatch.setenv("MEZZOTINT_STATE", str(tmp_path / name))
        folders.add(_runtime_folder())
    assert len(folders) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows names no files there")
def test_a_long_path_finds_a_shorter_one(monkeypatch, tmp_path, qtbot):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("long" * 40)))
    name = _socket_name(_runtime_folder())
    assert len(name) < 108
    _private(_runtime_folder())
    server = QLocalServer()
    assert server.listen(name)
    server.close()
    _runtime_folder().rmdir()

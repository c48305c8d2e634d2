"""A process of the engine, real but for its work: what it writes and does not write, and how it ends."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest
from fake_clock import FakeClock
from PySide6.QtCore import QCoreApplication, QEvent

from mezzotint.protocol import EngineInfo, GenerateRequest, GenerateResult, Output, Step
from mezzotint_app.background import Background
from mezzotint_app.processes import processes
from mezzotint_app.processes.processes import ServerProcess, _LogTail
from mezzotint_app.processes.service import PendingCall

pytestmark = pytest.mark.requires_package("PySide6")

SERVER = [sys.executable, "-S", str(Path(__file__).parents[2] / "plugins" / "fake_server.py")]


class Client:
    """A process, and what became of each question."""

    def __init__(self, qtbot, command, decoding, **options):
        self.qtbot = qtbot
        self.process = ServerProcess(command, decoding=decoding, **options)
        self.answers, self.failures, self.events, self.endings, self.log = {}, {}, {}, [], []
        self.process.ended.connect(self.endings.append)
        self.process.logged.connect(self.log.extend)

    def ask(self, method, params=None, answer=None):
        call = self.process.send(
            PendingCall(
                method=method,
                params=params,
                answer=answer,
                then=lambda value: self.answers.__setitem__(call, value),
                failed=lambda failure: self.failures.__setitem__(call, failure),
                on_event=lambda event: self.events.setdefault(call, []).append(event),
            )
        )
        assert call not in self.answers and call not in self.failures, "nothing is told inside `send`"
        return call

    def wait_for(self, *calls):
        self.qtbot.waitUntil(lambda: all(call in self.answers or call in self.failures for call in calls))

    def delete(self):
        """Here and now: left to Python, another thread might do it."""
        self.process.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def wait_for_end(self):
        self.qtbot.waitUntil(lambda: bool(self.endings))
        return self.endings[0]


class Watched(Background):
    used = 0

    def run(self, *words):
        self.used += 1
        super().run(*words)


@pytest.fixture(scope="module")
def decoding(qapp):
    return Watched()


@pytest.fixture
def start(qtbot, decoding):
    clients = []

    def start(*words, **options):
        client = Client(qtbot, [*SERVER, *words], decoding, **options)
        clients.append(client)
        client.process.start()
        return client

    yield start
    for client in clients:
        client.process.finish(0)
        client.wait_for_end()
        client.delete()


@pytest.fixture
def client(start):
    return start()


def asked(folder, prompt="a house", **changes):
    return GenerateRequest(prompt=prompt, seed=7, output=Output(path=str(folder)), **changes)


def test_questions_are_answered_in_the_type_that_was_asked_for(client, tmp_path):
    calls = client.ask("info", answer=EngineInfo), client.ask("echo", {"a": [1, "ü\n\u2028"]})
    client.wait_for(*calls)
    assert isinstance(client.answers[calls[0]], EngineInfo)
    assert client.answers[calls[1]] == {"a": [1, "ü\n\u2028"]}


def test_a_job_tells_its_events_before_its_result(client, tmp_path):
    job = client.ask("generate", asked(tmp_path, count=2), GenerateResult)
    client.wait_for(job)
    result = client.answers[job]
    assert [event.step for event in client.events[job] if isinstance(event, Step)] == [1, 2, 3, 4] * 2
    assert [image.seed for image in result.images] == [7, 8]
    assert client.process.open_calls() == 0


def test_a_job_is_cancelled_and_no_other(client, tmp_path):
    job, other = client.ask("generate", asked(tmp_path, "slow")), client.ask("never")
    client.qtbot.waitUntil(lambda: job in client.events)
    client.process.cancel(job)
    client.process.cancel(9999)
    client.wait_for(job)
    assert client.failures[job].kind == "cancelled"
    assert other not in client.failures


def test_an_error_of_the_process_keeps_its_kind(client, tmp_path):
    job, unknown = client.ask("generate", asked(tmp_path, "memory")), client.ask("fly")
    client.wait_for(job, unknown)
    assert client.failures[job].kind == "out_of_memory" and "7.9 GB" in client.failures[job].message
    assert client.failures[unknown].kind == "protocol"


def test_what_cannot_be_asked_is_told_later(client):
    call = client.ask("echo", object())
    client.wait_for(call)
    assert client.failures[call].kind == "protocol"


def test_an_answer_of_another_shape_fails_its_call_alone(client):
    wrong, right = client.ask("echo", {"a": 1}, EngineInfo), client.ask("echo", {"a": 1})
    client.wait_for(wrong, right)
    assert client.failures[wrong].kind == "protocol"
    assert client.answers[right] == {"a": 1}


@pytest.mark.parametrize("prompt", ["garbage 15", "print", "twice", "half"])
def test_stray_lines_are_passed_over(client, tmp_path, prompt):
    job, other = client.ask("generate", asked(tmp_path, prompt)), client.ask("echo", 1)
    client.wait_for(job, other)
    assert client.answers[other] == 1
    assert job in client.answers
    assert not client.endings


@pytest.mark.slow
def test_a_line_of_many_megabytes_is_passed_over_and_not_kept(client, tmp_path):
    job = client.ask("generate", asked(tmp_path, "long 12"), GenerateResult)
    client.wait_for(job)
    assert job in client.answers
    assert any("longer than 8 MB" in line for line in client.process.log())


@pytest.mark.slow
def test_an_answer_of_too_many_megabytes_fails_its_call_alone(client):
    large, fits, after = (
        client.ask("bulk", {"bytes": 9 << 20}),
        client.ask("bulk", {"bytes": 7 << 20}),
        client.ask("echo", 1),
    )
    client.wait_for(large, fits, after)
    assert client.failures[large].kind == "protocol"
    assert len(client.answers[fits]) == 7 << 20
    assert client.answers[after] == 1


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("prompt", ["garbage 60", "long 64"])
def test_a_process_that_writes_rubbish_alone_is_ended(client, tmp_path, prompt):
    job = client.ask("generate", asked(tmp_path, prompt + " "))
    assert client.wait_for_end().kind == "broken"
    assert job in client.answers or client.failures[job].kind == "gone"


@pytest.mark.slow
def test_a_log_without_end_neither_blocks_nor_grows(client, tmp_path):
    job = client.ask("generate", asked(tmp_path, "flood 100"), GenerateResult)
    client.wait_for(job)
    assert job in client.answers
    lines = client.process.log()
    assert len(lines) <= processes.LOG_LINES and max(map(len, lines)) <= processes.LOG_LINE


def test_the_log_is_told(client, tmp_path):
    job = client.ask("generate", asked(tmp_path, "flood 0"))
    client.wait_for(job)
    client.qtbot.waitUntil(lambda: any("word word" in line for line in client.log))


def test_a_process_that_does_not_read_is_ended_before_memory_is(start, monkeypatch):
    monkeypatch.setattr(processes, "MAX_UNWRITTEN", 1 << 20)
    client = start("--start", "deaf")
    calls = [client.ask("echo", "x" * (1 << 18)) for _ in range(8)]
    assert client.wait_for_end().kind == "hung"
    assert all(client.failures[call].kind == "gone" for call in calls)


@pytest.mark.parametrize(
    ("prompt", "kind", "code"),
    [("crash", "crashed", 6), ("lost", "ended", 86)],
)
@pytest.mark.skipif(sys.platform == "win32", reason="the numbers are those of Linux and macOS")
def test_how_it_ended_is_told_after_every_open_call(client, tmp_path, prompt, kind, code):
    order = []
    params, failed = asked(tmp_path, prompt), lambda failure: order.append(failure.kind)
    job = client.process.send(PendingCall(method="generate", params=params, failed=failed))
    client.process.ended.connect(lambda ending: order.append(ending.kind))
    ending = client.wait_for_end()
    assert (ending.kind, ending.code) == (kind, code)
    assert order == ["gone", kind] and job


def test_what_was_written_before_the_end_is_told_before_it(client):
    last = [client.ask("echo", number) for number in range(50)]
    gone = client.ask("exit", {"code": 3})
    assert client.wait_for_end().code == 3
    assert [client.answers[call] for call in last] == list(range(50))
    assert client.failures[gone].kind == "gone"


def test_questions_to_one_that_has_ended_fail(client):
    client.ask("exit", {"code": 0})
    client.wait_for_end()
    call = client.ask("echo", 1)
    client.wait_for(call)
    assert client.failures[call].kind == "gone"


@pytest.mark.parametrize("command", [["/nowhere/python"], [""], []])
def test_a_process_that_cannot_be_started_is_told(qtbot, decoding, command):
    client = Client(qtbot, command, decoding)
    client.process.start()
    call = client.ask("info")
    assert client.wait_for_end().kind == "not_started"
    assert client.endings[0].detail
    client.wait_for(call)
    assert client.failures[call].kind == "gone"
    client.delete()


def test_one_that_dies_at_start_leaves_its_words(start):
    client = start("--start", "missing")
    ending = client.wait_for_end()
    assert (ending.kind, ending.code) == ("ended", 1)
    assert client.process.log()[-1] == "ModuleNotFoundError: No module named 'torch'"


def test_stop_lets_it_end_by_itself(client):
    call = client.ask("echo", 1)
    client.wait_for(call)
    client.process.stop()
    ending = client.wait_for_end()
    assert (ending.kind, ending.code) == ("stopped", 0)


def test_one_that_does_not_end_is_ended_by_and_by(qtbot, decoding):
    clock = FakeClock()
    client = Client(qtbot, [sys.executable, "-c", STUBBORN], decoding, clock=clock)
    client.process.start()
    qtbot.waitUntil(lambda: "ready" in client.process.log())
    client.process.stop()
    clock.advance(3)
    qtbot.waitUntil(lambda: "asked to end" in client.process.log())
    assert client.endings == []
    clock.advance(2)
    assert client.wait_for_end().kind == "stopped"
    client.delete()


STUBBORN = """
import signal, sys, time
def refuse(*_):
    sys.stderr.write("asked to end\\n")
    sys.stderr.flush()
signal.signal(signal.SIGTERM, refuse)
sys.stderr.write("ready\\n")
sys.stderr.flush()
while True:
    time.sleep(1)
"""


def test_a_bug_in_one_callback_costs_no_other_its_answer(client, capfd, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, *_: told.append(kind))
    client.process.send(PendingCall(method="echo", params=1, then=lambda _: 1 / 0))
    other = client.ask("echo", 2)
    client.wait_for(other)
    assert told == [ZeroDivisionError]


def test_a_bug_in_decoding_ends_the_process_and_not_the_window(client):
    call = client.ask("echo", 1, complex)  # no type of the boundary
    assert client.wait_for_end().kind == "broken"
    assert client.failures[call].kind == "gone"


def test_answers_are_decoded_on_another_thread(client, decoding):
    before = decoding.used
    client.wait_for(client.ask("echo", 1))
    assert decoding.used > before


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is none of Windows")
def test_when_the_window_is_killed_its_process_ends(tmp_path):
    code = textwrap.dedent(f"""
        import sys
        from PySide6.QtCore import QCoreApplication
        from mezzotint_app.background import Background
        from mezzotint_app.processes.processes import ServerProcess
        from mezzotint_app.processes.service import PendingCall
        application = QCoreApplication([])
        process = ServerProcess({SERVER!r}, decoding=Background())
        process.start()
        process.send(PendingCall(method="info", then=lambda _: print(process.process_id(), flush=True)))
        slow = {{"prompt": "slow", "output": {{"path": {str(tmp_path)!r}}}}}
        process.send(PendingCall(method="generate", params=slow))
        application.exec()
    """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=_environment()) as window:
        child = int(window.stdout.readline())
        assert alive(child)
        window.kill()
    until = time.monotonic() + 30
    while alive(child) and time.monotonic() < until:
        time.sleep(0.02)
    assert not alive(child)


def _environment():
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def alive(process_id):
    try:
        return psutil.Process(process_id).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_tail_of_a_log_is_whole_lines():
    tail = _LogTail()
    tail.add(tail.feed(b"one\r\ntw"))
    tail.add(tail.feed(b"o\n\xff\n"))
    assert tail.lines() == ("one", "two", "\ufffd")
    assert tail.take_unreported() == ("one", "two", "\ufffd") and not tail.unreported()
    for _ in range(100):
        tail.add(tail.feed(b"x" * 100_000))
    tail.add(tail.feed(b"\n"))
    assert len(tail.lines()[-1]) <= processes.LOG_LINE

"""The engine process: calls answered line by line, whatever the line or the job does."""

import json
import os
import subprocess
import sys
import textwrap
import threading

import pytest
from fake_engine import model_info
from hypothesis import given
from hypothesis import strategies as st
from server_client import Client

from mezzotint.codec import decode, decode_event
from mezzotint.errors import Busy
from mezzotint.jobs.locked_file import LockedFile
from mezzotint.protocol import SCHEMA_VERSION, EngineInfo, GenerateResult, Loading, MemoryNow, ModelInfo, Saved
from mezzotint.rpc.connection import MAX_LINE
from mezzotint.server import main


@pytest.fixture
def client():
    client = Client()
    yield client
    client.engine.let_go.set()
    client.end()


def test_initialize_says_what_the_engine_is_without_making_one(client):
    client.call(1, "initialize", {"schema_version": SCHEMA_VERSION})
    message, _ = client.answer(1)
    info = decode(EngineInfo, message["result"])
    assert info.schema_version == SCHEMA_VERSION
    assert "torch" in info.versions
    assert client.made == []


@pytest.mark.parametrize("params", [None, {}, {"schema_version": SCHEMA_VERSION + 1}, [1]])
def test_another_schema_is_refused(client, params):
    client.call(1, "initialize", params)
    error = client.answer(1)[0]["error"]
    assert error["data"]["kind"] == "protocol"
    assert f"schema version {SCHEMA_VERSION}" in error["message"]


def test_a_job_sends_its_events_and_then_its_result(client):
    client.call("a", "generate", {"prompt": "a barn", "count": 2})
    message, before = client.answer("a")
    assert {note["method"] for note in before} == {"event"}
    assert {note["params"]["job"] for note in before} == {"a"}
    events = [decode_event(note["params"]["event"]) for note in before]
    assert isinstance(events[0], Loading)
    assert isinstance(events[-1], Saved)
    assert [image.index for image in decode(GenerateResult, message["result"]).images] == [0, 1]


def test_control_calls_are_answered_while_a_job_runs(client):
    client.call(1, "generate", {"prompt": "slow"})
    client.engine.running.wait()
    client.call(2, "info")
    assert decode(EngineInfo, client.answer(2)[0]["result"]).devices
    client.call(3, "models")
    assert decode(tuple[ModelInfo, ...], client.answer(3)[0]["result"]) == (model_info(),)
    client.call(4, "generate", {"prompt": "a barn"})
    assert client.answer(4)[0]["error"]["data"]["kind"] == "busy"
    client.call(5, "cancel", {"job": 9})
    assert client.answer(5)[0]["result"] == {"cancelled": False}
    client.call(6, "cancel", {"job": 1})
    answers = [client.read(), client.read()]
    by_id = {message["id"]: message for message in answers}
    assert by_id[6]["result"] == {"cancelled": True}
    assert by_id[1]["error"]["data"] == {"kind": "cancelled", "exit_code": 130, "message": "stopped"}
    client.call(7, "generate", {"prompt": "a barn"})
    assert "result" in client.answer(7)[0]


def test_a_job_may_follow_its_predecessors_answer_at_once(client):
    for number in range(30):
        client.call(number, "generate", {"prompt": "a barn"})
        assert "result" in client.answer(number)[0]
    assert len(client.made) == 1


FAULTS = [("refused", "model_refused", 5), ("bug", "bug", 1), ("exit", "bug", 1), ("memory", "out_of_memory", 4)]


@pytest.mark.parametrize(("prompt", "kind", "exit_code"), FAULTS)
def test_a_job_that_fails_says_why_and_the_next_one_runs(client, prompt, kind, exit_code):
    client.call(1, "generate", {"prompt": prompt})
    data = client.answer(1)[0]["error"]["data"]
    assert (data["kind"], data["exit_code"]) == (kind, exit_code)
    assert "\n" not in data["message"]
    client.call(2, "generate", {"prompt": "a barn"})
    assert "result" in client.answer(2)[0]


def test_a_bug_is_told_by_its_kind_and_its_traceback_goes_to_the_log(client, caplog):
    client.call(1, "generate", {"prompt": "bug"})
    message = client.answer(1)[0]["error"]["message"]
    assert "ValueError" in message
    assert "nobody thought of this" not in message
    assert "nobody thought of this" in caplog.text


def test_a_request_of_the_wrong_shape_is_refused_by_its_path(client):
    client.call(1, "generate", {"prompt": "a", "cascade": {"stages": [{"width": "x"}]}})
    error = client.answer(1)[0]["error"]
    assert error["code"] == -32602
    assert error["message"] == 'cascade.stages[0].width: expected int, got "x"'


GARBAGE = [
    (b"{", -32700),
    (b"\xff\xfe", -32700),
    (b"[" * 50_000, -32700),
    (b"NaN", -32700),
    (b"[]", -32600),
    (b"3", -32600),
    (b'{"id": 1, "method": "info"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1}', -32600),
    (b'{"jsonrpc": "2.0", "id": true, "method": "info"}', -32600),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "info"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "reboot"}', -32601),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "cancel", "params": 3}', -32602),
    (b'{"jsonrpc": "2.0", "method": "generate", "params": {"prompt": "a"}}', -32600),
]


@pytest.mark.parametrize(("line", "code"), GARBAGE, ids=[line[:30].decode("latin1") for line, _ in GARBAGE])
def test_garbage_is_refused_and_the_next_call_answered(client, line, code):
    client.send(line)
    message = client.read()
    assert message["error"]["code"] == code
    assert set(message["error"]["data"]) == {"kind", "exit_code", "message"}
    client.call("next", "models")
    assert "result" in client.answer("next")[0]


@pytest.mark.parametrize("length", [MAX_LINE, MAX_LINE + 1, 2 * MAX_LINE + 5])
def test_an_endless_line_is_refused_without_being_kept(client, length):
    client.send(b"x" * length)
    assert client.read()["error"]["message"] == f"a line is longer than {MAX_LINE} bytes"
    client.call("next", "models")
    assert "result" in client.answer("next")[0]


def test_blank_lines_are_passed_over(client):
    client.send(b"\n  \n\r\n")
    client.call(1, "models")
    assert "result" in client.read()


def test_notifications_get_no_answer(client):
    client.send(b'{"jsonrpc": "2.0", "method": "cancel", "params": {"job": 1}}')
    client.send(b'{"jsonrpc": "2.0", "method": "cancel"}')
    client.call(1, "models")
    assert client.read()["id"] == 1


def test_shutdown_stops_the_job_and_ends(client):
    client.call(1, "generate", {"prompt": "slow"})
    client.engine.running.wait()
    client.call(2, "shutdown")
    assert client.answer(2)[0]["result"] is None
    client.end()
    assert client.finished is True
    assert client.engine.closed


def test_the_end_of_the_input_stops_the_job_and_ends(client):
    client.call(1, "generate", {"prompt": "slow"})
    client.engine.running.wait()
    client.calls.close()
    assert client.answer(1)[0]["error"]["data"]["kind"] == "cancelled"
    client.end()
    assert client.finished is True
    assert client.engine.closed


def test_a_job_that_does_not_stop_is_left_behind():
    client = Client(grace=0.01)
    client.call(1, "generate", {"prompt": "deaf"})
    client.engine.running.wait()
    client.calls.close()
    client._thread.join()
    assert client.finished is False
    assert not client.engine.closed
    client.engine.let_go.set()
    client.end()


def test_a_reader_that_went_away_stops_the_job():
    client = Client()
    client.call(1, "generate", {"prompt": "slow"})
    client.engine.running.wait()
    client.read()  # the first event is out
    client.answers.close()
    client.call(2, "models")  # its answer finds nobody, and that stops the job
    client.end()
    assert client.finished is True


def test_any_line_gets_an_answer_or_none_and_the_server_lives_on():
    client = Client()

    @given(st.binary(max_size=60) | st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params"]), st.text()))
    def check(line):
        text = json.dumps(line).encode() if isinstance(line, dict) else line.replace(b"\n", b"")
        client.send(text)
        client.call("still here", "models")
        assert "result" in client.answer("still here")[0]

    check()
    client.end()


def environment():
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


PROCESS = """
    import sys
    from fake_engine import FakeCatalog, FakeEngine
    from mezzotint.server import serve
    assert "torch" not in sys.modules
    sys.exit(serve(FakeCatalog, FakeEngine))
"""


def test_a_real_process_keeps_its_stream_clean_and_ends_with_its_input():
    calls = [
        b"garbage\n",
        b'{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"schema_version": 1}}\n',
        b'{"jsonrpc": "2.0", "id": 1, "method": "generate", "params": {"prompt": "print"}}\n',
    ]
    command = [sys.executable, "-c", textwrap.dedent(PROCESS)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, env=environment()) as process:
        process.stdin.write(b"".join(calls))
        process.stdin.flush()
        messages = []
        while not messages or messages[-1].get("id") != 1:
            messages.append(json.loads(process.stdout.readline()))
        rest, log = process.communicate()
    assert process.returncode == 0
    assert messages[0]["error"]["code"] == -32700
    assert decode(EngineInfo, messages[1]["result"]).version
    assert decode(GenerateResult, messages[-1]["result"]).images
    assert rest == b""
    assert b"a lie" in log
    assert b"native garbage" in log


def test_the_module_runs_as_a_program():
    command = [sys.executable, "-m", "mezzotint.server"]
    done = subprocess.run(command, input=b"{\n", capture_output=True, check=False, env=environment())
    assert done.returncode == 0
    assert json.loads(done.stdout)["error"]["code"] == -32700


def test_a_lost_device_is_told_and_ends_the_process():
    """Exit code 86: whoever started it starts a new one."""
    ended = threading.Event()
    codes = []

    def exit_process(code):
        codes.append(code)
        ended.set()

    client = Client(exit_process=exit_process)
    client.call(1, "generate", {"prompt": "lost"})
    answer, _ = client.answer(1)
    assert answer["error"]["data"]["kind"] == "device_lost" and ended.wait(10) and codes == [86]
    client.end()


def test_memory_is_told_while_a_job_runs_and_a_question_waits(client):
    client.call(1, "generate", {"prompt": "slow"})
    client.engine.running.wait()
    with client.server._making:  # as while torch is being imported for a plan
        client.call(2, "plan", {"models": ["sdxl"]})
        client.call(3, "memory")
        now = decode(MemoryNow, client.answer(3)[0]["result"])
    assert 0 < now.ram_bytes <= now.ram_total_bytes
    assert client.answer(2)[0]["result"] == "a plan for sdxl"


def test_a_plan_without_a_job(client):
    client.call(3, "plan", {"models": ["sdxl"], "vram_bytes": 2**33})
    assert client.answer(3)[0]["result"] == "a plan for sdxl"
    client.call(4, "plan", {"models": 5})
    assert client.answer(4)[0]["error"]["data"]["kind"] == "protocol"


def test_a_training_is_planned_without_a_job(client, monkeypatch):
    monkeypatch.setattr(
        "mezzotint.jobs.training.planning.plan_before", lambda request, _: f"a plan for {request.model.id}"
    )
    request = {"dataset": "/images", "model": {"id": "sdxl"}, "name": "a", "output": "/loras"}
    client.call(3, "training_plan", request)
    assert client.answer(3)[0]["result"] == "a plan for sdxl"


def test_a_process_can_hold_a_file_while_it_lives(tmp_path):
    path = tmp_path / "held"
    process = subprocess.Popen(
        [sys.executable, "-m", "mezzotint.server", "--hold", str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"schema_version": 1}}\n')
    process.stdin.flush()
    assert b"result" in process.stdout.readline()
    assert LockedFile.take(path) is None
    process.communicate()
    assert LockedFile.take(path) is not None


def test_a_file_that_another_holds_is_no_sign_of_life(tmp_path):
    held = LockedFile.take(tmp_path / "held")
    with pytest.raises(Busy, match="another process has locked"):
        main(["--hold", str(tmp_path / "held")])
    held.release()

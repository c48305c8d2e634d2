"""Commands in processes of their own: their events, their errors, and that they end."""

import json
import logging
import subprocess
import sys

import pytest

from mezzotint.errors import Cancelled, MezzotintError, ModelRefused, ProtocolError, UnknownModel
from mezzotint.library import child
from mezzotint.library.child import ChildCommand, own_environment, run_child
from mezzotint.protocol import Notice

NOTICE = {"event": {"type": "Notice", "code": "c", "message": "m"}}


def run(code, *, tell=lambda _: None, cancelled=lambda: False, **more):
    command = ChildCommand(words=("-c", f"import json, sys, time\n{code}"), environ=own_environment({}), **more)
    return run_child(command, tell, cancelled)


def says(*messages):
    return "".join(f"print({json.dumps(message)!r}, flush=True)\n" for message in messages)


def test_events_and_a_result():
    heard = []
    assert run(says(NOTICE, {"result": [1, 2]}), tell=heard.append) == [1, 2]
    assert heard == [Notice(code="c", message="m")]


def test_what_it_is_given():
    assert run("print(json.dumps({'result': sys.stdin.readline()}))", given="words") == "words\n"
    assert run("print(json.dumps({'result': sys.stdin.read()}))") == ""


@pytest.mark.parametrize(
    ("kind", "expected"), [("model_refused", ModelRefused), ("unknown_model", UnknownModel), ("new", MezzotintError)]
)
def test_its_error_is_ours(kind, expected):
    with pytest.raises(MezzotintError, match="why") as caught:
        run(says({"error": {"kind": kind, "message": "why", "exit_code": 5}}))
    assert type(caught.value) is expected and caught.value.kind == kind


def test_an_end_without_an_answer():
    with pytest.raises(MezzotintError, match=r"ended with code 7 before it was done: last words"):
        run("print('last words', file=sys.stderr)\nsys.exit(7)")


def test_garbage():
    with pytest.raises(ProtocolError, match="invalid JSON: .*Segmentation"):
        run("print('Segmentation fault')")
    with pytest.raises(MezzotintError):
        run(says([1], 5))


@pytest.mark.parametrize("stopping", ["at once", "in order"])
def test_stopped(stopping, monkeypatch):
    started = processes(monkeypatch)
    heard = []
    forever = f"while True:\n    print({json.dumps(NOTICE)!r}, flush=True)\n    time.sleep(0.01)"
    with pytest.raises(Cancelled):
        run(forever, tell=heard.append, cancelled=lambda: bool(heard), stopping=stopping)
    assert started[0].returncode is not None


def test_in_order_it_can_tidy_up(tmp_path):
    mark = tmp_path / "tidied"
    code = f"try:\n  while True:\n    print({json.dumps(NOTICE)!r}, flush=True)\nfinally:\n  open({str(mark)!r}, 'w')"
    heard = []
    with pytest.raises(Cancelled):
        run(code, tell=heard.append, cancelled=lambda: bool(heard), stopping="in order")
    assert mark.exists()


def test_what_does_not_end_is_ended(monkeypatch):
    monkeypatch.setattr(child, "_PATIENCE", 0.2)
    started = processes(monkeypatch)
    heard = []
    with pytest.raises(Cancelled):
        run(says(NOTICE) + "time.sleep(3600)", tell=heard.append, cancelled=lambda: bool(heard), stopping="in order")
    assert started[0].returncode is not None


def test_a_fault_of_the_listener_ends_it(monkeypatch):
    started = processes(monkeypatch)
    with pytest.raises(ZeroDivisionError):
        run(says(NOTICE) + "time.sleep(3600)", tell=lambda _: 1 / 0)
    assert started[0].returncode is not None


def test_a_secret_is_never_logged(caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(MezzotintError) as caught:
        run("print('Bearer hf_secret sent', file=sys.stderr)\nsys.exit(1)", secret="hf_secret")
    assert "hf_secret" not in caplog.text + str(caught.value)
    assert "Bearer *** sent" in caplog.text


def test_more_talk_than_a_pipe_holds():
    assert run("print('x' * 2000000, file=sys.stderr)\n" + says({"result": 1})) == 1


@pytest.mark.parametrize(("windows", "option"), [(True, "creationflags"), (False, "process_group")])
def test_a_ctrl_c_is_for_us_alone(windows, option):
    assert set(child._isolation_options(windows)) == {option}


def test_nothing_is_imported_from_the_folder_that_we_are_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    assert run(says({"result": 1})) == 1


def test_fetching_ends_with_who_asked(monkeypatch):
    """Its stdin closes when the process that asked is gone."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdin.write(b"{}\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"waiting\n"
    process.stdin.close()
    assert process.wait(60) == 1
    process.stdout.close()
    process.stderr.close()


_WAITS = """
import sys, threading
from mezzotint.library import fetching

def answer(kind, question, tell):
    import os
    os.write(fd, b"waiting\\n")
    threading.Event().wait()

import os
fd = os.dup(1)
fetching.answer = answer
sys.argv = ["fetching", "hub"]
fetching.main()
"""


def processes(monkeypatch):
    """Those that are started."""
    started = []
    original = subprocess.Popen

    def popen(*args, **options):
        started.append(original(*args, **options))
        return started[-1]

    monkeypatch.setattr(child.subprocess, "Popen", popen)
    return started

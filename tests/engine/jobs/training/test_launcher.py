"""One process for each device; the failure of one ends all, with its error."""

import os
import signal
import sys
import threading
import time

import pytest
from patience import MILLISECONDS

from mezzotint.errors import ProcessLost
from mezzotint.jobs.training.launcher import launch

PATIENCE = MILLISECONDS / 1000
RANK = "import os, sys, time; rank = int(os.environ['RANK'])\n"


def run(code, count=2):
    return launch([sys.executable, "-c", RANK + code], count)


def test_each_knows_its_place(tmp_path):
    code = f"""
names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MEZZOTINT_MEETING")
open(r"{tmp_path}/" + str(rank), "w").write(" ".join(os.environ[name] for name in names))
"""
    assert run(code, 3) == 0
    found = [(tmp_path / str(rank)).read_text().split() for rank in range(3)]
    assert [each[:3] for each in found] == [[str(rank), str(rank), "3"] for rank in range(3)]
    assert len({each[3] for each in found}) == 1 and found[0][3].startswith("file://")


def test_only_the_first_prints(capfd):
    assert run("print('from', rank); print('error', rank, file=sys.stderr)") == 0
    assert tuple(capfd.readouterr()) == ("from 0\n", "error 0\n")


def test_a_failure_ends_all_with_its_error(capfd):
    began = time.monotonic()
    assert run("sys.exit('out of bread') if rank == 1 else time.sleep(3600)") == 1
    assert time.monotonic() - began < PATIENCE
    assert capfd.readouterr().err == "process 1 of 2 failed:\nout of bread\n"


def test_those_that_lost_the_failed_one_are_not_the_cause(capfd):
    code = f"""
if rank == 1:
    print("no memory", file=sys.stderr)
    sys.exit(4)
print("lost", rank, file=sys.stderr)
sys.exit({ProcessLost.exit_code})
"""
    assert run(code, 3) == 4
    assert capfd.readouterr().err == "lost 0\nprocess 1 of 3 failed:\nno memory\n"


@pytest.mark.slow
def test_the_first_tells_its_error_itself(capfd):
    assert run("sys.exit(5) if rank == 0 else time.sleep(3600)") == 5
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_killed_process_is_a_failure():
    assert run("os.kill(os.getpid(), 9) if rank == 1 else time.sleep(3600)") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_ctrl_c_is_left_to_the_processes_and_an_end_ends_them(tmp_path):
    code = f"open(r'{tmp_path}/' + str(rank), 'w').write(str(os.getpid())); time.sleep(3600)"
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    def interrupt():
        deadline = time.monotonic() + PATIENCE
        while len([each for each in tmp_path.iterdir() if each.read_text()]) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(SystemExit) as raised:
        run(code)
    thread.join()
    assert raised.value.code == 128 + signal.SIGTERM
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    for rank in range(2):
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / str(rank)).read_text()), 0)

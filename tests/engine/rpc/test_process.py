"""The processes of the engine come after the window at the processor."""

import os
import subprocess
import sys

import pytest

from mezzotint.rpc import process

SAY = (
    "import os; from mezzotint.rpc.process import lower_priority; before = os.nice(0); lower_priority(); "
    "print(os.nice(0) - before)"
)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has priorities of its own")
def test_a_process_lowers_its_priority():
    done = subprocess.run([sys.executable, "-P", "-c", SAY], capture_output=True, text=True, check=True, timeout=60)
    assert 0 < int(done.stdout) <= 5  # after the window, and not after everything else


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has priorities of its own")
@pytest.mark.parametrize("module", ["mezzotint.server", "mezzotint.librarian"])
def test_both_processes_do(module):
    started = subprocess.Popen(
        [sys.executable, "-P", "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        started.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"schema_version": 0}}\n')
        started.stdin.flush()
        assert started.stdout.readline()  # it serves
        assert os.getpriority(os.PRIO_PROCESS, started.pid) > os.getpriority(os.PRIO_PROCESS, 0)
    finally:
        started.kill()
        started.communicate()


def test_on_windows_by_its_class(monkeypatch):
    used = []
    monkeypatch.setattr(process, "_use_low_priority", lambda: used.append(True))
    process.lower_priority("win32")
    assert used == [True]


def test_where_it_may_not_it_works_on(monkeypatch):
    def refuse(_by):
        raise PermissionError(1, "no")

    monkeypatch.setattr(process.os, "nice", refuse, raising=False)
    process.lower_priority("linux")

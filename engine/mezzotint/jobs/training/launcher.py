"""Starts a process for each device of this machine, as torchrun does; if one fails, all end with its error."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from mezzotint.errors import ProcessLost

MEETING = "MEZZOTINT_MEETING"  # where the processes find one another: the URL of a file
_LOOK = 0.1  # seconds between looks at the processes
_GRACE = 1.0  # seconds in which those that lost a failed one may end as well
_LAST_WORDS = 4000  # characters of a failed process's errors


def launch(command: Sequence[str], count: int) -> int:
    """Run a command in `count` processes and return its exit code; only the first reads and writes the terminal."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(_interrupts_left_to_the_first())
        errors = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(1, count)]
        meeting = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "meeting"
        started = [
            stack.enter_context(_process(command, rank, count, meeting, errors[rank - 1] if rank else None))
            for rank in range(count)
        ]
        return _told(_codes(started), errors)


def _codes(started: Sequence["subprocess.Popen[bytes]"]) -> list[int | None]:
    """Wait until all have ended, or one has failed; None: still running a moment later."""
    deadline = None
    while None in (codes := [each.poll() for each in started]):
        if any(codes):
            deadline = deadline or time.monotonic() + _GRACE
            if time.monotonic() > deadline:
                break
        time.sleep(_LOOK)
    return codes


def _told(codes: Sequence[int | None], errors: Sequence[IO[bytes]]) -> int:
    """Show the error of the process that failed by itself, unless it is the first one, and return its exit code."""
    failed = [rank for rank, code in enumerate(codes) if code]
    causes = [rank for rank in failed if codes[rank] != ProcessLost.exit_code] or failed
    if not causes:
        return 0
    if causes[0] != 0:
        file = errors[causes[0] - 1]
        file.seek(0)
        words = file.read().decode("utf-8", errors="replace")[-_LAST_WORDS:].strip()
        sys.stderr.write(f"process {causes[0]} of {len(codes)} failed:\n{words}\n")
    code = codes[causes[0]]
    return code if code is not None and code > 0 else 1  # negative: ended by a signal


@contextlib.contextmanager
def _process(
    command: Sequence[str], rank: int, count: int, meeting: Path, errors: IO[bytes] | None
) -> Iterator["subprocess.Popen[bytes]"]:
    """Context manager: a process, which ends with it."""
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, MEETING: meeting.as_uri()}
    silent = {} if errors is None else {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": errors}
    environment = os.environ | {name: str(value) for name, value in place.items()}
    process = subprocess.Popen(command, env=environment, **silent)  # type: ignore[call-overload]  # noqa: S603
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def _interrupts_left_to_the_first() -> Iterator[None]:
    """Context manager: Ctrl+C, which all processes get, is the first one's to answer; a request to end ends all."""

    def end(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGINT, lambda *_: None), signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])

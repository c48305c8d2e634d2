"""`make gpu-check`: build for the local GPU, then run each part; results are stored as they arrive.

Uses the system's Python, torch and CUDA compiler; downloads and installs nothing.
"""

import importlib.util
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from kernel_build.card.instances_file import write_instances
from kernel_build.card.machine import (
    ROOT,
    architecture_for,
    built_library,
    environment_with,
    find_commit,
    find_device,
)
from kernel_build.card.parts import Part, chosen, unknown
from kernel_build.card.process import Ending, Limits, run_part
from kernel_build.card.protocol import Row
from kernel_build.card.record_file import Record, open_record
from kernel_build.card.row_text import text_of
from kernel_build.card.summary import summary
from kernel_build.card.verdicts import failures, unfinished, verdicts
from kernel_build.errors import BuildError
from kernel_build.library import build_library
from kernel_build.sources import OUTPUT
from kernel_build.toolchain import find_toolchain

FOLDER = OUTPUT / "kernels-gpu-check"
RESULTS, STUB_RESULTS = OUTPUT / "gpu-check", OUTPUT / "gpu-check-stub"
SECONDS = 8 * 60 + 40
BUILD_SECONDS = 300
FAILED, UNFINISHED = 1, 3
_LEAST = 15.0  # seconds below which starting a part is pointless
_PROBE_SECONDS = 120  # for the first import of torch
_SANITIZER = "compute-sanitizer"
_ERROR_STATUS = "9"  # exit status of a sanitizer that found something


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to check, and how long it may take."""

    parts: tuple[str, ...] = ()  # empty: all
    results: Path | None = None
    again: bool = False
    stub: bool = False
    seconds: float = SECONDS


def gpu_check(options: Options) -> int:
    """Run what is missing; return 0 if nothing failed, every target was met and nothing is left to do."""
    wrong = unknown(options.parts)
    if wrong:
        names = ", ".join(part.name for part in chosen(()))
        raise BuildError(f"there is no part {wrong[0]!r}: give {names}, or a word of these")
    end = time.monotonic() + options.seconds
    device = find_device(options.stub, min(options.seconds, _PROBE_SECONDS))
    folder = options.results or (STUB_RESULTS if options.stub else RESULTS)
    record = open_record(folder.absolute(), find_commit(), device, again=options.again)
    parts = chosen(options.parts)
    if any(not record.is_complete(part.name) for part in parts):
        library = _build(device.capability, end)
        for part in parts:
            _do(part, record, library, end)
    problems = write_instances(record)
    for line in summary(record, parts, problems):
        sys.stdout.write(line + "\n")
    return status_of(record, parts)


def status_of(record: Record, parts: list[Part]) -> int:
    """Return 1 for a failure or a missed target, 3 if the only problem is unfinished work."""
    if failures(record) or any(verdict.state == "missed" for verdict in verdicts(record)):
        return FAILED
    return UNFINISHED if unfinished(record, parts) else 0


def _build(capability: tuple[int, int] | None, end: float) -> Path | None:
    """Build the library for the GPU, sweep entry points included; return None for a stub."""
    if capability is None:
        return None
    architecture, left = architecture_for(capability), end - time.monotonic()
    say(f"building for {architecture}")
    build_library(
        find_toolchain(), architectures=architecture, folder=FOLDER, seconds=min(left, BUILD_SECONDS), sweep=True
    )
    return built_library(FOLDER)


def _do(part: Part, record: Record, library: Path | None, end: float) -> None:
    began = time.monotonic()
    if record.is_complete(part.name):
        return
    reason = absent(part, record.device.is_stub)
    if reason is not None:
        ending = Ending(state="not there", problem=reason)
    elif end - began < _LEAST:
        ending = Ending(state="unfinished", problem="the time for gpu-check was over")
    else:
        ending = without_sanitizer(part, _run(part, record, library, end - began))
    record.end(part.name, ending.state, ending.problem, time.monotonic() - began)
    say(f"{part.name}: {ending.state}" + (f" ({ending.problem})" if ending.problem else ""))


def _run(part: Part, record: Record, library: Path | None, left: float) -> Ending:
    def take(row: Row) -> None:
        record.add(part.name, row)
        if part.kind != "tests" or row.outcome not in ("ok", "skipped"):  # of hundreds of tests only failures
            say(f"{part.name}: {text_of(record.of(part.name)[-1])}")

    say(part.name)
    limits = Limits(item=part.limits.item, part=min(part.limits.part, left))
    done = {row["item"] for row in record.of(part.name)}
    return run_part(words_of(part, record.device.is_stub), environment_with(library), ROOT, limits, done, take)


def without_sanitizer(part: Part, ending: Ending) -> Ending:
    """Return the ending, or "not there" if the sanitizer does not support the GPU or may not access it."""
    refused = [line for line in ending.said if "Device not supported" in line]
    return Ending(state="not there", problem=refused[0]) if part.sanitizer and refused else ending


def words_of(part: Part, stub: bool) -> list[str]:
    """Return the command line of a part's process."""
    words = [sys.executable, "-m", "kernel_build.card.worker", part.kind, *part.words]
    if stub:
        return [*words, "--stub"]
    if not part.sanitizer:
        return words
    # Skip torch's kernels, which would take minutes, and API errors, since torch expects some calls to fail.
    looked_at = ["--kernel-name", "kns=mezzotint", "--report-api-errors", "no", "--print-limit", "20"]
    return [str(_sanitizer()), "--tool", part.sanitizer, "--error-exitcode", _ERROR_STATUS, *looked_at, *words]


def absent(part: Part, stub: bool) -> str | None:
    """Return what a part needs and this machine lacks, or None; a stub runs the same calls without a sanitizer."""
    lacking = [package for package in part.needs if importlib.util.find_spec(package) is None]
    if lacking:
        return f"the package {lacking[0]} is not installed"
    if part.sanitizer and not stub and _sanitizer() is None:
        return f"{_SANITIZER} is not installed"
    return None


def _sanitizer() -> Path | None:
    """Return the path of compute-sanitizer, from PATH or next to nvcc."""
    found = shutil.which(_SANITIZER)
    if found is None:
        beside = find_toolchain().nvcc.resolve().parent / _SANITIZER
        return beside if beside.is_file() else None
    return Path(found)


def say(line: str) -> None:
    """Print a line to stderr."""
    sys.stderr.write(f"gpu-check: {line}\n")
    sys.stderr.flush()

"""Why a process ended, in plain words, on every system."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint_app.processes.process_exit import (
    DEVICE_LOST,
    MemoryShortage,
    ProcessExit,
    exit_cause,
    gigabytes,
    plain_reason,
)

GB = 1 << 30


def signed(code):
    return code - (1 << 32)


@pytest.mark.parametrize(
    ("platform", "ending", "expected"),
    [
        ("linux", ProcessExit(kind="crashed", code=9), "memory"),
        ("linux", ProcessExit(kind="crashed", code=7), "file"),
        ("linux", ProcessExit(kind="crashed", code=11), "native"),
        ("linux", ProcessExit(kind="crashed", code=6), "native"),
        ("linux", ProcessExit(kind="crashed", code=4), "instruction"),
        ("linux", ProcessExit(kind="crashed", code=15), "killed"),
        ("linux", ProcessExit(kind="ended", code=137), "memory"),
        ("linux", ProcessExit(kind="ended", code=9), "unknown"),
        ("darwin", ProcessExit(kind="crashed", code=10), "file"),
        ("darwin", ProcessExit(kind="crashed", code=9), "memory"),
        ("win32", ProcessExit(kind="crashed", code=signed(0xC0000005)), "native"),
        ("win32", ProcessExit(kind="crashed", code=signed(0xC0000017)), "memory"),
        ("win32", ProcessExit(kind="crashed", code=signed(0xC000012D)), "memory"),
        ("win32", ProcessExit(kind="ended", code=signed(0xC0000135)), "library"),
        ("win32", ProcessExit(kind="ended", code=9), "unknown"),
        ("linux", ProcessExit(kind="ended", code=DEVICE_LOST), "device"),
        ("win32", ProcessExit(kind="ended", code=DEVICE_LOST), "device"),
        ("darwin", ProcessExit(kind="ended", code=1), "unknown"),
    ],
)
def test_codes_of_each_system(platform, ending, expected):
    assert exit_cause(ending, (), platform) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ModuleNotFoundError: No module named 'torch'", "library"),
        ("ImportError: DLL load failed while importing _C", "library"),
        ("terminate called after throwing an instance of 'std::bad_alloc'", "memory"),
        ("numpy.core._exceptions._ArrayMemoryError: Unable", "memory"),
        ("all is well", "unknown"),
    ],
)
def test_where_the_code_says_little_the_log_is_asked(line, expected):
    log = ["Traceback", line, "  "]
    assert exit_cause(ProcessExit(kind="ended", code=1), log, "linux") == expected


def test_memory_is_told_in_numbers():
    words = plain_reason(
        ProcessExit(kind="crashed", code=9),
        "The engine",
        memory=MemoryShortage(needed=int(7.9 * GB), free=6 * GB),
        platform="linux",
    )
    assert words == "The engine ran out of memory: 7.9 GB needed, 6.0 GB free."
    unsure = plain_reason(ProcessExit(kind="crashed", code=9), "The engine", platform="linux")
    assert unsure == "The engine was terminated by the system, most likely because it ran out of memory."


def test_a_crash_is_told_with_the_number_others_write_about():
    told = plain_reason(ProcessExit(kind="crashed", code=signed(0xC0000005)), "The engine", platform="win32")
    assert told == "The engine crashed (0xC0000005)."
    assert "signal 11" in plain_reason(ProcessExit(kind="crashed", code=11), "The engine", platform="linux")


def test_a_missing_library_is_told_with_its_line():
    log = ["Traceback (most recent call last):", "ModuleNotFoundError: No module named 'torch'"]
    told = plain_reason(ProcessExit(kind="ended", code=1), "The engine", log=log, platform="linux")
    assert told.endswith("installation: ModuleNotFoundError: No module named 'torch'. Reinstall Mezzotint.")


@given(
    st.builds(
        ProcessExit,
        kind=st.sampled_from(["ended", "crashed", "not_started", "broken", "hung", "stopped"]),
        code=st.integers(-(2**31), 2**31 - 1),
        detail=st.text(max_size=20),
    ),
    st.lists(st.text(max_size=20), max_size=3),
    st.sampled_from(["linux", "darwin", "win32"]),
)
def test_every_ending_has_words(ending, log, platform):
    told = plain_reason(ending, "The engine", log=log, platform=platform)
    assert told.startswith("The engine ") and len(told) < 600


def test_gigabytes_are_of_1024():
    assert gigabytes(6 * GB) == "6.0"

"""Stopped by words on standard input."""

import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.cli import input_stop
from mezzotint.cli.input_stop import stop_with_input
from mezzotint.cli.interrupt import Interrupt
from mezzotint.errors import UsageError


def heard(*portions, soft=True):
    """What came of these bytes: asked, and ended with which codes."""
    ended, left = [], list(portions)
    interrupt = Interrupt(tell=lambda _: None, end=ended.append)
    if soft:
        interrupt.enable_graceful_stop()
    stop_with_input(interrupt, lambda: left.pop(0) if left else b"").join()
    return interrupt.stop_requested(), ended


@pytest.mark.parametrize(
    ("portions", "ends"),
    [
        ([], []),  # the end of the input asks
        ([b"stop\n"], []),  # and asks no second time
        ([b"st", b"op", b"\r\n"], []),
        ([b"stop\n", b"stop\n"], [130]),
        ([b"stop\nstop\n"], [130]),
        ([b"stop\nsto"], []),
        ([b"hello\n", b"stopped\n", b"STOP\n"], []),
        ([b"x" * 10_000, b"\nstop\nstop\n"], [130]),
    ],
)
def test_words_and_what_they_do(portions, ends):
    assert heard(*portions) == (True, ends)


def test_before_there_is_work_to_lose_it_ends_at_once():
    assert heard(b"stop\n", soft=False)[1] == [130, 130]  # the second is the end of the input: nothing has ended here


@given(st.lists(st.binary(max_size=30), max_size=10))
def test_whatever_comes_it_asks_at_the_end(portions):
    assert heard(*portions)[0]


def test_a_starter_that_has_gone_is_the_end():
    interrupt = Interrupt(tell=lambda _: None, end=lambda _: None)
    interrupt.enable_graceful_stop()

    def broken():
        raise OSError(5, "Input/output error")

    stop_with_input(interrupt, broken).join()
    assert interrupt.stop_requested()


@pytest.mark.skipif(sys.platform == "win32", reason="file descriptors are put in place by hand")
def test_its_own_input_is_taken_away_from_all_others(monkeypatch):
    reader, writer = os.pipe()
    kept = os.dup(0)
    try:
        os.dup2(reader, 0)
        read = input_stop._own_input()
        assert os.read(0, 10) == b""
        os.write(writer, b"stop\n")
        assert read() == b"stop\n"
        os.close(writer)
        assert read() == b""
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        os.close(reader)

    def closed(_):
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(os, "dup", closed)
    with pytest.raises(UsageError, match="closed"):
        stop_with_input(Interrupt())

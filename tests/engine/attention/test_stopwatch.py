"""The stopwatch on a clock that the test turns."""

import contextlib
from functools import partial

import pytest
import torch

from mezzotint.attention import stopwatch
from mezzotint.attention.stopwatch import milliseconds

CPU, CARD = torch.device("cpu"), torch.device("cuda")


class Clock:
    """Milliseconds that go by only when work is done, or when the host dawdles."""

    def __init__(self):
        self.now = 0.0
        self.done = []

    def work(self, name, length):
        def call():
            self.done.append(name)
            self.now += length

        return call


class Card:
    """What the stopwatch needs of torch.cuda; a call from the host takes 5 ms more than one in a graph."""

    def __init__(self, clock, can_capture=True):
        self.clock, self.can_capture, self.captured = clock, can_capture, 0
        card = self

        class Event:
            def __init__(self, enable_timing):
                assert enable_timing

            def record(self):
                self.at = clock.now

            def synchronize(self):
                pass

            def elapsed_time(self, other):
                return other.at - self.at

        class CUDAGraph:
            length = 0.0

            def replay(self):
                clock.now += self.length

        @contextlib.contextmanager
        def graph(graph):
            if not card.can_capture:
                raise RuntimeError("operation not permitted when stream is capturing")
            before, calls = clock.now, len(clock.done)
            yield
            card.captured = len(clock.done) - calls
            graph.length = clock.now - before - 5 * card.captured

        self.Event, self.CUDAGraph, self.graph = Event, CUDAGraph, graph

    def synchronize(self):
        pass


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(stopwatch.time, "perf_counter", lambda: clock.now / 1000)
    return clock


@pytest.mark.parametrize("length", [0.001, 0.5, 3.0, 900.0])
def test_one_call_takes_as_long_as_it_takes(clock, length):
    assert milliseconds([clock.work("a", length)], CPU) == pytest.approx(length)


def test_inputs_are_taken_in_turn(clock):
    assert milliseconds([clock.work("a", 0.1), clock.work("b", 0.3)], CPU) == pytest.approx(0.2)
    assert clock.done[-4:] == ["a", "b", "a", "b"]


def test_the_first_calls_and_one_slow_round_do_not_count(clock):
    lengths = iter([500.0, 1.0, 1.0, 1.0, 700.0])

    def call():
        clock.now += next(lengths, 1.0)

    assert milliseconds([call], CPU) == pytest.approx(1.0)


def test_slow_calls_get_few_rounds(clock):
    milliseconds([clock.work("a", 1000.0)], CPU)
    assert len(clock.done) == 5  # to warm up, to see how long it takes, and three that count


def test_on_a_card_the_host_does_not_count(clock, monkeypatch):
    card = Card(clock)
    monkeypatch.setattr(torch, "cuda", card)
    calls = [clock.work("a", 5.25), clock.work("b", 5.75)]
    assert milliseconds(calls, CARD) == pytest.approx(0.5)
    assert card.captured >= 2


def test_what_cannot_be_captured_is_measured_with_the_host(clock, monkeypatch):
    monkeypatch.setattr(torch, "cuda", Card(clock, can_capture=False))
    with pytest.warns(UserWarning, match="no graph could be captured: operation not permitted"):
        assert milliseconds([clock.work("a", 5.5)], CARD) == pytest.approx(5.5)


def test_what_is_not_to_be_captured_is_measured_with_the_host(clock, monkeypatch):
    card = Card(clock)
    monkeypatch.setattr(torch, "cuda", card)
    assert milliseconds([clock.work("a", 5.5)], CARD, captured=False) == pytest.approx(5.5)
    assert card.captured == 0


@pytest.mark.gpu
def test_on_a_real_card():
    tensors = [torch.ones(1 << 20, device="cuda") for _ in range(3)]
    assert milliseconds([partial(torch.add, each, 1) for each in tensors], CARD) > 0

"""Copies on their own stream: ordered by events against computing, whatever their speeds; the host never waits."""

from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest
import torch
from fake_streams import FakeStreams
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from mezzotint.errors import StorageError
from mezzotint.memory import copying
from mezzotint.memory.accounting import ByteLedger
from mezzotint.memory.arena import DeviceArena
from mezzotint.memory.copying import DirectCopier, StreamCopier
from mezzotint.memory.host import HostTensor, tensor_layout
from mezzotint.memory.loads import Load
from mezzotint.memory.streaming import StreamedNetwork

CPU = torch.device("cpu")
BLOCKS = 7


class Immediate:
    """An executor without a thread."""

    def submit(self, work, *words):
        future = Future()
        try:
            future.set_result(work(*words))
        except StorageError as error:
            future.set_exception(error)
        return future


class Slow:
    """A source that is read, by way of a scratch."""

    on_disk, supports_async_copy, supports_partial_reads = True, False, True

    def __init__(self, tensor, wait=None):
        self.kept, self.wait, self.layout = tensor, wait, tensor_layout(tensor)

    def tensor(self):
        if self.wait is not None:
            self.wait.wait(30)
        return self.kept

    def read_into(self, target):
        target.copy_(self.tensor())

    def read_part(self, target, start):
        HostTensor(self.tensor()).read_part(target, start)


def load_of(*sources):
    """Sources on their way to memory that is empty."""
    size = sum(-(-source.layout.bytes // 64) * 64 for source in sources)
    return Load(torch.zeros(size, dtype=torch.uint8), sources)


class Recording(nn.Module):
    """A block whose computing is queued: it looks at its weight when the computing stream comes to it."""

    def __init__(self, streams, seen, index, shape=(4, 3)):
        super().__init__()
        self.weight = nn.Parameter(torch.full(shape, float(index)), requires_grad=False)
        self._streams, self._seen = streams, seen

    def forward(self):
        weight = self.weight.data
        self._streams.queue(lambda: self._seen.append((weight.min().item(), weight.max().item())))


def entered(streams, seen, resident, slots, reader=None, pinned=True):
    blocks = [Recording(streams, seen, index, shape=(4, 3 + index % 3)) for index in range(BLOCKS)]
    network = nn.ModuleList(blocks)
    copier = StreamCopier(CPU, streams, reader=reader, staging=lambda: torch.empty(32, dtype=torch.uint8))
    names = [str(index) for index in range(BLOCKS)]
    made = StreamedNetwork(
        network, names, resident=resident, slots=slots, copier=copier, arena=DeviceArena(CPU, ByteLedger())
    )
    for weight in made.weights:
        weight.source = HostTensor(weight.source.tensor(), pinned=pinned)
    made.enter()
    made.ready()
    return made, network


@given(
    st.integers(0, BLOCKS),
    st.integers(1, 3),
    st.lists(st.integers(0, BLOCKS - 1), max_size=25),
    st.integers(0, 1000),
    st.sampled_from(["pinned", "pageable", "by the reader"]),
)
def test_a_slot_is_written_after_its_last_use_and_read_after_it_is_written(resident, slots, order, seed, kind):
    streams, seen = FakeStreams(seed), []
    reader = Immediate() if kind == "by the reader" else None
    made, network = entered(streams, seen, resident, slots, reader, pinned=kind == "pinned")
    for index in (*range(BLOCKS), *order, *range(BLOCKS)):
        network[index]()
    if kind == "pinned":
        assert streams.synchronized == 0
        assert seen == []  # everything was asked for before anything was done
    streams.run()
    made.leave()
    wanted = [float(index) for index in (*range(BLOCKS), *order, *range(BLOCKS))]
    assert seen == [(value, value) for value in wanted]


@pytest.mark.parametrize("ordered", ["marks", "tickets"])
def test_without_either_order_the_test_above_fails(monkeypatch, ordered):
    if ordered == "marks":
        monkeypatch.setattr("fake_streams.FakeStream.wait_event", _only_tickets, raising=True)
    else:
        monkeypatch.setattr(StreamCopier, "_compute", lambda *_: None)
    wrong = 0
    for seed in range(10):
        streams, seen = FakeStreams(seed), []
        _, network = entered(streams, seen, 0, 2)
        for index in range(BLOCKS):
            network[index]()
        streams.run()
        wrong += seen != [(float(index), float(index)) for index in range(BLOCKS)]
    assert wrong


def _only_tickets(stream, event):
    if stream.device_of_copies is None:
        number = event.recorded
        stream.queue.append(lambda: event.reached >= number)


@pytest.mark.parametrize("seed", range(10))
def test_leaving_has_computing_wait_for_copies_that_nobody_used(seed):
    streams, seen = FakeStreams(seed), []
    made, network = entered(streams, seen, 0, 2)
    network[0]()
    memory = network[2].weight.data  # shares the slot of the first block, and is on its way
    made.leave()
    streams.queue(lambda: memory.fill_(99.0))  # whoever gets the memory next, on the computing stream
    streams.run()
    assert (memory == 99.0).all()


@pytest.mark.parametrize("size", [1, 31, 32, 33, 100, 1000])
def test_what_is_not_locked_comes_in_pieces(size):
    streams = FakeStreams()
    copier = StreamCopier(CPU, streams, staging=lambda: torch.empty(32, dtype=torch.uint8))
    source = torch.randn(size)
    load = load_of(HostTensor(source))
    copier.start(load, copier.mark()).wait()
    streams.run()
    assert load.tensors[0].equal(source)


def test_what_cannot_come_in_pieces_comes_whole():
    streams = FakeStreams()
    copier = StreamCopier(CPU, streams, staging=lambda: torch.empty(32, dtype=torch.uint8))
    dense, with_gaps = torch.randn(6, 5).t(), torch.randn(6, 8)[:, 1:6]
    load = load_of(HostTensor(dense), HostTensor(with_gaps))
    copier.start(load, copier.mark()).wait()
    streams.run()
    assert load.tensors[0].equal(dense) and load.tensors[1].equal(with_gaps)


def test_a_reader_reads_while_something_else_happens():
    gate = Event()
    source = torch.randn(5)
    load = load_of(Slow(source, gate))
    with ThreadPoolExecutor(1) as reader:
        ticket = DirectCopier(reader).start(load, None)
        assert not load.memory.any()
        gate.set()
        ticket.wait()
    assert load.tensors[0].equal(source)


def test_what_has_begun_when_reading_fails_is_done_before_that_is_told():
    class Gone(Slow):
        def read_part(self, target, start):
            raise StorageError("gone")

    streams = FakeStreams()
    copier = StreamCopier(CPU, streams, reader=Immediate(), staging=lambda: torch.empty(64, dtype=torch.uint8))
    load = load_of(Slow(torch.ones(16)), Gone(torch.ones(5)))
    ticket = copier.start(load, copier.mark())
    assert load.tensors[0].all() and streams.synchronized == 1
    with pytest.raises(StorageError, match="gone"):
        ticket.wait()


def test_a_disk_that_stalls_is_told():
    gate = Event()
    with ThreadPoolExecutor(1) as reader:
        ticket = DirectCopier(reader, timeout=0.01).start(load_of(Slow(torch.zeros(5), gate)), None)
        with pytest.raises(StorageError, match="no data from the disk for 0.01 seconds"):
            ticket.wait()
        ticket.drain()
        gate.set()


def test_what_has_not_begun_is_stopped():
    gate, load = Event(), load_of(Slow(torch.ones(5)))
    with ThreadPoolExecutor(1) as reader:
        copier = DirectCopier(reader)
        first = copier.start(load_of(Slow(torch.zeros(5), gate)), None)
        second = copier.start(load, None)
        second.drain()
        gate.set()
        first.drain()
    assert not load.memory.any()


def test_where_nothing_can_be_locked_the_buffer_is_pageable():
    assert copying.page_locked().nbytes == copying.STAGING  # here there is no card

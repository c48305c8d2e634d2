"""Loads: what lies alike is one copy; what does not is gathered, in pieces of any size, by several threads."""

import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import StorageError
from mezzotint.memory import loads
from mezzotint.memory.host import HostTensor, tensor_layout
from mezzotint.memory.loads import Gathering, Load
from mezzotint.memory.segments import placed, views_in

TENSORS = [
    torch.randn(3, 5),
    torch.randn(7, 40).half(),
    torch.zeros(0, 3),
    torch.randint(100, (70,), dtype=torch.int8),
    torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    torch.randn(4, 60)[:, 1:50],
    torch.tensor(1.5),
]


class File:
    """A source that is read, in parts or whole."""

    on_disk, supports_async_copy = True, False

    def __init__(self, kept, supports_partial_reads=True, before=lambda start: None):
        self.kept, self.supports_partial_reads, self.before, self.layout = (
            kept,
            supports_partial_reads,
            before,
            tensor_layout(kept),
        )

    def tensor(self):
        return self.kept

    def read_into(self, target):
        target.copy_(self.kept)

    def read_part(self, target, start):
        self.before(start)
        HostTensor(self.kept).read_part(target, start)


def memory_for(sources):
    return torch.zeros(placed([source.layout for source in sources])[1], dtype=torch.uint8)


def locked(tensors):
    """Sources side by side in one page-locked run, as pinning leaves them."""
    layouts = [tensor_layout(tensor) for tensor in tensors]
    run = torch.zeros(placed(layouts)[1], dtype=torch.uint8)
    made = list(views_in(run, layouts))
    for view, tensor in zip(made, tensors, strict=True):
        view.copy_(tensor)
    return [HostTensor(view, pinned=True) for view in made]


def brought(load):
    """The load's tensors, brought as a card's copier does."""
    for copy in load.copies:
        if copy.locked is None:
            Gathering(copy.placed, None).fill(copy.target, copy.placed[0].offset)
        else:
            copy.target.copy_(copy.locked)
    return load.tensors


@given(st.lists(st.sampled_from(TENSORS), max_size=6))
def test_what_lies_side_by_side_is_one_copy(tensors):
    sources = locked(tensors)
    load = Load(memory_for(sources), sources)
    assert len(load.copies) == any(tensor.numel() for tensor in tensors)
    assert load.supports_async_copy and not load.on_disk
    assert all(map(torch.equal, brought(load), tensors))


def test_what_lies_in_two_runs_or_in_another_order_is_not():
    one, two = locked(TENSORS[:2]), locked(TENSORS[:2])
    for sources, count in (([*one, *two], 2), (one[::-1], 2), ([one[0], HostTensor(TENSORS[3]), one[1]], 3)):
        load = Load(memory_for(sources), sources)
        assert len(load.copies) == count
        assert all(tensor.equal(source.tensor()) for tensor, source in zip(brought(load), sources, strict=True))
    assert not Load(memory_for(sources), sources).supports_async_copy


@given(
    st.lists(st.tuples(st.sampled_from(TENSORS), st.booleans(), st.booleans()), max_size=6),
    st.integers(1, 5),
    st.booleans(),
)
def test_pieces_of_any_size_are_the_whole(chosen, size, threads):
    sources = [
        File(tensor, supports_partial_reads and HostTensor(tensor).supports_partial_reads)
        if on_disk
        else HostTensor(tensor)
        for tensor, on_disk, supports_partial_reads in chosen
    ]
    load = Load(memory_for(sources), sources)
    with ThreadPoolExecutor(3) as pool:
        gathering = Gathering(load.placed, pool if threads else None)
        for start in range(0, len(load.memory), 64 * size):
            gathering.fill(load.memory[start:][: 64 * size], start)
    assert all(tensor.equal(each) for tensor, (each, *_) in zip(load.tensors, chosen, strict=True))


def test_what_comes_whole_is_made_once_for_all_pieces():
    made = []

    class Counted(File):
        def read_into(self, target):
            made.append(len(target))
            super().read_into(target)

    kept = torch.randn(1024)
    load = Load(torch.zeros(4096, dtype=torch.uint8), [Counted(kept, supports_partial_reads=False)])
    gathering = Gathering(load.placed, None)
    for start in range(0, 4096, 512):
        gathering.fill(load.memory[start : start + 512], start)
    assert made == [1024] and load.tensors[0].equal(kept)
    assert not gathering._cut


def test_a_file_is_read_by_several_threads_at_once(monkeypatch):
    monkeypatch.setattr(loads, "PART", 64)
    begun, all_begun = itertools.count(1), Event()

    def meet(_):
        if next(begun) == 3:
            all_begun.set()
        assert all_begun.wait(30), "three parts are never read at the same time"

    kept = torch.randn(48)
    load = Load(torch.zeros(192, dtype=torch.uint8), [File(kept, before=meet)])
    with ThreadPoolExecutor(3) as pool:
        Gathering(load.placed, pool).fill(load.memory, 0)
    assert load.tensors[0].equal(kept)


def test_when_one_part_fails_no_other_is_written_afterwards(monkeypatch):
    monkeypatch.setattr(loads, "PART", 64)
    failed, done = Event(), []

    def before(start):
        if start == 0:
            failed.set()
            raise StorageError("gone")
        failed.wait(30)
        time.sleep(0.2)  # whoever does not wait for this is gone by now
        done.append(start)

    load = Load(torch.zeros(192, dtype=torch.uint8), [File(torch.ones(48), before=before)])
    with ThreadPoolExecutor(3) as pool:
        with pytest.raises(StorageError, match="gone"):
            Gathering(load.placed, pool).fill(load.memory, 0)
        assert sorted(done) == [64, 128]

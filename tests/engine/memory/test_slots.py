"""A slot: what it holds, what it fetches next, what it does when that cannot be had."""

import pytest
import torch

from mezzotint.errors import StorageError
from mezzotint.memory.copying import DirectCopier
from mezzotint.memory.host import HostTensor, tensor_layout
from mezzotint.memory.loads import Load
from mezzotint.memory.slots import Slot


class Failing:
    """A source that cannot be read when it is told so."""

    on_disk = supports_async_copy = supports_partial_reads = False

    def __init__(self, kept):
        self.kept, self.layout, self.fails = kept, tensor_layout(kept), False

    def tensor(self):
        return self.kept

    def read_into(self, target):
        if self.fails:
            target.fill_(-1.0)
            raise StorageError("gone")
        target.copy_(self.kept)


@pytest.fixture
def memory():
    return torch.zeros(16)


@pytest.fixture
def slot(memory):
    kept = {name: torch.full((3,), value) for name, value in (("a", 1.0), ("b", 2.0), ("c", 3.0))}
    return Slot({name: loaded(HostTensor(tensor), memory) for name, tensor in kept.items()}, DirectCopier())


def loaded(source, memory):
    return Load(memory.view(torch.uint8), [source])


def use(slot, memory, names):
    seen = []
    for name in names:
        slot.before(name)
        seen.append(memory[0].item())
        slot.after(name)
    return seen


def test_blocks_come_in_their_order_without_a_miss(slot, memory):
    slot.prepare(None)
    assert use(slot, memory, "abcabc") == [1, 2, 3, 1, 2, 3]
    assert slot.misses == 0


def test_another_order_is_learned(slot, memory):
    slot.prepare(None)
    assert use(slot, memory, "acbacb") == [1, 3, 2, 1, 3, 2]
    learned = slot.misses
    assert use(slot, memory, "acbacb") == [1, 3, 2, 1, 3, 2]
    assert slot.misses == learned > 0


def test_a_block_that_is_used_again_and_again_stays(slot, memory):
    assert use(slot, memory, "aabbcc") == [1, 1, 2, 2, 3, 3]
    learned = slot.misses
    assert use(slot, memory, "aaaa") == [1, 1, 1, 1]
    assert slot.misses <= learned + 3


def test_what_cannot_be_had_is_told_and_fetched_again(memory):
    first, second = Failing(torch.ones(3)), Failing(torch.full((3,), 2.0))
    slot = Slot({"a": loaded(first, memory), "b": loaded(second, memory)}, DirectCopier())
    slot.prepare(None)
    second.fails = True
    with pytest.raises(StorageError):
        use(slot, memory, "ab")
    second.fails = False
    assert use(slot, memory, "ba") == [2, 1]
    slot.drain()

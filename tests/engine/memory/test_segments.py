"""Where weights lie, and which blocks stay."""

import itertools

import torch
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.memory.accounting import ByteLedger
from mezzotint.memory.arena import ALIGNMENT, DeviceArena
from mezzotint.memory.host import form_of
from mezzotint.memory.segments import placed, spread, views

TENSORS = [
    torch.randn(3, 5),
    torch.tensor(1.5),
    torch.zeros(0, 3),
    torch.randint(100, (7,), dtype=torch.int8),
    torch.randn(2, 3, 4, 5).half().to(memory_format=torch.channels_last),
    torch.randn(33).double(),
]


@given(st.lists(st.sampled_from(TENSORS)))
def test_tensors_lie_side_by_side_at_aligned_addresses(tensors):
    forms = [form_of(tensor) for tensor in tensors]
    offsets, size = placed(forms)
    segment = DeviceArena(torch.device("cpu"), ByteLedger()).allocate(size)
    made = list(views(segment, forms))
    for tensor, view in zip(tensors, made, strict=True):
        view.copy_(tensor)
    for tensor, view, offset in zip(tensors, made, offsets, strict=True):
        assert view.equal(tensor) and form_of(view) == form_of(tensor)
        assert offset % ALIGNMENT == 0 and (not view.numel() or view.data_ptr() == segment.address + offset)


@given(st.integers(0, 60), st.data())
def test_blocks_that_stay_are_spread_evenly(count, data):
    chosen = data.draw(st.integers(0, count))
    stays = spread(count, chosen)
    assert (len(stays), sum(stays)) == (count, chosen)
    places = [index for index, stay in enumerate(stays) if stay]
    gaps = [later - earlier for earlier, later in itertools.pairwise(places)]
    assert not gaps or max(gaps) - min(gaps) <= 1

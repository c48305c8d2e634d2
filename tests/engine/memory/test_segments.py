"""Where weights lie."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.memory.accounting import ByteLedger
from mezzotint.memory.arena import ALIGNMENT, DeviceArena
from mezzotint.memory.host import tensor_layout
from mezzotint.memory.segments import placed, views_in

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
    layouts = [tensor_layout(tensor) for tensor in tensors]
    offsets, size = placed(layouts)
    segment = DeviceArena(torch.device("cpu"), ByteLedger()).allocate(size)
    made = list(views_in(segment.memory, layouts))
    for tensor, view in zip(tensors, made, strict=True):
        view.copy_(tensor)
    for tensor, view, offset in zip(tensors, made, offsets, strict=True):
        assert view.equal(tensor) and tensor_layout(view) == tensor_layout(tensor)
        assert offset % ALIGNMENT == 0 and (not view.numel() or view.data_ptr() == segment.memory.data_ptr() + offset)

"""Where weights come from: RAM as it is, and tensors of files in the form that a network wants."""

import pytest
import torch
from fake_card.install import fake_card
from safetensors.torch import save_file
from torch.utils import _python_dispatch

from mezzotint.checkpoints.header import TensorSpec, read_header
from mezzotint.checkpoints.positioned import PositionedFile
from mezzotint.errors import ModelRefused
from mezzotint.memory.host import HostTensor, bytes_of, disk_tensor, stored_dtype, tensor_layout

STORED = {
    "half": torch.randn(6, 4).half(),
    "brain": torch.randn(6, 4).bfloat16(),
    "single": torch.randn(6, 4),
    "double": torch.randn(6, 4).double(),
    "whole": torch.randint(-128, 128, (6, 4), dtype=torch.int8),
    "long": torch.randint(-128, 128, (6, 4)),
    "yes": torch.randn(6, 4) > 0,
    "eight": torch.randn(6, 4).to(torch.float8_e4m3fn),
    "one": torch.tensor(3.5),
    "nothing": torch.zeros(0, 4),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("host") / "weights.safetensors"
    save_file(STORED, path)
    return PositionedFile(path), read_header(path).tensors


def numbers(tensor):
    return bytes(bytes_of(tensor.contiguous()))


@pytest.mark.parametrize("name", STORED)
def test_a_tensor_of_a_file_as_it_is(stored, name):
    file, specs = stored
    kept = STORED[name]
    source = disk_tensor(file, specs[name], shape=tuple(kept.shape), dtype=kept.dtype)
    assert source.on_disk and not source.supports_async_copy and source.layout == tensor_layout(kept)
    found = source.tensor()
    assert found.dtype == kept.dtype and numbers(found) == numbers(kept)
    if kept.numel() > 1:
        part = torch.zeros(3, dtype=torch.uint8)
        assert source.supports_partial_reads
        source.read_part(part, 2)
        assert bytes(part.tolist()) == numbers(kept)[2:5]


@pytest.mark.parametrize("name", ["half", "single", "eight"])
def test_a_tensor_of_a_file_goes_to_a_device_whose_memory_is_not_the_host_s_to_write(stored, name):
    file, specs = stored
    kept = STORED[name]
    source = disk_tensor(file, specs[name], shape=tuple(kept.shape), dtype=kept.dtype)
    with fake_card(2**20, device_type="mps"):
        target = torch.empty(kept.shape, dtype=kept.dtype, device="mps")
        source.read_into(target)
        assert numbers(target.cpu()) == numbers(kept)


@pytest.mark.parametrize("name", ["half", "brain", "single", "double", "eight"])
def test_a_tensor_of_a_file_in_another_form(stored, name):
    file, specs = stored
    rows = disk_tensor(file, specs[name], shape=(2, 2, 4), dtype=torch.float16, convert=lambda tensor: tensor[2:])
    wanted = STORED[name][2:].to(torch.float16).view(2, 2, 4)
    assert rows.tensor().equal(wanted)
    strided = torch.zeros(2, 4, 2, dtype=torch.float16).transpose(1, 2)
    rows.read_into(strided)
    assert strided.equal(wanted)
    assert not rows.supports_partial_reads


def test_formats_that_torch_lacks_are_refused(stored):
    spec = TensorSpec(dtype="F6_E2M3", shape=(4,), start=0, end=3)
    with pytest.raises(ModelRefused, match="F6_E2M3 cannot be streamed"):
        disk_tensor(stored[0], spec, shape=(4,), dtype=torch.float16)
    assert stored_dtype(TensorSpec(dtype="BF16", shape=(), start=0, end=2)) == torch.bfloat16


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(3, 4),
        torch.randn(3, 4).t(),
        torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        torch.randn(4, 6)[:, 1:3],
        torch.tensor(1.0),
    ],
)
def test_a_tensor_of_ram_keeps_its_order_of_dimensions(tensor):
    source = HostTensor(tensor)
    layout = source.layout
    assert not source.on_disk and layout.shape == tensor.shape and layout.bytes == tensor.numel() * 4
    target = torch.empty_strided(layout.shape, layout.stride)
    source.read_into(target)
    assert target.equal(tensor) and source.tensor() is tensor
    if tensor.is_contiguous() or tensor.is_contiguous(memory_format=torch.channels_last):
        assert layout.stride == tensor.stride()
    assert source.supports_partial_reads == (layout.stride == tensor.stride())
    if source.supports_partial_reads:
        flat = torch.zeros(layout.bytes, dtype=torch.uint8)
        source.read_part(flat, 0)
        assert flat.view(torch.float32).as_strided(layout.shape, layout.stride).equal(tensor)


class Copied(_python_dispatch.TorchDispatchMode):
    """Adds up what torch copies."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.copy_.default:
            self.numbers += args[0].numel()
        return func(*args, **(kwargs or {}))


def test_bytes_of_ram_are_moved_by_torch_which_lets_other_threads_run():
    kept, target = torch.randn(40), torch.zeros(160, dtype=torch.uint8)
    with Copied() as copied:
        HostTensor(kept).read_part(target, 0)
    assert target.view(torch.float32).equal(kept)
    assert copied.numbers == 160

"""Tensors of GGUF files are what the gguf package makes of them, one by one; trouble on the way is told as ours."""

import numpy as np
import pytest
import torch
from gguf_blocks import packed_rows
from skip_rules import skip_module_without

from mezzotint.checkpoints import gguf_file
from mezzotint.checkpoints.gguf_file import read_gguf_tensors
from mezzotint.checkpoints.gguf_header import TYPES, read_gguf_header
from mezzotint.errors import Cancelled, ModelRefused, StorageError

skip_module_without("gguf")

PLAIN = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
QUANTIZED = [name for name, block, _ in TYPES.values() if block > 1]
SHAPE = (24, 512)


def read(path, *, on_bytes=lambda _: None, cancelled=lambda: False, names=None):
    return read_gguf_tensors(path, on_bytes=on_bytes, cancelled=cancelled, names=names)


@pytest.fixture
def file(tmp_path):
    """One tensor of each type."""
    import numpy as np
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import quantize

    path = tmp_path / "model.gguf"
    writer = GGUFWriter(path, "pixart")
    plain = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)
    for name in ("F32", "F16", "BF16"):
        kind = GGMLQuantizationType[name]
        writer.add_tensor(name, quantize(plain, kind), raw_dtype=kind)
    for name in QUANTIZED:
        writer.add_tensor(name, packed_rows(name, SHAPE), raw_dtype=GGMLQuantizationType[name])
    writer.add_tensor("bias", plain[0])
    writer.add_array("comfy.gguf.orig_shape.Q8_0", [24, 8, 8, 8])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def theirs(path):
    from gguf import GGUFReader
    from gguf.quants import dequantize

    return {
        each.name: torch.from_numpy(dequantize(each.data, each.tensor_type).copy()) for each in GGUFReader(path).tensors
    }


def test_tensors_are_those_of_the_package(file):
    wanted = theirs(file)
    found = dict(read(file))
    assert list(found) == list(wanted) == list(read_gguf_header(file).tensors)
    for name, tensor in found.items():
        assert tensor.dtype == PLAIN.get(name, torch.float32), name
        assert tensor.float().flatten().equal(wanted[name].flatten()), name
        assert tensor.isfinite().all() and tensor.is_contiguous()
    assert found["Q8_0"].shape == (24, 8, 8, 8)
    assert found["Q4_K"].shape == SHAPE and found["bias"].shape == (512,)


def test_packed_ones_are_the_bytes_of_their_rows(file):
    found = dict(read_gguf_tensors(file, on_bytes=lambda _: None, cancelled=lambda: False, packed=QUANTIZED))
    for name in QUANTIZED:
        assert found[name].dtype == torch.uint8
        np.testing.assert_array_equal(found[name].numpy(), packed_rows(name, SHAPE))
    assert found["F16"].dtype == torch.float16


def test_so_they_are_when_read_in_pieces(file, monkeypatch):
    whole = dict(read(file))
    monkeypatch.setattr(gguf_file, "_PIECE", 1000)
    for name, tensor in read(file):
        assert tensor.equal(whole[name]), name


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_0"])
def test_what_the_package_quantized_comes_back_near(kind, tmp_path):
    import numpy as np
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import quantize

    weight = np.random.default_rng(1).standard_normal((64, 256)).astype(np.float32)
    writer = GGUFWriter(tmp_path / "m.gguf", "sdxl")
    writer.add_tensor("w", quantize(weight, GGMLQuantizationType[kind]), raw_dtype=GGMLQuantizationType[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    ((_, tensor),) = read(tmp_path / "m.gguf")
    assert (tensor.numpy() - weight).std() < {"Q8_0": 0.006, "Q4_0": 0.1}[kind]


def test_each_has_its_own_memory_and_its_bytes_are_told(file):
    done = []
    tensors = [tensor for _, tensor in read(file, on_bytes=done.append)]
    header = read_gguf_header(file)
    assert done == [tensor.end - tensor.start for tensor in header.tensors.values()]
    assert len({tensor.untyped_storage().data_ptr() for tensor in tensors}) == len(tensors)


def test_only_those_named_are_read(file):
    done = []
    assert {name for name, _ in read(file, on_bytes=done.append, names={"Q6_K", "bias", "unknown"})} == {"Q6_K", "bias"}
    assert sum(done) == 24 * 512 // 256 * 210 + 512 * 4


def test_it_stops_between_tensors(file):
    tensors = read(file, cancelled=iter([False, False, True]).__next__)
    next(tensors)
    next(tensors)
    with pytest.raises(Cancelled, match=r"Stopped while model\.gguf"):
        next(tensors)


def test_a_file_that_shrinks_meanwhile_is_refused(file):
    tensors = read(file)
    next(tensors)
    with file.open("r+b") as opened:
        opened.truncate(read_gguf_header(file).tensors["Q4_0"].start + 5)
    with pytest.raises(ModelRefused, match="changed meanwhile"):
        list(tensors)


def test_a_disk_that_fails_is_told_as_such(file, monkeypatch):
    def fails(*_args):
        raise OSError(5, "Input/output error")

    tensors = read(file)
    next(tensors)
    monkeypatch.setattr(gguf_file, "_fill", fails)
    with pytest.raises(StorageError, match="Input/output error"):
        next(tensors)

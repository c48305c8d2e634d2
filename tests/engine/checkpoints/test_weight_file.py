"""Weights of either container."""

import gguf
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from mezzotint.checkpoints.delta.writing import write_delta
from mezzotint.checkpoints.weight_file import (
    is_gguf,
    read_weights,
    trunk_of,
    weight_header,
    weight_specs,
    with_trunks,
)
from mezzotint.errors import ModelRefused


def read(path, **more):
    done = []
    tensors = dict(read_weights([path], on_bytes=done.append, cancelled=lambda: False, **more))
    return tensors, sum(done)


def test_safetensors(tmp_path):
    path = tmp_path / "w.safetensors"
    save_file({"a": torch.ones(2, 3), "b": torch.zeros(4, dtype=torch.int8), "c": torch.ones(5).half()}, path)
    specs = weight_specs(path)
    assert {name: (spec.shape, spec.bytes) for name, spec in specs.items()} == {
        "a": ((2, 3), 24),
        "b": ((4,), 4),
        "c": ((5,), 10),
    }
    tensors, done = read(path, names={"a"})
    assert list(tensors) == ["a"]
    assert done == 24
    assert not is_gguf(path)


def test_gguf(tmp_path):
    path = tmp_path / "W.GGUF"
    data = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
    writer = gguf.GGUFWriter(path, "sdxl")
    kind = gguf.GGMLQuantizationType.Q8_0
    writer.add_tensor("a", gguf.quants.quantize(data, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    spec, header = weight_specs(path)["a"], weight_header(path)
    assert (spec.shape, spec.bytes) == ((4, 64), 4 * 2 * 34)
    told = header.tensors["a"]
    assert (told.dtype, told.shape, told.end - told.start) == ("Q8_0", spec.shape, spec.bytes)
    assert header.metadata["general.architecture"] == "sdxl" and header.bytes == path.stat().st_size
    tensors, done = read(path)
    assert done == spec.bytes
    assert np.abs(tensors["a"].numpy() - data).max() < 0.03


@pytest.mark.parametrize("name", ["w.gguf", "w.safetensors"])
def test_what_is_neither(tmp_path, name):
    (tmp_path / name).write_bytes(b"nothing of the kind")
    with pytest.raises(ModelRefused, match=name):
        weight_specs(tmp_path / name)


def test_a_file_that_builds_on_another_model(tmp_path):
    trunk, path = (tmp_path / name / "unet" / "w.safetensors" for name in ("base", "small"))
    for file in (trunk, path):
        file.parent.mkdir(parents=True)
    save_file({"a": torch.ones(2, 3)}, trunk)
    write_delta(path, own={"b": torch.ones(2)}, trunk="base/unet", taken={"a": "a"})
    assert (trunk_of(path), trunk_of(trunk)) == ("base/unet", "")
    assert with_trunks([path]) == (path, trunk)
    tensors, _ = read(path)
    assert set(tensors) == {"a", "b"}
    with pytest.raises(ModelRefused, match="one of 2 files builds on another model; it must be one file"):
        dict(read_weights([path, trunk], on_bytes=lambda _: None, cancelled=lambda: False))

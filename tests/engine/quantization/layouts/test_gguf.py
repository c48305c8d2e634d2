"""Which tensors of a GGUF file stay packed, and how they lie there."""

import pytest
import torch
from gguf_blocks import packed_rows
from skip_rules import skip_module_without

from mezzotint.families.loading.stored_layers import StoredLayers, find_layers
from mezzotint.quantization.gguf_blocks import GgufBlocks
from mezzotint.quantization.layouts.gguf import find_packed_layers, specs_on_disk

skip_module_without("gguf")


@pytest.fixture
def file(tmp_path):
    import numpy as np
    from gguf import GGMLQuantizationType, GGUFWriter

    path = tmp_path / "model.gguf"
    writer = GGUFWriter(path, "flux")
    for name, kind in (("a.weight", "Q4_K"), ("token_embd.weight", "Q8_0"), ("b.table", "Q8_0"), ("c.weight", "Q8_0")):
        writer.add_tensor(name, packed_rows(kind, (8, 256)), raw_dtype=GGMLQuantizationType[kind])
    writer.add_array("comfy.gguf.orig_shape.c.weight", [8, 16, 4, 4])
    writer.add_tensor("a.bias", np.ones(8, dtype=np.float32))
    writer.add_tensor("d.weight", np.ones((4, 4), dtype=np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_matrices_of_layers_stay_packed_and_nothing_else(file):
    (layer,) = find_packed_layers(file).values()
    assert (layer.name, layer.format, layer.shape) == ("a", GgufBlocks(kind="Q4_K"), (8, 256))
    assert find_layers([file]).keys() == {"a"}


def test_a_layer_is_whole_with_its_only_tensor(file):
    stored, rows = StoredLayers([file]), torch.from_numpy(packed_rows("Q4_K", (8, 256)))
    assert stored.names == {"a.weight"}
    whole = stored.take("a.weight", rows)
    assert (whole.weight_name, whole.shape, whole.bytes) == ("a.weight", (8, 256), 8 * 144)
    assert whole.tensors["weight"].equal(rows)
    assert stored.take("a.bias", torch.ones(8)) is None


def test_what_can_be_read_as_it_lies_there(file):
    specs = specs_on_disk(file)
    assert {name: (spec.dtype, spec.shape) for name, spec in specs.items()} == {
        "a.weight": ("U8", (8, 144)),
        "a.bias": ("F32", (8,)),
        "d.weight": ("F16", (4, 4)),
    }
    spec = specs["a.weight"]
    assert file.read_bytes()[spec.start : spec.end] == packed_rows("Q4_K", (8, 256)).tobytes()

"""Layers that are quantized in their files: found by what describes them, whole once all their tensors have come."""

import json

import pytest
import torch
from quantized_weights import seeded
from safetensors.torch import save_file

from mezzotint.checkpoints import header as header_module
from mezzotint.checkpoints.header import read_header
from mezzotint.errors import ModelRefused
from mezzotint.families.loading import stored_layers
from mezzotint.families.loading.stored_layers import StoredLayers, logical_header
from mezzotint.quantization.formats import Format, Int8, LowRank4, Nf4
from mezzotint.quantization.layouts.stored import encode_layer, file_metadata

FORMATS: dict[str, Format] = {
    "a.q": Int8(dynamic=True, group=64),
    "b.conv": Int8(dynamic=False),
    "c.k": Nf4(),
    "d.v": Nf4(double=False),
    "e.out": LowRank4(rank=16, group=64),
}
SHAPES = dict.fromkeys(FORMATS, (8, 64)) | {"b.conv": (8, 4, 3, 3)}


def encoded(names=tuple(FORMATS)):
    tensors = {}
    for name in names:
        weight = seeded(*SHAPES[name])
        tensors |= encode_layer(name, FORMATS[name], weight.shape, FORMATS[name].quantize(weight), torch.float16)
    return tensors


@pytest.fixture
def write(tmp_path):
    def call(tensors, metadata=None, name="a.safetensors"):
        save_file(tensors, tmp_path / name, metadata=metadata)
        return tmp_path / name

    return call


def taken(stored, tensors):
    return {whole.weight_name: whole for name in tensors if (whole := stored.take(name, tensors[name])) is not None}


@pytest.mark.parametrize("backwards", [False, True])
def test_layers_of_every_layout_come_whole_in_any_order(write, backwards):
    tensors = encoded() | {"a.q.bias": seeded(8), "norm.weight": seeded(4)}
    if backwards:
        tensors = dict(reversed(tensors.items()))
    stored = StoredLayers([write(tensors)])
    assert stored.names == set(encoded())
    whole = taken(stored, tensors)
    assert {name.removesuffix(".weight"): layer.format for name, layer in whole.items()} == FORMATS
    for name, layer in whole.items():
        short = name.removesuffix(".weight")
        wanted = FORMATS[short].quantize(seeded(*SHAPES[short]))
        assert all(tensor.equal(wanted[key]) for key, tensor in layer.tensors.items())
        assert layer.bytes == sum(tensor.nbytes for tensor in encoded((short,)).values())


def test_layers_may_lie_in_several_files(write):
    first, second = write(encoded(("a.q",))), write(encoded(("e.out",)), name="b.safetensors")
    stored = StoredLayers([first, second])
    assert set(taken(stored, encoded(("a.q", "e.out")))) == {"a.q.weight", "e.out.weight"}


def test_metadata_alone_describes_layers_too(write):
    tensors = {name: tensor for name, tensor in encoded(("a.q",)).items() if not name.endswith(".comfy_quant")}
    stored = StoredLayers([write(tensors, file_metadata({"a.q": FORMATS["a.q"]}))])
    assert taken(stored, tensors)["a.q.weight"].format == FORMATS["a.q"]


def test_a_file_of_whole_weights_has_none(write):
    path = write({"a.weight": seeded(8, 64)})
    assert StoredLayers([path]).names == frozenset()
    assert StoredLayers([path]).take("a.weight", seeded(8, 64)) is None
    assert logical_header(read_header(path)) == read_header(path)


def test_a_header_as_if_nothing_were_quantized(write):
    header = logical_header(read_header(write(encoded() | {"a.q.bias": seeded(8)})))
    shapes = {name: spec.shape for name, spec in header.tensors.items()}
    assert shapes == {f"{name}.weight": shape for name, shape in SHAPES.items()} | {"a.q.bias": (8,)}


def test_headers_are_read_a_few_times_however_many_layers_there_are(write, monkeypatch):
    weight = FORMATS["a.q"].quantize(seeded(8, 64))
    tensors = {}
    for number in range(50):
        tensors |= encode_layer(f"m{number}", FORMATS["a.q"], (8, 64), dict(weight), torch.float16)
    path, counted = write({name: tensor.clone() for name, tensor in tensors.items()}), []
    for module in (stored_layers, __import__("mezzotint.checkpoints.read", fromlist=["read_header"])):
        monkeypatch.setattr(module, "read_header", lambda each: counted.append(each) or header_module.read_header(each))
    assert len(StoredLayers([path]).names) == 150
    assert len(counted) <= 3


def described(**told):
    return torch.frombuffer(bytearray(json.dumps(told).encode()), dtype=torch.uint8)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"a.q.weight_scale": None}, "a.q lacks a.q.weight_scale"),
        ({"a.q.weight": None}, "a.q lacks a.q.weight"),
        ({"a.q.weight_scale": torch.ones(9, 1)}, r"weight_scale shape \(9, 1\)"),
        ({"a.q.comfy_quant": described(format="float8")}, "a.q: format float8"),
        ({"a.q.comfy_quant": described(format="int8_tensorwise", convrot=True, convrot_groupsize=48)}, "48"),
        (
            {"a.q.comfy_quant": described(format="int8_tensorwise", convrot=True)},
            "64 columns are not a multiple of .*256",
        ),
        ({"a.q.comfy_quant": torch.zeros(5000, dtype=torch.uint8)}, "is not a layer description: 5000 bytes of U8"),
        ({"a.q.comfy_quant": torch.zeros(8)}, "is not a layer description: .* of F32"),
        ({"a.q.comfy_quant": torch.zeros(0, dtype=torch.uint8)}, "not proper JSON"),
        ({"z.SCB": torch.zeros(8)}, "z lacks z.weight"),
        ({"e.out.weight_down": None}, "e.out lacks e.out.weight_down"),
        ({"c.k.weight.absmax": None}, r"c\.k lacks c\.k\.weight\.absmax"),
    ],
)
def test_what_makes_no_sense_is_told_by_its_layer(write, changes, reason):
    tensors = {name: tensor for name, tensor in (encoded() | changes).items() if tensor is not None}
    with pytest.raises(ModelRefused, match=reason):
        StoredLayers([write(tensors)])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"a.q.weight_scale": torch.full((8, 1), float("nan"))}, "a.q: its weight_scale contains NaN"),
        ({"e.out.weight_up": torch.full((8, 16), float("inf"), dtype=torch.float16)}, "weight_up contains NaN"),
        ({"e.out.weight_up": torch.zeros(8, 15, dtype=torch.float16)}, r"weight_up is torch.float16 \(8, 15\)"),
        ({"c.k.weight.absmax": torch.zeros(3, dtype=torch.uint8)}, r"its absmax is torch.uint8 \(3,\)"),
        ({"c.k.weight.quant_map": torch.zeros(16)}, "code table of .* is not NF4's"),
    ],
)
def test_tensors_that_do_not_fit_each_other_are_told_as_they_come(write, changes, reason):
    tensors = encoded() | changes
    with pytest.raises(ModelRefused, match=reason):
        taken(StoredLayers([write(tensors)]), tensors)


def test_a_file_cut_short_is_told(write):
    path = write(encoded())
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelRefused, match="incomplete"):
        StoredLayers([path])

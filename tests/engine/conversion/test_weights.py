"""One file of weights to one file of weights."""

import pytest
import torch
from model_files import entry, raw
from quantized_weights import seeded
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.header import read_header
from mezzotint.conversion.weights import Target, convert_file, quantize_layer
from mezzotint.errors import Cancelled, ModelRefused
from mezzotint.families.loading.stored_layers import StoredLayers
from mezzotint.quantization.formats import Int8, LowRank4, Nf4

FORMATS = {
    "int8": Int8(dynamic=True, group=64),
    "int8-weight": Int8(dynamic=False),
    "int4": Nf4(),
    "int4 once": Nf4(double=False),
    "int4-lowrank": LowRank4(rank=16, group=64),
}


def target(format_, shape=(32, 128)):
    return Target(component="unet", layer="net.q", format=format_, shape=shape)


@pytest.fixture
def source(tmp_path):
    """A file with a weight, its bias and other tensors."""

    def write(weight=None, metadata=None, **more):
        tensors = {"a.q.weight": seeded(32, 128) if weight is None else weight, "a.q.bias": seeded(32), "b": seeded(3)}
        save_file(tensors | more, tmp_path / "source.safetensors", metadata=metadata)
        return tmp_path / "source.safetensors"

    return write


def convert(source, targets, on_bytes=lambda _: None, cancelled=lambda: False):
    output = source.with_name("output.safetensors")
    return output, convert_file(source, output, targets, on_bytes=on_bytes, cancelled=cancelled)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn])
@pytest.mark.parametrize("kind", FORMATS)
def test_the_layer_that_was_named_is_quantized_and_nothing_else(source, kind, dtype):
    weight, format_ = seeded(32, 128).to(dtype), FORMATS[kind]
    path = source(weight, metadata={"title": "a house", "odd": "\u202e😀\x00\n"})
    before = path.read_bytes()
    output, (report,) = convert(path, {"a.q.weight": target(format_)})
    found = load_file(output)
    assert found["a.q.bias"].equal(seeded(32)) and found["b"].equal(seeded(3))
    assert path.read_bytes() == before
    stored = StoredLayers([output])
    whole = [layer for name in stored.names if (layer := stored.take(name, found[name])) is not None]
    assert [layer.weight_name for layer in whole] == ["a.q.weight"] and whole[0].format == format_
    wanted = format_.quantize(weight.float())
    assert all(tensor.equal(wanted[name]) for name, tensor in whole[0].tensors.items())
    metadata = read_header(output).metadata
    assert {**metadata, **read_header(path).metadata} == metadata
    assert ("_quantization_metadata" in metadata) is isinstance(format_, Int8)
    assert (report.component, report.name, report.scheme) == ("unet", "net.q", kind.partition(" ")[0])
    assert report.bytes_before == weight.nbytes
    assert report.bytes_after == sum(found[name].nbytes for name in stored.names)
    back = format_.dequantize(wanted, weight.shape, torch.float32)
    assert report.error == pytest.approx(float((back - weight.float()).norm() / weight.float().norm()))
    assert 0.001 < report.error < 0.15


def test_without_targets_it_is_a_copy(source):
    path = source(metadata={"title": "a house"}, half=seeded(4).half())
    output, reports = convert(path, {})
    assert reports == () and read_header(output).metadata == {"title": "a house"}
    assert all(tensor.equal(load_file(output)[name]) for name, tensor in load_file(path).items())


def test_a_weight_of_zeros_loses_nothing(source):
    (report,) = convert(source(torch.zeros(32, 128)), {"a.q.weight": target(Int8(dynamic=True))})[1]
    assert report.error == 0


def test_a_linear_layer_that_was_written_as_a_convolution(source):
    output, _ = convert(source(seeded(32, 128, 1, 1)), {"a.q.weight": target(Int8(dynamic=True))})
    assert load_file(output)["a.q.weight"].shape == (32, 128)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 2.0**25])
@pytest.mark.parametrize("kind", FORMATS)
def test_numbers_that_cannot_be_are_told_by_their_tensor(source, kind, bad):
    weight = seeded(32, 128)
    weight[3, 100] = bad
    path = source(weight)
    with pytest.raises(ModelRefused, match=r"source\.safetensors: a\.q\.weight: a weight contains NaN"):
        convert(path, {"a.q.weight": target(FORMATS[kind])})
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("weight", "reason"),
    [
        (seeded(32, 64), r"a\.q\.weight has shape \(32, 64\), its configuration says \(32, 128\)"),
        (seeded(128, 32), "belongs to another model"),
        (seeded(32, 128, 3, 3), "belongs to another model"),
        (torch.zeros(32, 128, dtype=torch.int8), r"a\.q\.weight has the dtype I8; supported are F64"),
        (torch.zeros(32, 128, dtype=torch.bool), "has the dtype BOOL"),
    ],
)
def test_a_weight_that_cannot_be_the_layers_is_refused_before_anything_is_written(source, weight, reason):
    path = source(weight)
    with pytest.raises(ModelRefused, match=reason):
        convert(path, {"a.q.weight": target(Int8(dynamic=True))})
    assert list(path.parent.iterdir()) == [path]


def test_a_format_that_nothing_here_can_hold_is_refused(tmp_path):
    path = tmp_path / "source.safetensors"
    path.write_bytes(raw({"four": entry(0, 4, [8], "F4")}, bytes(4)))
    with pytest.raises(ModelRefused, match="four has the dtype F4, which cannot be copied"):
        convert(path, {})


def test_a_file_cut_short_is_refused(source):
    path = source()
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelRefused, match="incomplete"):
        convert(path, {"a.q.weight": target(Int8(dynamic=True))})
    assert list(path.parent.iterdir()) == [path]


def test_stopped_between_tensors(source):
    path, seen = source(), []
    with pytest.raises(Cancelled):
        convert(path, {}, on_bytes=seen.append, cancelled=lambda: len(seen) >= 2)
    assert len(seen) == 2 and list(path.parent.iterdir()) == [path]


def test_bytes_of_the_source_are_counted(source):
    seen, path = [], source()
    convert(path, {"a.q.weight": target(Nf4())}, on_bytes=seen.append)
    assert sum(seen) == sum(tensor.nbytes for tensor in load_file(path).values())


def test_a_layer_is_told_without_a_file(tmp_path):
    encoded, report = quantize_layer("a.q.weight", seeded(32, 128).half(), target(Int8(dynamic=False)), tmp_path)
    assert set(encoded) == {"a.q.weight", "a.q.weight_scale", "a.q.comfy_quant"}
    assert report.bytes_before == 2 * 32 * 128

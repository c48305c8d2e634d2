"""A network filled tensor by tensor: whole, quantized on the way, or quantized in its file."""

from pathlib import Path

import pytest
import torch
from quantized_weights import seeded
from torch import nn

from mezzotint.errors import ModelRefused
from mezzotint.families.family import ComponentSource
from mezzotint.families.loading.original_names import Placement
from mezzotint.families.loading.stored_layers import WholeLayer
from mezzotint.families.loading.weight_loader import WeightLoader
from mezzotint.quantization.formats import Int8, LowRank4, Nf4
from mezzotint.quantization.layers import QuantizedConv2d, QuantizedLinear
from mezzotint.quantization.policy import Choice

FILE = Path("model.safetensors")
SHAPES = {
    "conv_in.weight": (8, 4, 3, 3),
    "block.q.weight": (64, 64),
    "block.q.bias": (64,),
    "block.conv.weight": (16, 8, 3, 3),
    "block.conv.bias": (16,),
}


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_in = nn.Conv2d(4, 8, 3, bias=False)
        self.block = nn.Module()
        self.block.q = nn.Linear(64, 64)
        self.block.conv = nn.Conv2d(8, 16, 3)
        self.register_buffer("table", torch.arange(3.0))  # what no file holds
        self.register_buffer("positions", torch.arange(3))


def filling(choice=None, dtype=torch.float32, library="diffusers", class_name="UNet2DConditionModel"):
    with torch.device("meta"):
        network = Network()
    network.table, network.positions = torch.arange(3.0), torch.arange(3)
    source = ComponentSource(
        name="unet",
        library=library,
        class_name=class_name,
        config={},
        folder=None,
        files=(FILE,),
        bytes=0,
    )
    return WeightLoader(source, network, dtype, torch.device("cpu"), choice)


def whole(format_, *shape, seed=0):
    tensors = format_.quantize(seeded(*shape, seed=seed))
    return WholeLayer(weight_name="", format=format_, shape=shape, tensors=tensors, bytes=0)


def placed(name, form="whole"):
    return Placement(component="unet", name=name, form=form)


def fill(to, without=(), **changes):
    for name, shape in SHAPES.items():
        if name not in without:
            to.put(placed(name), changes.get(name, seeded(*shape)), FILE)
    return to


def test_without_a_choice_the_numbers_are_the_files_own():
    network = fill(filling()).finish()
    for name, shape in SHAPES.items():
        assert network.state_dict()[name].equal(seeded(*shape))
    assert not network.training and not any(parameter.requires_grad for parameter in network.parameters())


def test_numbers_with_a_fraction_have_the_format_of_the_network():
    network = fill(filling(dtype=torch.bfloat16)).finish()
    assert {parameter.dtype for parameter in network.parameters()} == {torch.bfloat16}
    assert network.table.dtype == torch.bfloat16 and network.positions.dtype == torch.int64


def test_of_transformers_what_no_file_holds_is_not_rounded():
    network = fill(filling(dtype=torch.bfloat16, library="transformers", class_name="Qwen3Model")).finish()
    assert network.table.dtype == torch.float32 and network.block.q.weight.dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("scheme", "linear"),
    [("int8", Int8(dynamic=True, group=64)), ("int8-weight", Int8(dynamic=False, group=64)), ("int4", Nf4())],
)
def test_chosen_layers_are_quantized_from_the_numbers_in_the_file(scheme, linear):
    """Not from those of the network's format, which may have fewer bits."""
    network = fill(filling(Choice(scheme=scheme), torch.float16)).finish()
    assert isinstance(network.block.q, QuantizedLinear) and isinstance(network.block.conv, QuantizedConv2d)
    assert type(network.conv_in) is nn.Conv2d and network.conv_in.weight.dtype == torch.float16
    for name, format_ in (("q", linear), ("conv", Int8(dynamic=False))):
        layer = network.block.get_submodule(name)
        assert layer.format == format_ and layer.bias.dtype == torch.float16
        for key, tensor in format_.quantize(seeded(*SHAPES[f"block.{name}.weight"])).items():
            assert layer.get_buffer(f"quantized_{key}").equal(tensor)
            assert layer.get_buffer(f"quantized_{key}").dtype == tensor.dtype  # scales keep all their bits


def test_layers_that_are_quantized_in_their_file_stay_as_they_are():
    """Whatever else was chosen."""
    stored = whole(LowRank4(rank=16), 64, 64, seed=3)
    for choice in (None, Choice(scheme="int8")):
        to = fill(filling(choice), without=("block.q.weight",))
        to.put_quantized(placed("block.q.weight"), stored, FILE)
        layer = to.finish().block.q
        assert layer.format == stored.format and layer.bias.equal(seeded(64))
        assert all(layer.get_buffer(f"quantized_{name}").equal(tensor) for name, tensor in stored.tensors.items())


def test_a_linear_layer_that_was_written_as_a_convolution():
    for choice in (None, Choice(scheme="int8")):
        fill(filling(choice), **{"block.q.weight": seeded(64, 64, 1, 1)}).finish()


@pytest.mark.parametrize("choice", [None, Choice(scheme="int8")])
@pytest.mark.parametrize("name", ["block.q.weight", "block.conv.weight", "block.q.bias"])
def test_what_is_missing_is_named(choice, name):
    with pytest.raises(ModelRefused, match=rf"1 tensors of unet are missing, the first is {name}"):
        fill(filling(choice), without=(name,)).finish()


@pytest.mark.parametrize("choice", [None, Choice(scheme="int8")])
@pytest.mark.parametrize("shape", [(64, 63), (4096,), (64, 64, 2), ()])
def test_another_shape_is_named(choice, shape):
    with pytest.raises(ModelRefused, match="block.q.weight of unet has shape"):
        fill(filling(choice), **{"block.q.weight": torch.ones(shape)})


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["block.q.weight", "block.conv.weight"])
def test_numbers_that_are_none_are_named(name, bad):
    weight = seeded(*SHAPES[name])
    weight.view(-1)[-1] = bad
    with pytest.raises(ModelRefused, match=f"model.safetensors: {name}: a weight contains NaN"):
        fill(filling(Choice(scheme="int8")), **{name: weight})


@pytest.mark.parametrize("format_", [Int8(dynamic=True), Nf4()])
def test_a_quantized_layer_of_another_shape_is_named(format_):
    """Even where all its numbers would fit."""
    reason = r"block.q.weight of unet has shape \(32, 128\), its configuration says \(64, 64\)"
    with pytest.raises(ModelRefused, match=reason):
        filling().put_quantized(placed("block.q.weight"), whole(format_, 32, 128), FILE)


@pytest.mark.parametrize("place", [placed("table"), placed("block.q.bias")])
def test_a_quantized_layer_where_none_can_be_is_refused(place):
    with pytest.raises(ModelRefused, match="is quantized, which cannot be for that layer"):
        filling().put_quantized(place, whole(Int8(dynamic=True), 64, 64), FILE)


@pytest.mark.parametrize("format_", [Nf4(), LowRank4(rank=4), Int8(dynamic=True)])
def test_a_format_of_matrices_in_the_place_of_a_convolution_is_refused(format_):
    with pytest.raises(ModelRefused, match=r"block\.conv\.weight is quantized, which cannot be"):
        filling().put_quantized(placed("block.conv.weight"), whole(format_, 16, 128), FILE)

"""Errors of formats, with inputs and without."""

import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.conversion.auto.candidates import candidates_of
from mezzotint.conversion.auto.choosing import choose_mix
from mezzotint.conversion.auto.layers import Recording
from mezzotint.conversion.auto.measuring import Measurement, format_error
from mezzotint.errors import Cancelled, ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import empty_network
from mezzotint.protocol import SCHEMES
from mezzotint.quantization.block_floats import Nvfp4
from mezzotint.quantization.formats import Int8, LowRank4, Nf4
from mezzotint.quantization.layers import layers_of
from mezzotint.quantization.policy import Choice
from mezzotint.quantization.svdquant.format import SvdQuant

WEIGHTS = "transformer/diffusion_pytorch_model.safetensors"
OUTLIERS = "transformer_blocks.1.attn1.to_q"
LIKE_IT = "transformer_blocks.0.attn1.to_q"


def random(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("chosen", [Int8(dynamic=True), Int8(dynamic=False), Nf4(), LowRank4(rank=16)])
def test_the_error_is_that_of_the_products(chosen):
    weight, x = random(64, 128), random(20, 128) * torch.linspace(0.1, 3, 128)
    exact, found = x @ weight.t(), chosen.product(x, chosen.quantize(weight), weight.shape)
    assert format_error(chosen, weight, x) == pytest.approx(float((found - exact).norm() / exact.norm()))


def test_rounded_inputs_count_too():
    weight, x = random(64, 128), random(20, 128)
    x[:, 0] *= 1000  # all other inputs of a row round to nothing
    weight[:, 0] = 0
    assert format_error(Int8(dynamic=True), weight, x) > 5 * format_error(Int8(dynamic=False), weight, x)


def test_inputs_count_as_kernels_round_them_to_4_bit_floats():
    weight, x = random(64, 128), random(20, 128)
    alone = format_error(Nvfp4(dynamic=False), weight, x)
    assert 1.2 * alone < format_error(Nvfp4(), weight, x) < 2 * alone


def test_without_inputs_the_weight_alone():
    weight = random(64, 128)
    lost = Nf4().dequantize(Nf4().quantize(weight), weight.shape, torch.float32) - weight
    assert format_error(Nf4(), weight, None) == pytest.approx(float(lost.norm() / weight.norm()))
    assert format_error(Nf4(), torch.zeros(64, 128), None) == 0


def test_a_convolution_sees_patches():
    weight, patches = random(8, 4, 3, 3), random(10, 36)
    tensors = Int8(dynamic=False).quantize(weight)
    lost = Int8(dynamic=False).dequantize(tensors, weight.shape, torch.float32) - weight
    wanted = (patches @ lost.flatten(1).t()).norm() / (patches @ weight.flatten(1).t()).norm()
    assert format_error(Int8(dynamic=False), weight, patches) == pytest.approx(float(wanted), rel=1e-4)


def measured_alone(weight, rows, *formats):
    made = Measurement(
        sources=None,
        component="transformer",
        formats={"layer": formats},
        recordings={"layer": Recording(rows=[rows])},
        speed_of=lambda _: 1.0,
        device=torch.device("cpu"),
    )
    return made._measured("layer", weight, 1.0)


def test_svdquant_is_measured_as_it_is_written_smoothed_by_the_inputs():
    weight, x = random(64, 128), random(256, 128)
    x[:, ::32] *= 30  # columns with outliers
    x[:, 1::32] *= 0.1
    smoothed, plain = SvdQuant(rank=16), LowRank4(rank=16)
    layer = measured_alone(weight, x, smoothed, plain)
    magnitudes = x.square().mean(dim=0).sqrt()
    tensors, exact = smoothed.quantize(weight, magnitudes), x @ weight.t()
    wanted = (smoothed.product(x, tensors, weight.shape) - exact).norm() / exact.norm()
    assert layer.magnitudes.equal(magnitudes)
    assert layer.candidates[1].error == pytest.approx(float(wanted))
    assert layer.candidates[1].error < 0.8 * format_error(smoothed, weight, x)
    assert layer.candidates[2].error == format_error(plain, weight, x)  # written without


def test_inputs_of_another_width_are_ignored():
    weight = random(64, 128)
    layer = measured_alone(weight, random(8, 64), SvdQuant(rank=16))
    assert layer.magnitudes is None
    assert layer.candidates[1].error == format_error(SvdQuant(rank=16), weight, None)


@pytest.fixture
def model(tiny_pixart_folder, tmp_path):
    return shutil.copytree(tiny_pixart_folder, tmp_path / "model")


def measurement(folder, recordings=None, schemes=SCHEMES):
    checkpoint = open_checkpoint(folder)
    detected = detect(checkpoint)
    sources = family_of(detected.family).sources(checkpoint, detected)
    source = sources.components["transformer"]
    layers = layers_of(empty_network(source))
    return Measurement(
        sources=sources,
        component="transformer",
        formats=candidates_of(source.class_name, layers, Choice(scheme="int8"), schemes),
        recordings=recordings or {},
        speed_of=lambda format_: {"int8": 1.5}.get(format_.scheme, 0.9),
        device=torch.device("cpu"),
    )


def measured(made, on_layer=lambda *_: None, cancelled=lambda: False):
    return {layer.name: layer for layer in made.layers(on_layer, cancelled)}


def within(room):
    return lambda mix: mix.bytes <= room


def test_every_layer_is_measured_and_progress_ends(model):
    told = []
    made = measurement(model)
    found = measured(made, on_layer=lambda *done: told.append(done))
    assert found.keys() == made.formats.keys()
    assert told == [(number, len(found)) for number in range(1, len(found) + 1)]
    for layer in found.values():
        exact, *others = layer.candidates
        assert exact.format is None and exact.error == 0
        assert [each.format for each in others] == list(made.formats[layer.name])
        assert all(0 < each.error < 0.5 for each in others)
        assert all(each.speed == (1.5 if each.scheme == "int8" else 0.9) for each in others)


def test_layers_with_planted_outliers_keep_more_bits(model):
    tensors = load_file(model / WEIGHTS)
    name = f"{OUTLIERS}.weight"
    tensors[name].view(-1)[::32] = 15 * tensors[name].std()
    save_file(tensors, model / WEIGHTS, metadata={"format": "pt"})
    unrotated = ("int8", "int8-weight", "int4")  # rotations spread outliers
    layers = tuple(measured(measurement(model, schemes=unrotated)).values())
    whole = sum(layer.candidates[0].bytes for layer in layers)
    rooms = [whole * percent // 100 for percent in range(25, 100, 3)]
    mixes = [choose_mix(layers, within(room)) for room in rooms]
    sizes = [(mix.chosen[OUTLIERS].bytes, mix.chosen[LIKE_IT].bytes) for mix in mixes if mix is not None]
    assert all(planted >= plain for planted, plain in sizes)
    assert any(planted > plain for planted, plain in sizes)


def test_what_was_recorded_is_used(model):
    plain = measured(measurement(model))
    recording = Recording(rows=[random(8, 24)], work=7.0, influence=0.25)
    layer = measured(measurement(model, {LIKE_IT: recording}))[LIKE_IT]
    assert (layer.work, layer.influence) == (7.0, 0.25)
    assert layer.candidates[1].error != plain[LIKE_IT].candidates[1].error


def test_a_damaged_weight_is_named(model):
    tensors = load_file(model / WEIGHTS)
    tensors[f"{LIKE_IT}.weight"][0, 0] = float("nan")
    save_file(tensors, model / WEIGHTS, metadata={"format": "pt"})
    with pytest.raises(ModelRefused, match=rf"{LIKE_IT}.*NaN"):
        measured(measurement(model))


def test_it_stops_between_layers(model):
    with pytest.raises(Cancelled):
        measured(measurement(model), cancelled=lambda: True)

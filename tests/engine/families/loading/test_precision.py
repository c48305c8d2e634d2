"""How many bits a model's weights have, told without reading them."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.conversion.model import Conversion, convert
from mezzotint.errors import ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.known import family_of
from mezzotint.families.loading.precision import parts_of, scheme_of
from mezzotint.protocol import SCHEMES
from mezzotint.quantization.policy import Choice

TRANSFORMER = "transformer/diffusion_pytorch_model.safetensors"


def sources_of(path):
    checkpoint = open_checkpoint(path)
    detected = detect(checkpoint)
    return family_of(detected.family).sources(checkpoint, detected)


def told(path):
    return scheme_of(open_checkpoint(path)), {part.name: part for part in parts_of(sources_of(path))}


def stored(path):
    return sum(tensor.nbytes for tensor in load_file(path).values())


@pytest.fixture
def pixart(tiny_pixart_folder, tmp_path):
    return shutil.copytree(tiny_pixart_folder, tmp_path / "model")


def test_a_model_that_is_not_quantized(pixart):
    half = {name: tensor.half() for name, tensor in load_file(pixart / TRANSFORMER).items()}
    half["proj_out.weight"] = half["proj_out.weight"].float()
    save_file(half, pixart / TRANSFORMER)
    scheme, parts = told(pixart)
    layers = sum(name.endswith("weight") for name in half)
    assert scheme == "" and set(parts) == {"transformer", "text_encoder", "vae"}
    assert parts["transformer"].layers == {"float16": layers - 1, "float32": 1}
    assert parts["transformer"].bytes == stored(pixart / TRANSFORMER)


@pytest.mark.parametrize(
    ("said", "scheme"),
    [
        ({"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, "int4"),
        ({"load_in_4bit": True, "bnb_4bit_quant_type": "fp4"}, "fp4"),
        ({"load_in_8bit": True}, "int8-weight"),
        ({"quant_method": "other"}, ""),
    ],
)
def test_what_bitsandbytes_says_of_a_folder(pixart, said, scheme):
    place = pixart / "transformer" / "config.json"
    place.write_text(json.dumps(json.loads(place.read_text("utf-8")) | {"quantization_config": said}), "utf-8")
    assert scheme_of(open_checkpoint(pixart)) == scheme


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_of_a_folder(tiny_sdxl_folder, tmp_path, scheme):
    choices = {"unet": Choice(scheme=scheme, rank=1), "text_encoder": Choice(scheme="int8-weight")}
    report = convert(Conversion(sources=sources_of(tiny_sdxl_folder), choices=choices, output=tmp_path / "small"))
    found, parts = told(tmp_path / "small")
    assert found == scheme
    for part in report.components:
        if part.bytes_before:
            assert parts[part.name].bytes == part.bytes_after
            assert {name: count for name, count in parts[part.name].layers.items() if name != "float32"} == part.schemes


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_of_a_single_file(tiny_single_file, tmp_path, scheme):
    output = tmp_path / "small.safetensors"
    choices = {"unet": Choice(scheme=scheme, rank=1), "text_encoder": Choice(scheme="int8")}
    report = convert(Conversion(sources=sources_of(tiny_single_file), choices=choices, output=output))
    found, parts = told(output)
    assert found == (scheme if scheme != "int8-weight" else "int8")  # names alone do not tell these two apart
    layers = {}
    for layer in report.components[0].layers:
        counts = layers.setdefault(layer.component, {})
        counts[layer.scheme] = counts.get(layer.scheme, 0) + 1
    for name in ("unet", "text_encoder"):
        assert {key: count for key, count in parts[name].layers.items() if key != "float32"} == layers[name]
    before = {part.name: part for part in parts_of(sources_of(tiny_single_file))}
    saved = sum(layer.bytes_before - layer.bytes_after for layer in report.components[0].layers)
    assert sum(part.bytes for part in before.values()) - sum(part.bytes for part in parts.values()) == saved
    assert parts["vae"] == before["vae"]


def test_what_diffusers_quantized_says_so_in_its_configuration(pixart):
    path = pixart / "transformer" / "config.json"
    config = json.loads(path.read_text())
    path.write_text(
        json.dumps(config | {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}})
    )
    assert scheme_of(open_checkpoint(pixart)) == "int4"


@pytest.mark.parametrize("said", [{"transformer": "int9"}, {"transformer": ["int8"]}, "int8", 5, {"vae": "int8"}])
def test_settings_that_make_no_sense_are_not_repeated(pixart, said):
    (pixart / "mezzotint.json").write_text(json.dumps({"quantization": said}))
    assert scheme_of(open_checkpoint(pixart)) == ""


def test_a_damaged_layer_is_told(pixart):
    nothing = {"transformer_blocks.0.attn1.to_q.comfy_quant": torch.zeros(3, dtype=torch.uint8)}
    save_file(load_file(pixart / TRANSFORMER) | nothing, pixart / TRANSFORMER)
    with pytest.raises(ModelRefused, match="to_q"):
        parts_of(sources_of(pixart))

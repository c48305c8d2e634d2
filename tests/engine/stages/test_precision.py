"""What `auto` becomes for a cascade, and which networks it concerns."""

import shutil
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.families.detection import detect
from mezzotint.families.known import family_of
from mezzotint.protocol import DeviceInfo
from mezzotint.quantization.policy import Choice
from mezzotint.stages.precision import Schemes, choices_of, settle_schemes

BESIDE = 5 * 2**29  # what a card needs beside the network


def stage(path):
    checkpoint = open_checkpoint(path)
    detected = detect(checkpoint)
    family = family_of(detected.family)
    return SimpleNamespace(family=family, sources=family.sources(checkpoint, detected))


def card(room):
    return DeviceInfo(id="cuda:0", name="", memory_bytes=BESIDE + room)


def settled(stages, room, denoiser="auto", text="auto"):
    return settle_schemes(denoiser, text, SimpleNamespace(stages=stages), card(room))


@pytest.fixture
def pixart(tiny_pixart_folder):
    return stage(tiny_pixart_folder)


def test_float32_counts_as_what_it_is_loaded_as(pixart, tiny_pixart_folder, tmp_path):
    half = pixart.sources.components["transformer"].bytes // 2
    assert settled([pixart], half).denoiser == "none"
    assert settled([pixart], half - 1).denoiser == "int8"
    folder = shutil.copytree(tiny_pixart_folder, tmp_path / "model")
    path = folder / "transformer" / "diffusion_pytorch_model.safetensors"
    save_file({name: tensor.to(torch.bfloat16) for name, tensor in load_file(path).items()}, path)
    assert settled([stage(folder)], half).denoiser == "none"
    assert settled([stage(folder)], half - 1).denoiser == "int8"


def test_a_part_of_a_single_file_counts_alone(tiny_single_file):
    one = stage(tiny_single_file)
    half = one.sources.components["unet"].bytes // 2
    assert settled([one], half + 10).denoiser == "none"
    assert settled([one], half - 10).denoiser == "int8"


def test_words_and_pictures_are_settled_apart(pixart):
    room = min(pixart.sources.components[name].bytes // 2 for name in ("transformer", "text_encoder"))
    text_is_smaller = pixart.sources.components["text_encoder"].bytes // 2 == room
    schemes = settled([pixart], room)
    assert (schemes.text if text_is_smaller else schemes.denoiser) == "none"
    assert (schemes.denoiser if text_is_smaller else schemes.text) != "none"


def test_the_largest_network_of_a_cascade_decides_for_all(pixart, tiny_sdxl_folder):
    xl = stage(tiny_sdxl_folder)
    small, large = sorted((pixart, xl), key=lambda each: each.sources.components[each.family.denoiser_component].bytes)
    room = small.sources.components[small.family.denoiser_component].bytes // 2
    assert settled([small], room).denoiser == "none"
    assert settled([small, large], room).denoiser == settled([large, small], room).denoiser == "int4-lowrank"


def test_what_was_asked_for_is_had(pixart):
    assert settled([pixart], 0, "int4", "none") == Schemes(denoiser="int4", text="none")


def test_choices_are_of_the_network_that_makes_pictures_and_of_all_text_encoders(tiny_sdxl_folder, pixart):
    schemes = Schemes(denoiser="int4-lowrank", text="int8")
    assert choices_of(schemes, stage(tiny_sdxl_folder).sources, "unet") == {
        "unet": Choice(scheme="int4-lowrank"),
        "text_encoder": Choice(scheme="int8"),
        "text_encoder_2": Choice(scheme="int8"),
    }
    assert choices_of(Schemes(denoiser="int8", text="none"), pixart.sources, "transformer") == {
        "transformer": Choice(scheme="int8")
    }
    assert choices_of(Schemes(denoiser="none", text="none"), pixart.sources, "transformer") == {}

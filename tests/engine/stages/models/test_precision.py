"""What `auto` becomes for a cascade, and which networks it concerns."""

from types import SimpleNamespace

import pytest

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.families.detection import detect
from mezzotint.families.known import family_of
from mezzotint.quantization.policy import Choice
from mezzotint.stages.models.precision import Schemes, choices_of, resolve_schemes


def stage(path):
    checkpoint = open_checkpoint(path)
    detected = detect(checkpoint)
    family = family_of(detected.family)
    return SimpleNamespace(family=family, sources=family.sources(checkpoint, detected))


@pytest.fixture
def pixart(tiny_pixart_folder):
    return stage(tiny_pixart_folder)


def test_what_was_asked_for_is_had_and_nothing_else():
    assert resolve_schemes("int4", "auto") == Schemes(denoiser="int4", text="none")
    assert resolve_schemes("auto", "int8") == Schemes(denoiser="none", text="int8")


def test_choices_are_of_the_network_that_makes_images_and_of_all_text_encoders(tiny_sdxl_folder, pixart):
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

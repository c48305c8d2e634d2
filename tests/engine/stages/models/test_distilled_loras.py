"""A distilled LoRA changes the defaults of the models that it is for, and of no others."""

import pytest
import torch
from lora_files import write_lora

from mezzotint.families.detected import Detected
from mezzotint.protocol import LoraRef, ModelDefaults, Sampling
from mezzotint.stages.models.distilled_loras import detected_with

WIDE = "unet.down_blocks.1.attentions.0.transformer_blocks.0.attn2.to_k"
BASE = Detected(
    family="sdxl",
    variant="base",
    defaults=ModelDefaults(width=1024, height=1024, steps=30, guidance_scale=5.0),
    prediction_type="epsilon",
    zero_terminal_snr=False,
    sampler=None,
    schedule=None,
)


@pytest.fixture
def lora(tmp_path):
    def write(name, width=2048, weight=1.0):
        tensors = {f"{WIDE}.lora_A.weight": torch.ones(1, width), f"{WIDE}.lora_B.weight": torch.ones(4, 1)}
        return LoraRef(path=str(write_lora(tmp_path / f"{name}.safetensors", tensors)), weight=weight)

    return write


def taken(detected, loras, sampling=None):
    said: list[str] = []
    found = detected_with(detected, loras, sampling or Sampling()).take(said.append)
    return found, said


def test_its_settings_are_the_defaults_and_are_said(lora):
    found, said = taken(BASE, [lora("style"), lora("dmd2_sdxl_4step_lora")])
    assert (found.defaults.steps, found.defaults.guidance_scale, found.sampler) == (4, 1.0, "lcm")
    assert len(said) == 1 and "(steps 4, guidance 1, sampler lcm) is assumed" in said[0]


def test_what_is_given_stays(lora):
    found, said = taken(BASE, [lora("dmd2_sdxl_4step_lora")], Sampling(guidance_scale=1.5))
    assert (found.defaults.steps, found.defaults.guidance_scale) == (4, 5.0) and "guidance" not in said[0].split(
        "from"
    )[0]
    assert taken(BASE, [lora("dmd2")], Sampling(steps=9, guidance_scale=1.5, sampler="euler")) == (BASE, [])


def test_others_change_nothing(lora):
    for loras in ([lora("style")], [lora("dmd2", weight=0.0)], [lora("lcm_sd15", width=768)], [LoraRef(path="none")]):
        assert taken(BASE, loras) == (BASE, [])
    distilled = Detected(**{**{name: getattr(BASE, name) for name in BASE.__slots__}, "variant": "refiner"})
    assert taken(distilled, [lora("dmd2")]) == (distilled, [])

"""LoRAs for few steps are told by whole words, and what they were made for is offered where it is left open."""

import pytest
import torch
from lora_files import write_lora

from mezzotint.families.lora.distilled import few_steps
from mezzotint.families.lora.file import open_lora
from mezzotint.protocol import Sampling

TENSORS = {"unet.x.lora_A.weight": torch.ones(1, 4), "unet.x.lora_B.weight": torch.ones(4, 1)}


def found(tmp_path, name, family="sdxl", *, embeds_guidance=False, **metadata):
    path = write_lora(tmp_path / f"{name}.safetensors", TENSORS, metadata=metadata or None)
    return few_steps(open_lora(path), family, embeds_guidance=embeds_guidance)


@pytest.mark.parametrize(
    ("name", "family", "expected"),
    [
        ("sdxl_lightning_8step_lora", "sdxl", (8, 1.0, "euler", "sgm_uniform")),
        ("Qwen-Image-Lightning-4steps-V1.0", "qwen-image", (4, 1.0, None, None)),
        ("Hyper-SDXL-8steps-lora", "sdxl", (8, 1.0, "euler", "sgm_uniform")),
        ("Hyper-SDXL-12steps-CFG-lora", "sdxl", (12, None, "euler", "sgm_uniform")),
        ("hyper_2step", "sd15", (2, 1.0, "euler", "sgm_uniform")),
        ("dmd2_sdxl_4step_lora_fp16", "sdxl", (4, 1.0, "lcm", None)),
        ("SD3.5-Medium-TDM", "sd3", (4, 1.0, None, None)),
        ("lcm-lora-sdv1-5", "sd15", (4, 1.0, "lcm", None)),
        ("sd_xl_turbo_lora_v1", "sdxl", (4, 1.0, "euler_a", "sgm_uniform")),
        ("FLUX.1-Turbo-Alpha", "flux", (8, 1.0, None, None)),
    ],
)
def test_names(tmp_path, name, family, expected):
    few = found(tmp_path, name, family)
    assert few is not None and (few.steps, few.guidance_scale, few.sampler, few.schedule) == expected


@pytest.mark.parametrize(
    "name",
    ["lightning_strikes", "porsche_turbo", "hyperrealism", "calcmode", "admd2x", "turbocharged_4_doors", "20steps"],
)
def test_words_of_styles_are_none(tmp_path, name):
    assert found(tmp_path, name) is None


def test_metadata_names_it_and_embedded_guidance_stays(tmp_path):
    few = found(
        tmp_path, "pytorch_lora_weights", "flux", embeds_guidance=True, ss_output_name="Hyper-FLUX.1-dev-16steps"
    )
    assert few is not None and (few.steps, few.guidance_scale, few.words) == (16, None, "Hyper-FLUX.1-dev-16steps")


def test_only_what_is_left_open_is_assumed_and_said_with_the_options(tmp_path):
    few = found(tmp_path, "sdxl_lightning_4step_lora")
    assert few is not None
    whole = few.left_open(Sampling())
    assert whole is not None and str(whole.guess()) == (
        "sampling in few steps (steps 4, guidance 1, sampler euler, schedule sgm_uniform) is assumed, from its name "
        "'sdxl_lightning_4step_lora', which is that of a LoRA for few steps (Lightning); --steps or --guidance or "
        "--sampler or --schedule overrides it"
    )
    some = few.left_open(Sampling(steps=6, sampler="lcm"))
    assert some is not None and (some.steps, some.guidance_scale, some.sampler, some.schedule) == (
        None,
        1.0,
        None,
        None,
    )
    assert few.left_open(Sampling(steps=6, guidance_scale=2.0, schedule="karras")) is None

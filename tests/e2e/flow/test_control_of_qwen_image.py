"""ControlNets of Qwen-Image: bit for bit what diffusers' pipeline makes."""

import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, pipeline, same
from PIL import Image
from tiny_control import weights_of
from tiny_qwen_image import write_tiny_qwen_control, write_tiny_qwen_image

from mezzotint.errors import ModelRefused
from mezzotint.families.qwen_image.family import QwenImage
from mezzotint.protocol import ControlRef

STEPS = 3


def test_one_from_a_file_with_guidance(tmp_path, monkeypatch):
    import diffusers

    folder = write_tiny_qwen_image(tmp_path / "Qwen-Image")
    net = write_tiny_qwen_control(tmp_path / "net")
    Image.radial_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(tmp_path / "shown.png")
    loaded = copy.deepcopy(diffusers.QwenImageControlNetModel.from_pretrained(net))
    made = pipeline("QwenImageControlNetPipeline", folder, controlnet=loaded)(
        PROMPT,
        negative_prompt=NEGATIVE,
        control_image=Image.open(tmp_path / "shown.png"),
        controlnet_conditioning_scale=0.8,
        height=SIDE,
        width=SIDE,
        num_inference_steps=STEPS,
        true_cfg_scale=4.0,
        generator=generator(),
    )
    control = ControlRef(image=f"{tmp_path}/shown.png", model=str(weights_of(net)), weight=0.8)
    mine = partial(ours, folder, tmp_path, steps=STEPS, guidance_scale=4.0, negative_prompt=NEGATIVE)
    batched = mine(controls=(control,))
    monkeypatch.setattr(QwenImage, "spec", replace(QwenImage.spec, halves=("sequential",)))  # as its pipeline
    one_by_one = mine(controls=(control,))
    same(made.images[0], one_by_one)
    assert np.abs(batched.astype(int) - one_by_one).max() <= 1
    assert not np.array_equal(one_by_one, mine())
    other = write_tiny_qwen_control(tmp_path / "inpainting", extra_condition_channels=4)
    with pytest.raises(ModelRefused, match="it takes 4 more channels than an image has"):
        mine(controls=(ControlRef(image=control.image, model=str(other)),))

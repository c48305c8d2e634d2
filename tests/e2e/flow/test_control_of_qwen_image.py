"""ControlNets of Qwen-Image: bit for bit what diffusers' pipeline makes without guidance."""

import copy

import numpy as np
import pytest
from flow_parity import PROMPT, SIDE, generator, ours, pipeline, same
from PIL import Image
from tiny_control import weights_of
from tiny_qwen_image import write_tiny_qwen_control, write_tiny_qwen_image

from mezzotint.errors import ModelRefused
from mezzotint.protocol import ControlRef

STEPS = 3


def test_one_from_a_file(tmp_path):
    import diffusers

    folder = write_tiny_qwen_image(tmp_path / "Qwen-Image")
    net = write_tiny_qwen_control(tmp_path / "net")
    Image.radial_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(tmp_path / "shown.png")
    loaded = copy.deepcopy(diffusers.QwenImageControlNetModel.from_pretrained(net))
    made = pipeline("QwenImageControlNetPipeline", folder, controlnet=loaded)(
        PROMPT,
        control_image=Image.open(tmp_path / "shown.png"),
        controlnet_conditioning_scale=0.8,
        height=SIDE,
        width=SIDE,
        num_inference_steps=STEPS,
        true_cfg_scale=1.0,
        generator=generator(),
    )
    control = ControlRef(image=f"{tmp_path}/shown.png", model=str(weights_of(net)), weight=0.8)
    mine = ours(folder, tmp_path, steps=STEPS, guidance_scale=1.0, controls=(control,))
    same(made.images[0], mine)
    assert not np.array_equal(mine, ours(folder, tmp_path, steps=STEPS, guidance_scale=1.0))
    other = write_tiny_qwen_control(tmp_path / "inpainting", extra_condition_channels=4)
    with pytest.raises(ModelRefused, match="it takes 4 more channels than an image has"):
        ours(folder, tmp_path, controls=(ControlRef(image=control.image, model=str(other)),))

"""ControlNets of FLUX.1: bit for bit what diffusers' pipeline makes."""

import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from flow_parity import PROMPT, SIDE, generator, ours, pipeline, same
from PIL import Image
from tiny_control import weights_of
from tiny_flux1 import write_tiny_control_lora, write_tiny_flux, write_tiny_flux_control

from mezzotint.errors import ModelRefused, UsageError
from mezzotint.protocol import ControlRef

STEPS, GUIDANCE = 4, 3.5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_flux(tmp_path_factory.mktemp("dev") / "FLUX.1-dev")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    place = tmp_path_factory.mktemp("shown")
    for index, shade in enumerate((Image.linear_gradient("L"), Image.radial_gradient("L"))):
        shade.resize((SIDE, SIDE)).convert("RGB").save(place / f"{index}.png")
    return place


def theirs(folder, nets, images, **asked):
    import diffusers

    loaded = [copy.deepcopy(diffusers.FluxControlNetModel.from_pretrained(net)) for net in nets]
    made = pipeline("FluxControlNetPipeline", folder, controlnet=loaded if len(loaded) > 1 else loaded[0])
    words = {"prompt": PROMPT, "height": SIDE, "width": SIDE, "num_inference_steps": STEPS}
    shown = [Image.open(image) for image in images]
    usual = {"guidance_scale": GUIDANCE, "generator": generator()}
    return made(**words, **usual, control_image=shown if len(shown) > 1 else shown[0], **asked).images[0]


def test_one_from_a_folder_and_a_file(folder, shown, tmp_path):
    net = write_tiny_flux_control(tmp_path / "net", num_single_layers=0)  # as Union Pro 2.0
    expected = theirs(folder, [net], [shown / "0.png"], controlnet_conditioning_scale=0.7, control_guidance_end=0.75)
    control = ControlRef(image=f"{shown}/0.png", model=str(net), weight=0.7, end=0.75)
    mine = ours(folder, tmp_path, steps=STEPS, guidance_scale=GUIDANCE, controls=(control,))
    same(expected, mine)
    assert not np.array_equal(mine, ours(folder, tmp_path, steps=STEPS, guidance_scale=GUIDANCE))
    with pytest.raises(UsageError, match="--step-cache and --control cannot be used together"):
        ours(folder, tmp_path, step_cache=0.1, controls=(control,))
    kontext = write_tiny_flux(tmp_path / "FLUX.1-Kontext-dev", variant="kontext")
    with pytest.raises(ModelRefused, match="edits reference images"):
        ours(kontext, tmp_path, controls=(control,))


def test_a_union_and_another_one(folder, shown, tmp_path):
    union, plain = (
        write_tiny_flux_control(tmp_path / "union", num_mode=4),
        write_tiny_flux_control(tmp_path / "plain", seed=2, num_mode=4),
    )
    scales, images = [0.6, 1.2], [shown / "0.png", shown / "1.png"]
    settings = {"steps": STEPS, "guidance_scale": GUIDANCE}
    depth = ControlRef(image=str(images[0]), model=str(weights_of(union)), type="depth", weight=0.6)
    tile = ControlRef(image=str(images[1]), model=str(plain), type="tile", weight=1.2)
    expected = theirs(folder, [union, plain], images, control_mode=[2, 1], controlnet_conditioning_scale=scales)
    same(expected, ours(folder, tmp_path, **settings, controls=(depth, tile)))
    with pytest.raises(UsageError, match="does not know type=openpose; it knows canny, tile, depth, blur"):
        ours(folder, tmp_path, controls=(ControlRef(image=str(images[1]), model=str(plain), type="openpose"),))


def test_models_that_take_the_image_themselves(shown, tmp_path):
    folder = write_tiny_flux(tmp_path / "FLUX.1-Depth-dev", variant="depth")
    made = pipeline("FluxControlPipeline", folder)
    words = {"prompt": PROMPT, "height": SIDE, "width": SIDE, "num_inference_steps": STEPS, "guidance_scale": 10.0}
    expected = made(**words, control_image=Image.open(shown / "0.png"), generator=generator()).images[0]
    control = ControlRef(image=f"{shown}/0.png", type="depth")
    same(expected, ours(folder, tmp_path, steps=STEPS, controls=(control,)))
    with pytest.raises(UsageError, match="needs a control image: give it with --control IMAGE, without model="):
        ours(folder, tmp_path, steps=STEPS)
    with pytest.raises(UsageError, match="takes a control image in all steps and everywhere"):
        ours(folder, tmp_path, controls=(replace(control, end=0.5),))
    with pytest.raises(UsageError, match="takes one control image itself; leave the others out"):
        ours(folder, tmp_path, controls=(control, control))


def test_models_that_take_none_need_a_controlnet(folder, shown, tmp_path):
    with pytest.raises(UsageError, match="no ControlNet is given for it, and .*FLUX.1-dev takes no image itself"):
        ours(folder, tmp_path, controls=(ControlRef(image=f"{shown}/0.png"),))


def test_a_control_lora(folder, shown, tmp_path):
    lora = write_tiny_control_lora(tmp_path / "flux1-depth-dev-lora.safetensors")
    made = pipeline("FluxControlPipeline", folder)
    made.load_lora_weights(str(lora), adapter_name="depth")
    made.set_adapters("depth", 0.85)
    words = {"prompt": PROMPT, "height": SIDE, "width": SIDE, "num_inference_steps": STEPS, "guidance_scale": 10.0}
    expected = made(**words, control_image=Image.open(shown / "0.png"), generator=generator()).images[0]
    control = ControlRef(image=f"{shown}/0.png", model=str(lora), weight=0.85)
    mine = partial(ours, folder, tmp_path, steps=STEPS, guidance_scale=10.0)
    same(expected, mine(controls=(control,)), apart=1)
    with pytest.raises(UsageError, match="takes a control image in all steps and everywhere"):
        mine(controls=(replace(control, end=0.5),))
    fill = write_tiny_flux(tmp_path / "FLUX.1-Fill-dev", variant="fill")
    with pytest.raises(ModelRefused, match="is not FLUX.1 dev or schnell, and it is a control LoRA for those"):
        ours(fill, tmp_path, controls=(control,))

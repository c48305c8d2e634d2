"""ControlNets: bit for bit what the diffusers pipelines make."""

from functools import cache

import numpy as np
import pytest
import torch
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, same
from PIL import Image
from tiny_control import weights_of, write_original_control, write_tiny_control
from tiny_sd15 import write_tiny_sd15

from mezzotint.errors import ModelRefused
from mezzotint.protocol import ControlRef

STEPS, GUIDANCE = 4, 5.0


@pytest.fixture(scope="module")
def sdxl(tiny_sdxl_folder, tmp_path_factory):
    return Family("StableDiffusionXL", tiny_sdxl_folder, tmp_path_factory.mktemp("control"))


@pytest.fixture(scope="module")
def sd15(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sd15")
    return Family("StableDiffusion", write_tiny_sd15(folder / "model"), folder)


class Family:
    """A tiny model, ControlNets for it, and control images."""

    def __init__(self, name, model, folder):
        self.name, self.model, self.folder = name, model, folder
        for index, shade in enumerate((Image.linear_gradient("L"), Image.radial_gradient("L"))):
            shade.resize((SIDE, SIDE)).convert("RGB").save(folder / f"{index}.png")

    def net(self, seed=1, **settings):
        place = self.folder / f"net-{seed}-{'-'.join(settings)}"
        return place if place.exists() else write_tiny_control(place, self.model, seed=seed, **settings)

    def image(self, index=0):
        return self.folder / f"{index}.png"

    def ref(self, seed=1, image=0, model=None, **settings):
        return ControlRef(image=str(self.image(image)), model=str(model or self.net(seed)), **settings)

    def ours(self, folder, *controls, **fields):
        usual = {"steps": STEPS, "guidance_scale": GUIDANCE, "negative_prompt": NEGATIVE}
        return ours(self.model, folder, **usual | fields, controls=controls)

    def theirs(self, nets, images, union=False, **asked):
        pipe = _pipeline(f"{self.name}ControlNet{'Union' * union}Pipeline", self.model, tuple(nets), union)
        words = {"prompt": PROMPT, "negative_prompt": NEGATIVE, "height": SIDE, "width": SIDE}
        numbers = {"num_inference_steps": STEPS, "guidance_scale": GUIDANCE, "generator": generator()}
        pictures = [Image.open(self.image(image)) for image in images]
        name = "control_image" if union else "image"
        return pipe(**words, **numbers, **{name: pictures if len(pictures) > 1 else pictures[0]}, **asked).images[0]


@cache
def _pipeline(name, model, nets, union):
    import copy

    import diffusers

    kind = diffusers.ControlNetUnionModel if union else diffusers.ControlNetModel
    loaded = [copy.deepcopy(kind.from_pretrained(net)) for net in nets]
    made = getattr(diffusers, name).from_pretrained(model, controlnet=loaded if len(loaded) > 1 else loaded[0])
    for part, network in made.components.items():
        if isinstance(network, torch.nn.Module) and part != "controlnet":
            setattr(made, part, copy.deepcopy(network))  # mapped files are unaligned
    made.set_progress_bar_config(disable=True)
    return made


def test_one(sdxl, tmp_path):
    mine = sdxl.ours(tmp_path, sdxl.ref())
    same(sdxl.theirs([sdxl.net()], [0]), mine)
    assert not np.array_equal(mine, sdxl.ours(tmp_path))


@pytest.mark.slow
def test_of_sd15_from_files(sd15, tmp_path):
    expected = sd15.theirs([sd15.net()], [0], controlnet_conditioning_scale=0.7)
    same(expected, sd15.ours(tmp_path, sd15.ref(weight=0.7)))
    same(expected, sd15.ours(tmp_path, sd15.ref(model=weights_of(sd15.net()), weight=0.7)))
    original = write_original_control(sd15.net(), tmp_path / "original.safetensors")
    same(expected, sd15.ours(tmp_path, sd15.ref(model=original, weight=0.7)))


def test_two_with_weights_and_intervals(sdxl, tmp_path):
    expected = sdxl.theirs(
        [sdxl.net(), sdxl.net(2)],
        [0, 1],
        controlnet_conditioning_scale=[0.6, 1.3],
        control_guidance_start=[0.0, 0.25],
        control_guidance_end=[0.5, 1.0],
    )
    mine = sdxl.ours(tmp_path, sdxl.ref(weight=0.6, end=0.5), sdxl.ref(2, image=1, weight=1.3, start=0.25))
    same(expected, mine)


def test_union(sdxl, tmp_path):
    net = sdxl.net(union=6)
    expected = sdxl.theirs([net], [0], union=True, control_mode=[3], controlnet_conditioning_scale=0.8)
    same(expected, sdxl.ours(tmp_path, sdxl.ref(model=net, type="canny", weight=0.8)))
    two = sdxl.theirs([net], [0, 1], union=True, control_mode=[1, 3], controlnet_conditioning_scale=[0.5, 1.0])
    depth, lines = sdxl.ref(model=net, type="depth", weight=0.5), sdxl.ref(model=net, image=1, type="mlsd")
    same(two, sdxl.ours(tmp_path, depth, lines))
    assert np.abs(np.array(two).astype(int) - np.array(expected)).max() > 0


def test_of_another_family(sdxl, sd15, tmp_path):
    with pytest.raises(ModelRefused, match="it takes text of width 32"):
        sdxl.ours(tmp_path, sdxl.ref(model=sd15.net()))

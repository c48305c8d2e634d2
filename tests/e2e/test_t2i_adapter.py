"""T2I-Adapters: what the diffusers pipelines make, but for the last bit of few pixels."""

import copy

import diffusers
import numpy as np
import pytest
import torch
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, same
from PIL import Image
from tiny_control import weights_of, write_tiny_t2i_adapter
from tiny_sd15 import write_tiny_sd15

from mezzotint.errors import UsageError
from mezzotint.protocol import ControlRef

STEPS, GUIDANCE = 4, 5.0


@pytest.fixture
def shown(tmp_path):
    shade = Image.radial_gradient("L").resize((SIDE, SIDE))
    Image.merge("RGB", (shade, shade.rotate(90), shade.transpose(Image.Transpose.FLIP_TOP_BOTTOM))).save(
        tmp_path / "0.png"
    )
    Image.linear_gradient("L").resize((SIDE, SIDE)).save(tmp_path / "1.png")
    return tmp_path


def theirs(name, model, folders, images, **asked):
    loaded = [copy.deepcopy(diffusers.T2IAdapter.from_pretrained(folder)) for folder in folders]
    pipe = getattr(diffusers, name).from_pretrained(
        model, adapter=diffusers.MultiAdapter(loaded) if len(loaded) > 1 else loaded[0]
    )
    for part, network in pipe.components.items():
        if isinstance(network, torch.nn.Module) and part != "adapter":
            setattr(pipe, part, copy.deepcopy(network))  # mapped files are unaligned
    pipe.set_progress_bar_config(disable=True)
    words = {"prompt": PROMPT, "negative_prompt": NEGATIVE, "height": SIDE, "width": SIDE}
    numbers = {"num_inference_steps": STEPS, "guidance_scale": GUIDANCE, "generator": generator()}
    return pipe(**words, **numbers, image=images if len(images) > 1 else images[0], **asked).images[0]


def mine(model, folder, *controls, **fields):
    usual = {"steps": STEPS, "guidance_scale": GUIDANCE, "negative_prompt": NEGATIVE}
    return ours(model, folder, **usual | fields, controls=controls)


def test_two_of_sdxl_with_weights(tiny_sdxl_folder, shown, monkeypatch):
    folders = [
        write_tiny_t2i_adapter(shown / str(seed), "full_adapter_xl", (32, 64, 64), factor=4, seed=seed)
        for seed in (1, 2)
    ]
    images = [Image.open(shown / f"{index}.png").convert("RGB") for index in (0, 1)]
    expected = theirs(
        "StableDiffusionXLAdapterPipeline",
        tiny_sdxl_folder,
        folders,
        images,
        adapter_conditioning_scale=[0.6, 1.3],
        adapter_conditioning_factor=0.5,
    )
    refs = [
        ControlRef(image=f"{shown}/{index}.png", model=str(folder), weight=weight, end=0.5)
        for index, (folder, weight) in enumerate(zip(folders, (0.6, 1.3), strict=True))
    ]
    seen, forward = [], diffusers.T2IAdapter.forward
    monkeypatch.setattr(diffusers.T2IAdapter, "forward", lambda net, x: seen.append(net) or forward(net, x))
    found = mine(tiny_sdxl_folder, shown, *refs)
    same(expected, found, apart=1)
    assert len(seen) == len(refs)  # not in each step
    assert not np.array_equal(found, mine(tiny_sdxl_folder, shown, refs[1]))
    with pytest.raises(UsageError, match="multiples of 4 pixels, not 66x66; try --size 64x64"):
        mine(tiny_sdxl_folder, shown, refs[0], side=66)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("kind", ["full_adapter", "light_adapter"])
def test_one_of_sd15_in_grey_from_a_file(tmp_path, shown, kind):
    model = write_tiny_sd15(tmp_path / "model")
    channels = (32, 64)
    folder = write_tiny_t2i_adapter(tmp_path / "gray", kind, channels, factor=2)
    expected = theirs("StableDiffusionAdapterPipeline", model, [folder], [Image.open(shown / "1.png")])
    found = mine(model, shown, ControlRef(image=f"{shown}/1.png", model=str(weights_of(folder))))
    same(expected, found, apart=1)  # the last bits of small convolutions depend on where their numbers lie in memory

"""ControlNets of Z-Image: bit for bit what diffusers' pipeline makes."""

import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, pipeline, request_of, same
from PIL import Image
from safetensors.torch import load_file, save_file
from tiny_control import weights_of
from tiny_z_image import write_tiny_z_image, write_tiny_z_image_control

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.paths import models_folder
from mezzotint.protocol import ControlRef

STEPS, AMPLE = 3, 512 * 2**20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("z-image")
    Image.radial_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(place / "shown.png")
    return write_tiny_z_image(place / "Z-Image", shift=6.0)


def theirs(folder, net, **asked):
    import diffusers

    loaded = copy.deepcopy(diffusers.ZImageControlNetModel.from_pretrained(net))
    made = pipeline("ZImageControlNetPipeline", folder, controlnet=loaded)
    usual = {"height": SIDE, "width": SIDE, "num_inference_steps": STEPS, "generator": generator()}
    return made(PROMPT, control_image=Image.open(folder.parent / "shown.png"), **usual, **asked).images[0]


@pytest.mark.parametrize("kind", [None, "control_noise_refiner", "control_layers"])
def test_each_version_from_a_folder_and_a_file(folder, tmp_path, kind):
    net = write_tiny_z_image_control(tmp_path / "net", kind=kind)
    settings = {"negative_prompt": NEGATIVE, "guidance_scale": 4.0} if kind is None else {"guidance_scale": 1.0}
    guidance = settings["guidance_scale"] - 1.0  # as that pipeline counts
    expected = theirs(folder, net, controlnet_conditioning_scale=0.8, **settings | {"guidance_scale": guidance})
    mine = partial(ours, folder, tmp_path, steps=STEPS, **settings)
    shown = f"{folder.parent}/shown.png"
    made = mine(controls=(ControlRef(image=shown, model=str(net), weight=0.8),))
    same(expected, made)
    file = weights_of(net)
    if kind == "control_layers":  # 2.0 in its file: with a refiner that was never trained
        of_2_1 = load_file(weights_of(write_tiny_z_image_control(tmp_path / "other", kind="control_noise_refiner")))
        untrained = {name: each for name, each in of_2_1.items() if name.startswith("control_noise_refiner.")}
        untrained["control_noise_refiner.0.before_proj.weight"].zero_()
        save_file(load_file(file) | untrained, file)
    named = models_folder() / "model_patches" / f"union-{kind}.safetensors"
    named.parent.mkdir(parents=True, exist_ok=True)
    named.write_bytes(file.read_bytes())
    again = mine(controls=(ControlRef(image=shown, model=f"Union-{kind}", weight=0.8),))
    assert np.array_equal(made, again)
    assert not np.array_equal(made, mine())


@pytest.mark.slow
def test_streamed_beside_the_transformer_whose_layers_it_shares(folder, tmp_path):
    net = write_tiny_z_image_control(tmp_path / "net", kind="control_noise_refiner")
    fields = {"steps": STEPS, "guidance_scale": 1.0, "quantization": "none", "text_quantization": "none"}
    control = ControlRef(image=f"{folder.parent}/shown.png", model=str(net), end=0.7)
    request = request_of(folder, tmp_path, **fields, controls=(control,))
    run = partial(Engine(Catalog.standard()).generate, on_event=lambda _: None, cancelled=lambda: False)
    ample = run(replace(request, vram_limit_bytes=AMPLE))
    tight = run(replace(request, vram_limit_bytes=ample.plan.smallest_vram_bytes))
    assert tight.images[0].sha256 == ample.images[0].sha256
    for result in (ample, tight):
        part = next(part for part in result.plan.components if part.name == "z_image_controlnet")
        assert (part.resident_blocks < part.blocks) is (result is tight)
        stage = result.memory.phases[1]
        assert 0 < stage.measured_bytes <= stage.predicted_bytes

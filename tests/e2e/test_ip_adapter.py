"""IP-Adapters: bit for bit what the diffusers pipelines make, recorded, planned and streamed."""

import copy
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, request_of, same
from PIL import Image, ImageChops
from recorded_again import read_metadata
from tiny_ip_adapter import write_tiny_ip_adapter
from tiny_sd15 import write_tiny_sd15

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import ImageRefused, ModelRefused, UsageError
from mezzotint.protocol import ControlRef, ImageInput, Output
from mezzotint.values.regions import RegionRef

STEPS, GUIDANCE, AMPLE = 3, 5.0, 512 * 2**20


@pytest.fixture(scope="module")
def sdxl(tiny_sdxl_folder, tmp_path_factory):
    return Family("StableDiffusionXLPipeline", tiny_sdxl_folder, tmp_path_factory.mktemp("prompts"))


@pytest.fixture(scope="module")
def sd15(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sd15")
    return Family("StableDiffusionPipeline", write_tiny_sd15(folder / "model"), folder)


class Family:
    """A tiny model, IP-Adapters for it, and image prompts."""

    def __init__(self, name, model, folder):
        self.name, self.model, self.folder = name, model, folder
        shown = Image.radial_gradient("L").resize((75, 50)), Image.linear_gradient("L").resize((31, 64))
        for index, shade in enumerate(shown):
            Image.merge("RGB", (shade, shade.rotate(90), shade.rotate(45))).save(folder / f"{index}.png")

    def adapter(self, *, plus=False, seed=4):
        return write_tiny_ip_adapter(self.folder / "models", self.model, plus=plus, seed=seed)

    def ref(self, image=0, plus=False, seed=4, **settings):
        model = self.adapter(plus=plus, seed=seed)
        return ControlRef(image=f"{self.folder}/{image}.png", model=str(model), **settings)

    def ours(self, folder, *controls, **fields):
        usual = {"steps": STEPS, "guidance_scale": GUIDANCE, "negative_prompt": NEGATIVE}
        return ours(self.model, folder, **usual | fields, controls=controls)

    def theirs(self, *controls, **fields):
        import diffusers

        pipe = getattr(diffusers, self.name).from_pretrained(self.model)
        for part, network in pipe.components.items():
            if isinstance(network, torch.nn.Module):
                setattr(pipe, part, copy.deepcopy(network))  # mapped files are unaligned
        names = [control.model.rpartition("/")[2] for control in controls]
        pipe.load_ip_adapter(self.folder, subfolder="models", weight_name=names, low_cpu_mem_usage=False)
        pipe.image_encoder = copy.deepcopy(pipe.image_encoder)
        pipe.set_ip_adapter_scale([control.weight for control in controls])
        pipe.set_progress_bar_config(disable=True)
        images = [Image.open(control.image) for control in controls]
        masks = [Image.open(control.mask) for control in controls if control.mask]
        if masks:
            from diffusers.image_processor import IPAdapterMaskProcessor

            seen = IPAdapterMaskProcessor().preprocess(masks, height=SIDE, width=SIDE)
            fields["cross_attention_kwargs"] = {"ip_adapter_masks": [mask[None] for mask in seen]}
        usual = {"num_inference_steps": STEPS, "guidance_scale": GUIDANCE, "generator": generator()}
        words = {"prompt": PROMPT, "negative_prompt": NEGATIVE, "height": SIDE, "width": SIDE}
        return pipe(**words, **usual | fields, ip_adapter_image=images).images[0]


def test_one_is_recorded_and_made_again(sdxl, tmp_path):
    run = partial(Engine(Catalog.standard()).generate, on_event=lambda _: None, cancelled=lambda: False)
    fields = {"steps": STEPS, "guidance_scale": GUIDANCE, "negative_prompt": NEGATIVE}
    made = run(request_of(sdxl.model, tmp_path, **fields, controls=(sdxl.ref(weight=0.8),)))
    same(sdxl.theirs(sdxl.ref(weight=0.8)), np.array(Image.open(made.images[0].path)))
    (used,) = made.stages[0].controls
    assert used.encoder.path == f"{sdxl.folder}/models/image_encoder/model.safetensors"
    assert used.file.path not in [file.path for file in made.stages[0].model.files]
    recorded = read_metadata(Path(made.images[0].path)).request
    assert recorded.controls[0].encoder == used.encoder.path
    again = run(replace(recorded, output=Output(path=f"{tmp_path}/again.png")))
    assert again.images[0].sha256 == made.images[0].sha256


def test_of_sd15_with_hidden_states(sd15, tmp_path):
    same(sd15.theirs(sd15.ref(plus=True)), sd15.ours(tmp_path, sd15.ref(plus=True)))


def test_two_with_masks_without_guidance(sdxl, tmp_path):
    left, right = tmp_path / "left.png", tmp_path / "right.png"
    mask = Image.new("L", (SIDE, SIDE))
    mask.paste(255, (0, 0, SIDE // 2 + 7, SIDE))
    mask.save(left)
    ImageChops.invert(mask).save(right)
    controls = sdxl.ref(weight=0.6, mask=str(left)), sdxl.ref(image=1, plus=True, weight=1.3, mask=str(right))
    mine = sdxl.ours(tmp_path, *controls, guidance_scale=1.0)
    same(sdxl.theirs(*controls, guidance_scale=1.0), mine)


@pytest.mark.slow
def test_streamed_under_a_limit(sdxl, tmp_path):
    fields = {"steps": 2, "guidance_scale": 1.0, "quantization": "none", "text_quantization": "none"}
    request = request_of(sdxl.model, tmp_path, **fields, controls=(sdxl.ref(plus=True),))
    run = partial(Engine(Catalog.standard()).generate, on_event=lambda _: None, cancelled=lambda: False)
    ample = run(replace(request, vram_limit_bytes=AMPLE))
    tight = run(replace(request, vram_limit_bytes=ample.plan.smallest_vram_bytes))
    assert tight.images[0].sha256 == ample.images[0].sha256
    for result, limit in ((ample, AMPLE), (tight, ample.plan.smallest_vram_bytes)):
        part = next(part for part in result.plan.components if part.name == "ip_adapter")
        assert part.phases[0] == "encode"
        assert (part.resident_blocks < part.blocks) is (result is tight)
        encode, stage, _ = result.memory.phases
        assert all(0 < phase.measured_bytes <= phase.predicted_bytes <= limit for phase in (encode, stage))


def test_what_cannot_be_is_refused(sdxl, tmp_path):
    with pytest.raises(UsageError, match="--compile and the IP-Adapter .* cannot be used together"):
        sdxl.ours(tmp_path, sdxl.ref(), compile=True)
    with pytest.raises(ModelRefused, match="no config.json"):
        sdxl.ours(tmp_path, sdxl.ref(encoder=str(tmp_path)))
    with pytest.raises(ModelRefused, match="its image encoder .* has changed since it was used"):
        sdxl.ours(tmp_path, sdxl.ref(encoder_sha256="0" * 64))
    with pytest.raises(ImageRefused, match="the mask of an image prompt has changed"):
        image = f"{sdxl.folder}/0.png"
        sdxl.ours(tmp_path, sdxl.ref(mask=image, mask_sha256="0" * 64))


def test_where_a_region_has_all_of_the_image_it_is_seen_as_with_the_region_s_prompt(sd15, tmp_path):
    everywhere = RegionRef(box=(0.0, 0.0, 1.0, 1.0), prompt=PROMPT)
    plain = sd15.ours(tmp_path, sd15.ref())
    assert np.array_equal(sd15.ours(tmp_path, sd15.ref(), prompt="a boat", regions=(everywhere,)), plain)


@pytest.mark.slow
def test_each_tile_of_a_large_image_sees_all_of_it(sd15, tmp_path):
    Image.radial_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(tmp_path / "init.png")
    init = {"images": (ImageInput(path=str(tmp_path / "init.png")),), "strength": 0.5, "denoise_tile": 128, "side": 160}
    seen, plain = sd15.ours(tmp_path, sd15.ref(), **init), sd15.ours(tmp_path, **init)
    assert not np.array_equal(seen, plain)
    Image.new("L", (SIDE, SIDE)).save(tmp_path / "nothing.png")
    assert np.array_equal(sd15.ours(tmp_path, sd15.ref(mask=str(tmp_path / "nothing.png")), **init), plain)

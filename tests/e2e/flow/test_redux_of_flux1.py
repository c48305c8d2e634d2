"""FLUX.1 Redux: bit for bit what diffusers' pipelines make."""

import copy
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from flow_parity import PROMPT, SIDE, generator, ours, pipeline, request_of, same
from PIL import Image
from recorded_again import read_metadata
from safetensors.torch import load_file, save_file
from tiny_flux1 import write_tiny_flux
from tiny_redux import SIDE as SEEN
from tiny_redux import write_tiny_redux

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.protocol import ControlRef, Output
from mezzotint.values.regions import RegionRef

STEPS, GUIDANCE, AMPLE = 3, 3.5, 512 * 2**20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("redux")
    for index, shade in enumerate((Image.radial_gradient("L"), Image.linear_gradient("L"))):
        Image.merge("RGB", (shade, shade.rotate(90), shade.rotate(45))).resize((75, 50)).save(place / f"{index}.png")
    write_tiny_redux(place)
    return write_tiny_flux(place / "FLUX.1-dev")


def ref(folder, image=0, **settings):
    place = folder.parent
    return ControlRef(image=f"{place}/{image}.png", model=f"{place}/flux1-redux-dev.safetensors", **settings)


def theirs(folder, weights, pooled):
    import diffusers
    import transformers
    from diffusers.pipelines.flux.modeling_flux import ReduxImageEncoder

    made, place = pipeline("FluxPipeline", folder), folder.parent
    prior = diffusers.FluxPriorReduxPipeline(
        image_encoder=copy.deepcopy(transformers.SiglipVisionModel.from_pretrained(place / "image_encoder")),
        feature_extractor=transformers.SiglipImageProcessorPil(size={"height": SEEN, "width": SEEN}),
        image_embedder=copy.deepcopy(ReduxImageEncoder.from_pretrained(place / "image_embedder")),
        text_encoder=made.text_encoder,
        tokenizer=made.tokenizer,
        text_encoder_2=made.text_encoder_2,
        tokenizer_2=made.tokenizer_2,
    )
    images = [Image.open(place / f"{index}.png") for index in range(len(weights))]
    prompts = {"prompt": [PROMPT] * len(images), "prompt_2": [PROMPT] * len(images)}
    words = prior(images, **prompts, prompt_embeds_scale=weights, pooled_prompt_embeds_scale=pooled)
    sizes = {"height": SIDE, "width": SIDE, "num_inference_steps": STEPS, "guidance_scale": GUIDANCE}
    return made(**words, **sizes, generator=generator()).images[0]


def test_one_is_recorded_and_made_again(folder, tmp_path):
    run = partial(Engine(Catalog.standard()).generate, on_event=lambda _: None, cancelled=lambda: False)
    made = run(request_of(folder, tmp_path, steps=STEPS, guidance_scale=GUIDANCE, controls=(ref(folder, weight=0.8),)))
    same(theirs(folder, [0.8], [1.0]), np.array(Image.open(made.images[0].path)))
    recorded = read_metadata(Path(made.images[0].path)).request
    assert recorded.controls[0].encoder == f"{folder.parent}/image_encoder/model.safetensors"
    again = run(replace(recorded, output=Output(path=f"{tmp_path}/again.png")))
    assert again.images[0].sha256 == made.images[0].sha256


def test_two_and_where_it_is_found(folder, tmp_path):
    both = ref(folder, weight=0.75), ref(folder, 1, weight=0.25)
    settings = {"steps": STEPS, "guidance_scale": GUIDANCE}
    made = ours(folder, tmp_path, **settings, controls=both)
    same(theirs(folder, [0.75, 0.25], [0.5, 0.5]), made)
    models = tmp_path / "models"
    for name in ("style_models", "clip_vision"):
        (models / name).mkdir(parents=True)
    tensors = load_file(folder.parent / "image_encoder" / "model.safetensors")
    older = {f"vision_model.{name}": one for name, one in tensors.items()} | {"text_model.a": torch.zeros(1)}
    save_file(older, models / "clip_vision" / "sigclip.safetensors")
    embedder = folder.parent / "image_embedder" / "diffusion_pytorch_model.safetensors"
    (models / "style_models" / "redux.safetensors").write_bytes(embedder.read_bytes())
    elsewhere = tuple(replace(one, model=str(models / "style_models" / "redux.safetensors")) for one in both)
    assert np.array_equal(ours(folder, tmp_path, **settings, controls=elsewhere), made)
    (models / "clip_vision" / "sigclip.safetensors").unlink()
    with pytest.raises(ModelRefused, match="no image encoder of the width 48 .* a SigLIP image encoder with encoder="):
        ours(folder, tmp_path, controls=elsewhere)


def test_in_some_steps_and_with_other_things(folder, tmp_path):
    mine = partial(ours, folder, tmp_path, steps=STEPS, guidance_scale=GUIDANCE)
    plain, seen = mine(), mine(controls=(ref(folder),))
    assert np.array_equal(mine(controls=(ref(folder, weight=0.0),)), plain)
    assert not any(np.array_equal(mine(controls=(ref(folder, end=0.5),)), other) for other in (plain, seen))
    with pytest.raises(UsageError, match="only those take a mask"):
        mine(controls=(ref(folder, mask=f"{folder.parent}/0.png"),))
    with pytest.raises(UsageError, match="--step-cache and .* in some of the steps"):
        mine(step_cache=0.1, controls=(ref(folder, end=0.5),))
    with pytest.raises(UsageError, match="--region and Redux cannot be used together"):
        mine(controls=(ref(folder),), regions=(RegionRef(box=(0.0, 0.0, 1.0, 1.0), prompt="a"),))


def test_what_cannot_take_it(folder, tmp_path):
    wide = write_tiny_redux(tmp_path / "wide", words=16)
    with pytest.raises(ModelRefused, match="it makes text of width 16, the model takes 32"):
        ours(folder, tmp_path, controls=(replace(ref(folder), model=str(wide)),))
    guided = write_tiny_flux(tmp_path / "OpenFLUX", variant="undistilled")
    with pytest.raises(ModelRefused, match="it is for models with embedded guidance, or none"):
        ours(guided, tmp_path, controls=(ref(folder),))


@pytest.mark.slow
def test_streamed_under_a_limit(folder, tmp_path):
    fields = {"steps": 2, "quantization": "none", "text_quantization": "none"}
    request = request_of(folder, tmp_path, **fields, controls=(ref(folder),))
    run = partial(Engine(Catalog.standard()).generate, on_event=lambda _: None, cancelled=lambda: False)
    ample = run(replace(request, vram_limit_bytes=AMPLE))
    tight = run(replace(request, vram_limit_bytes=ample.plan.smallest_vram_bytes + 2**14))
    assert tight.images[0].sha256 == ample.images[0].sha256
    part = next(part for part in tight.plan.components if part.name == "redux")
    assert part.phases[0] == "encode"
    assert all(phase.measured_bytes <= phase.predicted_bytes for phase in tight.memory.phases[:2])

"""Sana: what the pipeline of diffusers makes, but for the last bits of the decoder."""

import numpy as np
import pytest
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, pipeline, same
from PIL import Image
from tiny_sana import write_tiny_sana, write_tiny_sprint

# One linear layer of the decoder rounds otherwise on a processor where its weights do not lie on a whole cache line.
APART = 1
pytestmark = pytest.mark.usefixtures("every_device")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_sana(tmp_path_factory.mktemp("sana") / "Sana_1600M_1024px_diffusers")


def theirs(folder, **given):
    sizes = {"height": SIDE, "width": SIDE, "use_resolution_binning": False}
    return pipeline("SanaPipeline", folder)(
        PROMPT, **sizes, **given, num_inference_steps=4, generator=generator()
    ).images[0]


def test_without_guidance(folder, tmp_path):
    same(theirs(folder, guidance_scale=1.0), ours(folder, tmp_path, steps=4, guidance_scale=1.0), apart=APART)


def test_with_guidance(folder, tmp_path):
    made = theirs(folder, negative_prompt=NEGATIVE, guidance_scale=4.0)
    same(made, ours(folder, tmp_path, steps=4, guidance_scale=4.0, negative_prompt=NEGATIVE), apart=APART)


def test_with_normalized_queries_and_keys(tmp_path):
    folder = write_tiny_sana(tmp_path / "SANA1.5", qk_norm="rms_norm_across_heads")
    same(theirs(folder, guidance_scale=1.0), ours(folder, tmp_path, steps=4, guidance_scale=1.0), apart=APART)


def test_of_an_image(folder, tmp_path):
    Image.linear_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(tmp_path / "init.png")
    sampling = {"steps": 4, "guidance_scale": 1.0}
    made = ours(folder, tmp_path, init=tmp_path / "init.png", strength=0.5, **sampling)
    assert made.std() > 1 and not np.array_equal(made, ours(folder, tmp_path, **sampling))


@pytest.fixture(scope="module")
def sprint(tmp_path_factory):
    return write_tiny_sprint(tmp_path_factory.mktemp("sprint") / "Sana_Sprint_1.6B_1024px_diffusers")


def theirs_of_sprint(sprint, steps, name="SanaSprintPipeline", **given):
    given |= {"height": SIDE, "width": SIDE, "use_resolution_binning": False, "guidance_scale": 4.0}
    given |= {} if steps == 2 else {"intermediate_timesteps": None}
    made = pipeline(name, sprint)(PROMPT, **given, num_inference_steps=steps, generator=generator())
    return made.images[0]


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_sprint(sprint, tmp_path, steps):
    same(theirs_of_sprint(sprint, steps), ours(sprint, tmp_path, steps=steps, guidance_scale=4.0), apart=APART)


def test_sprint_of_an_image(sprint, tmp_path):
    image = Image.linear_gradient("L").resize((SIDE, SIDE)).convert("RGB")
    image.save(tmp_path / "init.png")
    theirs = theirs_of_sprint(sprint, 4, "SanaSprintImg2ImgPipeline", image=image, strength=0.5)
    sampling = {"steps": 4, "guidance_scale": 4.0}
    same(theirs, ours(sprint, tmp_path, init=tmp_path / "init.png", strength=0.5, **sampling), apart=APART)


def test_the_scale_that_sprint_embeds_matters(sprint, tmp_path):
    weak, strong = (ours(sprint, tmp_path, steps=2, guidance_scale=scale).astype(int) for scale in (1.0, 9.0))
    assert np.abs(weak - strong).mean() > 0.1

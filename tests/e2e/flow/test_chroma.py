"""Chroma: bit for bit what the pipelines of diffusers make, once their padding is masked as it was in training."""

from types import MethodType

import pytest
import torch
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, pipeline, same
from PIL import Image
from tiny_chroma import write_tiny_chroma

pytestmark = pytest.mark.usefixtures("every_device")
STEPS = {"height": SIDE, "width": SIDE, "num_inference_steps": 4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_chroma(tmp_path_factory.mktemp("chroma") / "Chroma1-HD")


def theirs(folder, name="ChromaPipeline", *, negative=None, **given):
    """Made with the words and one token of padding, and so without a mask."""
    made = pipeline(name, folder)
    made._prepare_attention_mask = MethodType(lambda *_, **__: None, made)
    words = encoded(made, PROMPT, "prompt") | (encoded(made, negative, "negative_prompt") if negative else {})
    return made(**words, **STEPS, **given, generator=generator()).images[0]


def encoded(made, prompt, name):
    with torch.no_grad():  # else the encoder rounds otherwise
        text, mask = made._get_t5_prompt_embeds(prompt)
    length = int(mask.sum())
    return {f"{name}_embeds": text[:, :length], f"{name}_attention_mask": mask[:, :length]}


def test_without_guidance(folder, tmp_path):
    same(theirs(folder, guidance_scale=1.0), ours(folder, tmp_path, steps=4, guidance_scale=1.0))


def test_with_guidance(folder, tmp_path):
    made = theirs(folder, negative=NEGATIVE, guidance_scale=4.0)
    same(made, ours(folder, tmp_path, steps=4, guidance_scale=4.0, negative_prompt=NEGATIVE))


def test_with_a_shift_of_its_own(tmp_path):
    folder = write_tiny_chroma(tmp_path / "fixed", use_dynamic_shifting=False)
    same(theirs(folder, guidance_scale=1.0), ours(folder, tmp_path, steps=4, guidance_scale=1.0))


def test_of_an_image(folder, tmp_path, every_device):
    Image.linear_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(tmp_path / "init.png")
    image = Image.open(tmp_path / "init.png")
    made = theirs(folder, "ChromaImg2ImgPipeline", image=image, strength=0.5, guidance_scale=1.0)
    mine = ours(folder, tmp_path, init=tmp_path / "init.png", strength=0.5, steps=4, guidance_scale=1.0)
    # A group norm on a card gives up channels last, which an encoded image has, and rounds in another order.
    same(made, mine, apart=every_device != "cpu")


@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_to_leave_padding_out_is_to_mask_it(folder, tmp_path, every_device):
    made = pipeline("ChromaPipeline", folder)
    text, mask = made._get_t5_prompt_embeds(PROMPT)
    words = {"prompt_embeds": text, "prompt_attention_mask": mask.to(torch.bool)}
    masked = made(**words, **STEPS, guidance_scale=1.0, generator=generator()).images[0]
    same(masked, ours(folder, tmp_path, steps=4, guidance_scale=1.0), apart=1)

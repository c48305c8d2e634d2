"""Qwen-Image: bit for bit what the pipelines of diffusers make."""

from dataclasses import replace

import pytest
import torch
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, loaded, ours, pipeline, same
from PIL import Image
from tiny_qwen_image import write_tiny_qwen_image

from mezzotint.families.qwen_image.family import QwenImage

pytestmark = pytest.mark.usefixtures("every_device")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_qwen_image(tmp_path_factory.mktemp("q") / "Qwen-Image")


def test_of_words(folder, tmp_path):
    made = pipeline("QwenImagePipeline", folder)(
        PROMPT, height=SIDE, width=SIDE, num_inference_steps=4, true_cfg_scale=1.0, generator=generator()
    )
    same(made.images[0], ours(folder, tmp_path, steps=4, guidance_scale=1.0))


def test_with_guidance(folder, tmp_path, monkeypatch):
    """Prompts and negative ones one after the other, as in the pipeline, for the same last bits."""
    monkeypatch.setattr(QwenImage, "spec", replace(QwenImage.spec, halves=("sequential",)))
    made = pipeline("QwenImagePipeline", folder)(
        PROMPT,
        negative_prompt=NEGATIVE,
        height=SIDE,
        width=SIDE,
        num_inference_steps=4,
        true_cfg_scale=4.0,
        generator=generator(),
    )
    same(made.images[0], ours(folder, tmp_path, steps=4, guidance_scale=4.0, negative_prompt=NEGATIVE))


def test_of_an_image(folder, tmp_path):
    Image.linear_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(tmp_path / "init.png")
    made = pipeline("QwenImageImg2ImgPipeline", folder)(
        PROMPT,
        image=Image.open(tmp_path / "init.png"),
        strength=0.5,
        height=SIDE,
        width=SIDE,
        num_inference_steps=4,
        true_cfg_scale=1.0,
        generator=generator(),
    )
    mine = ours(folder, tmp_path, init=tmp_path / "init.png", strength=0.5, steps=4, guidance_scale=1.0)
    same(made.images[0], mine)


@pytest.mark.parametrize("prompt", ["", PROMPT, PROMPT * 60])
def test_words_of_any_length(folder, prompt):
    text, mask = pipeline("QwenImagePipeline", folder).encode_prompt(prompt, max_sequence_length=512)
    words = QwenImage().words(loaded(folder, "tokenizer", "text_encoder"), prompt)
    assert mask is None and words.length == text.shape[1] <= 512
    torch.testing.assert_close(words.text, text, rtol=0, atol=1e-6)  # theirs read what is cut off, too

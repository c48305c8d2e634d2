"""Krea 2: bit for bit what the pipeline of diffusers makes."""

import pytest
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, loaded, ours, pipeline, same
from tiny_krea2 import write_tiny_krea2

from mezzotint.families.krea2.family import Krea2

pytestmark = pytest.mark.usefixtures("every_device")


def test_turbo(tmp_path):
    folder = write_tiny_krea2(tmp_path / "Krea-2-Turbo")
    made = pipeline("Krea2Pipeline", folder)(
        PROMPT, height=SIDE, width=SIDE, num_inference_steps=4, guidance_scale=0.0, generator=generator()
    )
    same(made.images[0], ours(folder, tmp_path, steps=4))


def test_raw_with_guidance(tmp_path):
    folder = write_tiny_krea2(tmp_path / "Krea-2-Raw", distilled=False)
    made = pipeline("Krea2Pipeline", folder)(
        PROMPT,
        negative_prompt=NEGATIVE,
        height=SIDE,
        width=SIDE,
        num_inference_steps=4,
        guidance_scale=3.0,  # theirs counts from 0
        generator=generator(),
    )
    same(made.images[0], ours(folder, tmp_path, steps=4, guidance_scale=4.0, negative_prompt=NEGATIVE))


@pytest.mark.parametrize("prompt", ["", PROMPT, PROMPT * 60])
def test_words_of_any_length(tmp_path, prompt):
    folder = write_tiny_krea2(tmp_path / "Krea-2-Turbo")
    text, mask = pipeline("Krea2Pipeline", folder).encode_prompt(prompt)
    model = loaded(folder, "tokenizer", "text_encoder")
    words = Krea2().words(model, prompt)
    assert words.text.equal(text) and words.others["mask"].equal(mask)

import random

import torch
from drawn_things import small_source

from mezzotint_starter.denoising import PromptEncoder, velocity
from mezzotint_starter.networks import build_text_encoder
from mezzotint_starter.scene_models.denoising import caption_of, shown_prompts
from mezzotint_starter.scene_models.networks import WIDTH, build_denoiser
from mezzotint_starter.vocabulary import train_tokenizer


def test_shown_prompts_are_held_out_and_the_same_each_time():
    assert shown_prompts(small_source(), 5) == shown_prompts(small_source(), 5)
    assert caption_of(small_source(), 3, random.Random(1)) == caption_of(small_source(), 3, random.Random(1))


def test_one_transformer_serves_both_sizes():
    source = small_source()
    tokenizer = train_tokenizer([caption_of(source, index, random.Random(index)) for index in range(200)], 600)
    encoder = build_text_encoder(0, len(tokenizer), width=WIDTH)
    text = PromptEncoder(tokenizer=tokenizer, encoder=encoder, device="cpu")(["a red ball by the sea", ""])
    denoiser = build_denoiser(0).eval()
    for side in (16, 32):
        mixed = torch.randn(2, 8, side, side)
        with torch.no_grad():
            assert velocity(denoiser, text=text, mixed=mixed, sigmas=torch.ones(2)).shape == mixed.shape

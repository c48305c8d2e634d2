"""Words into tensors: bit for bit those of diffusers' SDXL pipeline where it can do the same."""

import pytest
import torch
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection, CLIPTokenizer

from mezzotint.errors import UsageError
from mezzotint.families.text.clip_encode import ClipEncoder, encode_pair, token_count

PROMPTS = [
    "",
    "a red house by the sea at dusk",
    "Ünïcode, 日本 & 3 cats!!  'tis   <|endoftext|> more",
    "x" * 75,
    "a " * 75,
    "words: with, colons: and 12:30",
]


def tiny_tokenizer(pad):
    """Every byte alone and as a word's end; ids as in CLIP: '!' first, begin and end last."""
    from tokenizers.pre_tokenizers import ByteLevel

    letters = sorted(ByteLevel.alphabet())
    words = [*letters, *(letter + "</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    vocab = {word: index for index, word in enumerate(words)}
    return CLIPTokenizer(vocab=vocab, merges=[], pad_token=pad, model_max_length=77)


def tiny_encoder(cls, width, seed, eos=2):
    torch.manual_seed(seed)
    config = CLIPTextConfig(
        vocab_size=514,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=4,
        num_attention_heads=2,
        projection_dim=24,
        bos_token_id=0,
        eos_token_id=eos,
        initializer_factor=8.0,
    )
    return cls(config).eval()


@pytest.fixture(scope="module", params=[2, 513], ids=["old-eos", "eos"])
def encoders(request):
    return (
        ClipEncoder(tokenizer=tiny_tokenizer("<|endoftext|>"), model=tiny_encoder(CLIPTextModel, 16, 1, request.param)),
        ClipEncoder(
            tokenizer=tiny_tokenizer("!"), model=tiny_encoder(CLIPTextModelWithProjection, 32, 2, request.param)
        ),
    )


def pipeline(encoders, zeros):
    from diffusers import StableDiffusionXLPipeline

    first, second = (None, *encoders)[-2:]
    return StableDiffusionXLPipeline(
        vae=None,
        unet=None,
        scheduler=None,
        text_encoder=first and first.model,
        tokenizer=first and first.tokenizer,
        text_encoder_2=second.model,
        tokenizer_2=second.tokenizer,
        force_zeros_for_empty_prompt=zeros,
        add_watermarker=False,
    )


def peer(encoders, prompt, negative, zeros, clip_skip=None):
    with torch.no_grad():
        return pipeline(encoders, zeros).encode_prompt(
            prompt, device="cpu", negative_prompt=negative, clip_skip=clip_skip
        )


def ours(encoders, prompt, negative="", zeros=True, clip_skip=0, embeddings=()):
    positive, other = encode_pair(
        prompt, negative, encoders=encoders, clip_skip=clip_skip, zero_empty_negative=zeros, embeddings=embeddings
    )
    return positive.embeds, other.embeds, positive.pooled, other.pooled


def same(left, right):
    return all(torch.equal(a, b) and a.dtype == b.dtype for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("refiner", [False, True])
def test_as_diffusers_bit_for_bit(encoders, prompt, refiner):
    used = encoders[1:] if refiner else encoders
    assert same(ours(used, prompt, zeros=not refiner), peer(used, prompt, None, not refiner))
    assert same(ours(used, prompt, "ugly, bad"), peer(used, prompt, "ugly, bad", True))
    assert same(ours(used, prompt, "", zeros=False), peer(used, prompt, "", True))


def test_shapes(encoders):
    embeds, negative, pooled, negative_pooled = ours(encoders, "a cat")
    assert embeds.shape == negative.shape == (1, 77, 48)
    assert pooled.shape == negative_pooled.shape == (1, 24)
    assert not negative.any()
    assert not negative_pooled.any()
    assert not embeds.requires_grad


def test_clip_skip_is_that_of_diffusers_and_holds_for_the_negative_too(encoders):
    embeds, negative, pooled, _ = ours(encoders, "a cat", "a dog", clip_skip=2)
    theirs = peer(encoders, "a cat", "a dog", True, clip_skip=2)
    assert torch.equal(embeds, theirs[0])
    assert torch.equal(pooled, theirs[2])
    assert torch.equal(negative, peer(encoders, "a dog", None, True, clip_skip=2)[0])


@pytest.mark.parametrize("clip_skip", [-1, 4])
def test_clip_skip_beyond_the_layers_is_refused(encoders, clip_skip):
    with pytest.raises(UsageError, match=rf"clip skip {clip_skip} is outside 0\.\.3"):
        ours(encoders, "a cat", clip_skip=clip_skip)


def test_brackets_of_weight_one_change_nothing(encoders):
    assert same(ours(encoders, "a (red:1.0) house"), ours(encoders, "a red house"))
    assert same(ours(encoders, r"a \(red\) house"), peer(encoders, "a (red) house", None, True))


def test_weights_multiply_their_tokens_and_keep_the_mean(encoders):
    """EmphasisOriginal computed here by hand, for one encoder at a time."""
    plain, _, pooled, _ = ours(encoders, "ab cd ef")
    weighted, _, weighted_pooled, _ = ours(encoders, "ab (cd:1.5) [ef]")
    factors = torch.ones(77)
    factors[3:5], factors[5:7] = 1.5, 1 / 1.1  # begin, a, b, then c, d and e, f
    for features in (slice(0, 16), slice(16, 48)):
        expected = plain[..., features] * factors[None, :, None]
        expected = expected * (plain[..., features].mean() / expected.mean())
        torch.testing.assert_close(weighted[..., features], expected)
    assert torch.equal(weighted_pooled, pooled)
    assert not torch.equal(weighted, plain)


@pytest.mark.parametrize("prompt", ["(a b:0)", "(a b:-1)", "(a b:10)", "(a:0) BREAK (b:0)"])
def test_extreme_weights_stay_finite(encoders, prompt):
    assert all(torch.isfinite(tensor).all() for tensor in ours(encoders, prompt, prompt))


def test_long_prompts_are_chunks_side_by_side(encoders):
    first, second = "a " * 75, "b " * 10
    embeds, negative, pooled, _ = ours(encoders, first + second)
    parts = [ours(encoders, part) for part in (first, second)]
    assert embeds.shape == negative.shape == (1, 154, 48)
    assert torch.equal(embeds, torch.cat([part[0] for part in parts], dim=1))
    assert torch.equal(pooled, parts[0][2])
    assert same(ours(encoders, f"{first} BREAK {second}"), (embeds, negative, pooled, torch.zeros_like(pooled)))


def test_the_shorter_prompt_is_filled_up_with_empty_chunks(encoders):
    empty = ours(encoders, "")[0]
    embeds, negative, _, _ = ours(encoders, "a cat", "b " * 160)
    assert embeds.shape == negative.shape == (1, 231, 48)
    assert torch.equal(embeds[:, :77], ours(encoders, "a cat")[0])
    assert torch.equal(embeds[:, 77:], torch.cat([empty, empty], dim=1))
    swapped = ours(encoders, "b " * 160, "a cat")
    assert torch.equal(swapped[1], embeds)


def test_an_empty_negative_is_whatever_holds_no_word(encoders):
    assert same(ours(encoders, "a cat", " \n"), ours(encoders, "a cat", ""))


def test_half_precision_keeps_its_type(encoders):
    half = [ClipEncoder(tokenizer=part.tokenizer, model=_copy(part.model).to(torch.bfloat16)) for part in encoders]
    assert {tensor.dtype for tensor in ours(half, "a (red:1.3) cat", "bad")} == {torch.bfloat16}
    assert same(ours(half, "a cat"), peer(half, "a cat", None, True))


def _copy(model):
    import copy

    return copy.deepcopy(model)


def test_token_count():
    tokenizer = tiny_tokenizer("!")
    assert token_count("", tokenizer) == 0
    assert token_count("ab, (c:1.3) BREAK d", tokenizer) == 5


def test_importing_it_needs_no_torch():
    import subprocess
    import sys
    from pathlib import Path

    root = Path(__file__).parents[4]
    code = "import sys, mezzotint.families.text.clip_encode; assert not {'torch', 'transformers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, env={"PYTHONPATH": str(root / "engine")})

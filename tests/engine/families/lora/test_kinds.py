"""What model a LoRA seems to be for."""

import pytest

from mezzotint.families.lora.kinds import base_of, unsupported

UNET = "down_blocks_1_attentions_0_transformer_blocks_0_attn2_to_k"


@pytest.mark.parametrize(
    ("widths", "words", "family"),
    [
        ({UNET: 2048}, "SDXL", "sdxl"),
        ({"number_5": 320, "number_6": 768}, "Stable Diffusion 1", "sd15"),
        ({"input_blocks_4_1_transformer_blocks_0_attn2_to_v": 2048}, "SDXL", "sdxl"),
        ({UNET: 1280}, "the refiner of SDXL", "sdxl"),
        ({UNET: 768}, "Stable Diffusion 1", "sd15"),
        ({UNET: 1024}, "Stable Diffusion 2", None),
        ({"double_blocks_0_img_attn_qkv": 3072}, "FLUX", "flux"),
        ({"single_transformer_blocks_0_attn_to_q": 3072, "transformer_blocks_0_attn_add_q_proj": 3072}, "FLUX", "flux"),
        ({"joint_blocks_0_x_block_attn_qkv": 1536}, "Stable Diffusion 3", "sd3"),
        ({"transformer_blocks_0_attn_add_k_proj": 1536}, "Stable Diffusion 3", "sd3"),
        ({"transformer_blocks_0_img_mlp_net_2": 3072}, "Qwen-Image", "qwen-image"),
        ({"transformer_blocks_0_img_mlp_net_2": 3072}, "Qwen-Image", "qwen-image-edit"),
        ({"blocks_0_cross_attn_q": 5120}, "Wan", None),
        ({"layers_0_attention_to_q": 3840}, "Z-Image", "z-image"),
        ({"transformer_blocks_0_attn1_to_q": 1152}, "PixArt or Sana", "pixart"),
        ({"transformer_blocks_0_attn1_to_q": 1152}, "PixArt or Sana", "sana"),
        ({"blocks_0_cross_attn_kv_linear": 2240}, "Sana", "sana"),
        ({"transformer_blocks_0_attn_add_k_proj": 3072}, "Stable Diffusion 3", "qwen-image-edit"),
    ],
)
def test_it_is_told_by_names_and_widths(widths, words, family):
    base = base_of(widths)
    assert base is not None and (base.words, family in base.families) == (words, family is not None)


@pytest.mark.parametrize(
    "widths", [{}, {UNET: 96}, {UNET.replace("attn2_to_k", "attn1_to_q"): 640}, {"encoder_0_fc": 768}]
)
def test_or_it_is_not_told(widths):
    assert base_of(widths) is None


def test_a_plain_lora_is_of_no_refused_kind():
    names = ["lora_unet_x.lora_down.weight", "lora_unet_x.lora_up.weight", "lora_unet_x.alpha", "unet.a1.lora_A.weight"]
    assert unsupported(names) == (None, frozenset())


def test_tensors_of_kinds_that_cannot_be_applied_are_named():
    kind, found = unsupported(["x.lora_A.weight", "x.a1.weight", "x.b1.weight", "y.on_input"])
    assert kind is not None and kind.startswith("a GLoRA (x.a1.weight), which cannot be applied here")
    assert found == {"x.a1.weight", "x.b1.weight", "y.on_input"}

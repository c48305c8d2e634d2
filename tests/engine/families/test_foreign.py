"""Files of other kinds are named for what they are, by tensor names as they are published."""

import pytest

from mezzotint.families.foreign import kind_of_file, missing_parts, why_not_whole

UNET = "model.diffusion_model."
WHOLE = (
    UNET + "input_blocks.0.0.weight",
    UNET + "label_emb.0.0.weight",
    "conditioner.embedders.0.transformer.text_model.embeddings.token_embedding.weight",
    "conditioner.embedders.1.model.text_projection",
    "first_stage_model.decoder.conv_in.weight",
)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["lora_unet_down_blocks_0_attentions_0_proj_in.lora_down.weight"], "LoRA"),
        (["unet.down_blocks.0.attentions.0.proj_in.lora_A.weight"], "LoRA"),
        (["lora_te1_text_model_encoder_layers_0_mlp_fc1.hada_w1_a"], "LoRA"),
        (["transformer.single_transformer_blocks.0.attn.to_q.lora_B.weight"], "LoRA"),
        (["control_model.input_blocks.0.0.weight", UNET + "input_blocks.0.0.weight"], "ControlNet"),
        (["controlnet_cond_embedding.conv_in.weight", "down_blocks.0.resnets.0.conv1.weight"], "ControlNet"),
        (["emb_params"], "embedding"),
        (["clip_g", "clip_l"], "embedding"),
        ([UNET + "joint_blocks.0.context_block.attn.qkv.weight", UNET + "pos_embed"], "Stable Diffusion 3"),
        (["double_blocks.0.img_attn.norm.key_norm.scale", "img_in.weight"], "FLUX model"),
        ([UNET + "double_blocks.0.img_attn.norm.key_norm.scale"], "FLUX model"),
        (["single_stream_modulation.lin.weight", "double_blocks.0.img_attn.qkv.weight"], "FLUX.2"),
        (["adaln_single.linear.weight", "transformer_blocks.0.attn1.to_q.weight"], "PixArt network alone"),
        (["t_block.1.weight", "blocks.0.cross_attn.q_linear.weight"], "PixArt network alone"),
        (
            ["cond_stage_model.transformer.text_model.final_layer_norm.bias", UNET + "out.2.bias"],
            "Stable Diffusion 1 model",
        ),
        (["cond_stage_model.model.ln_final.bias", UNET + "out.2.bias"], "Stable Diffusion 2 model"),
        ([UNET + "label_emb.0.0.weight", UNET + "input_blocks.0.0.weight"], "SDXL UNet alone"),
        (["label_emb.0.0.weight", "input_blocks.0.0.weight"], "SDXL UNet alone"),
        (["add_embedding.linear_1.weight", "down_blocks.0.resnets.0.conv1.weight"], "SDXL UNet alone"),
        ([UNET + "input_blocks.0.0.weight"], "Stable Diffusion UNet alone"),
        (["encoder.conv_in.weight", "decoder.conv_in.weight"], "a VAE"),
        (["first_stage_model.decoder.conv_in.weight"], "a VAE"),
        (["text_model.encoder.layers.0.mlp.fc1.weight"], "CLIP text encoder"),
        (["encoder.block.0.layer.0.SelfAttention.q.weight", "shared.weight"], "T5 text encoder"),
        (["model.layers.0.self_attn.q_proj.weight"], "language model"),
        (["mystery.weight"], "no known kind (its tensors are named like mystery.weight)"),
    ],
)
def test_kinds(names, kind):
    assert kind in kind_of_file(names)
    assert missing_parts(names)
    assert kind_of_file(names) in why_not_whole(names, missing_parts(names))


def test_a_whole_checkpoint_lacks_nothing():
    assert missing_parts(WHOLE) == ()
    refiner = [WHOLE[0], WHOLE[1], "conditioner.embedders.0.model.text_projection", WHOLE[4]]
    assert missing_parts(refiner) == ()


@pytest.mark.parametrize(
    ("absent", "said"),
    [(0, "its UNet"), (2, "its first text encoder"), (3, "its text encoders"), (4, "its VAE")],
)
def test_what_is_missing_is_named(absent, said):
    names = [name for index, name in enumerate(WHOLE) if index != absent]
    (part, *_) = missing_parts(names)
    assert part.startswith(said)
    assert said in why_not_whole(names, missing_parts(names))

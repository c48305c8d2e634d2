"""Files of other kinds are named for what they are, by tensor names as they are published."""

import pytest

from mezzotint.families.foreign import kind_of_file, missing_parts, why_not_whole
from mezzotint.families.foreign_models import foreign_model, resembling_model

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


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["net.blocks.0.mlp.layer1.weight", "net.llm_adapter.blocks.0.cross_attn.q_proj.weight"], "an Anima model"),
        (["net.blocks.0.mlp.layer1.weight", "net.blocks.0.cross_attn.q_proj.weight"], "a Cosmos Predict 2 model"),
        (["blocks.0.cross_attn.k.weight", "text_embedding.0.weight", "head.modulation"], "a Wan video model"),
        (["blocks.0.cross_attn.kv_linear.weight"], "a Sana model"),
        (
            ["txt_in.individual_token_refiner.blocks.0.norm1.weight", "double_blocks.0.img_attn.qkv.weight"],
            "a HunyuanImage 2.1 model",
        ),
        (
            ["txt_in.individual_token_refiner.blocks.0.norm1.weight", "vector_in.in_layer.weight"],
            "a HunyuanVideo model",
        ),
        (["double_blocks.0.img_attn.qkv.weight", "txt_in.weight", "img_in.weight"], "a LongCat-Image model"),
        (["double_blocks.0.img_attn.qkv.weight", "txt_in.weight", "vector_in.in_layer.weight"], "a FLUX model"),
        (["double_blocks.0.img_attn.qkv.weight", "txt_in.weight", "distilled_guidance_layer.in_proj.bias"], "a Chroma"),
        (["double_blocks.0.x", "txt_in.weight", "distilled_guidance_layer.y", "nerf_blocks.0.w"], "Chroma1-Radiance"),
        ([UNET + "early_stream_modulations.image.lin.weight", "emb_in.image.weight"], "a FLUX.3 Image model"),
        (["txt_in.text_norm.weight", "modulation.1.weight", "img_in.weight"], "a Qwen-Image-2.1 model"),
        (["txt_norm.weight", "txt_in.weight"], "a Qwen-Image model"),
        (["layers.0.adaLN_sa_ln.weight", "layers.0.self_attention.to_q.weight"], "an ERNIE-Image model"),
        (["cap_embedder.1.weight", "noise_refiner.0.attention.k_norm.weight"], "a Lumina 2 model"),
        (["cap_embedder.1.weight", "noise_refiner.0.attention.k_norm.weight", "cap_pad_token"], "a Z-Image model"),
        (["clip_txt_mapper.weight", "down_blocks.0.0.channelwise.0.weight"], "a Stable Cascade model (stage C)"),
        (["patchify_proj.weight", "adaln_single.linear.weight"], "an LTX video model"),
        (["mlp_t5.0.weight", "blocks.0.attn1.Wqkv.weight"], "a HunyuanDiT model"),
        (["double_layers.0.attn.w1q.weight"], "an AuraFlow model"),
        (["model.x_embedder.proj1.weight", "model.t_embedder1.mlp.0.weight"], "a HiDream-O1 model"),
    ],
)
def test_models_that_cannot_be_run_are_called_what_they_are(names, kind):
    assert kind in kind_of_file(names)
    assert "by itself" not in why_not_whole(names, missing_parts(names)) or foreign_model(names) is None


def test_additions_for_such_models_stay_what_they_are():
    assert kind_of_file(["diffusion_model.llm_adapter.blocks.0.cross_attn.q_proj.lora_A.weight"]) == "a LoRA"


def test_those_that_resemble_others_are_looked_for_first():
    layered = ["transformer_blocks.0.attn.to_q.weight", "time_text_embed.addition_t_embedding.weight"]
    assert resembling_model(layered) == "a Qwen-Image-Layered model"
    assert resembling_model(["cap_embedder.1.weight", "siglip_embedder.0.weight"]) == "a Z-Image-Omni model"
    assert resembling_model(["cap_embedder.1.weight", "noise_refiner.0.attention.k_norm.weight"]) is None


def test_ggufs_say_their_architecture():
    assert foreign_model(["blk.0.weight"], "moss_image") == "a MOSS-Image model"
    assert foreign_model(["blk.0.weight"], "sd1") is None


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

"""Small networks of every class whose forward pass can be traced."""

from collections.abc import Callable
from typing import Any


def small_networks() -> dict[str, Callable[[], Any]]:
    """Return a constructor for each, by class name."""
    import diffusers
    import transformers

    clip = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3, "num_attention_heads": 1}
    t5 = {"d_model": 64, "d_kv": 4, "d_ff": 256, "num_layers": 2, "num_heads": 64, "vocab_size": 100}
    return {
        "UNet2DConditionModel": lambda: diffusers.UNet2DConditionModel(
            sample_size=32,
            block_out_channels=(32, 64),
            layers_per_block=1,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            attention_head_dim=(1, 1),
            use_linear_projection=True,
            transformer_layers_per_block=(1, 2),
            cross_attention_dim=96,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=6 * 8 + 64,
        ),
        "PixArtTransformer2DModel": lambda: diffusers.PixArtTransformer2DModel(
            num_attention_heads=2,
            attention_head_dim=16,
            num_layers=3,
            cross_attention_dim=32,
            caption_channels=64,
            sample_size=32,
            out_channels=8,
            use_additional_conditions=False,
        ),
        "FluxTransformer2DModel": lambda: diffusers.FluxTransformer2DModel(
            in_channels=16,
            num_layers=2,
            num_single_layers=3,
            attention_head_dim=16,
            num_attention_heads=4,
            joint_attention_dim=64,
            pooled_projection_dim=32,
            guidance_embeds=True,
            axes_dims_rope=(4, 6, 6),
        ),
        "SD3Transformer2DModel": lambda: diffusers.SD3Transformer2DModel(
            sample_size=32,
            in_channels=4,
            out_channels=4,
            num_layers=3,
            attention_head_dim=16,
            num_attention_heads=4,
            joint_attention_dim=64,
            caption_projection_dim=64,
            pooled_projection_dim=32,
            pos_embed_max_size=128,
        ),
        "QwenImageTransformer2DModel": lambda: diffusers.QwenImageTransformer2DModel(
            in_channels=16,
            out_channels=4,
            num_layers=3,
            attention_head_dim=16,
            num_attention_heads=4,
            joint_attention_dim=64,
            axes_dims_rope=(4, 6, 6),
        ),
        "AutoencoderKL": lambda: diffusers.AutoencoderKL(
            block_out_channels=(32, 64),
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            latent_channels=4,
        ),
        "AutoencoderKLQwenImage": lambda: diffusers.AutoencoderKLQwenImage(
            base_dim=16, z_dim=4, dim_mult=[1, 2, 2], num_res_blocks=1, temperal_downsample=[False, True]
        ),
        "CLIPTextModel": lambda: transformers.CLIPTextModel(transformers.CLIPTextConfig(vocab_size=100, **clip)),
        "CLIPTextModelWithProjection": lambda: transformers.CLIPTextModelWithProjection(
            transformers.CLIPTextConfig(vocab_size=100, projection_dim=64, hidden_act="gelu", **clip)
        ),
        "T5EncoderModel": lambda: transformers.T5EncoderModel(transformers.T5Config(**t5)),
        "Qwen2_5_VLForConditionalGeneration": _qwen,
    }


def _qwen() -> Any:
    import transformers

    words = {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 100,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]},
    }
    images = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 64}
    config = transformers.Qwen2_5_VLConfig(text_config=words, vision_config=images)
    return transformers.Qwen2_5_VLForConditionalGeneration(config)

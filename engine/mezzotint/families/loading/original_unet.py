"""Configurations of U-Net, VAE and CLIP in a single file with original names, from its tensor shapes.

Values that shapes do not show are those published with Stable Diffusion: the noise schedule, the activations of the
text encoders.
"""

import re
from collections.abc import Mapping

from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.families.loading.original_names import SD15_ENCODER, UNET, VAE, layout_of
from mezzotint.families.tokenizers import END_ID, START_ID
from mezzotint.protocol import PredictionType

Config = dict[str, object]
Overrides = Mapping[str, Mapping[str, object]]

HEAD = 64  # channels of an attention head in every CLIP text encoder, and in SDXL's U-Net
MAX_BLOCKS = 200
MAX_VAE_LEVELS = 8


def scheduler_config(prediction_type: PredictionType, zero_terminal_snr: bool) -> Config:
    """The noise schedule that all of these were trained with; zero terminal SNR needs trailing timesteps."""
    return {
        "_class_name": "EulerDiscreteScheduler",
        "num_train_timesteps": 1000,
        "beta_schedule": "scaled_linear",
        "beta_start": 0.00085,
        "beta_end": 0.012,
        "interpolation_type": "linear",
        "prediction_type": prediction_type,
        "rescale_betas_zero_snr": zero_terminal_snr,
        "steps_offset": 1,
        "timestep_spacing": "trailing" if zero_terminal_snr else "leading",
        "trained_betas": None,
        "use_karras_sigmas": False,
    }


# ---- the U-Net


def unet_config(header: Header, side: int) -> Config:
    """Configuration of a U-Net for images of that side; the family adds `attention_head_dim`."""
    levels = _levels(header)
    depths = [depth for _, depth in levels]
    middle = count(header, UNET + r"middle_block\.1\.transformer_blocks\.(\d+)\.")
    if not middle:
        raise odd(header, "its middle block has no attention")
    if depths[-1] not in (0, middle):
        raise odd(header, f"{depths[-1]} transformer layers in the last level but {middle} in the middle")
    config: Config = {
        "_class_name": "UNet2DConditionModel",
        "sample_size": side // 2 ** (_vae_levels(header) - 1),
        "in_channels": shape(header, UNET + "input_blocks.0.0.weight", 4)[1],
        "out_channels": shape(header, UNET + "out.2.weight", 4)[0],
        "block_out_channels": [width for width, _ in levels],
        "layers_per_block": layout_of(header.tensors).unet_layers,
        "down_block_types": ["CrossAttnDownBlock2D" if depth else "DownBlock2D" for depth in depths],
        "up_block_types": ["CrossAttnUpBlock2D" if depth else "UpBlock2D" for depth in reversed(depths)],
        # Unused for levels without attention, but the last value also applies to the middle block.
        "transformer_layers_per_block": [*(depth or 1 for depth in depths[:-1]), middle],
        "cross_attention_dim": shape(header, UNET + "middle_block.1.transformer_blocks.0.attn2.to_k.weight", 2)[1],
        "use_linear_projection": len(shape(header, UNET + "middle_block.1.proj_in.weight")) == 2,
    }
    guidance = UNET + "time_embed.cond_proj.weight"
    if guidance in header.tensors:
        config["time_cond_proj_dim"] = shape(header, guidance, 2)[1]
    return config


def check_text_width(header: Header, configs: Mapping[str, Config]) -> None:
    """Raise ModelRefused if the text encoders' total width is not what the U-Net takes."""
    widths = [configs[name]["hidden_size"] for name in ("text_encoder", "text_encoder_2") if name in configs]
    wanted = configs["unet"]["cross_attention_dim"]
    if sum(width for width in widths if isinstance(width, int)) != wanted:
        raise odd(header, f"its U-Net takes text of width {wanted}, its text encoders give {widths}")


def _levels(header: Header) -> list[tuple[int, int]]:
    """Width and transformer layers of each level; raises ModelRefused if the up path does not mirror the down path."""
    layers = layout_of(header.tensors).unet_layers
    blocks = count(header, UNET + r"input_blocks\.(\d+)\.")
    ups = count(header, UNET + r"output_blocks\.(\d+)\.")
    if not blocks or blocks % (layers + 1) or ups != blocks:
        raise odd(header, f"{blocks} blocks on the way down and {ups} up")
    levels = []
    for first in range(1, blocks, layers + 1):
        widths = {shape(header, f"{UNET}input_blocks.{first + i}.0.out_layers.3.weight", 4)[0] for i in range(layers)}
        mirrored = blocks - first - layers
        depths = {_depth(header, "input_blocks", first + i) for i in range(layers)}
        depths |= {_depth(header, "output_blocks", mirrored + i) for i in range(layers + 1)}
        if len(widths) != 1 or len(depths) != 1:
            raise odd(header, "its blocks differ within a level")
        levels.append((widths.pop(), depths.pop()))
    return levels


def _depth(header: Header, side: str, block: int) -> int:
    return count(header, f"{UNET}{side}" + rf"\.{block}\.1\.transformer_blocks\.(\d+)\.")


# ---- the VAE and the text encoders


def vae_config(header: Header, side: int, scaling_factor: float) -> Config:
    """Configuration of an autoencoder for images of that side."""
    levels = _vae_levels(header)
    down = VAE + "encoder.down"
    widths = [shape(header, f"{down}.{level}.block.0.conv2.weight", 4)[0] for level in range(levels)]
    return {
        "_class_name": "AutoencoderKL",
        "sample_size": side,
        "in_channels": shape(header, VAE + "encoder.conv_in.weight", 4)[1],
        "out_channels": shape(header, VAE + "decoder.conv_out.weight", 4)[0],
        "latent_channels": shape(header, VAE + "decoder.conv_in.weight", 4)[1],
        "block_out_channels": widths,
        "layers_per_block": count(header, re.escape(down) + r"\.0\.block\.(\d+)\."),
        "down_block_types": ["DownEncoderBlock2D"] * levels,
        "up_block_types": ["UpDecoderBlock2D"] * levels,
        "scaling_factor": scaling_factor,
        "force_upcast": True,
    }


def _vae_levels(header: Header) -> int:
    levels = layout_of(header.tensors).vae_levels
    if not 1 <= levels <= MAX_VAE_LEVELS:
        raise odd(header, f"its VAE has {levels} levels")
    return levels


def clip_config(header: Header, prefix: str) -> Config:
    """Configuration of a CLIP text model whose tensor names begin with `prefix`."""
    layer = prefix + "encoder.layers."
    vocabulary, width = shape(header, prefix + "embeddings.token_embedding.weight", 2)
    positions, _ = shape(header, prefix + "embeddings.position_embedding.weight", 2)
    inner = shape(header, layer + "0.mlp.fc1.weight", 2)[0]
    layers = count(header, re.escape(layer) + r"(\d+)\.")
    return text_config("CLIPTextModel", vocabulary, width, positions, inner, layers, width)


def text_config(
    class_name: str, vocabulary: int, width: int, positions: int, inner: int, layers: int, projection: int
) -> Config:
    """Configuration of a CLIP text model of these sizes."""
    return {
        "architectures": [class_name],
        "model_type": "clip_text_model",
        "vocab_size": vocabulary,
        "hidden_size": width,
        "max_position_embeddings": positions,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads(width),
        "projection_dim": projection,
        "hidden_act": "quick_gelu" if class_name == "CLIPTextModel" else "gelu",
        "layer_norm_eps": 1e-5,
        "bos_token_id": START_ID,
        # The published 2 means "the highest id is the end token", which the ids of a textual inversion would break.
        "eos_token_id": END_ID,
        "pad_token_id": 1,
    }


# ---- reading shapes


def heads(width: int) -> int:
    """Number of 64-channel heads, at least 1."""
    return max(1, width // HEAD)


def shape(header: Header, name: str, rank: int | None = None) -> tuple[int, ...]:
    """Shape of a tensor; raises ModelRefused if it is missing or has another rank."""
    spec = header.tensors.get(name)
    if spec is None:
        raise odd(header, f"the tensor {name} is missing")
    if rank not in (None, len(spec.shape)) or not all(spec.shape):
        raise odd(header, f"{name} has the shape {spec.shape}")
    return spec.shape


def count(header: Header, pattern: str) -> int:
    """Number of blocks, whose indices `pattern` captures; raises ModelRefused if they have gaps or are too many."""
    expression = re.compile(pattern)
    found = {int(match[1]) for match in map(expression.match, header.tensors) if match}
    if found != set(range(len(found))) or len(found) > MAX_BLOCKS:
        raise odd(header, f"the numbers of its blocks ({plain(pattern, 60)}) have gaps or are too many")
    return len(found)


def odd(header: Header, what: str) -> ModelRefused:
    """The error to raise for an unexpected layout, saying what was found."""
    if any(name.startswith(SD15_ENCODER) for name in header.tensors):
        return ModelRefused(f"{plain(header.path, 300)}: not laid out as Stable Diffusion 1.5 is: {what}.")
    return ModelRefused(
        f"{plain(header.path, 300)}: not laid out as SDXL is: {what}. If it is a variant such as SSD-1B, "
        "get it as a diffusers folder."
    )

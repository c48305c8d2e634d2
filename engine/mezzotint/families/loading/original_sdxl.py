"""The configurations of a single-file SDXL checkpoint's networks, derived from the shapes of its tensors.

What shapes cannot show is written down as Stability AI published it with SDXL 1.0: the schedule of the noise, the
scale of the latents, heads of 64 channels, the activations of the two text encoders.
"""

import re
from collections.abc import Mapping

from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.families.loading.original_names import (
    FIRST_ENCODER,
    REFINER_ENCODER,
    SECOND_ENCODER,
    UNET,
    VAE,
    layout_of,
)
from mezzotint.families.tokenizers import END, END_ID, START_ID
from mezzotint.protocol import PredictionType

Config = dict[str, object]
Overrides = Mapping[str, Mapping[str, object]]

SIDE = 1024  # pixels, what every SDXL model was trained for
HEAD = 64  # channels of an attention head in SDXL's U-Net and in both text encoders
SCALING_FACTOR = 0.13025
MAX_BLOCKS = 200
MAX_VAE_LEVELS = 8

PIPELINE_SETTINGS: Mapping[bool, Mapping[str, object]] = {  # by whether it is a refiner
    False: {"force_zeros_for_empty_prompt": True},
    True: {"force_zeros_for_empty_prompt": False, "requires_aesthetics_score": True},
}
TOKENIZERS: Mapping[str, Mapping[str, str]] = {"tokenizer": {"pad_token": END}, "tokenizer_2": {"pad_token": "!"}}


def is_refiner(header: Header) -> bool:
    """Whether a whole checkpoint has the refiner's one text encoder instead of the base model's two."""
    return REFINER_ENCODER + "text_projection" in header.tensors


def component_configs(
    header: Header,
    *,
    prediction_type: PredictionType = "epsilon",
    zero_terminal_snr: bool = False,
    overrides: Overrides | None = None,
) -> dict[str, Config]:
    """The configurations of unet, vae, text_encoder (not of a refiner), text_encoder_2 and scheduler.

    `overrides` puts values over those derived, by component: a model whose heads are not of 64 channels needs it.
    Raises ModelRefused, by name of the tensor, where the checkpoint is not laid out as SDXL is.
    """
    refiner = is_refiner(header)
    prefix = REFINER_ENCODER if refiner else SECOND_ENCODER
    configs = {
        "unet": _unet(header, _shape(header, prefix + "text_projection", 2)[1], refiner),
        "vae": _vae(header),
        "text_encoder_2": _open_clip(header, prefix),
        "scheduler": scheduler_config(prediction_type, zero_terminal_snr),
    }
    if not refiner:
        configs["text_encoder"] = _clip(header)
    _check_text_width(header, configs)
    for component, values in (overrides or {}).items():
        configs[component].update(values)
    return configs


def scheduler_config(prediction_type: PredictionType, zero_terminal_snr: bool) -> Config:
    """SDXL's published noise schedule; one that ends in pure noise must be walked from its very end."""
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


def _unet(header: Header, projection: int, refiner: bool) -> Config:
    levels = _levels(header)
    depths = [depth for _, depth in levels]
    middle = _count(header, UNET + r"middle_block\.1\.transformer_blocks\.(\d+)\.")
    if not middle:
        raise _odd(header, "its middle block has no attention")
    if depths[-1] not in (0, middle):
        raise _odd(header, f"{depths[-1]} transformer layers in the last level but {middle} in the middle")
    cross = _shape(header, UNET + "middle_block.1.transformer_blocks.0.attn2.to_k.weight", 2)[1]
    added = _shape(header, UNET + "label_emb.0.0.weight", 2)[1]
    numbers = 5 if refiner else 6  # size, crop, and the aesthetic score or the target size
    if added <= projection or (added - projection) % numbers:
        raise _odd(header, f"its size conditioning takes {added} channels, the pooled text has {projection}")
    widths = [width for width, _ in levels]
    config: Config = {
        "_class_name": "UNet2DConditionModel",
        "sample_size": SIDE // 2 ** (_vae_levels(header) - 1),
        "in_channels": _shape(header, UNET + "input_blocks.0.0.weight", 4)[1],
        "out_channels": _shape(header, UNET + "out.2.weight", 4)[0],
        "block_out_channels": widths,
        "layers_per_block": layout_of(header.tensors).unet_layers,
        "down_block_types": ["CrossAttnDownBlock2D" if depth else "DownBlock2D" for depth in depths],
        "up_block_types": ["CrossAttnUpBlock2D" if depth else "UpBlock2D" for depth in reversed(depths)],
        # Where a level has no attention the number is not used, but the last one is also the middle block's.
        "transformer_layers_per_block": [*(depth or 1 for depth in depths[:-1]), middle],
        "attention_head_dim": [_heads(width) for width in widths],  # diffusers means the number of heads
        "cross_attention_dim": cross,
        "use_linear_projection": len(_shape(header, UNET + "middle_block.1.proj_in.weight")) == 2,
        "addition_embed_type": "text_time",
        "addition_time_embed_dim": (added - projection) // numbers,
        "projection_class_embeddings_input_dim": added,
    }
    guidance = UNET + "time_embed.cond_proj.weight"
    if guidance in header.tensors:
        config["time_cond_proj_dim"] = _shape(header, guidance, 2)[1]
    return config


def _check_text_width(header: Header, configs: Mapping[str, Config]) -> None:
    widths = [configs[name]["hidden_size"] for name in ("text_encoder", "text_encoder_2") if name in configs]
    wanted = configs["unet"]["cross_attention_dim"]
    if sum(width for width in widths if isinstance(width, int)) != wanted:
        raise _odd(header, f"its U-Net takes text of width {wanted}, its text encoders give {widths}")


def _levels(header: Header) -> list[tuple[int, int]]:
    """Each level's width and transformer layers; refused when the way up is not the way down mirrored."""
    layers = layout_of(header.tensors).unet_layers
    blocks = _count(header, UNET + r"input_blocks\.(\d+)\.")
    ups = _count(header, UNET + r"output_blocks\.(\d+)\.")
    if not blocks or blocks % (layers + 1) or ups != blocks:
        raise _odd(header, f"{blocks} blocks on the way down and {ups} up")
    levels = []
    for first in range(1, blocks, layers + 1):
        widths = {_shape(header, f"{UNET}input_blocks.{first + i}.0.out_layers.3.weight", 4)[0] for i in range(layers)}
        mirrored = blocks - first - layers
        depths = {_depth(header, "input_blocks", first + i) for i in range(layers)}
        depths |= {_depth(header, "output_blocks", mirrored + i) for i in range(layers + 1)}
        if len(widths) != 1 or len(depths) != 1:
            raise _odd(header, "its blocks differ within a level")
        levels.append((widths.pop(), depths.pop()))
    return levels


def _depth(header: Header, side: str, block: int) -> int:
    return _count(header, f"{UNET}{side}" + rf"\.{block}\.1\.transformer_blocks\.(\d+)\.")


# ---- the VAE and the text encoders


def _vae(header: Header) -> Config:
    levels = _vae_levels(header)
    down = VAE + "encoder.down"
    widths = [_shape(header, f"{down}.{level}.block.0.conv2.weight", 4)[0] for level in range(levels)]
    return {
        "_class_name": "AutoencoderKL",
        "sample_size": SIDE,
        "in_channels": _shape(header, VAE + "encoder.conv_in.weight", 4)[1],
        "out_channels": _shape(header, VAE + "decoder.conv_out.weight", 4)[0],
        "latent_channels": _shape(header, VAE + "decoder.conv_in.weight", 4)[1],
        "block_out_channels": widths,
        "layers_per_block": _count(header, re.escape(down) + r"\.0\.block\.(\d+)\."),
        "down_block_types": ["DownEncoderBlock2D"] * levels,
        "up_block_types": ["UpDecoderBlock2D"] * levels,
        "scaling_factor": SCALING_FACTOR,
        "force_upcast": True,
    }


def _vae_levels(header: Header) -> int:
    levels = layout_of(header.tensors).vae_levels
    if not 1 <= levels <= MAX_VAE_LEVELS:
        raise _odd(header, f"its VAE has {levels} levels")
    return levels


def _clip(header: Header) -> Config:
    model = FIRST_ENCODER + "text_model."
    layer = model + "encoder.layers."
    vocabulary, width = _shape(header, model + "embeddings.token_embedding.weight", 2)
    positions, _ = _shape(header, model + "embeddings.position_embedding.weight", 2)
    inner = _shape(header, layer + "0.mlp.fc1.weight", 2)[0]
    layers = _count(header, re.escape(layer) + r"(\d+)\.")
    return _text_encoder("CLIPTextModel", vocabulary, width, positions, inner, layers, width)


def _open_clip(header: Header, prefix: str) -> Config:
    layer = prefix + "transformer.resblocks."
    vocabulary, width = _shape(header, prefix + "token_embedding.weight", 2)
    positions, _ = _shape(header, prefix + "positional_embedding", 2)
    inner = _shape(header, layer + "0.mlp.c_fc.weight", 2)[0]
    layers = _count(header, re.escape(layer) + r"(\d+)\.")
    projection = _shape(header, prefix + "text_projection", 2)[1]
    return _text_encoder("CLIPTextModelWithProjection", vocabulary, width, positions, inner, layers, projection)


def _text_encoder(
    class_name: str, vocabulary: int, width: int, positions: int, inner: int, layers: int, projection: int
) -> Config:
    return {
        "architectures": [class_name],
        "model_type": "clip_text_model",
        "vocab_size": vocabulary,
        "hidden_size": width,
        "max_position_embeddings": positions,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": _heads(width),
        "projection_dim": projection,
        "hidden_act": "quick_gelu" if class_name == "CLIPTextModel" else "gelu",
        "layer_norm_eps": 1e-5,
        "bos_token_id": START_ID,
        # The published 2 stands for "the highest id is the end", which a textual inversion's ids would break.
        "eos_token_id": END_ID,
        "pad_token_id": 1,
    }


# ---- reading shapes


def _heads(width: int) -> int:
    return max(1, width // HEAD)


def _shape(header: Header, name: str, rank: int | None = None) -> tuple[int, ...]:
    spec = header.tensors.get(name)
    if spec is None:
        raise _odd(header, f"the tensor {name} is missing")
    if rank not in (None, len(spec.shape)) or not all(spec.shape):
        raise _odd(header, f"{name} has the shape {spec.shape}")
    return spec.shape


def _count(header: Header, pattern: str) -> int:
    """How many numbers the pattern finds, which must run from 0 on."""
    expression = re.compile(pattern)
    found = {int(match[1]) for match in map(expression.match, header.tensors) if match}
    if found != set(range(len(found))) or len(found) > MAX_BLOCKS:
        raise _odd(header, f"the numbers of its blocks ({plain(pattern, 60)}) have gaps or are too many")
    return len(found)


def _odd(header: Header, what: str) -> ModelRefused:
    return ModelRefused(
        f"{plain(header.path, 300)}: not laid out as SDXL is: {what}. If it is a variant such as SSD-1B, "
        "get it as a diffusers folder."
    )

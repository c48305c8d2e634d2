"""Configurations of the networks in a single-file SDXL checkpoint, from its tensor shapes.

Values that shapes do not show are those of Stability AI's SDXL 1.0: the latent scaling factor, 64-channel heads.
"""

import re
from collections.abc import Mapping

from mezzotint.checkpoints.header import Header
from mezzotint.families.loading.original_names import FIRST_ENCODER, REFINER_ENCODER, SECOND_ENCODER, UNET
from mezzotint.families.loading.original_unet import (
    Config,
    Overrides,
    check_text_width,
    clip_config,
    count,
    heads,
    odd,
    scheduler_config,
    shape,
    text_config,
    unet_config,
    vae_config,
)
from mezzotint.families.tokenizers import END
from mezzotint.protocol import PredictionType

SIDE = 1024  # pixels; training size of every SDXL model
SCALING_FACTOR = 0.13025

PIPELINE_SETTINGS: Mapping[bool, Mapping[str, object]] = {  # by whether it is a refiner
    False: {"force_zeros_for_empty_prompt": True},
    True: {"force_zeros_for_empty_prompt": False, "requires_aesthetics_score": True},
}
TOKENIZERS: Mapping[str, Mapping[str, str]] = {"tokenizer": {"pad_token": END}, "tokenizer_2": {"pad_token": "!"}}


def is_refiner(header: Header) -> bool:
    """Whether a complete checkpoint has the refiner's single text encoder instead of the base model's two."""
    return REFINER_ENCODER + "text_projection" in header.tensors


def component_configs(
    header: Header,
    *,
    prediction_type: PredictionType = "epsilon",
    zero_terminal_snr: bool = False,
    overrides: Overrides | None = None,
) -> dict[str, Config]:
    """Configurations of unet, vae, text_encoder (not for a refiner), text_encoder_2 and scheduler.

    `overrides` replaces derived values, by component: models without 64-channel heads need it.
    Raises ModelRefused, naming the tensor, if the checkpoint is not laid out as SDXL.
    """
    refiner = is_refiner(header)
    prefix = REFINER_ENCODER if refiner else SECOND_ENCODER
    configs = {
        "unet": _unet(header, shape(header, prefix + "text_projection", 2)[1], refiner),
        "vae": vae_config(header, SIDE, SCALING_FACTOR),
        "text_encoder_2": _open_clip(header, prefix),
        "scheduler": scheduler_config(prediction_type, zero_terminal_snr),
    }
    if not refiner:
        configs["text_encoder"] = clip_config(header, FIRST_ENCODER + "text_model.")
    check_text_width(header, configs)
    for component, values in (overrides or {}).items():
        configs[component].update(values)
    return configs


def _unet(header: Header, projection: int, refiner: bool) -> Config:
    config = unet_config(header, SIDE)
    added = shape(header, UNET + "label_emb.0.0.weight", 2)[1]
    numbers = 5 if refiner else 6  # size, crop, and the aesthetic score or the target size
    if added <= projection or (added - projection) % numbers:
        raise odd(header, f"its size conditioning takes {added} channels, the pooled text has {projection}")
    widths = config["block_out_channels"]
    config |= {
        "attention_head_dim": [heads(width) for width in widths] if isinstance(widths, list) else widths,
        "addition_embed_type": "text_time",
        "addition_time_embed_dim": (added - projection) // numbers,
        "projection_class_embeddings_input_dim": added,
    }
    return config


def _open_clip(header: Header, prefix: str) -> Config:
    layer = prefix + "transformer.resblocks."
    vocabulary, width = shape(header, prefix + "token_embedding.weight", 2)
    positions, _ = shape(header, prefix + "positional_embedding", 2)
    inner = shape(header, layer + "0.mlp.c_fc.weight", 2)[0]
    layers = count(header, re.escape(layer) + r"(\d+)\.")
    projection = shape(header, prefix + "text_projection", 2)[1]
    return text_config("CLIPTextModelWithProjection", vocabulary, width, positions, inner, layers, projection)

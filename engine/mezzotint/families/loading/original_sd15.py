"""Configurations of the networks in a single-file Stable Diffusion 1.5 checkpoint, from its tensor shapes.

Values that shapes do not show are those published: the latent scaling factor, eight heads per level, the sampler.
"""

from collections.abc import Mapping

from mezzotint.checkpoints.header import Header
from mezzotint.families.loading.original_names import SD15_ENCODER
from mezzotint.families.loading.original_unet import (
    Config,
    check_text_width,
    clip_config,
    scheduler_config,
    unet_config,
    vae_config,
)
from mezzotint.families.tokenizers import END
from mezzotint.protocol import PredictionType

SIDE = 512  # pixels
SCALING_FACTOR = 0.18215
HEADS = 8
TOKENIZERS: Mapping[str, Mapping[str, str]] = {"tokenizer": {"pad_token": END}}
_PREFIX = "text_model."


def component_configs(
    header: Header, *, prediction_type: PredictionType = "epsilon", zero_terminal_snr: bool = False
) -> dict[str, Config]:
    """Configurations of unet, vae, text_encoder and scheduler.

    Raises ModelRefused, naming the tensor, if the checkpoint is not laid out as Stable Diffusion 1.5.
    """
    prefixed = any(name.startswith(SD15_ENCODER + _PREFIX) for name in header.tensors)
    configs = {
        "unet": unet_config(header, SIDE) | {"attention_head_dim": HEADS},
        "vae": vae_config(header, SIDE, SCALING_FACTOR),
        "text_encoder": clip_config(header, SD15_ENCODER + _PREFIX * prefixed),
        "scheduler": sd15_scheduler(prediction_type, zero_terminal_snr),
    }
    check_text_width(header, configs)
    return configs


def sd15_scheduler(prediction_type: PredictionType, zero_terminal_snr: bool) -> Config:
    """The published scheduler, or another one for finetunes with zero terminal SNR, which it does not support."""
    config = scheduler_config(prediction_type, zero_terminal_snr)
    if zero_terminal_snr:
        return config
    shared = ("num_train_timesteps", "beta_schedule", "beta_start", "beta_end", "prediction_type", "steps_offset")
    return {
        "_class_name": "PNDMScheduler",
        **{name: config[name] for name in shared},
        "set_alpha_to_one": False,
        "skip_prk_steps": True,
        "timestep_spacing": "leading",
        "trained_betas": None,
    }

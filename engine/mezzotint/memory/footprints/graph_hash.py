"""Hash of a network's graph, from its configuration alone: no network is built and no library imported."""

import functools
import hashlib
import json
from collections.abc import Mapping
from importlib import resources

VERSION = 1  # of the tracing and counting code

# Settings that change numbers but not shapes.
_IRRELEVANT = frozenset(
    {
        "architectures", "attention_dropout", "bos_token_id", "classifier_dropout", "decoder_start_token_id",
        "downscale_freq_shift", "dropout", "dropout_rate", "dtype", "eos_token_id", "flip_sin_to_cos", "force_upcast",
        "freq_shift", "initializer_factor", "initializer_range", "interpolation_scale", "is_decoder",
        "is_encoder_decoder", "latents_mean", "latents_std", "layer_norm_eps", "layer_norm_epsilon",
        "logit_scale_init_value", "mid_block_scale_factor", "model_type", "n_positions", "norm_eps",
        "num_decoder_layers", "num_embeds_ada_norm", "output_attentions", "output_hidden_states", "output_past",
        "pad_token_id", "quantization_config", "resnet_out_scale_factor", "return_dict", "rms_norm_eps",
        "scale_decoder_outputs", "scaling_factor", "shift_factor", "task_specific_params", "tie_word_embeddings",
        "torch_dtype", "transformers_version", "use_cache",
    }
)  # fmt: skip
_IRRELEVANT_IN = {
    "UNet2DConditionModel": {"sample_size"},
    "AutoencoderKL": {"sample_size", "down_block_types"},
    "CLIPTextModel": {"projection_dim"},
    "T5EncoderModel": {"dense_act_fn", "is_gated_act"},  # both follow from feed_forward_proj
    "Qwen2_5_VLTextModel": {"layer_types", "max_position_embeddings", "max_window_layers", "sliding_window"},
}
_OF_LEVELS = ("layers_per_block", "transformer_layers_per_block", "attention_head_dim", "num_attention_heads")


def graph_hash(class_name: str, config: Mapping[str, object], tokens: int) -> str:
    """Hash that is equal for networks of a class with the same footprint; `tokens` is the traced prompt length.

    Missing settings take the class's defaults, and settings unknown to the class are ignored.
    """
    known = _defaults().get(class_name)
    settings = dict(config) if known is None else {key: config.get(key, default) for key, default in known.items()}
    matters = {key: value for key, value in settings.items() if value is not None and affects_memory(class_name, key)}
    if class_name == "UNet2DConditionModel":
        matters |= _by_level(matters)
    text = json.dumps([VERSION, class_name, matters, tokens], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def affects_memory(class_name: str, key: str) -> bool:
    """Whether a setting affects memory."""
    return not key.startswith("_") and key not in _IRRELEVANT and key not in _IRRELEVANT_IN.get(class_name, ())


def _by_level(config: Mapping[str, object]) -> dict[str, object]:
    """Expand a U-Net's scalar settings to one per level; depths of levels without attention are normalized."""
    downs = config.get("down_block_types")
    if not isinstance(downs, list | tuple):
        return {}
    settings = {key: config[key] for key in _OF_LEVELS if key in config}
    spread = {
        key: list(value) if isinstance(value, list | tuple) else [value] * len(downs) for key, value in settings.items()
    }
    depths = spread.get("transformer_layers_per_block", [])
    for level, kind in enumerate(downs[:-1]):  # the last level's depth also applies to the middle block
        if "CrossAttn" not in str(kind) and level < len(depths):
            depths[level] = 1
    return dict(spread)


@functools.cache
def _defaults() -> dict[str, dict[str, object]]:
    """Default settings by class name, shipped because importing the libraries would take seconds."""
    path = resources.files("mezzotint.memory.footprints") / "data" / "defaults.json"
    found: dict[str, dict[str, object]] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found

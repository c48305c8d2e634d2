"""Forward calls for each network class, with which passes are traced without weights, prompts or images.

Shapes are those used in pipelines. Classes are matched by name, so that no library has to be imported.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

# The model libraries have no type annotations that strict checking could use.
Network: TypeAlias = Any
Call: TypeAlias = Callable[[Network, int, int, int], object]  # same arguments as `known_call`, without the class name

SIDES = (64, 96, 128)  # latent pixels
_Z_CHANNELS, _Z_TIMES = 16, 256  # of Z-Image's latents, and numbers that times become
_COARSE = (16, 24, 32)  # for autoencoders with 32 pixels per latent pixel
TOKEN_COUNTS = (120, 300, 512)  # tokens, unless the family pads to a fixed length


def can_trace(class_name: str) -> bool:
    """Whether a forward call is known for this class."""
    return class_name in _IMAGES or class_name in _TEXTS


def is_text(class_name: str) -> bool:
    """Whether the class encodes text or an image prompt, whose positions are tokens instead of latent pixels."""
    return class_name in _TEXTS


def known_call(class_name: str, network: Network, size: int, batch: int, tokens: int) -> object:
    """Run one forward pass, or decoding for autoencoders. `size` is a side in latent pixels or a number of tokens.

    `tokens` is the length of a denoiser's prompt. For a text encoder it is the length to which prompts are padded, with
    an attention mask; 0 if its pipeline uses no mask.
    """
    return {**_TEXTS, **_IMAGES}[class_name](network, size, batch, tokens)


def used_part(class_name: str) -> str:
    """Name of the submodule that is called; empty for the whole network."""
    return "model.language_model" if class_name == "Qwen2_5_VLForConditionalGeneration" else ""


def sides_of(network: Network) -> tuple[int, int, int]:
    """Sides in latent pixels at which to trace; smaller for small-image transformers, where the prompt weighs more."""
    if type(network).__name__ == "AutoencoderDC":
        return _COARSE
    best = getattr(network.config, "sample_size", None)
    if (
        type(network).__name__.startswith(("Autoencoder", "UNet", "ControlNet"))
        or not isinstance(best, int)
        or best >= SIDES[0]
    ):
        return SIDES
    return best, 2 * (-(-best * 3 // 4)), 2 * best


def longest(network: Network, class_name: str) -> int:
    """Maximum number of tokens of a text encoder."""
    return int(network.config.max_position_embeddings) if class_name.startswith("CLIP") else 2**20


def _unet(network: Network, side: int, batch: int, tokens: int) -> object:
    config = network.config
    guidance = config.time_cond_proj_dim and _numbers(network, batch, config.time_cond_proj_dim)
    sample = _numbers(network, batch, config.in_channels, side, side)
    words = _words(network, batch, tokens)
    return network(sample, _numbers(network, 1), **words, timestep_cond=guidance, return_dict=False)


def _words(network: Network, batch: int, tokens: int) -> dict[str, object]:
    """Text, and for SDXL its sizes and pooled text, for a U-Net or its ControlNet."""
    config, added = network.config, None
    if config.addition_embed_type == "text_time":
        sizes = config.projection_class_embeddings_input_dim // config.addition_time_embed_dim
        numbers = next(n for n in (6, 5, sizes) if _leaves_text(config, n))
        pooled = config.projection_class_embeddings_input_dim - numbers * config.addition_time_embed_dim
        added = {
            "text_embeds": _numbers(network, batch, pooled),
            "time_ids": _numbers(network, batch, numbers),
        }
    text = _numbers(network, batch, tokens, config.cross_attention_dim)
    return {"encoder_hidden_states": text, "added_cond_kwargs": added}


def _control(network: Network, side: int, batch: int, tokens: int) -> object:
    config = network.config
    pixels = side * 2 ** (len(config.conditioning_embedding_out_channels) - 1)
    image = _numbers(network, batch, config.conditioning_channels, pixels, pixels)
    about: dict[str, object] = {"controlnet_cond": image}
    if type(network).__name__ == "ControlNetUnionModel":
        kinds = _numbers(network, batch, config.num_control_type)
        about = {"controlnet_cond": [image], "control_type": kinds, "control_type_idx": [0]}
    sample = _numbers(network, batch, config.in_channels, side, side)
    return network(sample, _numbers(network, 1), **_words(network, batch, tokens), **about, return_dict=False)


def _adapter(network: Network, side: int, batch: int, _: int) -> object:
    """Call a T2I-Adapter, which sees pixels; those for SDXL shrink them to half the sides of the latents at once."""
    config = network.config
    pixels = side * config.downscale_factor // (2 if config.adapter_type == "full_adapter_xl" else 1)
    return network(_numbers(network, batch, config.in_channels, pixels, pixels))


def _leaves_text(config: Any, numbers: int) -> bool:  # noqa: ANN401  a configuration
    """Whether this number of sizes leaves a plausible pooled text width, which is always a multiple of 64."""
    left = config.projection_class_embeddings_input_dim - numbers * config.addition_time_embed_dim
    return bool(left > 0 and left % 64 == 0)


def _pixart(network: Network, side: int, batch: int, tokens: int) -> object:
    config = network.config
    added: dict[str, Tensor | None] = {"resolution": None, "aspect_ratio": None}
    if config.use_additional_conditions or (config.use_additional_conditions is None and config.sample_size == 128):
        added = {"resolution": _numbers(network, batch, 2), "aspect_ratio": _numbers(network, batch, 1)}
    if (config.get("architecture") or {}).get("condition", "none") != "none":
        added["low_resolution"] = _numbers(network, batch, config.in_channels, side // 2, side // 2)
        added["low_resolution_noise"] = _numbers(network, batch)
    return network(
        _numbers(network, batch, config.in_channels, side, side),
        encoder_hidden_states=_numbers(network, batch, tokens, config.caption_channels),
        encoder_attention_mask=_mask(network, batch, tokens),
        timestep=_integers(network, batch),
        added_cond_kwargs=added,
        return_dict=False,
    )


def _flux(network: Network, side: int, batch: int, tokens: int) -> object:
    config = network.config
    count = side * side // 4  # 2x2 patches
    return network(
        hidden_states=_numbers(network, batch, count, config.in_channels),
        encoder_hidden_states=_numbers(network, batch, tokens, config.joint_attention_dim),
        pooled_projections=_numbers(network, batch, config.pooled_projection_dim),
        timestep=_numbers(network, batch),
        img_ids=_numbers(network, count, 3),
        txt_ids=_numbers(network, tokens, 3),
        guidance=_numbers(network, batch) if config.guidance_embeds else None,
        return_dict=False,
    )


def _flux_control(network: Network, side: int, batch: int, tokens: int) -> object:
    config, count = network.config, side * side // 4
    return network(
        hidden_states=_numbers(network, batch, count, config.in_channels),
        controlnet_cond=_numbers(network, batch, count, config.in_channels),
        controlnet_mode=None if config.num_mode is None else _integers(network, batch, 1) * 0,
        encoder_hidden_states=_numbers(network, batch, tokens, config.joint_attention_dim),
        pooled_projections=_numbers(network, batch, config.pooled_projection_dim),
        timestep=_numbers(network, batch),
        img_ids=_numbers(network, count, 3),
        txt_ids=_numbers(network, tokens, 3),
        guidance=_numbers(network, batch) if config.guidance_embeds else None,
        return_dict=False,
    )


def _sd3(network: Network, side: int, batch: int, tokens: int) -> object:
    config = network.config
    return network(
        hidden_states=_numbers(network, batch, config.in_channels, side, side),
        encoder_hidden_states=_numbers(network, batch, tokens, config.joint_attention_dim),
        pooled_projections=_numbers(network, batch, config.pooled_projection_dim),
        timestep=_numbers(network, batch),
        return_dict=False,
    )


def _qwen_image(network: Network, side: int, batch: int, tokens: int) -> object:
    config = network.config
    return network(
        hidden_states=_numbers(network, batch, side * side // 4, config.in_channels),
        encoder_hidden_states=_numbers(network, batch, tokens, config.joint_attention_dim),
        encoder_hidden_states_mask=None,
        timestep=_numbers(network, batch),
        img_shapes=[[(1, side // 2, side // 2)]] * batch,
        return_dict=False,
    )


def _qwen_control(network: Network, side: int, batch: int, tokens: int) -> object:
    config, count = network.config, side * side // 4
    return network(
        hidden_states=_numbers(network, batch, count, config.in_channels),
        controlnet_cond=_numbers(network, batch, count, config.in_channels + config.extra_condition_channels),
        encoder_hidden_states=_numbers(network, batch, tokens, config.joint_attention_dim),
        encoder_hidden_states_mask=None,
        timestep=_numbers(network, batch),
        img_shapes=[[(1, side // 2, side // 2)]] * batch,
        return_dict=False,
    )


def _z_image_control(network: Network, side: int, batch: int, tokens: int) -> object:
    """Call with stand-ins for what it shares with its transformer: few layers, that need no more than its own."""
    config, width = network.config, network.config.dim

    def embedded(rows: Tensor) -> Tensor:
        return _numbers(network, rows.shape[0], width)

    network.__dict__.update(
        t_scale=1.0,
        t_embedder=lambda times: _numbers(network, times.shape[0], min(width, _Z_TIMES)),
        all_x_embedder={"2-1": embedded},
        cap_embedder=embedded,
        rope_embedder=lambda places: torch.empty(
            places.shape[0], width // config.n_heads // 2, dtype=torch.complex64, device=places.device
        ),
        noise_refiner=(),
        context_refiner=(),
        x_pad_token=_numbers(network, 1, width),
        cap_pad_token=_numbers(network, 1, width),
    )
    seen = _numbers(network, batch, config.control_in_dim, 1, side, side)
    latents, text = _numbers(network, batch, _Z_CHANNELS, 1, side, side), _numbers(network, batch, tokens, width)
    with torch.no_grad():  # otherwise it looks for a setting that only training gives it
        return network(list(latents.unbind()), _numbers(network, batch), list(text.unbind()), list(seen.unbind()))


def _autoencoder(network: Network, side: int, batch: int, _: int) -> object:
    return network.decode(_numbers(network, batch, network.config.latent_channels, side, side), return_dict=False)


def _flux2_autoencoder(network: Network, side: int, batch: int, _: int) -> object:
    """Call FLUX.2's autoencoder, whose latents are sampled as 2x2 patches."""
    return _autoencoder(network, 2 * side, batch, 0)


def _qwen_autoencoder(network: Network, side: int, batch: int, _: int) -> object:
    return network.decode(_numbers(network, batch, network.config.z_dim, 1, side, side), return_dict=False)


def _clip(network: Network, tokens: int, batch: int, _: int) -> object:
    return network(_integers(network, batch, tokens), output_hidden_states=True, return_dict=False)


def _t5(network: Network, tokens: int, batch: int, padded: int) -> object:
    mask = _mask(network, batch, tokens) if padded else None
    return network(_integers(network, batch, tokens), attention_mask=mask)[0]


def _qwen_text(network: Network, tokens: int, batch: int, _: int) -> object:
    """Call the language model only, without images and without predicting a next token."""
    language = network.get_submodule(used_part(type(network).__name__))
    embedded = _numbers(network, batch, tokens, language.config.hidden_size)
    positions = _integers(network, 3, batch, tokens)
    return language(
        inputs_embeds=embedded,
        attention_mask={"full_attention": None, "sliding_attention": None},
        position_ids=positions,
        output_hidden_states=True,
        use_cache=False,
        return_dict=True,
    )


def _qwen_tokens(network: Network, tokens: int, batch: int, _: int) -> object:
    return network(input_ids=_integers(network, batch, tokens), use_cache=False)


def _qwen_vision(network: Network, tokens: int, batch: int, _: int) -> object:
    """Call with all tokens from one image: the vision tower sees its patches, then the language model the tokens."""
    vision, squares = network.visual, tokens * network.visual.spatial_merge_unit
    whole = np.array([0, squares])  # the ends of images as real numbers, which fake tensors do not have
    config = vision.config
    width = config.in_channels * config.temporal_patch_size * config.patch_size**2
    for _image in range(batch):
        vision(
            _numbers(network, squares, width),
            grid_thw=None,
            position_ids=_integers(network, squares, 2),
            window_index=_integers(network, tokens),
            cu_seqlens=whole,
            cu_window_seqlens=whole,
        )
    return network.language_model(input_ids=_integers(network, batch, tokens), use_cache=False)


def _qwen3(network: Network, tokens: int, batch: int, padded: int) -> object:
    mask = _mask(network, batch, tokens).bool() if padded else None
    return network(
        input_ids=_integers(network, batch, tokens), attention_mask=mask, output_hidden_states=True, use_cache=False
    )


def _gemma(network: Network, tokens: int, batch: int, padded: int) -> object:
    mask = _mask(network, batch, tokens) if padded else None
    return network(_integers(network, batch, tokens), attention_mask=mask, use_cache=False)[0]


def _image_prompt(network: Network, _: int, batch: int, __: int) -> object:
    """Call with images, whose size does not vary, as with guidance: the most that it takes."""
    return network(_numbers(network, batch, 3, network.side, network.side), guided=True)


_TEXTS: Mapping[str, Call] = {
    "CLIPTextModel": _clip,
    "CLIPTextModelWithProjection": _clip,
    "T5EncoderModel": _t5,
    "Qwen2_5_VLForConditionalGeneration": _qwen_text,
    "Qwen2_5_VLTextModel": _qwen_tokens,
    "Qwen2_5_VLModel": _qwen_vision,
    "Qwen3Model": _qwen3,
    "Qwen3VLTextModel": _qwen3,
    "Gemma2Model": _gemma,
    "ImagePrompt": _image_prompt,
    "ReduxPrompt": _image_prompt,
}
_IMAGES: Mapping[str, Call] = {
    "UNet2DConditionModel": _unet,
    "ControlNetModel": _control,
    "ControlNetUnionModel": _control,
    "T2IAdapter": _adapter,
    "FluxControlNetModel": _flux_control,
    "QwenImageControlNetModel": _qwen_control,
    "ZImageControlNetModel": _z_image_control,
    "PixArtTransformer2DModel": _pixart,
    "PixArtVariantTransformer2DModel": _pixart,
    "FluxTransformer2DModel": _flux,
    "SD3Transformer2DModel": _sd3,
    "QwenImageTransformer2DModel": _qwen_image,
    "AutoencoderDC": _autoencoder,
    "AutoencoderKL": _autoencoder,
    "AutoencoderKLFlux2": _flux2_autoencoder,
    "AutoencoderKLQwenImage": _qwen_autoencoder,
}


def _numbers(network: Network, *shape: int) -> Tensor:
    like = next(network.parameters())
    return torch.empty(shape, dtype=like.dtype, device=like.device)


def _integers(network: Network, *shape: int) -> Tensor:
    return torch.ones(shape, dtype=torch.int64, device=next(network.parameters()).device)


def _mask(network: Network, batch: int, tokens: int) -> Tensor:
    """Attention mask of padded prompts, because the libraries ignore masks without padding."""
    mask = _integers(network, batch, tokens)
    mask[:, -1] = 0
    return mask

"""Blocks whose image and text tokens are two streams that meet in one attention, and those of a single stream."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from mezzotint.quantization.fusion.layers import Fusion
from mezzotint.quantization.fusion.parts import (
    IMAGE,
    TEXT,
    Module,
    last_of_attention,
    last_of_feed_forward,
    last_of_text,
    modulations,
    reader_of_feed_forward,
    readers,
)

_LARGEST = 65504  # in float16, to which diffusers clips


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Stream:
    """The tokens of one modality in a block."""

    tokens: Tensor  # (b, n, c)
    norms: tuple[Module, Module]  # before attention and feed-forward
    values: Sequence[Tensor]  # shift, scale and gate of attention, then of the feed-forward
    feed: Module


def flux(
    fusion: Fusion,
    block: Module,
    hidden_states: Tensor,
    encoder_hidden_states: Tensor,
    temb: Tensor,
    image_rotary_emb: Any = None,  # noqa: ANN401  diffusers has no types
    joint_attention_kwargs: Mapping[str, Any] | None = None,
) -> Any:  # noqa: ANN401
    """FLUX.1's double-stream block."""
    if joint_attention_kwargs:
        return NotImplemented
    image, text = (modulations(norm, temb, 6) for norm in (block.norm1, block.norm1_context))
    return _adaptive(
        fusion, block, hidden_states, encoder_hidden_states, image, text, image_rotary_emb=image_rotary_emb
    )


def _of_chroma(image_rotary_emb: Any, attention_mask: Tensor | None) -> dict[str, Any]:  # noqa: ANN401
    """Options of Chroma's attention: its mask is that of pairs of tokens which are both kept."""
    if attention_mask is not None:
        attention_mask = attention_mask[:, None, None, :] * attention_mask[:, None, :, None]
    return {"image_rotary_emb": image_rotary_emb, "attention_mask": attention_mask}


def chroma(
    fusion: Fusion,
    block: Module,
    hidden_states: Tensor,
    encoder_hidden_states: Tensor,
    temb: Tensor,
    image_rotary_emb: Any = None,  # noqa: ANN401
    attention_mask: Tensor | None = None,
    joint_attention_kwargs: Mapping[str, Any] | None = None,
) -> Any:  # noqa: ANN401
    """Chroma's double-stream block; modulation `temb` `(b, 12, c)`."""
    if joint_attention_kwargs:
        return NotImplemented
    image, text = modulations(block.norm1, temb[:, :6], 6), modulations(block.norm1_context, temb[:, 6:], 6)
    options = _of_chroma(image_rotary_emb, attention_mask)
    return _adaptive(fusion, block, hidden_states, encoder_hidden_states, image, text, **options)


def flux2(
    fusion: Fusion,
    block: Module,
    hidden_states: Tensor,
    encoder_hidden_states: Tensor,
    temb_mod_img: Tensor,
    temb_mod_txt: Tensor,
    image_rotary_emb: Any = None,  # noqa: ANN401
    joint_attention_kwargs: Mapping[str, Any] | None = None,
) -> Any:  # noqa: ANN401
    """FLUX.2's double-stream block."""
    if joint_attention_kwargs:
        return NotImplemented
    image, text = (
        (each[:, None] if each.ndim == 2 else each).chunk(6, dim=-1) for each in (temb_mod_img, temb_mod_txt)
    )
    words, pixels = _joint(
        fusion,
        block.attn,
        _Stream(tokens=hidden_states, norms=(block.norm1, block.norm2), values=image, feed=block.ff),
        _Stream(
            tokens=encoder_hidden_states,
            norms=(block.norm1_context, block.norm2_context),
            values=text,
            feed=block.ff_context,
        ),
        image_rotary_emb=image_rotary_emb,
    )
    return _clipped(words), pixels


def qwen_image(
    fusion: Fusion,
    block: Module,
    hidden_states: Tensor,
    encoder_hidden_states: Tensor,
    encoder_hidden_states_mask: Tensor | None,
    temb: Tensor,
    image_rotary_emb: Any = None,  # noqa: ANN401
    joint_attention_kwargs: Mapping[str, Any] | None = None,
    modulate_index: Any = None,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Qwen-Image's block; that of its edit models modulates references in another way."""
    if joint_attention_kwargs or modulate_index is not None or block.zero_cond_t:
        return NotImplemented
    image, text = ([each[:, None] for each in layer(temb).chunk(6, dim=-1)] for layer in (block.img_mod, block.txt_mod))
    words, pixels = _joint(
        fusion,
        block.attn,
        _Stream(tokens=hidden_states, norms=(block.img_norm1, block.img_norm2), values=image, feed=block.img_mlp),
        _Stream(
            tokens=encoder_hidden_states,
            norms=(block.txt_norm1, block.txt_norm2),
            values=text,
            feed=block.txt_mlp,
        ),
        encoder_hidden_states_mask=encoder_hidden_states_mask,
        image_rotary_emb=image_rotary_emb,
    )
    return _clipped(words), _clipped(pixels)


def stable_diffusion_3(
    fusion: Fusion,
    block: Module,
    hidden_states: Tensor,
    encoder_hidden_states: Tensor,
    temb: Tensor,
    joint_attention_kwargs: Mapping[str, Any] | None = None,
) -> Any:  # noqa: ANN401
    """Stable Diffusion 3's block; some have a second attention of image tokens, and the last ends the text's stream."""
    if joint_attention_kwargs or block._chunk_size is not None:
        return NotImplemented
    image = modulations(block.norm1, temb, 9 if block.use_dual_attention else 6)
    count = 2 if block.context_pre_only else 6
    text = modulations(block.norm1_context, temb, count)
    norm, context = block.norm1.norm, block.norm1_context.norm
    shift, gain = (text[1], text[0]) if block.context_pre_only else (text[0], text[1])
    end = fusion.ending(last_of_attention(block.attn), hidden_states, image[2])
    if not block.context_pre_only:
        end_text = fusion.ending(last_of_text(block.attn), encoder_hidden_states, text[2])
    pixels, words = block.attn(
        hidden_states=fusion.normalized(readers(block.attn), norm, hidden_states, image[1], image[0]),
        encoder_hidden_states=fusion.normalized(readers(block.attn, TEXT), context, encoder_hidden_states, gain, shift),
    )
    pixels = end(pixels)
    if block.use_dual_attention:
        end = fusion.ending(last_of_attention(block.attn2), pixels, image[8])
        second = fusion.normalized(readers(block.attn2), norm, hidden_states, image[7], image[6])
        pixels = end(block.attn2(hidden_states=second))
    pixels = fed(fusion, block.ff, block.norm2, pixels, image[3:6])
    if block.context_pre_only:
        return None, pixels
    return fed(fusion, block.ff_context, block.norm2_context, end_text(words), text[3:6]), pixels


def flux_single(
    fusion: Fusion,
    block: Module,
    hidden_states: Tensor,
    encoder_hidden_states: Tensor,
    temb: Tensor,
    image_rotary_emb: Any = None,  # noqa: ANN401
    joint_attention_kwargs: Mapping[str, Any] | None = None,
) -> Any:  # noqa: ANN401
    """FLUX.1's single-stream block."""
    if joint_attention_kwargs:
        return NotImplemented
    words = encoder_hidden_states.shape[1]
    tokens = torch.cat([encoder_hidden_states, hidden_states], dim=1)
    tokens = _parallel(fusion, block, tokens, temb, image_rotary_emb=image_rotary_emb)
    return tokens[:, :words], tokens[:, words:]


def chroma_single(
    fusion: Fusion,
    block: Module,
    hidden_states: Tensor,
    temb: Tensor,
    image_rotary_emb: Any = None,  # noqa: ANN401
    attention_mask: Tensor | None = None,
    joint_attention_kwargs: Mapping[str, Any] | None = None,
) -> Any:  # noqa: ANN401
    """Chroma's single-stream block."""
    if joint_attention_kwargs:
        return NotImplemented
    options = _of_chroma(image_rotary_emb, attention_mask)
    return _parallel(fusion, block, hidden_states, temb, **options)


def flux2_single(
    fusion: Fusion,
    block: Module,
    hidden_states: Tensor,
    encoder_hidden_states: Tensor | None,
    temb_mod: Tensor,
    image_rotary_emb: Any = None,  # noqa: ANN401
    joint_attention_kwargs: Mapping[str, Any] | None = None,
    split_hidden_states: bool = False,
    text_seq_len: int | None = None,
) -> Any:  # noqa: ANN401
    """FLUX.2's single-stream block."""
    if joint_attention_kwargs:
        return NotImplemented
    if encoder_hidden_states is not None:
        text_seq_len = encoder_hidden_states.shape[1]
        hidden_states = torch.cat([encoder_hidden_states, hidden_states], dim=1)
    shift, gain, gate = (temb_mod[:, None] if temb_mod.ndim == 2 else temb_mod).chunk(3, dim=-1)
    layers = readers(block.attn, ("to_qkv_mlp_proj",))
    end = fusion.ending(last_of_attention(block.attn), hidden_states, gate)
    normalized = fusion.normalized(layers, block.norm, hidden_states, gain, shift)
    tokens = _clipped(end(block.attn(hidden_states=normalized, image_rotary_emb=image_rotary_emb)))
    return (tokens[:, :text_seq_len], tokens[:, text_seq_len:]) if split_hidden_states else tokens


def fed(fusion: Fusion, feed: Module, norm: Module, tokens: Tensor, values: Sequence[Tensor | None]) -> Tensor:
    """Tokens after a feed-forward with shift, scale and gate, or with none of them."""
    shift, gain, gate = values
    end = fusion.ending(last_of_feed_forward(feed), tokens, gate)
    return end(feed(fusion.normalized(reader_of_feed_forward(feed), norm, tokens, gain, shift)))


def _adaptive(
    fusion: Fusion,
    block: Module,
    pixels: Tensor,
    words: Tensor,
    image: Sequence[Tensor],
    text: Sequence[Tensor],
    **options: object,
) -> tuple[Tensor, Tensor]:
    """FLUX.1's and Chroma's double-stream block."""
    words, pixels = _joint(
        fusion,
        block.attn,
        _Stream(tokens=pixels, norms=(block.norm1.norm, block.norm2), values=image, feed=block.ff),
        _Stream(
            tokens=words, norms=(block.norm1_context.norm, block.norm2_context), values=text, feed=block.ff_context
        ),
        **options,
    )
    return _clipped(words), pixels


def _joint(
    fusion: Fusion, attention: Module, image: _Stream, text: _Stream, **options: object
) -> tuple[Tensor, Tensor]:
    """Text and image tokens after joint attention and their feed-forwards."""
    end = fusion.ending(last_of_attention(attention), image.tokens, image.values[2])
    end_text = fusion.ending(last_of_text(attention), text.tokens, text.values[2])
    pixels, words = attention(
        hidden_states=_normalized(fusion, attention, IMAGE, image),
        encoder_hidden_states=_normalized(fusion, attention, TEXT, text),
        **options,
    )
    pixels = fed(fusion, image.feed, image.norms[1], end(pixels), image.values[3:6])
    return fed(fusion, text.feed, text.norms[1], end_text(words), text.values[3:6]), pixels


def _normalized(fusion: Fusion, attention: Module, names: tuple[str, ...], stream: _Stream) -> Tensor:
    shift, gain = stream.values[:2]
    return fusion.normalized(readers(attention, names), stream.norms[0], stream.tokens, gain, shift)


def _parallel(fusion: Fusion, block: Module, tokens: Tensor, embedding: Tensor, **options: object) -> Tensor:
    """FLUX.1's and Chroma's single-stream block, whose attention and feed-forward read the same."""
    shift, gain, gate = modulations(block.norm, embedding, 3)
    attention = readers(block.attn)
    layers = [*attention, block.proj_mlp] if attention else []
    end = fusion.ending(block.proj_out, tokens, gate)
    normalized = fusion.normalized(layers, block.norm.norm, tokens, gain, shift)
    hidden = fusion.activated(block.proj_mlp, normalized) if _is_gelu(block.act_mlp) else None
    hidden = block.act_mlp(block.proj_mlp(normalized)) if hidden is None else hidden
    attended = block.attn(hidden_states=normalized, **options)
    return _clipped(end(block.proj_out(torch.cat([attended, hidden], dim=2))))


def _is_gelu(module: Module) -> bool:
    return isinstance(module, nn.GELU) and module.approximate == "tanh"


def _clipped(x: Tensor) -> Tensor:
    return x.clip(-_LARGEST, _LARGEST) if x.dtype == torch.float16 else x

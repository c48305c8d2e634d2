"""Blocks computed with their norms, gates and residuals in the kernels of their layers, by the class of the block.

Each function computes what the class's own `forward` does, with the same modules, and is tested against it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from mezzotint.quantization.fusion.layers import Fusion
from mezzotint.quantization.fusion.parts import (
    IMAGE,
    Module,
    last_of_attention,
    reader_of_feed_forward,
    readers,
)
from mezzotint.quantization.fusion.streams import (
    chroma,
    chroma_single,
    fed,
    flux,
    flux2,
    flux2_single,
    flux_single,
    qwen_image,
    stable_diffusion_3,
)

BlockForward: TypeAlias = Callable[..., Any]
_LENGTHS = {"key_lengths"}  # of words, which our attention takes and diffusers' does not


def transformer(
    fusion: Fusion,
    block: Module,
    hidden_states: Tensor,
    attention_mask: Tensor | None = None,
    encoder_hidden_states: Tensor | None = None,
    encoder_attention_mask: Tensor | None = None,
    timestep: Tensor | None = None,
    cross_attention_kwargs: Mapping[str, Any] | None = None,
    class_labels: object = None,
    added_cond_kwargs: object = None,
) -> Any:  # noqa: ANN401
    """The block of PixArt, modulated by the timestep, and that of U-Nets."""
    del class_labels, added_cond_kwargs  # of other norms
    single = block.norm_type == "ada_norm_single"
    usual = (single or block.norm_type == "layer_norm") and block.pos_embed is None and block._chunk_size is None
    lengths = cross_attention_kwargs or {}
    if not usual or block.only_cross_attention or set(lengths) - _LENGTHS or hidden_states.ndim != 3:
        return NotImplemented
    values: list[Tensor | None] = [None] * 6
    if single and timestep is not None:
        table = block.scale_shift_table[None] + timestep.reshape(hidden_states.shape[0], 6, -1)
        values = list(table.chunk(6, dim=1))
    tokens = _attended(fusion, block.attn1, block.norm1, hidden_states, values[:3], attention_mask=attention_mask)
    if block.attn2 is not None:
        words = {"encoder_hidden_states": encoder_hidden_states, "attention_mask": encoder_attention_mask, **lengths}
        names = IMAGE if encoder_hidden_states is None else ("to_q",)
        tokens = _attended(fusion, block.attn2, None if single else block.norm2, tokens, (), names, **words)
    return fed(fusion, block.ff, block.norm2 if single else block.norm3, tokens, values[3:])


def modulated(
    fusion: Fusion,
    block: Module,
    hidden: Tensor,
    *,
    timestep: Tensor,
    encoder_hidden_states: Tensor,
    grid: object = None,
    encoder_attention_mask: Tensor | None = None,
    cross_attention_kwargs: Mapping[str, Any] | None = None,
) -> Any:  # noqa: ANN401
    """The block of PixArt with other parts."""
    lengths = cross_attention_kwargs or {}
    if set(lengths) - _LENGTHS or not reader_of_feed_forward(block.ff) or not readers(block.attn1):
        return NotImplemented
    del grid  # of no use to these parts
    values = block._modulated(timestep)
    tokens = _attended(fusion, block.attn1, block.norm1, hidden, values[:3])
    if block.attn2 is not None:
        words = {"encoder_hidden_states": encoder_hidden_states, "attention_mask": encoder_attention_mask, **lengths}
        tokens = _attended(fusion, block.attn2, None, tokens, (), ("to_q",), **words)
    return fed(fusion, block.ff, block.norm2, tokens, values[3:])


def z_image(
    fusion: Fusion,
    block: Module,
    x: Tensor,
    attn_mask: Tensor | None,
    freqs_cis: Tensor,
    adaln_input: Tensor | None = None,
    noise_mask: Tensor | None = None,
    adaln_noisy: Tensor | None = None,
    adaln_clean: Tensor | None = None,
) -> Any:  # noqa: ANN401
    """Z-Image's block, whose outputs are normalized before they are added."""
    del adaln_noisy, adaln_clean  # of noise_mask
    if noise_mask is not None:
        return NotImplemented
    values: list[Tensor | None] = [None] * 4
    if block.modulation:
        values = list(block.adaLN_modulation(adaln_input).unsqueeze(1).chunk(4, dim=2))
    attention, feed = block.attention, block.feed_forward
    normalized = fusion.normalized(readers(attention), block.attention_norm1, x, values[0])
    attended = block.attention_norm2(attention(normalized, attention_mask=attn_mask, freqs_cis=freqs_cis))
    x = x + _gated(values[1], attended)
    normalized = fusion.normalized(reader_of_feed_forward(feed), block.ffn_norm1, x, values[2])
    return x + _gated(values[3], block.ffn_norm2(feed(normalized)))


def sana(
    fusion: Fusion,
    block: Module,
    hidden_states: Tensor,
    attention_mask: Tensor | None = None,
    encoder_hidden_states: Tensor | None = None,
    encoder_attention_mask: Tensor | None = None,
    timestep: Tensor | None = None,
    height: int = 0,
    width: int = 0,
) -> Any:  # noqa: ANN401
    """Sana's block, whose feed-forward is of convolutions."""
    del attention_mask  # as in diffusers
    if timestep is None:
        return NotImplemented
    table = block.scale_shift_table[None] + timestep.reshape(hidden_states.shape[0], 6, -1)
    values = table.chunk(6, dim=1)
    tokens = _attended(fusion, block.attn1, block.norm1, hidden_states, values[:3])
    if block.attn2 is not None:
        words = {"encoder_hidden_states": encoder_hidden_states, "attention_mask": encoder_attention_mask}
        tokens = _attended(fusion, block.attn2, None, tokens, (), ("to_q",), **words)
    shift, gain, gate = values[3:]
    pixels = (block.norm2(tokens) * (1 + gain) + shift).unflatten(1, (height, width)).permute(0, 3, 1, 2)
    return tokens + gate * block.ff(pixels).flatten(2, 3).permute(0, 2, 1)


def krea2(
    fusion: Fusion,
    block: Module,
    hidden_states: Tensor,
    temb: Tensor,
    image_rotary_emb: Any,  # noqa: ANN401
    attention_mask: Tensor | None = None,
) -> Any:  # noqa: ANN401
    """Krea 2's block."""
    table: Tensor = temb.reshape(*temb.shape[:-1], 6, -1) + block.scale_shift_table
    gain, shift, gate, gain2, shift2, gate2 = table.unbind(-2)
    options = {"attention_mask": attention_mask, "image_rotary_emb": image_rotary_emb}
    names = (*IMAGE, "to_gate")
    tokens = _attended(fusion, block.attn, block.norm1, hidden_states, (shift, gain, gate), names, **options)
    return fed(fusion, block.ff, block.norm2, tokens, (shift2, gain2, gate2))


BLOCKS: Mapping[str, BlockForward] = {
    "BasicTransformerBlock": transformer,
    "ModulatedBlock": modulated,
    "JointTransformerBlock": stable_diffusion_3,
    "FluxTransformerBlock": flux,
    "FluxSingleTransformerBlock": flux_single,
    "ChromaTransformerBlock": chroma,
    "ChromaSingleTransformerBlock": chroma_single,
    "Flux2TransformerBlock": flux2,
    "Flux2SingleTransformerBlock": flux2_single,
    "QwenImageTransformerBlock": qwen_image,
    "ZImageTransformerBlock": z_image,
    "SanaTransformerBlock": sana,
    "Krea2TransformerBlock": krea2,
}


def fused_blocks(networks: Iterable[object]) -> Iterator[nn.Module]:
    """The blocks of these networks that can be computed so."""
    for network in networks:
        for module in network.modules() if isinstance(network, nn.Module) else ():
            if type(module).__name__ in BLOCKS and "forward" not in vars(module):
                yield module


@contextmanager
def computing_fused(fusion: Fusion, networks: Iterable[object]) -> Iterator[None]:
    """Compute the networks' blocks so inside the context."""
    blocks = list(fused_blocks(networks))
    for block in blocks:
        block.forward = partial(_run, fusion, BLOCKS[type(block).__name__], block, block.forward)
    try:
        yield
    finally:
        for block in blocks:
            vars(block).pop("forward", None)


def _run(fusion: Fusion, fused: BlockForward, block: nn.Module, plain: BlockForward, *args: Any, **words: Any) -> Any:  # noqa: ANN401
    if torch.compiler.is_compiling() or torch.is_grad_enabled():
        return plain(*args, **words)
    with fusion.block():
        found = fused(fusion, block, *args, **words)
    return plain(*args, **words) if found is NotImplemented else found


def _attended(
    fusion: Fusion,
    attention: Module,
    norm: Module,
    tokens: Tensor,
    values: Any,  # noqa: ANN401  shift, scale and gate, or none
    names: tuple[str, ...] = IMAGE,
    **options: object,
) -> Tensor:
    """Tokens after an attention; without a norm they are read as they are."""
    shift, gain, gate = values or (None, None, None)
    end = fusion.ending(last_of_attention(attention), tokens, gate)
    read = tokens if norm is None else fusion.normalized(readers(attention, names), norm, tokens, gain, shift)
    return end(attention(read, **options))


def _gated(gate: Tensor | None, y: Tensor) -> Tensor:
    return y if gate is None else gate.tanh() * y

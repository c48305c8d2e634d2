"""Refuse the options that trade fidelity for speed where they are impossible, before anything is loaded."""

import math

from mezzotint.acceleration.trunks import TRUNKS, attention_level, halved
from mezzotint.errors import UsageError
from mezzotint.families.family import ModelSources
from mezzotint.sampling_protocol import Sampling
from mezzotint.values.speed import AUTO_CACHE, CACHE_THRESHOLDS, DENSITIES, MIN_TOKENS, SMALLEST_TILE, tile_counts

_FEWEST = 4  # tokens along a side, below which reducing them leaves nothing of the image
_SMALLEST = 2  # features along a side of a shrunk U-Net's innermost level


def is_sped_up(sampling: Sampling) -> bool:
    """Whether any of these options is in use."""
    return bool(sampling.tokens or sampling.sparse_attention or sampling.deep_shrink or sampling.step_cache)


def settled_cache(sampling: Sampling, sources: ModelSources) -> float | None:
    """The threshold of the step cache, with what auto takes for the model's network; None: off."""
    auto = CACHE_THRESHOLDS["unet" if "unet" in sources.components else "transformer"]
    return auto if sampling.step_cache == AUTO_CACHE else sampling.step_cache


def check_speedups(sampling: Sampling, sources: ModelSources, name: str, size: tuple[int, int]) -> None:
    """Raise UsageError for an option that the model cannot use; `size`: image tokens, or a U-Net's latents."""
    unet, transformer = sources.components.get("unet"), sources.components.get("transformer")
    levels = None if unet is None else unet.config.get("down_block_types")
    trunk = None if transformer is None else TRUNKS.get(transformer.class_name)
    level = attention_level(levels)
    has_attention = level is not None or (trunk is not None and bool(trunk.attention))
    if sampling.sparse_attention is not None:
        _check_sparse(sampling, name, has_attention=has_attention)
    if sampling.tokens is not None:
        if not has_attention:
            raise UsageError(f"{name} has no softmax attention over image tokens to reduce: leave --tokens out")
        shorter = min(size) if level is None else -(-min(size) // 2**level)
        if shorter < _FEWEST:
            raise UsageError(
                f"the image is too small for --tokens: {shorter} tokens along its shorter side, at least {_FEWEST} are "
                "needed; make it larger, or leave --tokens out"
            )
    if sampling.step_cache and trunk is None and not (isinstance(levels, list | tuple) and len(levels) > 1):
        raise UsageError(f"{name} has neither a row of blocks nor levels to skip: leave --step-cache out")
    if sampling.step_cache and sampling.deep_shrink is not None:
        raise UsageError("--deep-shrink changes the size of what --step-cache keeps: leave one of them out")
    if sampling.deep_shrink is not None:
        _check_shrink(sampling.deep_shrink[0], levels, name, min(size))


def _check_sparse(sampling: Sampling, name: str, *, has_attention: bool) -> None:
    if not has_attention:
        raise UsageError(f"{name} has no softmax attention over image tokens: leave --sparse-attention out")
    if sampling.tokens is not None:
        raise UsageError("--tokens and --sparse-attention both leave out keys of the same layers: give one of them")


def why_dense(sampling: Sampling, sources: ModelSources, size: tuple[int, int]) -> str:
    """Why sparse attention does nothing at this size; '' if it does something, or was not asked for."""
    how = sampling.sparse_attention
    if how is None:
        return ""
    unet = sources.components.get("unet")
    level = attention_level(None if unet is None else unet.config.get("down_block_types")) or 0
    tokens = math.prod(halved(size, level))
    if how[1] is not None:
        return _why_whole(how[1], halved(size, level)) if how[0] == "tiles" else ""
    if tokens >= MIN_TOKENS:
        return ""
    return (
        f"sparse attention does nothing here: it pays from about {MIN_TOKENS} image tokens, and there are {tokens}; "
        f"with a density, such as {how[0]}:{DENSITIES[how[0]]:g}, it is used at any size"
    )


def _why_whole(density: float, size: tuple[int, int]) -> str:
    """Why an image is not divided into tiles; '' if it is."""
    if density == 1 or tile_counts(density, *size) != (1, 1):
        return ""
    return (
        f"sparse attention does nothing here: {size[1]}x{size[0]} image tokens are not divided into tiles, which have "
        f"at least {SMALLEST_TILE}x{SMALLEST_TILE} tokens and, at this density, {density:g} of the image; lower the "
        "density or make the image larger"
    )


def _check_shrink(factor: float, levels: object, name: str, side: int) -> None:
    count = len(levels) if isinstance(levels, list | tuple) else 0
    if count <= 1:
        raise UsageError(f"{name} has no U-Net with several levels to shrink: leave --deep-shrink out")
    if side / 2 ** (count - 1) / factor < _SMALLEST:
        raise UsageError(
            f"the image is too small for --deep-shrink {factor:g}: less than {_SMALLEST} features along its shorter "
            "side would be left; make it larger, or leave --deep-shrink out"
        )

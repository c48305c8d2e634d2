"""Files of small random preview decoders, in both namings of TAESD's layers."""

from collections.abc import Mapping
from pathlib import Path

import torch
from diffusers import AutoencoderTiny
from safetensors.torch import save_file
from torch import Tensor


def tiny_autoencoder(
    latent_channels: int = 4, width: int = 8, blocks: tuple[int, ...] = (2, 1, 1, 1)
) -> AutoencoderTiny:
    """A random AutoencoderTiny of diffusers."""
    torch.manual_seed(0)
    widths = (width,) * len(blocks)
    return AutoencoderTiny(
        latent_channels=latent_channels,
        encoder_block_out_channels=widths,
        decoder_block_out_channels=widths,
        num_encoder_blocks=blocks[::-1],
        num_decoder_blocks=blocks,
    ).eval()


def diffusers_file(path: Path, network: AutoencoderTiny | None = None, but: Mapping[str, Tensor | None] = {}) -> Path:
    """Write encoder and decoder as diffusers names them; `but`: other tensors by name, None without."""
    return _write(path, dict((network or tiny_autoencoder()).state_dict()), but)


def original_file(path: Path, network: AutoencoderTiny | None = None, but: Mapping[str, Tensor | None] = {}) -> Path:
    """Write the decoder alone with the original names, which count one layer more: the clamp at the start."""
    state = (network or tiny_autoencoder()).decoder.layers.state_dict()
    parts = ((name.partition("."), tensor) for name, tensor in state.items())
    return _write(path, {f"{int(number) + 1}.{rest}": tensor for (number, _, rest), tensor in parts}, but)


def _write(path: Path, state: dict[str, Tensor], but: Mapping[str, Tensor | None]) -> Path:
    kept = {name: tensor.contiguous() for name, tensor in (state | dict(but)).items() if tensor is not None}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(kept, path)
    return path

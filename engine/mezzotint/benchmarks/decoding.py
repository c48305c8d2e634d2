"""Benchmark of decoding: SDXL's whole decoder by our kernels beside diffusers'."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.stopwatch import milliseconds
from mezzotint.dispatch.library import LaunchFailed, Unsupported
from mezzotint.memory.channels_last import keep_channels_last
from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.normalization.networks import normalizing
from mezzotint.normalization.session import GroupNormSession

OURS, DIFFUSERS = "mezzotint", "diffusers"
Wanted = Callable[[str, str], bool]  # whether to measure (shape, implementation)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingShape:
    """A decoder of so many channels at each level, and the pixels along each side of its image."""

    name: str
    channels: tuple[int, ...]
    side: int

    def small(self) -> "DecodingShape":
        """Return the shape with sizes for a CPU."""
        return replace(self, channels=tuple(64 for _ in self.channels[:2]), side=32)


DECODER = DecodingShape(name="SDXL's VAE, decoding 1024x1024", channels=(128, 256, 512, 512), side=1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingRow:
    """One implementation on one shape."""

    shape: str
    dtype: str
    implementation: str
    milliseconds: float | None
    error: float | None  # relative RMS error against 32 or 64 bits
    problem: str | None
    device: str
    torch: str


@torch.inference_mode()
def measure_decoder(
    shape: DecodingShape,
    norms: CompiledGroupNorm,
    attention: CompiledAttention,
    device: torch.device,
    dtype: torch.dtype,
    wanted: Wanted,
) -> Iterator[DecodingRow]:
    """Yield a row for diffusers' decoder with random weights, and for ours."""
    vae = _decoder(shape).to(device)
    side = shape.side >> (len(shape.channels) - 1)
    latents = torch.randn(1, 4, side, side, generator=torch.Generator().manual_seed(0)).to(device)
    exact = vae.decode(latents, return_dict=False)[0]
    vae, latents = vae.to(dtype), latents.to(dtype)

    def error(made: Tensor) -> float:
        return _apart(made, exact)

    def decode() -> Tensor:
        return vae.decode(latents, return_dict=False)[0]  # type: ignore[no-any-return]

    def ours() -> Tensor:
        with normalizing(GroupNormSession(norms, lambda *_: None, [vae]), [vae]):
            return decode()

    yield from _rows(shape, {DIFFUSERS: decode}, error, latents, wanted)
    keep_channels_last(vae, {})
    _attend_by(attention, vae)
    yield from _rows(shape, {OURS: ours}, error, latents, wanted)


def _decoder(shape: DecodingShape) -> Any:  # noqa: ANN401  of diffusers, which has no type annotations
    from diffusers import AutoencoderKL

    torch.manual_seed(0)
    levels = len(shape.channels)
    blocks = {"down_block_types": ("DownEncoderBlock2D",) * levels, "up_block_types": ("UpDecoderBlock2D",) * levels}
    vae = AutoencoderKL(block_out_channels=shape.channels, layers_per_block=2, **blocks)
    vae.encoder, vae.quant_conv = nn.Identity(), None
    return vae.eval().requires_grad_(False)


def _attend_by(kernels: CompiledAttention, vae: nn.Module) -> None:
    from mezzotint.attention.processor import SessionProcessor

    class Attending:
        def attend(self, q: Tensor, k: Tensor, v: Tensor, masks: Masks = NO_MASKS) -> Tensor:
            return kernels(q, k, v, masks)[0]

    for module in vae.modules():
        if hasattr(module, "processor"):
            module.processor = SessionProcessor(Attending())  # type: ignore[arg-type, assignment]


def _rows(
    shape: DecodingShape,
    found: Mapping[str, Callable[[], Tensor]],
    error: Callable[[Tensor], float],
    x: Tensor,
    wanted: Wanted,
) -> Iterator[DecodingRow]:
    for name, make in found.items():
        if not wanted(shape.name, name):
            continue
        apart = time = problem = None
        try:
            apart = error(make())
            time = milliseconds([make], x.device, captured=False)
        except (Unsupported, LaunchFailed, RuntimeError) as failure:
            problem = str(failure).strip().partition("\n")[0][:200]
        yield DecodingRow(
            shape=shape.name,
            dtype=str(x.dtype).removeprefix("torch."),
            implementation=name,
            milliseconds=time,
            error=apart,
            problem=problem,
            device=torch.cuda.get_device_name(x.device) if x.device.type == "cuda" else x.device.type,
            torch=torch.__version__,
        )


def _apart(made: Tensor, exact: Tensor) -> float:
    exact = exact.double()
    return float((made.double() - exact).norm() / exact.norm())

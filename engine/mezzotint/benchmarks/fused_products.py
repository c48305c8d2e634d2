"""Benchmark of what our kernels compute around products.

Modulated norms and GroupNorm are measured beside a copy of as many bytes, products joined or with gate and residual and
convolutions beside the same in torch in 16 bits.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from mezzotint.benchmarks.product_peers import LINEAR, Run
from mezzotint.benchmarks.product_shapes import (
    FUSED,
    JOINED,
    ConvolutionShape,
    ImageShape,
    LinearShape,
    ProductShape,
    RowsShape,
)
from mezzotint.benchmarks.products import CHECKED, COPY, Checked, ProductRow, copies_of, inputs_for, timed
from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.normalization.reference import group_norm_reference
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.fusion.around import Around, Ending, Norm
from mezzotint.quantization.layers import QuantizedConv2d
from mezzotint.quantization.linear import Heads, JoinedWeight, QuantizedWeight
from mezzotint.quantization.products.compiled import CompiledLinear
from mezzotint.quantization.products.convolutions import CompiledConvolution
from mezzotint.quantization.random_weights import random_quantized_weight
from mezzotint.quantization.rotation import best_group

ROWS, PRODUCT, GROUP_NORM = "mezzotint rows", "mezzotint int8", "mezzotint group norm"
CONVOLUTION, PLAIN_CONVOLUTION = "mezzotint int8 convolution", "torch convolution"
_OURS: Mapping[type, str] = {
    LinearShape: PRODUCT,
    RowsShape: ROWS,
    ImageShape: GROUP_NORM,
    ConvolutionShape: CONVOLUTION,
}
_HEAD, _PARTS, _EPSILON = 128, 3, 1e-6
_GROUPS = 32  # of channels
_PIXELS = Int8(dynamic=False, pixels=True)
Draw = Callable[..., Tensor]


def measure_fused(
    device: torch.device,
    dtype: torch.dtype,
    kernels: CompiledLinear,
    norms: CompiledGroupNorm,
    wanted: Callable[[str, str], bool],
    shapes: Sequence[ProductShape] = FUSED,
) -> Iterator[ProductRow]:
    """Yield a row per shape and wanted implementation as it is measured, the peer first."""
    for shape in shapes:
        calls = _Calls(shape, device, dtype, kernels, norms)
        count = inputs_for(shape.bytes if isinstance(shape, RowsShape) else shape.numbers, device)
        beside: float | None = None
        for name, make in calls.by_name(count).items():
            if wanted(shape.name, name):
                row = timed(shape, name, device, dtype, make, beside)
                beside = row.milliseconds if beside is None else beside
                yield row


def one_call(
    shape: ProductShape, device: torch.device, dtype: torch.dtype, kernels: CompiledLinear, norms: CompiledGroupNorm
) -> Checked:
    """Our call on random numbers of this shape."""
    return _Calls(shape, device, dtype, kernels, norms).by_name(1)[_OURS[type(shape)]]()[0]


class _Calls:
    """Calls on random numbers of one shape."""

    def __init__(
        self,
        shape: ProductShape,
        device: torch.device,
        dtype: torch.dtype,
        kernels: CompiledLinear,
        norms: CompiledGroupNorm,
    ) -> None:
        self._generator = torch.Generator(device).manual_seed(0)
        self._shape, self._dtype, self._kernels, self._norms = shape, dtype, kernels, norms

    def by_name(self, count: int) -> Mapping[str, Callable[[], Sequence[Checked]]]:
        """Calls of each implementation on `count` inputs, the peer first."""
        shape, draw = self._shape, self._draw
        if isinstance(shape, RowsShape):
            copies = partial(copies_of, shape.bytes, count, self._generator.device)
            if isinstance(shape, ImageShape):
                return {COPY: copies, GROUP_NORM: lambda: [_normalized(shape, draw, self._norms) for _ in range(count)]}
            return {COPY: copies, ROWS: lambda: [_modulated(shape, draw, self._kernels) for _ in range(count)]}
        if isinstance(shape, ConvolutionShape):
            made = [_convolved(shape, draw, self._kernels) for _ in range(count)]
            return {PLAIN_CONVOLUTION: lambda: [x for x, _ in made], CONVOLUTION: lambda: [x for _, x in made]}
        make = _joined if shape.name == JOINED.name else _gated
        pairs = [make(shape, draw, self._generator, self._kernels) for _ in range(count)]
        return {LINEAR: lambda: [peer for peer, _ in pairs], PRODUCT: lambda: [ours for _, ours in pairs]}

    def _draw(self, *size: int) -> Tensor:
        generator = self._generator
        return torch.randn(size, generator=generator, device=generator.device).to(self._dtype)


def _modulated(shape: RowsShape, draw: Draw, kernels: CompiledLinear) -> Checked:
    """Rows that are normalized, modulated, rotated and rounded."""
    x, columns = draw(shape.rows, shape.columns), shape.columns
    module = nn.LayerNorm(columns, eps=_EPSILON, elementwise_affine=False)
    norm = Norm(module=module, gain=draw(1, 1, columns), shift=draw(1, 1, columns))
    return Checked(lambda: kernels.quantize(x, columns, best_group(columns), shape.preparation, norm=norm).values)


def _normalized(shape: ImageShape, draw: Draw, norms: CompiledGroupNorm) -> Checked:
    """GroupNorm and SiLU of images in channels_last."""
    channels, pixels = shape.columns, shape.rows // shape.batch
    images = draw(shape.batch, channels, pixels, 1).to(memory_format=torch.channels_last)
    weight, bias = draw(channels), draw(channels)

    def run() -> Tensor:
        return norms(images, _GROUPS, weight, bias, _EPSILON, silu=True)

    return Checked(run, lambda: group_norm_reference(images, _GROUPS, weight, bias, _EPSILON, silu=True)[:CHECKED])


def _convolved(shape: ConvolutionShape, draw: Draw, kernels: CompiledLinear) -> tuple[Checked, Checked]:
    """A convolution by torch in 16 bits, and by ours with 8-bit pixels, rounding counted."""
    sizes = shape.batch, shape.columns, shape.rows // shape.batch // shape.width, shape.width
    x, plain = (
        draw(*size).to(memory_format=torch.channels_last) for size in (sizes, (shape.outputs, shape.columns, 3, 3))
    )
    layer = QuantizedConv2d(_PIXELS, nn.Conv2d(shape.columns, shape.outputs, 3, padding=1, device="meta", bias=False))
    tensors = _PIXELS.quantize(plain)
    layer.set_tensors(tensors | {"weight": tensors["weight"].contiguous(memory_format=torch.channels_last)})
    convolve, images = CompiledConvolution(kernels.library), -(-CHECKED * shape.batch // shape.rows)

    def rows(y: Tensor) -> Tensor:
        return y.permute(0, 2, 3, 1).flatten(0, 2)

    def exact() -> Tensor:
        return rows(functional.conv2d(x[:images].float(), plain.float(), padding=1))[:CHECKED]

    theirs = Checked(lambda: rows(functional.conv2d(x, plain, padding=1)), exact)
    return theirs, Checked(lambda: rows(convolve(x, layer.weight, None, layer)), exact)


def _weight(shape: tuple[int, int], generator: torch.Generator) -> QuantizedWeight:
    return random_quantized_weight(Int8(dynamic=True, group=best_group(shape[1])), shape, generator)


def _pair(plain: Callable[[Tensor, Tensor], Tensor], weight: Tensor, x: Tensor, ours: Run) -> tuple[Checked, Checked]:
    """Torch's in 16 bits and ours, compared with the first rows in float32."""

    def exact() -> Tensor:
        return plain(x[:CHECKED].float(), weight.float())

    return Checked(partial(plain, x, weight), exact), Checked(ours, exact)


def _gated(
    shape: LinearShape, draw: Draw, generator: torch.Generator, kernels: CompiledLinear
) -> tuple[Checked, Checked]:
    """A residual plus a gate times the product."""
    n, weight = shape.outputs, _weight((shape.outputs, shape.columns), generator)
    x, residual, gate = draw(shape.rows, shape.columns), draw(1, shape.rows, n), draw(1, 1, n)
    around = Around(ending=Ending(residual=residual, gate=gate))

    def plain(x: Tensor, weight: Tensor) -> Tensor:
        return residual[0, : len(x)] + gate[0] * functional.linear(x, weight)

    return _pair(plain, weight.dequantized(x.dtype), x, lambda: kernels(x[None], weight, around=around)[0])


def _joined(
    shape: LinearShape, draw: Draw, generator: torch.Generator, kernels: CompiledLinear
) -> tuple[Checked, Checked]:
    """Queries, keys and values, the former two normalized by head and rotated."""
    size = (shape.outputs // _PARTS, shape.columns)
    parts = tuple(_weight(size, generator) for _ in range(_PARTS))
    x, angles = draw(shape.rows, shape.columns), draw(shape.rows, _HEAD // 2).float()
    heads = Heads(
        size=_HEAD,
        parts=(True, True, False),
        norms=(None,) * _PARTS,
        epsilon=_EPSILON,
        rotations=torch.stack([angles.cos(), angles.sin()], dim=-1),
    )
    joined = JoinedWeight(
        format=parts[0].format,
        tensors={},
        shape=torch.Size((shape.outputs, shape.columns)),
        parts=parts,
        biases=(None,) * _PARTS,
        heads=heads,
    )
    turns = torch.polar(torch.ones_like(angles), angles)[:, None]

    def plain(x: Tensor, weight: Tensor) -> Tensor:
        q, k, v = (
            part.view(len(x), -1, _HEAD) for part in functional.linear(x, weight).view(len(x), _PARTS, -1).unbind(1)
        )
        q, k = (_rotated(functional.rms_norm(each, (_HEAD,), eps=_EPSILON), turns[: len(x)]) for each in (q, k))
        return torch.cat([q, k, v], dim=1).flatten(1)

    whole = torch.cat([each.dequantized(x.dtype) for each in parts])
    return _pair(plain, whole, x, lambda: kernels(x[None], joined)[0])


def _rotated(heads: Tensor, turns: Tensor) -> Tensor:
    pairs = torch.view_as_complex(heads.float().view(*heads.shape[:-1], -1, 2)) * turns
    return torch.view_as_real(pairs).flatten(-2).to(heads.dtype)

"""Benchmark of our quantized products against torch's in 16 bits, and of row quantization against a copy.

Needs only torch. Run by `mezzotint bench linear`, and by `make gpu-check` on GPUs.
"""

import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.attention.stopwatch import milliseconds
from mezzotint.benchmarks.attention import Filter
from mezzotint.benchmarks.product_peers import LINEAR, Run, peers
from mezzotint.benchmarks.product_shapes import SHAPES, LinearShape, ProductShape, RowsShape
from mezzotint.dispatch.library import (
    Activation,
    BlockScaledLibrary,
    LaunchFailed,
    Preparation,
    Unavailable,
    Unsupported,
    open_installed,
)
from mezzotint.quantization.block_floats import Mxfp8, Nvfp4
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import Format, Int4, Int8, LowRank4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.fusion.around import Around, activated
from mezzotint.quantization.int8 import quantize_rows
from mezzotint.quantization.linear import Branch, QuantizedWeight, join_branches, linear
from mezzotint.quantization.products.block_scaled import BlockScaledLinear
from mezzotint.quantization.products.compiled import CompiledLinear
from mezzotint.quantization.products.joined import gated_weight, rows_of
from mezzotint.quantization.random_weights import random_quantized_weight
from mezzotint.quantization.rotation import best_group, rotate
from mezzotint.quantization.svdquant.format import SvdQuant

INT8, _WITH_LORAS, _GATED = "int8", "int8, 3 LoRAs", "int8, gated"
_KINDS = (INT8, _WITH_LORAS, "int4-lowrank", "int4-codebook", "int4-rot", "svdquant", "fp8", _GATED)
OURS = tuple(f"mezzotint {kind}" for kind in _KINDS)
REFERENCE = tuple(f"torch {kind}" for kind in _KINDS)
BLOCK_SCALED: Mapping[str, Format] = {"mezzotint mxfp8": Mxfp8(), "mezzotint nvfp4": Nvfp4()}
COPY = "copy"
_LORAS, _RANK = 3, 16
CHECKED = 64  # number of rows whose results are checked
_MOST_INPUTS, _CACHE_BYTES = 24, 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductRow:
    """One implementation on one shape."""

    group: str
    shape: str
    rows: int
    columns: int
    outputs: int | None  # None: row quantization only, without a product
    dtype: str
    implementation: str
    milliseconds: float | None  # median of one call; None: not supported
    tops: float | None  # 2 m k n over the time; None for rows
    gigabytes: float | None  # for rows: GB read and written per second
    ratio: float | None  # speedup over torch in 16 bits, or for rows over a copy: above 1 is faster
    with_loras: float | None  # time with LoRAs relative to that without
    error: float | None  # relative RMS error against float32
    problem: str | None
    device: str
    torch: str


@dataclass(frozen=True, slots=True)
class _Operands:
    """A layer's weights and its input."""

    x: Tensor
    weights: Mapping[str, QuantizedWeight]  # by scheme
    loras: Branch
    weight: Tensor  # that of int8, dequantized to x's dtype


def measure(
    shapes: Sequence[ProductShape],
    device: torch.device,
    dtype: torch.dtype,
    kernels: CompiledLinear | None,
    wanted: Filter | None = None,
) -> Iterator[ProductRow]:
    """Yield a row per shape and wanted implementation as it is measured, peers first."""
    for shape in shapes:
        with torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext():
            if isinstance(shape, LinearShape):
                yield from _of_linear(shape, device, dtype, kernels, partial(wanted or _everything, shape.name))
            else:
                yield from _of_rows(shape, device, dtype, kernels, partial(wanted or _everything, shape.name))


def _everything(shape: str, name: str) -> bool:
    del shape, name
    return True


def measure_products(
    shape: LinearShape,
    found: Mapping[str, tuple[str, CompiledLinear]],
    device: torch.device,
    dtype: torch.dtype,
    wanted: Filter,
) -> Iterator[ProductRow]:
    """Yield a row for each wanted kernel; `found` maps names to schemes and kernels."""
    operands: list[_Operands] = []
    for name, (scheme, kernels) in found.items():
        if wanted(shape.name, name):
            operands = operands or _operands(shape, device, dtype)
            runs = _ours(operands, kernels, scheme)
            yield timed(shape, name, device, dtype, partial(list, runs), None)


def _of_linear(
    shape: LinearShape,
    device: torch.device,
    dtype: torch.dtype,
    kernels: CompiledLinear | None,
    wanted: Callable[[str], bool],
) -> Iterator[ProductRow]:
    operands = functools.cache(partial(_operands, shape, device, dtype))
    plain: float | None = None
    for name, prepare in peers(device):
        if wanted(name):
            row = timed(shape, name, device, dtype, partial(_by_peer, prepare, operands()), plain)
            plain = row.milliseconds if name == LINEAR else plain
            yield row
    without: float | None = None
    names = OURS if kernels is not None else REFERENCE
    for kind, name in zip(_KINDS, names, strict=True):
        if not wanted(name):
            continue
        row = timed(shape, name, device, dtype, partial(_ours, operands(), kernels, kind), plain)
        if kind == INT8:
            without = row.milliseconds
        if kind == _WITH_LORAS and row.milliseconds is not None and without is not None:
            row = dataclasses.replace(row, with_loras=row.milliseconds / without)
        yield row
    for name, format_ in BLOCK_SCALED.items():
        blocks = None if kernels is None else _block_scaled_kernels(kernels, format_, device, dtype)
        if blocks is not None and wanted(name):
            yield timed(shape, name, device, dtype, partial(_block_scaled, operands(), format_, blocks), plain)


@dataclass(frozen=True, slots=True)
class Checked:
    """A call, and a function for the exact values of its first rows; None if they are not comparable."""

    run: Run
    exact: Run | None = None


def _by_peer(prepare: Callable[[Tensor, Tensor], Run], operands: Sequence[_Operands]) -> list[Checked]:
    try:
        return [Checked(prepare(each.x, each.weight), partial(_exact, each, each.weights[INT8])) for each in operands]
    except (ImportError, AttributeError, TypeError) as error:  # incompatible version
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


def _ours(operands: Sequence[_Operands], kernels: CompiledLinear | None, kind: str) -> list[Checked]:
    """Calls of that kind by the kernels, or else by torch."""

    def call(given: _Operands, weight: QuantizedWeight, loras: Branch | None) -> Checked:
        def run() -> Tensor:
            if kernels is not None:
                return kernels(given.x, weight, None, loras)
            return linear(given.x, weight, None, () if loras is None else (loras,))

        return Checked(run, partial(_exact, given, weight, loras))

    if kind == _GATED:
        return [_gated(each, kernels) for each in operands]
    if kind == _WITH_LORAS:
        return [call(each, each.weights[INT8], each.loras) for each in operands]
    return [call(each, each.weights[kind], None) for each in operands]


def _gated(given: _Operands, kernels: CompiledLinear | None) -> Checked:
    """A gated linear unit with the layer's rows as those of value and gate."""
    weight, around = given.weights[INT8], Around(activation=Activation.GATED_SILU)
    unit = gated_weight(*rows_of((weight, None), *[weight.shape[0] // 2] * 2))

    def gated(y: Tensor) -> Tensor:
        return activated(*y.chunk(2, dim=-1), activation=around.activation)

    def run() -> Tensor:
        return gated(linear(given.x, weight)) if kernels is None else kernels(given.x, unit, around=around)

    return Checked(run, lambda: gated(_exact(given, weight)))


def _block_scaled_kernels(
    kernels: CompiledLinear, format_: Format, device: torch.device, dtype: torch.dtype
) -> BlockScaledLinear | None:
    """The kernels of a block-scaled format; None where the device does not multiply such numbers."""
    if not isinstance(kernels.library, BlockScaledLibrary):
        return None
    multiply = BlockScaledLinear(kernels.library)
    weight = random_quantized_weight(format_, (8, 128), torch.Generator(device).manual_seed(0))
    try:
        multiply(torch.zeros(1, 128, device=device, dtype=dtype), weight)
    except Unsupported:
        return None
    return multiply


def _block_scaled(operands: Sequence[_Operands], format_: Format, multiply: BlockScaledLinear) -> list[Checked]:
    """Calls with weights of a block-scaled format."""
    size, device = (operands[0].weight.shape[0], operands[0].weight.shape[1]), operands[0].x.device
    generator = torch.Generator(device).manual_seed(0)
    weights = [random_quantized_weight(format_, size, generator) for _ in operands]
    pairs = zip(operands, weights, strict=True)
    return [Checked(partial(multiply, each.x, weight), partial(_exact, each, weight)) for each, weight in pairs]


def _exact(given: _Operands, weight: QuantizedWeight, loras: Branch | None = None) -> Tensor:
    x = given.x[:CHECKED].float()
    out = functional.linear(x, weight.dequantized(torch.float32))
    return out if loras is None else out + x @ loras.down.float().T @ loras.up.float().T


def _of_rows(
    shape: RowsShape,
    device: torch.device,
    dtype: torch.dtype,
    kernels: CompiledLinear | None,
    wanted: Callable[[str], bool],
) -> Iterator[ProductRow]:
    generator = torch.Generator(device).manual_seed(0)
    size = (shape.rows, shape.given)
    xs = [
        torch.randn(size, generator=generator, device=device).to(dtype) for _ in range(inputs_for(shape.bytes, device))
    ]
    copies = copies_of(shape.bytes, len(xs), device)
    beside: float | None = None
    if wanted(COPY):
        copy = timed(shape, COPY, device, dtype, lambda: copies, None)
        beside = copy.milliseconds
        yield copy
    group = best_group(shape.columns)
    name = "torch rows" if kernels is None else "mezzotint rows"
    runs = [Checked(_rows_run(x, shape, group, kernels)) for x in xs]
    if wanted(name):
        yield timed(shape, name, device, dtype, lambda: runs, beside)


def copies_of(size: int, count: int, device: torch.device) -> list[Checked]:
    """Calls that copy so much that `size` bytes are read and written."""
    pairs = [[torch.empty(size // 2, dtype=torch.uint8, device=device) for _ in range(2)] for _ in range(count)]
    return [Checked(partial(to.copy_, given)) for to, given in pairs]


def _rows_run(x: Tensor, shape: RowsShape, group: int, kernels: CompiledLinear | None) -> Run:
    if kernels is not None:
        return lambda: kernels.quantize(x, shape.columns, group, shape.preparation).values
    return lambda: quantize_rows(rotate(_prepared(x.float(), shape.preparation), group))[0]


def _prepared(x: Tensor, preparation: Preparation) -> Tensor:
    if preparation is Preparation.LAYER_NORM:
        return functional.layer_norm(x, x.shape[-1:], eps=1e-6)
    if preparation is Preparation.GELU_TANH:
        return functional.gelu(x, approximate="tanh")
    if preparation is Preparation.GEGLU:
        a, b = x.chunk(2, dim=-1)
        return a * functional.gelu(b)
    return x


def inputs_for(size: int, device: torch.device) -> int:
    """Number of inputs that exceeds the device's cache, so that each call reads from memory."""
    if device.type != "cuda":
        return 2
    cache = 2 * int(getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0)) or _CACHE_BYTES
    return min(_MOST_INPUTS, 1 + cache // size)


def _operands(shape: LinearShape, device: torch.device, dtype: torch.dtype) -> list[_Operands]:
    generator = torch.Generator(device).manual_seed(0)
    size, group = (shape.outputs, shape.columns), best_group(shape.columns)

    def draw(*size: int) -> Tensor:
        return torch.randn(size, generator=generator, device=device)

    def one() -> _Operands:
        weights = {each.scheme: random_quantized_weight(each, size, generator) for each in _formats(group)}
        loras = [
            Branch(down=draw(_RANK, shape.columns) / shape.columns**0.5, up=draw(shape.outputs, _RANK) / 10, scale=0.5)
            for _ in range(_LORAS)
        ]
        one_branch = join_branches(loras)
        assert one_branch is not None  # noqa: S101  there are three
        return _Operands(
            x=draw(shape.rows, shape.columns).to(dtype),
            weights=weights,
            loras=Branch(down=one_branch.down.to(dtype), up=one_branch.up.to(dtype)),
            weight=weights[INT8].dequantized(dtype),
        )

    return [one() for _ in range(inputs_for(shape.numbers, device))]


def _formats(group: int) -> tuple[Format, ...]:
    return (
        Int8(dynamic=True, group=group),
        LowRank4(group=group),
        Codebook4(group=group),
        Int4(group=group),
        SvdQuant(group=group),
        Fp8(by_rows=True, inputs="quantized"),
    )


def timed(
    shape: ProductShape,
    name: str,
    device: torch.device,
    dtype: torch.dtype,
    prepare: Callable[[], Sequence[Checked]],
    beside: float | None,
) -> ProductRow:
    """Run and time one implementation; `beside`: milliseconds that its ratio is to."""
    time = error = problem = None
    try:
        runs = prepare()
        error = _error(runs[0])
        if error is not None and not math.isfinite(error):
            error, problem = None, "the result contains NaN"
        time = milliseconds([each.run for each in runs], device)
    except (Unsupported, LaunchFailed, Unavailable, RuntimeError, ValueError) as failure:
        problem = str(failure).strip().partition("\n")[0][:200] or type(failure).__name__
        if device.type == "cuda":
            with contextlib.suppress(RuntimeError):  # raised again if the GPU is lost
                torch.cuda.empty_cache()
    outputs = shape.outputs if isinstance(shape, LinearShape) else None
    return ProductRow(
        group=shape.group,
        shape=shape.name,
        rows=shape.rows,
        columns=shape.columns,
        outputs=outputs,
        dtype=str(dtype).removeprefix("torch."),
        implementation=name,
        milliseconds=time,
        tops=shape.operations / time / 1e9 if isinstance(shape, LinearShape) and time is not None else None,
        gigabytes=shape.bytes / time / 1e6 if isinstance(shape, RowsShape) and time is not None else None,
        ratio=None if time is None or beside is None else beside / time,
        with_loras=None,
        error=error,
        problem=problem,
        device=torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        torch=torch.__version__,
    )


def _error(checked: Checked) -> float | None:
    found = checked.run()
    if checked.exact is None or not found.is_floating_point():
        return None
    exact = checked.exact()
    return float((found[:CHECKED].float() - exact).norm() / exact.norm())


def choose(groups: Sequence[str], device: torch.device) -> list[ProductShape]:
    """Return the shapes of these groups, by default all; on a CPU, small variants of them."""
    chosen = [shape for shape in SHAPES if not groups or shape.group in groups]
    return chosen if device.type == "cuda" else [shape.small() for shape in chosen]


def kernels_for(device: torch.device) -> tuple[CompiledLinear | None, str | None]:
    """Return our kernels, or the reason why they are not measured."""
    try:
        kernels = CompiledLinear(open_installed())
    except Unavailable as error:
        return None, str(error)
    if kernels.device_type != device.type:
        return None, f"our kernels run on {kernels.device_type}, and this device is {device}"
    return kernels, None

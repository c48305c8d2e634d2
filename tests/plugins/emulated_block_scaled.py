"""Kernels of block-scaled numbers on the emulator: their operands, and what they are compared with."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import emulated_linear
import emulated_quantize
import torch
from emulated_linear import CODES, Report, judge
from emulator_build import Conditions
from quantize_reference import prepare

from mezzotint_kernels.abi import Preparation
from mezzotint_kernels.block_scaled_abi import BlockFormat, BlockScaledLinearArgs, BlockScaledQuantizeArgs

BLOCK = {BlockFormat.MXFP8: 32, BlockFormat.NVFP4: 16}
BITS = {BlockFormat.MXFP8: 8, BlockFormat.NVFP4: 4}
E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
LARGEST_E4M3, LARGEST_E2M1 = 448.0, 6.0
TINY = torch.finfo(torch.float32).tiny
ONE = {BlockFormat.MXFP8: (0x38, 127), BlockFormat.NVFP4: (0x20, 0x38)}  # the first number of a byte, and a scale
FAINT = 1e-12  # activations of numbers far below zero
MOST_DIFFERING = 0.002  # of numbers, where values before rounding differ by float32 errors


def numbers(codes: torch.Tensor, format_: BlockFormat) -> torch.Tensor:
    """Return the float32 numbers `(m, n)` of bytes, before their scales."""
    if format_ is BlockFormat.MXFP8:
        return codes.view(torch.float8_e4m3fn).float()
    wide = codes.to(torch.int64) & 255
    return torch.stack((E2M1[wide >> 4], E2M1[wide & 15]), dim=2).flatten(1)


def block_scales(scales: torch.Tensor, format_: BlockFormat) -> torch.Tensor:
    """Return the float32 values of bytes that are scales."""
    if format_ is BlockFormat.MXFP8:
        return torch.exp2(scales.float() - 127)
    return scales.view(torch.float8_e4m3fn).float()


def dequantized(codes: torch.Tensor, scales: torch.Tensor, format_: BlockFormat) -> torch.Tensor:
    """Return the float64 numbers `(m, n)` with the scales of their blocks."""
    by = block_scales(scales, format_).double().repeat_interleave(BLOCK[format_], dim=1)
    return numbers(codes, format_).double() * by


def quantized(x: torch.Tensor, format_: BlockFormat) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return bytes, scales of blocks and scales of rows for float32 `x`, in plain torch."""
    if format_ is BlockFormat.MXFP8:
        return (*_mxfp8(x), torch.ones(x.shape[0]))
    largest = x.abs().amax(dim=1, keepdim=True)
    row_scales = (largest / (LARGEST_E2M1 * LARGEST_E4M3)).clamp_min(TINY).masked_fill(largest == 0, 1)
    blocks = (x * (1 / row_scales)).unflatten(1, (-1, BLOCK[format_]))
    scales = (blocks.abs().amax(dim=2) / LARGEST_E2M1).to(torch.float8_e4m3fn)
    by = (1 / scales.float()).masked_fill(scales.float() == 0, 0)
    codes = _e2m1((blocks * by.unsqueeze(2)).flatten(1))
    return codes[:, 0::2] << 4 | codes[:, 1::2], scales.view(torch.uint8), row_scales[:, 0]


def _mxfp8(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    blocks = x.unflatten(1, (-1, 32))
    mantissa, exponent = torch.frexp(blocks.abs().amax(dim=2))  # from 1/2 to 1
    needed = exponent - 9 + (mantissa > LARGEST_E4M3 / 512).int()
    scales = (needed + 127).clamp(1, 254).masked_fill(mantissa == 0, 1)
    codes = (blocks * torch.exp2(127.0 - scales).unsqueeze(2)).to(torch.float8_e4m3fn)
    return codes.flatten(1).view(torch.uint8), scales.to(torch.uint8)


def _e2m1(x: torch.Tensor) -> torch.Tensor:
    """The nearest codes, the even one of two."""
    size = x.abs().clamp_max(LARGEST_E2M1)
    values = E2M1[:8]
    low = (torch.bucketize(size, values, right=True) - 1).clamp(0, 6)
    above, below = size - values[low], values[low + 1] - size
    code = torch.where((above < below) | ((above == below) & (low % 2 == 0)), low, low + 1)
    return (code | x.signbit().long() << 3).to(torch.uint8)


# ---- products


@dataclass(frozen=True, slots=True, kw_only=True)
class Product(emulated_linear.Problem):
    """One product, and the emulator's behaviour; `bits` are the format's."""

    format: BlockFormat = BlockFormat.NVFP4
    row_scales: bool = True
    weight_scale: bool = True


class ProductOperands(emulated_linear.Operands):
    """A product's matrices: `x` and `codes` are the numbers that the bytes and block scales stand for."""

    problem: Product

    def __post_init__(self) -> None:
        super().__post_init__()
        problem = self.problem
        self.stored_x, self.x_block_scales = self._block_scaled(problem.rows, problem.pattern == "x")
        self.weight, self.weight_block_scales = self._block_scaled(problem.columns, problem.pattern == "weight")
        self.x = dequantized(self.stored_x, self.x_block_scales, problem.format)
        self.codes = dequantized(self.weight, self.weight_block_scales, problem.format)
        self.weight_scale = self._vector(1, torch.float32, plain=problem.pattern is not None)
        one = torch.ones(1)
        self.weight_scales = self.weight_scale if problem.weight_scale else one
        self.x_scales = self.x_scales if problem.row_scales else one

    def _block_scaled(self, rows: int, is_identity: bool) -> tuple[torch.Tensor, torch.Tensor]:
        problem = self.problem
        format_, bits = problem.format, BITS[problem.format]
        codes = self._matrix(rows, problem.depth * bits // 8, torch.uint8)
        scales = self._matrix(rows, problem.depth // BLOCK[format_], torch.uint8, step=8)
        first, last = (116, 127) if format_ is BlockFormat.MXFP8 else (32, 96)
        codes.copy_(torch.randint(0, 256, codes.shape, generator=self._lots))
        scales.copy_(torch.randint(first, last, scales.shape, generator=self._lots))
        if format_ is BlockFormat.MXFP8:
            codes.masked_fill_(codes & 127 == 127, 126)  # NaN
        if is_identity:
            one, scale = ONE[format_]
            codes.zero_()
            scales.fill_(scale)
            for row in range(min(rows, problem.depth)):
                codes[row, row * bits // 8] = one if bits == 8 or row % 2 == 0 else one >> 4
        return codes, scales

    def block_scaled_arguments(self) -> BlockScaledLinearArgs:
        """Return the argument struct of the library."""
        problem, linear = self.problem, self.arguments()
        linear.weight_bits = linear.x_bits = BITS[problem.format]
        linear.weight_scales = None
        linear.x_scales = self.x_scales.data_ptr() if problem.row_scales else None
        linear.group_scales, linear.group_scales_stride = None, 0
        return BlockScaledLinearArgs(
            format=problem.format,
            linear=linear,
            x_block_scales=self.x_block_scales.data_ptr(),
            weight_block_scales=self.weight_block_scales.data_ptr(),
            x_block_scales_stride=self.x_block_scales.stride(0),
            weight_block_scales_stride=self.weight_block_scales.stride(0),
            weight_scale=self.weight_scale.data_ptr() if problem.weight_scale else None,
        )

    def wanted(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the output in float64, and the sum of the magnitudes of its terms."""
        out, size = super().wanted()
        scales = self.x_scales.double().unsqueeze(1) * self.weight_scales.double()
        return out, size + self.x.abs() @ self.codes.abs().T * scales * (self.problem.depth / 256)


class InstanceInfo(ctypes.Structure):
    """Properties of an instance."""

    _fields_ = tuple(
        (name, ctypes.c_int32) for name in ("format", "dtype", "tile_m", "tile_n", "threads", "shared_bytes")
    )


# ---- quantization


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding(emulated_quantize.Problem):
    """One quantization, and the emulator's behaviour."""

    format: BlockFormat = BlockFormat.NVFP4


class RoundingOperands(emulated_quantize.Operands):
    """A quantization's tensors."""

    problem: Rounding

    def __post_init__(self) -> None:
        super().__post_init__()
        problem = self.problem
        self.values = self._matrix(problem.rows, problem.columns * BITS[problem.format] // 8, torch.int8)
        count = problem.columns // BLOCK[problem.format]
        self.block_scales = self._matrix(problem.rows, count, torch.uint8, gap=problem.gap)

    def block_scaled_arguments(self) -> BlockScaledQuantizeArgs:
        """Return the argument struct of the library."""
        rows = self.arguments()
        rows.bits = BITS[self.problem.format]
        rows.scales = self.scales.data_ptr() if self.problem.format is BlockFormat.NVFP4 else None
        return BlockScaledQuantizeArgs(
            format=self.problem.format,
            rows=rows,
            block_scales=self.block_scales.data_ptr(),
            block_scales_stride=self.block_scales.stride(0),
        )

    def problems(self) -> list[str]:
        """Return what is not as the reference has it."""
        problem = self.problem
        prepared = prepare(self.x, self.changes()).values.float()
        codes, scales, row_scales = quantized(prepared, problem.format)
        parts = {"numbers": (self.values.view(torch.uint8), codes), "block scales": (self.block_scales, scales)}
        most = 0.0 if problem.preparation is Preparation.AS_IT_IS and not problem.rows_per_batch else MOST_DIFFERING
        found = [name for name, (ours, wanted) in parts.items() if float((ours != wanted).float().mean()) > most]
        ours = dequantized(self.values.view(torch.uint8), self.block_scales, problem.format)
        if problem.format is BlockFormat.NVFP4:
            ours = ours * self.scales.double()
            close = torch.allclose(self.scales[:, 0], row_scales, rtol=0 if most == 0 else 1e-5)
            found += [] if close else ["row scales"]
        wanted = dequantized(codes, scales, problem.format) * row_scales.double().unsqueeze(1)
        step = 2.0**-1 if problem.format is BlockFormat.NVFP4 else 2.0**-3
        allowed = step * wanted.abs() + 0.2 * _block_step(wanted) + FAINT
        found += [] if bool(((ours - wanted).abs() <= allowed).all()) else ["values"]
        return found if emulated_quantize.gaps_are_untouched(self) else [*found, "gaps"]


def _block_step(values: torch.Tensor) -> torch.Tensor:
    """Return a twelfth of the largest of each 16 numbers, for each of them: about the finest step of E2M1."""
    largest = values.abs().unflatten(1, (-1, 16)).amax(dim=2, keepdim=True)
    return (largest / 12).expand(-1, -1, 16).flatten(1)


# ---- running


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The error of a product as a multiple of the allowed error, and its counters."""

    output: float
    bank_conflicts: int
    products: int
    error: str
    out: torch.Tensor
    operands: ProductOperands


class BlockScaledEmulator:
    """The block-scaled part of a library made by build()."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self.instances: list[InstanceInfo] = []
        info = InstanceInfo()
        while self._library.emulator_block_scaled_instance(len(self.instances), ctypes.byref(info)):
            self.instances.append(info)
            info = InstanceInfo()

    def numbers(self, problem: Product) -> list[int]:
        """Return the instances that support the problem."""
        wanted = (problem.format, CODES[problem.dtype])
        return [number for number, each in enumerate(self.instances) if (each.format, each.dtype) == wanted]

    def multiply(
        self, problem: Product, number: int, spoil: Callable[[ProductOperands], object] = lambda _operands: None
    ) -> Verdict:
        """Run one instance on one problem and compare."""
        operands, report = ProductOperands(problem), Report()
        spoil(operands)
        arguments = operands.block_scaled_arguments()
        conditions = Conditions(late_copies=problem.late_copies, seed=problem.seed, stubborn=problem.stubborn)
        self._library.emulator_block_scaled_linear(
            ctypes.byref(arguments), number, ctypes.byref(conditions), ctypes.byref(report)
        )
        return Verdict(
            output=judge(operands),
            bank_conflicts=report.bank_conflicts,
            products=report.products,
            error=report.error.decode(),
            out=operands.out,
            operands=operands,
        )

    def quantize(
        self, problem: Rounding, spoil: Callable[[RoundingOperands], object] = lambda _operands: None
    ) -> tuple[RoundingOperands, str]:
        """Run one quantization; return its tensors and the emulator's error."""
        operands, report = RoundingOperands(problem), Report()
        spoil(operands)
        arguments = operands.block_scaled_arguments()
        conditions = Conditions(late_copies=1, seed=problem.seed)
        self._library.emulator_block_scaled_quantize(
            ctypes.byref(arguments), ctypes.byref(conditions), ctypes.byref(report)
        )
        return operands, report.error.decode()

    def plan(self, arguments: BlockScaledLinearArgs, multiprocessors: int, shared_bytes: int) -> tuple[int, str]:
        """Return the number of the instance that the library chooses, or -1, and the plan's text."""
        text = ctypes.create_string_buffer(240)
        number = self._library.emulator_block_scaled_plan(
            ctypes.byref(arguments), multiprocessors, shared_bytes, text, len(text)
        )
        return number, text.value.decode()

"""Stand-ins for the kernels' library on the CPU: each reads the argument structs as the real one would."""

import ctypes
import math
from typing import NoReturn

import torch
from emulated_linear import Report
from emulator_build import LEFT_OUT, Conditions, build

from mezzotint.dispatch.library import Activation, LaunchFailed, Unavailable, Unsupported
from mezzotint.quantization.codebook4 import unpack_levels
from mezzotint.quantization.fp8 import quantize_fp8_rows
from mezzotint.quantization.fusion.around import activated
from mezzotint.quantization.int4 import INPUT_SHARES, clipped_rows, pack, to_int8, unpack
from mezzotint.quantization.int8 import quantize_rows
from mezzotint.quantization.products.selection import ProductBackends
from mezzotint.quantization.rotation import rotate
from mezzotint.quantization.svdquant.groups import quantize_input_groups, scaled_groups
from mezzotint_kernels.abi import LinearArgs, PartFlags, Preparation, QuantizeArgs
from mezzotint_kernels.block_scaled_abi import BlockScaledLinearArgs, BlockScaledQuantizeArgs

FLOATS = torch.float8_e4m3fn
_DTYPES = {0: torch.float16, 1: torch.bfloat16}


class FakeProducts:
    """Computes in float32.

    It fails as `fault` says (wrong, nan, unsupported, launch, bug), after the first `after` products. `depths`, if
    given, are the only ones supported.
    """

    device_type = "cpu"

    def __init__(self, fault=None, after=0, depths=None, floats=True):
        self.floats = floats  # of 8 bits, which not all cards multiply
        self.fault, self.after, self.depths = fault, after, depths
        self.quantized, self.multiplied = [], []

    def new_quantize_arguments(self):
        return QuantizeArgs()

    def new_linear_arguments(self):
        return LinearArgs()

    def new_block_scaled_quantize_arguments(self):
        return BlockScaledQuantizeArgs()

    def new_block_scaled_linear_arguments(self):
        return BlockScaledLinearArgs()

    def quantize_block_scaled(self, arguments, device, stream):
        raise Unsupported("block-scaled numbers need 12.x")

    def multiply_block_scaled(self, arguments, device, stream):
        raise Unsupported("block-scaled numbers need 12.x")

    def quantize(self, arguments, device, stream):
        assert arguments.size == ctypes.sizeof(arguments)
        if arguments.floats and not self.floats:
            raise Unsupported("architecture 80 does not multiply floats of 8 bits")
        self.quantized.append(arguments)
        self._quantize(arguments)

    def multiply(self, arguments, device, stream):
        assert arguments.size == ctypes.sizeof(arguments)
        if self.fault == "unsupported" or (self.depths and arguments.in_columns not in self.depths):
            raise Unsupported(f"in is {arguments.in_columns}")
        self.multiplied.append(arguments)
        faulty = len(self.multiplied) > self.after
        if faulty and self.fault == "launch":
            raise LaunchFailed("the launch failed")
        if faulty and self.fault == "bug":
            raise ValueError("x_stride is 3")
        self._multiply(arguments)
        out = _matrix(arguments.out, arguments.rows, arguments.out_columns, arguments.out_stride, arguments.dtype)
        if faulty and self.fault == "nan":
            out.fill_(float("nan"))
        if faulty and self.fault == "wrong":
            out.mul_(1.1)

    def _quantize(self, a):
        x = prepared_rows(a)
        if a.scale_columns:
            self._quantize_groups(a, x)
            return
        self._round(a, rotate(x, a.group))

    @staticmethod
    def _round(a, rotated):
        if a.floats:
            values, scales = quantize_fp8_rows(rotated)
            _matrix(a.values, a.rows, a.columns, a.values_stride, FLOATS).copy_(values)
        elif a.bits == 4:
            codes, scales = clipped_rows(rotated, INPUT_SHARES)
            _matrix(a.values, a.rows, a.columns // 2, a.values_stride, torch.uint8).copy_(pack(codes))
        else:
            values, scales = quantize_rows(rotated)
            _matrix(a.values, a.rows, a.columns, a.values_stride, torch.int8).copy_(values)
        _matrix(a.scales, a.rows, 1, 1, torch.float32).copy_(scales)

    @staticmethod
    def _quantize_groups(a, x):
        assert (a.scale_columns, a.bits, a.preparation) == (64, 4, Preparation.AS_IT_IS)
        smooth = _matrix(a.smooth, 1, a.columns, a.columns, torch.float32) if a.smooth else 1
        codes, scales = quantize_input_groups(rotate(x * smooth, a.group))
        _matrix(a.values, a.rows, a.columns // 2, a.values_stride, torch.uint8).copy_(pack(codes))
        _matrix(a.scales, a.columns // 64, a.rows, a.scales_stride, torch.float32).copy_(scales)

    @staticmethod
    def _product(a, x, weight):
        """Integers times their scales, by row or by group."""
        if a.x_group_scales:
            given = (a.x_group_scales, a.rows, a.x_group_scales_stride, torch.float32, x)
            fixed = (a.weight_group_scales, a.out_columns, a.weight_group_scales_stride, torch.float16, weight)
            groups = a.in_columns // 64
            left, right = (
                scaled_groups(codes, _matrix(pointer, groups, count, stride, dtype))
                for pointer, count, stride, dtype, codes in (given, fixed)
            )
            return left @ right.T
        shared = 1 if a.shares_weight_scale else a.out_columns
        scales = [
            _matrix(each, size, 1, 1, torch.float32) for each, size in ((a.x_scales, a.rows), (a.weight_scales, shared))
        ]
        return (x.double() @ weight.double().T).float() * scales[0] * scales[1].T

    def _multiply(self, a):
        n = a.out_columns
        if a.part_count:
            _matrix(a.out, a.rows, n, a.out_stride, a.dtype).copy_(self._joined(a))
            return
        out = _convolved(a) if a.image_height else self._product(a, *self._sides(a))
        if a.bias:
            out += _matrix(a.bias, 1, n, n, a.dtype).float()
        if a.rank:
            thin = _matrix(a.branch_x, a.rows, a.rank, a.branch_x_stride, a.dtype).float()
            out += thin @ _matrix(a.branch_up, n, a.rank, a.branch_up_stride, a.dtype).float().T
        out = activated(out, activation=Activation(a.activation))
        if a.gate:
            out *= _of_batches(a, a.gate, n, a.gate_stride)
        if a.residual:
            out += _matrix(a.residual, a.rows, n, a.residual_stride, a.dtype).float()
        _matrix(a.out, a.rows, n, a.out_stride, a.dtype).copy_(out)

    def _sides(self, a):
        """The numbers of x and weight."""
        depth, n = a.in_columns, a.out_columns
        if a.floats:
            x = _matrix(a.x, a.rows, depth, a.x_stride, FLOATS)
            weight = _matrix(a.weight, n, depth, a.weight_stride, FLOATS)
        elif a.x_bits == 4:
            assert a.weight_bits == 4 and not a.group_scales
            x = unpack(_matrix(a.x, a.rows, depth // 2, a.x_stride, torch.uint8))
            weight = unpack(_matrix(a.weight, n, depth // 2, a.weight_stride, torch.uint8))
        else:
            x, weight = _matrix(a.x, a.rows, depth, a.x_stride, torch.int8), self._weight(a)
        return x, weight

    @staticmethod
    def _joined(a):
        """The outputs of several layers; the heads of some normalized and rotated."""
        assert a.weight_bits == a.x_bits == 8 and not (a.rank or a.gate or a.residual)
        gated = a.activation >= Activation.GATED_GELU
        assert sum(part.out_columns for part in a.parts) == a.out_columns * (1 + gated)
        x = _matrix(a.x, a.rows, a.in_columns, a.x_stride, torch.int8).double()
        x_scales = _matrix(a.x_scales, a.rows, 1, 1, torch.float32)
        found = []
        for part in a.parts[: a.part_count]:
            count = part.out_columns
            weight = _matrix(part.weight, count, a.in_columns, a.weight_stride, torch.int8).double()
            out = (x @ weight.T).float() * x_scales * _matrix(part.weight_scales, count, 1, 1, torch.float32).T
            if part.bias:
                out += _matrix(part.bias, 1, count, count, a.dtype).float()
            found.append(_of_heads(out, a, part) if part.flags else out)
        return activated(*found, activation=Activation(a.activation)) if gated else torch.cat(found, dim=1)

    @staticmethod
    def _weight(a):
        depth, n = a.in_columns, a.out_columns
        if a.weight_bits == 8:
            return _matrix(a.weight, n, depth, a.weight_stride, torch.int8)
        packed = _matrix(a.weight, n, depth // 2, a.weight_stride, torch.uint8)
        if a.codebook:
            scales = _matrix(a.group_scales, n, depth // 16, a.group_scales_stride, torch.uint8)
            codebook = _matrix(a.codebook, 1, 16, 16, torch.float32)[0]
            scales = scales.view(torch.float8_e4m3fn)
            return unpack_levels({"weight": packed, "weight_group_scale": scales, "weight_codebook": codebook})
        return to_int8(packed, _matrix(a.group_scales, n, depth // 64, a.group_scales_stride, torch.uint8))


class EmulatedProducts(FakeProducts):
    """Runs the actual kernels on the emulator: those with the smallest tiles."""

    def __init__(self, library=None):
        super().__init__()
        self._library = ctypes.CDLL(str(library or build(left_out=LEFT_OUT)))

    def _quantize(self, a):
        report = Report()
        self._library.emulator_quantize(ctypes.byref(a), ctypes.byref(Conditions(late_copies=1)), ctypes.byref(report))
        assert not report.error, report.error

    def _multiply(self, a):
        plan, report = _Plan(), Report()
        self._library.emulator_linear_plan(ctypes.byref(a), 89 if a.floats else 80, 108, 99 * 1024, ctypes.byref(plan))
        assert plan.supported, plan.text
        conditions = Conditions(late_copies=1, tiles_per_block=plan.splits)
        self._library.emulator_linear(ctypes.byref(a), plan.kernel, ctypes.byref(conditions), ctypes.byref(report))
        assert not report.error, report.error


class EmulatedBlackwell(EmulatedProducts):
    """On a GPU that multiplies block-scaled numbers, too."""

    def __init__(self, library=None):
        super().__init__(library)
        self.block_scaled = []  # formats of the products

    def quantize_block_scaled(self, arguments, device, stream):
        assert arguments.size == ctypes.sizeof(arguments)
        self._run(self._library.emulator_block_scaled_quantize, arguments)

    def multiply_block_scaled(self, arguments, device, stream):
        text = ctypes.create_string_buffer(240)
        number = self._library.emulator_block_scaled_plan(ctypes.byref(arguments), 170, 99 * 1024, text, len(text))
        if number < 0:
            raise Unsupported(text.value.decode())
        self.block_scaled.append(arguments.format)
        self._run(self._library.emulator_block_scaled_linear, arguments, number)

    @staticmethod
    def _run(function, arguments, *more):
        report = Report()
        function(ctypes.byref(arguments), *more, ctypes.byref(Conditions(late_copies=1)), ctypes.byref(report))
        assert not report.error, report.error


class _Plan(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int32) for name in ("supported", "kernel", "shared_bytes")),
        ("text", ctypes.c_char * 240),
        ("splits", ctypes.c_int32),
    )


def prepared_rows(a):
    """Rows of x after its preparation, norm and modulation, before rotation and rounding, float32."""
    given = a.columns * (2 if a.preparation == Preparation.GEGLU else 1)
    x = _matrix(a.x, a.rows, given, a.x_stride, a.dtype).float()
    match a.preparation:
        case Preparation.LAYER_NORM:
            x = torch.nn.functional.layer_norm(x, (a.columns,), eps=a.epsilon)
        case Preparation.RMS_NORM:
            x = torch.nn.functional.rms_norm(x, (a.columns,), eps=a.epsilon)
        case Preparation.GELU_TANH:
            x = torch.nn.functional.gelu(x, approximate="tanh")
        case Preparation.GEGLU:
            left, right = x.chunk(2, dim=1)
            x = left * 0.5 * right * (1 + torch.erf(right * math.sqrt(0.5)))
    if a.norm_weight:
        x = x * _matrix(a.norm_weight, 1, a.columns, a.columns, a.dtype).float()
    if a.norm_bias:
        x = x + _matrix(a.norm_bias, 1, a.columns, a.columns, a.dtype).float()
    if a.gain:
        x = x * (1 + _of_batches(a, a.gain, a.columns, a.modulation_stride))
        x = x + _of_batches(a, a.shift, a.columns, a.modulation_stride)
    return x


def _matrix(pointer, rows, columns, stride, dtype):
    dtype = _DTYPES.get(dtype, dtype)
    count = (rows - 1) * stride + columns
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(pointer)
    return torch.frombuffer(memory, dtype=dtype).as_strided((rows, columns), (stride, 1))


def pixels_of(a):
    """How many pixels of x a convolution has, and how many images."""
    out = [(side - 1) // a.image_stride + 1 for side in (a.image_height, a.image_width)]
    images = a.rows // (out[0] * out[1])
    return images * a.image_height * a.image_width, images


def _convolved(a):
    """A convolution of 3x3 of pixels with a scale each, as rows."""
    count, images = pixels_of(a)
    pixels = _matrix(a.x, count, a.in_columns, a.x_stride, torch.int8) * _matrix(a.x_scales, count, 1, 1, torch.float32)
    codes = _matrix(a.weight, a.out_columns, 9 * a.in_columns, a.weight_stride, torch.int8)
    weight = (codes * _matrix(a.weight_scales, a.out_columns, 1, 1, torch.float32)).unflatten(1, (3, 3, -1))
    x = pixels.unflatten(0, (images, a.image_height, a.image_width)).permute(0, 3, 1, 2)
    out = torch.nn.functional.conv2d(x, weight.permute(0, 3, 1, 2), None, a.image_stride, padding=1)
    return out.permute(0, 2, 3, 1).flatten(0, 2)


def _of_heads(out, a, part):
    """Heads of a part, normalized and rotated as its flags say."""
    heads = out.unflatten(1, (-1, a.head_dim))
    if part.flags & PartFlags.PART_NORM:
        heads = torch.nn.functional.rms_norm(heads, (a.head_dim,), eps=a.epsilon)
        if part.norm_weight:
            heads = heads * _matrix(part.norm_weight, 1, a.head_dim, a.head_dim, a.dtype).float()
    if part.flags & PartFlags.PART_ROTATE:
        table = _matrix(a.rotations, a.rotation_rows, a.head_dim, a.head_dim, torch.float32)
        by = torch.view_as_complex(table.clone().unflatten(1, (-1, 2)))[torch.arange(a.rows) % a.rotation_rows]
        pairs = torch.view_as_complex(heads.unflatten(-1, (-1, 2)).contiguous())
        heads = torch.view_as_real(pairs * by[:, None]).flatten(-2)
    return heads.flatten(1)


def _of_batches(a, pointer, columns, stride):
    """Values of each batch, one row for each row of the batch."""
    batches = -(-a.rows // a.rows_per_batch)
    values = _matrix(pointer, batches, columns, stride, a.dtype).float()
    return values.repeat_interleave(a.rows_per_batch, dim=0)[: a.rows]


def fake_product_backends(library=None, error=None) -> ProductBackends:
    """Return backends over a stand-in; with `error`, opening the library fails."""

    def open_library():
        if error is not None:
            raise error
        return library

    device_type = "cpu" if library is None else library.device_type
    return ProductBackends(open_library, device_type=device_type, open_nf4=no_bitsandbytes)


def no_bitsandbytes() -> NoReturn:
    """For ProductBackends: as if bitsandbytes were not installed."""
    raise Unavailable("bitsandbytes is not here")

"""Products with quantized weights by the kernel library: one kernel quantizes rows, the other multiplies."""

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.dispatch.launching import launch
from mezzotint.dispatch.library import Activation, Arguments, Preparation, ProductLibrary, Unsupported
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import Format, Int4, Int8, LowRank4
from mezzotint.quantization.fp8 import Fp8, quantizes_inputs
from mezzotint.quantization.fusion.around import Around, Ending, Norm
from mezzotint.quantization.int4 import GROUP
from mezzotint.quantization.linear import Branch, GatedWeight, JoinedWeight, QuantizedWeight, wants_gradients
from mezzotint.quantization.products.joined import point_to_parts
from mezzotint.quantization.products.kernel_branches import kernel_branches
from mezzotint.quantization.shared_quantization import shared_quantize
from mezzotint.quantization.svdquant.format import SvdQuant

_DTYPES = {torch.float16: 0, torch.bfloat16: 1}  # MztDtype of kernels/csrc/api.h
_ALIGNMENT = 16  # bytes, required of every row
_COLUMN_STEP, _PACKED_STEP, _OUT_STEP = 16, 32, 8
_SCALE_STEP = 4  # of rows, whose scales by group are read together
_EPSILON = 1e-6  # for layer norm
_NOTHING = Around()
# Products of at most so many rows, whose output has at most so many tiles, may be split so often.
_FEW_ROWS, _FEW_TILES, _TILE, _MOST_SPLITS = 128, 340, 64, 16
_MOST_REFUSED = 4096  # limit of the cache of unsupported calls

_Kind: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizedRows:
    """x quantized row by row, the input of the product."""

    values: Tensor  # (m, k), int8, or bytes of floats; in 4 bits (m, k / 2), two to a byte
    scales: Tensor  # (m), float32; by group (k / 64, m), in rows of a multiple of 4
    dtype: torch.dtype  # of x
    bits: int = 8
    by_group: bool = False  # each 64 columns of a row have a scale
    floats: bool = False  # e4m3, not integers


class CompiledLinear:
    """The library's product kernels as a callable on tensors."""

    def __init__(self, library: ProductLibrary) -> None:
        self.device_type = library.device_type
        self.library = library
        self._refused: dict[_Kind, str] = {}

    def __call__(
        self,
        x: Tensor,
        weight: QuantizedWeight,
        bias: Tensor | None = None,
        branch: Branch | None = None,
        preparation: Preparation = Preparation.AS_IT_IS,
        around: Around = _NOTHING,
    ) -> Tensor:
        """Same as `linear`, for x `(..., k)` after its preparation; raises Unsupported if there is no kernel.

        `around` is included: the norm, which is then the preparation, and what becomes of the output. Copies x if its
        rows are not laid out as the kernels need. Does not synchronize with the device.
        """
        norm = around.norm
        if norm is not None:
            preparation = norm.preparation(x) or preparation
        self._check(x, weight, bias, branch, preparation)
        n = weight.shape[0]
        ends, activation = around.ending is not None, around.activation
        kind: _Kind = (x.shape, x.dtype, x.device, weight.format, weight.shape, preparation, ends, type(weight))
        kind = (*kind, activation)
        if kind in self._refused:
            raise Unsupported(self._refused[kind])
        rows = readable_rows(x)
        try:
            quantized = self._quantized(x, rows, weight, preparation, norm)
            branches = [*_own_branch(weight), *([] if branch is None else [branch])]
            made = kernel_branches(branches, x.dtype)
            thin = None if made.inside is None else functional.linear(rows, made.inside.down)
            if (ends or activation) and made.outside is not None:
                raise Unsupported("a branch is added after the product, and its gate or activation would come before")
            up = None if made.inside is None else made.inside.up
            out = self.multiply(quantized, weight, bias, thin, up, around.ending, activation)
        except Unsupported as error:
            self._refuse(kind, str(error))
            raise
        if made.outside is not None:
            out.addmm_(functional.linear(rows, made.outside.down), made.outside.up.t())
        return out.view(*x.shape[:-1], n)

    def _quantized(
        self, x: Tensor, rows: Tensor, weight: QuantizedWeight, preparation: Preparation, norm: Norm | None
    ) -> QuantizedRows:
        """The rows of x as a weight of this format takes them, once for all layers that share them."""
        k, format_ = weight.shape[1], weight.format
        if isinstance(format_, SvdQuant):
            smooth = weight.tensors["weight_smooth"]
            key: _Kind = (k, format_.group, smooth.data_ptr())
            return shared_quantize(x, key, lambda: self.quantize_groups(rows, format_.group, smooth))
        group = format_.group if isinstance(format_, Int8 | Int4 | Codebook4 | LowRank4) else 0
        bits = 4 if isinstance(format_, Int4) else 8
        floats = isinstance(format_, Fp8)
        key = (k, group, preparation, norm, bits, floats)
        layers = len(weight.parts) if isinstance(weight, JoinedWeight) else 1
        return shared_quantize(
            x, key, lambda: self.quantize(rows, k, group, preparation, bits, norm, floats=floats), layers
        )

    def quantize_groups(self, rows: Tensor, group: int, smooth: Tensor) -> QuantizedRows:
        """Multiply rows `(m, k)` by `smooth` `(k)`, rotate them in groups, and quantize them with scales by group."""
        count, columns = rows.shape
        values = torch.empty((count, columns // 2), dtype=torch.int8, device=rows.device)
        room = -(-count // _SCALE_STEP) * _SCALE_STEP
        scales = torch.empty((columns // GROUP, room), dtype=torch.float32, device=rows.device)
        if count:
            arguments = self._quantize_arguments(rows, values, scales)
            arguments.columns, arguments.group, arguments.bits = columns, group, 4
            arguments.scale_columns, arguments.scales_stride = GROUP, scales.stride(0)
            arguments.smooth = smooth.data_ptr()
            launch(self.library.quantize, arguments, rows.device)
        return QuantizedRows(values=values, scales=scales, dtype=rows.dtype, bits=4, by_group=True)

    def _quantize_arguments(self, rows: Tensor, values: Tensor, scales: Tensor) -> Arguments:
        arguments = self.library.new_quantize_arguments()
        arguments.dtype, arguments.rows, arguments.epsilon = _DTYPES[rows.dtype], rows.shape[0], _EPSILON
        arguments.x, arguments.x_stride = rows.data_ptr(), rows.stride(0)
        arguments.values, arguments.values_stride = values.data_ptr(), values.stride(0)
        arguments.scales = scales.data_ptr()
        return arguments

    def quantize(
        self,
        rows: Tensor,
        columns: int,
        group: int,
        preparation: Preparation,
        bits: int = 8,
        norm: Norm | None = None,
        *,
        floats: bool = False,
    ) -> QuantizedRows:
        """Prepare rows `(m, columns)` (for GEGLU `(m, 2 columns)`), rotate them in groups and quantize them.

        They become integers, or `floats` of 8 bits.
        """
        count = rows.shape[0]
        values = torch.empty((count, columns * bits // 8), dtype=torch.int8, device=rows.device)
        scales = torch.empty(count, dtype=torch.float32, device=rows.device)
        if count:
            arguments = self._quantize_arguments(rows, values, scales)
            arguments.preparation, arguments.group = preparation, group
            arguments.columns, arguments.bits, arguments.floats = columns, bits, int(floats)
            held = None if norm is None else _point_to_norm(arguments, norm, rows)
            launch(self.library.quantize, arguments, rows.device)
            del held  # until now, its memory must not be given to others
        return QuantizedRows(values=values, scales=scales, dtype=rows.dtype, bits=bits, floats=floats)

    def multiply(
        self,
        x: QuantizedRows,
        weight: QuantizedWeight,
        bias: Tensor | None = None,
        branch_x: Tensor | None = None,
        branch_up: Tensor | None = None,
        ending: Ending | None = None,
        activation: Activation = Activation.NONE,
    ) -> Tensor:
        """Return x times the weight's transpose, plus bias and branch_x `(m, r)` times branch_up' `(r, n)`.

        With an activation, that of it; with an ending, its residual plus its gate times that.
        """
        n, k = weight.shape
        out = torch.empty((x.values.shape[0], n), dtype=x.dtype, device=x.values.device)
        if not out.numel():
            return out
        arguments = self.library.new_linear_arguments()
        arguments.dtype, arguments.rows, arguments.out_columns = _DTYPES[x.dtype], out.shape[0], n
        arguments.in_columns = k
        arguments.x, arguments.x_stride, arguments.x_bits = x.values.data_ptr(), x.values.stride(0), x.bits
        if x.by_group:
            arguments.x_group_scales, arguments.x_group_scales_stride = x.scales.data_ptr(), x.scales.stride(0)
        else:
            arguments.x_scales = x.scales.data_ptr()
        arguments.floats, arguments.activation = int(x.floats), activation
        _point_to_weight(arguments, weight)
        if bias is not None:
            arguments.bias = bias.data_ptr()
        if branch_x is not None and branch_up is not None:
            arguments.branch_x, arguments.branch_up = branch_x.data_ptr(), branch_up.data_ptr()
            arguments.branch_x_stride, arguments.branch_up_stride = branch_x.stride(0), branch_up.stride(0)
            arguments.rank = branch_up.shape[1]
        arguments.out, arguments.out_stride = out.data_ptr(), n
        held = (_workspace(arguments, weight, out), None if ending is None else _point_to_ending(arguments, ending))
        launch(self.library.multiply, arguments, out.device)
        del held
        return out

    def _refuse(self, kind: _Kind, reason: str) -> None:
        if len(self._refused) >= _MOST_REFUSED:
            self._refused.clear()
        self._refused[kind] = reason

    def _check(
        self,
        x: Tensor,
        weight: QuantizedWeight,
        bias: Tensor | None,
        branch: Branch | None,
        preparation: Preparation,
    ) -> None:
        """Check what the library cannot see, or would report in terms that users do not know."""
        why = unsupported(weight.format, tuple(weight.shape))
        if why is not None:
            raise Unsupported(why)
        if x.device.type != self.device_type:
            raise Unsupported(f"x is on {x.device}; the kernels run on {self.device_type}")
        if x.dtype not in _DTYPES:
            raise Unsupported(f"x is {x.dtype}; the kernels take torch.float16 and torch.bfloat16")
        given = weight.shape[1] * (2 if preparation is Preparation.GEGLU else 1)
        if x.shape[-1] != given:
            raise ValueError(f"x has {x.shape[-1]} columns, and the layer takes {given}")
        if preparation is not Preparation.AS_IT_IS and (branch is not None or _has_branch(weight.format)):
            raise Unsupported("a branch needs x after the activation, which the fused kernels do not return")
        if isinstance(weight, JoinedWeight):
            for part, own in zip(weight.parts, weight.biases, strict=True):
                self._check(x, part, own, None, preparation)
        for name, tensor in (*weight.tensors.items(), *([] if bias is None else [("bias", bias)])):
            check_stored(name, tensor, x)
        if bias is not None and bias.dtype != x.dtype:
            raise Unsupported(f"bias is {bias.dtype} and x {x.dtype}; they must have the same dtype")
        check_gradients(x, bias, branch)


def check_gradients(x: Tensor, bias: Tensor | None, branch: Branch | None) -> None:
    """Raise Unsupported if gradients are required."""
    if wants_gradients(x, bias, branch):
        raise Unsupported("gradients are required, but the kernels have no backward pass")


def unsupported(format_: Format, shape: tuple[int, ...]) -> str | None:
    """Return why there is no kernel for a weight of this format and shape, or None if there is one."""
    if not quantizes_inputs(format_):
        return f"{format_} has no integer products"
    step = {Int4: _PACKED_STEP, LowRank4: GROUP, Codebook4: GROUP, SvdQuant: GROUP}.get(type(format_), _COLUMN_STEP)
    for name, size, multiple in (("columns", shape[1], step), ("rows", shape[0], _OUT_STEP)):
        if size % multiple:
            return f"the weight has {size} {name}, not a multiple of {multiple}"
    return None


def readable_rows(x: Tensor) -> Tensor:
    """x `(..., k)` as rows `(m, k)`, each contiguous and aligned to 16 bytes; copies if necessary."""
    rows = x.reshape(-1, x.shape[-1])
    step = _ALIGNMENT // rows.element_size()
    dense = rows.shape[1] <= 1 or rows.stride(1) == 1
    if dense and rows.data_ptr() % _ALIGNMENT == 0 and (rows.shape[0] <= 1 or rows.stride(0) % step == 0):
        return rows
    return rows.clone(memory_format=torch.contiguous_format)


def _has_branch(format_: object) -> bool:
    return isinstance(format_, LowRank4 | SvdQuant)


def _own_branch(weight: QuantizedWeight) -> list[Branch]:
    if not _has_branch(weight.format):
        return []
    return [Branch(down=weight.tensors["weight_down"], up=weight.tensors["weight_up"])]


def check_stored(name: str, tensor: Tensor, x: Tensor) -> None:
    """Raise Unsupported for a tensor of the layer that is not laid out as the kernels need."""
    if tensor.device != x.device:
        raise Unsupported(f"{name} is on {tensor.device} and x on {x.device}")
    if not tensor.is_contiguous():
        raise Unsupported(f"{name} has strides {tensor.stride()}; the kernels need contiguous rows")
    past = tensor.data_ptr() % _ALIGNMENT
    if past and name in ("weight", "weight_smooth"):
        raise Unsupported(f"{name} is misaligned by {past} bytes; the kernels need an alignment of {_ALIGNMENT}")


def _may_split(weight: QuantizedWeight) -> bool:
    return isinstance(weight.format, Int8) and not isinstance(weight, GatedWeight)


def _workspace(arguments: Arguments, weight: QuantizedWeight, out: Tensor) -> Tensor | None:
    """Room for the sums of several blocks at the same few rows, where the kernels may split columns of x among them."""
    tiles = -(-out.shape[0] // _TILE) * -(-out.shape[1] // _TILE)
    if out.shape[0] > _FEW_ROWS or tiles > _FEW_TILES or not _may_split(weight):
        return None
    made = torch.empty(
        min(_MOST_SPLITS, 2 * _FEW_TILES // tiles) * tiles * _TILE * _TILE, dtype=torch.int32, device=out.device
    )
    arguments.workspace, arguments.workspace_bytes = made.data_ptr(), made.numel() * 4
    return made


def _point_to_norm(arguments: Arguments, norm: Norm, x: Tensor) -> object:
    """Fill in a norm and its modulation; the result holds their memory."""
    arguments.epsilon = norm.epsilon
    weight, bias = (None if each is None else each.contiguous() for each in (norm.weight, norm.bias))
    arguments.norm_weight = 0 if weight is None else weight.data_ptr()
    arguments.norm_bias = 0 if bias is None else bias.data_ptr()
    modulation = norm.modulation(x)
    given = next((each for each in modulation if each is not None), None)
    if given is None:
        return weight, bias
    gain, shift = (torch.zeros_like(given) if each is None else each for each in modulation)
    gain, shift = _alike(readable_rows(gain), readable_rows(shift))
    arguments.gain, arguments.shift, arguments.modulation_stride = gain.data_ptr(), shift.data_ptr(), gain.stride(0)
    arguments.rows_per_batch = _rows_per_batch(arguments.rows, gain)
    return weight, bias, gain, shift


def _point_to_ending(arguments: Arguments, ending: Ending) -> object:
    """Fill in a residual and its gate; the result holds their memory."""
    residual, gate = readable_rows(ending.residual), None
    if residual.shape != (arguments.rows, arguments.out_columns):
        raise ValueError(f"the residual is {tuple(ending.residual.shape)}, and the product has {arguments.rows} rows")
    arguments.residual, arguments.residual_stride = residual.data_ptr(), residual.stride(0)
    if ending.gate is not None:
        gate = readable_rows(ending.gate)
        arguments.gate, arguments.gate_stride = gate.data_ptr(), gate.stride(0)
        arguments.rows_per_batch = _rows_per_batch(arguments.rows, gate)
    return residual, gate


def _alike(gain: Tensor, shift: Tensor) -> tuple[Tensor, Tensor]:
    """Gain and shift `(b, k)` as rows at the same distances."""
    if gain.stride(0) == shift.stride(0) or len(gain) == len(shift) == 1:
        return gain, shift
    return gain.contiguous(), shift.contiguous()


def _rows_per_batch(rows: int, values: Tensor) -> int:
    """How many rows share a gate or modulation `(b, n)`."""
    if rows % len(values):
        raise ValueError(f"{rows} rows cannot share {len(values)} gates or modulations")
    return rows // len(values)


def _point_to_weight(arguments: Arguments, weight: QuantizedWeight) -> None:
    if isinstance(weight, JoinedWeight):
        point_to_parts(arguments, weight)
        return
    numbers = weight.tensors["weight"]
    arguments.weight, arguments.weight_stride = numbers.data_ptr(), numbers.stride(0)
    scales = weight.tensors["weight_scale"]
    if isinstance(weight.format, SvdQuant):
        arguments.weight_bits = 4
        arguments.weight_group_scales, arguments.weight_group_scales_stride = scales.data_ptr(), scales.stride(0)
        return
    arguments.weight_scales = scales.data_ptr()
    arguments.weight_bits = 8 if isinstance(weight.format, Int8 | Fp8) else 4
    arguments.shares_weight_scale = int(isinstance(weight.format, Fp8) and not weight.format.by_rows)
    if isinstance(weight.format, Codebook4):
        arguments.codebook = weight.tensors["weight_codebook"].data_ptr()
    if isinstance(weight.format, LowRank4 | Codebook4):
        groups = weight.tensors["weight_group_scale"]
        arguments.group_scales = groups.data_ptr()
        arguments.group_scales_stride = groups.stride(0)

"""Stand-ins for the kernels' library on the simulated GPU: they check and count every launch.

Pointers must lie in live memory of that device, including everything that the strides reach; rows start at multiples
of 16 bytes; the stream must be the current one, and reads must be ordered after writes of other streams.
"""

import torch
from emulated_block_scaled import BLOCK
from fake_block_scaled import FakeBlackwell
from fake_card.state import card
from fake_group_norm import FakeGroupNorm
from fake_kernels import FakeKernels
from fake_products import FakeProducts, no_bitsandbytes, pixels_of

from mezzotint.attention.selection import AttentionBackends
from mezzotint.dispatch.library import Preparation
from mezzotint.normalization.selection import GroupNormBackend
from mezzotint.quantization.nf4 import Nested, dequantize_nf4, unnest
from mezzotint.quantization.products.bitsandbytes import BitsAndBytesLinear
from mezzotint.quantization.products.selection import ProductBackends

_ITEM = {0: 2, 1: 2, 2: 4}  # bytes, by MztDtype
_ALIGNMENT = 16


class CardKernels(FakeKernels):
    """Attention."""

    device_type = "cuda"

    def launch(self, arguments, device, stream):
        a, item = arguments, _ITEM[arguments.dtype]
        launch = Launch("attention", device, stream)
        queries, keys = (a.batch, a.heads, a.nq), (a.batch, a.kv_heads, a.nk)
        for name, sizes in (("q", queries), ("k", keys), ("v", keys), ("out", queries)):
            strides = [stride * item for stride in getattr(a, f"{name}_stride")]
            launch.rows(getattr(a, name), sizes, strides, a.head_dim * item, writes=name == "out")
        if a.bias:
            size = _ITEM[a.bias_dtype]
            strides = [stride * size for stride in a.bias_stride]
            launch.touch(a.bias, (*queries, a.nk), strides, size)
        if a.key_mask:
            launch.touch(a.key_mask, (a.batch, a.nk), (a.key_mask_stride, 1), 1)
        if a.key_lengths:
            launch.touch(a.key_lengths, (a.batch,), (4,), 4)
        if a.lse:
            launch.touch(a.lse, (a.batch * a.heads * a.nq,), (4,), 4, writes=True)
        if a.workspace_bytes:
            launch.rows(a.workspace, (1,), (0,), a.workspace_bytes, writes=True)
        launched(super().launch, arguments, device, stream)


class CardProducts(FakeProducts):
    """Quantized products."""

    device_type = "cuda"

    def quantize(self, arguments, device, stream):
        a, launch, item = arguments, Launch("quantize", device, stream), _ITEM[arguments.dtype]
        given = a.columns * (2 if a.preparation == Preparation.GEGLU else 1)
        launch.rows(a.x, (a.rows,), (a.x_stride * item,), given * item)
        for each in (a.norm_weight, a.norm_bias):
            if each:
                launch.rows(each, (1,), (0,), a.columns * item)
        for each in (a.gain, a.shift):
            if each:
                batches = -(-a.rows // a.rows_per_batch)
                launch.rows(each, (batches,), (a.modulation_stride * item,), a.columns * item)
        launch.rows(a.values, (a.rows,), (a.values_stride,), a.columns * a.bits // 8, writes=True)
        if a.scale_columns:
            groups = (a.columns // a.scale_columns, a.rows)
            launch.touch(a.scales, groups, (4 * a.scales_stride, 4), 4, writes=True)
        else:
            launch.touch(a.scales, (a.rows,), (4,), 4, writes=True)
        if a.smooth:
            launch.touch(a.smooth, (a.columns,), (4,), 4)
        launched(super().quantize, arguments, device, stream)

    def multiply(self, arguments, device, stream):
        a, launch, item = arguments, Launch("multiply", device, stream), _ITEM[arguments.dtype]
        n, depth = a.out_columns, a.in_columns
        x_rows, taps = (pixels_of(a)[0], 9) if a.image_height else (a.rows, 1)
        launch.rows(a.x, (x_rows,), (a.x_stride,), depth * a.x_bits // 8)
        if a.weight_group_scales:
            groups = depth // 64
            launch.touch(a.x_group_scales, (groups, a.rows), (4 * a.x_group_scales_stride, 4), 4)
            launch.touch(a.weight_group_scales, (groups, n), (2 * a.weight_group_scales_stride, 2), 2)
        else:
            launch.touch(a.x_scales, (x_rows,), (4,), 4)
        if a.workspace_bytes:
            launch.rows(a.workspace, (1,), (0,), a.workspace_bytes, writes=True)
        if a.part_count:
            _touch_parts(launch, a, item)
        else:
            launch.rows(a.weight, (n,), (a.weight_stride,), taps * depth * a.weight_bits // 8)
        if not (a.part_count or a.weight_group_scales):
            launch.touch(a.weight_scales, (n,), (4,), 4)
        if a.weight_bits < a.x_bits and not a.part_count:
            columns = depth // (16 if a.codebook else 64)
            launch.touch(a.group_scales, (n, columns), (a.group_scales_stride, 1), 1)
        launch.touch_some(((a.codebook, 16, 4), (a.bias, n, item)))
        if a.rank:
            launch.rows(a.branch_x, (a.rows,), (a.branch_x_stride * item,), a.rank * item)
            launch.rows(a.branch_up, (n,), (a.branch_up_stride * item,), a.rank * item)
        batches = -(-a.rows // a.rows_per_batch) if a.gate else 0
        for pointer, rows, stride in ((a.gate, batches, a.gate_stride), (a.residual, a.rows, a.residual_stride)):
            if pointer:
                launch.rows(pointer, (rows,), (stride * item,), n * item)
        launch.rows(a.out, (a.rows,), (a.out_stride * item,), n * item, writes=True)
        launched(super().multiply, arguments, device, stream)


class CardBlackwell(FakeBlackwell, CardProducts):
    """Also of block-scaled numbers."""

    def quantize_block_scaled(self, arguments, device, stream):
        a, launch, item = arguments.rows, Launch("quantize_block_scaled", device, stream), _ITEM[arguments.rows.dtype]
        given = a.columns * (2 if a.preparation == Preparation.GEGLU else 1)
        launch.rows(a.x, (a.rows,), (a.x_stride * item,), given * item)
        launch.rows(a.values, (a.rows,), (a.values_stride,), a.columns * a.bits // 8, writes=True)
        scales, stride = arguments.block_scales, arguments.block_scales_stride
        launch.touch(scales, (a.rows,), (stride,), a.columns // BLOCK[arguments.format], writes=True)
        if a.scales:
            launch.touch(a.scales, (a.rows,), (4,), 4, writes=True)
        launched(super().quantize_block_scaled, arguments, device, stream)

    def multiply_block_scaled(self, arguments, device, stream):
        a, launch = arguments.linear, Launch("multiply_block_scaled", device, stream)
        n, depth, item, blocks = a.out_columns, a.in_columns, _ITEM[a.dtype], a.in_columns // BLOCK[arguments.format]
        launch.rows(a.x, (a.rows,), (a.x_stride,), depth * a.x_bits // 8)
        launch.rows(a.weight, (n,), (a.weight_stride,), depth * a.weight_bits // 8)
        launch.touch(arguments.x_block_scales, (a.rows,), (arguments.x_block_scales_stride,), blocks)
        launch.touch(arguments.weight_block_scales, (n,), (arguments.weight_block_scales_stride,), blocks)
        launch.touch_some(((a.x_scales, a.rows, 4), (arguments.weight_scale, 1, 4), (a.bias, n, item)))
        if a.rank:
            launch.rows(a.branch_x, (a.rows,), (a.branch_x_stride * item,), a.rank * item)
            launch.rows(a.branch_up, (n,), (a.branch_up_stride * item,), a.rank * item)
        launch.rows(a.out, (a.rows,), (a.out_stride * item,), n * item, writes=True)
        launched(super().multiply_block_scaled, arguments, device, stream)


def _touch_parts(launch, a, item):
    """Check the weights of several layers, and what becomes of their heads."""
    for part in a.parts[: a.part_count]:
        launch.rows(part.weight, (part.out_columns,), (a.weight_stride,), a.in_columns)
        launch.touch(part.weight_scales, (part.out_columns,), (4,), 4)
        launch.touch_some(((part.bias, part.out_columns, item), (part.norm_weight, a.head_dim, item)))
    if a.rotations:
        launch.touch(a.rotations, (a.rotation_rows * a.head_dim,), (4,), 4)


class CardGroupNorm(FakeGroupNorm):
    """GroupNorm and SiLU."""

    device_type = "cuda"

    def launch_group_norm(self, arguments, device, stream):
        a, launch, item = arguments, Launch("group_norm", device, stream), _ITEM[arguments.dtype]
        for name in ("x", "out"):
            strides = [stride * item for stride in getattr(a, f"{name}_stride")]
            launch.rows(getattr(a, name), (a.batch, a.pixels), strides, a.channels * item, writes=name == "out")
        for factors in (a.weight, a.bias):
            if factors:
                launch.touch(factors, (a.channels,), (item,), item)
        launch.rows(a.workspace, (1,), (0,), a.workspace_bytes, writes=True)
        launched(super().launch_group_norm, arguments, device, stream)


class CardNf4:
    """bitsandbytes' gemm_4bit, requiring all inputs on one device; computes by the reference path."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x, packed, shape, *, bias, absmax, blocksize, quant_type, **nested):
        given = (x, packed, absmax, *nested.values(), *([] if bias is None else [bias]))
        assert {str(each.device) for each in given} == {str(x.device)}
        assert (blocksize, quant_type, absmax.dtype) == (64, "nf4", torch.float32)
        self.calls += 1
        card.operations["gemm_4bit"] += 1
        if nested:
            codes = Nested(codes=nested["absmax_8bit"], scales=absmax, offset=nested["absmax_offset"])
            absmax = unnest(codes, nested["absmax_code"])
        y = torch.nn.functional.linear(x, dequantize_nf4(packed, absmax, torch.Size(shape), x.dtype))
        return y if bias is None else y + bias


def launched(launch, arguments, device, stream):
    """Launch; during a graph capture also at each replay, with the arguments as they are now."""
    launch(arguments, device, stream)
    if card.capture is not None:
        kept = type(arguments).from_buffer_copy(arguments)
        card.capture.record(lambda: launch(kept, device, stream))


class Launch:
    """One launch, checked against the simulated GPU's state."""

    def __init__(self, name, device, stream):
        current = card.current_stream(device)
        assert stream == current.cuda_stream, f"{name} on stream {stream}, and the current one is {current.number}"
        assert device == torch.cuda.current_device(), f"{name} for device {device}, which is not the current one"
        card.check(name)
        current.run()
        current.tick()
        card.operations[name] += 1
        self._name, self._device = name, device

    def rows(self, pointer, sizes, strides, row, writes=False):
        """Check rows of this many bytes, each starting at a multiple of 16."""
        assert pointer % _ALIGNMENT == 0, f"{self._name}: {pointer:#x} is no multiple of {_ALIGNMENT}"
        for size, stride in zip(sizes, strides, strict=True):
            assert size <= 1 or stride % _ALIGNMENT == 0, f"{self._name}: rows {stride} bytes apart"
        self.touch(pointer, sizes, strides, row, writes)

    def touch_some(self, vectors):
        """Check vectors: address, count and bytes of an element; null is none."""
        for pointer, count, size in vectors:
            if pointer:
                self.touch(pointer, (count,), (size,), size)

    def touch(self, pointer, sizes, strides, item, writes=False):
        """Check the bytes that the launch reads or writes, from first to last."""
        reach = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True) if size > 1) + item
        for allocation in card.allocations.values():
            low = pointer - allocation.address
            if low >= 0 and low + reach <= len(allocation.host):
                assert allocation.device == self._device, f"{self._name}: {pointer:#x} is another device's"
                if card.capture is not None:
                    card.capture.touched_bytes(allocation, low, low + reach, writes, self._name)
                else:
                    allocation.touch(low, low + reach, writes, self._name)
                return
        raise AssertionError(f"{self._name}: {reach} bytes at {pointer:#x} are no memory of a card")


def card_backends(kernels=None, products=None, nf4=None, group_norm=None):
    """Return backends for an Engine that select among the stand-ins."""
    kernels = kernels or CardKernels()
    products, group_norm = products or CardProducts(), group_norm or CardGroupNorm()
    return {
        "attention": AttentionBackends(lambda: kernels, "cuda"),
        "products": ProductBackends(
            lambda: products, "cuda", (lambda: BitsAndBytesLinear(nf4)) if nf4 else no_bitsandbytes
        ),
        "group_norm": GroupNormBackend(lambda: group_norm, "cuda"),
    }

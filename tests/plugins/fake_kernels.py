"""A stand-in for the kernels' library on the CPU: it reads the argument struct as the real one would."""

import ctypes
import importlib.util
import itertools
from dataclasses import replace
from pathlib import Path

import torch

from mezzotint.attention.masks import Masks
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.selection import AttentionBackends
from mezzotint.dispatch.library import KernelPlan, LaunchFailed, Unsupported

_DTYPES = {0: torch.float16, 1: torch.bfloat16, 2: torch.float32}
WORKSPACE = 96  # size in bytes


def _structures():
    """Return the structs that the package passes to the library, from its file; the package need not be installed."""
    path = Path(__file__).parents[2] / "kernels" / "mezzotint_kernels" / "abi.py"
    spec = importlib.util.spec_from_file_location("mezzotint_kernels_abi", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.AttentionArgs, module.BlockTableArgs


class FakeKernels:
    """Computes with the reference implementation.

    It fails as `fault` says (wrong, nan, unsupported, launch, bug), after the first `after` launches, and only for
    arguments for which `only` is true. `head_sizes`, if given, are the only ones supported.
    """

    device_type = "cpu"
    arguments_type, table_type = _structures()

    def __init__(self, fault=None, after=0, only=lambda arguments: True, head_sizes=None, workspace=WORKSPACE):
        self.workspace = workspace
        self.fault, self.after, self.only, self.head_sizes = fault, after, only, head_sizes
        self.plans, self.launches = [], []

    def new_arguments(self):
        return self.arguments_type()

    def new_table(self):
        return self.table_type()

    def attention_calls(self):
        return None

    def plan(self, arguments, device):
        self.plans.append(arguments)
        if self.fault == "unsupported" or (self.head_sizes and arguments.head_dim not in self.head_sizes):
            raise Unsupported(f"no kernel for head_dim {arguments.head_dim}")
        return KernelPlan(name="fake", workspace_bytes=self.workspace)

    def launch(self, arguments, device, stream):
        assert arguments.size == ctypes.sizeof(arguments)
        assert arguments.workspace_bytes == self.workspace and (arguments.workspace or 0) % 16 == 0
        self.launches.append(arguments)
        faulty = len(self.launches) > self.after and self.only(arguments)
        if faulty and self.fault == "launch":
            raise LaunchFailed("the launch failed")
        if faulty and self.fault == "bug":
            raise ValueError("q_stride[0] is 3")
        out, _ = read_and_attend(arguments)
        if faulty and self.fault == "nan":
            out.fill_(float("nan"))
        if faulty and self.fault == "wrong":
            out.mul_(1.1)


class CalledKernels(FakeKernels):
    """Likewise, but called by the extension in one step; `prepared` counts the calls through ctypes.

    `status`, if nonzero, is returned by one-step calls.
    """

    def __init__(self, file, **options):
        super().__init__(workspace=0, **options)
        self._file, self.prepared, self.status = file, 0, 0
        self._function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)(self._forward)

    def attention_calls(self):
        from mezzotint_kernels import attention_calls

        address = ctypes.cast(self._function, ctypes.c_void_p).value
        return attention_calls(torch.Tensor, torch.empty_like, address, self._file)

    def launch(self, arguments, device, stream):
        self.prepared += 1
        super().launch(arguments, device, stream)

    def _forward(self, address, device, stream):
        if self.status == 0:
            arguments = self.arguments_type.from_buffer_copy(
                ctypes.string_at(address, ctypes.sizeof(self.arguments_type))
            )
            super().launch(arguments, device, stream or 0)
        return self.status


def _hidden_by_table(table, arguments):
    """Read a table entry by entry: a bias of 0, and -inf where nothing is seen."""
    batch, heads, nq, nk = arguments.batch, arguments.heads, arguments.nq, arguments.nk
    bias = torch.full((batch, heads, table.rows * table.block_q, -(-nk // 64) * 64), -torch.inf)
    row_ptr, col, tile = (
        ctypes.cast(each, ctypes.POINTER(ctypes.c_int32)) for each in (table.row_ptr, table.col, table.tile)
    )
    bits = ctypes.cast(table.bits, ctypes.POINTER(ctypes.c_uint64))
    for b, h, row in itertools.product(range(batch), range(heads), range(table.rows)):
        at = b * table.stride_batch + h * table.stride_head + row
        for entry in range(row_ptr[at], row_ptr[at + 1]):
            column, partial = col[entry] & ~(1 << 30), col[entry] >> 30
            if column * 64 >= nk:
                continue
            for query in range(table.block_q):
                word = bits[tile[entry] * table.block_q + query] if partial else 2**64 - 1
                shown = torch.tensor([word >> key & 1 for key in range(64)]).bool()
                bias[b, h, row * table.block_q + query, column * 64 :][:64][shown] = 0
    return bias[:, :, :nq, :nk]


def read_and_attend(arguments):
    """Compute what the struct describes and write the output."""
    dtype, a = _DTYPES[arguments.dtype], arguments
    queries, keys = (a.batch, a.heads, a.nq), (a.batch, a.kv_heads, a.nk)
    q, out = (_tensor(p, (*queries, a.head_dim), (*s, 1), dtype) for p, s in ((a.q, a.q_stride), (a.out, a.out_stride)))
    k, v = (_tensor(p, (*keys, a.head_dim), (*s, 1), dtype) for p, s in ((a.k, a.k_stride), (a.v, a.v_stride)))
    masks = Masks(
        bias=a.bias and _tensor(a.bias, (*queries, a.nk), tuple(a.bias_stride), _DTYPES[a.bias_dtype]),
        key_mask=a.key_mask and _tensor(a.key_mask, (a.batch, a.nk), (a.key_mask_stride, 1), torch.uint8).bool(),
        key_lengths=a.key_lengths and _tensor(a.key_lengths, (a.batch,), (1,), torch.int32),
        causal=bool(a.flags & 1),
    )
    if a.table:
        hidden = _hidden_by_table(FakeKernels.table_type.from_address(a.table), a)
        masks = replace(masks, bias=hidden if masks.bias is None else masks.bias + hidden)
    exact, sums = attention_reference(q, k, v, masks, a.scale)
    out.copy_(exact)
    lse = None
    if a.lse:
        lse = _tensor(a.lse, queries, (a.heads * a.nq, a.nq, 1), torch.float32)
        lse.copy_(sums)
    return out, lse


def _tensor(pointer, sizes, strides, dtype):
    strides = [stride if size > 1 else 0 for size, stride in zip(sizes, strides, strict=True)]
    count = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(pointer)
    return torch.as_strided(torch.frombuffer(memory, dtype=dtype), sizes, strides)


def fake_backends(kernels=None, error=None, device_type="cpu") -> AttentionBackends:
    """Return backends over the stand-in; with `error`, opening the library fails."""

    def open_library():
        if error is not None:
            raise error
        return kernels

    return AttentionBackends(open_library, device_type if kernels is None else kernels.device_type)

"""A stand-in for the library's backward kernels on the CPU: it reads the argument struct as the real one would."""

import ctypes
from types import SimpleNamespace

import torch
from fake_kernels import _DTYPES, _hidden_by_table, _tensor

from mezzotint.attention.masks import Masks
from mezzotint.attention.reference import attention_gradients
from mezzotint.dispatch.library import KernelPlan, LaunchFailed, Unsupported
from mezzotint_kernels.abi import AttentionBackwardArgs, BlockTableArgs

WORKSPACE = 96  # size in bytes
_QUERIES, _KEYS = ("q", "out", "out_gradient", "dq"), ("k", "v", "dk", "dv")


class FakeBackward:
    """Computes with `attention_gradients`; fails as `fault` says: wrong, nan, unsupported or launch."""

    device_type = "cpu"

    def __init__(self, fault=None, after=0):
        self.fault, self.after, self.plans, self.launches = fault, after, [], []

    def new_backward_arguments(self):
        return AttentionBackwardArgs()

    def new_table(self):
        return BlockTableArgs()

    def plan_backward(self, arguments, device):
        self.plans.append(arguments)
        if self.fault == "unsupported":
            raise Unsupported(f"no kernel for head_dim {arguments.head_dim}")
        return KernelPlan(name="fake", workspace_bytes=WORKSPACE)

    def launch_backward(self, arguments, device, stream):
        assert arguments.size == ctypes.sizeof(arguments)
        assert arguments.workspace_bytes == WORKSPACE and arguments.workspace % 16 == 0
        self.launches.append(arguments)
        faulty = len(self.launches) > self.after
        if faulty and self.fault == "launch":
            raise LaunchFailed("the launch failed")
        read_and_derive(arguments)
        if faulty and self.fault in ("nan", "wrong"):
            dv = _rows(arguments, "dv")
            dv.fill_(float("nan")) if self.fault == "nan" else dv.mul_(1.1)


def read_and_derive(arguments):
    """Compute what the struct describes and write the gradients."""
    a = arguments
    masks = Masks(
        bias=a.table and _hidden_by_keys(BlockTableArgs.from_address(a.table), a),
        key_mask=a.key_mask and _tensor(a.key_mask, (a.batch, a.nk), (a.key_mask_stride, 1), torch.uint8).bool(),
        key_lengths=a.key_lengths and _tensor(a.key_lengths, (a.batch,), (1,), torch.int32),
        causal=bool(a.flags & 1),
    )
    q, k, v, gradient = (_rows(a, name) for name in ("q", "k", "v", "out_gradient"))
    lse_gradient = None if a.lse_gradient is None else _sums(a, a.lse_gradient)
    found = attention_gradients(gradient, lse_gradient, q, k, v, masks, a.scale)[:3]
    for name, each in zip(("dq", "dk", "dv"), found, strict=True):
        _rows(a, name).copy_(each)


def _hidden_by_keys(table, arguments):
    sizes = {"batch": arguments.batch, "heads": arguments.heads, "nq": arguments.nk, "nk": arguments.nq}
    return _hidden_by_table(table, SimpleNamespace(**sizes)).mT


def _rows(arguments, name):
    a = arguments
    heads, tokens = (a.heads, a.nq) if name in _QUERIES else (a.kv_heads, a.nk)
    strides = (*getattr(a, f"{name}_stride"), 1)
    return _tensor(getattr(a, name), (a.batch, heads, tokens, a.head_dim), strides, _DTYPES[a.dtype])


def _sums(arguments, pointer):
    a = arguments
    return _tensor(pointer, (a.batch, a.heads, a.nq), (a.heads * a.nq, a.nq, 1), torch.float32)

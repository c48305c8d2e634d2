"""A stand-in for the library's kernels of linear attention on the CPU: it reads the argument struct as they would."""

import ctypes

import torch
from fake_kernels import _DTYPES, _tensor

from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.dispatch.library import KernelPlan, LaunchFailed, Unsupported
from mezzotint.dispatch.registry import KernelBackend
from mezzotint_kernels.linear_attention_abi import FeatureMap, LinearAttentionArgs

WORKSPACE = 96  # size in bytes


class FakeLinearAttention:
    """Computes in float64; fails as `fault` says, after `after` launches: wrong, nan, unsupported or launch."""

    device_type = "cpu"

    def __init__(self, fault=None, after=0):
        self.fault, self.after, self.plans, self.launches = fault, after, [], []

    def new_linear_attention_arguments(self):
        return LinearAttentionArgs()

    def plan_linear_attention(self, arguments, device):
        self.plans.append(arguments)
        if self.fault == "unsupported" or arguments.features % 8 or arguments.head_dim % 8:
            raise Unsupported(f"no kernel for head_dim {arguments.head_dim}")
        return KernelPlan(name="fake", workspace_bytes=WORKSPACE)

    def launch_linear_attention(self, arguments, device, stream):
        assert arguments.size == ctypes.sizeof(arguments)
        assert arguments.workspace_bytes == WORKSPACE and arguments.workspace % 16 == 0
        self.launches.append(arguments)
        faulty = len(self.launches) > self.after
        if faulty and self.fault == "launch":
            raise LaunchFailed("the launch failed")
        out = read_and_attend(arguments)
        if faulty and self.fault in ("nan", "wrong"):
            out.fill_(float("nan")) if self.fault == "nan" else out.mul_(1.1)


def fake_linear_backend(library):
    """The registry of kernels over a library, on the CPU."""
    from mezzotint.attention.linear.self_test import run_linear_self_test

    return KernelBackend(
        open_kernels=lambda: CompiledLinearAttention(library),
        test=run_linear_self_test,
        wrong_device=lambda device: None if device == "cpu" else f"the device is {device}",
        wrong_dtype=lambda dtype: None if dtype in ("float16", "bfloat16") else f"the dtype is {dtype}",
    )


def read_and_attend(arguments):
    """Compute what the struct describes and write the output."""
    a = arguments

    def read(name, heads, tokens, columns):
        strides = (*getattr(a, f"{name}_stride"), 1)
        return _tensor(getattr(a, name), (a.batch, heads, tokens, columns), strides, _DTYPES[a.dtype])

    q, out = read("q", a.heads, a.nq, a.features), read("out", a.heads, a.nq, a.head_dim)
    k, v = read("k", a.kv_heads, a.nk, a.features), read("v", a.kv_heads, a.nk, a.head_dim)
    seen = torch.ones(a.batch, a.nk, dtype=torch.bool)
    if a.key_mask:
        seen &= _tensor(a.key_mask, (a.batch, a.nk), (a.key_mask_stride, 1), torch.uint8).bool()
    if a.key_lengths:
        seen &= torch.arange(a.nk) < _tensor(a.key_lengths, (a.batch,), (1,), torch.int32)[:, None]
    hidden = ~seen[:, None, :, None]
    k, v = (each.double().masked_fill(hidden, 0.0).repeat_interleave(a.heads // a.kv_heads, dim=1) for each in (k, v))
    weights = (_phi(a.map, q.double()) @ _phi(a.map, k).mT).masked_fill(hidden.mT, 0.0)
    total = weights.sum(-1, keepdim=True)
    divisor = total.clamp(min=a.least) + a.epsilon if a.divided else torch.ones_like(total)
    return out.copy_(weights @ v / divisor.masked_fill(divisor == 0, 1.0))


def _phi(which, x):
    if which == FeatureMap.RELU:
        return x.clamp(min=0)
    return torch.nn.functional.elu(x) + 1 if which == FeatureMap.ELU_PLUS_ONE else x

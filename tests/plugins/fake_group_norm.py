"""A stand-in for the library's kernels of GroupNorm on the CPU: it reads the argument struct as they would."""

import ctypes

import torch
from fake_kernels import _DTYPES, _tensor

from mezzotint.dispatch.library import LaunchFailed, Unsupported
from mezzotint.normalization.selection import GroupNormBackend
from mezzotint_kernels.group_norm_abi import GroupNormArgs

WORKSPACE = 96  # size in bytes


class FakeGroupNorm:
    """Computes in float64; fails as `fault` says, after `after` launches: wrong, nan, unsupported or launch."""

    device_type = "cpu"

    def __init__(self, fault=None, after=0):
        self.fault, self.after, self.launches = fault, after, []

    def new_group_norm_arguments(self):
        return GroupNormArgs()

    def group_norm_workspace(self, arguments):
        if self.fault == "unsupported" and len(self.launches) >= self.after:
            raise Unsupported(f"no kernel for {arguments.channels} channels")
        return WORKSPACE

    def launch_group_norm(self, arguments, device, stream):
        assert arguments.size == ctypes.sizeof(arguments)
        assert arguments.workspace_bytes == WORKSPACE and arguments.workspace % 16 == 0
        self.launches.append(arguments)
        faulty = len(self.launches) > self.after
        if faulty and self.fault == "launch":
            raise LaunchFailed("the launch failed")
        out = read_and_normalize(arguments)
        if faulty and self.fault in ("nan", "wrong"):
            out.fill_(float("nan")) if self.fault == "nan" else out.mul_(1.1)


def fake_group_norm_backend(library):
    """The registry of kernels over a library."""
    return GroupNormBackend(lambda: library, library.device_type)


def read_and_normalize(arguments):
    """Compute what the struct describes and write the output."""
    a = arguments

    def read(name):
        strides = (*getattr(a, f"{name}_stride"), 1)
        return _tensor(getattr(a, name), (a.batch, a.pixels, a.channels), strides, _DTYPES[a.dtype])

    factors = (
        _tensor(each, (a.channels,), (1,), _DTYPES[a.dtype]).double() if each else None for each in (a.weight, a.bias)
    )
    normalized = torch.nn.functional.group_norm(read("x").double().mT, a.groups, *factors, a.epsilon).mT
    return read("out").copy_(torch.nn.functional.silu(normalized) if a.silu else normalized)

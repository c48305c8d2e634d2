"""Find and open the compiled library, and declare its functions."""

import ctypes
import functools
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from mezzotint_kernels.abi import (
    ABI_VERSION,
    AttentionArgs,
    AttentionBackwardArgs,
    AttentionPlanStruct,
    DeviceStruct,
    LinearArgs,
    QuantizeArgs,
    Status,
)
from mezzotint_kernels.block_scaled_abi import BlockScaledLinearArgs, BlockScaledQuantizeArgs
from mezzotint_kernels.errors import InvalidArgument, KernelsError, KernelsUnavailable, LaunchFailed, Unsupported
from mezzotint_kernels.group_norm_abi import GroupNormArgs
from mezzotint_kernels.linear_attention_abi import LinearAttentionArgs

VARIABLE = "MEZZOTINT_KERNELS_LIBRARY"
_NAMES = {"win32": "mezzotint_kernels.dll", "darwin": "libmezzotint_kernels.dylib"}
_ERRORS: dict[int, type[KernelsError]] = {
    Status.UNSUPPORTED: Unsupported,
    Status.INVALID_ARGUMENT: InvalidArgument,
    Status.ABI_MISMATCH: KernelsUnavailable,
    Status.NO_DEVICE: KernelsUnavailable,
    Status.DRIVER_TOO_OLD: KernelsUnavailable,
    Status.WORKSPACE_TOO_SMALL: InvalidArgument,
    Status.LAUNCH_FAILED: LaunchFailed,
}


class Library:
    """The opened library; its functions have the signatures of csrc/api.h and the other headers beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            handle = ctypes.CDLL(str(path))
            # Checked first: nothing else is known about a library of another version.
            handle.mzt_abi_version.restype = ctypes.c_uint32
            self.abi = int(handle.mzt_abi_version())
        except (OSError, AttributeError) as error:
            raise KernelsUnavailable(f"{path} is no library of Mezzotint's kernels: {error}") from error
        if self.abi != ABI_VERSION:
            raise KernelsUnavailable(
                f"{path} has ABI version {self.abi}, and this package needs {ABI_VERSION}: run make kernels"
            )
        try:
            self._declare(handle)
        except AttributeError as error:
            raise KernelsUnavailable(f"{path} is older than this package: {error}: run make kernels") from error

    def _declare(self, handle: ctypes.CDLL) -> None:
        number, status = ctypes.POINTER(ctypes.c_int32), ctypes.c_int
        args, backward = ctypes.POINTER(AttentionArgs), ctypes.POINTER(AttentionBackwardArgs)
        plan, summed = ctypes.POINTER(AttentionPlanStruct), ctypes.POINTER(LinearAttentionArgs)
        normed = ctypes.POINTER(GroupNormArgs)
        for name in ("mzt_version", "mzt_architectures", "mzt_last_error"):
            getattr(handle, name).restype = ctypes.c_char_p
        for name, result, arguments in (
            ("mzt_driver", status, (number, number)),
            ("mzt_device", status, (ctypes.c_int32, ctypes.POINTER(DeviceStruct))),
            ("mzt_attention_plan", status, (args, ctypes.c_int32, plan)),
            ("mzt_attention_forward", status, (args, ctypes.c_int32, ctypes.c_void_p)),
            ("mzt_attention_backward_plan", status, (backward, ctypes.c_int32, plan)),
            ("mzt_attention_backward", status, (backward, ctypes.c_int32, ctypes.c_void_p)),
            ("mzt_linear_attention_plan", status, (summed, ctypes.c_int32, plan)),
            ("mzt_linear_attention", status, (summed, ctypes.c_int32, ctypes.c_void_p)),
            ("mzt_group_norm_workspace", status, (normed, ctypes.POINTER(ctypes.c_int64))),
            ("mzt_group_norm", status, (normed, ctypes.c_int32, ctypes.c_void_p)),
            ("mzt_quantize", status, (ctypes.POINTER(QuantizeArgs), ctypes.c_int32, ctypes.c_void_p)),
            ("mzt_linear", status, (ctypes.POINTER(LinearArgs), ctypes.c_int32, ctypes.c_void_p)),
            (
                "mzt_block_scaled_quantize",
                status,
                (ctypes.POINTER(BlockScaledQuantizeArgs), ctypes.c_int32, ctypes.c_void_p),
            ),
            (
                "mzt_block_scaled_linear",
                status,
                (ctypes.POINTER(BlockScaledLinearArgs), ctypes.c_int32, ctypes.c_void_p),
            ),
        ):
            function = getattr(handle, name)
            function.restype, function.argtypes = result, arguments
        self.driver, self.device = handle.mzt_driver, handle.mzt_device
        self.attention_plan, self.attention_forward = handle.mzt_attention_plan, handle.mzt_attention_forward
        self.backward_plan, self.backward = handle.mzt_attention_backward_plan, handle.mzt_attention_backward
        self.linear_attention_plan, self.linear_attention = (
            handle.mzt_linear_attention_plan,
            handle.mzt_linear_attention,
        )
        self.group_norm_workspace, self.group_norm = handle.mzt_group_norm_workspace, handle.mzt_group_norm
        self.quantize, self.linear = handle.mzt_quantize, handle.mzt_linear
        self.block_scaled_quantize = handle.mzt_block_scaled_quantize
        self.block_scaled_linear = handle.mzt_block_scaled_linear
        self._last_error = handle.mzt_last_error
        self.version = str(handle.mzt_version().decode())
        self.architectures = tuple(handle.mzt_architectures().decode().split())

    def last_error(self) -> str:
        """Return the message of this thread's last failed call."""
        return str(self._last_error().decode("utf-8", "replace"))

    def check(self, status: int) -> None:
        """Raise the error for a nonzero `status`, with the library's message."""
        if status:
            raise _ERRORS.get(status, KernelsError)(self.last_error() or f"the library returned status {status}")


@functools.cache
def library() -> Library:
    """Return the library, opened on first use. Raises KernelsUnavailable if there is none."""
    return Library(find_library())


def find_library(
    environment: Mapping[str, str] = os.environ, platform: str = sys.platform, package: Path = Path(__file__).parent
) -> Path:
    """Return the library's path: MEZZOTINT_KERNELS_LIBRARY, in this package, or where `make kernels` built it."""
    named = environment.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            raise KernelsUnavailable(f"{VARIABLE} is {named!r}, and no such file is there: correct or unset it")
        return Path(named)
    name = _NAMES.get(platform, "libmezzotint_kernels.so")
    places = (package, package.parents[1] / "build" / "kernels")
    for place in places:
        if (place / name).is_file():
            return place / name
    raise KernelsUnavailable(
        f"the compiled kernels are not here ({name} is in none of {', '.join(map(str, places))}): "
        f"run make kernels, or name the file in {VARIABLE}"
    )

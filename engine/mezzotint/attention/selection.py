"""Choose a job's attention implementation: the requested one, if library, device and self-test allow it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

from mezzotint.dispatch.library import AttentionLibrary, open_installed
from mezzotint.dispatch.registry import KernelBackend
from mezzotint.errors import UsageError
from mezzotint.gpu import has_tcgen05, runs_kernels
from mezzotint.protocol import Attention

if TYPE_CHECKING:
    import torch

    from mezzotint.attention.compiled import CompiledAttention
    from mezzotint.attention.session import AttentionSession
    from mezzotint.dispatch.dispatcher import Tell
    from mezzotint.dispatch.self_test import SelfTest

COMPILED: tuple[Attention, ...] = ("flash", "flash-fp16", "int8", "int8-all", "int8-fp8")  # our kernels
PLAIN: tuple[Attention, ...] = ("sdpa", "reference")  # plain torch, available everywhere
_SHORT = ("float16", "bfloat16")


class AttentionBackends:
    """Our attention kernels, by name.

    `flash` is in 16 bits, `flash-fp16` sums values in 16 bits, too, `int8` has 8-bit scores, `int8-all` values, too,
    `int8-fp8` has values in 8-bit floats.
    """

    def __init__(
        self, open_library: Callable[[], AttentionLibrary] = open_installed, device_type: str = "cuda"
    ) -> None:
        @cache
        def opened() -> "CompiledAttention":
            from mezzotint.attention.compiled import CompiledAttention

            return CompiledAttention(open_library())

        self.compiled: dict[str, KernelBackend[CompiledAttention]] = {
            name: KernelBackend(
                open_kernels=opened,
                test=partial(_self_test, name=name),
                wrong_device=partial(_wrong_device, device_type),
                wrong_dtype=_wrong_dtype,
            )
            for name in COMPILED
        }

    def session(self, asked: Attention, device: str, dtype: str, tell: "Tell") -> "AttentionSession":
        """Return the attention session for a job; raises UsageError if the requested attention cannot run there.

        `auto` means `flash` where available and `sdpa` elsewhere, and on data-center Blackwell, where torch's is about
        three times as fast (1420 TFLOP/s by cuDNN, 444 by FlashAttention 2 on a B200: benchmarks of
        NVIDIA/cudnn-frontend); the others are used only on request.
        """
        from mezzotint.attention.session import AttentionSession

        if asked == "sdpa" or asked == "reference":
            return AttentionSession(asked=asked, chosen=asked, kernels=None, tell=tell)
        wanted: Literal["flash", "flash-fp16", "int8", "int8-all", "int8-fp8"] = "flash" if asked == "auto" else asked
        backend = self.compiled[wanted]
        missing = backend.missing(device, dtype)
        if missing is not None and asked != "auto":
            raise UsageError(f"attention {asked!r} cannot be used: {missing}; or use --attention auto")
        if asked == "auto" and (missing is not None or has_tcgen05(device)):
            return AttentionSession(asked=asked, chosen="sdpa", kernels=None, tell=tell)
        kernels, problem = backend.usable(device, dtype)
        if kernels is None and asked == "auto":
            return AttentionSession(asked=asked, chosen="sdpa", kernels=None, tell=tell)
        session = AttentionSession(asked=asked, chosen=wanted, kernels=kernels, tell=tell)
        if problem is not None:
            session.give_up(problem)
        return session


def _wrong_device(device_type: str, device: str) -> str | None:
    if runs_kernels(device, device_type):
        return None
    return (
        f"it needs an NVIDIA GPU, and the device is {device}; "
        "choose a GPU with --device cuda (`mezzotint doctor` lists what is available)"
    )


def _wrong_dtype(dtype: str) -> str | None:
    if dtype in _SHORT:
        return None
    return f"it needs a 16-bit dtype, not {dtype}; choose --dtype bfloat16 or float16"


def _self_test(kernels: "CompiledAttention", device: "torch.device", dtype: "torch.dtype", *, name: str) -> "SelfTest":
    from mezzotint.attention.self_test import run_flash_self_test, run_half_sums_self_test, run_self_test

    if name == "flash":
        return run_flash_self_test(kernels, device, dtype)
    if name == "flash-fp16":
        return run_half_sums_self_test(kernels, device, dtype)
    options = {"int8_values": name == "int8-all", "fp8_values": name == "int8-fp8"}
    return run_self_test(kernels, device, dtype, int8=name.startswith("int8"), **options)


@contextmanager
def torch_attention(session: "AttentionSession") -> Iterator[None]:
    """Restrict torch's own SDPA inside the context: the math backend for `reference`, otherwise torch's choice."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    if session.used == "reference":
        with sdpa_kernel([SDPBackend.MATH]):
            yield
    else:
        yield

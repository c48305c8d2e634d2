"""Which implementation attends in a job: what was asked, where library, device and self-test allow it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from mezzotint.dispatch.library import AttentionLibrary, Unavailable, open_installed
from mezzotint.errors import UsageError
from mezzotint.gpu import runs_kernels
from mezzotint.protocol import Attention

if TYPE_CHECKING:
    from mezzotint.attention.compiled import CompiledAttention
    from mezzotint.attention.self_test import SelfTest
    from mezzotint.attention.session import AttentionSession, Tell

COMPILED: tuple[Attention, ...] = ("flash", "int8")  # by our kernels
PLAIN: tuple[Attention, ...] = ("sdpa", "reference")  # by torch: everywhere
_SHORT = ("float16", "bfloat16")


class AttentionBackends:
    """Opens the library when it is first needed, and tests it once on each device."""

    def __init__(
        self, open_library: Callable[[], AttentionLibrary] = open_installed, device_type: str = "cuda"
    ) -> None:
        self._open_library, self._device_type = open_library, device_type
        self._kernels: CompiledAttention | None = None
        self._tests: dict[tuple[str, str, Attention], SelfTest] = {}

    def session(self, asked: Attention, device: str, dtype: str, tell: "Tell") -> "AttentionSession":
        """What attends in a job on a device of that name in numbers of that format; UsageError for what cannot be.

        `auto` is `flash` where that can be and `sdpa` elsewhere, and `int8` is for those who ask for it.
        """
        from mezzotint.attention.session import AttentionSession

        if asked in PLAIN:
            plain: Literal["reference", "sdpa"] = "reference" if asked == "reference" else "sdpa"
            return AttentionSession(asked=asked, chosen=plain, kernels=None, tell=tell)
        missing = self.missing(device, dtype)
        if missing is not None and asked != "auto":
            raise UsageError(f"attention {asked!r} cannot be used: {missing}; or use --attention auto")
        if missing is not None:
            return AttentionSession(asked=asked, chosen="sdpa", kernels=None, tell=tell)
        wanted: Literal["flash", "int8"] = "int8" if asked == "int8" else "flash"
        test = self.self_test(wanted, device, dtype)
        if test.has_no_kernels and asked == "auto":
            return AttentionSession(asked=asked, chosen="sdpa", kernels=None, tell=tell)
        session = AttentionSession(asked=asked, chosen=wanted, kernels=self._compiled(), tell=tell)
        if test.problem is not None:
            session.give_up(test.problem)
        return session

    def missing(self, device: str, dtype: str) -> str | None:
        """What our kernels lack for a device and a number format, and what to do; None: nothing."""
        if not runs_kernels(device, self._device_type):
            return (
                f"it runs on an NVIDIA card and the device is {device}; "
                "choose a card with --device cuda (`mezzotint doctor` says what is here)"
            )
        try:
            self._compiled()
        except Unavailable as error:
            return str(error)
        if dtype not in _SHORT:
            return f"it takes numbers of 16 bits and the dtype is {dtype}; choose --dtype bfloat16 or float16"
        return None

    def self_test(self, implementation: Attention, device: str, dtype: str) -> "SelfTest":
        """What came of the self-test on a device, which is run when that is first asked."""
        import torch

        from mezzotint.attention.self_test import run_self_test

        key = (device, dtype, implementation)
        if key not in self._tests:
            with torch.inference_mode():
                self._tests[key] = run_self_test(
                    self._compiled(), torch.device(device), getattr(torch, dtype), int8=implementation == "int8"
                )
        return self._tests[key]

    def _compiled(self) -> "CompiledAttention":
        from mezzotint.attention.compiled import CompiledAttention

        if self._kernels is None:
            self._kernels = CompiledAttention(self._open_library())
        return self._kernels


@contextmanager
def torch_attention(session: "AttentionSession") -> Iterator[None]:
    """What torch does by itself inside: for `reference` plain products, else whatever it thinks best."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    if session.used == "reference":
        with sdpa_kernel([SDPBackend.MATH]):
            yield
    else:
        yield

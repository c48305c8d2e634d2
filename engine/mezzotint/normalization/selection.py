"""Choose a job's kernels of GroupNorm, if library, device and self-test allow it."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mezzotint.dispatch.library import GroupNormLibrary, open_installed
from mezzotint.dispatch.registry import KernelBackend
from mezzotint.gpu import runs_kernels

if TYPE_CHECKING:
    import torch

    from mezzotint.dispatch.dispatcher import Tell
    from mezzotint.dispatch.self_test import SelfTest
    from mezzotint.normalization.compiled import CompiledGroupNorm
    from mezzotint.normalization.session import GroupNormSession

_SHORT = ("float16", "bfloat16")


class GroupNormBackend:
    """Our kernels of GroupNorm and SiLU, tested once per device and dtype."""

    def __init__(
        self, open_library: Callable[[], GroupNormLibrary] = open_installed, device_type: str = "cuda"
    ) -> None:
        def opened() -> "CompiledGroupNorm":
            from mezzotint.normalization.compiled import CompiledGroupNorm

            return CompiledGroupNorm(open_library())

        self.kernels: KernelBackend[CompiledGroupNorm] = KernelBackend(
            open_kernels=opened,
            test=_self_test,
            wrong_device=lambda device: None if runs_kernels(device, device_type) else f"the device is {device}",
            wrong_dtype=lambda dtype: None if dtype in _SHORT else f"the dtype is {dtype}",
        )

    def works(self, device: str, dtype: str) -> bool:
        """Whether a job on this device in this dtype uses the kernels."""
        kernels, problem = self.kernels.usable(device, dtype)
        return kernels is not None and problem is None

    def session(self, device: str, dtype: str, networks: Iterable[object], tell: "Tell") -> "GroupNormSession":
        """Return the session for a job on this device in this dtype; reports a problem with the kernels."""
        from mezzotint.normalization.session import GroupNormSession, has_norms

        networks = list(networks)
        kernels, problem = self.kernels.usable(device, dtype) if has_norms(networks) else (None, None)
        made = GroupNormSession(kernels, tell, networks)
        if kernels is not None and problem is not None:
            made.give_up(problem)
        return made


def _self_test(kernels: "CompiledGroupNorm", device: "torch.device", dtype: "torch.dtype") -> "SelfTest":
    from mezzotint.normalization.self_test import run_group_norm_self_test

    return run_group_norm_self_test(kernels, device, dtype)

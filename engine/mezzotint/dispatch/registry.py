"""The kernels for jobs and the doctor: opened on first use, and tested once per device and dtype."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from mezzotint.dispatch.library import Unavailable
from mezzotint.dispatch.self_test import SelfTest

if TYPE_CHECKING:
    import torch

K = TypeVar("K")


class KernelBackend(Generic[K]):
    """The kernels of one implementation of an operation, in this process."""

    def __init__(
        self,
        *,
        open_kernels: Callable[[], K],
        test: "Callable[[K, torch.device, torch.dtype], SelfTest]",
        wrong_device: Callable[[str], str | None],
        wrong_dtype: Callable[[str], str | None],
    ) -> None:
        """`wrong_device` and `wrong_dtype` return why a device or dtype is not supported; None if it is."""
        self._open, self._test, self._wrong_device, self._wrong_dtype = open_kernels, test, wrong_device, wrong_dtype
        self._kernels: K | None = None
        self._tests: dict[tuple[str, str], SelfTest] = {}

    def missing(self, device: str, dtype: str) -> str | None:
        """What the kernels lack for a device and dtype, and what to do; None if nothing."""
        wrong = self._wrong_device(device)
        if wrong is not None:
            return wrong
        try:
            self._opened()
        except Unavailable as error:
            return str(error)
        return self._wrong_dtype(dtype)

    def self_test(self, device: str, dtype: str) -> SelfTest:
        """Result of the self-test on a device, which runs on the first call."""
        import torch

        key = (device, dtype)
        if key not in self._tests:
            with torch.inference_mode():
                self._tests[key] = self._test(self._opened(), torch.device(device), getattr(torch, dtype))
        return self._tests[key]

    def usable(self, device: str, dtype: str) -> tuple[K | None, str | None]:
        """The kernels, None if there are none for the device, and what the self-test found wrong with them."""
        if self.missing(device, dtype) is not None:
            return None, None
        test = self.self_test(device, dtype)
        return None if test.has_no_kernels else self._opened(), test.problem

    def give_up(self, device: str, dtype: str, problem: str) -> None:
        """Disable the kernels on a device: they failed after their self-test."""
        self._tests[device, dtype] = SelfTest(passed=(), unsupported=(), problem=problem)

    def _opened(self) -> K:
        if self._kernels is None:
            self._kernels = self._open()
        return self._kernels

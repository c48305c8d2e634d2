"""Whether our kernels multiply in a job: where layers, library, device and self-test allow it."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mezzotint.attention.library import Unavailable
from mezzotint.quantization.library import ProductLibrary, open_products

if TYPE_CHECKING:
    from mezzotint.quantization.compiled import CompiledLinear
    from mezzotint.quantization.product_self_test import SelfTest
    from mezzotint.quantization.products import ProductSession, Tell

_SHORT = ("float16", "bfloat16")


class ProductBackends:
    """Opens the library when it is first needed, and tests it once on each device."""

    def __init__(self, open_library: Callable[[], ProductLibrary] = open_products, device_type: str = "cuda") -> None:
        self._open_library, self._device_type = open_library, device_type
        self._kernels: CompiledLinear | None = None
        self._tests: dict[tuple[str, str], SelfTest] = {}

    def session(self, device: str, dtype: str, networks: Iterable[object], tell: "Tell") -> "ProductSession":
        """What multiplies in a job on a device of that name in numbers of that format."""
        from mezzotint.quantization.products import ProductSession, integer_layers

        networks = list(networks)
        layers = [layer for network in networks for layer in integer_layers(network)]
        if not layers or self.missing(device, dtype) is not None:
            return ProductSession(None, tell, layers)
        test = self.self_test(device, dtype)
        if test.has_no_kernels:
            return ProductSession(None, tell, layers)
        session = ProductSession(self._compiled(), tell, layers, networks)
        if test.problem is not None:
            session.give_up(test.problem)
        return session

    def missing(self, device: str, dtype: str) -> str | None:
        """What our kernels lack for a device and a number format, and what to do; None: nothing."""
        if device.partition(":")[0] != self._device_type:
            return f"the kernels run on an NVIDIA card and the device is {device}"
        try:
            self._compiled()
        except Unavailable as error:
            return str(error)
        return None if dtype in _SHORT else f"the kernels take numbers of 16 bits and the dtype is {dtype}"

    def self_test(self, device: str, dtype: str) -> "SelfTest":
        """What came of the self-test on a device, which is run when that is first asked."""
        import torch

        from mezzotint.quantization.product_self_test import run_self_test

        key = (device, dtype)
        if key not in self._tests:
            with torch.inference_mode():
                self._tests[key] = run_self_test(self._compiled(), torch.device(device), getattr(torch, dtype))
        return self._tests[key]

    def _compiled(self) -> "CompiledLinear":
        from mezzotint.quantization.compiled import CompiledLinear

        if self._kernels is None:
            self._kernels = CompiledLinear(self._open_library())
        return self._kernels

"""Whether kernels multiply in a job, ours or bitsandbytes': where layers, library, device and self-test allow it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mezzotint.dispatch.library import ProductLibrary, Unavailable, open_installed
from mezzotint.gpu import runs_kernels
from mezzotint.protocol import Products

if TYPE_CHECKING:
    from mezzotint.quantization.layers import QuantizedLinear
    from mezzotint.quantization.products.products import Means, Multiply, ProductSession, Tell
    from mezzotint.quantization.products.self_test import SelfTest

_SHORT = ("float16", "bfloat16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Kernels for one kind of layers: what they are called, open to, and take."""

    name: Products
    open: "Callable[[], Multiply]"
    device_type: str
    dtypes: tuple[str, ...]
    any_maker: bool = False  # on AMD's cards, too, which torch calls cuda


class ProductBackend:
    """Kernels for one kind of layers: opened when they are first needed, and tested once on each device."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._kernels: Multiply | None = None
        self._tests: dict[tuple[str, str], SelfTest] = {}

    @property
    def name(self) -> Products:
        """As results have it."""
        return self._kind.name

    def means(self, device: str, dtype: str, layers: "list[QuantizedLinear]") -> "tuple[Means, str | None]":
        """What multiplies for these layers in a job, and what is wrong with it."""
        from mezzotint.quantization.products.products import Means

        if not layers or self.missing(device, dtype) is not None:
            return Means(self.name, layers), None
        test = self.self_test(device, dtype)
        return Means(self.name, layers, None if test.has_no_kernels else self._opened()), test.problem

    def missing(self, device: str, dtype: str) -> str | None:
        """What the kernels lack for a device and a number format, and what to do; None: nothing."""
        kind = self._kind
        if device.partition(":")[0] != kind.device_type:
            return f"the kernels run on an NVIDIA card and the device is {device}"
        if not kind.any_maker and not runs_kernels(device, kind.device_type):
            return f"the kernels run on an NVIDIA card and {device} is AMD's"
        try:
            self._opened()
        except Unavailable as error:
            return str(error)
        if dtype in kind.dtypes:
            return None
        return f"the kernels take numbers of {' and '.join(kind.dtypes)}, and the dtype is {dtype}"

    def self_test(self, device: str, dtype: str) -> "SelfTest":
        """What came of the self-test on a device, which is run when that is first asked."""
        import torch

        from mezzotint.quantization.products.self_test import CASES, run_self_test

        key = (device, dtype)
        if key not in self._tests:
            kernels, cases = self._opened(), CASES[self.name]
            with torch.inference_mode():
                self._tests[key] = run_self_test(kernels, torch.device(device), getattr(torch, dtype), cases)
        return self._tests[key]

    def _opened(self) -> "Multiply":
        if self._kernels is None:
            self._kernels = self._kind.open()
        return self._kernels


class ProductBackends:
    """Our kernels for products of integers, bitsandbytes' for weights in NF4."""

    def __init__(
        self,
        open_library: Callable[[], ProductLibrary] = open_installed,
        device_type: str = "cuda",
        open_nf4: "Callable[[], Multiply] | None" = None,
    ) -> None:
        def ours() -> "Multiply":
            from mezzotint.quantization.products.compiled import CompiledLinear

            return CompiledLinear(open_library())

        integers = Kind(name="kernels", open=ours, device_type=device_type, dtypes=_SHORT)
        dtypes = (*_SHORT, "float32")
        nf4 = Kind(
            name="bitsandbytes",
            open=open_nf4 or _bitsandbytes,
            device_type=device_type,
            dtypes=dtypes,
            any_maker=True,
        )
        self.integers, self.nf4 = ProductBackend(integers), ProductBackend(nf4)

    def session(self, device: str, dtype: str, networks: Iterable[object], tell: "Tell") -> "ProductSession":
        """What multiplies in a job on a device of that name in numbers of that format."""
        from mezzotint.quantization.products.products import ProductSession, integer_layers, nf4_layers

        networks = list(networks)
        sought = ((self.integers, integer_layers), (self.nf4, nf4_layers))
        found = [
            backend.means(device, dtype, [layer for network in networks for layer in layers_of(network)])
            for backend, layers_of in sought
        ]
        (integers, _), (nf4, _) = found
        session = ProductSession(integers, nf4, tell, networks)
        for means, problem in found:
            if means.kernels is not None and problem is not None:
                session.give_up(means, problem)
        return session


def _bitsandbytes() -> "Multiply":
    from mezzotint.quantization.products.bitsandbytes import open_bitsandbytes

    return open_bitsandbytes()

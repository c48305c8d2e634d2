"""Choose a job's product kernels, ours or bitsandbytes', if layers, library, device and self-test allow it."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from mezzotint.dispatch.library import AllProductsLibrary, open_installed
from mezzotint.dispatch.registry import KernelBackend
from mezzotint.gpu import runs_kernels
from mezzotint.protocol import Products

if TYPE_CHECKING:
    import torch

    from mezzotint.dispatch.dispatcher import FallbackLog, Tell
    from mezzotint.dispatch.self_test import SelfTest
    from mezzotint.quantization.layers import QuantizedLinear
    from mezzotint.quantization.products.products import (
        Convolve,
        LayerConvolutions,
        LayerProducts,
        Multiply,
        ProductSession,
    )

_SHORT = ("float16", "bfloat16")


class ProductBackends:
    """Our kernels for integer products, and bitsandbytes' for NF4 weights, which also run on AMD GPUs."""

    def __init__(
        self,
        open_library: Callable[[], AllProductsLibrary] = open_installed,
        device_type: str = "cuda",
        open_nf4: "Callable[[], Multiply] | None" = None,
    ) -> None:
        def ours() -> "Multiply":
            from mezzotint.quantization.products.compiled import CompiledLinear

            return CompiledLinear(open_library())

        self.integers: KernelBackend[Multiply] = KernelBackend(
            open_kernels=ours,
            test=partial(_self_test, "kernels"),
            wrong_device=partial(_wrong_device, device_type, any_maker=False),
            wrong_dtype=partial(_wrong_dtype, _SHORT),
        )

        def block_scaled() -> "Multiply":
            from mezzotint.quantization.products.block_scaled import BlockScaledLinear

            return BlockScaledLinear(open_library())

        self.block_scaled: KernelBackend[Multiply] = KernelBackend(
            open_kernels=block_scaled,
            test=_block_scaled_self_test,
            wrong_device=partial(_wrong_device, device_type, any_maker=False),
            wrong_dtype=partial(_wrong_dtype, _SHORT),
        )

        def convolving() -> "Convolve":
            from mezzotint.quantization.products.convolutions import CompiledConvolution

            return CompiledConvolution(open_library())

        self.convolutions: KernelBackend[Convolve] = KernelBackend(
            open_kernels=convolving,
            test=_convolution_self_test,
            wrong_device=partial(_wrong_device, device_type, any_maker=False),
            wrong_dtype=partial(_wrong_dtype, _SHORT),
        )
        self.nf4: KernelBackend[Multiply] = KernelBackend(
            open_kernels=open_nf4 or _bitsandbytes,
            test=partial(_self_test, "bitsandbytes"),
            wrong_device=partial(_wrong_device, device_type, any_maker=True),
            wrong_dtype=partial(_wrong_dtype, (*_SHORT, "float32")),
        )

    def session(self, device: str, dtype: str, networks: Iterable[object], tell: "Tell") -> "ProductSession":
        """Return the product session for a job on this device in this dtype."""
        from mezzotint.dispatch.dispatcher import FallbackLog
        from mezzotint.quantization.products.products import (
            ProductSession,
            block_scaled_layers,
            integer_layers,
            may_keep_inputs,
            nf4_layers,
        )

        log, networks = FallbackLog("products_fell_back", tell), list(networks)
        integers = [layer for network in networks for layer in integer_layers(network)]
        if any(map(may_keep_inputs, integers)) and not self._multiplies_floats(device, dtype):
            integers = [layer for layer in integers if not may_keep_inputs(layer)]
        nf4 = [layer for network in networks for layer in nf4_layers(network)]
        return ProductSession(
            _products("kernels", self.integers, device, dtype, integers, log),
            _products("bitsandbytes", self.nf4, device, dtype, nf4, log),
            log,
            networks,
            self._block_scaled(device, dtype, [layer for each in networks for layer in block_scaled_layers(each)], log),
            self._convolutions(device, dtype, networks, log),
        )

    def _convolutions(
        self, device: str, dtype: str, networks: Iterable[object], log: "FallbackLog"
    ) -> "LayerConvolutions":
        """Return the dispatcher for convolutions with 8-bit inputs; reports a problem with the kernels."""
        from mezzotint.quantization.products.products import LayerConvolutions, integer_convolutions

        layers = [layer for network in networks for layer in integer_convolutions(network)]
        kernels, problem = self.convolutions.usable(device, dtype) if layers else (None, None)
        made = LayerConvolutions(layers, kernels, log)
        if kernels is not None and problem is not None:
            made.give_up(problem)
        return made

    def _block_scaled(
        self, device: str, dtype: str, layers: "list[QuantizedLinear]", log: "FallbackLog"
    ) -> "LayerProducts | None":
        """Return the dispatcher for block-scaled layers; None where their kernels do not run: torch then keeps x."""
        if not layers or self.block_scaled.usable(device, dtype)[0] is None:
            return None
        return _products("kernels", self.block_scaled, device, dtype, layers, log)

    def _multiplies_floats(self, device: str, dtype: str) -> bool:
        """Whether our kernels multiply floats of 8 bits on this device."""
        from mezzotint.quantization.products.self_test import FLOATS

        if self.integers.missing(device, dtype) is not None:
            return False
        return FLOATS not in self.integers.self_test(device, dtype).unsupported


def _products(
    name: Products,
    backend: "KernelBackend[Multiply]",
    device: str,
    dtype: str,
    layers: "list[QuantizedLinear]",
    log: "FallbackLog",
) -> "LayerProducts":
    """Return the dispatcher for these layers; reports a problem with the kernels."""
    from mezzotint.quantization.products.products import LayerProducts

    kernels, problem = backend.usable(device, dtype) if layers else (None, None)
    made = LayerProducts(name, layers, kernels, log)
    if kernels is not None and problem is not None:
        made.give_up(problem)
    return made


def _wrong_device(device_type: str, device: str, *, any_maker: bool) -> str | None:
    if device.partition(":")[0] != device_type:
        return f"the kernels need an NVIDIA GPU, and the device is {device}"
    if any_maker or runs_kernels(device, device_type):
        return None
    return f"the kernels need an NVIDIA GPU, and {device} is an AMD GPU"


def _wrong_dtype(dtypes: tuple[str, ...], dtype: str) -> str | None:
    if dtype in dtypes:
        return None
    return f"the kernels support the dtypes {' and '.join(dtypes)}, not {dtype}"


def _self_test(name: Products, kernels: "Multiply", device: "torch.device", dtype: "torch.dtype") -> "SelfTest":
    from mezzotint.quantization.products.self_test import CASES, run_self_test

    return run_self_test(kernels, device, dtype, CASES[name])


def _block_scaled_self_test(kernels: "Multiply", device: "torch.device", dtype: "torch.dtype") -> "SelfTest":
    from mezzotint.quantization.products.self_test import BLOCK_SCALED, run_self_test

    return run_self_test(kernels, device, dtype, BLOCK_SCALED)


def _convolution_self_test(kernels: "Convolve", device: "torch.device", dtype: "torch.dtype") -> "SelfTest":
    from mezzotint.quantization.products.convolution_self_test import run_convolution_self_test

    return run_convolution_self_test(kernels, device, dtype)


def _bitsandbytes() -> "Multiply":
    from mezzotint.quantization.products.bitsandbytes import open_bitsandbytes

    return open_bitsandbytes()

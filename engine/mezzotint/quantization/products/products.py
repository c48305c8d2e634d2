"""What multiplies with quantized weights in one job: kernels, ours or others', and torch wherever those cannot."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeAlias

import torch
from torch import Tensor, nn

from mezzotint.dispatch.library import LaunchFailed, Preparation, Unavailable, Unsupported
from mezzotint.protocol import ProductFallback, Products
from mezzotint.quantization.formats import Nf4
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.quantization.linear import Branch, QuantizedWeight
from mezzotint.quantization.products.operation import called_by_compiled_code, compiled_product
from mezzotint.quantization.shared_rounding import sharing

Tell: TypeAlias = Callable[[str, str], None]  # a notice: its code and its words


class Multiply(Protocol):
    """Kernels as a function of tensors: CompiledLinear, BitsAndBytesLinear."""

    device_type: str

    def __call__(
        self,
        x: Tensor,
        weight: QuantizedWeight,
        bias: Tensor | None = None,
        branch: Branch | None = None,
        preparation: Preparation = Preparation.AS_IT_IS,
    ) -> Tensor:
        """As `linear`; Unsupported where there is no kernel for it."""


class Means:
    """What may multiply for the layers of one kind in the place of torch, and how often it did."""

    def __init__(self, name: Products, layers: Iterable[QuantizedLinear], kernels: Multiply | None = None) -> None:
        self.name, self.layers, self.kernels = name, tuple(layers), kernels
        self.calls = 0

    @property
    def used(self) -> Products | None:
        """What multiplies now; None: there is no layer of the kind."""
        if not self.layers:
            return None
        return "torch" if self.kernels is None else self.name

    @property
    def ran(self) -> Products | None:
        """What multiplied up to now: kernels only if one of them was called."""
        return self.used if self.calls or not self.layers else "torch"


class ProductSession:
    """Counts what kernels could not do, and tells of the first."""

    def __init__(self, integers: Means, nf4: Means, tell: Tell, networks: Iterable[object] = ()) -> None:
        self.integers, self.nf4 = integers, nf4
        self._tell, self._networks = tell, tuple(networks)
        self._told = False
        self._reasons: Counter[str] = Counter()

    @property
    def fallbacks(self) -> tuple[ProductFallback, ...]:
        """Why torch multiplied, and how often; 0 calls: the kernels were given up before they began."""
        return tuple(ProductFallback(reason=reason, calls=calls) for reason, calls in self._reasons.items())

    def product(
        self,
        x: Tensor,
        weight: QuantizedWeight,
        bias: Tensor | None,
        branch: Branch | None,
        preparation: Preparation = Preparation.AS_IT_IS,
    ) -> Tensor | None:
        """As `Multiply`; None where the plain path must do it."""
        if torch.compiler.is_compiling():
            return compiled_product(x, weight, bias, branch, preparation)
        means = self.nf4 if isinstance(weight.format, Nf4) else self.integers
        if means.kernels is None or x.device.type != means.kernels.device_type:
            return None
        try:
            made = means.kernels(x, weight, bias, branch, preparation)
            means.calls += 1
            return made
        except Unsupported as error:
            self._fall_back(str(error))
        except (LaunchFailed, Unavailable) as error:
            self.give_up(means, str(error), calls=1)
        return None

    @contextmanager
    def multiplying(self) -> Iterator[None]:
        """Have the session multiply in its layers, inside, with the activations before them where that can be.

        Whatever multiplies, what queries, keys and values share is rounded once.
        """
        layers = [layer for means in (self.integers, self.nf4) if means.kernels is not None for layer in means.layers]
        if not layers:
            with sharing(self._networks):
                yield
            return
        from mezzotint.quantization.feed_forward import fused

        for layer in layers:
            layer.products = self
        try:
            with fused(self, self._networks, layers), sharing(self._networks), called_by_compiled_code(self):
                yield
        finally:
            for layer in layers:
                layer.products = None

    def give_up(self, means: Means, reason: str, calls: int = 0) -> None:
        """From here on torch multiplies for the layers of that kind."""
        self._reasons[reason] += calls
        owner = "the kernels" if means.name == "kernels" else "bitsandbytes' kernels"
        self._tell("products_fell_back", f"{owner} of quantized products are given up for torch's own: {reason}")
        means.kernels = None

    def _fall_back(self, reason: str) -> None:
        self._reasons[reason] += 1
        if not self._told:
            self._told = True
            message = f"the kernels cannot do every quantized product here, torch does the rest: {reason}"
            self._tell("products_fell_back", message)


def integer_layers(network: object) -> Iterator[QuantizedLinear]:
    """The layers of a network whose products are of integers."""
    return (layer for layer in _quantized(network) if layer.has_integer_products)


def nf4_layers(network: object) -> Iterator[QuantizedLinear]:
    """The layers of a network whose weights are NF4."""
    return (layer for layer in _quantized(network) if isinstance(layer.format, Nf4))


def _quantized(network: object) -> Iterator[QuantizedLinear]:
    modules = network.modules() if isinstance(network, nn.Module) else ()
    return (module for module in modules if isinstance(module, QuantizedLinear))

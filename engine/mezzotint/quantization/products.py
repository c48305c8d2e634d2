"""What multiplies with quantized weights in one job: our kernels, and torch wherever those cannot."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from torch import Tensor, nn

from mezzotint.attention.library import LaunchFailed, Unavailable, Unsupported
from mezzotint.protocol import ProductFallback, Products
from mezzotint.quantization.compiled import CompiledLinear
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.quantization.library import Preparation
from mezzotint.quantization.linear import Branch, QuantizedWeight

Tell: TypeAlias = Callable[[str, str], None]  # a notice: its code and its words


class ProductSession:
    """Counts what the kernels could not do, and tells of the first."""

    def __init__(
        self,
        kernels: CompiledLinear | None,
        tell: Tell,
        layers: Iterable[QuantizedLinear] = (),
        networks: Iterable[object] = (),
    ) -> None:
        self._kernels, self._tell = kernels, tell
        self._layers, self._networks = tuple(layers), tuple(networks)
        self._told = False
        self._reasons: Counter[str] = Counter()
        self.kernel_calls = 0

    @property
    def used(self) -> Products | None:
        """What multiplies now; None: there is no layer whose products are of integers."""
        if not self._layers:
            return None
        return "torch" if self._kernels is None else "kernels"

    @property
    def ran(self) -> Products | None:
        """What multiplied up to now: the kernels only if one of them was called."""
        return "torch" if self.used == "kernels" and not self.kernel_calls else self.used

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
        """As `CompiledLinear`; None where the plain path must do it."""
        if self._kernels is None or x.device.type != self._kernels.device_type:
            return None
        try:
            made = self._kernels(x, weight, bias, branch, preparation)
            self.kernel_calls += 1
            return made
        except Unsupported as error:
            self._fall_back(str(error))
        except (LaunchFailed, Unavailable) as error:
            self.give_up(str(error), calls=1)
        return None

    @contextmanager
    def multiplying(self) -> Iterator[None]:
        """Have the session multiply in its layers, inside, with the activations before them where that can be."""
        if self._kernels is None:
            yield
            return
        from mezzotint.quantization.feed_forward import fused

        for layer in self._layers:
            layer.products = self
        try:
            with fused(self, self._networks, self._layers):
                yield
        finally:
            for layer in self._layers:
                layer.products = None

    def give_up(self, reason: str, calls: int = 0) -> None:
        """From here on torch multiplies."""
        self._reasons[reason] += calls
        self._tell("products_fell_back", f"the kernels of quantized products are given up for torch's own: {reason}")
        self._kernels = None

    def _fall_back(self, reason: str) -> None:
        self._reasons[reason] += 1
        if not self._told:
            self._told = True
            message = f"the kernels cannot do every quantized product here, torch does the rest: {reason}"
            self._tell("products_fell_back", message)


def integer_layers(network: object) -> Iterator[QuantizedLinear]:
    """The layers of a network whose products are of integers."""
    for module in network.modules() if isinstance(network, nn.Module) else ():
        if isinstance(module, QuantizedLinear) and module.has_integer_products:
            yield module

"""Products with quantized weights in one job: by our or others' kernels, with torch as the fallback."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

import torch
from torch import Tensor, nn

from mezzotint.dispatch.dispatcher import Dispatcher, FallbackLog
from mezzotint.dispatch.library import Preparation
from mezzotint.protocol import KernelFallback, Products
from mezzotint.quantization.block_floats import Mxfp8, Nvfp4
from mezzotint.quantization.convolution import ConvGeometry
from mezzotint.quantization.formats import Format, Nf4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.fusion.around import Around
from mezzotint.quantization.layers import QuantizedConv2d, QuantizedLinear
from mezzotint.quantization.linear import Branch, JoinedWeight, QuantizedWeight, wants_gradients
from mezzotint.quantization.policy import keeps_inputs
from mezzotint.quantization.products.operation import compiled_product, use_in_compiled_code
from mezzotint.quantization.shared_quantization import share_quantized_inputs

_NOTHING = Around()


class Multiply(Protocol):
    """Kernels as a callable on tensors: CompiledLinear, BitsAndBytesLinear."""

    device_type: str

    def __call__(
        self,
        x: Tensor,
        weight: QuantizedWeight,
        bias: Tensor | None = None,
        branch: Branch | None = None,
        preparation: Preparation = Preparation.AS_IT_IS,
        around: Around = _NOTHING,
    ) -> Tensor:
        """Same as `linear`; raises Unsupported if there is no kernel."""


class LayerProducts(Dispatcher[Products | None, QuantizedWeight, Tensor | None, Branch | None, Preparation, Around]):
    """Dispatches the products of one kind of layers; nothing is used if there are none."""

    def __init__(
        self, name: Products, layers: Iterable[QuantizedLinear], kernels: Multiply | None, log: FallbackLog
    ) -> None:
        self.layers = tuple(layers)
        self.fused_calls = 0  # of all calls, those that included an activation, norm, gate or residual
        owner = "the kernels" if name == "kernels" else "bitsandbytes' kernels"
        super().__init__(
            name=name,
            plain="torch" if self.layers else None,
            kernels=kernels,
            device_type=None if kernels is None else kernels.device_type,
            log=log,
            given_up=f"{owner} for quantized layers failed; using torch instead",
            incomplete="the kernels do not support all quantized layers here; torch handles the rest",
        )


class Convolve(Protocol):
    """Kernels as a callable on tensors: CompiledConvolution."""

    device_type: str

    def __call__(self, x: Tensor, weight: QuantizedWeight, bias: Tensor | None, geometry: ConvGeometry) -> Tensor:
        """Convolve x, rounded pixel by pixel; raises Unsupported if there is no kernel."""


class LayerConvolutions(Dispatcher[Products | None, QuantizedWeight, Tensor | None, ConvGeometry]):
    """Dispatches convolutions with 8-bit inputs."""

    def __init__(self, layers: Iterable[QuantizedConv2d], kernels: Convolve | None, log: FallbackLog) -> None:
        self.layers = tuple(layers)
        super().__init__(
            name="kernels",
            plain="torch" if self.layers else None,
            kernels=kernels,
            device_type=None if kernels is None else kernels.device_type,
            log=log,
            given_up="the kernels for quantized convolutions failed; using torch instead",
            incomplete="the kernels do not support all quantized convolutions here; torch handles the rest",
        )


class ProductSession:
    """Our kernels, for integers and for block-scaled numbers, and bitsandbytes', each for its layers."""

    def __init__(
        self,
        integers: LayerProducts,
        nf4: LayerProducts,
        log: FallbackLog,
        networks: Iterable[object] = (),
        block_scaled: LayerProducts | None = None,
        convolutions: LayerConvolutions | None = None,
    ) -> None:
        self.integers, self.nf4 = integers, nf4
        self.block_scaled = block_scaled or LayerProducts("kernels", (), None, log)
        self.convolutions = convolutions or LayerConvolutions((), None, log)
        self._log, self._networks = log, tuple(networks)
        self.schemes: Counter[str] = Counter()  # calls of our kernels by the scheme of the weights

    @property
    def ran(self) -> Products | None:
        """What computed the products that our kernels support so far; None if there are none."""
        kinds = [kind for kind in (self.integers, self.block_scaled) if kind.layers]
        return next((kind.ran for kind in kinds if kind.calls), kinds[0].ran if kinds else None)

    @property
    def calls(self) -> int:
        """Calls of our kernels, convolutions among them."""
        return self.integers.calls + self.block_scaled.calls + self.convolutions.calls

    @property
    def fused_calls(self) -> int:
        """Of these, those that included an activation, norm, gate or residual."""
        return self.integers.fused_calls + self.block_scaled.fused_calls

    @property
    def fallbacks(self) -> tuple[KernelFallback, ...]:
        """Reasons for fallbacks to torch, with their counts."""
        return self._log.fallbacks

    def product(
        self,
        x: Tensor,
        weight: QuantizedWeight,
        bias: Tensor | None,
        branch: Branch | None,
        preparation: Preparation = Preparation.AS_IT_IS,
        around: Around = _NOTHING,
    ) -> Tensor | None:
        """Same as `Multiply`; None if torch must compute it, or if gradients are required."""
        if wants_gradients(x, bias, branch):
            return None
        if torch.compiler.is_compiling():
            return compiled_product(x, weight, bias, branch, preparation)
        kind = self._kind_of(weight.format)
        made = kind.run(x, weight, bias, branch, preparation, around)
        if made is None:
            return None
        joined = isinstance(weight, JoinedWeight)
        if around.is_something or joined or preparation is not Preparation.AS_IT_IS:
            kind.fused_calls += 1
        if kind is not self.nf4:
            self.schemes[weight.format.scheme] += 1
        return made

    def convolved(
        self, x: Tensor, weight: QuantizedWeight, bias: Tensor | None, geometry: ConvGeometry
    ) -> Tensor | None:
        """Same as `Convolve`; None if torch must compute it."""
        return None if torch.compiler.is_compiling() else self.convolutions.run(x, weight, bias, geometry)

    @contextmanager
    def _convolving(self) -> Iterator[None]:
        layers = self.convolutions.layers if self.convolutions.kernels is not None else ()
        for layer in layers:
            layer.products = self
        try:
            yield
        finally:
            for layer in layers:
                layer.products = None

    def _kind_of(self, format_: Format) -> LayerProducts:
        if isinstance(format_, Mxfp8 | Nvfp4):
            return self.block_scaled
        return self.nf4 if isinstance(format_, Nf4) else self.integers

    @contextmanager
    def multiplying(self) -> Iterator[None]:
        """Use the session in its layers inside the context, fused with the preceding activations where possible.

        Whatever computes the products, the common input of queries, keys and values is quantized once.
        """
        with self._convolving(), self._multiplying():
            yield

    @contextmanager
    def _multiplying(self) -> Iterator[None]:
        kinds = (self.integers, self.nf4, self.block_scaled)
        layers = [layer for kind in kinds if kind.kernels is not None for layer in kind.layers]
        if not layers:
            with share_quantized_inputs(self._networks):
                yield
            return
        from mezzotint.quantization.feed_forward import fused
        from mezzotint.quantization.fusion.attention import projecting_jointly
        from mezzotint.quantization.fusion.blocks import computing_fused
        from mezzotint.quantization.fusion.layers import Fusion

        fusion = Fusion(self, layers)
        for layer in layers:
            layer.products = self
        try:
            with (
                fused(fusion, self._networks, layers),
                fusion.joining(self._networks),
                computing_fused(fusion, self._networks),
                projecting_jointly(fusion, self._networks),
                share_quantized_inputs(self._networks),
                use_in_compiled_code(self),
            ):
                yield
        finally:
            for layer in layers:
                layer.products = None


def integer_layers(network: object) -> Iterator[QuantizedLinear]:
    """Layers of a network that quantize their inputs, too.

    Those that may keep them do where few inputs decide much: in text encoders, and in layers of text and modulation.
    """
    modules = network.named_modules() if isinstance(network, nn.Module) else ()
    for name, layer in modules:
        if not isinstance(layer, QuantizedLinear) or not layer.has_integer_products:
            continue
        if not (may_keep_inputs(layer) and keeps_inputs(type(network).__name__, name)):
            yield layer


def integer_convolutions(network: object) -> Iterator[QuantizedConv2d]:
    """Convolutions of a network that quantize their inputs, too."""
    modules = network.modules() if isinstance(network, nn.Module) else ()
    return (each for each in modules if isinstance(each, QuantizedConv2d) and each.has_integer_products)


def may_keep_inputs(layer: QuantizedLinear) -> bool:
    """Whether the layer is multiplied in 16 bits where there are no kernels for it."""
    return isinstance(layer.format, Fp8) and layer.format.inputs == "either"


def block_scaled_layers(network: object) -> Iterator[QuantizedLinear]:
    """Layers of a network with MXFP8 and NVFP4 weights, whose inputs may be rounded to these formats."""
    return (layer for layer in _quantized(network) if layer.has_block_scaled_products)


def nf4_layers(network: object) -> Iterator[QuantizedLinear]:
    """Layers of a network with NF4 weights."""
    return (layer for layer in _quantized(network) if isinstance(layer.format, Nf4))


def _quantized(network: object) -> Iterator[QuantizedLinear]:
    modules = network.modules() if isinstance(network, nn.Module) else ()
    return (module for module in modules if isinstance(module, QuantizedLinear))

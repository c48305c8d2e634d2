"""Trainable layers by kind: LoRA (arXiv 2106.09685), DoRA (arXiv 2402.09353) and LoKr (arXiv 2309.14859)."""

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from mezzotint.families.family import Network
from mezzotint.families.lora.base_weights import base_weight
from mezzotint.families.lora.factors import LoraFactors
from mezzotint.families.lora.written import DoraFactors, LokrFactors, WrittenLayer
from mezzotint.quantization.branched import weight_shape
from mezzotint.quantization.convolution import convolved
from mezzotint.quantization.dora import row_squares
from mezzotint.quantization.linear import Branch, with_branch
from mezzotint.quantization.lycoris import Kronecker
from mezzotint.training_protocol import LayerKind


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSettings:
    """What a new layer depends on."""

    rank: int
    alpha: float
    seed: int | None  # None: no numbers, to trace memory
    factor: int = -1  # of a LoKr: size of the smaller factor; -1: about equal


class TrainedLayer(Protocol):
    """What is trained beside one layer."""

    @property
    def parts(self) -> nn.ParameterDict:
        """Parameters by name."""

    def added(self, module: Any, x: Tensor, output: Tensor) -> Tensor:  # noqa: ANN401
        """The layer's output with it, given that without."""

    def written(self) -> WrittenLayer:
        """What is written, on the CPU."""


class LoraLayer:
    """A LoRA; of a convolution with a kernel, a LoCon."""

    def __init__(self, network: Network, name: str, settings: LayerSettings) -> None:
        shape = weight_shape(network.get_submodule(name))
        window = (1,) * (len(shape) - 2)
        down = _uniform(_seed(settings, name), (settings.rank, *shape[1:]), math.prod(shape[1:]))
        up = torch.zeros(shape[0], settings.rank, *window)
        self.parts = nn.ParameterDict({"down": nn.Parameter(down), "up": nn.Parameter(up)})
        self.alpha = settings.alpha

    @property
    def branch(self) -> Branch:
        """The update, with its scale in up."""
        scale = self.alpha / len(self.parts["down"])
        return Branch(down=self.parts["down"], up=self.parts["up"] * scale)

    def added(self, module: Any, x: Tensor, output: Tensor) -> Tensor:  # noqa: ANN401
        """The layer's output with the update's."""
        return _with_branch(output, x, self.branch, module)

    def written(self) -> LoraFactors:
        """The factors."""
        down, up = (_on_cpu(self.parts[part]) for part in ("down", "up"))
        return LoraFactors(down=down, up=up, alpha=self.alpha)


class DoraLayer:
    """A LoRA, and the norms of the weight's rows, which are trained apart from their directions.

    The norms by which rows are divided count as constants in gradients (section 4.3 of the paper). They are computed
    from the layer's own weight, dequantized if need be, some rows at a time.
    """

    def __init__(self, network: Network, name: str, settings: LayerSettings) -> None:
        self._network, self._name = network, name
        self._lora = LoraLayer(network, name, settings)
        magnitude = nn.Parameter(self._row_norms().cpu().clone())
        self._lora.parts["magnitude"] = magnitude
        self.parts = self._lora.parts

    def added(self, module: Any, x: Tensor, output: Tensor) -> Tensor:  # noqa: ANN401
        """The layer's output with rescaled rows: `y + (g - 1) (y - bias) + g branch(x)`, with gains g."""
        gain, branch = self.parts["magnitude"] / self._row_norms(), self._lora.branch
        window = (1,) * (branch.up.ndim - 2)
        factors = (gain - 1).to(output.dtype).view(-1, *window)
        bias = 0 if module.bias is None else module.bias.to(output.dtype).view(-1, *window)
        rescaled = output + (output - bias) * factors
        scaled = Branch(down=branch.down, up=branch.up * gain.view(-1, 1, *window))
        return _with_branch(rescaled, x, scaled, module)

    def written(self) -> DoraFactors:
        """Factors and magnitudes."""
        return DoraFactors(factors=self._lora.written(), magnitude=_on_cpu(self.parts["magnitude"]))

    def _row_norms(self) -> Tensor:
        """Norms `(n)` of the rows of the weight with the update, computed as by those who read the file."""
        with torch.no_grad():
            branch = self._lora.branch
            device = branch.down.device
            return row_squares(base_weight(self._network, self._name, {}, device), branch, device).sqrt().flatten()


class LokrLayer:
    """The Kronecker product of a small and a large factor; the large one has factors itself if its rank is low.

    Shapes, names and initial values are those of LyCORIS's LokrModule.
    """

    def __init__(self, network: Network, name: str, settings: LayerSettings) -> None:
        rows, columns, *window = weight_shape(network.get_submodule(name))
        (a, m), (b, p) = factorized(rows, settings.factor), factorized(columns, settings.factor)
        seed, rank = _seed(settings, name), settings.rank
        parts = {"lokr_w1": _uniform(seed, (a, b), b)}
        self._window, self._is_whole = tuple(window), rank >= max(m, p) / 2
        if self._is_whole:
            parts["lokr_w2"] = torch.zeros(m, p, *window)
        else:
            parts["lokr_w2_a"] = _uniform(seed and f"{seed} w2", (m, rank), rank)
            parts["lokr_w2_b"] = torch.zeros(rank, p * math.prod(window))
        self.parts = nn.ParameterDict({part: nn.Parameter(tensor) for part, tensor in parts.items()})
        self._rank, self._alpha = rank, float(rank) if self._is_whole else settings.alpha

    def added(self, module: Any, x: Tensor, output: Tensor) -> Tensor:  # noqa: ANN401
        """The layer's output with the product's."""
        parts = self.parts
        right = parts["lokr_w2"] if self._is_whole else parts["lokr_w2_a"] @ parts["lokr_w2_b"]
        right = right.reshape(len(right), -1, *self._window)
        product = Kronecker(left=parts["lokr_w1"], right=right, scale=self._alpha / self._rank)
        return output + (product.convolved(x, module) if self._window else product.apply(x))

    def written(self) -> LokrFactors:
        """The factors."""
        parts = {part: _on_cpu(parameter) for part, parameter in self.parts.items()}
        return LokrFactors(parts=parts, rank=self._rank, alpha=self._alpha)


KINDS: Mapping[LayerKind, Callable[[Network, str, LayerSettings], TrainedLayer]] = {
    "lora": LoraLayer,
    "dora": DoraLayer,
    "lokr": LokrLayer,
}


def factorized(size: int, factor: int = -1) -> tuple[int, int]:
    """Two factors of a size, the smaller first: `factor` and the rest if it divides the size, or else as equal as
    possible with the smaller one not above `factor`; -1: as equal as possible.
    """
    if factor > 0 and size % factor == 0:
        return min(factor, size // factor), max(factor, size // factor)
    most = math.isqrt(size) if factor < 0 else min(factor, math.isqrt(size))
    small = next(each for each in range(most, 0, -1) if size % each == 0)
    return small, size // small


def _with_branch(output: Tensor, x: Tensor, branch: Branch, module: Any) -> Tensor:  # noqa: ANN401
    return with_branch(output, x, branch) if branch.down.ndim == 2 else convolved(output, x, [branch], module)


def _seed(settings: LayerSettings, name: str) -> str | None:
    return None if settings.seed is None else f"{settings.seed} {name}"


def _uniform(seed: str | None, shape: tuple[int, ...], inputs: int) -> Tensor:
    """Numbers that torch would initialize a layer of so many inputs with; the same for a seed."""
    if seed is None:
        return torch.empty(shape)
    digest = hashlib.sha256(seed.encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "little"))
    return (torch.rand(shape, generator=generator) * 2 - 1) / math.sqrt(inputs)


def _on_cpu(parameter: Tensor) -> Tensor:
    return parameter.detach().cpu()

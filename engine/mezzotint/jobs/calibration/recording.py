"""Records the layers of a network while an engine runs it: samples of their inputs, and their influence on its output.

The influence of a layer is the relative change of the network's output by a small relative error of the layer's. The
network is called again for each layer with the inputs of one call, and noise is added to the layer's weight.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from mezzotint.acceleration.text_cache import CachedLayer
from mezzotint.conversion.auto.layers import Recording
from mezzotint.errors import Cancelled

ROWS = 256  # of each layer, over all calls
SAMPLE_BYTES = 256 * 2**20  # of all layers' rows
_IMAGES = 4  # dimensions of images' latents
_NOISE = 0.1  # norm of the noise relative to the weight's: about that of 4 bits


@dataclass(kw_only=True)
class Recorder:
    """Hooks for the network of a class, wherever it is called inside `recording()`."""

    class_name: str
    layers: Mapping[str, tuple[int, ...]]  # shapes of weights by name: layers whose inputs are sampled
    others: Sequence[str]  # layers whose work alone is counted
    calls: int  # of the network that are expected; rows are sampled from each
    replayed: int  # number of the call, from 0, that is repeated to measure influence; -1: none
    measured: Sequence[str]  # layers whose influence is measured
    on_layer: Callable[[int, int], None]
    cancelled: Callable[[], bool]
    guidance: float = 0.0  # scale by which halves of a call are combined, the unconditional one first; 0: no halves
    recordings: dict[str, Recording] = field(default_factory=dict)
    _network: nn.Module | None = None
    _call: int = -1
    _noisy: str | None = None  # layer that gets noise now
    _replaying: bool = False
    _relative: float = 0.0  # error of its output
    _hooks: list[Any] = field(default_factory=list)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Context manager: inside, the network's calls are recorded."""
        found = nn.modules.module.register_module_forward_pre_hook(self._found)
        try:
            yield
        finally:
            found.remove()
            for hook in self._hooks:
                hook.remove()
            self._hooks, self._network = [], None

    def _found(self, module: nn.Module, _: object) -> None:
        """A module is called: if it is the network, attach to it the first time."""
        if type(module).__name__ != self.class_name or self._replaying:
            return
        if module is not self._network:
            self._attach(module)
        self._call += 1
        for each in self.recordings.values():
            each.work = 0.0

    def _attach(self, network: nn.Module) -> None:
        for hook in self._hooks:
            hook.remove()
        self._network, self._hooks = network, [network.register_forward_hook(self._ended, with_kwargs=True)]
        for name in (*self.layers, *self.others):
            layer = _unwrapped(network.get_submodule(name))
            self._hooks.append(layer.register_forward_hook(partial(self._seen, name)))

    def _seen(self, name: str, layer: Any, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor | None:  # noqa: ANN401
        """A layer was called; while its influence is measured, returns its output with noise."""
        if self._replaying:
            return self._with_noise(layer, inputs[0], output) if name == self._noisy else None
        recording = self.recordings.setdefault(name, Recording())
        recording.work += 2.0 * output.numel() * math.prod(layer.weight.shape[1:])
        kept = sum(len(rows) for rows in recording.rows)
        count = min(self._rows_of_call, self._most_rows - kept)
        if name in self.layers and count > 0 and getattr(layer, "groups", 1) == 1:
            recording.rows.append(rows_of(layer, inputs[0], count, seed=self._call).cpu())
        return None

    @property
    def _most_rows(self) -> int:
        """Rows of each layer, so that those of all layers take at most SAMPLE_BYTES (in 32 bits)."""
        row = 4 * sum(math.prod(shape[1:]) for shape in self.layers.values())
        return max(1, min(ROWS, SAMPLE_BYTES // max(row, 1)))

    @property
    def _rows_of_call(self) -> int:
        return -(-self._most_rows // self.calls)

    # ---- influence

    def _ended(self, network: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], output: object) -> None:
        if self._replaying or self._call != self.replayed:
            return
        self._replaying = True
        try:
            wanted = self._prediction(output, inputs, named).clone()
            for done, name in enumerate(self.measured, 1):
                if self.cancelled():
                    raise Cancelled(f"stopped after {done - 1} of {len(self.measured)} layers; nothing was written")
                self._measure(network, inputs, named, wanted, name)
                self.on_layer(done, len(self.measured))
        finally:
            self._replaying, self._noisy = False, None
            _forget(network)

    def _measure(
        self, network: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], wanted: Tensor, name: str
    ) -> None:
        self._noisy, self._relative = name, 0.0
        _forget(network)
        found = self._prediction(network(*inputs, **named), inputs, named)
        change = _norm(found - wanted) / (_norm(wanted) or 1.0)
        if self._relative and math.isfinite(change):  # otherwise it was not called, or does nothing
            self.recordings.setdefault(name, Recording()).influence = change / self._relative

    def _prediction(self, output: object, inputs: tuple[Any, ...], named: dict[str, Any]) -> Tensor:
        """What is used of an output: guided, which amplifies what halves differ in, without channels of a variance."""
        found = tensor_of(output).float()
        sample = next((each for each in (*inputs, *named.values()) if isinstance(each, Tensor)), found)
        if found.dim() == sample.dim() == _IMAGES:
            found = found[:, : sample.shape[1]]
        if not self.guidance or len(found) % 2:
            return found
        unconditional, conditional = found.chunk(2)
        return unconditional + self.guidance * (conditional - unconditional)

    def _with_noise(self, layer: Any, x: Tensor, output: Tensor) -> Tensor:  # noqa: ANN401
        weight = layer.weight
        generator = torch.Generator(device=weight.device).manual_seed(0)
        noise = torch.randn(weight.shape, generator=generator, device=weight.device, dtype=torch.float32)
        noise *= _NOISE * weight.float().square().mean().sqrt()
        noise = noise.to(weight.dtype)
        is_linear = weight.dim() == 2  # a convolution pads in its own way
        error = functional.linear(x, noise) if is_linear else layer._conv_forward(x, noise, None)
        self._relative = _norm(error) / (_norm(output) or 1.0)
        return output + error


def rows_of(layer: Any, x: Tensor, count: int, seed: int) -> Tensor:  # noqa: ANN401  a linear layer or a convolution
    """Rows `(m, k)`, m at most `count`, of what the layer's weight `(n, k)` is multiplied by, at random places."""
    generator = torch.Generator().manual_seed(seed)
    if layer.weight.dim() == 2:
        flat = x.reshape(-1, x.shape[-1])
        return flat[torch.randint(len(flat), (min(count, len(flat)),), generator=generator).to(x.device)]
    return torch.stack(list(_patches(layer, x, count, generator)))


def _patches(layer: Any, x: Tensor, count: int, generator: torch.Generator) -> Iterator[Tensor]:  # noqa: ANN401
    """Patches `(k,)` of x `(b, c, h, w)` under the kernel of a convolution."""
    padded = functional.pad(x, layer._reversed_padding_repeated_twice)
    sides = [(kernel - 1) * dilation + 1 for kernel, dilation in zip(layer.kernel_size, layer.dilation, strict=True)]
    for _ in range(count):
        item = int(torch.randint(len(x), (), generator=generator))
        spans = []
        for side, whole, stride, dilation in zip(sides, padded.shape[2:], layer.stride, layer.dilation, strict=True):
            start = stride * int(torch.randint((whole - side) // stride + 1, (), generator=generator))
            spans.append(slice(start, start + side, dilation))
        yield padded[item, :, spans[0], spans[1]].reshape(-1)


def tensor_of(output: object) -> Tensor:
    """The prediction in what a network returns: a tensor, a tuple, or an output with fields."""
    while not isinstance(output, Tensor):
        output = next(iter(output.values())) if isinstance(output, Mapping) else output[0]  # type: ignore[index]
    return output


def _unwrapped(module: nn.Module) -> nn.Module:
    return module.plain[0] if isinstance(module, CachedLayer) else module


def _forget(network: nn.Module) -> None:
    """Drop what was computed once of the prompt: layers that are not called have no influence."""
    for module in network.modules():
        if isinstance(module, CachedLayer):
            module.forget()


def _norm(tensor: Tensor) -> float:
    return float(tensor.float().norm())

"""Measure what each format loses in each layer, with inputs that the layer had while the model made images."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.weight_file import read_weights, weight_header
from mezzotint.conversion.auto.layers import (
    CALIBRATED,
    Candidate,
    MeasuredLayer,
    Recording,
    format_bytes,
    influences,
    unquantized,
)
from mezzotint.conversion.model import component_targets
from mezzotint.conversion.weights import check
from mezzotint.errors import Cancelled, ModelRefused
from mezzotint.families.family import ModelSources
from mezzotint.quantization.block_floats import Nvfp4, rounded_rows
from mezzotint.quantization.formats import Format

Formats = Mapping[str, tuple[Format, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What to measure: a component's layers, their formats, and what was recorded of them."""

    sources: ModelSources
    component: str
    formats: Formats
    recordings: Mapping[str, Recording]
    speed_of: Callable[[Format], float]  # of its product, relative to 16 bits
    device: torch.device

    def layers(self, on_layer: Callable[[int, int], None], cancelled: Callable[[], bool]) -> Iterator[MeasuredLayer]:
        """Yield each layer, in the files' order; one weight at a time is in memory.

        Raises ModelRefused for damaged weights, and Cancelled.
        """
        first = {name: formats[0] for name, formats in self.formats.items()}
        targets = dict(component_targets(self.sources, self.component, first))
        headers = [weight_header(path) for path in self.sources.components[self.component].files]
        for header in headers:
            check(header, targets)
        known = influences({target.layer: self._recorded(target.layer) for target in targets.values()})
        files = [header.path for header in headers]
        read = read_weights(files, on_bytes=lambda _: None, cancelled=cancelled, names=targets)
        for done, (name, tensor) in enumerate(read, 1):
            target = targets[name]
            if cancelled():
                raise Cancelled(f"stopped after measuring {done - 1} of {len(targets)} layers; nothing was written")
            weight = tensor.reshape(target.shape).to(self.device).float()
            try:
                yield self._measured(target.layer, weight, known[target.layer])
            except ModelRefused as error:
                raise ModelRefused(f"{plain(files[0], 300)}: {plain(name, 200)}: {error}") from None
            on_layer(done, len(targets))

    def _recorded(self, layer: str) -> Recording:
        return self.recordings.get(layer) or Recording()

    def _measured(self, layer: str, weight: Tensor, influence: float) -> MeasuredLayer:
        recorded, shape = self._recorded(layer), tuple(weight.shape)
        samples, magnitudes = recorded.samples, recorded.magnitudes
        if magnitudes is not None and len(magnitudes) != weight[0].numel():
            samples = magnitudes = None
        candidates = [
            Candidate(
                format=each,
                bytes=format_bytes(each, shape),
                error=format_error(each, weight, samples, magnitudes if each.scheme in CALIBRATED else None),
                speed=self.speed_of(each),
            )
            for each in self.formats[layer]
        ]
        return MeasuredLayer(
            name=layer,
            candidates=(unquantized(shape), *candidates),
            work=recorded.work,
            influence=influence,
            magnitudes=magnitudes,
        )


def format_error(format_: Format, weight: Tensor, samples: Tensor | None, magnitudes: Tensor | None = None) -> float:
    """Norm of the error of the products with samples `(m, k)` over the norm of the products.

    Without samples: norm of the weight's error over the norm of the weight. 0 where the norm is 0. `magnitudes` `(k)`,
    those of the input's columns, if the format is to know them.
    """
    tensors = format_.quantize(weight, magnitudes)
    if samples is None:
        return _relative(format_.dequantize(tensors, weight.shape, torch.float32), weight)
    x = samples.to(weight.device).float()
    exact = x @ weight.flatten(1).t()
    if isinstance(format_, Nvfp4) and format_.dynamic:  # whose inputs kernels round, but not torch
        x = rounded_rows(format_, x)
    if weight.dim() == 2:
        return _relative(format_.product(x, tensors, weight.shape), exact)
    return _relative(x @ format_.dequantize(tensors, weight.shape, torch.float32).flatten(1).t(), exact)


def _relative(found: Tensor, wanted: Tensor) -> float:
    whole = float(wanted.norm())
    return float((found - wanted).norm()) / whole if whole else 0.0

"""How many bits the networks of a job have, settled before they are loaded."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mezzotint.checkpoints.weight_file import weight_specs
from mezzotint.families.family import ComponentSource, ModelSources
from mezzotint.protocol import DeviceInfo, Quantization
from mezzotint.quantization.auto import settle
from mezzotint.stages.setup import CascadeSetup

if TYPE_CHECKING:
    from mezzotint.quantization.policy import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Schemes:
    """What `auto` became, the same for all stages of a job."""

    denoiser: Quantization
    text: Quantization


def settle_schemes(denoiser: Quantization, text: Quantization, setup: CascadeSetup, device: DeviceInfo) -> Schemes:
    """Settle by the largest network of each kind."""
    denoisers = [stage.sources.components[stage.family.denoiser_component] for stage in setup.stages]
    texts = [source for stage in setup.stages for source in _encoders(stage.sources)]
    return Schemes(
        denoiser=settle(denoiser, max(map(_half_bytes, denoisers)), device),
        text=settle(text, max(map(_half_bytes, texts), default=0), device),
    )


def choices_of(schemes: Schemes, sources: ModelSources, denoiser: str) -> "dict[str, Choice]":
    """What is to be done with each network of a model as it is loaded."""
    from mezzotint.quantization.policy import Choice

    wanted = {denoiser: schemes.denoiser} | {source.name: schemes.text for source in _encoders(sources)}
    return {name: Choice(scheme=scheme) for name, scheme in wanted.items() if scheme != "none" and scheme != "auto"}


def _encoders(sources: ModelSources) -> list[ComponentSource]:
    return [source for name, source in sources.components.items() if name.startswith("text_encoder")]


def _half_bytes(source: ComponentSource) -> int:
    """Bytes of a network's weights in 16 bits; of those in files that hold more, by its share."""
    tensors = [tensor for path in source.files for tensor in weight_specs(path).values()]
    stored = sum(tensor.bytes for tensor in tensors)
    half = sum(tensor.half_bytes for tensor in tensors)
    return int(source.bytes * half / stored) if stored else 0

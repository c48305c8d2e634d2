"""The precision of a job's networks, resolved before they are loaded."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mezzotint.families.family import ComponentSource, ModelSources
from mezzotint.protocol import Quantization

if TYPE_CHECKING:
    from mezzotint.quantization.policy import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Schemes:
    """The resolved quantization schemes, the same for all stages of a job."""

    denoiser: Quantization
    text: Quantization


def resolve_schemes(denoiser: Quantization, text: Quantization) -> Schemes:
    """Resolve the schemes without a plan: everything fits, so `auto` means none."""
    return Schemes(denoiser=_settled(denoiser), text=_settled(text))


def _settled(asked: Quantization) -> Quantization:
    return "none" if asked == "auto" else asked


def choices_of(schemes: Schemes, sources: ModelSources, denoiser: str) -> "dict[str, Choice]":
    """The quantization to apply to each network of a model at loading."""
    from mezzotint.quantization.policy import Choice

    wanted = {denoiser: schemes.denoiser} | {source.name: schemes.text for source in _encoders(sources)}
    return {name: Choice(scheme=scheme) for name, scheme in wanted.items() if scheme != "none" and scheme != "auto"}


def _encoders(sources: ModelSources) -> list[ComponentSource]:
    return [source for name, source in sources.components.items() if name.startswith("text_encoder")]

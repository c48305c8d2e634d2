"""A VAE from another file in place of a model's own, if its parameters have the same shapes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint.checkpoints.header import Header, TensorSpec
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.families.family import ComponentSource, ModelSources
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.flow.files import part_needed
from mezzotint.families.known import family_of
from mezzotint.families.loading.original_names import UNET, layout_of, place
from mezzotint.families.loading.routing import newer_name, route
from mezzotint.families.loading.sources import with_weights

VAE = "vae"


@dataclass(frozen=True, slots=True)
class OwnVae:
    """A model's own VAE, and its parameters' shapes without sides of 1: linear layers may be 1x1 convolutions."""

    sources: ModelSources
    shapes: Mapping[str, tuple[int, ...]]

    def mismatch(self, path: Path) -> str | None:
        """Why a file cannot replace it; None if it can. Raises ModelRefused for an invalid file."""
        replaced = with_vae(self.sources, path)
        tensors = weight_header(path).tensors
        routed = route(replaced, [VAE], {VAE: self.shapes})
        shapes = {placed[0].name: _sides(tensors[name]) for name, placed in routed.items()}
        for name, shape in self.shapes.items():
            if shapes.get(name) != shape:
                found = f"has the shape {list(shapes[name])}" if name in shapes else "is absent"
                return f"{name} {found}, in the model's VAE it has {list(shape)}"
        return None


def own_vae(sources: ModelSources) -> OwnVae:
    """The VAE of a model whose components are its own; reads headers only."""
    files = sources.components[VAE].files
    tensors = {name: spec for path in files for name, spec in weight_header(path).tensors.items()}
    if not isinstance(sources.checkpoint, FileCheckpoint):
        return OwnVae(sources, {newer_name(name): _sides(spec) for name, spec in tensors.items()})
    layout = layout_of(tensors)
    placed = {part: spec for name, spec in tensors.items() for part in place(name, layout)}
    return OwnVae(sources, {part.name: _sides(spec) for part, spec in placed.items() if part.component == VAE})


def with_vae(sources: ModelSources, path: Path) -> ModelSources:
    """Replace a model's VAE by that of a file, in any naming; raises ModelRefused if that is not a weight file."""
    replaced = with_weights(sources, VAE, path)
    part = _original(sources, weight_header(path))
    if part is None:
        return replaced
    source = replace(sources.components[VAE], files=part.files, bytes=part.bytes, original=part.original)
    return replace(sources, components={**sources.components, VAE: source})


def is_vae_alone(path: Path) -> bool:
    """Whether a file contains no U-Net beside a VAE; raises ModelRefused if it is invalid."""
    return not any(name.startswith(UNET) for name in weight_header(path).tensors)


def _original(sources: ModelSources, header: Header) -> ComponentSource | None:
    """The file's VAE with the names that the family's has outside of diffusers; None if it has other names."""
    family = family_of(sources.family)
    needs = family.needs if isinstance(family, FlowFamily) else ()
    found = (part_needed(needed, header) for needed in needs if needed.component == VAE)
    return next((part for part in found if part is not None), None)


def _sides(spec: TensorSpec) -> tuple[int, ...]:
    return tuple(side for side in spec.shape if side != 1)

"""Maps each tensor of a file to parameters, including names written by older library versions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.checkpoints.weight_file import weight_specs
from mezzotint.families.family import ComponentSource, ModelSources
from mezzotint.families.loading.original_names import UNET, VAE, Placement, layout_of, place
from mezzotint.families.loading.stored_layers import weight_names

Names = Mapping[str, Collection[str]]  # of the parameters of each component

_OLD_ATTENTION = {".query.": ".to_q.", ".key.": ".to_k.", ".value.": ".to_v.", ".proj_attn.": ".to_out.0."}
_LANGUAGE_MODELS = ("model.language_model.", "language_model.", "model.")  # if saved with its head or vision tower
_T5_EMBEDDINGS = "encoder.embed_tokens.weight"  # in files that lack `shared`
_PREFIX = "text_model."  # in CLIP's names in some versions of transformers


def route(sources: ModelSources, components: Sequence[str], names: Names) -> dict[str, tuple[Placement, ...]]:
    """Map each tensor name in the components' files to the parameters it fills; unused tensors are left out."""
    if len(components) == 1 and sources.components[components[0]].replaced:
        return _route_replaced(sources.components[components[0]].files, components[0], names)
    if any(sources.components[name].original for name in components):
        return _route_original([sources.components[name] for name in components], names)
    if isinstance(sources.checkpoint, FileCheckpoint):
        return _route_single_file(sources.checkpoint, names)
    (component,) = components
    routed: dict[str, tuple[Placement, ...]] = {}
    for path in sources.components[component].files:
        for tensor in weight_specs(path):
            known = [alias for alias in _aliases(tensor) if alias in names[component]]
            if known:
                routed[tensor] = (Placement(component=component, name=known[0], form="whole"),)
    return routed


def _route_replaced(files: Sequence[Path], component: str, names: Names) -> dict[str, tuple[Placement, ...]]:
    """Route a single network in a file with diffusers or original names, with or without their prefix."""
    tensors = [name for path in files for name in weight_specs(path)]
    prefix = VAE if component == "vae" else UNET
    layout = layout_of([prefix + name.removeprefix(prefix) for name in tensors])
    routed: dict[str, tuple[Placement, ...]] = {}
    for tensor in tensors:
        known = [alias for alias in _aliases(tensor) if alias in names[component]]
        if known:
            routed[tensor] = (Placement(component=component, name=known[0], form="whole"),)
            continue
        placed = [_known(part, names[component]) for part in place(prefix + tensor.removeprefix(prefix), layout)]
        whole = tuple(part for part in placed if part is not None and part.component == component)
        if whole:
            routed[tensor] = whole
    return routed


def _route_original(components: Sequence[ComponentSource], names: Names) -> dict[str, tuple[Placement, ...]]:
    """Route networks in files with original names, each with its own prefix."""
    routed: dict[str, tuple[Placement, ...]] = {}
    for source in components:
        found = source.original
        for tensor in (name for path in source.files for name in weight_names(path)):
            if found is not None and tensor.startswith(found.prefix):
                placed = found.place(tensor.removeprefix(found.prefix))
                parts = [Placement(component=source.name, name=name, form=form) for name, form in placed]
                known = tuple(part for part in parts if part.name in names[source.name])
                if known:
                    routed[tensor] = (*routed.get(tensor, ()), *known)
    return routed


def _route_single_file(checkpoint: FileCheckpoint, names: Names) -> dict[str, tuple[Placement, ...]]:
    layout = layout_of(checkpoint.header.tensors)
    routed = {}
    for tensor in checkpoint.header.tensors:
        parts = (_known(part, names.get(part.component, ())) for part in place(tensor, layout))
        placed = tuple(part for part in parts if part is not None)
        if placed:
            routed[tensor] = placed
    return routed


def _known(part: Placement, names: Collection[str]) -> Placement | None:
    known = next((alias for alias in _aliases(part.name) if alias in names), None)
    return None if known is None else replace(part, name=known)


def _aliases(name: str) -> Iterator[str]:
    if name == _T5_EMBEDDINGS:
        yield "shared.weight"  # which the library ties it to
    yield name
    yield _PREFIX + name
    yield from (name.removeprefix(prefix) for prefix in _LANGUAGE_MODELS)
    yield f"language_model.{name.removeprefix('model.')}"  # beside a vision tower
    yield name.removeprefix(_PREFIX)
    yield newer_name(name)


def newer_name(name: str) -> str:
    """The name of a parameter in today's diffusers, whichever version named it."""
    for old, new in _OLD_ATTENTION.items():
        name = name.replace(old, new)
    return name

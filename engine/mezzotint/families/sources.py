"""The parts of a checkpoint as a family names them, whatever the layout on disk."""

from collections.abc import Sequence

from mezzotint.checkpoints.folder import Component, FolderCheckpoint
from mezzotint.checkpoints.header import Header, read_header
from mezzotint.errors import ModelRefused
from mezzotint.families.detection import Detected
from mezzotint.families.family import ComponentSource, ModelSources

_RENAMED_CLASSES = {"Transformer2DModel": "PixArtTransformer2DModel"}  # what PixArt's first files still say


def folder_sources(checkpoint: FolderCheckpoint, detected: Detected, needed: Sequence[str]) -> ModelSources:
    """The parts of a diffusers folder; ModelRefused when one that is needed is missing."""
    absent = [name for name in (*needed, "scheduler") if name not in checkpoint.components]
    if absent:
        raise ModelRefused(f"{checkpoint.path}: the folder lacks {', '.join(absent)}; the download is incomplete")
    components = {name: _component(checkpoint.components[name]) for name in needed}
    for source in components.values():
        if not source.files and not source.name.startswith("tokenizer"):
            raise ModelRefused(f"{checkpoint.path}: {source.name} has no safetensors weights; download it again")
    return ModelSources(
        family=detected.family,
        detected=detected,
        checkpoint=checkpoint,
        components=components,
        scheduler=checkpoint.components["scheduler"].config,
        settings=checkpoint.options,
    )


def tensor_bytes(header: Header) -> int:
    """Bytes of a file's tensors, its header not counted."""
    return sum(tensor.end - tensor.start for tensor in header.tensors.values())


def _component(component: Component) -> ComponentSource:
    return ComponentSource(
        name=component.name,
        library=component.library,
        class_name=_RENAMED_CLASSES.get(component.class_name, component.class_name),
        config=component.config,
        folder=component.folder,
        files=component.files,
        bytes=sum(tensor_bytes(read_header(path)) for path in component.files),
    )

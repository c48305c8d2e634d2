"""Precision of a model's weights, from its files' headers."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import FolderCheckpoint
from mezzotint.checkpoints.header import Header, TensorSpec
from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.checkpoints.weight_file import trunk_of, weight_header
from mezzotint.families.family import ModelSources
from mezzotint.families.loading.original_names import layout_of, place
from mezzotint.families.loading.stored_layers import find_layers
from mezzotint.protocol import SCHEMES, ModelPart

if TYPE_CHECKING:
    from mezzotint.quantization.layouts.stored import StoredLayer

_DENOISERS = ("unet", "transformer")
_MARKS = {
    ".weight_smooth": "svdquant",
    ".wscales": "svdquant",
    ".weight_group_scale": "int4-lowrank",
    ".bitsandbytes__nf4": "int4",
    ".bitsandbytes__fp4": "fp4",
    ".SCB": "int8-weight",
    ".weight_scale_2": "nvfp4",
}
_DTYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
_WEIGHT = "weight"


def scheme_of(checkpoint: Checkpoint) -> str:
    """Quantization scheme of the denoiser, empty if it is not quantized; reads no files."""
    if isinstance(checkpoint, FileCheckpoint):
        kinds = {name[name.rfind(".") :] for name in checkpoint.header.tensors}
        found = next((scheme for mark, scheme in _MARKS.items() if mark in kinds), "")
        return found or _scheme_of_comfyui(checkpoint.header, kinds)
    return next(filter(None, (_scheme_of_part(checkpoint, name) for name in _DENOISERS)), "")


def _scheme_of_comfyui(header: Header, kinds: set[str]) -> str:
    formats = {spec.dtype for name, spec in header.tensors.items() if name.endswith((".weight", ".weight_scale"))}
    if "F8_E4M3" in formats:
        return "mxfp8" if formats & {"F8_E8M0", "U8"} else "fp8"
    if '"convrot_w4a4"' in header.metadata.get("_quantization_metadata", ""):
        return "int4-rot"
    if ".weight_s_rel" in kinds:
        return "int4-codebook"
    return "int8" if ".comfy_quant" in kinds or "_quantization_metadata" in header.metadata else ""


def _scheme_of_part(folder: FolderCheckpoint, name: str) -> str:
    said = folder.settings.get("quantization")
    scheme = said.get(name) if isinstance(said, Mapping) else None
    if scheme in SCHEMES:
        return str(scheme)
    config = folder.components[name].config.get("quantization_config") if name in folder.components else None
    if not isinstance(config, Mapping):
        return ""
    if config.get("load_in_4bit") is True:
        return "fp4" if config.get("bnb_4bit_quant_type") == "fp4" else "int4"
    return "int8-weight" if config.get("load_in_8bit") is True else ""


def parts_of(sources: ModelSources) -> tuple[ModelPart, ...]:
    """Bytes of each network, and its layers counted by weight precision; reads only headers."""
    counted: dict[str, Counter[str]] = {name: Counter() for name, part in sources.components.items() if part.files}
    sizes: Counter[str] = Counter()
    for files in dict.fromkeys(sources.components[name].files for name in counted):
        tensors = {name: spec for path in files for name, spec in weight_header(path).tensors.items()}
        stored = find_layers(files)
        owner = _owners(sources, files, {*tensors, *(f"{name}.{_WEIGHT}" for name in stored)})
        for name, precision, size in _layers(stored, tensors):
            for component in owner.get(name, ()):
                sizes[component] += size
                counted[component].update([precision] if precision else [])
    trunks = {name: next(filter(None, map(trunk_of, sources.components[name].files)), "") for name in counted}
    return tuple(
        ModelPart(name=name, bytes=sizes[name], layers=dict(counts), trunk=trunks[name])
        for name, counts in counted.items()
    )


def _owners(sources: ModelSources, files: tuple[Path, ...], tensors: Collection[str]) -> dict[str, set[str]]:
    """The components that each tensor belongs to."""
    originals = {name: part.original for name, part in sources.components.items() if part.files == files}
    if any(originals.values()):
        return {
            tensor: {name for name, found in originals.items() if found and tensor.startswith(found.prefix)}
            for tensor in tensors
        }
    if not isinstance(sources.checkpoint, FileCheckpoint):
        owners = {name for name, part in sources.components.items() if part.files == files}
        return dict.fromkeys(tensors, owners)
    layout = layout_of(tensors)
    return {name: {part.component for part in place(name, layout)} for name in tensors}


def _layers(stored: Mapping[str, "StoredLayer"], tensors: Mapping[str, TensorSpec]) -> Iterator[tuple[str, str, int]]:
    """Yield name, precision (empty unless it is a layer's weight) and bytes of each tensor, given the quantized."""
    parts = {part: layer.name for layer in stored.values() for part in layer.names.values()}
    for name, layer in stored.items():
        size = sum(tensors[part].end - tensors[part].start for part in set(layer.names.values()))
        yield f"{name}.{_WEIGHT}", layer.format.scheme, size
    for name, spec in tensors.items():
        if name not in parts:
            precision = _DTYPES.get(spec.dtype, spec.dtype.lower()) if name.endswith(_WEIGHT) else ""
            yield name, precision, spec.end - spec.start

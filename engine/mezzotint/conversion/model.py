"""Makes a quantized copy of a model: a folder beside the original, or one file; complete or absent."""

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import INDEX_FILE, FolderCheckpoint
from mezzotint.checkpoints.folder_settings import SETTINGS_FILE
from mezzotint.checkpoints.folder_weights import index_name
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.weight_file import is_gguf, read_weights, weight_header, with_trunks
from mezzotint.checkpoints.write import writing
from mezzotint.conversion.report import ComponentReport, ConversionReport, LayerReport
from mezzotint.conversion.weights import Target, check, convert_file, quantize_layer
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.families.family import ModelSources
from mezzotint.families.loading.networks import empty_network
from mezzotint.families.loading.routing import route
from mezzotint.families.loading.sources import tensor_bytes
from mezzotint.families.loading.stored_layers import StoredLayers
from mezzotint.quantization.formats import Format
from mezzotint.quantization.layers import layers_of
from mezzotint.quantization.layouts.stored import diffusers_quantization_config
from mezzotint.quantization.policy import Choice, formats_for

if TYPE_CHECKING:
    from torch import Tensor

PARTIAL_SUFFIX = ".mezzotint-part"
_DESCRIPTIONS = {".json", ".txt", ".model"}  # files beside the weights that are copied
_WEIGHT = ".weight"
RECORD_FILE = "quantization.json"  # not in the settings, which are to stay small
_PLAN = "conversion.json"
_FILE_SUFFIX = ".safetensors"
_LONGEST_NAME = 64
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")  # in the name of a model


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """A conversion to run: source model, quantization per component, and output."""

    sources: ModelSources
    choices: Mapping[str, Choice]  # by component
    output: Path
    mixed: Mapping[str, Mapping[str, Format]] = field(default_factory=dict)  # formats by layer, of other components
    balances: Mapping[str, Mapping[str, "Tensor"]] = field(default_factory=dict)  # magnitudes of inputs by layer
    record: Mapping[str, object] = field(default_factory=dict)  # how they were chosen; a folder keeps it in a file
    resumed: bool = True  # whether an interrupted attempt is kept for the next one
    for_diffusers: bool = False
    on_bytes: Callable[[str, int], None] = field(default=lambda _, __: None)
    cancelled: Callable[[], bool] = field(default=lambda: False)


def convert(conversion: Conversion) -> ConversionReport:
    """Make the copy. Resumes an earlier attempt at the same copy; an error leaves the original untouched.

    Raises UsageError if the output exists, ModelRefused if a scheme fits no layer, StorageError if the disk is full,
    Cancelled between tensors.
    """
    if conversion.output.exists():
        raise UsageError(f"{plain(conversion.output, 300)} exists already; name another place, or remove it first")
    checkpoint = conversion.sources.checkpoint
    if isinstance(checkpoint, FileCheckpoint) and conversion.output.suffix != _FILE_SUFFIX:
        shown = plain(conversion.output, 300)
        raise UsageError(f"{shown}: the model is one file, and so is its copy: name it {shown}{_FILE_SUFFIX}")
    targets = {name: dict(_targets(conversion.sources, name, choice)) for name, choice in conversion.choices.items()}
    targets |= {
        name: dict(component_targets(conversion.sources, name, formats)) for name, formats in conversion.mixed.items()
    }
    targets = {name: _balanced(each, conversion.balances.get(name, {})) for name, each in targets.items()}
    if isinstance(checkpoint, FileCheckpoint):
        components = _convert_single_file(conversion, checkpoint, targets)
    else:
        components = _convert_folder(conversion, checkpoint, targets)
    schemes = dict.fromkeys(_schemes(conversion).values())
    return ConversionReport(output=str(conversion.output), scheme=", ".join(schemes), components=components)


def _balanced(targets: Mapping[str, Target], balances: "Mapping[str, Tensor]") -> dict[str, Target]:
    return {tensor: replace(each, balance=balances.get(each.layer)) for tensor, each in targets.items()}


def layer_errors(
    sources: ModelSources, component: str, choice: Choice, *, cancelled: Callable[[], bool]
) -> Iterator[LayerReport]:
    """Yield the quantization error of each layer of a component; writes nothing."""
    targets = dict(_targets(sources, component, choice))
    headers = [weight_header(path) for path in sources.components[component].files]
    for header in headers:
        check(header, targets)
    homes = {name: header.path for header in headers for name in header.tensors}
    files = [header.path for header in headers]
    for name, tensor in read_weights(files, on_bytes=lambda _: None, cancelled=cancelled, names=targets):
        yield quantize_layer(name, tensor, targets[name], homes[name])[1]


def _targets(sources: ModelSources, component: str, choice: Choice) -> Iterator[tuple[str, Target]]:
    """Yield the names of tensors in the component's files with the layers whose weights they are."""
    check_unquantized(sources, component)
    source = sources.components[component]
    formats = formats_for(source.class_name, layers_of(empty_network(source)), choice)
    yield from component_targets(sources, component, formats)


def check_unquantized(sources: ModelSources, component: str) -> None:
    """Raise ModelRefused if a component's files hold quantized layers; those of GGUF are dequantized when read."""
    files = sources.components[component].files
    if StoredLayers(files).names and not any(map(is_gguf, files)):
        raise ModelRefused(f"{plain(files[0], 300)} is quantized already; quantize the original model")


def component_targets(
    sources: ModelSources, component: str, formats: Mapping[str, Format]
) -> Iterator[tuple[str, Target]]:
    """Yield the names of tensors in the component's files that are weights of these layers, with their formats."""
    network = empty_network(sources.components[component])
    shapes = {layer.name: layer.shape for layer in layers_of(network)}
    names = {component: {name: tensor.shape for name, tensor in network.state_dict().items()}}
    for tensor, placements in route(sources, [component], names).items():
        placed = placements[0]
        layer = placed.name.removesuffix(_WEIGHT)
        whole = len(placements) == 1 and placed.form == "whole" and tensor.endswith(_WEIGHT)
        if whole and placed.component == component and placed.name.endswith(_WEIGHT) and layer in formats:
            yield tensor, Target(component=component, layer=layer, format=formats[layer], shape=shapes[layer])


def _convert_single_file(
    conversion: Conversion, checkpoint: FileCheckpoint, targets: Mapping[str, Mapping[str, Target]]
) -> tuple[ComponentReport, ...]:
    merged = {tensor: target for each in targets.values() for tensor, target in each.items()}
    layers = convert_file(
        checkpoint.path,
        conversion.output,
        merged,
        on_bytes=lambda count: conversion.on_bytes(checkpoint.path.name, count),
        cancelled=conversion.cancelled,
    )
    before, after = (tensor_bytes(weight_header(path)) for path in (checkpoint.path, conversion.output))
    return (ComponentReport(name=checkpoint.path.name, bytes_before=before, bytes_after=after, layers=layers),)


def _convert_folder(
    conversion: Conversion, checkpoint: FolderCheckpoint, targets: Mapping[str, Mapping[str, Target]]
) -> tuple[ComponentReport, ...]:
    partial = conversion.output.with_name(conversion.output.name + PARTIAL_SUFFIX)
    with _left_behind(partial, kept=conversion.resumed), writing(conversion.output):
        _begin(partial, conversion)
        reports = tuple(
            _convert_component(conversion, checkpoint, partial, name, targets.get(name, {}))
            for name in checkpoint.components
        )
        shutil.copyfile(checkpoint.path / INDEX_FILE, partial / INDEX_FILE)
        settings = settings_of_copy(checkpoint, conversion.output) | {"quantization": _schemes(conversion)}
        write_json(partial / SETTINGS_FILE, settings)
        if conversion.record:
            write_json(partial / RECORD_FILE, conversion.record)
        (partial / _PLAN).unlink()
        for report in partial.glob("*/*.layers.json"):
            report.unlink()
        partial.rename(conversion.output)
    return tuple(report for report in reports if report.bytes_before)


@contextmanager
def _left_behind(partial: Path, *, kept: bool) -> Iterator[None]:
    """Context manager: unless it is kept, what an error leaves of the copy is removed."""
    try:
        yield
    except BaseException:
        if not kept:
            shutil.rmtree(partial, ignore_errors=True)
        raise


def _schemes(conversion: Conversion) -> dict[str, str]:
    """The scheme of each component; of a mixed one, the scheme of most layers."""
    schemes: dict[str, str] = {name: choice.scheme for name, choice in conversion.choices.items()}
    for name, formats in conversion.mixed.items():
        if formats:
            schemes[name] = Counter(each.scheme for each in formats.values()).most_common(1)[0][0]
    return schemes


def _begin(partial: Path, conversion: Conversion) -> None:
    """Resume an earlier attempt if it was for the same copy; otherwise start over."""
    files = [path for source in conversion.sources.components.values() for path in source.files]
    stamps = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in with_trunks(files)]
    choices: dict[str, object] = {name: asdict(choice) for name, choice in conversion.choices.items()}
    choices |= {
        name: {layer: str(each) for layer, each in formats.items()} for name, formats in conversion.mixed.items()
    }
    plan = json.dumps({"files": stamps, "choices": choices, "diffusers": conversion.for_diffusers}, sort_keys=True)
    if partial.exists() and not _is_same_plan(partial / _PLAN, plan):
        shutil.rmtree(partial)
    partial.mkdir(parents=True, exist_ok=True)
    (partial / _PLAN).write_text(plan, "utf-8")


def _is_same_plan(path: Path, plan: str) -> bool:
    return path.is_file() and path.read_text("utf-8") == plan


def _convert_component(
    conversion: Conversion, checkpoint: FolderCheckpoint, partial: Path, name: str, targets: Mapping[str, Target]
) -> ComponentReport:
    component = checkpoint.components[name]
    folder = partial / name
    folder.mkdir(exist_ok=True)
    copy_descriptions(component.folder, folder)
    layers: list[LayerReport] = []
    for source in component.files:
        layers += _convert_once(conversion, name, source, folder / source.name, targets)
    if len(component.files) > 1:
        files = [folder / source.name for source in component.files]
        _write_index(folder / index_name(component.library), files)
    if targets and conversion.for_diffusers:
        _write_quantization_config(
            conversion, name, folder, {target.layer: target.format for target in targets.values()}
        )
    return ComponentReport(
        name=name,
        bytes_before=sum(tensor_bytes(weight_header(path)) for path in component.files),
        bytes_after=sum(tensor_bytes(weight_header(folder / path.name)) for path in component.files),
        layers=tuple(layers),
    )


def copy_descriptions(source: Path, folder: Path) -> None:
    """Copy the configurations and vocabularies beside a component's weights."""
    for path in sorted(source.iterdir()):
        if path.is_file() and path.suffix in _DESCRIPTIONS and ".index" not in path.suffixes:
            shutil.copyfile(path, folder / path.name)


def _convert_once(
    conversion: Conversion, name: str, source: Path, output: Path, targets: Mapping[str, Target]
) -> tuple[LayerReport, ...]:
    """Convert a file, unless an earlier attempt already did."""
    report = output.with_suffix(".layers.json")
    if output.is_file() and report.is_file():
        conversion.on_bytes(name, tensor_bytes(weight_header(source)))
        return tuple(LayerReport(**layer) for layer in json.loads(report.read_text("utf-8")))
    layers = convert_file(
        source,
        output,
        targets,
        on_bytes=lambda count: conversion.on_bytes(name, count),
        cancelled=conversion.cancelled,
    )
    write_json(report, [asdict(layer) for layer in layers])
    return layers


def _write_index(path: Path, files: list[Path]) -> None:
    """Write the index of tensors by shard."""
    headers = [weight_header(file) for file in files]
    places = {name: header.path.name for header in headers for name in header.tensors}
    write_json(path, {"metadata": {"total_size": sum(map(tensor_bytes, headers))}, "weight_map": places})


def _write_quantization_config(conversion: Conversion, name: str, folder: Path, formats: Mapping[str, Format]) -> None:
    layers = layers_of(empty_network(conversion.sources.components[name]))
    kept = [layer.name for layer in layers if layer.name not in formats and not layer.is_convolution]
    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    config["quantization_config"] = diffusers_quantization_config(formats, kept)
    write_json(path, config)


def settings_of_copy(checkpoint: FolderCheckpoint, output: Path) -> dict[str, object]:
    """mezzotint.json of the original with the name of the copy, which shares no components with siblings."""
    settings = {key: value for key, value in checkpoint.settings.items() if key not in {"shared", "name"}}
    name = _UNFIT.sub("-", output.name).strip("-._")[:_LONGEST_NAME]
    return settings | ({"name": name} if name else {})


def write_json(path: Path, value: object) -> None:
    """Write a JSON file, complete or not at all."""
    temporary = path.with_name(f".mezzotint-{path.name}.part")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(json.dumps(value, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)

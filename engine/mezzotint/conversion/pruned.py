"""Makes a copy of a model folder whose denoiser has fewer blocks; complete or absent."""

import re
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor

from mezzotint.checkpoints.folder import INDEX_FILE, FolderCheckpoint
from mezzotint.checkpoints.folder_settings import SETTINGS_FILE
from mezzotint.checkpoints.folder_weights import index_name
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.weight_file import is_delta_file, read_weights, weight_header
from mezzotint.checkpoints.write import SafetensorsWriter, header_room, writing
from mezzotint.conversion.model import PARTIAL_SUFFIX, copy_descriptions, settings_of_copy, write_json
from mezzotint.conversion.weights import convert_file
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.families.family import ComponentSource, ModelSources
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import empty_network
from mezzotint.families.loading.stored_layers import StoredLayers
from mezzotint.families.lora.factors import LoraFactors

_WEIGHTS = "diffusion_pytorch_model.safetensors"
_WEIGHT = ".weight"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedCopy:
    """A copy to write: what is left out of the denoiser, and what is added to the weights that stay."""

    sources: ModelSources
    removed: tuple[str, ...]  # names of blocks
    output: Path

    @property
    def _source(self) -> ComponentSource:
        return self.sources.components[family_of(self.sources.family).denoiser_component]

    @property
    def _checkpoint(self) -> FolderCheckpoint:
        checkpoint = self.sources.checkpoint
        if not isinstance(checkpoint, FolderCheckpoint) or self._source.replaced:
            raise UsageError(
                f"{plain(checkpoint.path, 300)} is a single file: only folders in diffusers' layout can be pruned"
            )
        return checkpoint

    def config(self) -> dict[str, object]:
        """The denoiser's configuration without the blocks.

        Raises UsageError for models that are no folders or have quantized weights, and if no configuration describes
        a network of exactly the tensors that are left.
        """
        source, _ = self._source, self._checkpoint
        if StoredLayers(source.files).names:
            raise UsageError(f"{plain(source.files[0], 300)} is quantized: prune the original, and quantize that")
        shapes = {
            renamed: spec.shape
            for path in source.files
            for name, spec in weight_header(path).tensors.items()
            if (renamed := renumbered(name, self.removed)) is not None
        }
        for config in _shorter(source, self.removed):
            network = empty_network(replace(source, config=config))
            if {name: tuple(each.shape) for name, each in network.state_dict().items()} == shapes:
                return config
        raise UsageError(
            f"no configuration of {source.class_name} describes it without {', '.join(self.removed)}: "
            "this model cannot be pruned"
        )

    def write(
        self,
        added: Mapping[str, LoraFactors],
        note: Mapping[str, object],
        *,
        on_bytes: Callable[[int], None],
        cancelled: Callable[[], bool],
    ) -> None:
        """Write the folder; `added`: to the weights of layers by name. Raises UsageError if it exists, StorageError."""
        if self.output.exists():
            raise UsageError(f"{plain(self.output, 300)} exists already; name another place, or remove it first")
        checkpoint, config = self._checkpoint, self.config()
        partial = self.output.with_name(self.output.name + PARTIAL_SUFFIX)
        with writing(self.output):
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            try:
                for name, component in checkpoint.components.items():
                    (partial / name).mkdir()
                    copy_descriptions(component.folder, partial / name)
                    if name == self._source.name:
                        write_json(partial / name / "config.json", config)
                        self._write_weights(partial / name / _WEIGHTS, added, on_bytes, cancelled)
                        continue
                    index = component.folder / index_name(component.library)
                    for path in (*component.files, *([index] if len(component.files) > 1 else [])):
                        _copy(path, partial / name / path.name, cancelled)
                shutil.copyfile(checkpoint.path / INDEX_FILE, partial / INDEX_FILE)
                write_json(partial / SETTINGS_FILE, settings_of_copy(checkpoint, self.output) | {"pruned": dict(note)})
                partial.rename(self.output)
            finally:
                shutil.rmtree(partial, ignore_errors=True)

    def _write_weights(
        self,
        path: Path,
        added: Mapping[str, LoraFactors],
        on_bytes: Callable[[int], None],
        cancelled: Callable[[], bool],
    ) -> None:
        files = self._source.files
        room = header_room({name: 1 for file in files for name in weight_header(file).tensors}, {})
        left = set(added)
        with SafetensorsWriter(path, room) as file:
            for name, tensor in read_weights(files, on_bytes=on_bytes, cancelled=cancelled):
                renamed = renumbered(name, self.removed)
                if renamed is not None:
                    layer = name.removesuffix(_WEIGHT)
                    file.add(renamed, _with(tensor, added[layer]) if layer in left else tensor)
                    left.discard(layer)
        if left:
            raise ModelRefused(f"{plain(files[0], 300)} has no weight of {min(left)}")


def renumbered(name: str, removed: Collection[str]) -> str | None:
    """A tensor's name once blocks are removed; None if it is in one of them."""
    for block in removed:
        if name == block or name.startswith(f"{block}."):
            return None
    for folder in {block.rpartition(".")[0] for block in removed}:
        match = re.match(rf"{re.escape(folder)}\.(\d+)(?=\.|$)", name)
        if match is not None:
            number = int(match[1])
            gone = sum(f"{folder}.{before}" in removed for before in range(number))
            return f"{folder}.{number - gone}{name[match.end() :]}"
    return name


def _copy(path: Path, output: Path, cancelled: Callable[[], bool]) -> None:
    """Copy a file; one that builds on another model, whole."""
    if path.suffix == ".safetensors" and is_delta_file(path):
        convert_file(path, output, {}, on_bytes=lambda _: None, cancelled=cancelled)
    else:
        shutil.copyfile(path, output)


def _shorter(source: ComponentSource, removed: Collection[str]) -> Iterator[dict[str, object]]:
    """Configurations in which numbers that are the lists' lengths are smaller."""
    network = empty_network(source)
    configs = [{**dict(getattr(network, "config", {})), **source.config}]
    for folder, count in Counter(block.rpartition(".")[0] for block in removed).items():
        length = len(network.get_submodule(folder))
        configs = [
            {**config, key: length - count}
            for config in configs
            for key, value in config.items()
            if type(value) is int and value == length
        ]
    for config in configs:
        yield {key: list(value) if isinstance(value, tuple) else value for key, value in config.items()}


def _with(weight: Tensor, added: LoraFactors) -> Tensor:
    """The weight with the product of the factors, in the weight's own dtype."""
    update = added.up.flatten(1).float() @ added.down.flatten(1).float()
    return (weight.float() + added.scale * update.reshape(weight.shape)).to(weight.dtype)

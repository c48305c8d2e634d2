"""Read networks that look at images from folders in transformers' layout, treated as untrusted."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from mezzotint.checkpoints.allowed_classes import LOOKING
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.looking_folder import class_in
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.read import read_tensors
from mezzotint.errors import ModelRefused
from mezzotint.families.control.files import NetworkFiles, read_network
from mezzotint.families.loading.empty_weights import SkipInit
from mezzotint.families.loading.one_process import tell_transformers
from mezzotint.memory.shortage import is_shortage
from mezzotint.protocol import IsCancelled

LARGEST = 4 * 2**30  # bytes of weights; the largest of these classes have 1.4 GB
_LARGEST_NUMBER = 20_000  # in a configuration: above any of theirs
_MOST_LAYERS = 128
_COUNTS = {"depths", "num_hidden_layers", "encoder_layers", "decoder_layers", "num_feature_levels", "num_experts"}
_LONGEST = 2000  # entries of a list or table
_SHAPING = {"id2label", "out_indices", "out_features"}  # what is read of the settings that all networks have
_NOT_NEEDED = "num_batches_tracked"  # of batch norms, in training


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedNetwork:
    """A network of which headers and configuration are read and checked."""

    path: Path
    of: Any  # its class, of transformers
    config: Any  # of the class that this takes
    files: NetworkFiles

    def empty(self) -> nn.Module:
        """The network on the meta device; raises ModelRefused if the configuration describes none."""
        try:
            with torch.device("meta"), SkipInit():
                network: nn.Module = self.of(self.config)
        except Exception as error:
            raise _describes_none(self.path, error) from error
        return network.eval()


def describe(path: Path, purpose: str) -> DescribedNetwork:
    """Check a folder with a network for a purpose of `LOOKING`; raises ModelRefused."""
    tell_transformers()
    import transformers

    classes = LOOKING[purpose]
    files = read_network(path, f"a network for {purpose}", library="transformers")
    name = class_in(files.config)
    if name not in classes:
        raise ModelRefused(
            f"{plain(path, 300)}: {plain(name) or 'no class'} in its config.json is not for {purpose}; expected "
            f"{' or '.join(classes)}"
        )
    if files.bytes > LARGEST:
        raise ModelRefused(
            f"{plain(path, 300)}: {size(files.bytes)} are too much for {purpose}; at most {size(LARGEST)}"
        )
    of = getattr(transformers, name)
    found = DescribedNetwork(
        path=path, of=of, config=_config(path, of.config_class, classes[name], files.config), files=files
    )
    wanted = sum(each.numel() for each in found.empty().parameters())
    stored = sum(_numel(spec.shape) for file in files.files for spec in read_header(file).tensors.values())
    if wanted > stored:
        raise ModelRefused(
            f"{plain(path, 300)}: {wanted} weights are described, but {stored} stored: an incomplete download, or the "
            "configuration of another network"
        )
    return found


def open_network(path: Path, purpose: str, cancelled: IsCancelled = lambda: False) -> nn.Module:
    """Read a network for a purpose of `LOOKING` into RAM, in float32; raises ModelRefused, Cancelled."""
    found = describe(path, purpose)
    tensors = dict(read_tensors(found.files.files, on_bytes=lambda _: None, cancelled=cancelled))
    return _library_s(path, found.of, found.config, tensors)


def _config(path: Path, of: Any, backbone: str, said: Mapping[str, object]) -> Any:  # noqa: ANN401  of transformers
    """The configuration, of settings that shape the network alone: others name code or files to fetch."""
    import transformers

    inner = said.get("backbone_config")
    if not isinstance(inner, dict) or inner.get("model_type") != backbone:
        kind = inner.get("model_type") if isinstance(inner, dict) else None
        raise ModelRefused(f"{plain(path, 300)}: its backbone is {plain(kind)}; only {backbone} is known here")
    for problem in _problems(said, "config.json"):
        raise ModelRefused(f"{plain(path, 300)}: {problem}; the configuration is damaged")
    try:
        made = transformers.CONFIG_MAPPING[backbone](**_shaping(transformers.CONFIG_MAPPING[backbone], inner))
        return of(**_shaping(of, said) | {"backbone_config": made})
    except Exception as error:
        raise _describes_none(path, error) from error


def _describes_none(path: Path, error: Exception) -> Exception:
    """The error to raise for a configuration that a library refuses."""
    if is_shortage(error):
        return error
    return ModelRefused(f"{plain(path, 300)}: its configuration describes no network: {plain(error)}")


def _shaping(of: Any, said: Mapping[str, object]) -> dict[str, object]:  # noqa: ANN401  a class of transformers
    import transformers

    common = {each.name for each in dataclasses.fields(transformers.PreTrainedConfig)}
    own = {each.name for each in dataclasses.fields(of)} - common | _SHAPING
    return {key: value for key, value in said.items() if key in own and not key.startswith("_") and value is not None}


def _problems(value: object, where: str) -> Iterator[str]:
    """Numbers and lengths that no such network has."""
    if isinstance(value, (Mapping, list)):
        if len(value) > _LONGEST:
            yield f"{plain(where)} has {len(value)} entries"
            return
        items = value.items() if isinstance(value, Mapping) else ((where, item) for item in value)
        for key, item in items:
            yield from _problems(item, str(key))
    elif isinstance(value, int) and value > (_MOST_LAYERS if where in _COUNTS else _LARGEST_NUMBER):
        yield f"{plain(where)} is {str(value)[:20]}"


def _numel(shape: tuple[int, ...]) -> int:
    return int(torch.Size(shape).numel())


def _library_s(path: Path, of: Any, config: Any, tensors: Mapping[str, torch.Tensor]) -> nn.Module:  # noqa: ANN401
    """The network by the library's own loading, which knows the older names of tensors."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        made, said = of.from_pretrained(
            None, config=config, state_dict=dict(tensors), output_loading_info=True, dtype=torch.float32
        )
    except Exception as error:
        if is_shortage(error):
            raise
        raise ModelRefused(f"{plain(path, 300)}: its weights do not fit its configuration: {plain(error)}") from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
    missing = sorted(each for each in said["missing_keys"] if not each.endswith(_NOT_NEEDED))
    if missing:
        raise ModelRefused(
            f"{plain(path, 300)}: {len(missing)} tensors are missing, the first is {plain(missing[0])}; the download "
            "is incomplete or belongs to another model"
        )
    network: nn.Module = made.eval().requires_grad_(False)
    return network

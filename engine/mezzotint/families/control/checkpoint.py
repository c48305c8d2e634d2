"""A ControlNet on disk: a folder or file, recognised by its tensors, with their names in diffusers' network."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mezzotint.checkpoints.allowed_classes import CODE_KEYS, CONTROLS
from mezzotint.checkpoints.folder import INDEX_FILE, MAX_CONFIG
from mezzotint.checkpoints.folder_walk import check_folder
from mezzotint.checkpoints.folder_weights import weight_files
from mezzotint.checkpoints.foreign_kind import is_pickle_name, pickle_advice
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.errors import ModelRefused
from mezzotint.families.control.names import ORIGINAL_PREFIX, original_place
from mezzotint.families.family import Original
from mezzotint.families.foreign import kind_of_file

LARGEST = 16 * 2**30  # bytes; the largest ControlNets of U-Nets have under 6 GB in 32 bits

Shapes = Mapping[str, tuple[int, ...]]

_NOT_USED: tuple[tuple[str, str], ...] = (
    (r"^(adapter\.)?(body\.\d+\.(in_conv|resnets|block1)|conv_in\.weight$)", "a T2I-Adapter"),
    (r"(^|\.)lora_controlnet$", "a Control-LoRA"),
    (r"^lllite_", "a ControlNet-LLLite"),
    (r"(^|\.)(control_all_x_embedder|control_layers|controlnet_blocks|controlnet_x_embedder)\.", "a ControlNet of a "
     "transformer"),
)  # fmt: skip
_MARK = re.compile(r"(^|\.)(controlnet_cond_embedding|input_hint_block)\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlCheckpoint:
    """A ControlNet before anything is loaded."""

    path: Path  # as given
    files: tuple[Path, ...]
    shapes: Shapes  # by diffusers' names
    original: Original | None  # naming of its file if that is not diffusers'
    config: Mapping[str, object]  # of its folder; empty for a file
    bytes: int

    @property
    def is_union(self) -> bool:
        """Whether one network follows images of several kinds."""
        return "task_embedding" in self.shapes


def open_control(path: Path) -> ControlCheckpoint:
    """Read the headers of a ControlNet; raises ModelRefused, saying what is wrong or what the file is instead."""
    files, config = _folder(path) if is_folder(path) else ((path,), {})
    shapes: dict[str, tuple[int, ...]] = {}
    for file in files:
        if is_pickle_name(file):
            raise ModelRefused(f"{plain(path, 300)}: {pickle_advice()}")
        shapes |= {name: spec.shape for name, spec in weight_header(file).tensors.items()}
    if not any(map(_MARK.search, shapes)):
        raise ModelRefused(f"{plain(path, 300)}: no ControlNet but {_kind(shapes)}; give a ControlNet of a U-Net")
    total = sum(weight_header(file).bytes for file in files)
    if total > LARGEST:
        raise ModelRefused(f"{plain(path, 300)}: {size(total)}; a ControlNet has at most {size(LARGEST)}")
    original = _original(shapes)
    if original is not None:
        inner = {name.removeprefix(original.prefix): shape for name, shape in shapes.items()}
        shapes = {new: shape for name, shape in inner.items() for new, _ in original.place(name)}
    return ControlCheckpoint(path=path, files=files, shapes=shapes, original=original, config=config, bytes=total)


def control_files(path: Path) -> tuple[Path, ...]:
    """The weight files of a ControlNet; raises ModelRefused if there are none."""
    return _folder(path)[0] if is_folder(path) else (path,)


def _folder(path: Path) -> tuple[tuple[Path, ...], Mapping[str, object]]:
    root = path.resolve()
    if is_file(root / INDEX_FILE):
        raise ModelRefused(f"{plain(path, 300)}: a whole model; give the folder or file of a ControlNet")
    if not is_file(root / "config.json"):
        raise ModelRefused(f"{plain(path, 300)}: no config.json; give the folder or safetensors file of a ControlNet")
    check_folder(root)
    config = read_json_object(root / "config.json", MAX_CONFIG)
    code = next((key for key in config if key in CODE_KEYS), None)
    if code is not None:
        raise ModelRefused(f"{plain(path, 300)}: '{code}' requires code that comes with the model")
    stated = config.get("_class_name")
    if stated not in CONTROLS:
        raise ModelRefused(f"{plain(path, 300)}: the class {plain(stated)} is not one of {', '.join(CONTROLS)}")
    return weight_files(root, root, "diffusers"), config


def _kind(names: Shapes) -> str:
    for pattern, kind in _NOT_USED:
        expression = re.compile(pattern)
        if any(map(expression.search, names)):
            return f"{kind}, which is not supported"
    return kind_of_file(names)


def _original(names: Shapes) -> Original | None:
    """The naming of a file that is not diffusers'; with or without the prefix that whole checkpoints have."""
    if not any("input_hint_block." in name for name in names):
        return None
    prefix = ORIGINAL_PREFIX if any(name.startswith(ORIGINAL_PREFIX) for name in names) else ""
    inner = tuple(name.removeprefix(prefix) for name in names)
    return Original(prefix=prefix, place=partial(original_place, inner))

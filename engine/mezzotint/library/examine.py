"""Identify a file or folder that was dropped on the window or named on a command line; reads only file headers."""

import os
from collections.abc import Callable
from pathlib import Path

from mezzotint.catalog.huggingface import is_cache
from mezzotint.catalog.other_programs import is_tree, places_of_file
from mezzotint.catalog.place import Place
from mezzotint.catalog.scan import scan
from mezzotint.checkpoints.folder import INDEX_FILE
from mezzotint.checkpoints.foreign_kind import PICKLE_SUFFIXES
from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.regular_file import is_file, is_folder, read_limited, without_mark
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.errors import ImageRefused, MezzotintError
from mezzotint.families.detection import detect
from mezzotint.families.foreign import kind_of_file
from mezzotint.families.known import FLOW_FAMILIES
from mezzotint.families.lora.file import open_lora
from mezzotint.images.comfyui.reading import is_graph
from mezzotint.images.metadata import read_metadata
from mezzotint.library.gallery.walk import SUFFIXES
from mezzotint.library_protocol import Dropped, DroppedKind
from mezzotint.values.toml_text import parse_toml

MOST_ENTRIES = 5000  # maximum directory entries scanned for images
_LARGEST_JOB = 16 << 20  # bytes
_MODEL_SUFFIXES = {".safetensors", ".sft", ".gguf", *PICKLE_SUFFIXES}
_SHOWN_PROMPT = 100
_PROGRAMS = {
    "mezzotint": "Mezzotint",
    "a1111": "A1111 or Forge",
    "comfyui": "ComfyUI",
    "invokeai": "InvokeAI",
    "swarmui": "SwarmUI",
    "fooocus": "Fooocus",
    "novelai": "NovelAI",
}
_FAMILIES = {
    "sdxl": "SDXL",
    "sd15": "Stable Diffusion 1.5",
    "pixart": "PixArt",
    **{each.name: each.spec.title for each in FLOW_FAMILIES},
}

Found = tuple[DroppedKind, str]


def examine(path: str) -> Dropped:
    """Identify one file or folder; never raises for a broken one."""
    try:
        kind, detail = _examine(Path(path))
    except (MezzotintError, OSError, ValueError, RecursionError, MemoryError) as error:
        reason = str(error) if isinstance(error, MezzotintError) else type(error).__name__
        kind, detail = "unknown", f"it cannot be read ({plain(reason, 400)})"
    return Dropped(path=path, kind=kind, detail=detail)


def _examine(path: Path) -> Found:
    if is_folder(path):
        return _folder(path)
    if not os.path.lexists(path):
        return "unknown", "there is no such file or folder"
    if path.name == INDEX_FILE:
        return _folder(path.parent)
    return _LOOKS.get(path.suffix.lower(), _image)(path)


# ---- files


def _image(path: Path) -> Found:
    try:
        metadata = read_metadata(path)
    except ImageRefused as error:
        return "unknown", str(error)
    words = plain((metadata.prompt or "").strip(), _SHOWN_PROMPT)
    if metadata.program not in _PROGRAMS:
        return "image", f"an image of {metadata.width}x{metadata.height} pixels without generation settings"
    by = f"an image with settings from {_PROGRAMS[metadata.program]}"
    return "image", f"{by}: {words}" if words else by


def _weights(path: Path) -> Found:
    """Identify a weights file: a LoRA, a model, or a component of one."""
    if path.suffix.lower() in (".safetensors", ".sft") and kind_of_file(weight_header(path).tensors) == "a LoRA":
        lora = open_lora(path)
        meant = f" for {lora.base.words}" if lora.base is not None else ""
        return "lora", f"a LoRA{meant}, {size(lora.header.bytes)}"
    return _model(path)


def _model(path: Path) -> Found:
    checkpoint = open_checkpoint(path)
    detected = detect(checkpoint)
    family = _FAMILIES.get(detected.family, detected.family)
    return "model", f"a model: {family} {detected.variant}, {size(checkpoint.bytes)}"


def _toml(path: Path) -> Found:
    parse_toml(without_mark(read_limited(path, _LARGEST_JOB)).decode("utf-8"))
    return "job", "a job file"


def _json(path: Path) -> Found:
    whole = read_json_object(path, _LARGEST_JOB)
    if is_graph(whole) or isinstance(whole.get("nodes"), list):
        return "unknown", "a ComfyUI workflow, which only ComfyUI can run; drop an image that it made instead"
    return "job", "a job file"


def _yaml(path: Path) -> Found:
    places, notices = places_of_file(path)
    if places:
        return "model_folder", f"a list of model folders ({len(places)})"
    return "unknown", notices[0] if notices else "a YAML file that names no model folders"


# ---- folders


def _folder(path: Path) -> Found:
    if is_file(path / INDEX_FILE):
        return _model(path)
    if is_tree(path):
        return "model_folder", "a folder of A1111, Forge or ComfyUI, whose models can be used where they are"
    if is_cache(path):
        return "model_folder", "the Hugging Face hub's cache, whose models can be used where they are"
    models = scan(Place(path=path, source="folder")).candidates
    if models:
        return "model_folder", f"a folder with models ({len(models)})"
    images, all_seen = _images_in(path)
    if images:
        return "image_folder", f"a folder with images ({images}{'' if all_seen else ' or more'})"
    return (
        "unknown",
        "a folder with neither models nor images"
        if all_seen
        else "a large folder in which neither models nor images were found",
    )


def _images_in(folder: Path) -> tuple[int, bool]:
    """Return how many images are in `folder` and its subfolders, and whether all entries were scanned."""
    pending, left, count = [str(folder)], MOST_ENTRIES, 0
    while pending and left > 0:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        break
                    if entry.name.startswith(".") or entry.is_symlink():
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    count += entry.name.lower().endswith(SUFFIXES)
        except OSError:
            continue
    return count, left >= 0 and not pending


_LOOKS: dict[str, Callable[[Path], Found]] = {
    **dict.fromkeys(_MODEL_SUFFIXES, _weights),
    ".toml": _toml,
    ".json": _json,
    ".yaml": _yaml,
    ".yml": _yaml,
}

"""LoRAs, embeddings, ControlNets, upscalers and others: files by name, in the folders of this program and of others."""

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mezzotint.catalog.other_programs import part_folders
from mezzotint.catalog.parts import PART_FOLDERS
from mezzotint.catalog.place import at_home, is_searched
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.errors import UnknownModel
from mezzotint.library_protocol import BUNDLED_UPSCALER

_MOST_FILES = 10_000
_DEEPEST = 4  # folders below these


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """Where files of a kind are: folders by ComfyUI's and A1111's names, and suffixes."""

    folders: tuple[str, ...]
    suffixes: tuple[str, ...] = (".safetensors",)
    bundled: tuple[str, str] | None = None  # the name of the one that comes with the program, and its place there


LORAS = FileKind(folders=("loras", "Lora"))
EMBEDDINGS = FileKind(  # of textual inversion; in A1111 beside the folder models
    folders=("embeddings",), suffixes=(".safetensors", ".pt", ".bin")
)
CONTROLNETS = FileKind(
    folders=("controlnet", "ControlNet", "t2i_adapter", "ipadapter", "style_models", "model_patches"),
    bundled=("starter-edges", "xl-edges/controlnet"),
)
UPSCALERS = FileKind(
    folders=("upscale_models", "ESRGAN", "RealESRGAN", "SwinIR", "DAT", "HAT"),
    suffixes=(".safetensors", ".pth", ".pt"),
    bundled=(BUNDLED_UPSCALER, "upscaler/model.safetensors"),
)
BACKGROUNDS = FileKind(folders=("background_removal", "BiRefNet", "RMBG", "rembg"), suffixes=(".onnx",))

# In lower case: folders whose files are no models, although they may look like some.
OTHER_FOLDERS = frozenset(
    name.lower()
    for kind in (LORAS, EMBEDDINGS, CONTROLNETS, UPSCALERS, BACKGROUNDS)
    for name in (*kind.folders, *PART_FOLDERS)
)


def named_files(places: Places, kind: FileKind) -> dict[str, Path]:
    """The files by their name without suffix, the bundled one first; of several with one name the first.

    Of those in one folder, the one with the kind's first suffix.
    """
    named = (*((places.models,) if places.models is not None else ()), *places.named)
    trained = () if places.models is None or kind is not LORAS else (places.models.parent / "loras",)
    folders = dict.fromkeys((*(folder for path in named for folder in part_folders(path, kind.folders)), *trained))
    found = dict(_bundled(places, kind))
    for path in _files(tuple(folders), kind.suffixes):
        if len(found) == _MOST_FILES:
            break
        other = found.setdefault(path.stem, path)
        if other.parent == path.parent and path.suffix.lower() == kind.suffixes[0]:
            found[path.stem] = path
    return found


def model_folders(places: Places) -> tuple[Path, ...]:
    """The folders in which models are looked for, and that of trained LoRAs."""
    own = () if places.models is None else (places.models, places.models.parent / "loras")
    return tuple(path for path in (places.bundled, *own, *places.named) if path is not None and is_folder(path))


def files_called(names: Set[str], places: Places) -> dict[str, Path]:
    """Files and folders with these names anywhere in the folders of models; of several the first."""
    found: dict[str, Path] = {}
    for root in model_folders(places):
        for folder, inner, files in os.walk(root):
            for name in names & {*inner, *files}:
                found.setdefault(name, Path(folder, name))
            inner[:] = sorted(inner) if len(Path(folder).relative_to(root).parts) < _DEEPEST else []
    return found


def _bundled(places: Places, kind: FileKind) -> Iterator[tuple[str, Path]]:
    if kind.bundled is not None and places.bundled is not None:
        name, place = kind.bundled
        path = places.bundled / place
        if is_file(path) or is_folder(path):
            yield name, path


def file_named(name: str, found: Mapping[str, Path], none: str) -> Path:
    """The file of that name or path; raises UnknownModel, which says that there is `none`, and which is meant."""
    if name in found:
        return found[name]
    path = at_home(Path(name))
    if is_file(path):
        return path
    near = difflib.get_close_matches(name, found, n=1)
    known = ", ".join(map(plain, islice(found, 10))) or "none"
    meant = f"did you mean {plain(near[0])}?" if near else f"found there: {known}"
    raise UnknownModel(f"{none}; {meant}")


def file_of(name: str, places: Places, kinds: Sequence[FileKind]) -> str:
    """The path of the file with that name, with or without suffix; the name if it is a path, or there is none."""
    if not name or Path(name).name != name or os.path.lexists(name):
        return name
    found = {known.casefold(): path for kind in reversed(kinds) for known, path in named_files(places, kind).items()}
    path = found.get(name.casefold()) or found.get(name.removesuffix(".safetensors").casefold())
    return name if path is None else str(path)


def _files(folders: Sequence[Path], suffixes: tuple[str, ...]) -> Iterator[Path]:
    for root in folders:
        for folder, inner, names in os.walk(root):
            depth = len(Path(folder).relative_to(root).parts)
            inner[:] = sorted(filter(is_searched, inner)) if depth < _DEEPEST else []
            visible = (name for name in sorted(names) if not name.startswith("."))  # macOS writes `._NAME` beside some
            yield from (Path(folder, name) for name in visible if name.lower().endswith(suffixes))

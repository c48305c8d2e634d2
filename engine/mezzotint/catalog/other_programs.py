"""Where A1111, Forge and ComfyUI keep their checkpoints, so that no model must be stored twice."""

from collections.abc import Sequence
from pathlib import Path

from mezzotint.catalog.parts import PART_FOLDERS, TRANSFORMER_FOLDERS
from mezzotint.catalog.place import Place, at_home
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder, read_limited
from mezzotint.errors import ModelRefused, StorageError

EXTRA_PATHS_FILE = "extra_model_paths.yaml"
MAX_EXTRA_PATHS = 64 * 2**10
_MAX_BRACKETS = 100  # paths need none, and parsing nested ones takes cubic time
MAX_FOLDERS = 200
# The sections of that file with whole models, or with transformers whose other components lie elsewhere.
_KINDS = ("checkpoints", "diffusers", *TRANSFORMER_FOLDERS)
_USUAL_HOMES = (
    "ComfyUI",
    "Documents/ComfyUI",
    "stable-diffusion-webui",
    "stable-diffusion-webui-forge",
)


def usual_homes(home: Path) -> tuple[Path, ...]:
    """The usual install folders of these programs that exist."""
    return tuple(path for name in _USUAL_HOMES if is_tree(path := home / name))


def is_tree(folder: Path) -> bool:
    """Whether the folder belongs to one of these programs."""
    return is_file(folder / EXTRA_PATHS_FILE) or bool(_own_places(folder))


def places_of_tree(folder: Path) -> tuple[tuple[Place, ...], tuple[str, ...]]:
    """The places of a program's checkpoints, and notices of what could not be parsed."""
    places = _own_places(folder)
    notices: tuple[str, ...] = ()
    if is_file(folder / EXTRA_PATHS_FILE):
        more, notices = places_of_file(folder / EXTRA_PATHS_FILE)
        places += more
    return places, notices


def places_of_file(path: Path) -> tuple[tuple[Place, ...], tuple[str, ...]]:
    """The checkpoint folders in an extra_model_paths.yaml, and notices of what could not be parsed."""
    document, problem = _document(path)
    if problem:
        return (), (problem,)
    folders = [
        folder for section in document.values() if isinstance(section, dict) for folder in _named(path, section, _KINDS)
    ]
    unique = list(dict.fromkeys(folders))[:MAX_FOLDERS]
    missing = tuple(
        f"{plain(path, 300)} names {plain(folder, 300)}, which does not exist"
        for folder in unique
        if not is_folder(folder)
    )
    return tuple(Place(path=folder, source="comfyui") for folder in unique if is_folder(folder)), missing


def _document(path: Path) -> tuple[dict[object, object], str]:
    """The sections of such a file, or an error message."""
    import yaml

    try:
        content = read_limited(path, MAX_EXTRA_PATHS)
        brackets = content.count(b"[") + content.count(b"{")
        if brackets > _MAX_BRACKETS:
            return {}, f"{plain(path, 300)}: it has {brackets} opening brackets; at most {_MAX_BRACKETS} are allowed"
        document = yaml.safe_load(content)
    except (ModelRefused, StorageError) as error:
        return {}, str(error)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return {}, f"{plain(path, 300)}: invalid YAML: {plain(error)}"
    if not isinstance(document, dict):
        return {}, f"{plain(path, 300)}: it has no sections"
    return document, ""


def part_folders(path: Path, kinds: Sequence[str] = PART_FOLDERS) -> tuple[Path, ...]:
    """The folders where a program, or its extra_model_paths.yaml, keeps text encoders and VAEs, or other `kinds`.

    A path with such a name is one itself.
    """
    file = path if is_file(path) else path / EXTRA_PATHS_FILE
    document = _document(file)[0] if is_file(file) and file.suffix.lower() in (".yaml", ".yml") else {}
    named = [folder for section in document.values() if isinstance(section, dict)
             for folder in _named(file, section, kinds)]  # fmt: skip
    own = [models / name for models in (path, path / "models") for name in kinds]
    itself = (path,) if path.name in kinds else ()
    return tuple(folder for folder in dict.fromkeys((*named, *own, *itself)) if is_folder(folder))[:MAX_FOLDERS]


def _own_places(folder: Path) -> tuple[Place, ...]:
    # The user may name the program's folder or its models folder; the latter is recognised by its subfolders.
    own = is_folder(folder / "Stable-diffusion") or (is_folder(folder / "checkpoints") and is_folder(folder / "loras"))
    models = folder if own else folder / "models"
    places = (
        Place(path=models / "Stable-diffusion", source="a1111"),
        Place(path=models / "checkpoints", source="comfyui"),
        Place(path=models / "diffusers", source="comfyui"),
        *(Place(path=models / name, source="comfyui") for name in TRANSFORMER_FOLDERS),
    )
    return tuple(place for place in places if is_folder(place.path))


def _named(path: Path, section: dict[object, object], kinds: Sequence[str]) -> list[Path]:
    """The folders of one section; relative ones are below its base_path, or else next to the file."""
    base = section.get("base_path")
    start = path.parent / at_home(Path(base)) if isinstance(base, str) else path.parent
    values = [section.get(kind) for kind in kinds]
    lines = [line.strip() for value in values if isinstance(value, str) for line in value.split("\n")]
    return [start / line for line in lines if line and "\0" not in line]

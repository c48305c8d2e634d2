"""Which safetensors files hold a component's weights."""

from pathlib import Path

from mezzotint.checkpoints.folder_walk import allowed_roots, is_inside
from mezzotint.checkpoints.foreign_kind import PICKLE_SUFFIXES
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.errors import ModelRefused

MAX_INDEX = 16 * 2**20
MAX_SHARDS = 1000
_STEMS = {
    "diffusers": "diffusion_pytorch_model",
    "mezzotint": "diffusion_pytorch_model",
    "transformers": "model",
}


def weight_files(root: Path, folder: Path, library: str) -> tuple[Path, ...]:
    """The component's safetensors files, shards in index order; raises ModelRefused if there are none."""
    stem = _STEMS[library]
    for variant in ("", ".fp16"):
        whole = folder / f"{stem}{variant}.safetensors"
        if is_file(whole):
            return (whole,)
        for index in (f"{stem}.safetensors.index{variant}.json", f"{stem}{variant}.safetensors.index.json"):
            if is_file(folder / index):
                return _shards(root, folder, folder / index)
    raise ModelRefused(f"{plain(folder, 300)}: {_why_none(folder, stem)}")


def index_name(library: str) -> str:
    """File name of a component's shard index."""
    return f"{_STEMS[library]}.safetensors.index.json"


def _shards(root: Path, folder: Path, index: Path) -> tuple[Path, ...]:
    weight_map = read_json_object(index, MAX_INDEX).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise ModelRefused(f"{plain(index, 300)}: no weight_map that names the files")
    names = list(dict.fromkeys(map(str, weight_map.values())))
    if len(names) > MAX_SHARDS:
        raise ModelRefused(f"{plain(index, 300)}: {len(names)} files; at most {MAX_SHARDS} are read")
    for name in names:
        _check_name(root, folder, index, name)
    missing = [name for name in names if not is_file(folder / name)]
    if missing:
        raise ModelRefused(
            f"{plain(folder, 300)}: incomplete: {len(missing)} of {len(names)} files are missing, "
            f"the first is {plain(missing[0])}"
        )
    return tuple(folder / name for name in names)


def _check_name(root: Path, folder: Path, index: Path, name: str) -> None:
    proper = name.endswith(".safetensors") and not any(c in '/\\:*?"<>|' or not c.isprintable() for c in name)
    if not proper or not is_inside(folder / name, (folder.resolve(), *allowed_roots(root)[1:])):
        raise ModelRefused(f"{plain(index, 300)}: '{plain(name)}' is not the name of a safetensors file beside it")


def _why_none(folder: Path, stem: str) -> str:
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix.lower() in PICKLE_SUFFIXES)
    if pickles:
        return (
            f"only pickled weights ({plain(pickles[0])}), which can run code when opened: "
            "get the safetensors version, or convert them with a tool you trust"
        )
    return f"no weights ({stem}.safetensors): an incomplete download"

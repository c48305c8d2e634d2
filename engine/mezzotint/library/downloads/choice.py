"""Choose the files of a repository that make a runnable model: never code or pickles, and no duplicate precisions."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mezzotint.checkpoints.allowed_classes import PIPELINES, Allowed
from mezzotint.checkpoints.folder import INDEX_FILE
from mezzotint.checkpoints.folder_settings import SETTINGS_FILE
from mezzotint.checkpoints.foreign_kind import PICKLE_SUFFIXES
from mezzotint.checkpoints.looking_folder import ONNX_FILE, PREPROCESSOR_FILE, purpose_in
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.strict_json import parse_json_object
from mezzotint.errors import ModelRefused
from mezzotint.library.downloads.messages import HubFile, HubListing
from mezzotint.library.downloads.names import has_case_collisions, is_confined
from mezzotint.library.downloads.source import SUFFIXES

VARIANTS = ("fp16", "")  # in order of preference: the first complete one is taken, fp16 for half the size
_STEMS = {
    "diffusers": "diffusion_pytorch_model",
    "mezzotint": "diffusion_pytorch_model",
    "transformers": "model",
}
_CONFIG = "config.json"
_SMALL = (".json", ".txt", ".model")
_LARGEST_SMALL = 64 * 2**20
_LICENCE = re.compile(r"licen[cs]e(\.md|\.txt)?", re.IGNORECASE)
_LARGEST_LICENCE = 2**20
_MOST_NAMED = 8

Files = Mapping[str, HubFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The files to download: a folder or a single file."""

    files: tuple[HubFile, ...]
    is_folder: bool


def choose(listing: HubListing, file: str | None) -> Chosen:
    """Return the files of a diffusers folder, or the one file that was named or is the only candidate.

    Raises ModelRefused with the reason if there is nothing to download.
    """
    files = {one.name: one for one in listing.files}
    if file is not None:
        chosen = Chosen(files=(_named(listing, files, file),), is_folder=False)
    elif listing.index is not None or _is_looking(listing):
        inside = _of_folder(listing, files) if listing.index is not None else _of_network(listing, files)
        found = sorted(inside, key=lambda one: (one.bytes, one.name))
        chosen = Chosen(files=tuple({one.name: one for one in found}.values()), is_folder=True)
    elif {ONNX_FILE, PREPROCESSOR_FILE} <= files.keys() and not any(name.endswith(".safetensors") for name in files):
        chosen = Chosen(files=(files[ONNX_FILE], *_beside_onnx(files)), is_folder=True)
    else:
        chosen = Chosen(files=(_only(listing),), is_folder=False)
    names = tuple(one.name for one in chosen.files)
    unfit = [name for name in names if not is_confined(name)]
    if unfit or has_case_collisions(names):
        raise _refused(listing, f"the name '{plain(unfit[0] if unfit else names[0])}' cannot be used for a file")
    return chosen


def _refused(listing: HubListing, why: str) -> ModelRefused:
    return ModelRefused(f"{listing.repository}: {why}")


def _named(listing: HubListing, files: Files, name: str) -> HubFile:
    if name not in files:
        near = difflib.get_close_matches(name, [one for one in files if one.endswith(SUFFIXES)], n=3, cutoff=0.3)
        hint = f"; nearest: {', '.join(plain(one) for one in near)}" if near else ""
        raise _refused(listing, f"there is no '{plain(name)}'{hint}")
    return files[name]


def _only(listing: HubListing) -> HubFile:
    """Return the only file that can be a complete model."""
    top = [one for one in listing.files if one.name.endswith(".safetensors") and "/" not in one.name]
    if len(top) == 1:
        return top[0]
    if top:
        largest = sorted(top, key=lambda one: -one.bytes)[:_MOST_NAMED]
        named = ", ".join(f"{plain(one.name)} ({size(one.bytes)})" for one in largest)
        raise _refused(listing, f"several models; name one as {listing.repository}/FILE: {named}")
    pickles = [one.name for one in listing.files if one.name.lower().endswith(tuple(PICKLE_SUFFIXES))]
    if pickles:
        raise _refused(
            listing,
            f"only pickled weights ({plain(pickles[0])}), which can run code when opened; look for a version in "
            "safetensors",
        )
    raise _refused(listing, f"no {INDEX_FILE} and no .safetensors file: nothing that can be run here")


def _is_looking(listing: HubListing) -> bool:
    """Whether it is a single network of transformers that looks at images."""
    if listing.config is None:
        return False
    return bool(purpose_in(parse_json_object(listing.config.encode(), f"{listing.repository}/{_CONFIG}")))


def _of_network(listing: HubListing, files: Files) -> Iterator[HubFile]:
    yield files[_CONFIG]
    yield from (one for one in files.values() if _LICENCE.fullmatch(one.name) and one.bytes <= _LARGEST_LICENCE)
    weights = _weights(files, _STEMS["transformers"], "")
    if not weights:
        raise _refused(listing, "no weights as safetensors; look for a version that has them")
    yield from weights


def _beside_onnx(files: Files) -> Iterator[HubFile]:
    small = (one for one in files.values() if one.bytes <= _LARGEST_LICENCE)
    yield from (one for one in small if one.name == PREPROCESSOR_FILE or _LICENCE.fullmatch(one.name))


def _of_folder(listing: HubListing, files: Files) -> Iterator[HubFile]:
    index = parse_json_object((listing.index or "").encode(), f"{listing.repository}/{INDEX_FILE}")
    pipeline = index.get("_class_name")
    if not isinstance(pipeline, str) or pipeline not in PIPELINES:
        raise _refused(listing, f"made for {plain(pipeline)}; supported are {', '.join(sorted(PIPELINES))}")
    yield files[INDEX_FILE]
    if SETTINGS_FILE in files:
        yield files[SETTINGS_FILE]
    yield from (one for one in files.values() if _LICENCE.fullmatch(one.name) and one.bytes <= _LARGEST_LICENCE)
    for component, library in list(_components(listing, index, PIPELINES[pipeline])):
        yield from _of_component(listing, files, component, library)


def _components(
    listing: HubListing, index: Mapping[str, object], allowed: Mapping[str, Allowed]
) -> Iterator[tuple[str, str]]:
    """Yield each component and its library. Raises ModelRefused for an unknown name or class."""
    parts = {
        name: value
        for name, value in index.items()
        if not name.startswith("_") and isinstance(value, list | dict) and value != [None, None]
        if name not in allowed or allowed[name].used
    }
    for name, value in parts.items():
        if name not in allowed or isinstance(value, dict) or value not in map(list, allowed[name].classes):
            raise _refused(listing, f"its component {plain(name)} is {plain(value)}, which is not supported")
        yield name, str(value[0])
    missing = [name for name, rule in allowed.items() if rule.required and name not in parts]
    if missing:
        raise _refused(listing, f"incomplete: no {', '.join(missing)}")


def _of_component(listing: HubListing, files: Files, component: str, library: str) -> Iterator[HubFile]:
    folder = f"{component}/"
    inside = {name.removeprefix(folder): file for name, file in files.items() if name.startswith(folder)}
    plain_files = [
        file
        for name, file in inside.items()
        if name.endswith(_SMALL) and ".index." not in name and "/" not in name and file.bytes <= _LARGEST_SMALL
    ]
    yield from plain_files
    if component == "scheduler" or component.startswith("tokenizer"):
        return
    weights = next(filter(None, (_weights(inside, _STEMS[library], variant) for variant in VARIANTS)), None)
    if weights is None:
        raise _refused(listing, f"{component} has no weights as safetensors; look for a version that has them")
    yield from weights


def _weights(inside: Files, stem: str, variant: str) -> tuple[HubFile, ...]:
    """Return one file, or all shards with their index, of one precision; empty if incomplete."""
    mark = f".{variant}" if variant else ""
    whole = inside.get(f"{stem}{mark}.safetensors")
    if whole is not None:
        return (whole,)
    indexes = (f"{stem}{mark}.safetensors.index.json", f"{stem}.safetensors.index{mark}.json")
    index = next((inside[name] for name in indexes if name in inside), None)
    shard = re.compile(
        rf"{stem}(?:{re.escape(mark)}-\d{{5}}-of-(\d{{5}})|-\d{{5}}-of-(\d{{5}}){re.escape(mark)})\.safetensors"
    )
    found = {name: match for name in inside if (match := shard.fullmatch(name))}
    counts = {int(match[1] or match[2]) for match in found.values()}
    if index is None or counts != {len(found)}:
        return ()
    return (index, *(inside[name] for name in sorted(found)))

"""Output paths: from what a user typed to a path that cannot escape its folder."""

import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from mezzotint.atomic import TEMPORARY_PREFIX, TEMPORARY_SUFFIX
from mezzotint.errors import StorageError, UsageError
from mezzotint.images.template import DEFAULT_NAME, render, slug, tokens_in
from mezzotint.protocol import Output
from mezzotint.trouble import shown, storage_error

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")

_BYTES_PER_IMAGE = 4 << 20  # rough: a PNG of a million pixels is 1.5 to 3 MB
_BYTES_TO_SPARE = 16 << 20
_DISTINGUISHING = {"seed", "index"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NameFields:
    """Values of a template's tokens; `index` counts from 0 and is shown from 1."""

    seed: int
    prompt: str
    model: str
    width: int
    height: int
    steps: int
    sampler: str
    index: int
    count: int
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Template:
    root: Path  # the leading folders without tokens
    folders: tuple[str, ...]  # below the root, with or without tokens
    stem: str
    suffix: str


def image_path(output: Output, fields: NameFields) -> Path:
    """The path that one image asks for; creates nothing and does not check for existing files."""
    template = _parse(output, fields.count)
    values = _values(fields)
    folder = template.root.joinpath(*(render(one, values) for one in template.folders))
    path = folder / (render(template.stem, values) + template.suffix)
    _confine(template.root, path)
    return path


def check_output(output: Output, count: int) -> None:
    """Check before any work that the name is valid, the folder writable, and the disk roughly large enough.

    Leaves nothing behind: missing folders are created when the first image is written.
    """
    template = _parse(output, count)
    folder = _nearest_existing(template.root)
    _probe(folder)
    _check_space(folder, count)
    if output.preview_folder is not None:
        refuse_odd_characters(output.preview_folder)
        _probe(_nearest_existing(from_home(output.preview_folder)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOutput:
    """The parts of an output as it was typed."""

    root: Path  # the leading folders without tokens
    folders: tuple[str, ...]  # below the root, with tokens
    stem: str | None  # None: the output names only folders
    suffix: str


def split_output(output: Output) -> SplitOutput:
    """Split an output into its parts. Raises UsageError for an invalid one."""
    template = _parse(output, count=1)
    stem = None if template.stem == DEFAULT_NAME else template.stem
    return SplitOutput(root=template.root, folders=template.folders, stem=stem, suffix=template.suffix)


def _parse(output: Output, count: int) -> _Template:
    text = output.path if output.path is not None else DEFAULT_NAME
    if not text:
        raise UsageError("the output name is empty: give a file name, a folder or a template such as out/[date]/[seed]")
    refuse_odd_characters(text)
    whole = from_home(text)
    if _is_folder(whole):
        return _number(_Template(root=whole, folders=(), stem=DEFAULT_NAME, suffix=".png"), count)
    if text.endswith(("/", os.sep)):
        root, folders = _split(whole.parts)
        return _number(_Template(root=root, folders=folders, stem=DEFAULT_NAME, suffix=".png"), count)
    root, folders = _split(whole.parent.parts)
    stem, suffix = _stem_and_suffix(whole.name)
    return _number(_Template(root=root, folders=folders, stem=stem, suffix=suffix), count)


def _split(parts: tuple[str, ...]) -> tuple[Path, tuple[str, ...]]:
    """Split off the leading folders without tokens; everything from the first token on is confined below them."""
    plain = 0
    while plain < len(parts) and not tokens_in(parts[plain]):
        plain += 1
    return Path(*(render(one, {}) for one in parts[:plain])), parts[plain:]


def _number(template: _Template, count: int) -> _Template:
    """Add [index] if several images would share a name; unknown tokens are found here, before any work."""
    used = {token for part in (*template.folders, template.stem) for token in tokens_in(part)}
    if count > 1 and not used & _DISTINGUISHING:
        return replace(template, stem=f"{template.stem}-[index]")
    return template


def _stem_and_suffix(name: str) -> tuple[str, str]:
    if name in ("", ".", ".."):
        raise UsageError("the output path has no file name: end it with a file name, or with / for a folder")
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem:
        return name, ".png"
    if f".{ending.lower()}" not in SUFFIXES:
        allowed = " ".join(SUFFIXES)
        raise UsageError(f"the output name ends in .{shown(ending)}; images can be written as {allowed}")
    return stem, f".{ending}"


def refuse_odd_characters(text: str) -> None:
    """Raise UsageError if a name contains control characters, which terminals and listings would obey."""
    if any(ord(one) < 32 or ord(one) == 127 for one in text):
        raise UsageError(f"the output name {shown(text)} contains a control character: remove it")


def from_home(text: str) -> Path:
    """Expand a leading ~ or ~name. Raises UsageError if there is no such home."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise UsageError(f"the home folder in {shown(text)} is unknown: write the full path") from error


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False  # name too long, or no permission: reported when writing


def _values(fields: NameFields) -> dict[str, str]:
    model = fields.model.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".safetensors")
    return {
        "seed": str(fields.seed),
        "prompt": slug(fields.prompt),
        "model": model or "model",
        "width": str(fields.width),
        "height": str(fields.height),
        "steps": str(fields.steps),
        "sampler": fields.sampler,
        "index": str(fields.index + 1).zfill(len(str(fields.count))),
        "count": str(fields.count),
        "date": fields.now.strftime("%Y-%m-%d"),
        "time": fields.now.strftime("%H%M%S"),
    }


def _confine(root: Path, path: Path) -> None:
    """Check that the final path's folder, links resolved, is in `root`. The file itself is never followed."""
    try:
        inside = path.parent.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError) as error:
        raise StorageError(f"the path {shown(path)} cannot be resolved; perhaps its links form a loop") from error
    if not inside:
        raise UsageError(
            f"the output {shown(path)} would be outside its folder {shown(root)}: remove .. and links from it"
        )


def _nearest_existing(folder: Path) -> Path:
    folder = folder.absolute()
    try:
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
    except OSError as error:
        raise storage_error("write into", folder, error) from error
    if not folder.is_dir():
        raise StorageError(f"cannot write into {shown(folder)}: it is a file, not a folder; choose another path")
    return folder


def _probe(folder: Path) -> None:
    """Create and remove a file: permission bits are unreliable on Windows, for root and on network disks."""
    trial = folder / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"
    try:
        trial.touch(exist_ok=False)
    except OSError as error:
        raise storage_error("write into", folder, error) from error
    finally:
        with suppress(OSError):
            trial.unlink(missing_ok=True)


def _check_space(folder: Path, count: int) -> None:
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return  # some network disks do not report it
    needed = count * _BYTES_PER_IMAGE + _BYTES_TO_SPARE
    if free < needed:
        have, need = free / (1 << 20), needed / (1 << 20)
        images = "1 image" if count == 1 else f"{count} images"
        raise StorageError(
            f"{shown(folder)} has {have:.0f} MB free and {images} may need {need:.0f} MB: "
            "free some space, or choose another folder"
        )


def enlarged_path(output: Output, source: Path, scale: float) -> Path:
    """Where an enlarged image goes, in the format of the original if that can be written."""
    suffix = source.suffix.lower()
    return edited_path(output, source, f"{source.stem}-{scale:g}x{suffix if suffix in SUFFIXES else '.png'}")


def edited_path(output: Output, source: Path, name: str) -> Path:
    """Where an edited copy goes: as asked, or next to the image, with a name that `output` may lack."""
    if output.path is None:
        return source.with_name(name)
    parts = split_output(output)
    if parts.folders or (parts.stem and tokens_in(parts.stem)):
        raise UsageError("the output of an edited image takes no [tokens]: give a folder or a file name")
    return parts.root / (name if parts.stem is None else parts.stem + parts.suffix)

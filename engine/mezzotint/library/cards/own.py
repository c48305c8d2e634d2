"""What the user says of model files, in the settings folder: one JSON file each, and a picture.

Found by the name and size of the file, so that it follows one that is moved.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mezzotint.atomic import atomic_write
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.errors import ModelRefused, StorageError, UsageError
from mezzotint.images.template import slug
from mezzotint.library.cards.words import paragraph, words
from mezzotint.library_protocol import ModelCard, SaveCard
from mezzotint.paths import config_folder
from mezzotint.trouble import storage_error

SCHEMA_VERSION = 1
_MOST_BYTES = 256 << 10
_PICTURE_SIDE = 384  # pixels


def with_own(card: ModelCard) -> ModelCard:
    """The card with what the user has stored; a damaged file counts as none, and stays."""
    path = _file(card.path)
    data = _read(path)
    picture = path.with_suffix(".webp")
    return replace(
        card,
        tags=words(data["tags"]) if "tags" in data else card.tags,
        trigger_words=words(data["trigger_words"]) if "trigger_words" in data else card.trigger_words,
        notes=paragraph(data.get("notes")),
        picture=str(picture) if is_file(picture) else card.picture,
    )


def save_card(asked: SaveCard) -> None:
    """Store tags, trigger words and notes."""
    path = _file(asked.path)
    _check_version(path)
    data = {
        "version": SCHEMA_VERSION,
        "file": Path(asked.path).name,
        "tags": words(asked.tags),
        "trigger_words": words(asked.trigger_words),
        "notes": paragraph(asked.notes),
    }
    _make_folder(path)
    atomic_write(path, json.dumps(data, indent=1, ensure_ascii=False).encode("utf-8", "replace"), overwrite=True)


def save_picture(model: str, picture: str | None) -> str:
    """Store a small copy of an image as its picture, and return its path; None removes the stored one."""
    path = _file(model).with_suffix(".webp")
    if picture is None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise storage_error("delete", path, error) from None
        return ""
    from mezzotint.library.decoding import decode_image, over_white  # not before a picture is to be read

    image, _ = decode_image(Path(picture), _PICTURE_SIDE)
    data = io.BytesIO()
    over_white(image).save(data, "WEBP", quality=85)
    _make_folder(path)
    atomic_write(path, data.getvalue(), overwrite=True)
    return str(path)


def _file(model: str) -> Path:
    path = Path(model)
    try:
        which = str(path.stat().st_size) if is_file(path) else path.parent.name  # folders often have the same name
    except (OSError, ValueError):
        which = ""
    digest = hashlib.sha256(f"{path.name}\0{which}".encode("utf-8", "replace")).hexdigest()[:12]
    return config_folder() / "model_notes" / f"{slug(path.stem)}-{digest}.json"


def _read(path: Path) -> Mapping[str, object]:
    try:
        return read_json_object(path, _MOST_BYTES) if is_file(path) else {}
    except (ModelRefused, StorageError):
        return {}


def _check_version(path: Path) -> None:
    version = _read(path).get("version", SCHEMA_VERSION)
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UsageError(f"{plain(path, 300)} is from a newer Mezzotint: update Mezzotint to change it")


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("create", path.parent, error) from None

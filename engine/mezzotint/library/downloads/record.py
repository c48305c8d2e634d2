"""mezzotint-source.json: a model's origin and checksums, stored beside it."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from mezzotint.atomic import atomic_write
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.errors import ModelRefused, StorageError

RECORD_FILE = "mezzotint-source.json"
MAX_RECORD = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord:
    """Origin, licence and checksums of a downloaded model."""

    source: str  # owner/name, owner/name/file, or a link without its query
    revision: str  # the commit; empty for links
    licence: str
    sums: dict[str, str]  # from names, relative to the folder or the file's folder, to sha256


def record_path(model: Path) -> Path:
    """Return the path of the record: inside a model folder, or beside a model file."""
    return model / RECORD_FILE if is_folder(model) else model.with_name(f"{model.name}.{RECORD_FILE}")


def write_record(path: Path, record: SourceRecord) -> None:
    """Write the record atomically."""
    atomic_write(path, (json.dumps(asdict(record), indent=2) + "\n").encode("utf-8"), overwrite=True)


def read_record(model: Path) -> SourceRecord | None:
    """Read the record of a model; None if missing or invalid."""
    path = record_path(model)
    if not is_file(path):
        return None
    try:
        data = read_json_object(path, MAX_RECORD)
    except (ModelRefused, StorageError):
        return None
    texts = {name: data.get(name) for name in ("source", "revision", "licence")}
    sums = data.get("sums")
    if not isinstance(sums, dict) or not all(isinstance(text, str) for text in (*texts.values(), *sums.values())):
        return None
    return SourceRecord(
        sums={str(name): str(value) for name, value in sums.items()}, **{k: str(v) for k, v in texts.items()}
    )

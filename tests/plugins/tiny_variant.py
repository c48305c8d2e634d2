"""Tiny PixArt folders with another architecture."""

import json
import shutil
from pathlib import Path
from typing import Any


def write_tiny_variant(base: Path, folder: Path, architecture: Any) -> Path:
    """Copy a PixArt folder; its transformer becomes a variant with the same weights."""
    shutil.copytree(base, folder)
    name = "PixArtVariantTransformer2DModel"
    _change(folder / "model_index.json", transformer=["mezzotint", name])
    _change(folder / "transformer" / "config.json", _class_name=name, architecture=architecture)
    return folder


def _change(file: Path, **values: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | values), encoding="utf-8")

"""A dataset as plain data: images with their captions and masks, and what is wrong with them."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something wrong with a file or folder; after an error, the file is left out."""

    path: Path
    severity: Severity
    message: str  # one line that names the file and says what to do


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingImage:
    """An image to train on; its width and height are those after the EXIF orientation."""

    path: Path
    width: int
    height: int
    captions: tuple[str, ...]  # alternatives, of which each step draws one; empty if there is none
    caption_file: Path | None  # beside the image; None for captions of a metadata.jsonl
    mask: Path | None
    mask_content: str = ""  # SHA-256 of the mask's bytes
    repeats: int = 1  # how often an epoch contains it
    regularization: bool = False
    content: str  # SHA-256 of the file's bytes

    @property
    def identity(self) -> str:
        """SHA-256 of everything about this image that affects training; independent of its name and place."""
        trained = (self.content, self.captions, self.mask_content, self.repeats, self.regularization)
        return hashlib.sha256(json.dumps(trained).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The images of a folder, ordered by path, and the problems found while reading it."""

    folder: Path
    images: tuple[TrainingImage, ...]
    problems: tuple[Problem, ...]

    @property
    def fingerprint(self) -> str:
        """SHA-256 that changes if and only if what is trained changes; independent of names and the folder's place."""
        return hashlib.sha256("".join(sorted(image.identity for image in self.images)).encode()).hexdigest()

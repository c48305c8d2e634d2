"""Prompts of images that a model makes itself, read from a text file as a dataset."""

import hashlib
from pathlib import Path

from mezzotint.errors import StorageError, UsageError
from mezzotint.training.dataset.caption_files import read_caption_file
from mezzotint.training.dataset.records import Dataset, TrainingImage
from mezzotint.trouble import shown


def read_prompts(path: Path, side: int) -> Dataset:
    """A square image for each line of a text file; raises StorageError without a file, UsageError if it is empty."""
    if not path.is_file():
        raise StorageError(f"{shown(path)} is not a file: expected a text file with a prompt on each line")
    prompts = list(dict.fromkeys(read_caption_file(path)))
    if not prompts:
        raise UsageError(f"{shown(path)} is empty: write a prompt on each line")
    return Dataset(folder=path.parent, images=tuple(_image(path, prompt, side) for prompt in prompts), problems=())


def _image(path: Path, prompt: str, side: int) -> TrainingImage:
    return TrainingImage(
        path=path,
        width=side,
        height=side,
        captions=(prompt,),
        caption_file=path,
        mask=None,
        content=hashlib.sha256(prompt.encode()).hexdigest(),
    )

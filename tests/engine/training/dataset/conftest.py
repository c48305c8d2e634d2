"""Folders of images to train on, and images that exist as data only."""

import hashlib

import pytest
from PIL import Image

from mezzotint.training.dataset.reading import read_dataset
from mezzotint.training.dataset.records import TrainingImage


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "castles"
    made.mkdir()
    return made


@pytest.fixture
def put(folder):
    """Save an image of a colour below the folder, with a caption beside it unless that is None."""

    def save(name, caption="a castle", *, size=(64, 64), colour=None, **how):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shade = int.from_bytes(hashlib.sha256(name.encode()).digest()[:3])  # every name has another
        Image.new("RGB", size, colour or f"#{shade:06x}").save(path, **how)
        if caption is not None:
            path.with_suffix(".txt").write_text(caption, "utf-8")
        return path

    return save


@pytest.fixture
def read(folder):
    return lambda **how: read_dataset(folder, **{"cancelled": lambda: False, **how})


@pytest.fixture
def told(folder, read):
    """Read the folder, and return severity and message of each problem of a file, or of all."""

    def problems(name=None, severity=None):
        return [
            one.message
            for one in read().problems
            if (name is None or one.path == folder / name) and severity in (None, one.severity)
        ]

    return problems


@pytest.fixture
def image_of(tmp_path):
    """Make the record of an image that need not exist."""

    def make(number=0, width=64, height=64, captions=("a castle",), **changes):
        values = {
            "path": tmp_path / f"{number}.png",
            "width": width,
            "height": height,
            "captions": captions,
            "caption_file": None,
            "mask": None,
            "content": hashlib.sha256(str(number).encode()).hexdigest(),
        }
        return TrainingImage(**values | changes)

    return make

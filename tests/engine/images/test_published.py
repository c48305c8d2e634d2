"""Folders in what an image says of files."""

from dataclasses import dataclass, field

import pytest

from mezzotint.images.published import is_absolute, last_part, without_folders


@dataclass(frozen=True, kw_only=True)
class File:
    path: str
    sha256: str = "0"


@dataclass(frozen=True, kw_only=True)
class Record:
    prompt: str = "/imagine a house"
    negative_prompt: str = "~/x"
    file: File | None = None
    files: tuple[File, ...] = ()
    names: dict[str, str] = field(default_factory=dict)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/someone/loras/ink.safetensors", "ink.safetensors"),
        ("C:\\Users\\someone\\ink.safetensors", "ink.safetensors"),
        ("d:/models/sdxl", "sdxl"),
        ("\\\\host\\share\\a.png", "a.png"),
        ("~/Pictures/a.png", "a.png"),
        ("/models/sdxl/", "sdxl"),
    ],
)
def test_only_the_name_of_a_file_is_left(path, name):
    record = Record(file=File(path=path), files=(File(path=path),), names={"vae": path})
    assert without_folders(record) == Record(file=File(path=name), files=(File(path=name),), names={"vae": name})


@pytest.mark.parametrize("text", ["starter-dit", "stabilityai/sdxl-turbo", "a.safetensors", "nearest", "", "1/2", "C:"])
def test_other_texts_stay(text):
    assert not is_absolute(text)
    record = Record(file=File(path=text))
    assert without_folders(record) == record


def test_prompts_stay_whatever_they_begin_with():
    assert without_folders(Record()) == Record()


def test_a_root_has_no_name_to_shorten_to():
    assert last_part("/") == "/"

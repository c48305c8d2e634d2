"""Captions are written into the file that is read."""

import pytest

from mezzotint.errors import UsageError
from mezzotint.jobs.training.caption_writing import write_captions
from mezzotint.training.dataset.reading import read_dataset
from mezzotint.training_protocol import CaptionEdit


def captions(dataset):
    return [image.captions for image in read_dataset(dataset, cancelled=lambda: False).images]


def test_it_is_written_beside_the_image(dataset):
    path = write_captions(CaptionEdit(image=str(dataset / "2.png"), captions=("a blue castle", " with\na  tower ")))
    assert path == dataset / "2.txt"
    assert captions(dataset)[2] == ("a blue castle", "with a tower")
    assert sorted(one.name for one in dataset.iterdir() if one.suffix == ".txt") == ["0.txt", "1.txt", "2.txt"]


def test_an_existing_file_is_replaced_whatever_its_ending(dataset):
    (dataset / "0.txt").rename(dataset / "0.caption")
    assert write_captions(CaptionEdit(image=str(dataset / "0.png"), captions=("ein Schloß",))) == dataset / "0.caption"
    assert captions(dataset)[0] == ("ein Schloß",)


def test_nothing_is_an_empty_caption(dataset):
    write_captions(CaptionEdit(image=str(dataset / "0.png"), captions=("",)))
    assert captions(dataset)[0] == () and (dataset / "0.txt").read_bytes() == b""


@pytest.mark.parametrize("name", ["0.txt", "absent.png", "notes"])
def test_only_images_have_captions(dataset, name):
    with pytest.raises(UsageError):
        write_captions(CaptionEdit(image=str(dataset / name), captions=("a",)))
    with pytest.raises(UsageError, match="absolute"):
        write_captions(CaptionEdit(image="0.png", captions=("a",)))


def test_a_caption_that_would_not_be_read_is_not_written(dataset):
    with pytest.raises(UsageError, match="shorten"):
        write_captions(CaptionEdit(image=str(dataset / "0.png"), captions=("a" * 70_000,)))
    assert captions(dataset)[0] == ("a red castle",)

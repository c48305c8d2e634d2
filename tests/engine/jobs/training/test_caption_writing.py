"""Captions are written into the file that is read."""

import pytest

from mezzotint.errors import UsageError
from mezzotint.jobs.training.caption_writing import write_captions
from mezzotint.training.dataset.reading import read_dataset
from mezzotint.training_protocol import CaptionEdit


def captions(dataset):
    return [image.captions for image in read_dataset(dataset, cancelled=lambda: False).images]


def test_it_is_written_beside_the_image(castles):
    path = write_captions(CaptionEdit(image=str(castles / "2.png"), captions=("a blue castle", " with\na  tower ")))
    assert path == castles / "2.txt"
    assert captions(castles)[2] == ("a blue castle", "with a tower")
    assert sorted(one.name for one in castles.iterdir() if one.suffix == ".txt") == ["0.txt", "1.txt", "2.txt"]


def test_an_existing_file_is_replaced_whatever_its_ending(castles):
    (castles / "0.txt").rename(castles / "0.caption")
    assert write_captions(CaptionEdit(image=str(castles / "0.png"), captions=("ein Schloß",))) == castles / "0.caption"
    assert captions(castles)[0] == ("ein Schloß",)


def test_nothing_is_an_empty_caption(castles):
    write_captions(CaptionEdit(image=str(castles / "0.png"), captions=("",)))
    assert captions(castles)[0] == () and (castles / "0.txt").read_bytes() == b""


@pytest.mark.parametrize("name", ["0.txt", "absent.png", "notes"])
def test_only_images_have_captions(castles, name):
    with pytest.raises(UsageError):
        write_captions(CaptionEdit(image=str(castles / name), captions=("a",)))
    with pytest.raises(UsageError, match="absolute"):
        write_captions(CaptionEdit(image="0.png", captions=("a",)))


def test_a_caption_that_would_not_be_read_is_not_written(castles):
    with pytest.raises(UsageError, match="shorten"):
        write_captions(CaptionEdit(image=str(castles / "0.png"), captions=("a" * 70_000,)))
    assert captions(castles)[0] == ("a red castle",)

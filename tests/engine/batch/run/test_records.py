"""What happened to a task, told in a record."""

import hashlib
import os

import pytest

from mezzotint.batch.run.records import change_of_input
from mezzotint.protocol import ControlRef, GenerateRequest, ImageInput


@pytest.fixture
def photo(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"as it was")
    return path


def changed(photo):
    digest = hashlib.sha256(b"as it was").hexdigest()
    images = (ImageInput(path=str(photo)), ImageInput(path=str(photo), sha256=digest))
    controls = (ControlRef(image=str(photo), model="m", image_sha256=digest),)
    found = change_of_input(GenerateRequest(prompt="a", images=images))
    masks = (ControlRef(image="unread.png", model="m", mask=str(photo), mask_sha256=digest),)
    for given in (controls, masks):
        assert change_of_input(GenerateRequest(prompt="a", controls=given)) == found
    return found


def test_images_that_are_as_they_were(photo):
    assert changed(photo) is None


def test_one_that_has_changed_and_one_that_is_gone(photo):
    photo.write_bytes(b"anew")
    assert changed(photo).endswith("has changed since the job was planned: run again to use it as it is now")
    photo.unlink()
    assert "can no longer be read" in changed(photo)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes among its files")
def test_a_pipe_in_its_place_is_not_waited_for(photo):
    photo.unlink()
    os.mkfifo(photo)
    assert "is a pipe, not a file" in changed(photo)

"""Images in folders, in the order that people count, however many and whatever else lies there."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import StorageError
from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint
from mezzotint_app.viewmodel.dropped import folder_of_images
from mezzotint_app.viewmodel.dropped.folder_of_images import Images, batch_of, checked, images_in


def test_images_of_all_folders_within_it_and_nothing_else(tmp_path):
    for name in (
        "10.png",
        "2.PNG",
        "a/1.jpg",
        "a/b/3.webp",
        ".hidden.png",
        ".git/4.png",
        "notes.txt",
        "model.safetensors",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    found = images_in(str(tmp_path))
    assert [Path(path).relative_to(tmp_path).as_posix() for path in found.paths] == [
        "2.PNG",
        "10.png",
        "a/1.jpg",
        "a/b/3.webp",
    ]
    assert found.complete


def test_links_are_not_followed(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "1.png").write_bytes(b"")
    try:
        (tmp_path / "in" / "circle").symlink_to(tmp_path / "in", target_is_directory=True)
        (tmp_path / "in" / "2.png").symlink_to(tmp_path / "out" / "1.png")
    except OSError:
        pytest.skip("this account may not make links")
    assert images_in(str(tmp_path / "in")).paths == ()


def test_no_more_than_are_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_of_images, "MOST_IMAGES", 3)
    for number in range(5):
        (tmp_path / f"{number}.png").write_bytes(b"")
    found = images_in(str(tmp_path))
    assert (len(found.paths), found.complete) == (3, False)


def test_a_huge_folder_is_not_walked_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_of_images, "MOST_ENTRIES", 10)
    for number in range(12):
        (tmp_path / f"{number}.txt").write_bytes(b"")
    assert images_in(str(tmp_path)) == Images(folder=str(tmp_path), paths=(), complete=False)


def test_a_folder_that_cannot_be_read_is_told_and_one_within_it_passed_over(tmp_path):
    (tmp_path / "locked").mkdir()
    (tmp_path / "1.png").write_bytes(b"")

    def scan(path):
        if path.endswith("locked"):
            raise PermissionError(13, "no")
        return os.scandir(path)

    assert len(images_in(str(tmp_path), scan=scan).paths) == 1
    with pytest.raises(StorageError, match="cannot read"):
        images_in(str(tmp_path / "locked"), scan=scan)


def test_no_images_are_told():
    with pytest.raises(StorageError, match="no images in empty"):
        checked(Images(folder="/a/empty", paths=()))
    some = Images(folder="/a", paths=("/a/1.png",))
    assert checked(some) is some


@given(st.lists(st.text(min_size=1, max_size=20), max_size=20), st.one_of(st.none(), st.floats(0, 1)))
def test_each_image_is_a_starting_image_once(paths, strength):
    request = GenerateRequest(
        prompt="x",
        seed=5,
        strength=strength,
        images=(ImageInput(path="other"), ImageInput(path="m", role="mask")),
        inpaint=Inpaint(left=8),
    )
    made = batch_of(request, paths)
    assert [one.images for one in made] == [(ImageInput(path=path),) for path in paths]
    for one in made:
        assert (one.prompt, one.seed, one.inpaint) == ("x", 5, None)
        assert one.strength == (0.6 if strength is None else strength)

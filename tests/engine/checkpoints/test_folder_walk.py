"""Links: inside the model and into its repository's blobs they are followed, anywhere else refused."""

import sys

import pytest
from model_files import sdxl_folder

from mezzotint.checkpoints import folder_walk
from mezzotint.checkpoints.folder import open_folder
from mezzotint.checkpoints.folder_walk import check_folder
from mezzotint.errors import ModelRefused, StorageError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
WEIGHTS = "diffusion_pytorch_model.safetensors"


def move_and_link(path, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    path.rename(target)
    path.symlink_to(target)


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    path = sdxl_folder(tmp_path / "model")
    move_and_link(path / "unet" / WEIGHTS, tmp_path / "outside" / "weights")
    with pytest.raises(ModelRefused, match=r"unet/diffusion_pytorch_model.safetensors is a link that leads out"):
        open_folder(path)


def test_so_is_one_that_nothing_asks_for(tmp_path):
    path = sdxl_folder(tmp_path / "model")
    (path / "notes.txt").symlink_to("/etc/passwd")
    with pytest.raises(
        ModelRefused, match=r"notes.txt is a link that leads out .*: if you made it, copy or move the file itself there"
    ):
        open_folder(path)


def test_so_is_a_folder_that_is_a_link_out(tmp_path):
    path = sdxl_folder(tmp_path / "model")
    move_and_link(path / "unet", tmp_path / "outside" / "unet")
    with pytest.raises(ModelRefused, match="unet is a link that leads out .* copy or move"):
        open_folder(path)


def test_so_is_a_folder_whose_name_begins_like_the_model(tmp_path):
    path = sdxl_folder(tmp_path / "model")
    move_and_link(path / "unet" / WEIGHTS, tmp_path / "model2" / "weights")
    with pytest.raises(ModelRefused, match="leads out"):
        open_folder(path)


def test_a_link_within_the_folder_is_followed(tmp_path):
    path = sdxl_folder(tmp_path / "model")
    move_and_link(path / "unet" / WEIGHTS, path / "weights" / "unet.safetensors")
    assert open_folder(path).components["unet"].files == (path.resolve() / "unet" / WEIGHTS,)


def test_loops_of_links_end(tmp_path):
    path = sdxl_folder(tmp_path / "model")
    (path / "again").symlink_to(path)
    (path / "itself").symlink_to(path / "itself")
    assert open_folder(path).components


def test_the_hub_links_into_its_own_blobs(tmp_path):
    path = sdxl_folder(tmp_path / "models--org--name" / "snapshots" / "abc")
    blobs = tmp_path / "models--org--name" / "blobs"
    for number, file in enumerate(sorted(path.rglob("*.*"))):
        if file.is_file():
            move_and_link(file, blobs / str(number))
    folder = open_folder(path)
    assert folder.components["unet"].files == (path.resolve() / "unet" / WEIGHTS,)
    assert folder.bytes > 0


def test_but_not_into_those_of_another_repository(tmp_path):
    path = sdxl_folder(tmp_path / "models--org--name" / "snapshots" / "abc")
    move_and_link(path / "unet" / WEIGHTS, tmp_path / "models--org--other" / "blobs" / "1")
    with pytest.raises(ModelRefused, match="leads out"):
        open_folder(path)


def test_a_folder_that_only_looks_like_the_hub_has_no_blobs(tmp_path):
    path = sdxl_folder(tmp_path / "mine" / "snapshots" / "abc")
    move_and_link(path / "unet" / WEIGHTS, tmp_path / "mine" / "blobs" / "1")
    with pytest.raises(ModelRefused, match="leads out"):
        open_folder(path)


def test_a_model_reached_by_a_link_is_opened(tmp_path):
    sdxl_folder(tmp_path / "model")
    (tmp_path / "link").symlink_to(tmp_path / "model")
    assert open_folder(tmp_path / "link").path == (tmp_path / "model").resolve()


def test_the_look_is_bounded_in_number(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_walk, "MAX_ENTRIES", 50)
    for number in range(51):
        (tmp_path / str(number)).touch()
    with pytest.raises(ModelRefused, match="more than 50 files"):
        check_folder(tmp_path)


def test_the_look_is_bounded_in_depth(tmp_path):
    tmp_path.joinpath(*"abcdefghij").mkdir(parents=True)
    with pytest.raises(ModelRefused, match="nested more than 8 deep"):
        check_folder(tmp_path)


def test_a_folder_that_cannot_be_listed_is_told(tmp_path):
    with pytest.raises(StorageError, match="cannot be read: No such file or directory"):
        check_folder(tmp_path / "gone")

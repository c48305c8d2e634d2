import pytest
from model_files import pixart_folder, sdxl_file

from mezzotint.checkpoints.folder import FolderCheckpoint
from mezzotint.checkpoints.opening import FileCheckpoint, open_checkpoint
from mezzotint.errors import ModelRefused, StorageError


def test_a_file_is_opened(tmp_path):
    path = sdxl_file(tmp_path / "model.safetensors")
    checkpoint = open_checkpoint(path)
    assert isinstance(checkpoint, FileCheckpoint)
    assert checkpoint.path == checkpoint.header.path == path
    assert checkpoint.bytes == path.stat().st_size


def test_a_folder_is_opened(tmp_path):
    assert isinstance(open_checkpoint(pixart_folder(tmp_path / "model")), FolderCheckpoint)


@pytest.mark.parametrize("suffix", ["ckpt", "pt", "pth", "bin", "PKL"])
def test_pickles_are_refused_with_advice_whatever_is_in_them(tmp_path, suffix):
    path = tmp_path / f"model.{suffix}"
    path.write_bytes(b"\0" * 20 + b"anything")
    with pytest.raises(ModelRefused, match="a pickle, which can run code when opened: convert it to safetensors"):
        open_checkpoint(path)


def test_what_is_not_there_is_a_matter_of_storage(tmp_path):
    with pytest.raises(StorageError, match="does not exist"):
        open_checkpoint(tmp_path / "model.ckpt")

"""Upscalers in pickles are read as they are, and what is something else is refused before memory is taken."""

import pickle
import zipfile

import pytest
import torch

from mezzotint.checkpoints.pickled_tensors import PickledFile
from mezzotint.errors import ModelRefused
from mezzotint.upscaling.compact import Compact
from mezzotint.upscaling.pickled import pickled_state
from mezzotint.upscaling.reading import open_upscaler


class Harm:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def saved(path, content):
    torch.save(content, path)
    return path


@pytest.mark.parametrize("wrapper", ["params_ema", "params", "state_dict", None])
def test_an_upscaler_is_read(tmp_path, wrapper):
    state = Compact(4, 1, 2).state_dict()
    path = saved(tmp_path / "x.pth", {wrapper: state, "step": 3} if wrapper else state)
    read = open_upscaler(path).network.state_dict()
    assert all(torch.equal(tensor, read[name]) for name, tensor in state.items())


def test_what_would_run_code_is_refused(tmp_path):
    made, path = tmp_path / "made", tmp_path / "harm.pth"
    path.write_bytes(pickle.dumps({"params": Harm(made)}))
    with pytest.raises(ModelRefused, match="not a file of plain tensors"):
        pickled_state(path)
    assert not made.exists()


@pytest.mark.parametrize("content", [{"params": {"a": 1}}, [1, 2], {}, {"a": torch.zeros(1), "b": "text"}])
def test_other_things_are_refused(tmp_path, content):
    with pytest.raises(ModelRefused, match="something other than named tensors"):
        pickled_state(saved(tmp_path / "other.pth", content))


def test_archives_that_unpack_to_much_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.pth"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/data.pkl", b"")
        archive.writestr("x/data/0", bytes(10**6))
    monkeypatch.setattr("mezzotint.upscaling.pickled.MAX_FILE", 10**5)
    with pytest.raises(ModelRefused, match="unpacks to more"):
        pickled_state(path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"a": torch.zeros(1).expand(2**30)}, "larger than its storage"),
        (dict.fromkeys(map(str, range(1000)), torch.zeros(2**18)), "1000.0 MB are too much"),
    ],
    ids=["one number repeated by a stride of 0", "one storage under many names"],
)
def test_a_small_file_cannot_take_much_memory(tmp_path, monkeypatch, content, told):
    monkeypatch.setattr("mezzotint.upscaling.pickled.MAX_FILE", 2**25)
    monkeypatch.setattr(PickledFile, "tensor", lambda *_: pytest.fail("memory was taken"))
    with pytest.raises(ModelRefused, match=told):
        pickled_state(saved(tmp_path / "small.pth", content))

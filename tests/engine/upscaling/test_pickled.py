"""Pickles become safetensors in a process of their own, if they hold tensors and nothing else."""

import pickle
import zipfile

import pytest
import torch

from mezzotint.errors import Cancelled, ModelRefused
from mezzotint.upscaling.compact import Compact
from mezzotint.upscaling.pickled import MAX_FILE, converted
from mezzotint.upscaling.reading import open_upscaler


class Harm:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_tensors_are_converted_once(tmp_path):
    network = Compact(4, 1, 2)
    path = tmp_path / "x.pth"
    torch.save({"params_ema": network.state_dict(), "step": 3}, path)
    read = open_upscaler(path).network.state_dict()
    assert all(torch.equal(tensor, read[name]) for name, tensor in network.state_dict().items())
    first = converted(path).stat()
    assert converted(path).stat().st_mtime_ns == first.st_mtime_ns


def test_what_would_run_code_is_refused(tmp_path):
    made, path = tmp_path / "made", tmp_path / "harm.pth"
    path.write_bytes(pickle.dumps({"params": Harm(made)}))
    with pytest.raises(ModelRefused, match="not a file of plain tensors"):
        converted(path)
    assert not made.exists()


@pytest.mark.slow
@pytest.mark.parametrize("content", [{"params": {"a": 1}}, [1, 2], b"garbage"])
def test_other_things_are_refused(tmp_path, content):
    path = tmp_path / "other.pth"
    torch.save(content, path) if not isinstance(content, bytes) else path.write_bytes(content)
    with pytest.raises(ModelRefused, match="not a file of plain tensors"):
        converted(path)


def test_archives_that_unpack_to_much_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.pth"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(10**6))
    monkeypatch.setattr("mezzotint.upscaling.pickled.MAX_FILE", 10**5)
    with pytest.raises(ModelRefused, match="too much for an upscaler"):
        converted(path)
    assert MAX_FILE > 10**9


def test_it_can_be_stopped(tmp_path):
    path = tmp_path / "x.pth"
    torch.save(Compact(4, 1, 2).state_dict(), path)
    stops = iter([False] * 3)
    with pytest.raises(Cancelled):
        converted(path, lambda: next(stops, True))

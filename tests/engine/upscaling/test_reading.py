"""Upscalers from files, and files that are none."""

import pytest
import torch
from safetensors.torch import save_file

from mezzotint.errors import ModelRefused
from mezzotint.upscaling import other_kinds
from mezzotint.upscaling.compact import Compact
from mezzotint.upscaling.reading import open_upscaler


@pytest.mark.parametrize("prefix", ["", "params_ema.", "module."])
def test_names_may_have_a_prefix(tmp_path, prefix):
    path = tmp_path / "x.safetensors"
    save_file({prefix + name: tensor for name, tensor in Compact(4, 1, 3).state_dict().items()}, path)
    found = open_upscaler(path)
    assert (found.scale, found.architecture) == (3, "Compact")
    assert found.dtype(torch.bfloat16) == torch.bfloat16


@pytest.mark.requires_package("spandrel")
def test_other_kinds_are_spandrel_s(tmp_path):
    other_kinds._spandrel(tmp_path)
    from spandrel.architectures.ESRGAN import ESRGAN  # type: ignore[import-untyped]

    path = tmp_path / "esrgan.safetensors"
    network = ESRGAN(num_filters=8, num_blocks=1, scale=4)
    save_file(network.state_dict(), path)
    found = open_upscaler(path)
    image = torch.rand(1, 3, 8, 8)
    assert (found.scale, found.architecture) == (4, "ESRGAN")
    assert torch.equal(found.network(image), network(image))


@pytest.mark.requires_package("spandrel")
@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        ({"a": torch.zeros(1)}, "not an upscaler of a known kind"),
        ({"body.0.weight": torch.zeros(4, 3, 3, 3), "body.1.weight": torch.zeros(4)}, "damaged"),
    ],
)
def test_other_files_are_refused(tmp_path, tensors, reason):
    path = tmp_path / "x.safetensors"
    save_file(tensors, path)
    with pytest.raises(ModelRefused, match=reason):
        open_upscaler(path)


@pytest.mark.requires_package("spandrel")
@pytest.mark.parametrize("error", [ZeroDivisionError("division by zero"), OverflowError(), NotImplementedError("x")])
def test_whatever_a_library_raises_is_a_bad_file(tmp_path, monkeypatch, error):
    path = tmp_path / "x.safetensors"
    save_file({"a": torch.zeros(1)}, path)
    spandrel = other_kinds._spandrel(path)

    def fails(_self, _tensors):
        raise error

    monkeypatch.setattr(spandrel.ModelLoader, "load_from_state_dict", fails)
    with pytest.raises(ModelRefused, match=rf"x\.safetensors: .*{str(error) or type(error).__name__}"):
        open_upscaler(path)
    error = MemoryError()
    with pytest.raises(MemoryError):
        open_upscaler(path)


def test_too_large_a_file_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.safetensors"
    save_file({"a": torch.zeros(100)}, path)
    monkeypatch.setattr("mezzotint.upscaling.reading.MAX_FILE", 100)
    with pytest.raises(ModelRefused, match="too much"):
        open_upscaler(path)


def test_without_spandrel_it_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "x.safetensors"
    save_file({"a": torch.zeros(1)}, path)
    monkeypatch.setitem(__import__("sys").modules, "spandrel", None)
    with pytest.raises(ModelRefused, match=r"mezzotint\[upscale\]"):
        open_upscaler(path)

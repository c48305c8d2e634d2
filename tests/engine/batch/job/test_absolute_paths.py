"""Paths of a job, from its folder or from a home."""

from pathlib import Path

import pytest

from mezzotint.batch.job.absolute_paths import absolute, with_absolute_paths
from mezzotint.errors import UsageError
from mezzotint.images.naming import from_home
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Stage, Transition
from mezzotint.values.details import DetailRef


def test_a_path_is_from_its_folder_or_from_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "me"))
    assert absolute("a/b.png", tmp_path) == str(tmp_path / "a" / "b.png")
    assert absolute(str(tmp_path / "c"), tmp_path / "a") == str(tmp_path / "c")
    assert absolute("~/b.png", tmp_path) == str(tmp_path / "me" / "b.png")
    assert from_home("b.png") == Path("b.png")


@pytest.mark.parametrize("read", [from_home, lambda path: absolute(path, Path("/"))])
def test_the_home_of_nobody_is_told(read, monkeypatch):
    def expanduser(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", expanduser)  # Windows makes one up
    with pytest.raises(UsageError, match=r"the home folder in ~nobody.x is unknown: write the full path"):
        read("~nobody/x")


def test_components_of_a_model_are_from_the_folder(tmp_path):
    model = ModelRef(id="flux", vae="v.safetensors", text_encoders=("t.gguf",))
    request = GenerateRequest(prompt="x", cascade=Cascade(stages=(Stage(model=model),)))
    (stage,) = with_absolute_paths(request, tmp_path).cascade.stages
    assert stage.model.parts == (str(tmp_path / "v.safetensors"), str(tmp_path / "t.gguf"))


def test_upscalers_and_detectors_are_of_the_folder_or_names(tmp_path):
    (tmp_path / "4x.pth").touch()
    cascade = Cascade(stages=(Stage(),) * 2, transitions=(Transition(upscaler="4x.pth"),))
    (tmp_path / "nets/faces").mkdir(parents=True)
    details = (DetailRef(label="face", model="nets/faces"), DetailRef(label="face", model="faces"))
    request = GenerateRequest(prompt="x", cascade=cascade, init_upscaler="4x-Sharp", details=details)
    moved = with_absolute_paths(request, tmp_path)
    assert [one.model for one in moved.details] == [str(tmp_path / "nets/faces"), "faces"]
    assert (moved.cascade.transitions[0].upscaler, moved.init_upscaler) == (str(tmp_path / "4x.pth"), "4x-Sharp")

"""Smaller copies, made by the command line in a process of its own."""

from pathlib import Path

import pytest

from mezzotint import paths
from mezzotint.catalog import Catalog
from mezzotint.errors import Cancelled, MezzotintError, UnknownModel, UsageError
from mezzotint.library import quantizing
from mezzotint.library.quantizing import quantize
from mezzotint.library_protocol import QuantizeRequest
from mezzotint.protocol import Progress, Step


def copy(model="starter-dit", scheme="int8", *, tell=lambda _: None, cancelled=lambda: False, **more):
    return quantize(QuantizeRequest(model=model, scheme=scheme, **more), Catalog.standard, tell, cancelled)


@pytest.mark.slow
def test_a_copy_that_was_stopped_and_gone_on_with():
    events = []
    with pytest.raises(Cancelled, match="kept"):
        copy(tell=events.append, cancelled=lambda: bool(events))
    assert all(isinstance(event, Progress) for event in events)
    assert not (paths.models_folder() / "starter-dit-int8").exists()
    events.clear()
    info = copy(tell=events.append)
    assert (info.id, info.scheme, info.problem) == ("starter-dit-int8", "int8", None)
    assert Path(info.path) == paths.models_folder() / "starter-dit-int8"
    assert [path.name for path in paths.models_folder().iterdir()] == ["starter-dit-int8"]
    assert [event.done for event in events] == sorted(event.done for event in events)
    assert events[-1].done == events[-1].total and events[-1].unit == "bytes"
    with pytest.raises(UsageError, match="exists already"):
        copy()


def test_what_makes_nothing_smaller():
    with pytest.raises(UsageError, match="does not quantize"):
        copy(scheme="none")


@pytest.mark.parametrize(("scheme", "vram"), [("auto", None), ("int8", 8 * 2**30)])
def test_a_card_belongs_to_auto(scheme, vram):
    with pytest.raises(UsageError, match="only auto, needs the memory of a card"):
        copy(scheme=scheme, target_vram_bytes=vram)


def test_what_the_command_is_told(monkeypatch, tmp_path):
    events, words = [], []

    def child(command, tell, _cancelled):
        words.extend(command.words)
        tell(Step(image=0, images=1, stage=0, stages=1, step=2, steps=4, sigma=1.0, preview=None))
        raise Cancelled("enough")

    monkeypatch.setattr(quantizing, "run_child", child)
    with pytest.raises(Cancelled):
        copy(scheme="auto", target_vram_bytes=6 * 2**30, tell=events.append)
    assert words[-2:] == ["--target-vram", "6GB"] and "--int8-convolutions" not in words
    assert any(word.endswith("starter-dit-auto") for word in words)
    with pytest.raises(Cancelled):
        copy(int8_convolutions=True)
    assert words[-1] == "--int8-convolutions"
    assert events == [Progress(what="sample image", done=2, total=4, unit="steps")]


def test_an_unknown_model():
    with pytest.raises(UnknownModel):
        copy("nobody")


@pytest.mark.slow
def test_what_the_command_refuses_is_told_as_it_tells_it(tmp_path):
    """A model whose weights are damaged is found out by the process that reads them."""
    from model_files import sdxl_folder

    folder = sdxl_folder(tmp_path / "broken")
    (folder / "unet" / "diffusion_pytorch_model.safetensors").write_bytes(b"\0" * 100)
    with pytest.raises(MezzotintError, match="nothing but zeros") as caught:
        copy(str(folder))
    assert caught.value.kind == "model_refused"

"""Images edited by the command line in a process of its own."""

import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from mezzotint.errors import UnknownModel
from mezzotint.library.editing import remove_background, upscale
from mezzotint.library_protocol import BackgroundRequest, UpscaleRequest
from mezzotint.protocol import Output, Progress
from mezzotint.upscaling.compact import Compact


def test_everything_asked_arrives(monkeypatch, tmp_path):
    commands = []

    def run(command, tell, cancelled):
        commands.append(command.words)
        raise UnknownModel("that is enough")

    monkeypatch.setattr("mezzotint.library.editing.run_child", run)
    request = UpscaleRequest(path="-r.png", upscaler="4x", scale=1.5, output=Output(path="large/"))
    for asked in (request, UpscaleRequest(path="r.png")):
        with pytest.raises(UnknownModel):
            upscale(asked, print, lambda: False)
    with pytest.raises(UnknownModel):
        remove_background(BackgroundRequest(path="r.png", model="isnet"), print, lambda: False)
    assert commands[0][2:] == (
        *("upscale", "--jsonl", "-q", "--upscaler", "4x", "--device", "auto", "--scale", "1.5", "-o", "large/"),
        *("--", "-r.png"),
    )
    assert commands[1][-5:] == ("starter-2x", "--device", "auto", "--", "r.png")
    assert commands[2][2:] == ("remove-background", "--jsonl", "-q", "--model", "isnet", "--", "r.png")


@pytest.mark.slow
def test_an_image_and_what_is_told_of_it(tmp_path):
    torch.manual_seed(0)
    save_file(Compact(4, 1, 2).state_dict(), tmp_path / "twice.safetensors")
    Image.new("RGB", (8, 6), "red").save(tmp_path / "-r.png")
    request = UpscaleRequest(
        path=str(tmp_path / "-r.png"), upscaler=str(tmp_path / "twice.safetensors"), scale=1.5, device="cpu"
    )
    told = []
    made = upscale(request, told.append, lambda: False)
    assert (made.path, made.width, made.height) == (str(tmp_path / "-r-1.5x.png"), 12, 9)
    assert told == [Progress(what="upscaling", done=1, total=1, unit="tiles")]


@pytest.mark.slow
def test_errors_are_those_of_the_command(tmp_path):
    with pytest.raises(UnknownModel, match="no upscaler nothing"):
        upscale(UpscaleRequest(path="x.png", upscaler="nothing"), print, lambda: False)

"""Control images for the window: kept in the cache, or saved where the user wants them."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from mezzotint import paths
from mezzotint.codec import encode
from mezzotint.control_protocol import ControlImageMade, ControlImageRequest
from mezzotint.errors import UnknownModel
from mezzotint.images.control.methods import METHODS
from mezzotint.library.control import preparing
from mezzotint.library.control.preparing import prepare_control


@pytest.fixture
def photo(tmp_path):
    Image.linear_gradient("L").convert("RGB").save(tmp_path / "-photo.png")
    return tmp_path / "-photo.png"


def ask(photo, how, find=None, **asked):
    request = ControlImageRequest(path=str(photo), preprocess=how, **asked)
    return prepare_control(request, lambda: SimpleNamespace(network_for=find), print, lambda: False)


def test_arithmetic_is_done_here_and_kept(photo, monkeypatch):
    made = ask(photo, "canny")
    assert made.path.startswith(str(paths.cache_folder() / "controls")) and (made.width, made.height) == (256, 256)
    assert Image.open(made.path).convert("RGB") == METHODS["canny"](Image.open(photo))
    monkeypatch.setitem(METHODS, "canny", None)  # it is not made again
    assert ask(photo, "canny") == made


def test_it_is_saved_where_it_is_wanted(photo, tmp_path):
    assert ask(photo, "lines", output=str(tmp_path / "x.png")).path == str(tmp_path / "x.png")


def test_networks_run_in_a_child_process_that_is_told_everything(photo, monkeypatch):
    commands = []

    def run(command, tell, cancelled):
        commands.append(command.words)
        target = command.words[command.words.index("-o") + 1]
        made = ControlImageMade(path=target, width=1, height=1, sha256="0", preprocess="depth", networks=("x/depth",))
        Image.new("RGB", (1, 1)).save(target)
        return encode(made)

    monkeypatch.setattr(preparing, "run_child", run)
    (paths.cache_folder() / "controls").mkdir(parents=True)
    made = ask(photo, "depth", lambda purpose, label: f"x/{purpose}", device="cpu")
    words = ("control", "--jsonl", "-q", "--preprocess", "depth", "--device", "cpu", "--overwrite", "-o", made.path)
    assert commands[0][2:] == (*words, "--", str(photo))
    again = ask(photo, "depth", lambda purpose, label: f"x/{purpose}")
    assert len(commands) == 1 and (again.path, again.networks) == (made.path, ("x/depth",))


def test_a_missing_network_is_said_before_a_process_starts(photo, monkeypatch):
    def find(purpose, label):
        raise UnknownModel(f"no network for {purpose} of {label}")

    monkeypatch.setattr(preparing, "run_child", None)
    with pytest.raises(UnknownModel, match="no network for detection of person"):
        ask(photo, "pose", find)


def test_the_cache_stays_small(photo, monkeypatch):
    monkeypatch.setattr(preparing, "_KEPT", 2)
    made = []
    for how in ("canny", "gray", "tile"):
        made.append(ask(photo, how).path)
        os.utime(made[-1], (len(made), len(made)))
    assert [Path(path).exists() for path in made] == [False, True, True]

"""The script of the screenshots knows what it can make, and what it made lies in assets."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from skip_rules import skip_module_without

skip_module_without("PySide6")

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "assets" / "screenshots"
MEGABYTE = 2**20


@pytest.fixture
def scenes(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import window_scenes

    return window_scenes.SCENES


def test_each_that_is_kept_is_there_in_its_theme_and_no_other(scenes):
    installation = {path.name for path in KEPT.glob("install-*")}  # by packaging/tests/window_check.py
    wanted = {f"{name}-{scene.kept}.webp" for name, scene in scenes.items() if scene.kept} | installation
    assert len(installation) == 5 and {path.name for path in KEPT.iterdir()} == wanted
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {name for path in texts for name in re.findall(r"screenshots/([\w-]+\.webp)", path.read_text("utf-8"))}
    assert shown == wanted


def test_they_are_images_and_small(scenes):
    assert sum(path.stat().st_size for path in KEPT.iterdir()) < MEGABYTE
    for path in KEPT.iterdir():
        with Image.open(path) as image:
            assert min(image.size) > 300, path.name


def test_a_name_that_is_not_known_is_told(script, monkeypatch, capsys, scenes):
    monkeypatch.setattr(sys, "argv", ["screenshots.py", "--only", "kitchen"])
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert script.main() == 1
    told = capsys.readouterr().out
    assert "kitchen" in told
    assert "gallery" in told


def test_what_cannot_be_waited_for_is_told(script, monkeypatch, capsys):
    def waits(options, folder):
        raise TimeoutError("waited in vain for the engine")

    monkeypatch.setattr(sys, "argv", ["screenshots.py"])
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr(script, "take", waits)
    assert script.main() == 1
    assert "in vain" in capsys.readouterr().out


def test_the_script_finds_its_parts_where_python_keeps_its_folder_out_of_the_path():
    words = [sys.executable, str(ROOT / "bench" / "screenshots.py"), "--only", "nothing"]
    env = os.environ | {"PYTHONSAFEPATH": "1"}
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert (done.returncode, done.stderr) == (1, ""), done.stderr
    assert done.stdout.startswith("no such image: nothing")

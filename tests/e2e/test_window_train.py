"""A training by the window alone: pictures chosen, a caption written, trained, paused, closed upon, resumed, used."""

import json
import shutil
from pathlib import Path

import pytest
from driven_window import DrivenWindow, window_environment

from mezzotint.paths import assets_folder

pytestmark = [pytest.mark.requires_package("PySide6"), pytest.mark.timeout(900), pytest.mark.slow]

DRIVER = "window_train_driver.py"
PICTURES = 6


def test_a_style_is_trained_by_the_window_alone(tmp_path):
    environment = window_environment(tmp_path)
    pictures = tmp_path / "home" / "pictures"
    pictures.mkdir()
    for source in sorted((assets_folder() / "samples" / "train" / "zibble").glob("zibble-*"))[: 2 * PICTURES]:
        shutil.copy(source, pictures)
    (pictures / "zibble-03.txt").unlink()

    first = DrivenWindow(DRIVER, "works", environment, tmp_path / "works.log")
    try:
        checked = first.told("checked")
        assert checked["first"] and checked["tab"]
        assert len(checked["images"]) == PICTURES and checked["images"][0] == ["zibble-03.webp", []]
        assert "warning sign" in checked["problems"]

        assert first.told("written")["row"] == "a zibble at night"
        assert (pictures / "zibble-03.txt").read_text("utf-8") == "a zibble at night\n"

        summed = first.told("summed up")
        assert summed["summary"].startswith("6 images, 60 steps, ") and "on disk" in summed["summary"]
        assert summed["name"] == "zibble" and summed["can_start"]

        paused = first.told("paused")
        assert paused["tab"] and paused["queue"].startswith("Training is running; the queue continues after it")
        assert paused["folder"] == str(tmp_path / "loras" / "zibble.training")
        assert 20 <= paused["step"] < 60 and paused["losses"] == paused["step"]
        assert paused["words"] == f"Paused after step {paused['step']} of 60."
        assert paused["cards"][0] == "Before training" and paused["cards"][-1] == "Epoch 1, step 20"
        first.told("closed")
        assert first.process.wait(60) == 0
    finally:
        first.kill()

    second = DrivenWindow(DRIVER, "again", environment, tmp_path / "again.log")
    try:
        assert second.told("listed")["words"].startswith("Paused after step ")
        finished = second.told("finished")
        assert finished["steps"] == 60 and Path(finished["lora"]).is_file()
        assert finished["cards"] == ["Before training", *(f"Epoch {n}, step {20 * n}" for n in (3, 2, 1))]
        used = second.told("used")
        (lora,) = used["loras"]
        assert Path(lora).name == "zibble-0003.safetensors" and used["page"]
        assert used["model"] == "starter-dit" and used["prompt"].startswith("zibble")
        assert Path(second.told("made")["path"]).is_file()
        second.told("closed")
    finally:
        second.kill()
    log = (tmp_path / "loras" / "zibble.training" / "log.jsonl").read_text("utf-8").splitlines()
    steps = [line["step"] for line in map(json.loads, log) if "epoch" not in line]
    assert steps == list(range(1, 61))

"""A batch by the window alone: dropped, looked at, started, stopped, resumed, closed upon, and listed again."""

import json
from pathlib import Path

import pytest
from driven_window import DrivenWindow, window_environment

pytestmark = [pytest.mark.requires_package("PySide6"), pytest.mark.timeout(900), pytest.mark.slow]

DRIVER = "window_batch_driver.py"
IMAGES = 60  # so many that they are not all made before a stop is heard


def outcomes(folder):
    """What the manifest says of each input, the last word of it."""
    lines = (Path(folder) / "mezzotint-manifest.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return {record["key"]: record for record in records if "key" in record and "status" in record}


def test_a_folder_is_made_by_the_window_alone(tmp_path):
    environment = window_environment(tmp_path)
    first = DrivenWindow(DRIVER, "works", environment, tmp_path / "works.log")
    try:
        dropped = first.told("dropped")
        assert dropped["folder"] == str(tmp_path / "home" / "photos") and dropped["prompts"] == "at night, snow"
        assert dropped["unasked"] == {}
        assert dropped["settings"]["model"] == "starter-dit" and dropped["settings"]["steps"] == 2

        looked = first.told("looked")
        assert looked["problem"] == "" and looked["tab"]
        assert sorted(row[0] for row in looked["rows"]) == ["cannot generate"] + ["generate"] * IMAGES
        assert looked["words"].startswith(f"{IMAGES} to generate, 1 cannot be generated")
        assert not Path(dropped["output"]).exists()  # nothing was made

        runs = first.told("runs")
        assert "generated" in runs["line"] and runs["tab"]
        assert runs["queue"].startswith("A batch is running; the queue continues after it")

        stopped = first.told("stopped")
        assert 1 <= stopped["done"] < IMAGES and stopped["problem"] == ""
        assert "It can be resumed." in stopped["line"]

        done = first.told("done")
        assert (done["done"], done["errors"], done["problem"]) == (IMAGES, 1, "")
        assert done["line"].startswith(f"{IMAGES} of {IMAGES + 1} generated, 1 failed")
        assert done["failures"].startswith("broken.png") and done["folder"] == dropped["output"]
        made = sorted(path.name for path in Path(done["folder"]).rglob("*.png"))
        assert made == [f"{number:02}.png" for number in range(IMAGES)]
        statuses = [record["status"] for record in outcomes(done["folder"]).values()]
        assert statuses.count("done") == IMAGES

        asked = first.told("asked")
        assert asked == {"part": "asked", "go_on": False, "visible": True}
        assert first.told("closed")["stage"] == "resting"
        assert first.process.wait(60) == 0
    finally:
        first.kill()

    second = DrivenWindow(DRIVER, "again", environment, tmp_path / "again.log")
    try:
        boats, holiday = second.told("listed")["batches"]
        assert boats["title"] == "Boats" and 1 <= boats["done"] < 200
        assert boats["line"].endswith("It can be resumed.")
        assert holiday["title"] == "photos" and holiday["done"] == IMAGES
        assert second.told("closed")["running"] == 0
        assert second.process.wait(60) == 0
    finally:
        second.kill()

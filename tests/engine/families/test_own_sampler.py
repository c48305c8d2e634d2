"""A model's own sampler is told without loading it."""

import json
import shutil

import pytest

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.families.detection import detect
from mezzotint.families.own_sampler import own_sampler


def own(path):
    checkpoint = open_checkpoint(path)
    return own_sampler(checkpoint, detect(checkpoint))


@pytest.mark.parametrize(
    ("fixture", "sampler"),
    [
        ("tiny_sdxl_folder", "euler"),
        ("tiny_single_file", "euler"),
        ("tiny_pixart_folder", "dpmpp_2m"),
    ],
)
def test_of_models_on_disk(request, fixture, sampler):
    assert own(request.getfixturevalue(fixture)) == (sampler, "default")


def test_what_the_folder_says_for_itself_comes_first(tiny_pixart_folder, tmp_path):
    path = shutil.copytree(tiny_pixart_folder, tmp_path / "model")
    (path / "mezzotint.json").write_text(json.dumps({"defaults": {"sampler": "euler", "schedule": "karras"}}))
    assert own(path) == ("euler", "karras")


def test_of_a_scheduler_that_cannot_be_run_nothing_is_told(tiny_sdxl_folder, tmp_path):
    path = shutil.copytree(tiny_sdxl_folder, tmp_path / "model")
    file = path / "scheduler" / "scheduler_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"beta_schedule": "of another kind"}))
    assert own(path) == ("", "")

"""The small models with a default size that is quick to make."""

import json
import shutil

import pytest
from tiny_pixart import write_tiny_pixart

from mezzotint.checkpoints.folder_settings import SETTINGS_FILE


def with_size(folder, output):
    shutil.copytree(folder, output)
    settings = {"defaults": {"width": 64, "height": 64}}
    (output / SETTINGS_FILE).write_text(json.dumps(settings))
    return output


@pytest.fixture(scope="session")
def small_pixart(tiny_pixart_folder, tmp_path_factory):
    return with_size(tiny_pixart_folder, tmp_path_factory.mktemp("sized") / "pixart")


@pytest.fixture(scope="session")
def wide_pixart(tmp_path_factory):
    """One whose layers have room for low-rank branches."""
    folder = tmp_path_factory.mktemp("sized")
    return with_size(write_tiny_pixart(folder / "made", heads=24), folder / "wide")


@pytest.fixture(scope="session")
def small_sdxl(tiny_sdxl_folder, tmp_path_factory):
    return with_size(tiny_sdxl_folder, tmp_path_factory.mktemp("sized") / "sdxl")

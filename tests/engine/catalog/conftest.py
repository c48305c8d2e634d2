"""Catalogs over folders made in the test."""

from pathlib import Path

import pytest
from model_files import pixart_folder

from mezzotint.catalog import Catalog
from mezzotint.catalog.places import Places

STARTER = {"name": "starter-dit", "defaults": {"width": 128, "height": 128, "steps": 12, "guidance_scale": 3.5}}


@pytest.fixture
def bundled(tmp_path) -> Path:
    """A folder of bundled models with the starter in it."""
    pixart_folder(tmp_path / "starter" / "dit", STARTER)
    return tmp_path / "starter"


@pytest.fixture
def catalog_of(bundled):
    """Make the catalog of the bundled model and of the places given."""

    def make(*named: Path, models: Path | None = None, huggingface: Path | None = None) -> Catalog:
        return Catalog(Places(bundled=bundled, models=models, named=named, huggingface=huggingface))

    return make

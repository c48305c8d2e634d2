"""What tests of the kernels' build share."""

import json

import pytest
from small_recipes import recipes

from kernel_build import full_size_models


@pytest.fixture
def small_recipes(tmp_path, monkeypatch):
    """SDXL's names, and hardly any weights."""
    path = tmp_path / "recipes.json"
    path.write_text(json.dumps(recipes()), "utf-8")
    monkeypatch.setattr(full_size_models, "RECIPES", path)

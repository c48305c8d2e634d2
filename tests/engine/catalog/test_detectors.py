"""Detectors by name and folder."""

import json

import pytest

from mezzotint.catalog.detectors import detectors_for
from mezzotint.catalog.places import Places
from mezzotint.errors import UnknownModel


def test_by_name_by_folder_or_all(tmp_path):
    for name in ("faces", "people", "elsewhere/cats"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.json").write_text(json.dumps({"architectures": ["RTDetrForObjectDetection"]}))
    places = Places(models=tmp_path)
    assert detectors_for(None, places) == (tmp_path / "faces", tmp_path / "people")
    assert detectors_for("people", places) == (tmp_path / "people",)
    assert detectors_for(str(tmp_path / "elsewhere/cats"), places) == (tmp_path / "elsewhere/cats",)
    with pytest.raises(UnknownModel, match="no detector peoplex.*found: people"):
        detectors_for("peoplex", places)


def test_none():
    with pytest.raises(UnknownModel, match="`mezzotint models get PekingU/rtdetr_v2_r18vd` downloads one"):
        detectors_for(None, Places())
    with pytest.raises(UnknownModel, match="downloads one"):
        detectors_for("x", Places())

"""What is settled for the whole window, and where images go by it."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.requires_package("PySide6")


def test_images_go_to_the_folder_that_is_named():
    from mezzotint_app.settings import Settings, output_folder

    assert output_folder(Settings(output_folder="/somewhere/else")) == Path("/somewhere/else")


def test_the_usual_folder_is_asked_of_the_system_once_for_each_home(monkeypatch, tmp_path):
    from mezzotint_app import settings

    asked = []

    def location(kind):
        asked.append(kind)
        return str(Path.home() / "Images")

    monkeypatch.setattr(settings.QStandardPaths, "writableLocation", staticmethod(location))
    for home in (tmp_path / "one", tmp_path / "two"):
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("USERPROFILE", str(home))
        for _ in range(3):
            assert settings.output_folder(settings.Settings()) == home / "Images" / "Mezzotint"
    assert len(asked) == 2

"""Which Python environments are made from."""

import sys

import pytest

from mezzotint_setup.building import base_python, console_python


@pytest.mark.parametrize(("name", "asked"), [("pythonw.exe", "python.exe"), ("python3.12", "python3.12")])
def test_a_python_without_a_console_is_not_asked(name, asked):
    assert console_python(f"/programs/{name}").as_posix() == f"/programs/{asked}"


def test_an_upgrade_of_the_system_does_not_change_the_python_of_a_version(tmp_path, monkeypatch):
    if sys.platform == "win32":
        assert base_python() == console_python()
        return
    (tmp_path / "python3.11").touch()
    (tmp_path / "python3").symlink_to(tmp_path / "python3.11")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))
    assert base_python() == tmp_path / "python3.11"

"""Folders for what is under way, and those that a process has left behind."""

import os
import stat
import sys

import pytest

from mezzotint.batch.ray import folders as ray_folders
from mezzotint.batch.ray.folders import new_folder, remove, sweep


@pytest.fixture(autouse=True)
def _temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def as_of_the_dead(folder, last):
    """The name that a process of another number would have given."""
    return folder.with_name(f"{folder.name.rsplit('-', 2)[0]}-4242-abcdefg{last}")


def test_nobody_else_may_look_into_one():
    folder = new_folder()
    assert sys.platform == "win32" or stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "given").write_bytes(b"private")
    remove(folder)
    assert not folder.exists()


def test_those_of_dead_processes_of_this_machine_are_swept(tmp_path, monkeypatch):
    mine = new_folder()
    monkeypatch.setattr("platform.node", lambda: "elsewhere")
    elsewhere = new_folder()
    monkeypatch.undo()
    dead, file, link = (as_of_the_dead(mine, last) for last in "xyz")
    dead.mkdir()
    (dead / "given").write_bytes(b"private")
    file.write_bytes(b"a file of that name")
    others = [tmp_path / "mezzotint-bench-abcdefgh", tmp_path / "precious"]
    for one in others:
        one.mkdir()
    if sys.platform != "win32":
        link.symlink_to(tmp_path / "precious")
    sweep(tmp_path, is_alive=lambda number: number == os.getpid())
    assert not dead.exists()
    assert all(one.exists() for one in (mine, elsewhere, file, *others))


def test_what_is_another_persons_is_left(tmp_path, monkeypatch):
    dead = as_of_the_dead(new_folder(), "x")
    dead.mkdir()
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1, raising=False)
    sweep(tmp_path, is_alive=lambda _: False)
    assert dead.exists() or sys.platform == "win32"


def test_a_folder_that_cannot_be_listed_is_no_trouble(tmp_path):
    sweep(tmp_path / "gone")
    assert ray_folders.new_folder().exists()

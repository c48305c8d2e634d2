"""Paths of a job, from its folder or from a home."""

from pathlib import Path

import pytest

from mezzotint.batch.job.rooted import whole
from mezzotint.errors import UsageError
from mezzotint.images.naming import from_home


def test_a_path_is_from_its_folder_or_from_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "me"))
    assert whole("a/b.png", tmp_path) == str(tmp_path / "a" / "b.png")
    assert whole(str(tmp_path / "c"), tmp_path / "a") == str(tmp_path / "c")
    assert whole("~/b.png", tmp_path) == str(tmp_path / "me" / "b.png")
    assert from_home("b.png") == Path("b.png")


@pytest.mark.parametrize("read", [from_home, lambda path: whole(path, Path("/"))])
def test_the_home_of_nobody_is_told(read, monkeypatch):
    def expanduser(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", expanduser)  # Windows makes one up
    with pytest.raises(UsageError, match=r"the home folder in ~nobody.x is not known: write the whole path"):
        read("~nobody/x")

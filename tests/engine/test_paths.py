"""Folders of our own that other users of the machine cannot read."""

import stat
import sys

import pytest

from mezzotint import paths

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")


def mode(folder):
    return stat.S_IMODE(folder.stat().st_mode)


def test_a_new_folder_is_private(tmp_path):
    paths.make_private(tmp_path / "a" / "backups")
    assert mode(tmp_path / "a" / "backups") == 0o700


def test_one_of_a_former_version_is_tightened(tmp_path):
    (tmp_path / "leases").mkdir(0o755)
    paths.make_private(tmp_path / "leases")
    assert mode(tmp_path / "leases") == 0o700


def test_a_chosen_state_folder_stays_as_its_owner_made_it(tmp_path, monkeypatch):
    monkeypatch.setenv("MEZZOTINT_STATE", str(tmp_path / "shared"))
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o775)
    paths.make_private(paths.state_folder())
    assert mode(tmp_path / "shared") == 0o775


def test_a_state_folder_in_its_usual_place_is_tightened(tmp_path, monkeypatch):
    monkeypatch.delenv("MEZZOTINT_STATE", raising=False)
    monkeypatch.setattr(paths.platformdirs, "user_state_dir", lambda *_: str(tmp_path / "state"))
    (tmp_path / "state").mkdir(0o755)
    paths.make_private(paths.state_folder())
    assert mode(tmp_path / "state") == 0o700

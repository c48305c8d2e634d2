"""The files of jobs: gone with the job, the server, or the next server."""

import pytest

from mezzotint.api_server.working_folder import WorkingFolder
from mezzotint.errors import StorageError


def test_a_job_leaves_nothing_behind(tmp_path):
    with WorkingFolder(tmp_path / "out") as folder:
        with pytest.raises(ValueError), folder.job() as files:
            (files / "init").write_bytes(b"x")
            assert files.is_relative_to(tmp_path / "out")
            raise ValueError
        assert not files.exists()
    assert list((tmp_path / "out").iterdir()) == []


def test_what_a_killed_server_left_is_removed_and_a_living_one_is_not_touched(tmp_path):
    left = tmp_path / ".mezzotint-serve-old" / "job"
    left.mkdir(parents=True)
    own = tmp_path / "image.png"
    own.write_bytes(b"x")
    with WorkingFolder(tmp_path) as first, first.job() as files:
        with WorkingFolder(tmp_path):
            assert files.is_dir() and own.exists()
        assert files.is_dir() and not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["image.png"]


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError):
        WorkingFolder(tmp_path / "file")
    with WorkingFolder(tmp_path / "out") as folder:
        folder.close()
        with pytest.raises(StorageError), folder.job():
            raise AssertionError

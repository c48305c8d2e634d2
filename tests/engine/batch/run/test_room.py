"""Whether images can be written where they are to go."""

import errno

import pytest

from mezzotint.batch.run import room
from mezzotint.batch.run.room import is_full, is_of_name, why_no_room
from mezzotint.trouble import storage_error


def test_where_there_is_room_nothing_is_left_behind(tmp_path):
    assert why_no_room(tmp_path / "deep" / "out") is None
    assert list((tmp_path / "deep" / "out").iterdir()) == []


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").touch()
    assert "file" in why_no_room(tmp_path / "file")


def test_the_folder_of_a_run_that_has_begun_is_not_made_anew(tmp_path):
    output = tmp_path / "disk" / "out"
    for gone in (output, output / "7"):
        assert "out: the folder is gone" in why_no_room(gone, output=output)
    output.mkdir(parents=True)  # a bare mount point
    assert "the folder is gone" in why_no_room(output, output=output)
    assert list(output.iterdir()) == []
    (output / ".mezzotint").mkdir()
    assert why_no_room(output / "7", output=output) is None


def test_a_lost_permission(tmp_path, monkeypatch):
    def refused(*_words):
        raise PermissionError(errno.EACCES, "x")

    monkeypatch.setattr(room, "open", refused, raising=False)  # root may write anywhere
    assert "no permission" in why_no_room(tmp_path)


def test_a_folder_that_cannot_be_is_known_from_a_disk_that_takes_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for name in ("file", "file/below", "x" * 300):
        assert is_of_name(why_no_room(tmp_path / name))

    def full(*_words):
        raise OSError(errno.ENOSPC, "x")

    monkeypatch.setattr(room, "open", full, raising=False)
    assert not is_of_name(why_no_room(tmp_path))


@pytest.mark.parametrize(("number", "full"), [(errno.ENOSPC, True), (errno.EFBIG, True), (errno.EACCES, False)])
def test_a_full_disk_is_known_by_its_words(number, full):
    assert is_full(storage_error("write", "a.png", OSError(number, "x"))) is full

import io
import tarfile

import pytest

from mezzotint.errors import StorageError
from mezzotint_starter.scenes import archive
from mezzotint_starter.scenes.archive import read_existing, read_members


def packed(path, *members):
    with tarfile.open(path, "w:gz") as opened:
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = kind, len(content), "../secret"
            opened.addfile(info, io.BytesIO(content))
    return path


def test_named_files_are_read_into_memory_alone(tmp_path):
    file = packed(tmp_path / "a.tgz", ("a/x", tarfile.REGTYPE, b"1"), ("../../y", tarfile.REGTYPE, b"2"))
    assert read_members(file, ["a/x"]) == {"a/x": b"1"}
    assert [each.name for each in tmp_path.iterdir()] == ["a.tgz"]


def test_links_are_not_followed(tmp_path):
    (tmp_path / "secret").write_bytes(b"secret")
    file = packed(tmp_path / "a.tgz", ("x", tarfile.SYMTYPE, b""), ("y", tarfile.LNKTYPE, b""))
    assert read_existing(file, ["x", "y"]) == {}
    with pytest.raises(StorageError, match="has no file x"):
        read_members(file, ["x"])


def test_huge_files_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_LARGEST", 3)
    file = packed(tmp_path / "a.tgz", ("x", tarfile.REGTYPE, b"1234"), ("y", tarfile.REGTYPE, b"123"))
    assert read_existing(file, ["x", "y"]) == {"y": b"123"}


def test_a_cut_archive_is_told_in_one_line(tmp_path):
    file = packed(tmp_path / "a.tgz", ("x", tarfile.REGTYPE, b"1" * 5000))
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(StorageError, match="delete it and try again"):
        read_existing(file, ["x"])

import io
import tarfile
import zipfile

import pytest

from mezzotint_package.archives import Member, ar, tarred, zipped

MEMBERS = {
    "usr/bin/run": Member(data=b"#!/bin/sh\n", program=True),
    "usr/bin/other": Member(link="run"),
    "usr/share/a.txt": Member(data=b"text"),
}
EPOCH = 1767225600  # 2026-01-01


@pytest.mark.parametrize("write", [zipped, tarred])
def test_the_order_of_files_does_not_matter(write):
    assert write(dict(reversed(MEMBERS.items())), EPOCH) == write(MEMBERS, EPOCH)


def test_a_zip_file_keeps_permissions_and_the_time():
    with zipfile.ZipFile(io.BytesIO(zipped(MEMBERS, EPOCH))) as archive:
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
        assert modes["usr/bin/run"] == 0o100755
        assert modes["usr/share/a.txt"] == 0o100644
        assert archive.getinfo("usr/share/a.txt").date_time == (2026, 1, 1, 0, 0, 0)
        assert archive.read("usr/share/a.txt") == b"text"


def test_a_zip_file_is_never_older_than_its_format():
    with zipfile.ZipFile(io.BytesIO(zipped(MEMBERS, 0))) as archive:
        assert archive.getinfo("usr/share/a.txt").date_time[0] == 1980


def test_a_tar_file_has_folders_links_and_root_as_owner():
    with tarfile.open(fileobj=io.BytesIO(tarred(MEMBERS, EPOCH))) as archive:
        entries = {entry.name: entry for entry in archive}
        assert list(entries)[:3] == [".", "./usr", "./usr/bin"]
        assert {(entry.uid, entry.gid, entry.uname, entry.mtime) for entry in entries.values()} == {
            (0, 0, "root", EPOCH)
        }
        assert entries["./usr/bin/other"].linkname == "run"
        assert entries["./usr/bin/run"].mode == 0o755
        assert archive.extractfile("./usr/share/a.txt").read() == b"text"


def test_an_ar_file_pads_odd_members():
    data = ar({"debian-binary": b"2.0\n", "odd": b"abc", "last": b"x"}, EPOCH)
    assert data.startswith(b"!<arch>\ndebian-binary   1767225600  0     0     100644  4         `\n2.0\n")
    at = data.index(b"odd ")
    assert data[at + 48 : at + 60] == b"3         `\n"
    assert data[at + 60 : at + 68] == b"abc\nlast"

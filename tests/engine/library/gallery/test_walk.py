"""Walking the output folders: bounded, without links, past everything that is no image's name."""

import os
import sys

import pytest

from mezzotint.errors import Cancelled
from mezzotint.library.gallery import walk as gallery_walk
from mezzotint.library.gallery.walk import FileStamp, walk


def names(walked, root):
    return sorted(os.path.relpath(path, root) for path in walked.files)


def put(path, data=b"x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def never():
    return False


def test_images_by_their_names(tmp_path):
    for name in ("a.png", "B.JPG", "sub/c.webp", "sub/deeper/d.avif", "é.tiff", "no.txt", "png", "x.png.part"):
        put(tmp_path / name)
    for name in (".hidden.png", ".mezzotint-0123.part", ".folder/in.png"):
        put(tmp_path / name)
    walked = walk([str(tmp_path)], never)
    assert names(walked, tmp_path) == sorted(["a.png", "B.JPG", "sub/c.webp", "sub/deeper/d.avif", "é.tiff"])
    status = (tmp_path / "a.png").stat()
    assert walked.files[str(tmp_path / "a.png")] == FileStamp(changed=status.st_mtime_ns, bytes=1)
    assert not walked.unseen and not walked.cut


def test_folders_inside_each_other_and_twice_are_walked_once(tmp_path):
    put(tmp_path / "sub" / "a.png")
    walked = walk([str(tmp_path / "sub"), str(tmp_path), f"{tmp_path}/sub/../sub", "", str(tmp_path)], never)
    assert names(walked, tmp_path) == ["sub/a.png"]


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_links_are_not_followed(tmp_path):
    put(tmp_path / "in" / "a.png")
    outside = put(tmp_path / "out" / "b.png")
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "out").symlink_to(tmp_path / "out")
    (tmp_path / "in" / "b.png").symlink_to(outside)
    (tmp_path / "in" / "broken.png").symlink_to(tmp_path / "nothing")
    assert names(walk([str(tmp_path / "in")], never), tmp_path) == ["in/a.png"]
    (tmp_path / "root").symlink_to(tmp_path / "out")  # but a folder that the person names may be one
    assert names(walk([str(tmp_path / "root"), str(tmp_path / "out")], never), tmp_path) == ["out/b.png"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_pipes_and_names_that_are_no_text(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    put(tmp_path / "a.png")
    if sys.platform == "linux":
        with open(os.fsencode(tmp_path) + b"/\xff\xfe.png", "wb"):
            pass
    walked = walk([str(tmp_path)], never)
    assert names(walked, tmp_path) == ["a.png"]
    assert walked.unusable == (1 if sys.platform == "linux" else 0)


def test_what_cannot_be_looked_through_is_named(tmp_path, monkeypatch):
    put(tmp_path / "good" / "a.png")
    put(tmp_path / "bad" / "b.png")
    real = os.scandir

    def scandir(path):
        if str(path).endswith("bad"):
            raise PermissionError(13, "no")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    walked = walk([str(tmp_path), str(tmp_path.parent / "absent"), "a\0b"], never)
    assert names(walked, tmp_path) == ["good/a.png"]
    assert str(tmp_path / "bad") in walked.unseen and str(tmp_path.parent / "absent") in walked.unseen


def test_depth_and_number_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(gallery_walk, "MAX_DEPTH", 2)
    for depth in range(5):
        put(tmp_path.joinpath(*["d"] * depth) / f"{depth}.png")
    assert names(walk([str(tmp_path)], never), tmp_path) == ["0.png", "d/1.png", "d/d/2.png"]
    walked = walk([str(tmp_path)], never, most=2)
    assert len(walked.files) == 2 and walked.cut


def test_it_stops_when_asked(tmp_path):
    with pytest.raises(Cancelled):
        walk([str(tmp_path)], lambda: True)


def test_hidden_files_of_windows(tmp_path, monkeypatch):
    put(tmp_path / "a.png")
    monkeypatch.setattr(gallery_walk, "_HIDDEN", -1)  # any attribute; where there are none, nothing is hidden
    expected = [] if hasattr(os.stat_result, "st_file_attributes") else ["a.png"]
    assert names(walk([str(tmp_path)], never), tmp_path) == expected

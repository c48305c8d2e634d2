"""Folders full of what should not be there; found in one order, a file at a time, and nothing opened."""

import itertools
import ntpath
import os
import socket
import sys
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.tasks import inputs
from mezzotint.batch.tasks.inputs import Found, Search, folded, mask_of, scan, sidecar_of
from mezzotint.batch.tasks.skipped import Skipped
from mezzotint.errors import StorageError, UsageError

POSIX = pytest.mark.skipif(os.name == "nt", reason="names and links of POSIX")


def make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")


def names(folder, **said):
    return [one.relative for one in scan(Search(folder=folder, **said)) if isinstance(one, Found)]


def reasons(folder, **said):
    return {one.input: one.kind for one in scan(Search(folder=folder, **said)) if isinstance(one, Skipped)}


def test_images_of_the_folder_alone_in_one_order(tmp_path):
    make(tmp_path, "b.png", "A.JPG", "a.webp", "notes.txt", ".hidden.png", "deep/c.png", "c.gif")
    assert names(tmp_path) == ["A.JPG", "a.webp", "b.png", "c.gif"]
    assert names(tmp_path, recursive=True) == ["A.JPG", "a.webp", "b.png", "c.gif", "deep/c.png"]


def test_globs_and_limits(tmp_path):
    make(tmp_path, "a.png", "b.raw", "x/a.png", "x/y/a.png", "x/b.png")
    assert names(tmp_path, recursive=True, glob=("a.*", "*.raw")) == ["a.png", "b.raw", "x/a.png", "x/y/a.png"]
    assert names(tmp_path, recursive=True, glob=("x/*.png",)) == ["x/a.png", "x/b.png", "x/y/a.png"]
    assert names(tmp_path, recursive=True, limit=3) == ["a.png", "x/a.png", "x/b.png"]


def test_what_is_made_is_no_input(tmp_path):
    make(tmp_path, "a.png", "out/a.png", "masks/a.png", "other/out/b.png")
    left_out = (tmp_path / "out", tmp_path / "masks")
    assert names(tmp_path, recursive=True, leave_out=left_out) == ["a.png", "other/out/b.png"]


@POSIX
def test_links_pipes_sockets_and_names_that_are_no_text(tmp_path):
    folder = tmp_path / "in"
    make(folder, "a.png", "deep/b.png")
    make(tmp_path, "outside.png", "far/c.png")
    (folder / "inside.png").symlink_to(folder / "a.png")
    (folder / "out.png").symlink_to(tmp_path / "outside.png")
    (folder / "gone.png").symlink_to(folder / "nothing.png")
    (folder / "round.png").symlink_to(folder / "round.png")
    (folder / "device.png").symlink_to("/dev/zero")
    (folder / "loop").symlink_to(folder)
    (folder / "far").symlink_to(tmp_path / "far")
    os.mkfifo(folder / "pipe.png")
    (folder / "control\n.png").write_bytes(b"")
    expected = {
        "out.png": "link",
        "gone.png": "link",
        "round.png": "link",
        "device.png": "link",
        "loop": "link",
        "far": "link",
        "pipe.png": "not_a_file",
        "control\\x0a.png": "name",
    }
    if sys.platform == "linux":
        (folder / os.fsdecode(b"\xff.png")).write_bytes(b"")
        expected["\\xff.png"] = "name"
    assert names(folder, recursive=True) == ["a.png", "inside.png", "deep/b.png"]
    assert reasons(folder, recursive=True) == expected
    assert "loop" not in reasons(folder)


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no such sockets")
@POSIX
def test_sockets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # their names may not be long
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("s.png")
        assert reasons(tmp_path) == {"s.png": "not_a_file"}


class Entry:
    """What a disk says of a name."""

    def __init__(self, name, error=None):
        self.name, self.path, self._error = name, name, error

    def is_symlink(self):
        if self._error:
            raise self._error
        return False

    def is_junction(self):
        return False

    def is_dir(self, *, follow_symlinks):
        return "." not in self.name

    def is_file(self, *, follow_symlinks):
        return True


def test_a_disk_that_fails_costs_what_it_fails_for(tmp_path):
    def listdir(folder):
        if Path(folder).name == "bad":
            raise PermissionError(13, "denied")
        if folder == tmp_path:
            yield from (Entry("bad"), Entry("good"), Entry("x.png", OSError(5, "fault")), Entry("a.png"))
        else:
            yield Entry("b.png")

    found = list(scan(Search(folder=tmp_path, recursive=True), listdir=listdir))
    assert [one.relative for one in found if isinstance(one, Found)] == ["a.png", "good/b.png"]
    assert {one.input: one.kind for one in found if isinstance(one, Skipped)} == {
        "bad": "storage",
        "x.png": "not_a_file",
    }


def test_a_junction_of_windows_is_not_followed(tmp_path):
    class Junction(Entry):
        def is_junction(self):
            return True

    def listdir(folder):
        assert folder == tmp_path
        yield Junction("way")

    assert list(scan(Search(folder=tmp_path, recursive=True), listdir=listdir)) == []


ODD_BUT_IN_USE = (
    "Screenshot 2026-01-01 at 10.00.00\u202fAM.png",  # as a Mac names them
    "family \U0001f468\u200d\U0001f469\u200d\U0001f467.png",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.png",
    "no\u00a0break.png",
    "\U000378ff.png",  # of a Unicode that is still to come
)


def test_names_that_are_in_use_are_taken_as_they_are(tmp_path):
    make(tmp_path, *ODD_BUT_IN_USE)
    assert sorted(names(tmp_path)) == sorted(ODD_BUT_IN_USE)


@pytest.mark.parametrize("one", "\x7f\x85\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_names_that_a_terminal_would_show_as_others_are_not(tmp_path, one):
    make(tmp_path, f"a{one}b.png")
    assert (names(tmp_path), reasons(tmp_path)) == ([], {f"a\\x{ord(one):02x}b.png": "name"})


@POSIX
@pytest.mark.parametrize("target", ["D:\\a.png", "C:\\other\\a.png"])
def test_a_link_to_another_drive_of_windows_leads_out(tmp_path, monkeypatch, target):
    make(tmp_path, "a.png")
    monkeypatch.setattr(os.path, "realpath", lambda _, strict: target)
    monkeypatch.setattr(os.path, "commonpath", ntpath.commonpath)  # refuses to compare two drives
    monkeypatch.setattr(PureWindowsPath, "stat", lambda _: (tmp_path / "a.png").stat(), raising=False)
    monkeypatch.setattr(inputs, "Path", PureWindowsPath)
    assert "a link to a file outside" in inputs._link_trouble(PureWindowsPath("C:\\in\\way.png"), "C:\\in")


def test_the_folder_itself_must_be_there(tmp_path):
    make(tmp_path, "file.png")
    for name in ("none", "file.png", "x" * 300):
        with pytest.raises(StorageError, match="input folder"):
            list(scan(Search(folder=tmp_path / name)))


@pytest.mark.slow
def test_a_hundred_thousand_files_are_found_one_by_one(tmp_path):
    """Counted, not timed: one look at the folder, no look at a file, and only what is asked for is made."""
    looked = []

    def listdir(folder):
        looked.append(folder)
        return (Entry(f"{number:06d}.png") for number in range(100_000))

    found = scan(Search(folder=tmp_path), listdir=listdir)
    assert [one.relative for one in itertools.islice(found, 2)] == ["000000.png", "000001.png"]
    assert looked == [tmp_path]
    assert sum(1 for _ in found) == 99_998


@given(st.lists(st.text(st.sampled_from("aAäÄ\u0308e\u0301éß"), min_size=1, max_size=4), unique=True))
def test_the_order_is_that_of_no_disk(tmp_path_factory, stems):
    folder = tmp_path_factory.mktemp("s")

    def listed(order):
        entries = [Entry(f"{stem}.png") for stem in order]
        return [one.relative for one in scan(Search(folder=folder), listdir=lambda _: iter(entries))]

    assert listed(stems) == listed(stems[::-1]) == listed(sorted(stems))


@given(st.text(max_size=5))
def test_folding_is_settled(name):
    assert folded(folded(name)) == folded(name)


def test_names_that_disks_take_for_one():
    assert folded("Ä.PNG") == folded("a\u0308.png")
    assert folded("STRASSE") == folded("straße")
    assert folded("a") != folded("b")


# ---- masks and words


def found(folder, relative="deep/a.b.png"):
    return Found(path=folder / relative, relative=relative)


def test_masks_by_the_stem_in_the_same_folder(tmp_path):
    make(tmp_path, "deep/a.b.webp", "a.b.png", "deep/a.png")
    assert mask_of(found(tmp_path), tmp_path) == tmp_path / "deep" / "a.b.webp"
    make(tmp_path, "deep/a.b.png")
    assert mask_of(found(tmp_path), tmp_path).kind == "no_mask"
    assert mask_of(found(tmp_path, "c.png"), tmp_path).kind == "no_mask"


def test_an_image_with_the_longest_of_names_has_no_mask(tmp_path):
    """With another suffix its name would be longer than any disk takes."""
    skipped = mask_of(found(tmp_path, f"{'x' * 251}.png"), tmp_path)
    assert (skipped.kind, skipped.input) == ("no_mask", f"{'x' * 251}.png")


def test_words_beside_an_image(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf a house,\r\n by the sea \n")
    assert sidecar_of(found(tmp_path, "a.png")) == "a house, by the sea"
    assert sidecar_of(found(tmp_path, "b.png")) is None
    (tmp_path / "a.txt").write_text(" \n")
    assert sidecar_of(found(tmp_path, "a.png")) is None
    for data in (b"\xff", b"\x1b[31m", b"a" * (300 << 10)):
        (tmp_path / "a.txt").write_bytes(data)
        with pytest.raises(UsageError, match="text file"):
            sidecar_of(found(tmp_path, "a.png"))


@POSIX
def test_words_in_a_pipe_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.txt")
    with pytest.raises(UsageError, match="pipe"):
        sidecar_of(found(tmp_path, "a.png"))

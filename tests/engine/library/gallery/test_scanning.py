"""Scans: only what changed is read, in batches that questions see, and what cannot be seen stays."""

import os
import shutil
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from own_images import write_own
from PIL import Image

from mezzotint.errors import Cancelled
from mezzotint.library.gallery import scanning as gallery_scanning
from mezzotint.library.gallery.gallery import Gallery
from mezzotint.library_protocol import GalleryQuery, GalleryScan, GalleryScanned
from mezzotint.protocol import Notice, Progress


@pytest.fixture
def gallery(tmp_path):
    gallery = Gallery(tmp_path / "state")
    yield gallery
    gallery.close()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "images").mkdir()
    return tmp_path / "images"


@pytest.fixture
def read(monkeypatch):
    """The names of the files that were read."""
    names = []
    real = gallery_scanning.read_facts

    def reading(path, stamp):
        names.append(path.name)
        return real(path, stamp)

    monkeypatch.setattr(gallery_scanning, "read_facts", reading)
    return names


def small(path, shade=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (3, 2), shade).save(path)
    return path


def scanned(gallery, *folders, tell=lambda event: None, cancelled=lambda: False):
    return gallery.scan(GalleryScan(folders=tuple(map(str, folders))), tell, cancelled)


def names(gallery):
    return sorted(Path(item.path).name for item in gallery.query(GalleryQuery(limit=500)).items)


def test_only_what_changed_is_read_again(gallery, folder, read):
    for name in ("a.png", "b.png"):
        small(folder / name)
    (folder / "text.png").write_text("none")
    assert scanned(gallery, folder) == GalleryScanned(added=2, removed=0, total=2, unreadable=1)
    assert sorted(read) == ["a.png", "b.png", "text.png"]
    read.clear()
    assert scanned(gallery, folder) == GalleryScanned(added=0, removed=0, total=2, unreadable=1)
    assert read == []
    small(folder / "text.png")
    write_own(folder / "b.png", prompt="new")
    (folder / "a.png").unlink()
    assert scanned(gallery, folder) == GalleryScanned(added=0, removed=1, total=2, unreadable=0)
    assert sorted(read) == ["b.png", "text.png"] and names(gallery) == ["b.png", "text.png"]


def test_a_changed_image_keeps_its_number(gallery, folder):
    small(folder / "a.png")
    scanned(gallery, folder)
    (before,) = gallery.query(GalleryQuery()).items
    write_own(folder / "a.png", prompt="new")
    scanned(gallery, folder)
    (after,) = gallery.query(GalleryQuery()).items
    assert before.id == after.id and after.prompt == "new"


def test_progress_counts_to_the_end_and_the_newest_come_first(gallery, folder, read, monkeypatch):
    monkeypatch.setattr(gallery_scanning, "BATCH", 3)
    for number in range(8):
        os.utime(small(folder / f"{number}.png"), (1000 + number,) * 2)
    events = []
    scanned(gallery, folder, tell=events.append)
    assert [(event.done, event.total) for event in events] == [(0, 8), (3, 8), (6, 8), (8, 8)]
    assert all(isinstance(event, Progress) and event.unit == "images" for event in events)
    assert events[0].seconds_left is None and events[-1].seconds_left == 0
    assert read == [f"{number}.png" for number in range(7, -1, -1)]


def test_a_question_meanwhile_sees_what_is_there_and_a_stopped_scan_keeps_it(gallery, folder, monkeypatch):
    monkeypatch.setattr(gallery_scanning, "BATCH", 2)
    gone = small(folder / "gone.png")
    scanned(gallery, folder)
    gone.unlink()
    for number in range(6):
        small(folder / f"{number}.png", number)
    seen, stop = [], []

    def tell(event):
        seen.append(len(names(gallery)))
        if event.done == 4:
            stop.append(True)

    with pytest.raises(Cancelled):
        scanned(gallery, folder, tell=tell, cancelled=lambda: bool(stop))
    assert seen == [1, 3, 5] and len(names(gallery)) == 5 and "gone.png" in names(gallery)
    assert scanned(gallery, folder) == GalleryScanned(added=2, removed=1, total=6, unreadable=0)


def test_folders_that_are_no_longer_named_leave_it(gallery, folder):
    small(folder / "one" / "a.png")
    small(folder / "two" / "b.png")
    assert scanned(gallery, folder / "one", folder / "two").total == 2
    assert scanned(gallery, folder / "two") == GalleryScanned(added=0, removed=1, total=1, unreadable=0)
    assert scanned(gallery) == GalleryScanned(added=0, removed=1, total=0, unreadable=0)


def test_what_cannot_be_looked_through_stays(gallery, folder, monkeypatch):
    small(folder / "stick" / "deep" / "a.png")
    small(folder / "disk" / "b.png")
    scanned(gallery, folder / "stick", folder / "disk")
    shutil.move(folder / "stick", folder / "unplugged")
    events = []
    result = scanned(gallery, folder / "stick", folder / "disk", folder / "never was", tell=events.append)
    assert result.removed == 0 and names(gallery) == ["a.png", "b.png"]
    (notice,) = [event for event in events if isinstance(event, Notice)]
    assert str(folder / "stick") in notice.message
    shutil.move(folder / "unplugged", folder / "stick")
    shutil.rmtree(folder / "stick" / "deep")
    assert scanned(gallery, folder / "stick", folder / "disk").removed == 1


def test_more_than_can_be_held_is_told(gallery, folder, monkeypatch):
    for number in range(3):
        small(folder / f"{number}.png")
    monkeypatch.setattr(gallery_scanning, "walk", lambda folders, stop: real(folders, stop, 2))
    events = []
    assert scanned(gallery, folder, tell=events.append).total == 2
    assert any(isinstance(event, Notice) and event.code == "gallery_cut" for event in events)


real = gallery_scanning.walk


def test_damage_is_told_with_the_scan_that_mends_it(folder, tmp_path):
    small(folder / "a.png")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "gallery.db").write_bytes(b"garbage" * 900)
    gallery, events = Gallery(tmp_path / "state"), []
    assert scanned(gallery, folder, tell=events.append).total == 1
    assert scanned(gallery, folder, tell=events.append).total == 1
    assert [event.code for event in events if isinstance(event, Notice)] == ["gallery"]  # once
    gallery.close()


def test_scans_wait_for_each_other_and_one_that_waits_can_be_stopped(gallery, folder):
    small(folder / "one" / "a.png")
    small(folder / "two" / "b.png")
    began, let_go, results = threading.Event(), threading.Event(), []

    def hold(_):
        began.set()
        assert let_go.wait(60)

    def first():
        results.append(scanned(gallery, folder / "one", tell=hold).total)

    thread = threading.Thread(target=first)
    thread.start()
    assert began.wait(60)
    with pytest.raises(Cancelled):
        scanned(gallery, folder / "two", cancelled=lambda: True)
    let_go.set()
    results.append(scanned(gallery, folder / "one", folder / "two").total)
    thread.join()
    assert results in ([1, 2], [2, 1]) and names(gallery) == ["a.png", "b.png"]


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["x", "y/z"]), st.integers(-1, 3)), max_size=12))
def test_after_any_changes_it_holds_what_is_there(tmp_path_factory, changes):
    """Images are made, changed, made unreadable (3) and removed (-1); after each scan the index says the same."""
    root = tmp_path_factory.mktemp("any")
    (root / "p").mkdir()
    gallery, there = Gallery(root / "state"), {}
    for step, (name, place, content) in enumerate(changes):
        path = root / "p" / place / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        if content == -1:
            path.unlink(missing_ok=True)
            there.pop(path, None)
        else:
            there[path] = content
            path.write_text("none") if content == 3 else small(path, content)
            os.utime(path, (1000 + step,) * 2)
        result = scanned(gallery, root / "p")
        good = {str(path) for path, content in there.items() if content < 3}
        assert {item.path for item in gallery.query(GalleryQuery()).items} == good
        assert (result.total, result.unreadable) == (len(good), len(there) - len(good))
    gallery.close()


def taken_in(gallery, folder, *files):
    request = GalleryScan(folders=(str(folder),), files=tuple(map(str, files)))
    return gallery.scan(request, lambda event: None, lambda: False)


def test_named_files_are_taken_in_and_no_other_is_looked_at(gallery, folder, read):
    first, other = small(folder / "deep" / "a.png"), small(folder / "b.png")
    assert taken_in(gallery, folder, first) == GalleryScanned(added=1, removed=0, total=1, unreadable=0)
    assert names(gallery) == ["a.png"] and read == ["a.png"]
    assert taken_in(gallery, folder, first).added == 0 and read == ["a.png"]
    scanned(gallery, folder)
    first.unlink()
    assert taken_in(gallery, folder, first, folder / "never.png").removed == 1
    assert names(gallery) == [other.name]


@pytest.mark.parametrize(
    "name", [".hidden.png", ".folder/a.png", "text.txt", "a/" * 17 + "b.png", "../out.png", "\0.png"]
)
def test_a_named_file_that_no_walk_would_find_stays_out(gallery, folder, name):
    if "\0" not in name:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (3, 2)).save(path, "PNG")
    assert taken_in(gallery, folder, f"{folder}/{name}") == GalleryScanned(added=0, removed=0, total=0, unreadable=0)


def test_a_file_has_one_name_however_it_is_named(gallery, folder, tmp_path):
    image = small(folder / "deep" / "a.png")
    (tmp_path / "link").symlink_to(folder / "deep")
    for named in (tmp_path / "link" / "a.png", folder / "deep" / ".." / "deep" / "a.png", image):
        taken_in(gallery, folder, named)
    assert names(gallery) == ["a.png"]
    assert scanned(gallery, folder) == GalleryScanned(added=0, removed=0, total=1, unreadable=0)


def test_a_link_is_not_followed_and_no_image_is_only_counted(gallery, folder, tmp_path):
    (folder / "link.png").symlink_to(small(tmp_path / "elsewhere.png"))
    (folder / "text.png").write_text("none")
    assert taken_in(gallery, folder, folder / "link.png", folder / "text.png") == GalleryScanned(
        added=0, removed=0, total=0, unreadable=1
    )


def test_an_image_that_is_saved_during_a_scan_is_there_at_once_and_stays(gallery, folder, monkeypatch):
    small(folder / "old.png")
    seen = []
    real = gallery_scanning.walk

    def walking(folders, cancelled):
        found = real(folders, cancelled)
        taken_in(gallery, folder, small(folder / "new.png"))  # the scan, which has the lock, has walked past it
        seen.extend(names(gallery))
        return found

    monkeypatch.setattr(gallery_scanning, "walk", walking)
    scanned(gallery, folder)
    assert seen == ["new.png"]
    assert names(gallery) == ["new.png", "old.png"]

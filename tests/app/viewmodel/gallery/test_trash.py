"""Images go to the trash and come back, step by step."""

import sys
from typing import Any

import pytest
from gallery_made import FakeTrash, gallery_of, item

from mezzotint.library_protocol import GalleryScanned
from mezzotint_app.viewmodel.gallery.trash import GalleryTrash, SystemTrash, Trashed


@pytest.fixture
def system(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return SystemTrash()


@pytest.fixture
def moves(qapp, service, inline):
    made: Any = GalleryTrash(service, inline, trash=FakeTrash())
    made.back, made.told = [], []
    made.restored.connect(made.back.append)
    made.failed.connect(made.told.append)
    return made


def test_the_systems_trash_takes_a_file(tmp_path, system):
    image = tmp_path / "x.png"
    image.write_bytes(b"x")
    assert system.move(str(image)).problem == ""
    assert not image.exists()
    if sys.platform == "linux":
        assert (tmp_path / "data" / "Trash" / "files" / "x.png").read_bytes() == b"x"
        assert str(image) in (tmp_path / "data" / "Trash" / "info" / "x.png.trashinfo").read_text()
    assert system.move(str(tmp_path / "gone.png")) == Trashed(path=str(tmp_path / "gone.png"))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into the trash of a Linux desktop")
def test_the_systems_trash_gives_a_file_back_with_nothing_left_in_it(tmp_path, system):
    image = tmp_path / "folder" / "x.png"
    image.parent.mkdir()
    image.write_bytes(b"x")
    trashed = system.move(str(image))
    image.parent.rmdir()
    assert system.restore(trashed) == ""
    assert image.read_bytes() == b"x"
    assert [path for path in (tmp_path / "data" / "Trash").rglob("*") if path.is_file()] == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks into the trash of a Linux desktop")
def test_restoring_replaces_nothing(tmp_path, system):
    image = tmp_path / "x.png"
    image.write_bytes(b"old")
    trashed = system.move(str(image))
    image.write_bytes(b"new")
    assert system.restore(trashed)
    assert image.read_bytes() == b"new"


def test_undo_restores_all_of_one_step_and_then_those_of_the_step_before(moves):
    moves.move(["/a.png"])
    moves.move(["/b.png", "/c.png"])
    assert moves.undoable() == 2
    moves.undo()
    assert moves.back == [("/b.png", "/c.png")]
    assert moves.undoable() == 1
    moves.undo()
    moves.undo()
    assert moves.back == [("/b.png", "/c.png"), ("/a.png",)]
    assert moves.undoable() == 0


def test_what_was_never_moved_cannot_be_undone(qapp, service, inline):
    moves = GalleryTrash(service, inline, trash=FakeTrash({"/a.png": "busy"}))
    moves.move(["/a.png"])
    assert moves.undoable() == 0


def test_what_cannot_be_restored_is_told(moves):
    moves.move(["/a.png", "/b.png", "/c.png"])
    moves._trash.problems = {"/a.png": "it is there already.", "/c.png": "busy"}
    moves.undo()
    assert moves.back == [("/b.png",)]
    assert moves.told == [
        "/a.png could not be restored from the trash: it is there already. 1 more could not be restored"
    ]


def test_restored_images_are_taken_into_the_gallery_by_their_names(qtbot, tmp_path, qapp):
    made = gallery_of([item(0), item(1)], tmp_path)
    made.gallery.trash._trash = FakeTrash()
    made.gallery.model.show_rows(0, 20)
    made.settle()
    made.gallery.actions.move_to_trash([made.gallery.model.peek(row) for row in (0, 1)])
    made.settle()
    assert made.gallery.model.rowCount() == 0
    made.gallery.trash.undo()
    qtbot.waitUntil(lambda: bool(made.librarian.open("gallery.scan")))
    assert made.librarian.last("gallery.scan").params.files == ("/images/0.png", "/images/1.png")
    made.librarian.items = [item(0), item(1)]
    made.librarian.answer(GalleryScanned(added=2, removed=0, total=2, unreadable=0), "gallery.scan")
    made.settle()
    assert made.gallery.model.rowCount() == 2

"""Stars and the trash, behind the viewer."""

import pytest
from gallery_made import FakeTrash

from mezzotint.library_protocol import Rating
from mezzotint_app.viewmodel.gallery.trash import GalleryTrash
from mezzotint_app.viewmodel.gallery.viewer import ViewerModel
from mezzotint_app.viewmodel.gallery.viewer_keeping import ViewerKeeping


@pytest.fixture
def viewer(qapp, service, inline):
    made = ViewerModel(service, inline)
    made.open(["/a.png", "/b.png"], 0)
    return made


@pytest.fixture
def trash():
    return FakeTrash()


@pytest.fixture
def keeping(viewer, service, inline, trash):
    moves = GalleryTrash(service, inline, viewer, trash=trash)
    return ViewerKeeping(viewer, service, moves)


def test_stars_are_kept_and_the_gallery_looks_again(qtbot, viewer, keeping, service):
    viewer.star_wanted.emit("/a.png", 4)
    assert service.last("gallery.rate").params == Rating(paths=("/a.png",), rating=4)
    with qtbot.waitSignal(keeping.changed):
        service.answer(None, "gallery.rate")


def test_an_image_in_the_trash_leaves_the_viewer_and_the_gallery(qtbot, viewer, keeping, service, trash):
    viewer.delete_wanted.emit("/a.png")
    assert trash.holds == {"/a.png"}
    assert viewer.count() == 1
    assert viewer.path() == "/b.png"
    assert service.last("gallery.forget").params == {"paths": ("/a.png",)}


def test_what_is_restored_is_shown_again_where_it_stood(viewer, keeping, trash):
    viewer.step(1)
    viewer.delete()
    assert viewer.path() == "/a.png"
    viewer.undo_delete()
    assert (viewer.path(), viewer.index(), viewer.count()) == ("/b.png", 1, 2)
    assert trash.holds == set()


def test_an_image_of_another_list_does_not_come_into_the_viewer(viewer, keeping):
    viewer.delete()
    viewer.open(["/c.png"], 0)
    viewer.undo_delete()
    assert viewer.count() == 1


def test_an_image_that_cannot_be_moved_stays(qtbot, viewer, keeping, service, trash):
    trash.problems["/a.png"] = "there is no trash"
    with qtbot.waitSignal(keeping.failed) as failed:
        viewer.delete_wanted.emit("/a.png")
    assert "there is no trash" in failed.args[0]
    assert viewer.count() == 2
    assert "gallery.forget" not in service.methods()


def test_a_trash_that_breaks_is_told(qtbot, viewer, service, inline):
    class Broken(FakeTrash):
        def move(self, path):
            raise OSError(path)

    keeping = ViewerKeeping(viewer, service, GalleryTrash(service, inline, viewer, trash=Broken()))
    with qtbot.waitSignal(keeping.failed):
        viewer.delete_wanted.emit("/a.png")


def test_a_librarian_that_refuses_is_told(qtbot, viewer, keeping, service):
    viewer.star_wanted.emit("/a.png", 4)
    with qtbot.waitSignal(keeping.failed) as failed:
        service.fail(message="the disk is full", method="gallery.rate")
    assert failed.args == ["the disk is full"]

"""When folders are looked through."""

import pytest
from fake_service import FakeService
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.library_protocol import GalleryScan, GalleryScanned
from mezzotint.protocol import Notice, Progress
from mezzotint_app.viewmodel.gallery.scan import MOST_FILES, REST, TOGETHER, GalleryScanner

NOTHING_NEW = GalleryScanned(added=0, removed=0, total=0, unreadable=0)


class Time:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def made(qapp):
    service, folders, time = FakeService(), ["/a", "/b"], Time()
    return service, folders, time, GalleryScanner(service, lambda: tuple(folders), now=time)


def test_all_folders_are_named_for_what_is_not_named_would_leave_the_gallery(made):
    service, _, _, scanner = made
    scanner.scan()
    assert service.last().params.folders == ("/a", "/b")
    assert scanner.is_running()
    service.answer(NOTHING_NEW)
    assert not scanner.is_running()


def test_many_looks_are_one_scan(made, qtbot):
    service, _, _, scanner = made
    for _ in range(30):
        scanner.rescan_later()
    assert service.asked == []
    qtbot.waitUntil(lambda: service.methods() == ["gallery.scan"])


def test_saved_images_are_named_together_and_no_folder_is_looked_through(made, qtbot):
    service, _, _, scanner = made
    told = []
    scanner.scanned.connect(told.append)
    for name in ("x", "y", "x"):
        scanner.saved(f"/a/{name}.png")
    qtbot.waitUntil(lambda: service.methods() == ["gallery.scan"])
    assert service.last().params == GalleryScan(folders=("/a", "/b"), files=("/a/x.png", "/a/y.png"))
    assert not scanner.is_running()  # it is no scan that a person waits for
    service.answer(NOTHING_NEW)
    assert told == [NOTHING_NEW]


def test_images_that_are_saved_meanwhile_come_after_and_also_during_a_scan(made, qtbot):
    service, _, _, scanner = made
    scanner.scan()
    scanner.saved("/a/x.png")
    qtbot.waitUntil(lambda: len(service.asked) == 2)
    scanner.saved("/a/y.png")
    service.answer(NOTHING_NEW, call=2)
    qtbot.waitUntil(lambda: len(service.asked) == 3)
    assert service.last().params.files == ("/a/y.png",)
    assert scanner.is_running()


def test_more_images_than_one_question_names_are_all_named(made, qtbot):
    service, _, _, scanner = made
    paths = [f"/a/{number}.png" for number in range(MOST_FILES + 1)]
    for path in paths:
        scanner.saved(path)
    qtbot.waitUntil(lambda: len(service.asked) == 1)
    service.answer(NOTHING_NEW)
    qtbot.waitUntil(lambda: len(service.asked) == 2)
    assert [path for one in service.asked for path in one.params.files] == paths


def test_an_image_that_could_not_be_taken_in_is_looked_for(made, qtbot):
    service, _, _, scanner = made
    scanner.saved("/a/x.png")
    qtbot.waitUntil(lambda: len(service.asked) == 1)
    service.fail("storage", "locked")
    qtbot.waitUntil(lambda: len(service.asked) == 2)
    assert service.last().params.files == ()


def test_what_is_asked_during_a_scan_comes_once_after_it(made, qtbot):
    service, _, _, scanner = made
    scanner.scan()
    scanner.scan()
    scanner.scan()
    assert len(service.asked) == 1
    service.answer(NOTHING_NEW)
    qtbot.waitUntil(lambda: len(service.asked) == 2)
    service.answer(NOTHING_NEW)
    assert not scanner.is_running()


@given(st.floats(0, 1000))
def test_scans_are_a_small_part_of_the_time(qapp, took):
    service, time = FakeService(), Time()
    scanner = GalleryScanner(service, lambda: ("/a",), now=time)
    scanner.scan()
    time.now = took
    service.answer(NOTHING_NEW)
    assert scanner.pause() >= min(30, REST * took)
    assert TOGETHER <= scanner.pause() <= 30


def test_other_folders_in_the_settings_are_looked_through(made):
    service, folders, _, scanner = made
    scanner.scan()
    service.answer(NOTHING_NEW)
    scanner.folders_changed()
    assert len(service.asked) == 1
    folders.append("/c")
    scanner.folders_changed()
    assert service.last().params.folders == ("/a", "/b", "/c")


def test_progress_is_told_and_a_scan_can_be_stopped(made):
    service, _, _, scanner = made
    failed = []
    scanner.failed.connect(failed.append)
    scanner.scan()
    service.event(Progress(what="images", done=3, total=10, unit="images"))
    assert scanner.progress().done == 3
    scanner.cancel()
    assert service.cancelled == [1]
    service.fail("cancelled", "stopped")
    assert failed == []
    assert scanner.progress() is None


def test_a_scan_that_failed_is_told(made):
    service, _, _, scanner = made
    failed = []
    scanner.failed.connect(failed.append)
    scanner.scan()
    service.fail("storage", "no such folder")
    assert failed == ["no such folder"]
    assert not scanner.is_running()


def test_what_a_person_should_know_of_the_index_is_told(made, qtbot):
    service, _, _, scanner = made
    scanner.scan()
    with qtbot.waitSignal(scanner.message) as told:
        service.event(Notice(code="gallery", message="the index was damaged and is made again"))
    assert told.args == ["the index was damaged and is made again"]
    assert scanner.is_running()

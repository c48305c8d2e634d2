"""What in the gallery follows what."""

from dataclasses import replace

from gallery_made import gallery_of, item

from mezzotint.library_protocol import GalleryScanned
from mezzotint.protocol import GeneratedImage, Progress
from mezzotint_app.settings import Settings
from mezzotint_app.viewmodel.gallery.parts import folders_of


def scanned(added=0):
    return GalleryScanned(added=added, removed=0, total=1, unreadable=0)


def test_at_the_start_what_is_known_is_shown_and_what_is_new_is_looked_for(tmp_path, qtbot):
    made = gallery_of([item(0)], tmp_path)
    made.gallery.begin()
    made.settle()
    assert made.gallery.model.rowCount() == 1
    assert made.gallery.model.models() == ("m",)
    made.librarian.items.insert(0, item(9))
    made.librarian.answer(scanned(added=1), method="gallery.scan")
    made.settle()
    assert made.gallery.model.peek(0).id == 9


def test_a_scan_that_found_nothing_new_asks_for_nothing(tmp_path, qtbot):
    made = gallery_of([item(0)], tmp_path)
    made.gallery.begin()
    made.settle()
    asked = len(made.librarian.asked)
    made.librarian.answer(scanned(), method="gallery.scan")
    qtbot.wait(1)
    assert len(made.librarian.asked) == asked


def test_images_show_while_a_long_first_scan_runs(tmp_path, qtbot):
    made = gallery_of([], tmp_path)
    made.gallery.begin()
    made.settle()
    made.librarian.items = [item(number) for number in range(300)]
    for done in (100, 200, 250):
        made.librarian.event(Progress(what="x", done=done, total=50_000, unit="images"), method="gallery.scan")
    made.settle()
    assert made.gallery.model.rowCount() == 300
    assert made.librarian.pages == 2


def test_an_image_that_is_saved_appears_at_once(tmp_path, qtbot):
    made = gallery_of([item(0)], tmp_path)
    made.gallery.begin()
    made.settle()  # the scan of all folders is still under way
    image = GeneratedImage(path="/images/9.png", seed=1, index=0, width=8, height=8, sha256="")
    made.runner.saved.emit(None, image)
    qtbot.waitUntil(lambda: len(made.librarian.open("gallery.scan")) == 2)
    assert made.librarian.last("gallery.scan").params.files == ("/images/9.png",)
    made.librarian.items.insert(0, item(9))
    made.librarian.answer(scanned(added=1), call=made.librarian.last("gallery.scan").call)
    made.settle()
    assert made.gallery.model.peek(0).id == 9


def test_what_other_programs_make_is_looked_for(tmp_path, qtbot):
    made = gallery_of([], tmp_path)
    made.gallery.rescan_if_needed()
    qtbot.waitUntil(lambda: "gallery.scan" in made.librarian.methods())
    assert made.librarian.last("gallery.scan").params.files == ()


def test_other_settings_are_other_folders(tmp_path, qapp):
    made = gallery_of([], tmp_path)
    made.gallery.scanner.scan()
    made.librarian.answer(scanned(), method="gallery.scan")
    made.settings.change(theme="dark")
    assert len(made.librarian.open("gallery.scan")) == 0
    made.settings.change(gallery_folders=("/more",))
    assert made.librarian.last("gallery.scan").params.folders == (str(tmp_path / "out"), "/more")


def test_each_folder_is_named_once():
    settings = Settings(output_folder="/out", gallery_folders=("/more", "/out", "/more"))
    assert folders_of(settings) == ("/out", "/more")
    assert folders_of(replace(settings, output_folder=""))[0].endswith("Mezzotint")

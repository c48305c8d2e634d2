"""What is done with images: stars, trash, copies."""

import sys

import pytest
from gallery_made import FakeTrash, gallery_of, item, metadata, written_pixels

from mezzotint.protocol import GenerateRequest
from mezzotint_app.viewmodel.gallery.actions import GalleryActions
from mezzotint_app.viewmodel.gallery.trash import GalleryTrash
from mezzotint_app.viewmodel.pixels import PixelLoader


@pytest.fixture
def made(tmp_path, qapp):
    def make(items, trash=None, **options):
        one = gallery_of(items, tmp_path, **options)
        one.actions = GalleryActions(
            one.gallery.model,
            one.librarian,
            GalleryTrash(one.librarian, one.inline, one.gallery, trash=trash or FakeTrash()),
            PixelLoader(one.librarian, one.inline),
        )
        one.told, one.failed = [], []
        one.actions.message.connect(one.told.append)
        one.actions.failed.connect(one.failed.append)
        one.gallery.model.show_rows(0, 20)
        one.settle()
        return one

    return make


def ratings(one):
    one.settle()
    return [each.rating for each in one.librarian.items]


def shown(one):
    one.settle()
    model = one.gallery.model
    return [model.peek(row).id for row in range(model.rowCount())]


def current(one):
    return [one.gallery.model.peek(row) for row in range(one.gallery.model.rowCount())]


def test_a_star_comes_and_goes_and_what_was_there_before_comes_back(made):
    one = made([item(0, rating=3), item(1, rating=0)])
    one.actions.toggle_star(current(one))
    assert ratings(one) == [5, 5]
    one.actions.toggle_star(current(one))
    assert ratings(one) == [3, 0]
    one.actions.rate(current(one), 2)
    assert ratings(one) == [2, 2]


def test_what_is_moved_to_the_trash_leaves_the_list_at_once_and_the_gallery_for_good(made):
    trash = FakeTrash()
    one = made([item(number) for number in range(4)], trash)
    items = current(one)
    one.inline.held = True
    one.actions.move_to_trash(items[1:3])
    assert [each.id for each in current(one)] == [0, 3]
    assert trash.holds == set()
    one.inline.held = False
    one.inline.go()
    assert trash.holds == {"/images/1.png", "/images/2.png"}
    assert one.librarian.last("gallery.forget").params == {"paths": ("/images/1.png", "/images/2.png")}
    assert shown(one) == [0, 3]
    assert one.told == ["Moved to trash: 2 images"]


def test_what_could_not_be_moved_comes_back_and_is_told(made):
    one = made([item(0), item(1), item(2)], FakeTrash({"/images/0.png": "no permission.", "/images/2.png": "busy"}))
    one.actions.move_to_trash(current(one))
    assert shown(one) == [0, 2]
    assert one.failed == ["/images/0.png could not be moved to the trash: no permission. 1 more could not be moved"]


def test_nothing_is_forgotten_where_nothing_was_moved(made):
    one = made([item(0)], FakeTrash({"/images/0.png": "busy"}))
    one.actions.move_to_trash(current(one))
    assert "gallery.forget" not in one.librarian.methods()


def test_the_image_itself_is_copied(made, tmp_path):
    one = made([item(0)])
    copied = []
    one.actions.copy_image.connect(copied.append)
    one.actions.copy_pixels(current(one)[0])
    one.librarian.answer(written_pixels(tmp_path), method="pixels")
    assert (copied[0].width(), copied[0].height()) == (2, 2)
    assert one.told == ["Image copied"]


def test_settings_are_copied_as_text(made):
    one = made([item(0)])
    copied = []
    one.actions.copy_text.connect(copied.append)
    one.actions.copy_settings(current(one)[0])
    one.librarian.answer(metadata(prompt="a hare", negative_prompt="grass", steps=20, seed=7), method="metadata")
    assert copied == ["a hare\nNegative prompt: grass\nSteps: 20, Seed: 7"]


def test_the_command_makes_it_again(made):
    one = made([item(0)])
    copied = []
    one.actions.copy_text.connect(copied.append)
    one.actions.copy_command(current(one)[0])
    request = GenerateRequest(prompt="it's a hare", seed=9)
    one.librarian.answer(metadata(prompt="it's a hare", request=request), method="metadata")
    assert copied[0].startswith("mezzotint generate ")
    assert "--seed 9" in copied[0]
    if sys.platform != "win32":
        assert "'it'\"'\"'s a hare'" in copied[0]


@pytest.mark.parametrize("what", ["copy_settings", "copy_command"])
def test_an_image_that_tells_nothing_is_no_trouble(made, what):
    one = made([item(0)])
    copied = []
    one.actions.copy_text.connect(copied.append)
    getattr(one.actions, what)(current(one)[0])
    one.librarian.answer(metadata(program="unknown"), method="metadata")
    assert copied == []
    assert one.failed == ["This image has no generation metadata"]


@pytest.mark.parametrize(
    ("what", "method"), [("copy_settings", "metadata"), ("copy_command", "metadata"), ("copy_pixels", "pixels")]
)
def test_what_cannot_be_read_is_told(made, what, method):
    one = made([item(0)])
    getattr(one.actions, what)(current(one)[0])
    one.librarian.fail("image_refused", "it is damaged", method=method)
    assert one.failed == ["it is damaged"]


def test_the_prompt_alone_is_copied(made):
    one = made([item(0, prompt="<b>a hare</b>")])
    copied = []
    one.actions.copy_text.connect(copied.append)
    one.actions.copy_prompt(current(one)[0])
    assert copied == ["<b>a hare</b>"]

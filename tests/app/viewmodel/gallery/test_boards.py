"""Boards and tags in the window: what is put where, and which searches smart boards keep."""

import pytest
from gallery_made import gallery_of, item

from mezzotint.library_protocol import GalleryQuery
from mezzotint_app.viewmodel.gallery.boards import common_tags, search_of


@pytest.fixture
def made(tmp_path, qapp):
    made = gallery_of([item(number) for number in range(4)], tmp_path)
    made.gallery.begin()
    made.settle()
    return made


def shown(made):
    made.settle()
    model = made.gallery.model
    return [model.peek(row).id for row in range(model.rowCount())]


def test_images_are_put_on_boards_and_only_those_are_shown(made):
    boards, model = made.gallery.boards, made.gallery.model
    boards.put([model.peek(0), model.peek(2)], "Trip")
    boards.create("Empty")
    made.settle()
    assert [(one.name, one.count) for one in boards.all()] == [("Trip", 2), ("Empty", 0)]
    boards.show("Trip")
    assert shown(made) == [0, 2]
    boards.put([model.peek(0)], "Trip", on=False)
    assert shown(made) == [2]
    boards.rename("Trip", "Journey")
    made.settle()
    assert model.query().board == "Journey" and boards.plain() == ("Empty", "Journey")
    boards.remove("Journey")
    assert shown(made) == [0, 1, 2, 3] and boards.plain() == ("Empty",)


def test_only_what_was_changed_of_the_tags_is_changed(made):
    boards = made.gallery.boards
    boards.tag([made.gallery.model.peek(0)], (), "sea,  red   house ,sea,")
    made.settle()
    first = made.librarian.items[0]
    assert first.tags == ("sea", "red house") and boards.tags() == ("red house", "sea")
    boards.tag([first], ("sea", "red house"), "red house, dusk")
    boards.tag([first], ("a",), "a")
    assert (made.librarian.last().params.add, made.librarian.last().params.remove) == (("dusk",), ("sea",))
    assert common_tags([first, made.librarian.items[1]]) == ()


def test_a_smart_board_keeps_the_search(made):
    boards, model = made.gallery.boards, made.gallery.model
    model.narrow(search="barn", model="xl", rating=3)
    boards.save_search("Good barns")
    made.settle()
    assert made.librarian.searches["Good barns"] == 'barn model:"xl" stars:3'
    model.widen()
    model.narrow(board="Good barns", search="red")
    boards.save_search("Red")
    made.settle()
    assert made.librarian.searches["Red"] == 'barn model:"xl" stars:3 red'
    assert boards.plain() == () and search_of(GalleryQuery(board="a b")) == 'board:"a b"'


def test_what_is_refused_is_told(made, qtbot):
    with qtbot.waitSignal(made.gallery.boards.failed) as told:
        made.gallery.boards.create("Trip")
        made.librarian.fail(message="there is already a board", method="gallery.board")
    assert told.args == ["there is already a board"]

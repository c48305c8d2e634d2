"""Actions that the menus of several pages share."""

from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from create_page import model_info
from fake_service import FakeService
from PySide6.QtWidgets import QMenu, QWidget

from mezzotint_app.windows.image_actions import ImageActions


@pytest.fixture
def made(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    again = Mock(models=lambda: (model_info("base"), model_info("dit")))
    program = SimpleNamespace(again=again, gallery=Mock(), librarian=FakeService())
    return SimpleNamespace(program=program, actions=ImageActions(program, window), window=window)


def chosen(menu, *texts):
    for text in texts:
        action = next(one for one in menu.actions() if one.text() == text)
        menu = action.menu() or menu
    action.trigger()


def test_the_menu_of_an_image_has_them(made):
    menu = QMenu(made.window)
    made.actions.add_to(menu, "/a.png")
    for texts in (("Remix",), ("Variations",), ("Same seed, other model", "dit"), ("Copy image",), ("Show in folder",)):
        chosen(menu, *texts)
    chosen(menu, "Move to trash")
    again, gallery = made.program.again, made.program.gallery
    again.remix.assert_called_once_with("/a.png")
    again.vary.assert_called_once_with(["/a.png"])
    assert again.with_model.call_args.args[1].id == "dit"
    gallery.actions.copy_pixels_of.assert_called_once_with("/a.png")
    gallery.trash.move.assert_called_once_with(["/a.png"])


def test_stars_are_saved_and_trouble_is_told(made, qtbot):
    menu = QMenu(made.window)
    made.actions.add_to(menu, "/a.png")
    chosen(menu, "Stars", "3 stars")
    assert made.program.librarian.last().params.rating == 3
    with qtbot.waitSignal(made.actions.message):
        made.program.librarian.fail(message="the disk is full")

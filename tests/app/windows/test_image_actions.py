"""Actions that the menus of several pages share."""

from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from create_page import model_info
from fake_service import FakeService
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from mezzotint_app.viewmodel.create.state import Result
from mezzotint_app.windows.gallery.upscale_dialog import UpscaleDialog
from mezzotint_app.windows.image_actions import ImageActions


@pytest.fixture
def made(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    again = Mock(models=lambda: (model_info("base"), model_info("dit")))
    result = Result(path="/a.png", seed=7, width=64, height=48)
    listed = Mock(find={"/dit.png": Mock(model="dit")}.get)
    gallery = Mock(model=listed, boards=Mock(plain=lambda: ("Trip",)))
    create = Mock(preview=Mock(results=lambda: (result,)))
    program = SimpleNamespace(again=again, gallery=gallery, create=create, librarian=FakeService())
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


def test_other_models_are_not_its_own(made):
    menu = QMenu(made.window)
    made.actions.add_to(menu, "/dit.png")
    (models,) = (one for one in menu.findChildren(QMenu) if one.title() == "Same seed, other model")
    assert [one.text() for one in models.actions()] == ["base"]


def test_an_image_is_enlarged_and_put_on_a_board(made):
    menu, gallery = QMenu(made.window), made.program.gallery
    made.actions.add_to(menu, "/a.png")
    chosen(menu, "Upscale")
    made.window.findChild(UpscaleDialog).accept()
    assert gallery.upscaling.start.call_args.args[0] == ["/a.png"]
    chosen(menu, "Put on a board", "Trip")
    chosen(menu, "Put on a board", "New board…")
    dialog = made.window.findChild(QInputDialog)
    dialog.setTextValue("Work")
    dialog.accept()
    assert [call.args for call in gallery.boards.put_paths.call_args_list] == [
        (["/a.png"], "Trip"), (["/a.png"], "Work"),
    ]  # fmt: skip


def test_stars_are_saved_and_trouble_is_told(made, qtbot):
    menu = QMenu(made.window)
    made.actions.add_to(menu, "/a.png")
    chosen(menu, "Stars", "3 stars")
    assert made.program.librarian.last().params.rating == 3
    with qtbot.waitSignal(made.actions.message):
        made.program.librarian.fail(message="the disk is full")

"""The Gallery page: keyboard, mouse and filters, and what they do."""

import pytest
from gallery_made import FakeTrash, gallery_of, item, metadata, written_pixels
from PySide6.QtCore import QCoreApplication, QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QMenu, QMessageBox

from mezzotint.library_protocol import GalleryScanned
from mezzotint.protocol import Progress
from mezzotint_app.viewmodel.gallery.gallery import GalleryState, ItemRole
from mezzotint_app.windows.gallery.page import GalleryPage
from mezzotint_app.windows.gallery.upscale_dialog import UpscaleDialog

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def shown(tmp_path, qtbot):
    def show(items, **options):
        made = gallery_of(items, tmp_path, **options)
        made.page = GalleryPage(made.gallery)
        made.page.resize(1000, 700)
        qtbot.addWidget(made.page)
        made.page.show()
        qtbot.waitExposed(made.page)
        made.gallery.model.refresh()
        made.settle()
        made.page.grid.setFocus()
        return made

    return show


def numbers(count, **fields):
    return [item(number, **fields) for number in range(count)]


def select(made, *rows):
    selection = made.page.grid.selectionModel()
    selection.clear()
    for row in rows:
        selection.select(made.gallery.model.index(row), QItemSelectionModel.SelectionFlag.Select)
    selection.setCurrentIndex(made.gallery.model.index(rows[0]), QItemSelectionModel.SelectionFlag.NoUpdate)


def press(qtbot, made, key, modifiers=Qt.KeyboardModifier.NoModifier):
    qtbot.keyClick(made.page.grid, key, modifiers)
    made.settle()


def current(made):
    return made.gallery.model.index(made.page.grid.currentIndex().row()).data(ItemRole).id


def ids(made):
    made.settle()
    return [made.gallery.model.peek(row).id for row in range(made.gallery.model.rowCount())]


def stars(made):
    return [one.rating for one in made.librarian.items]


def test_an_empty_gallery_leads_to_the_create_page(shown, qtbot):
    made = shown([])
    assert made.page.empty.title() == "Your images appear here"
    with qtbot.waitSignal(made.page.create_asked):
        qtbot.mouseClick(made.page.empty.button, Qt.MouseButton.LeftButton)


def test_a_search_without_a_match_leads_back_to_all(shown, qtbot):
    made = shown(numbers(3))
    made.page.bar.search.setText("fox")
    qtbot.keyClick(made.page.bar.search, Qt.Key.Key_Return)
    made.settle()
    assert made.page.empty.title() == "No matching images"
    qtbot.mouseClick(made.page.empty.button, Qt.MouseButton.LeftButton)
    assert ids(made) == [0, 1, 2]
    assert made.page.bar.search.text() == ""


def test_keys_lead_through_the_images(shown, qtbot):
    made = shown(numbers(1000))
    columns = made.page.grid.columns()
    assert current(made) == 0
    for key, at in (
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_Down, 1 + columns),
        (Qt.Key.Key_Left, columns),
        (Qt.Key.Key_End, 999),
        (Qt.Key.Key_Home, 0),
    ):
        press(qtbot, made, key)
        assert current(made) == at
    press(qtbot, made, Qt.Key.Key_PageDown)
    down = current(made)
    assert down > columns
    press(qtbot, made, Qt.Key.Key_PageUp)
    assert current(made) == 0


def test_digits_and_the_point_give_stars(shown, qtbot):
    made = shown(numbers(3))
    select(made, 0, 2)
    press(qtbot, made, Qt.Key.Key_3)
    assert stars(made) == [3, 0, 3]
    press(qtbot, made, Qt.Key.Key_Period)
    assert stars(made) == [5, 0, 5]
    press(qtbot, made, Qt.Key.Key_Period)
    assert stars(made) == [3, 0, 3]
    press(qtbot, made, Qt.Key.Key_0)
    assert stars(made) == [0, 0, 0]


def test_stars_of_the_panel_are_those_of_the_current_image(shown, qtbot):
    made = shown(numbers(2))
    made.page.panel.stars._buttons[3].click()
    made.settle()
    assert stars(made) == [4, 0]
    made.page.panel.stars._buttons[3].click()
    made.settle()
    assert stars(made) == [0, 0]


@pytest.mark.parametrize("remember", [True, False])
def test_the_trash_is_asked_about_once_if_one_likes(shown, qtbot, remember):
    made = shown(numbers(4))
    trash = made.gallery.trash._trash = FakeTrash()
    select(made, 1, 2)
    press(qtbot, made, Qt.Key.Key_Delete)
    box = made.page.findChild(QMessageBox)
    assert trash.holds == set()
    assert "2 images" in box.text()
    box.checkBox().setChecked(remember)
    agree = next(one for one in box.buttons() if box.buttonRole(one) == QMessageBox.ButtonRole.AcceptRole)
    qtbot.mouseClick(agree, Qt.MouseButton.LeftButton)
    assert ids(made) == [0, 3]
    assert trash.holds == {"/images/1.png", "/images/2.png"}
    assert current(made) == 3
    made.page.activateWindow()
    qtbot.waitUntil(made.page.isActiveWindow)
    made.page.grid.setFocus()
    press(qtbot, made, Qt.Key.Key_Delete)
    assert (len(trash.holds) == 3) == remember


def test_control_z_restores_what_was_moved_to_the_trash_and_so_does_the_notice(shown, qtbot):
    made = shown(numbers(4), state=GalleryState(confirm_trash=False))
    trash = made.gallery.trash._trash = FakeTrash()
    select(made, 1, 2)
    press(qtbot, made, Qt.Key.Key_Delete)
    assert made.page.trashed.isVisible()
    press(qtbot, made, Qt.Key.Key_Z, CONTROL)
    assert trash.holds == set()
    assert not made.page.trashed.isVisible()


def test_the_notice_is_gone_once_the_page_was_left(shown, qtbot):
    made = shown(numbers(2), state=GalleryState(confirm_trash=False))
    made.gallery.trash._trash = FakeTrash()
    press(qtbot, made, Qt.Key.Key_Delete)
    made.page.hide()
    made.page.show()
    assert not made.page.trashed.isVisible()


def test_enter_and_a_double_click_open_the_full_screen(shown, qtbot):
    made = shown(numbers(5))
    select(made, 3)
    with qtbot.waitSignal(made.page.open_full_screen) as told:
        press(qtbot, made, Qt.Key.Key_Return)
    assert told.args == [[f"/images/{number}.png" for number in range(5)], 3]
    rect = made.page.grid.visualRect(made.gallery.model.index(1))
    with qtbot.waitSignal(made.page.open_full_screen) as told:
        qtbot.mouseClick(made.page.grid.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
        qtbot.mouseDClick(made.page.grid.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert told.args[1] == 1


def test_two_are_compared(shown, qtbot):
    made = shown(numbers(5))
    select(made, 1)
    assert not made.page.actions_of_images["compare"].isEnabled()
    select(made, 1, 4)
    with qtbot.waitSignal(made.page.compare) as told:
        press(qtbot, made, Qt.Key.Key_C)
    assert told.args == [["/images/1.png", "/images/4.png"]]
    select(made, 0, 1, 2, 3, 4)
    assert not made.page.actions_of_images["compare"].isEnabled()


def test_backgrounds_of_selected_images_are_removed(shown):
    made = shown(numbers(5))
    select(made, 0)
    made.page.actions_of_images["cut_out"].trigger()
    assert made.librarian.last("remove_background").params.path == "/images/0.png"


def test_selected_images_are_upscaled(shown, qtbot):
    made = shown(numbers(5))
    select(made, 1, 4)
    press(qtbot, made, Qt.Key.Key_U, CONTROL | SHIFT)
    dialog = made.page.findChild(UpscaleDialog)
    made.librarian.answer(("starter-2x", "4x-Sharp"), method="upscalers")
    dialog._upscalers.setCurrentIndex(1)
    dialog._scale.setValue(3)
    dialog.accept()
    asked = made.librarian.last("upscale").params
    assert (asked.path, asked.upscaler, asked.scale) == ("/images/1.png", "4x-Sharp", 3.0)
    assert made.page.upscaled.isVisible()
    qtbot.mouseClick(made.page.upscaled.cancel, Qt.MouseButton.LeftButton)
    made.librarian.fail(kind="cancelled", method="upscale")
    assert not made.page.upscaled.isVisible()


def test_a_second_pass_is_asked_for_with_the_metadata_of_each_image(shown, qtbot):
    made = shown(numbers(5))
    select(made, 1, 4)
    press(qtbot, made, Qt.Key.Key_U, CONTROL | SHIFT)
    dialog = made.page.findChild(UpscaleDialog)
    assert dialog.strength() is None and not dialog._strength.isEnabled()
    dialog._second_pass.click()
    dialog._scale.setValue(4)
    dialog.accept()
    assert [one.params["path"] for one in made.librarian.open("metadata")] == ["/images/1.png", "/images/4.png"]
    with qtbot.waitSignal(made.gallery.upscaling.second_pass) as told:
        made.librarian.answer("read", method="metadata")
    assert told.args[:2] == ["read", "/images/1.png"] and told.args[3:] == ["starter-2x", 0.3]
    assert "upscale" not in made.librarian.methods()


def test_keys_copy_the_image_and_its_settings(shown, qtbot, tmp_path):
    made = shown(numbers(1))
    press(qtbot, made, Qt.Key.Key_C, CONTROL)
    made.librarian.answer(written_pixels(tmp_path), method="pixels")
    assert QGuiApplication.clipboard().image().width() == 2
    press(qtbot, made, Qt.Key.Key_C, CONTROL | SHIFT)
    asked = made.librarian.last("metadata")  # on a slow machine the panel beside the grid has asked before
    made.librarian.answer(metadata(prompt="a hare", seed=3), call=asked.call)
    assert QGuiApplication.clipboard().text() == "a hare\nSeed: 3"


def test_keys_use_an_image_again(shown, qtbot):
    made = shown(numbers(2))
    select(made, 1)
    with qtbot.waitSignal(made.page.show_settings_of) as told:
        press(qtbot, made, Qt.Key.Key_U, CONTROL)
    assert told.args == ["/images/1.png"]
    with qtbot.waitSignal(made.page.use_as_input) as told:
        press(qtbot, made, Qt.Key.Key_E, CONTROL)
    assert told.args == ["/images/1.png"]


def test_keys_make_images_again(shown, qtbot):
    made = shown(numbers(3))
    select(made, 1, 2)
    for key, signal, expected in (
        (Qt.Key.Key_V, made.page.variations_asked, [["/images/1.png", "/images/2.png"]]),
        (Qt.Key.Key_R, made.page.remix_asked, ["/images/1.png"]),
    ):
        with qtbot.waitSignal(signal) as told:
            press(qtbot, made, key)
        assert told.args == expected
    with qtbot.waitSignal(made.page.other_model_asked) as told:
        press(qtbot, made, Qt.Key.Key_M)
    assert told.args[0] == ["/images/1.png", "/images/2.png"]


def test_filters_and_order_narrow_the_query_and_the_order_is_kept(shown, qtbot):
    made = shown([item(0, model="a", rating=2), item(1, model="b")])
    made.gallery.model.ask_models()
    made.settle()
    bar = made.page.bar
    assert [bar.models.itemText(row) for row in range(bar.models.count())] == ["All models", "a", "b"]
    bar.models.setCurrentIndex(1)
    assert ids(made) == [0]
    bar.models.setCurrentIndex(0)
    bar.stars.setCurrentIndex(2)
    assert ids(made) == [0]
    bar.order.setCurrentIndex(bar.order.findData("best"))
    assert made.gallery.state.value().order == "best"
    made.gallery.model.widen()
    assert bar.stars.currentIndex() == 0
    assert bar.order.currentData() == "best"


def test_the_size_is_chosen_and_kept(shown, qtbot):
    made = shown(numbers(200), state=GalleryState(side=160))
    before = made.page.grid.columns()
    qtbot.keyClick(made.page, Qt.Key.Key_Minus, CONTROL)
    assert made.gallery.state.value().side == 128
    assert made.page.grid.columns() > before
    made.page.bar.slider.setValue(384)
    assert made.page.grid.columns() < before


def test_control_f_leads_to_the_search(shown, qtbot):
    made = shown(numbers(2))
    qtbot.keyClick(made.page, Qt.Key.Key_F, CONTROL)
    assert made.page.bar.search.hasFocus()


def test_details_show_foreign_text_as_it_is(shown, qtbot):
    made = shown([item(0, prompt="<h1>a hare</h1>")])
    assert made.page.panel.prompt.toPlainText() == "<h1>a hare</h1>"
    made.gallery.details.ask_now()
    made.librarian.answer(metadata(prompt="<b>x</b>", negative_prompt="grass", model="<i>m</i>"), method="metadata")
    assert made.page.panel.prompt.toPlainText() == "<b>x</b>"
    assert made.page.panel.negative.isVisibleTo(made.page)
    qtbot.keyClick(made.page, Qt.Key.Key_I, CONTROL)
    assert not made.page.panel.isVisible()
    assert made.gallery.state.value().details is False


def test_the_date_in_sight_stays_above_the_images(shown, qtbot):
    made = shown([item(number, made=1_800_000_000.0 - 3600 * number) for number in range(400)])
    assert made.page.status.texts()[:2] == ("Today", "400 images")
    made.page.grid.verticalScrollBar().setValue(made.page.grid.verticalScrollBar().maximum() // 4)
    made.settle()
    assert made.page.status.texts()[0] != "Today"


def test_a_scan_shows_how_far_it_is_and_can_be_stopped(shown, qtbot):
    made = shown(numbers(1))
    made.gallery.scanner.scan()
    made.librarian.event(Progress(what="x", done=20, total=1000, unit="images"), method="gallery.scan")
    assert made.page.status.texts()[2].startswith("Reading images: 20 of ")
    made.page.status._stop.click()
    assert made.librarian.cancelled[-1] == made.librarian.last("gallery.scan").call
    made.librarian.answer(GalleryScanned(added=0, removed=0, total=1, unreadable=0), method="gallery.scan")
    assert made.page.status.texts()[2] == ""


def test_trouble_is_told_and_what_was_shown_stays(shown, qtbot):
    made = shown(numbers(2))
    made.gallery.model.refresh()
    QCoreApplication.processEvents()
    made.librarian.fail("gone", "the librarian ended", method="gallery.query")
    assert made.page.problem.text() == "the librarian ended"
    assert made.gallery.model.rowCount() == 2


def test_selection_survives_new_images(shown, qtbot):
    made = shown(numbers(50))
    select(made, 3, 7)
    made.librarian.items.insert(0, item(999))
    made.gallery.model.refresh()
    made.settle()
    chosen = {made.gallery.model.peek(index.row()).id for index in made.page.grid.selectedIndexes()}
    assert chosen == {3, 7}
    assert current(made) == 3


def test_several_selected_images_are_counted(shown, qtbot):
    made = shown(numbers(50))
    select(made, 3, 7)
    assert made.page.status.texts()[1] == "50 images, 2 selected"
    select(made, 3)
    assert made.page.status.texts()[1] == "50 images"


def test_an_image_seen_elsewhere_becomes_the_current_one(shown, qtbot):
    made = shown(numbers(50))
    made.page.show_image(made.gallery.model.peek(4).path)
    assert current(made) == 4
    select(made, 4, 7)
    made.page.show_image(made.gallery.model.peek(4).path)  # its selection stays
    made.page.show_image("/not/listed.png")
    assert current(made) == 4 and made.page.status.texts()[1] == "50 images, 2 selected"


def test_fifty_thousand_images_cost_what_is_in_sight(shown, qtbot, monkeypatch):
    made = shown(numbers(50_000))
    read = []
    data = made.gallery.model.item
    monkeypatch.setattr(made.gallery.model, "item", lambda row: read.append(row) or data(row))
    bar = made.page.grid.verticalScrollBar()
    for part in range(1, 30):
        bar.setValue(bar.maximum() * part // 30)
        made.page.grid.repaint()
    made.settle()
    made.page.grid.grab()
    visible_rows_changed = len(made.page.grid.rows_in_sight())
    assert made.librarian.pages <= 12
    assert len(read) <= 31 * visible_rows_changed * 6
    assert all(made.gallery.model.peek(row) is not None for row in made.page.grid.rows_in_sight())


def test_the_menu_has_every_action(shown, qtbot):
    made = shown(numbers(2))
    select(made, 0)
    made.page.grid.customContextMenuRequested.emit(QPoint(10, 10))
    menu = made.page.findChild(QMenu)
    texts = {action.text() for action in menu.actions()}
    assert {"Remix", "Variations", "Same seed, other model…", "Copy as command", "Show in folder", "Compare"} <= texts
    menu.close()


def test_every_control_has_a_name(shown):
    made = shown(numbers(2))
    for button in made.page.findChildren(QAbstractButton):
        if button.isVisibleTo(made.page):
            assert button.accessibleName() or button.text()
            assert button.toolTip()
    for part in (made.page.grid, made.page.bar.search, made.page.bar.models, made.page.bar.slider):
        assert part.accessibleName()

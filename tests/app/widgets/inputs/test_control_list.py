"""The list of control images: what is done there is what is asked for."""

from dataclasses import replace

import pytest
from create_page import clicked, kit_of, page_of, typed
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtWidgets import QMenu

from mezzotint_app.viewmodel.create.controls import ControlChoice
from mezzotint_app.viewmodel.dropped.data import drop_data


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def page(kit, qtbot):
    return page_of(kit, qtbot)


def dropped(*paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    return drop_data(data)


def test_images_are_added_set_and_taken_out(kit, page):
    controls = page.sections.controls
    controls.add(["/edges.png"])
    page.show_model()
    assert "Choose a ControlNet for edges.png." in kit.create.problems().values()
    controls.use_model(0, "/canny.safetensors")
    parts = controls.rows()[0].parts()
    typed(parts["weight"].spin(), "0.8")
    typed(parts["interval"].end, "0.6")
    parts["type"].choose("canny")
    parts["preprocess"].choose("canny")
    expected = ControlChoice(
        image="/edges.png", model="/canny.safetensors", weight=0.8, end=0.6, type="canny", preprocess="canny"
    )
    assert kit.create.chosen.settings().controls == (expected,)
    assert kit.create.problems() == {}
    page.show_model()
    assert page.sections.sections()["control"].head().summary() == "1 in use"
    clicked(parts["on"])
    assert kit.create.chosen.settings().controls[0].on is False
    page.show_model()
    clicked(controls.rows()[0].parts()["remove"])
    assert kit.create.chosen.settings().controls == ()
    assert controls.rows() == ()


def test_networks_are_chosen_by_name_or_as_files(kit, page):
    kit.create.models.list_networks()
    kit.librarian.answer(("starter-edges", "canny & co"), "controlnets")
    controls = page.sections.controls
    controls.add(["/edges.png"])
    page.show_model()
    clicked(controls.rows()[0].parts()["choose"])
    (menu,) = controls.rows()[0].findChildren(QMenu)
    assert [action.text() for action in menu.actions() if action.text()] == [
        *("starter-edges", "canny && co"),
        "Choose a file…",
    ]
    menu.actions()[1].trigger()
    assert kit.create.chosen.settings().controls[0].model == "canny & co"
    menu.close()


def test_dropped_files_are_images_and_networks_for_them(kit, page):
    controls = page.sections.controls
    controls.take(dropped("/net.safetensors", "/notes.txt"))
    assert kit.create.chosen.settings().controls == ()
    controls.take(dropped("/a.png", "/b.PNG", "/net.safetensors"))
    controls.take(dropped("/other.safetensors"))
    controls.take(dropped("/last.safetensors"))
    found = [(one.image, one.model) for one in kit.create.chosen.settings().controls]
    assert found == [("/a.png", "/net.safetensors"), ("/b.PNG", "/last.safetensors")]


def test_files_are_chosen_in_dialogs(kit, page):
    controls = page.sections.controls
    dialog = controls.choose()
    dialog.filesSelected.emit(["/a.png"])
    dialog.close()
    row = controls.rows()[0]
    row.model_wanted.connect(lambda: None)
    dialog = controls.choose_model(0)
    dialog.fileSelected.emit("/net.safetensors")
    dialog.close()
    dialog = controls.choose_mask(0)
    dialog.fileSelected.emit("/left.png")
    dialog.close()
    expected = ControlChoice(image="/a.png", model="/net.safetensors")
    assert kit.create.chosen.settings().controls == (replace(expected, mask="/left.png"),)
    dialog = controls.choose_encoder(0)
    dialog.fileSelected.emit("/clip_vision.safetensors")
    dialog.close()
    assert kit.create.chosen.settings().controls[0].encoder == "/clip_vision.safetensors"
    controls.rows()[0].parts()["found_encoder"].click()
    assert kit.create.chosen.settings().controls[0].encoder is None
    clicked(row.parts()["everywhere"])
    assert kit.create.chosen.settings().controls == (expected,)
    clicked(row.parts()["no_model"])
    assert kit.create.chosen.settings().controls == (replace(expected, model=""),)
    page.show_model()
    assert not row.parts()["no_model"].isVisible()


def test_controls_of_two_rows_have_different_names(kit, page):
    page.sections.controls.add(["/a.png", "/b.png"])
    named = [
        {part.accessibleName() for name, part in row.parts().items() if name not in ("weight", "interval")}
        for row in page.sections.controls.rows()
    ]
    assert not named[0] & named[1]


def test_what_is_made_of_an_image_is_shown_and_saved(kit, page):
    controls = page.sections.controls
    controls.add(["/house.png"])
    page.show_model()
    parts = controls.rows()[0].parts()
    row = controls.rows()[0]
    assert not parts["preview"].isVisibleTo(row)  # of an image that is used as it is
    parts["preprocess"].choose("canny")
    page.show_model()
    assert parts["preview"].isVisibleTo(row) and not parts["save"].isVisibleTo(row)
    clicked(parts["keep"])
    assert kit.create.chosen.settings().controls[0].keep
    clicked(parts["preview"])
    assert kit.librarian.last("prepare_control").params.preprocess == "canny" and not parts["preview"].isEnabled()
    kit.librarian.fail(message="the image is damaged", method="prepare_control")
    assert parts["preview"].isEnabled() and parts["preview"].accessibleName() == "Preview house.png"
    dialog = controls.save_preview(0)
    assert dialog.acceptMode() == dialog.AcceptMode.AcceptSave
    dialog.fileSelected.emit("/edges.png")
    assert kit.librarian.last("prepare_control").params.output == "/edges.png"
    dialog.close()

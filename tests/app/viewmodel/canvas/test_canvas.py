"""Files are opened beside what is there or instead of it, and written with what is shown."""

import pytest
from create_page import kit_of
from PIL import Image
from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QColor, QImage

from mezzotint_app.viewmodel.canvas.canvas import CanvasModel, kind_name
from mezzotint_app.viewmodel.canvas.layers import KINDS


class Told(CanvasModel):
    def __init__(self, *parts):
        super().__init__(*parts)
        self.said = []
        self.message.connect(self.said.append)


@pytest.fixture
def model(tmp_path, qapp, monkeypatch):
    for kit in kit_of(tmp_path):
        kit.write()
        made = Told(kit.create, kit.queue, kit.runner, kit.librarian, kit.pool)

        def load(path, _side, then, failed, slot=""):
            image = QImage(path)
            then(image) if not image.isNull() else failed(type("Failure", (), {"message": f"no image: {path}"}))

        monkeypatch.setattr(made._pixels, "load", load)
        yield made


def picture(path, width, height):
    Image.new("RGB", (width, height), "navy").save(path)
    return str(path)


def test_images_are_added_side_by_side_and_the_frame_goes_to_the_first(model, tmp_path):
    seen = []
    model.shown.connect(seen.append)
    model.open_file(picture(tmp_path / "a.png", 300, 204))
    assert model.document.frame() == QRect(0, 0, 304, 208), "a multiple of the model's step"
    model.open_file(picture(tmp_path / "b.png", 20, 20))
    assert seen[1].left() > 300 and [one.name for one in model.document.layers()] == ["a", "b"]
    model.add_image("/missing.png")
    assert model.said == ["no image: /missing.png"] and not model.is_busy()


def test_saved_and_opened_again(model, tmp_path):
    assert model.is_saved()
    model.add_image(picture(tmp_path / "a.png", 30, 20))
    model.new_layer("mask")
    model.tools.press(QPointF(5, 5))
    model.tools.release()
    assert not model.is_saved()
    model.save_file(str(tmp_path / "out.png"))
    assert Image.open(tmp_path / "out.png").size == (30, 20) and not model.is_saved()
    model.save_file(str(tmp_path / "out.ora"))
    assert model.is_saved() and "out.ora" in model.said[-1]
    model.save_file(str(tmp_path / "out.png"))
    assert model.is_saved(), "a picture beside it loses nothing"
    model.save_file(str(tmp_path / "version 1.2"))
    assert "version 1.2 was not saved" in model.said[-1] and len(list(tmp_path.glob("version*"))) == 0
    model.clear()
    assert model.document.is_empty() and not model.document.can_undo()
    model.save_file(str(tmp_path / "empty.png"))
    assert not (tmp_path / "empty.png").exists() and "nothing" in model.said[-1]
    model.open_file(str(tmp_path / "out.ora"))
    assert [one.kind for one in model.document.layers()] == ["image", "mask"] and model.is_saved()
    (tmp_path / "bad.ora").write_bytes(b"PK")
    model.open_file(str(tmp_path / "bad.ora"))
    assert "OpenRaster" in model.said[-1] and len(model.document.layers()) == 2
    model.new_layer("sketch")
    model.tools.press(QPointF(5, 5))
    model.tools.release()
    model.save_file(str(tmp_path / "no" / "out.ora"))
    assert not model.is_busy() and "out.ora" in model.said[-1] and not model.is_saved()


def test_layers_have_names_and_a_limit(model):
    assert len({kind_name(kind) for kind in KINDS}) == len(KINDS)
    for _ in range(64):
        model.new_layer("image")
    assert "too many layers" in model.said[-1]


def test_tools_paint_fill_pick_move_and_frame(model):
    document, tools = model.document, model.tools
    tools.set_colour(QColor("red"))
    for tool, way in (("rectangle", [(0, 0), (100, 60)]), ("lasso", [(0, 0), (9, 0), (9, 9)])):
        tools.set_tool(tool)
        tools.press(QPointF(*way[0]))
        for at in way[1:]:
            tools.move(QPointF(*at))
        assert tools.is_busy()
        tools.release()
    assert document.colour_at(QRect(0, 0, 100, 60).center()) == QColor("red")
    tools.set_colour(QColor("blue"))
    tools.set_tool("fill")
    tools.press(QPointF(20.7, 20.2))
    tools.set_tool("picker")
    tools.set_colour(QColor("white"))
    tools.press(QPointF(90, 50))
    assert tools.colour() == QColor("blue")
    tools.set_tool("move")
    tools.press(QPointF(50, 30))
    tools.move(QPointF(550, 37))
    tools.release()
    assert (document.active().x, document.active().y) == (500, 7)
    tools.set_tool("frame")
    tools.press(QPointF(1024, 512))
    tools.move(QPointF(907, 512))
    tools.release()
    assert document.frame() == QRect(0, 0, 904, 1024)
    tools.press(QPointF(5000, 3000))
    assert document.frame().contains(5000, 3000) and document.frame().x() % 8 == 0, "it comes to where it is pressed"
    tools.move(QPointF(5160, 3000))
    tools.release()
    assert abs(document.frame().center().x() - 5160) <= 8
    document.undo()
    assert document.frame() == QRect(0, 0, 904, 1024), "in one step"
    tools.set_tool("fill")
    tools.press(QPointF(-5000, 0))
    document.change_layer(document.active().id, visible=False)
    tools.press(QPointF(5, 5))
    assert len(model.said) == 2

"""The canvas of one session is that of the next, and what cannot be kept is said."""

import pytest
from fake_service import InlineBackground
from PySide6.QtCore import QObject, QRect, Signal
from PySide6.QtGui import QImage

from mezzotint_app.viewmodel.canvas.canvas import CanvasModel
from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.canvas.keeping import CanvasKeeping
from mezzotint_app.viewmodel.canvas.opening import OpenRasterOpener


class Model(QObject):
    """As much of a CanvasModel as is kept."""

    message = Signal(str)
    shown = Signal(QRect)
    snapshot, show_everything = CanvasModel.snapshot, CanvasModel.show_everything

    def __init__(self):
        super().__init__()
        self.opener = OpenRasterOpener(self, InlineBackground())
        self.document = CanvasDocument()
        self.said = []
        self.message.connect(self.said.append)

    def load(self, path, side, then, failed, slot):
        then(QImage(path))


@pytest.fixture
def session(tmp_path, qapp):
    def begun():
        model = Model()
        keeping = CanvasKeeping(model, tmp_path / "state" / "canvas.ora", InlineBackground())
        keeping.restore()
        return model, keeping

    return begun


def draw(model):
    image = QImage(30, 20, QImage.Format.Format_RGB32)
    image.fill(0xFF112233)
    return model.document.add_layer("image", "boat", image, (-5, 7))


def test_it_comes_back_until_it_is_emptied(session, tmp_path):
    model, keeping = session()
    draw(model)
    model.document.set_frame(QRect(8, 8, 64, 64))
    keeping.save()
    again, keeping = session()
    assert again.document.frame() == QRect(8, 8, 64, 64) and not again.document.can_undo()
    assert again.document.flattened(QRect(-5, 7, 30, 20)) == model.document.flattened(QRect(-5, 7, 30, 20))
    again.document.reset()
    keeping.save()
    assert list((tmp_path / "state").iterdir()) == []
    keeping.save()  # nothing has changed


def test_what_cannot_be_read_or_written_is_said(session, tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "canvas.ora").write_bytes(b"PK")
    model, keeping = session()
    assert "could not be read" in model.said[0]
    assert [one.name for one in (tmp_path / "state").iterdir()] == ["canvas-unread.ora"]
    keeping._path = tmp_path / "state" / "canvas-unread.ora" / "below"
    draw(model)
    keeping.save()
    assert "could not be kept" in model.said[1]

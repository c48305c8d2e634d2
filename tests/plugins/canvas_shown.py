"""A canvas with layers and a candidate."""

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage

from mezzotint_app.viewmodel.canvas.candidates import Candidate


def fill_canvas(canvas, name):
    picture = QImage(64, 64, QImage.Format.Format_RGB32)
    picture.fill(QColor("teal"))
    canvas.document.add_layer("image", name, picture)
    canvas.document.add_layer("control", "", picture)
    canvas.document.add_layer("mask", "")
    canvas.candidates._add(Candidate(path="/a.png", seed=1, frame=QRect(0, 0, 64, 64), image=picture))

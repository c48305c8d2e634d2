"""The icons of the program and of job files in each system's form, drawn from assets/icons."""

import io
import os
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
_ICO = (16, 24, 32, 48, 64, 128, 256)
_JOB = """<svg xmlns="http://www.w3.org/2000/svg" width="128" height="128" viewBox="0 0 128 128">
<path d="M22 4H84L106 26V124H22Z" fill="#fbf8f3" stroke="#8a7d6b" stroke-width="4" stroke-linejoin="round"/>
<path d="M84 4V26H106Z" fill="#d8cfc0" stroke="#8a7d6b" stroke-width="4" stroke-linejoin="round"/>
<g transform="translate(32 44) scale(.5)">{icon}</g></svg>
"""


def program_drawing(project: Path) -> bytes:
    """Return the program's icon as SVG."""
    return (project / "assets/icons/mezzotint.svg").read_bytes()


def job_drawing(project: Path) -> bytes:
    """Return the icon of job files as SVG: a sheet of paper with the program's icon."""
    text = program_drawing(project).decode()
    return _JOB.format(icon=text[text.index(">") + 1 : text.rindex("</svg>")].strip()).encode()


def png(drawing: bytes, size: int) -> bytes:
    """Return a drawing as a square PNG."""
    buffer = io.BytesIO()
    _drawn(drawing, size).save(buffer, "png", optimize=True)
    return buffer.getvalue()


def ico(drawing: bytes) -> bytes:
    """Return a drawing in Windows' form, each size drawn anew."""
    return _several(drawing, _ICO, "ico", sizes=[(size, size) for size in _ICO])


def icns(drawing: bytes) -> bytes:
    """Return a drawing in macOS' form."""
    return _several(drawing, (32, 64, 128, 256, 512, 1024), "icns")


def _several(drawing: bytes, drawn: Sequence[int], form: str, **options: object) -> bytes:
    images = [_drawn(drawing, size) for size in drawn]
    buffer = io.BytesIO()
    images[-1].save(buffer, form, append_images=images[:-1], **options)
    return buffer.getvalue()


def _drawn(drawing: bytes, size: int) -> Image.Image:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(size, size, QImage.Format.Format_RGBA8888)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(drawing).render(painter)
    painter.end()
    return Image.frombytes("RGBA", (size, size), bytes(image.constBits()))

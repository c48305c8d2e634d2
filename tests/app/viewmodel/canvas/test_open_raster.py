"""OpenRaster files come back as they were, others are read by the specification, and hostile ones are refused."""

import io
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path

import pytest
from fake_service import InlineBackground
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PIL import Image  # noqa: E402
from PySide6.QtCore import QRect, QRectF  # noqa: E402
from PySide6.QtGui import QColor, QImage, QPainterPath  # noqa: E402

from mezzotint.errors import ImageRefused, MezzotintError  # noqa: E402
from mezzotint_app.processes.service import Failure  # noqa: E402
from mezzotint_app.viewmodel.canvas import open_raster  # noqa: E402
from mezzotint_app.viewmodel.canvas.document import CanvasDocument  # noqa: E402
from mezzotint_app.viewmodel.canvas.opening import OpenRasterOpener  # noqa: E402
from mezzotint_app.viewmodel.canvas.png import png_of  # noqa: E402


def png(width=2, height=2):
    data = io.BytesIO()
    Image.new("RGBA", (width, height), (255, 0, 0, 255)).save(data, "PNG")
    return data.getvalue()


def huge_png():
    """A header alone that promises 16 gigapixels."""
    header = struct.pack(">IIBBBBB", 1 << 17, 1 << 17, 8, 6, 0, 0, 0)
    body = b"IHDR" + header
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))


def stack(*layers, head=""):
    return f'<?xml version="1.0"?>{head}<image w="9" h="9"><stack>{"".join(layers)}</stack></image>'.encode()


class Files:
    """What the library service does."""

    def load(self, path, side, then, failed, slot):
        image = QImage(path)
        failed(Failure(kind="failed", message="damaged")) if image.isNull() else then(image)


def read(path):
    """Layers and frame of a file; leaves nothing behind."""
    found, before = [], set(Path(tempfile.gettempdir()).glob("mezzotint-canvas-*"))
    opener = OpenRasterOpener(Files(), InlineBackground())
    opener.open(path, lambda *opened: found.append(opened), found.append)
    assert set(Path(tempfile.gettempdir()).glob("mezzotint-canvas-*")) == before
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


LAYER = '<layer name="a" src="data/0.png" x="3" y="-4" opacity="0.5" visibility="hidden"/>'


def archive(tmp_path, **entries):
    path = tmp_path / "file.ora"
    content = {"mimetype": b"image/openraster", "stack.xml": stack(LAYER), "data/0.png": png()} | entries
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in content.items():
            if data is not None:
                file.writestr(name, data)
    return path


def painted():
    document, path = CanvasDocument(), QPainterPath()
    path.addRect(QRectF(-300, -20, 320, 40))
    document.fill_path(path, QColor(200, 10, 60, 130))
    document.add_layer("mask", 'a "name" & <more>')
    document.change_layer(document.active().id, x=7, y=-9, opacity=0.25, visible=False)
    document.fill_path(path, QColor("white"))
    document.add_layer("sketch", "")
    document.set_frame(QRect(-64, 8, 640, 512))
    return document


def shown(document):
    return [(layer, document.store(layer.id)) for layer in document.layers()]


def test_everything_comes_back(tmp_path):
    document, path = painted(), tmp_path / "a.ora"
    path.write_bytes(open_raster.written(shown(document), document.frame()))
    again = CanvasDocument()
    again.reset(*read(path))
    assert again.frame() == document.frame()
    for (new, store), (old, before) in zip(shown(again), shown(document), strict=True):
        assert (new.kind, new.name, new.visible, new.opacity) == (old.kind, old.name, old.visible, old.opacity)
        assert store.content().translated(new.x, new.y) == before.content().translated(old.x, old.y)
    area = QRect(-300, -40, 640, 80)
    assert again.flattened(area) == document.flattened(area)
    with zipfile.ZipFile(path) as file:
        assert file.infolist()[0].filename == "mimetype" and file.infolist()[0].compress_type == zipfile.ZIP_STORED
        whole, small = (Image.open(file.open(name)) for name in ("mergedimage.png", "Thumbnails/thumbnail.png"))
        assert whole.size == (320, 40) and max(small.size) == 256
        assert whole.getpixel((100, 20)) == pytest.approx((200, 10, 60, 130), abs=2)


def test_a_png_is_what_other_programs_read():
    document = painted()
    area = QRect(-310, -30, 400, 300)
    read = Image.open(io.BytesIO(png_of(shown(document)[:1], area)))
    expected = document.flattened(area).convertToFormat(QImage.Format.Format_RGBA8888)
    assert read.size == (400, 300) and read.tobytes() == bytes(expected.constBits())


def test_files_of_other_programs(tmp_path):
    other = '<stack><layer src="data/0.png"/></stack>'
    ((plain, _), (layer, tiles)), frame = read(archive(tmp_path, **{"stack.xml": stack(LAYER, other)}))
    assert (layer.x, layer.y, layer.opacity, layer.visible, layer.kind) == (3, -4, 0.5, False, "image")
    assert (plain.opacity, plain.visible) == (1.0, True) and frame is None and set(tiles) == {(0, 0)}


BAD = {
    "no image": {"data/0.png": None},
    "a folder above": {"stack.xml": stack('<layer src="../../etc/passwd"/>')},
    "no PNG": {"data/0.png": b"GIF89a"},
    "cut off": {"data/0.png": png()[:40]},
    "huge": {"data/0.png": huge_png()},
    "too wide": {"data/0.png": png(1 << 16, 1)},
    "another kind": {"mimetype": b"application/epub+zip"},
    "no kind": {"mimetype": None},
    "no stack": {"stack.xml": None},
    "a bomb of XML": {"stack.xml": stack(LAYER, head='<!DOCTYPE a [<!ENTITY b "bb">]>')},
    "a long stack": {"stack.xml": stack(LAYER) + b" " * (1 << 20)},
    "no XML": {"stack.xml": b"<image><stack>"},
    "no text": {"stack.xml": b"\xff\xfe\xff"},
    "no layers": {"stack.xml": stack()},
    "too many layers": {"stack.xml": stack(*[LAYER] * 65)},
    "no number": {"stack.xml": stack('<layer src="data/0.png" x="many"/>')},
    "infinite": {"stack.xml": stack('<layer src="data/0.png" opacity="nan"/>')},
    "far away": {"stack.xml": stack('<layer src="data/0.png" x="1e9"/>')},
    "many entries": {f"junk/{number}": b"" for number in range(1001)},
}


@pytest.mark.parametrize("name", BAD)
def test_hostile_files_are_refused(tmp_path, name):
    with pytest.raises(ImageRefused):
        read(archive(tmp_path, **BAD[name]))


def test_what_expands_is_read_no_further_than_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr(open_raster, "MOST_METADATA", 1000)
    bomb = archive(tmp_path, **{"data/0.png": png() + bytes(1 << 20)})
    with pytest.raises(ImageRefused, match="over 1036 bytes"):
        read(bomb)
    lying = bomb.read_bytes().replace(struct.pack("<I", len(png()) + (1 << 20)), struct.pack("<I", 100))
    bomb.write_bytes(lying)
    with pytest.raises(ImageRefused):
        read(bomb)
    monkeypatch.setattr(open_raster, "LARGEST_FILE", 10)
    with pytest.raises(ImageRefused, match="no regular file"):
        read(bomb)


def named(count):
    return stack(*[f'<layer src="data/{number}.png"/>' for number in range(count)])


def test_all_layers_together_unpack_no_further_than_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr(open_raster, "LARGEST_UNPACKED", 25_000)
    entries = {f"data/{number}.png": png() + bytes(10_000) for number in range(3)}
    assert len(read(archive(tmp_path, **{"stack.xml": named(2)}, **entries))[0]) == 2
    with pytest.raises(ImageRefused, match=r"data/2\.png"):
        read(archive(tmp_path, **{"stack.xml": named(3)}, **entries))


def test_an_entry_that_many_layers_name_is_unpacked_once(tmp_path, monkeypatch):
    monkeypatch.setattr(open_raster, "LARGEST_UNPACKED", 25_000)
    shared = archive(tmp_path, **{"stack.xml": stack(*[LAYER] * 64), "data/0.png": png() + bytes(20_000)})
    found = open_raster.unpack(shared, tmp_path / "unpacked")
    assert len(found.layers) == 64
    assert [path.name for path in (tmp_path / "unpacked").iterdir()] == ["0.png"]


def test_each_layer_counts_its_pixels_since_it_is_decoded_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(open_raster, "MOST_PIXELS", 100)
    with pytest.raises(ImageRefused, match="all layers"):
        read(archive(tmp_path, **{"stack.xml": stack(*[LAYER] * 26)}))


def test_what_could_not_be_opened_again_is_not_written(monkeypatch):
    monkeypatch.setattr(open_raster, "MOST_PIXELS", 2000)
    with pytest.raises(ImageRefused, match="25601 pixels"):
        open_raster.written(shown(painted()), QRect(0, 0, 64, 64))


def test_what_is_no_file_at_all(tmp_path):
    (tmp_path / "text.ora").write_text("hello")
    for path in (tmp_path / "text.ora", tmp_path / "missing.ora", tmp_path):
        with pytest.raises(MezzotintError):
            read(path)

"""OpenRaster files (.ora): layers as PNG in a ZIP, described by stack.xml.

The format: https://www.freedesktop.org/wiki/Specifications/OpenRaster. What only Mezzotint knows (kinds of layers, the
frame, the origin) is in attributes of a namespace of its own, which other programs ignore.
"""

import io
import stat
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from PySide6.QtCore import QByteArray, QRect, QXmlStreamReader, QXmlStreamWriter

from mezzotint.errors import ImageRefused
from mezzotint.trouble import shown, storage_error
from mezzotint_app.viewmodel.canvas.document import MOST_LAYERS
from mezzotint_app.viewmodel.canvas.layers import KINDS, PICTURE, Layer
from mezzotint_app.viewmodel.canvas.png import QUICK, SMALL, Shown, png_of, thumbnail_of
from mezzotint_app.viewmodel.canvas.tiles import TileStore

OWN = "https://mezzotint.invalid/canvas"  # a name, not an address
MIMETYPE = b"image/openraster"
LARGEST_FILE = 1 << 30  # bytes
MOST_ENTRIES = 1000
LARGEST_STACK = 1 << 20  # bytes of stack.xml
LARGEST_UNPACKED = 2 << 30  # bytes of all PNG entries together
MOST_METADATA = 16 << 20  # bytes of a PNG beside its pixels
LARGEST_SIDE = 1 << 15  # pixels
MOST_PIXELS = 400_000_000  # of all layers, 1.6 GB
FARTHEST = 1 << 18  # pixels that a layer may lie from the origin
_THUMBNAIL = 256
_PLAIN = Layer(id=0, kind="image", name="")  # as a layer's own pixels are written
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = 24  # bytes up to the height
_CHUNK = 1 << 20  # bytes
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """The content of a file: layers from bottom to top with their PNG files, and the frame, if it says one."""

    layers: tuple[tuple[Layer, Path], ...]
    frame: QRect | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Described:
    layer: Layer
    source: str


# ---- writing


def written(layers: list[Shown], frame: QRect, *, for_others: bool = True) -> bytes:
    """Return the file's bytes for layers from bottom to top; `for_others`: small, and with what other programs need."""
    pixels = sum((area := _own_extent(store)).width() * area.height() for _, store in layers)
    if pixels > MOST_PIXELS:
        raise ImageRefused(f"the layers have {pixels} pixels: at most {MOST_PIXELS} could be opened again; remove some")
    level = SMALL if for_others else QUICK
    whole = extent(layers)
    whole = frame if whole.isEmpty() else whole
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("mimetype", MIMETYPE)
        archive.writestr("stack.xml", _stack_xml(layers, whole, frame), zipfile.ZIP_DEFLATED)
        for number, (_, store) in enumerate(layers):
            archive.writestr(_source(number), png_of([(_PLAIN, store)], _own_extent(store), level))
        if for_others:
            seen = [(layer, store) for layer, store in layers if layer.visible and layer.kind in PICTURE]
            archive.writestr("mergedimage.png", png_of(seen, whole))
            archive.writestr("Thumbnails/thumbnail.png", thumbnail_of(seen, whole, _THUMBNAIL))
    return data.getvalue()


def extent(layers: list[Shown]) -> QRect:
    """Return the smallest rectangle around everything on these layers."""
    whole = QRect()
    for layer, store in layers:
        whole = whole.united(store.content().translated(layer.x, layer.y))
    return whole


def _own_extent(store: TileStore) -> QRect:
    found = store.content()
    return QRect(0, 0, 1, 1) if found.isEmpty() else found  # a PNG has at least a pixel


def _stack_xml(layers: list[Shown], whole: QRect, frame: QRect) -> bytes:
    text = QByteArray()
    writer = QXmlStreamWriter(text)
    writer.writeStartDocument()
    writer.writeNamespace(OWN, "mezzotint")
    writer.writeStartElement("image")
    for name, value in (("version", "0.0.3"), ("w", whole.width()), ("h", whole.height())):
        writer.writeAttribute(name, str(value))
    writer.writeAttribute(OWN, "origin", f"{whole.x()} {whole.y()}")
    writer.writeAttribute(OWN, "frame", f"{frame.x()} {frame.y()} {frame.width()} {frame.height()}")
    writer.writeStartElement("stack")
    for number, (layer, store) in reversed(list(enumerate(layers))):
        corner = _own_extent(store).topLeft()
        writer.writeStartElement("layer")
        for name, value in (
            ("name", layer.name),
            ("src", _source(number)),
            ("x", layer.x + corner.x() - whole.x()),
            ("y", layer.y + corner.y() - whole.y()),
            ("opacity", f"{layer.opacity:g}"),
            ("visibility", "visible" if layer.visible else "hidden"),
            ("composite-op", "svg:src-over"),
        ):
            writer.writeAttribute(name, str(value))
        writer.writeAttribute(OWN, "kind", layer.kind)
        writer.writeEndElement()
    writer.writeEndElement()
    writer.writeEndElement()
    writer.writeEndDocument()
    return bytes(text.data())


def _source(number: int) -> str:
    return f"data/layer{number}.png"


# ---- reading


def unpack(path: Path, folder: Path) -> Unpacked:
    """Write a file's layers as PNGs with names of our own into a new folder.

    Nothing is decoded. Raises ImageRefused, before memory is taken for what is too large, or StorageError.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_FILE:
            raise ImageRefused(f"{shown(path)} is no regular file of at most {LARGEST_FILE >> 20} MiB: choose another")
        with zipfile.ZipFile(path) as archive:
            return _unpack(archive, folder)
    except OSError as error:
        raise storage_error("read", path, error) from error
    except ImageRefused:
        raise
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise ImageRefused(f"{shown(path)} is no intact OpenRaster file: {error}") from error


def _unpack(archive: zipfile.ZipFile, folder: Path) -> Unpacked:
    if len(archive.infolist()) > MOST_ENTRIES:
        raise ImageRefused(f"the file has {len(archive.infolist())} entries: at most {MOST_ENTRIES} are allowed")
    if _entry(archive, "mimetype", 64).strip() != MIMETYPE:
        raise ImageRefused("the file is no OpenRaster file: its entry mimetype says otherwise")
    described, frame = _stack(_entry(archive, "stack.xml", LARGEST_STACK))
    folder.mkdir()
    images = _Images(archive, folder)
    layers = [(one.layer, images.file(one.source)) for one in described]
    return Unpacked(layers=tuple(reversed(layers)), frame=frame)


class _Images:
    """The PNG entries of a file, each unpacked once however many layers name it; bytes and pixels are counted."""

    def __init__(self, archive: zipfile.ZipFile, folder: Path) -> None:
        self._archive, self._folder = archive, folder
        self._unpacked: dict[str, tuple[Path, int]] = {}
        self._room, self._pixels = LARGEST_UNPACKED, 0

    def file(self, name: str) -> Path:
        """Return the file with an entry's bytes. Raises ImageRefused if all layers together would be too large."""
        if name not in self._unpacked:
            self._unpacked[name] = self._unpack(name)
        path, pixels = self._unpacked[name]
        self._count(name, pixels)
        return path

    def _unpack(self, name: str) -> tuple[Path, int]:
        info = _info(self._archive, name)
        with self._archive.open(info) as file:
            header = file.read(_HEADER)
            pixels = _pixels(header, name)
            limit = min(self._room, _most_bytes(pixels))
            path = self._folder / f"{len(self._unpacked)}.png"
            self._room -= _copy(header, file, path, name, limit)
        return path, pixels

    def _count(self, name: str, pixels: int) -> None:
        """Count a layer's pixels, also those of an entry that was named before: each layer is decoded by itself."""
        self._pixels += pixels
        if self._pixels > MOST_PIXELS:
            raise ImageRefused(
                f"with layer {shown(name)} all layers have {self._pixels} pixels: at most {MOST_PIXELS} can be opened"
            )


def _most_bytes(pixels: int) -> int:
    """What a PNG of that many pixels may need: 16 bits per channel, packed badly, with metadata."""
    return pixels * 9 + MOST_METADATA


def _copy(header: bytes, file: IO[bytes], path: Path, name: str, limit: int) -> int:
    """Write an entry to a file, and return its length; what the archive says of its size is not believed."""
    written = len(header)
    with open(path, "wb") as target:
        target.write(header)
        while data := file.read(_CHUNK):
            written += len(data)
            if written > limit:
                raise ImageRefused(
                    f"entry {shown(name)} has over {limit} bytes, more than its pixels need or is allowed"
                )
            target.write(data)
    return written


def _entry(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    """Return an entry's bytes; what it says of its size is not believed."""
    with archive.open(_info(archive, name)) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ImageRefused(f"entry {shown(name)} has over {limit} bytes: at most that many are allowed")
    return data


def _info(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise ImageRefused(f"the file has no entry {shown(name)}") from None
    if info.flag_bits & 1 or info.compress_type not in _METHODS:
        raise ImageRefused(f"entry {shown(name)} is encrypted or packed in an unknown way")
    return info


def _pixels(header: bytes, name: str) -> int:
    """Return the pixels of a PNG by its header, unless one image alone has too many."""
    if not header.startswith(_SIGNATURE) or len(header) < _HEADER:
        raise ImageRefused(f"layer {shown(name)} is no PNG image")
    width, height = struct.unpack(">II", header[_HEADER - 8 :])
    if not 0 < max(width, height) <= LARGEST_SIDE or width * height > MOST_PIXELS:
        raise ImageRefused(
            f"layer {shown(name)} has {width}x{height} pixels: at most {MOST_PIXELS // 1_000_000} megapixels and "
            f"{LARGEST_SIDE} on a side can be opened"
        )
    return int(width * height)


def _stack(data: bytes) -> tuple[list[_Described], QRect | None]:
    """Return the layers from top to bottom, groups without their grouping."""
    reader, found = QXmlStreamReader(data.decode("utf-8")), list[_Described]()
    origin: tuple[int, ...] = (0, 0)
    frame = None
    for name in _elements(reader):
        if name == "image":
            origin = _numbers(reader, "origin", 2) or (0, 0)
            values = _numbers(reader, "frame", 4)
            frame = QRect(*values) if values and min(values[2:]) >= 64 and max(values[2:]) <= LARGEST_SIDE else None
        elif name == "layer":
            found.append(_layer(reader, origin))
        if len(found) > MOST_LAYERS:
            raise ImageRefused(f"the file has over {MOST_LAYERS} layers: merge some of them")
    if not found:
        raise ImageRefused("the file has no layers")
    return found, frame


def _elements(reader: QXmlStreamReader) -> Iterator[str]:
    while not reader.atEnd():
        token = reader.readNext()
        if token in (QXmlStreamReader.TokenType.DTD, QXmlStreamReader.TokenType.EntityReference):
            raise ImageRefused("stack.xml has a document type, which OpenRaster does not: it may be an attack")
        if token == QXmlStreamReader.TokenType.StartElement:
            yield str(reader.name())
    if reader.hasError():
        raise ImageRefused(f"stack.xml cannot be read: {reader.errorString()}")


def _layer(reader: QXmlStreamReader, origin: tuple[int, ...]) -> _Described:
    def value(name: str, usual: str = "") -> str:
        found = str(reader.attributes().value(name))
        return found or usual

    kind = str(reader.attributes().value(OWN, "kind"))
    layer = Layer(
        id=0,
        kind=next((one for one in KINDS if one == kind), "image"),
        name=value("name")[:200],
        visible=value("visibility", "visible") != "hidden",
        opacity=min(max(_number(value("opacity", "1")), 0.0), 1.0),
        x=_place(value("x", "0")) + origin[0],
        y=_place(value("y", "0")) + origin[1],
    )
    return _Described(layer=layer, source=value("src"))


def _numbers(reader: QXmlStreamReader, name: str, count: int) -> tuple[int, ...] | None:
    words = str(reader.attributes().value(OWN, name)).split()
    return tuple(_place(word) for word in words) if len(words) == count else None


def _place(text: str) -> int:
    number = _number(text)
    if abs(number) > FARTHEST:
        raise ImageRefused(f"stack.xml puts something at {shown(text)}: at most {FARTHEST} pixels are allowed")
    return round(number)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ImageRefused(f"stack.xml has {shown(text)} where a number should be") from None
    if number != number or abs(number) == float("inf"):
        raise ImageRefused(f"stack.xml has {shown(text)} where a number should be")
    return number

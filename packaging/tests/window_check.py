"""The window of the installed program in a fresh Debian, from the first start to the first image, with pictures."""

import io
import shutil
import struct
from pathlib import Path

from fresh_debian import Debian
from PIL import Image

TESTS = "/tests"  # where the system sees this folder
_SIZE = "1280x720"
_FLAT = 10000  # colours that a page without images has at most
_SHOWN = ("engine", "installing", "ready", "prompt", "image")  # those of the manual; "folder" is the system's dialog


def check(system: Debian, wheels: str, output: Path, environment: str = "") -> None:
    """Drive it as the user would; writes a picture of each step."""
    system.run(
        f"{environment} cd; python3 {TESTS}/window_drive.py {wheels} $HOME/.screen {_SIZE} 2>&1",
        user="tester",
    )
    kept = system.home(".screen")
    output.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(_SHOWN, 1):
        (output / f"install-{number}-{name}.webp").write_bytes(_compressed(_read(kept / f"{name}.xwd")))
    shutil.rmtree(kept)


def _read(dump: Path) -> Image.Image:
    """Return the picture in a dump of a window (XWD, with 32 bits for a pixel, as Xvfb writes it)."""
    data = dump.read_bytes()
    header = struct.unpack_from(">25I", data)
    size, width, height, line, colours = header[0], header[4], header[5], header[12], header[19]
    pixels = data[size + 12 * colours :]
    return Image.frombytes("RGB", (width, height), pixels[: line * height], "raw", "BGRX", line)


def _compressed(image: Image.Image) -> bytes:
    """Encode as WebP: pages of text without loss in fewer colours, images with loss."""
    buffer = io.BytesIO()
    if image.getcolors(_FLAT) is None:
        image.save(buffer, "WEBP", quality=82, method=6)
    else:
        few = image.quantize(128, dither=Image.Dither.NONE).convert("RGB")
        few.save(buffer, "WEBP", lossless=True, quality=100, method=6)
    return buffer.getvalue()

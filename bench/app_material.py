"""Test data for measuring the window: separate folders, thousands of images, a long queue."""

import colorsys
import json
import os
import struct
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from mezzotint.jobs.store import JobStore
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Sampling, Stage

SIDE = 256
_LOOKS = 48  # distinct images; each file has its own prompt, size and time
_SPAN = 3 * 365 * 24 * 3600.0  # seconds over which the image dates spread
_THINGS = ("boat", "house", "tree", "lighthouse", "balloon", "castle", "tent", "car")
_PLACES = ("by the sea", "in the mountains", "in the snow", "in the desert", "in the forest", "on an island")


def environment(folder: Path, names: Mapping[str, str]) -> dict[str, str]:
    """Return an environment that isolates the user's files; bytecode is cached as for an installed program."""
    left_out = {"MEZZOTINT_MODEL_PATH", "PYTHONDONTWRITEBYTECODE", "HF_TOKEN", "HF_ENDPOINT"}
    kept = {name: value for name, value in names.items() if name not in left_out}
    folders = {"HOME": "home", "USERPROFILE": "home", "XDG_RUNTIME_DIR": "run", "PYTHONPYCACHEPREFIX": "compiled"} | {
        f"MEZZOTINT_{name}": name.lower() for name in ("CONFIG", "STATE", "CACHE", "MODELS")
    }
    for name in folders.values():
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    return kept | {name: str(folder / inside) for name, inside in folders.items()} | {"HF_HUB_OFFLINE": "1"}


def write_settings(folder: Path, images: Path) -> None:
    """Write the settings of a returning user."""
    settings = {"output_folder": str(images), "first_run_done": True, "notify": False, "keep_awake": False}
    (folder / "config").mkdir(parents=True, exist_ok=True)
    (folder / "config" / "window.json").write_text(json.dumps(settings), "utf-8")


def write_images(folder: Path, count: int) -> None:
    """Write small PNGs with another program's metadata, dated over three years, in one folder per month."""
    now, looks = time.time(), [_pixels(number / _LOOKS) for number in range(_LOOKS)]
    for number in range(count):
        made = now - _SPAN * number / count
        inside = folder / time.strftime("%Y-%m", time.gmtime(made))
        if number == 0 or not inside.is_dir():
            inside.mkdir(parents=True, exist_ok=True)
        path = inside / f"{number:06d}.png"
        path.write_bytes(b"".join(_png(looks[number % _LOOKS], _parameters(number))))
        os.utime(path, (made, made))


def fill_queue(path: Path, entries: int) -> None:
    """Write a paused queue with this many waiting entries."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with JobStore.open(path).store as store:
        store.pause()
        ids = [store.add([_request(number)]) for number in range(min(100, entries))]
        while len(ids) < entries:
            ids += store.duplicate(ids[: entries - len(ids)])


def _request(number: int) -> GenerateRequest:
    stage = Stage(model=ModelRef(id="starter-dit"), sampling=Sampling(steps=20))
    return GenerateRequest(prompt=_words(number), cascade=Cascade(stages=(stage,)), count=1 + number % 4)


def _words(number: int) -> str:
    thing, place = _THINGS[number % len(_THINGS)], _PLACES[number % len(_PLACES)]
    return f"a {thing} {place}, number {number}, painted in oil, with soft light and much sky"


def _parameters(number: int) -> bytes:
    words = (
        f"{_words(number)}\nSteps: 20, Sampler: Euler a, CFG scale: 5, Seed: {number}, Size: {SIDE}x{SIDE}, Model: m"
    )
    return b"parameters\0" + f"{words}{number % 7}".encode("latin-1")


def _pixels(hue: float) -> bytes:
    """Return a gradient as compressed PNG image data."""
    lines = []
    for y in range(SIDE):
        red, green, blue = colorsys.hsv_to_rgb(hue, 0.7, 0.3 + 0.6 * y / SIDE)
        lines.append(b"\0" + bytes((int(255 * red), int(255 * green), int(255 * blue))) * SIDE)
    return zlib.compress(b"".join(lines))


def _png(pixels: bytes, text: bytes) -> Iterator[bytes]:
    yield b"\x89PNG\r\n\x1a\n"
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    for kind, data in ((b"IHDR", header), (b"tEXt", text), (b"IDAT", pixels), (b"IEND", b"")):
        yield struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

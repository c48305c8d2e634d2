"""Run a network in ONNX in a process of its own, which reads no other file, writes none, and has limited memory."""

import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.regular_file import open_regular
from mezzotint.errors import Cancelled, ModelRefused, OutOfMemory
from mezzotint.perception.background.preprocessing import Normalization
from mezzotint.protocol import IsCancelled

if TYPE_CHECKING:
    import numpy
    import numpy.typing

MAX_FILE = 2**31 - 1  # bytes: the most that ONNX's own format can have
USUAL_SIDE = 1024  # of networks that take any
_SMALLEST, _LARGEST = 32, 4096
_LOOK_EVERY = 0.1  # seconds between cancellation checks
_NO_ROOM = 4  # exit status
_SHORT = ("bad_alloc", "allocate memory")  # in messages of onnxruntime
_NEEDS = 'removing backgrounds needs the package onnxruntime: pip install "mezzotint[background]"'


def front_of(
    image: Image.Image, path: Path, normalization: Normalization, ram: int, cancelled: IsCancelled = lambda: False
) -> Image.Image:
    """How much each pixel of an RGB image belongs to its front, "L", by the network in a file.

    `ram`: bytes that it may use. Raises ModelRefused, OutOfMemory, Cancelled.
    """
    _check_size(path)
    asked = {"size": image.size, "ram": ram, **asdict(normalization)}
    with tempfile.TemporaryDirectory(prefix="mezzotint-") as empty:
        process = subprocess.Popen(  # noqa: S603  our own interpreter with our own module
            [sys.executable, "-P", "-m", __name__, str(path.absolute()), empty],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        given: bytes | None = json.dumps(asked).encode() + b"\n" + image.tobytes()
        with process:
            while True:
                try:
                    made, log = process.communicate(given, timeout=_LOOK_EVERY)
                    break
                except subprocess.TimeoutExpired:
                    given = None
                    if cancelled():
                        process.kill()
                        raise Cancelled("stopped while a background was being removed") from None
    if process.returncode or len(made) != math.prod(image.size):
        raise _refusal(path, process.returncode, log, ram)
    return Image.frombytes("L", image.size, made)


def _check_size(path: Path) -> None:
    with open_regular(path) as file:
        bytes_ = file.seek(0, 2)
    if bytes_ > MAX_FILE:
        raise ModelRefused(f"{plain(path, 300)}: {size(bytes_)} are too much for a network in ONNX")


def _refusal(path: Path, status: int, log: bytes, ram: int) -> Exception:
    lines = log.decode("utf-8", "replace").strip().splitlines() or [f"its process ended with code {status}"]
    if status == _NO_ROOM:
        return OutOfMemory(f"{plain(path, 300)} needs more than the {size(ram)} of free RAM; close other programs")
    if lines[-1] == _NEEDS:
        return ModelRefused(_NEEDS)
    return ModelRefused(f"{plain(path, 300)}: it removes no background ({plain(lines[-1], 300)})")


# ---- in the process of its own


def _main(path: str, folder: str) -> None:
    """Write the mask of an image; `folder`: an empty one, the only one that the network could read files from."""
    os.chdir(folder)
    asked = json.loads(sys.stdin.buffer.readline())
    image = Image.frombytes("RGB", tuple(asked["size"]), sys.stdin.buffer.read())
    model = Path(path).read_bytes()
    _limit(asked["ram"] + len(model))
    try:
        made = _made(image, model, asked["mean"], asked["deviation"])
    except Exception as error:  # noqa: BLE001  whatever a hostile or damaged file leads to
        short = isinstance(error, MemoryError) or any(word in str(error) for word in _SHORT)
        raise SystemExit(_NO_ROOM if short else f"onnxruntime refuses it: {error}".replace("\n", " ")) from None
    mask = _mask(made).resize(image.size, Image.Resampling.BILINEAR)
    sys.stdout.buffer.write(mask.tobytes())


def _limit(ram: int) -> None:
    """Limit memory, and refuse every write to a file, where the system can."""
    try:
        import resource
    except ImportError:
        return
    for which, most in ((resource.RLIMIT_DATA, ram), (resource.RLIMIT_FSIZE, 0)):
        with contextlib.suppress(OSError, ValueError):  # one that the system lacks, or has set lower
            resource.setrlimit(which, (most, most))


def _made(
    image: Image.Image, model: bytes, mean: list[float], deviation: list[float]
) -> "numpy.typing.NDArray[numpy.generic]":
    """The network's first output."""
    try:
        import onnxruntime
    except ImportError:
        raise SystemExit(_NEEDS) from None
    import numpy

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    takes = session.get_inputs()
    if len(takes) != 1:
        raise SystemExit(f"it takes {len(takes)} inputs, not one image")
    width, height, dtype = _seen(takes[0].shape, takes[0].type)
    seen = numpy.asarray(image.resize((width, height), Image.Resampling.BILINEAR), dtype=numpy.float32) / 255
    pixels = ((seen - numpy.asarray(mean)) / numpy.asarray(deviation)).transpose(2, 0, 1)[None]
    return numpy.asarray(session.run([session.get_outputs()[0].name], {takes[0].name: pixels.astype(dtype)})[0])


def _seen(shape: list[object], kind: str) -> tuple[int, int, str]:
    """Width, height and dtype of what the network is given; sides that may have any length get the usual one."""
    dtypes = {"tensor(float)": "float32", "tensor(float16)": "float16"}
    if len(shape) != 4 or kind not in dtypes or (isinstance(shape[1], int) and shape[1] != 3):
        raise SystemExit(f"it takes {kind} {shape}, not an image as (1, 3, height, width)")
    height, width = (side if isinstance(side, int) and side > 0 else USUAL_SIDE for side in shape[2:])
    if not (_SMALLEST <= width <= _LARGEST and _SMALLEST <= height <= _LARGEST):
        raise SystemExit(f"it takes images of {width}x{height}; possible are {_SMALLEST} to {_LARGEST} pixels a side")
    return width, height, dtypes[kind]


def _mask(made: "numpy.typing.NDArray[numpy.generic]") -> Image.Image:
    """The mask `(1, 1, h, w)` or `(1, h, w)` that a network made: parts from 0 to 1, or logits of them."""
    import numpy

    if made.ndim not in (3, 4) or made.size != math.prod(made.shape[-2:]) or max(made.shape[-2:]) > _LARGEST:
        raise SystemExit(f"it makes an array of shape {made.shape}, not a mask")
    values = made.reshape(made.shape[-2:]).astype(numpy.float32)
    if not bool(numpy.isfinite(values).all()):
        raise SystemExit("it makes NaN: its weights are damaged")
    if values.min() < -0.01 or values.max() > 1.01:
        values = 1 / (1 + numpy.exp(-values.clip(-60, 60)))
    return Image.fromarray((values.clip(0, 1) * 255).round().astype(numpy.uint8))


if __name__ == "__main__":
    _main(*sys.argv[1:])

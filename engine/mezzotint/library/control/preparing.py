"""Make control images: by arithmetic in this process, by networks in a child process."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from mezzotint import paths
from mezzotint.catalog.looking import PREPARING
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.codec import decode
from mezzotint.control_protocol import ControlImageMade, ControlImageRequest
from mezzotint.images.control.methods import METHODS
from mezzotint.images.naming import edited_path
from mezzotint.images.reading import read_image
from mezzotint.images.writing import pixels_sha256, write_png
from mezzotint.library.child import ChildCommand, own_environment, run_child
from mezzotint.protocol import IsCancelled, OnEvent, Output

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog

_KEPT = 50  # files


def prepare_control(
    request: ControlImageRequest, make_catalog: "Callable[[], Catalog]", tell: OnEvent, cancelled: IsCancelled
) -> ControlImageMade:
    """Make and save a control image, without an output in the cache; raises what `mezzotint control` raises."""
    image = read_image(Path(request.path))
    needed = PREPARING.get(request.preprocess, ())
    networks = tuple(str(make_catalog().network_for(purpose, label)) for purpose, label in needed)
    if request.output is not None:
        return _made(request, image, tell, cancelled)
    key = f"{request.preprocess} {networks} {image.size} {pixels_sha256(image)}"
    folder = paths.cache_folder() / "controls"
    target = folder / f"{hashlib.sha256(key.encode()).hexdigest()}.png"
    if is_file(target):
        with suppress(OSError):
            os.utime(target)
        return _described(target, read_image(target), request, networks)
    made = _made(replace(request, output=str(target), overwrite=True), image, tell, cancelled)
    _remove_oldest(folder)
    return made


def _made(request: ControlImageRequest, image: Image.Image, tell: OnEvent, cancelled: IsCancelled) -> ControlImageMade:
    if request.preprocess in METHODS:
        made = METHODS[request.preprocess](image)
        path = Path(request.path)
        output = Output(path=request.output, overwrite=request.overwrite)
        target = edited_path(output, path, f"{path.stem}-{request.preprocess}.png")
        saved = write_png(made, target, overwrite=request.overwrite)
        return _described(saved, made, request, ())
    words = ["-m", "mezzotint", "control", "--jsonl", "-q", "--preprocess", request.preprocess]
    words += ["--device", request.device, *(["--overwrite"] if request.overwrite else [])]
    words += [] if request.output is None else ["-o", request.output]
    command = ChildCommand(words=(*words, "--", request.path), environ=own_environment({}), stopping="at once")
    return decode(ControlImageMade, run_child(command, tell, cancelled))


def _described(
    path: Path, image: Image.Image, request: ControlImageRequest, networks: tuple[str, ...]
) -> ControlImageMade:
    return ControlImageMade(
        path=str(path),
        width=image.width,
        height=image.height,
        sha256=pixels_sha256(image),
        preprocess=request.preprocess,
        networks=networks,
    )


def _remove_oldest(folder: Path) -> None:
    with suppress(OSError):
        files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in files[_KEPT:]:
            path.unlink(missing_ok=True)

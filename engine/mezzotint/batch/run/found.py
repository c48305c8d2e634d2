"""Find a task's image that already exists because its process died before the manifest could record it."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from mezzotint.batch.tasks.tasks import BatchTask
from mezzotint.jobs.found_images import matches_loosely, record_in
from mezzotint.protocol import ControlRef, GeneratedImage, GenerateRequest

IsAnothers = Callable[[Path], bool]  # whether a manifest records a file as the image of another task


def found_image(task: BatchTask, folder: Path, is_anothers: IsAnothers) -> GeneratedImage | None:
    """Return the image under the planned name, or under the alternatives that are used if that is taken.

    The request in its metadata must match the task's.
    """
    for path in _candidates(folder / task.output):
        if is_anothers(path):
            continue
        made = record_in(str(path))
        if made is not None and _is_of(task.request, *made):
            return replace(made[1], path=str(path))
    return None


def is_taken(path: Path) -> bool:
    """Whether the name is in use, even by a broken link."""
    return os.path.lexists(path)  # False if access is denied: then nobody can write there either


def _candidates(planned: Path) -> Iterator[Path]:
    path = planned
    for number in count(1):
        if not is_taken(path):
            return
        yield path
        path = planned.with_name(f"{planned.stem}-{number}{planned.suffix}")


def _is_of(asked: GenerateRequest, made: GenerateRequest, image: GeneratedImage) -> bool:
    return (
        image.seed == asked.seed
        and matches_loosely(asked, made)
        and asked.strength in (None, made.strength)
        and asked.inpaint in (None, made.inpaint)
        and [(one.role, one.sha256) for one in asked.images] == [(one.role, one.sha256) for one in made.images]
        and _loras(asked) == _loras(made)
        and _controls(asked) == _controls(made)
    )


def _loras(request: GenerateRequest) -> list[tuple[str, float]]:
    return [(Path(lora.path).name, lora.weight) for lora in request.loras]


def _controls(request: GenerateRequest) -> list[ControlRef]:
    """The control images, without what an earlier run did not know: paths elsewhere, and the networks' hashes."""
    named = (
        replace(control, image="", model=Path(control.model).name.removesuffix(".safetensors"), sha256=None)
        for control in request.controls
    )
    plain = (replace(control, mask=control.mask and Path(control.mask).name, mask_sha256=None) for control in named)
    return [replace(control, encoder=None, encoder_sha256=None) for control in plain]

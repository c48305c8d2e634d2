"""Build manifest records from the outcomes of tasks."""

import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path

from mezzotint.batch.manifest.record import Record, Status
from mezzotint.batch.tasks.tasks import BatchTask, Skipped
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import MezzotintError, ModelRefused, StorageError
from mezzotint.protocol import GeneratedImage, GenerateRequest, GenerateResult

_LONGEST = 1000  # characters of an error


def done_record(
    task: BatchTask, image: GeneratedImage, folder: Path, *, attempts: int, seconds: float | None, facts: dict[str, str]
) -> Record:
    """Return the record of an image that is on disk."""
    return _record(
        task,
        "done",
        output=relative(Path(image.path), folder),
        attempts=attempts,
        seconds=None if seconds is None else round(seconds, 3),
        pixels_sha256=image.sha256,
        engine=facts,
    )


def failed_record(task: BatchTask, kind: str, error: str, *, attempts: int, seconds: float | None) -> Record:
    """Return the record of a task that failed."""
    rounded = None if seconds is None else round(seconds, 3)
    return _record(task, "failed", kind=kind, error=plain(error, _LONGEST), attempts=attempts, seconds=rounded)


def set_aside_record(task: BatchTask, why: str, *, attempts: int) -> Record:
    """Return the record of a task that killed its process more than once."""
    return _record(task, "set_aside", kind="died", error=plain(why, _LONGEST), attempts=attempts)


def passed_over_record(task: BatchTask) -> Record:
    """Return the record of a task that is skipped because its file exists and is to be kept."""
    return _record(task, "skipped", kind="exists", error="a file of that name exists")


def no_task_record(skipped: Skipped) -> Record:
    """Return the record of a file or row that is no task; the key of an unreadable input ignores the reason."""
    name = f"unreadable: {skipped.input}" if skipped.is_failure else f"{skipped.kind} {skipped.input} {skipped.reason}"
    return Record(
        key=hashlib.sha256(f"no task: {name}".encode("utf-8", "surrogatepass")).hexdigest(),
        status="failed" if skipped.is_failure else "skipped",
        output="",
        input=skipped.input,
        kind=skipped.kind,
        error=plain(skipped.reason, _LONGEST),
        time=_now(),
    )


def _record(task: BatchTask, status: Status, **values: object) -> Record:
    known: dict[str, object] = {
        "key": task.key,
        "status": status,
        "output": task.output,
        "input": task.input,
        "input_hash": task.input_hash,
        "settings_hash": task.settings_hash,
        "seed": task.request.seed,
        "time": _now(),
    }
    return Record(**known | values)  # type: ignore[arg-type]


def facts_of(result: GenerateResult) -> dict[str, str]:
    """Return what an image was made with."""
    facts = {
        "device": result.device,
        "device_name": result.device_name,
        "dtype": result.dtype,
        "attention": result.attention,
        "quantization": result.quantization,
        "threads": str(result.threads),
        "mezzotint": result.versions.get("mezzotint", ""),
        "model": " + ".join(stage.model.id for stage in result.stages),
        "recoveries": "; ".join(result.recoveries),
        "vram_bytes": "" if result.memory.peak_vram_bytes is None else str(result.memory.peak_vram_bytes),
    }
    return {name: value for name, value in facts.items() if value}


def relative(path: Path, folder: Path) -> str:
    """Return the path relative to the output folder, with / as separator."""
    return Path(os.path.relpath(path, folder)).as_posix()


def change_of_input(request: GenerateRequest) -> str | None:
    """Describe an input image that has changed since the task was planned; None if none has."""
    images = [(image.path, image.sha256) for image in request.images]
    images += [(control.image, control.image_sha256) for control in request.controls]
    images += [(control.mask, control.mask_sha256) for control in request.controls if control.mask is not None]
    for path, known in images:
        if known is None:
            continue
        try:
            now = fingerprint(Path(path), None).sha256
        except (StorageError, ModelRefused) as error:
            return f"{plain(path, 300)} can no longer be read: {error}"
        if now != known:
            return f"{plain(path, 300)} has changed since the job was planned: run again to use it as it is now"
    return None


def kind_of(error: Exception) -> tuple[str, str]:
    """Return the kind and the message of an error."""
    if isinstance(error, MezzotintError):
        return error.kind, str(error)
    if isinstance(error, MemoryError):
        return "out_of_memory", "the machine's memory is used up; a smaller size needs less"
    return "bug", f"unexpected {type(error).__name__}: this is a bug, please report it"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

"""Quantize a model with the command line in a child process, so that torch is not imported into this one."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from mezzotint import paths
from mezzotint.catalog.catalog import Catalog
from mezzotint.catalog.place import at_home
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_folder
from mezzotint.errors import UsageError
from mezzotint.library.child import ChildCommand, own_environment, run_child
from mezzotint.library.downloads.eta import EtaEstimator
from mezzotint.library_protocol import QuantizeRequest
from mezzotint.protocol import SCHEMES, Event, IsCancelled, Loading, ModelInfo, ModelRef, OnEvent, Progress, Step
from mezzotint.trouble import storage_error
from mezzotint.values.sizes import MemorySize

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 64


def quantize(
    request: QuantizeRequest, make_catalog: Callable[[], Catalog], tell: OnEvent, cancelled: IsCancelled
) -> ModelInfo:
    """Write a quantized copy and return its catalog entry. A cancelled run is resumed next time. Raises UsageError."""
    if request.scheme == "none":
        raise UsageError(f"'none' does not quantize: choose {', '.join(SCHEMES)} or auto")
    if (request.scheme == "auto") != (request.target_vram_bytes is not None):
        raise UsageError(f"the scheme is {request.scheme}: auto, and only auto, needs the memory of a card")
    identity, path = make_catalog().where(ModelRef(id=request.model))
    output = _output(request, identity, path)
    if output.exists():
        raise UsageError(f"{plain(output, 300)} exists already; name another place, or remove it first")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("create", output.parent, error) from None
    words = ["quantize", str(path), "--scheme", request.scheme, "-o", str(output), "--jsonl", "-q"]
    if request.target_vram_bytes is not None:
        words += ["--target-vram", *MemorySize().to_arguments(request.target_vram_bytes)]
    if request.int8_convolutions:
        words.append("--int8-convolutions")
    run_child(_command(words), _as_progress(tell), cancelled)
    return make_catalog().at(output)


def _output(request: QuantizeRequest, identity: str, path: Path) -> Path:
    if request.output:
        return at_home(Path(request.output)).absolute()
    name = path.name if Path(identity).is_absolute() else identity
    stem = name.removesuffix(".safetensors")
    plain_name = _UNFIT.sub("-", stem.rpartition("/")[2]).strip("-._")[:_LONGEST_NAME] or "model"
    suffix = "" if is_folder(path) else ".safetensors"
    return paths.models_folder() / f"{plain_name}-{request.scheme}{suffix}"


def _command(words: Sequence[str]) -> ChildCommand:
    return ChildCommand(words=("-m", "mezzotint", *words), environ=own_environment({}), stopping="in order")


def _as_progress(tell: OnEvent) -> OnEvent:
    eta = EtaEstimator()

    def on_event(event: Event) -> None:
        if isinstance(event, Step):  # of an image that scheme auto makes to measure with
            return tell(Progress(what="sample image", done=event.step, total=event.steps, unit="steps"))
        if not isinstance(event, Loading):
            return tell(event)
        done, total = event.bytes_done, event.bytes_total
        progress = Progress(what=event.component, done=done, total=total, unit="bytes")
        return tell(replace(progress, seconds_left=eta.seconds_left(done, total)))

    return on_event

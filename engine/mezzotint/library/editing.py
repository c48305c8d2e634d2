"""Edit an image with the command line in a child process, so that torch is not imported into this one."""

from mezzotint.codec import decode
from mezzotint.library.child import ChildCommand, Stopping, own_environment, run_child
from mezzotint.library_protocol import BackgroundRemoved, BackgroundRequest, UpscaledImage, UpscaleRequest
from mezzotint.protocol import IsCancelled, OnEvent


def upscale(request: UpscaleRequest, tell: OnEvent, cancelled: IsCancelled) -> UpscaledImage:
    """Enlarge and save one image; raises what `mezzotint upscale` raises."""
    words = ["-m", "mezzotint", "upscale", "--jsonl", "-q", "--upscaler", request.upscaler, "--device", request.device]
    if request.scale is not None:
        words += ["--scale", repr(request.scale)]
    return decode(UpscaledImage, _run(words, request, tell, cancelled, stopping="in order"))


def remove_background(request: BackgroundRequest, tell: OnEvent, cancelled: IsCancelled) -> BackgroundRemoved:
    """Remove one image's background; raises what `mezzotint remove-background` raises."""
    words = ["-m", "mezzotint", "remove-background", "--jsonl", "-q"]
    words += [] if request.model is None else ["--model", request.model]
    return decode(BackgroundRemoved, _run(words, request, tell, cancelled, stopping="at once"))


def _run(
    words: list[str],
    request: UpscaleRequest | BackgroundRequest,
    tell: OnEvent,
    cancelled: IsCancelled,
    *,
    stopping: Stopping,
) -> object:
    output = [] if request.output.path is None else ["-o", request.output.path]
    command = ChildCommand(words=(*words, *output, "--", request.path), environ=own_environment({}), stopping=stopping)
    return run_child(command, tell, cancelled)

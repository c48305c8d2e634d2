"""Enlarge an image with the command line in a child process, so that torch is not imported into this one."""

from mezzotint.codec import decode
from mezzotint.library.child import ChildCommand, own_environment, run_child
from mezzotint.library_protocol import UpscaledImage, UpscaleRequest
from mezzotint.protocol import IsCancelled, OnEvent


def upscale(request: UpscaleRequest, tell: OnEvent, cancelled: IsCancelled) -> UpscaledImage:
    """Enlarge and save one image; raises what `mezzotint upscale` raises."""
    words = ["-m", "mezzotint", "upscale", "--jsonl", "-q", "--upscaler", request.upscaler, "--device", request.device]
    if request.scale is not None:
        words += ["--scale", repr(request.scale)]
    if request.output.path is not None:
        words += ["-o", request.output.path]
    command = ChildCommand(words=(*words, "--", request.path), environ=own_environment({}), stopping="in order")
    return decode(UpscaledImage, run_child(command, tell, cancelled))

"""Calls of the kernels' library, on the stream that torch computes on."""

from collections.abc import Callable

import torch

from mezzotint.dispatch.library import Arguments


def launch(call: Callable[[Arguments, int, int], None], arguments: Arguments, device: torch.device) -> None:
    """Queue a kernel on the device's current stream, with the device current while it is called."""
    index = device.index or 0
    if device.type != "cuda":
        call(arguments, index, 0)
        return
    stream = torch.cuda.current_stream(device).cuda_stream
    if index == torch.cuda.current_device():
        call(arguments, index, stream)
        return
    with torch.cuda.device(device):
        call(arguments, index, stream)

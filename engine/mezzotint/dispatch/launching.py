"""Calls into the kernel library on torch's current stream."""

from collections.abc import Callable

import torch

from mezzotint.dispatch.library import Arguments


def launch(call: Callable[[Arguments, int, int], None], arguments: Arguments, device: torch.device) -> None:
    """Queue a kernel on the device's current stream, with that device current during the call."""
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

"""Peaks of live memory, traced at single sizes."""

from collections.abc import Sequence

from torch import nn

from mezzotint.memory.footprints import tracing
from mezzotint.memory.footprints.fitting import Point
from mezzotint.memory.footprints.forward_calls import is_text, known_call
from mezzotint.memory.footprints.live_memory import counted


def traced_peaks(network: nn.Module, class_name: str, sizes: Sequence[tuple[int, int]], tokens: int) -> list[Point]:
    """The peaks at these sizes and batches; the network is unusable afterwards."""
    points = []
    with tracing.faked(network):
        for size, batch in sizes:
            with counted() as memory:
                known_call(class_name, network, size, batch, tokens)
            positions = size if is_text(class_name) else size * size
            points.append(Point(positions=positions, batch=batch, value=memory.peak))
    return points

"""Time calls, median of many rounds: device time on a GPU, wall time on a CPU."""

import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch

Call: TypeAlias = Callable[[], object]

_ROUNDS = 15
_ROUND_MS = 2.0  # minimum: the resolution of CUDA events is too coarse for less
_MOST_CALLS = 200  # per round
_BUDGET_MS = 400.0  # for all rounds; slow calls get fewer rounds, but at least three


def milliseconds(calls: Sequence[Call], device: torch.device, *, captured: bool = True) -> float:
    """Return the time of one call; `calls` do the same work on different inputs and are run in turn.

    `captured`: on a GPU in a CUDA graph, without launch overhead.
    """
    if device.type == "cuda" and captured:
        return _on_card(calls)
    for call in calls:
        call()
    return _median(calls, _by_events if device.type == "cuda" else _by_clock)


def _median(calls: Sequence[Call], clock: Callable[[Sequence[Call]], float]) -> float:
    """Median time per call over rounds long enough to measure."""
    once = clock(calls) / len(calls)
    count = max(len(calls), min(_MOST_CALLS, round(_ROUND_MS / max(once, 1e-6))))
    turns = [calls[index % len(calls)] for index in range(count)]
    rounds = max(3, min(_ROUNDS, round(_BUDGET_MS / max(once * count, 1e-6))))
    return statistics.median(clock(turns) / count for _ in range(rounds))


def _by_clock(calls: Sequence[Call]) -> float:
    start = time.perf_counter()
    for call in calls:
        call()
    return (time.perf_counter() - start) * 1000


def _on_card(calls: Sequence[Call]) -> float:
    """Time a captured CUDA graph, without launch overhead; falls back to plain calls if capture fails."""
    for call in calls:
        call()
    torch.cuda.synchronize()
    once = _by_events(calls) / len(calls)
    count = max(len(calls), min(_MOST_CALLS, round(_ROUND_MS / max(once, 1e-6))))
    turns = [calls[index % len(calls)] for index in range(count)]
    try:
        return _of_graph(turns) / count
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        warnings.warn(
            f"timed call by call, including launch overhead, because no graph could be captured: {reason}", stacklevel=3
        )
    torch.cuda.synchronize()
    return _median(calls, _by_events)


def _of_graph(calls: Sequence[Call]) -> float:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    graph.replay()
    once = _by_events([graph.replay])
    rounds = max(3, min(_ROUNDS, round(_BUDGET_MS / max(once, 1e-6))))
    return statistics.median(_by_events([graph.replay]) for _ in range(rounds))


def _by_events(calls: Sequence[Call]) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    start.record()
    for call in calls:
        call()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end))

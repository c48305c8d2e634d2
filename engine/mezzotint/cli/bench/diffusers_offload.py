"""Benchmark the offloading methods of diffusers against ours: VRAM and time of the same image."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.bench.memory_cells import How, MemoryCell, Subject, nothing_measured

METHODS = ("diffusers model offload", "diffusers sequential offload", "diffusers group offload")
_PROMPT = "a red house by the sea"


def offload_cells(subject: Subject, path: Path, how: How, resident_seconds: float | None) -> Iterator[MemoryCell]:
    """Yield a cell for each method under the lowest limit; if it cannot be measured, the cell holds the reason."""
    limit = min(how.limits, default=None)
    for method in METHODS:
        problem = _obstacle(subject, path, how)
        if problem is not None:
            yield nothing_measured(subject, limit, method=method, problem=problem)
            continue
        try:
            with how.hold(limit or 0):
                peak, seconds = _measure(method, subject, path, how)
        except Exception as error:  # noqa: BLE001  pipelines may raise anything; the cell records it
            yield nothing_measured(subject, limit, method=method, problem=plain(error, 200))
            continue
        ratio = None if resident_seconds is None else seconds / resident_seconds
        yield nothing_measured(
            subject, limit, method=method, measured_bytes=peak, seconds=seconds, ratio=ratio, precision="none"
        )


def _obstacle(subject: Subject, path: Path, how: How) -> str | None:
    if not how.device.startswith("cuda"):
        return "skipped: offloads to a card, and there is none"
    if len(subject.models) > 1:
        return "skipped: a pipeline has one model"
    return None if (path / "model_index.json").is_file() else "skipped: the model is no folder of diffusers"


def _measure(method: str, subject: Subject, path: Path, how: How) -> tuple[int, float]:
    """Return the peak bytes allocated by torch and the median seconds per image."""
    import torch
    from diffusers import DiffusionPipeline

    pipeline = DiffusionPipeline.from_pretrained(path, dtype=torch.bfloat16, local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    _offload(pipeline, method, how.device)
    torch.cuda.reset_peak_memory_stats(how.device)
    times = [_timed(pipeline, subject, how.steps) for _ in range(1 + how.repeats)]
    peak = int(torch.cuda.max_memory_allocated(how.device))
    del pipeline
    torch.cuda.empty_cache()
    return peak, statistics.median(times[1:])


def _offload(pipeline: Any, method: str, device: str) -> None:  # noqa: ANN401  any pipeline class
    import torch

    if method == METHODS[0]:
        pipeline.enable_model_cpu_offload(device=device)
    elif method == METHODS[1]:
        pipeline.enable_sequential_cpu_offload(device=device)
    else:
        pipeline.enable_group_offload(
            onload_device=torch.device(device), offload_type="block_level", num_blocks_per_group=1, use_stream=True
        )


def _timed(pipeline: Any, subject: Subject, steps: int) -> float:  # noqa: ANN401
    import torch

    generator = torch.Generator("cpu").manual_seed(7)
    began = time.perf_counter()
    pipeline(_PROMPT, width=subject.width, height=subject.height, num_inference_steps=steps, generator=generator)
    return time.perf_counter() - began

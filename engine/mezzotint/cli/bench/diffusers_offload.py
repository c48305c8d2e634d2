"""Benchmark the offloading methods of diffusers against ours: VRAM and time of the same image."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.bench.memory_cells import BenchCase, BenchSettings, MemoryCell, make_cell

METHODS = ("diffusers model offload", "diffusers sequential offload", "diffusers group offload")
_PROMPT = "a red house by the sea"


def offload_cells(
    case: BenchCase, path: Path, settings: BenchSettings, resident_seconds: float | None
) -> Iterator[MemoryCell]:
    """Yield a cell for each method under the lowest limit; if it cannot be measured, the cell holds the reason."""
    limit = min(settings.limits, default=None)
    for method in METHODS:
        problem = _obstacle(case, path, settings)
        if problem is not None:
            yield make_cell(case, limit, method=method, problem=problem)
            continue
        try:
            with settings.ballast(limit or 0):
                peak, seconds = _measure(method, case, path, settings)
        except Exception as error:  # noqa: BLE001  pipelines may raise anything; the cell records it
            yield make_cell(case, limit, method=method, problem=plain(error, 200))
            continue
        ratio = None if resident_seconds is None else seconds / resident_seconds
        yield make_cell(case, limit, method=method, measured_bytes=peak, seconds=seconds, ratio=ratio, precision="none")


def _obstacle(case: BenchCase, path: Path, settings: BenchSettings) -> str | None:
    if not settings.device.startswith("cuda"):
        return "skipped: offloading requires a CUDA device"
    if len(case.models) > 1:
        return "skipped: a pipeline has one model"
    return None if (path / "model_index.json").is_file() else "skipped: the model is not a diffusers folder"


def _measure(method: str, case: BenchCase, path: Path, settings: BenchSettings) -> tuple[int, float]:
    """Return the peak bytes allocated by torch and the median seconds per image."""
    import torch
    from diffusers import DiffusionPipeline

    pipeline = DiffusionPipeline.from_pretrained(path, dtype=torch.bfloat16, local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    _offload(pipeline, method, settings.device)
    torch.cuda.reset_peak_memory_stats(settings.device)
    times = [_timed(pipeline, case, settings.steps) for _ in range(1 + settings.repeats)]
    peak = int(torch.cuda.max_memory_allocated(settings.device))
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


def _timed(pipeline: Any, case: BenchCase, steps: int) -> float:  # noqa: ANN401
    import torch

    generator = torch.Generator("cpu").manual_seed(7)
    began = time.perf_counter()
    pipeline(_PROMPT, width=case.width, height=case.height, num_inference_steps=steps, generator=generator)
    return time.perf_counter() - began

"""Batch size: as many images as can be denoised together without changing the placement of weights."""

from dataclasses import replace

from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.planning.planner import plan
from mezzotint.memory.planning.task import Task
from mezzotint.protocol import MemoryPolicy, Plan


def with_batch(task: Task, batch: int) -> Task:
    """Return the task with this batch size in every stage."""
    return replace(task, stages=tuple(replace(stage, batch=batch) for stage in task.stages))


def largest_batch(
    task: Task, machine: MachineFacts, calibration: Calibration, policy: MemoryPolicy, most: int
) -> tuple[Task, Plan]:
    """Return the task with the largest batch up to `most` that streams no more than a single image, and its plan.

    Precision and tiles, which affect pixels, are taken from the plan for a single image.
    """
    task = replace(task, count=max(task.count, most))
    best = (task, plan(task, machine, calibration, policy))
    alone = best[1]
    if not alone.fits:
        return best
    settled = replace(
        task,
        quantization=alone.quantization,
        text_quantization=alone.text_quantization,
        vae_tile=alone.vae_tile,
    )
    low, high = 1, most
    while low < high:  # if a batch fits, so do smaller ones
        middle = (low + high + 1) // 2
        wider = with_batch(settled, middle)
        found = plan(wider, machine, calibration, policy)
        if found.fits and streams_no_more(found, alone):
            low, best = middle, (wider, found)
        else:
            high = middle - 1
    return best


def streams_no_more(plan: Plan, other: Plan) -> bool:
    """Whether every network has at least as much on the device as in `other`, on the same host tier and settings."""
    places = {(part.model, part.name): part for part in other.components}
    pairs = [(part, places[part.model, part.name]) for part in plan.components]
    settled = (plan.guidance, plan.vae_tile, plan.quantization, plan.text_quantization)
    return settled == (other.guidance, other.vae_tile, other.quantization, other.text_quantization) and all(
        part.resident_blocks >= before.resident_blocks
        and part.host == before.host
        and (not part.slots or part.pinned_bytes >= before.pinned_bytes)
        for part, before in pairs
    )

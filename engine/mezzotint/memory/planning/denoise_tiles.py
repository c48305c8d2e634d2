"""The size of the tiles that images are denoised in: the first of several for which the machine has memory."""

from collections.abc import Sequence
from dataclasses import replace

from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.planning.planner import plan
from mezzotint.memory.planning.task import Task
from mezzotint.protocol import MemoryPolicy
from mezzotint.values.sizes import AUTO_TILE, SMALLEST_TILE

Size = tuple[int, int]


_LARGER = 1.5  # times a tile along a side: images up to this size are denoised as a whole
_STEP = 64  # pixels, which all models take
_SHARES = (1.0, 0.75, 0.5)  # of the size that a model is made for
CHOICES = range(len(_SHARES))


def auto_tile(own: Size, choice: int = 0) -> int:
    """Side in pixels of the tiles for a model made for a size; later choices need less memory."""
    return max(SMALLEST_TILE, int(min(own) * _SHARES[choice]) // _STEP * _STEP)


def is_tiled(size: Size, side: int) -> bool:
    """Whether an image of a size is denoised in tiles of a side; never if that is 0."""
    return side > 0 and max(size) > _LARGER * side


def with_chosen_tiles(
    task: Task, side: int | None, machine: MachineFacts, calibration: Calibration, policy: MemoryPolicy
) -> Task:
    """The task with tiles of a side, or the largest that there is memory for, in the stages that need them."""
    sides = [auto_tile((task.stages[0].model.width, task.stages[0].model.height), choice) for choice in CHOICES]
    tasks = [_tiled(task, each) for each in (sides if side == AUTO_TILE else [side or 0])]
    return tasks[first_possible(tasks, machine, calibration, policy)]


def _tiled(task: Task, side: int) -> Task:
    return with_tiles(task, [side if is_tiled((each.width, each.height), side) else 0 for each in task.stages])


def with_tiles(task: Task, sides: Sequence[int]) -> Task:
    """The task with tiles of these sides in its stages."""
    stages = zip(task.stages, sides, strict=True)
    return replace(task, stages=tuple(replace(stage, tile=side) for stage, side in stages))


def first_possible(tasks: Sequence[Task], machine: MachineFacts, calibration: Calibration, policy: MemoryPolicy) -> int:
    """Index of the first task that fits the machine, whatever is free now, since tiles show; otherwise of the last."""
    for index, task in enumerate(tasks[:-1]):
        found = plan(task, machine, calibration, policy)
        if found.smallest_vram_bytes <= machine.vram_bytes and found.smallest_ram_bytes <= machine.ram_bytes:
            return index
    return len(tasks) - 1

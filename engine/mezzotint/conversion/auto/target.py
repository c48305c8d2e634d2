"""The memory of a card, and whether a model with weights of some size fits it by the plan."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from mezzotint.checkpoints.plain_text import size_at_least
from mezzotint.errors import UsageError
from mezzotint.memory.footprints.footprint import BlockFootprint, ComponentFootprint, ModelFootprint, Scheme
from mezzotint.memory.footprints.weight_bytes import block_of
from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.machine.probe import usual_dtype
from mezzotint.memory.planning.costs import total_bytes
from mezzotint.memory.planning.planner import DEVICE_HEADROOM, capacity, plan, with_headroom
from mezzotint.memory.planning.problem import Problem
from mezzotint.memory.planning.task import Task, task_of
from mezzotint.protocol import Plan

_EXACT: Scheme = "none"


@dataclass(frozen=True, kw_only=True)
class MemoryTarget:
    """A card that is to hold a whole denoiser, whose footprint is that in 16 bits, while it makes an image.

    The image has the model's default size. Text encoders are planned as small as they can be.
    """

    model: ModelFootprint
    machine: MachineFacts

    @cached_property
    def room(self) -> int:
        """Bytes for the denoiser's weights beside everything else in its phase; negative if that alone is too much."""
        return capacity(self.machine).vram - self._beside

    @cached_property
    def _beside(self) -> int:
        problem = Problem(self._task(self.model), self.machine, Calibration())
        uses = problem.parts(problem.leanest, 0)
        mine = next(use for use in uses if use.component.role == "denoiser")
        (phase,) = mine.phases
        others = [use.component for use in uses if phase in use.phases and use is not mine]
        weights = sum(total_bytes(each, _EXACT, problem.task.dtype) for each in others)
        return problem.fixed_bytes + problem.activations(problem.leanest, 0)[phase] + weights

    def fits(self, saved: Mapping[str, int]) -> bool:
        """Whether the whole denoiser fits if layers take that many bytes less than in 16 bits."""
        return self._weights(saved) <= self.room

    def plan(self, saved: Mapping[str, int]) -> Plan:
        """The plan for this card of the model with these layers smaller."""
        return plan(self._task(quantized(self.model, saved)), self.machine)

    def check(self, saved: Mapping[str, int]) -> None:
        """Raise UsageError if the card is too small even with as much saved as possible."""
        card = size_at_least(self.machine.vram_bytes)
        if not self.fits(saved):
            needed = with_headroom(self._beside + self._weights(saved), DEVICE_HEADROOM)
            raise UsageError(
                f"no mix of schemes keeps {self.model.id} within {card}: the smallest needs {size_at_least(needed)}; "
                "name a larger --target-vram, or stream it (mezzotint plan shows how)"
            )
        found = self.plan(saved)
        if not found.fits:
            raise UsageError(f"no mix of schemes makes {self.model.id} small enough: it {found.reasons[0]}")

    def _weights(self, saved: Mapping[str, int]) -> int:
        denoiser = quantized(self.model, saved).denoiser
        return total_bytes(denoiser, _EXACT, usual_dtype(self.machine))

    def _task(self, model: ModelFootprint) -> Task:
        return task_of([model], quantization="none", dtype=usual_dtype(self.machine))


def quantized(model: ModelFootprint, saved: Mapping[str, int]) -> ModelFootprint:
    """The model as stored with layers that take that many bytes less; no other scheme can be chosen then."""
    parts = (_smaller(part, saved) if part.role == "denoiser" else part for part in model.components)
    return replace(model, components=tuple(parts))


def _smaller(part: ComponentFootprint, saved: Mapping[str, int]) -> ComponentFootprint:
    sizes = {block.name: block.bytes[_EXACT] for block in part.blocks}
    outside = part.outside[_EXACT]
    for layer, size in saved.items():
        block = block_of(f"{layer}.weight", sizes)
        if block is None:
            outside -= size
        else:
            sizes[block] -= size
    blocks = tuple(BlockFootprint(name=name, bytes={_EXACT: size}) for name, size in sizes.items())
    return replace(part, blocks=blocks, outside={_EXACT: outside})

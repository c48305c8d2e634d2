"""Plan a training: the memory of each phase, and the least that has to be done to fit.

What changes no result comes first: checkpointing, with activations offloaded before they are computed twice again, then
splitting the batch into several passes; then the 8-bit optimizer; then quantization of the frozen weights in 8 bits;
then streaming their blocks, as few as needed; 4 bits, which lose most, come last. What the request says stays as it is.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.planning.costs import SLOTS
from mezzotint.memory.planning.phases import TILES
from mezzotint.memory.planning.problem import MARGIN
from mezzotint.training.planning.optimizer_bytes import numbers_bytes, optimizer_bytes
from mezzotint.training.planning.reasons import reasons_of, summary_of
from mezzotint.training.planning.task import TrainingTask
from mezzotint.training_protocol import (
    BaseQuantization,
    Checkpointing,
    OptimizerName,
    TrainingLevers,
    TrainingPhase,
    TrainingPlan,
)

MODES: tuple[Checkpointing, ...] = get_args(Checkpointing)
BY_BLOCKS: tuple[Checkpointing, ...] = ("blocks", "sqrt")  # what streaming and offloading need
_SCHEMES: tuple[BaseQuantization, ...] = ("none", "int8-weight", "int4")  # their gradients are exact
_COARSE = ("int4",)  # come after streaming
_OPTIMIZERS: tuple[OptimizerName, ...] = ("adamw", "adamw-8bit")


def plan_training(task: TrainingTask, machine: MachineFacts) -> TrainingPlan:
    """Return the plan; if nothing fits, that of the least memory, which then says so."""
    return _Planner(task, machine).plan()


def next_levers(
    task: TrainingTask, machine: MachineFacts, levers: TrainingLevers, *, keeps_optimizer: bool
) -> TrainingLevers | None:
    """The first levers after these with which a step needs less; None if there are none."""
    return _Planner(task, machine).after(levers, keeps_optimizer=keeps_optimizer)


def planned_phases(task: TrainingTask, levers: TrainingLevers, fixed: int = 0) -> tuple[TrainingPhase, ...]:
    """The memory of each phase with given levers; `fixed` bytes are in use besides."""
    phases = _Phases(task, fixed)
    found = [phases.text(levers), phases.images(levers), phases.network(levers)]
    return (*found, phases.samples(levers)) if task.samples else tuple(found)


@dataclass(frozen=True, slots=True)
class _Phases:
    task: TrainingTask
    fixed: int

    @property
    def pixels(self) -> int:
        return self.task.resolution**2

    def text(self, levers: TrainingLevers) -> TrainingPhase:
        weights, live = (0, 0) if levers.text_on_cpu else self.task.model.text()
        return self._phase("text", weights, activations=live)

    def images(self, levers: TrainingLevers) -> TrainingPhase:
        weights, live = self.task.model.images(self.pixels, levers.vae_tile)
        return self._phase("images", weights, activations=live)

    def network(self, levers: TrainingLevers) -> TrainingPhase:
        task, model = self.task, self.task.model
        live = model.denoiser.activations(
            levers.checkpointing,
            levers.quantization,
            round(self.pixels / model.footprint.vae_factor**2),
            levers.batch,
            task.rank,
            offloads=levers.offload_activations,
        )
        return self._phase("network", *self._held(levers), activations=live)

    def samples(self, levers: TrainingLevers) -> TrainingPhase:
        weights, live = self.task.model.samples(self.pixels, levers.vae_tile)
        parameters, _, state = self._held(levers)
        return self._phase("samples", parameters + weights, 0, state, activations=live)

    def least(self, levers: TrainingLevers) -> int:
        """Bytes of the network's phase without activations, which are slow to find."""
        return self.fixed + sum(self._held(levers))

    def _held(self, levers: TrainingLevers) -> tuple[int, int, int]:
        """Bytes of parameters, gradients and the optimizer's state."""
        shapes = self.task.model.denoiser.factor_shapes(self.task.rank)
        factors = numbers_bytes(shapes)
        weights = self.task.model.denoiser.weights(levers.quantization, levers.stream_blocks) or 0
        parameters = weights + factors * (2 if self.task.averages else 1)
        return parameters, factors, optimizer_bytes(levers.optimizer, shapes)

    def _phase(
        self, name: str, parameters: int, gradients: int = 0, optimizer: int = 0, *, activations: int
    ) -> TrainingPhase:
        return TrainingPhase(
            name=name,  # type: ignore[arg-type]
            parameters=parameters,
            gradients=gradients,
            optimizer=optimizer,
            activations=activations,
            peak=self.fixed + parameters + gradients + optimizer + activations,
        )


class _Planner:
    def __init__(self, task: TrainingTask, machine: MachineFacts) -> None:
        self._task, self._vram = task, machine.free_vram_bytes
        self._ram = machine.free_ram_bytes - machine.process_bytes
        self._fixed = machine.context_bytes + (0 if machine.one_memory else MARGIN)
        self._is_cpu = machine.one_memory
        self._phases = _Phases(task, self._fixed)

    def plan(self) -> TrainingPlan:
        candidates, chosen = self._tried()
        least = chosen or min(self._smallest(candidates), key=lambda each: self._phases.network(each).peak)
        levers = self._beside(least)
        phases = planned_phases(self._task, levers, self._fixed)
        plan = TrainingPlan(
            fits=all(phase.peak <= self._vram for phase in phases),
            vram_bytes=self._vram,
            peak_bytes=max(phase.peak for phase in phases),
            levers=levers,
            phases=phases,
            summary="",
            reasons=(),
        )
        plain = self._phases.network(candidates[0]) if plan.fits or chosen else None
        return replace(plan, summary=summary_of(plan, self._fixed), reasons=reasons_of(self._task, plan, plain))

    def after(self, levers: TrainingLevers, *, keeps_optimizer: bool) -> TrainingLevers | None:
        """The first candidate after these levers with a smaller step; what concerns other phases stays."""
        others = {"text_on_cpu": levers.text_on_cpu, "vae_tile": levers.vae_tile}
        candidates = [replace(each, **others) for each in self._candidates()]  # type: ignore[arg-type]
        first, now = candidates.index(levers) + 1 if levers in candidates else 0, self._phases.network(levers).peak
        for each in candidates[first:]:
            is_allowed = each.optimizer == levers.optimizer or not keeps_optimizer
            if is_allowed and self._phases.network(each).peak < now:
                return each
        return None

    def _tried(self) -> tuple[list[TrainingLevers], TrainingLevers | None]:
        """The candidates up to the first that fits, and that one; all if none does."""
        tried: list[TrainingLevers] = []
        for each in self._candidates():
            tried.append(each)
            if self._fits_network(each):
                return tried, each
        return tried, None

    def _candidates(self) -> Iterator[TrainingLevers]:
        """All combinations that are allowed, from the one that changes least."""
        task = self._task
        optimizers = (task.optimizer,) if task.optimizer is not None else _OPTIMIZERS[: 1 + task.has_8bit]
        for scheme, streams in self._bases():
            for optimizer, batch, way in itertools.product(optimizers, self._batches(), self._ways(streams)):
                levers = TrainingLevers(
                    checkpointing=way[0],
                    offload_activations=way[1],
                    optimizer=optimizer,
                    quantization=scheme,
                    batch=batch,
                    accumulate=task.accumulate * (task.batch // batch),
                )
                yield self._streaming(levers) if streams else levers

    def _bases(self) -> Iterator[tuple[BaseQuantization, bool]]:
        """Precisions of the frozen weights, and whether their blocks are streamed."""
        task, denoiser = self._task, self._task.model.denoiser
        wanted = (task.quantization,) if task.quantization is not None else _SCHEMES
        usable = [scheme for scheme in wanted if denoiser.weights(scheme) is not None]
        if task.stream_blocks is not None:
            yield from ((scheme, task.stream_blocks > 0) for scheme in usable)
            return
        for are_coarse in (False, True):
            group = [scheme for scheme in usable if (scheme in _COARSE) == are_coarse]
            yield from ((scheme, False) for scheme in group)
            if group and self._can_stream(group[-1]):
                yield group[-1], True

    def _can_stream(self, scheme: BaseQuantization) -> bool:
        denoiser, by_blocks = self._task.model.denoiser, self._task.checkpointing in (None, *BY_BLOCKS)
        fits_ram = not self._is_cpu and (denoiser.weights(scheme) or 0) <= self._ram
        return by_blocks and fits_ram and denoiser.blocks > min(SLOTS)

    def _ways(self, streams: bool) -> Iterator[tuple[Checkpointing, bool]]:
        """Kinds of checkpointing, each without and with offloading, which costs less than computing twice again."""
        task, modes = self._task, BY_BLOCKS if streams else MODES
        for mode in modes if task.checkpointing is None else (task.checkpointing,):
            usual = mode == "blocks" or task.checkpointing is not None
            offers = (False, True) if mode in BY_BLOCKS and usual and not self._is_cpu else (False,)
            for offloads in offers if task.offload_activations is None else (task.offload_activations,):
                if mode in BY_BLOCKS or not offloads:
                    yield mode, offloads

    def _streaming(self, levers: TrainingLevers) -> TrainingLevers:
        """Stream as many blocks as asked for, or as few as are needed."""
        denoiser, wanted = self._task.model.denoiser, self._task.stream_blocks
        if wanted is not None:
            return replace(levers, stream_blocks=min(wanted, denoiser.blocks))
        every = replace(levers, stream_blocks=denoiser.blocks)
        if self._phases.least(every) > self._vram:
            return every
        others = self._phases.network(every).peak - (denoiser.weights(levers.quantization, denoiser.blocks) or 0)
        for count in range(min(SLOTS) + 1, denoiser.blocks):
            if others + (denoiser.weights(levers.quantization, count) or 0) <= self._vram:
                return replace(levers, stream_blocks=count)
        return every

    def _batches(self) -> Iterator[int]:
        """The batch, and equal parts of it."""
        batch = self._task.batch
        yield batch
        while self._task.may_split and batch % 2 == 0:
            batch //= 2
            yield batch

    def _smallest(self, candidates: Sequence[TrainingLevers]) -> list[TrainingLevers]:
        """Those of the smallest batch with the least beside activations, which are slow to find for all."""
        batch, held = min(each.batch for each in candidates), min(map(self._phases.least, candidates))
        return [each for each in candidates if each.batch == batch and self._phases.least(each) == held]

    def _fits_network(self, levers: TrainingLevers) -> bool:
        return self._phases.least(levers) <= self._vram and self._phases.network(levers).peak <= self._vram

    def _beside(self, levers: TrainingLevers) -> TrainingLevers:
        """Choose what concerns the other phases."""
        if not self._is_cpu and self._phases.text(levers).peak > self._vram:
            levers = replace(levers, text_on_cpu=True)
        for tile in (0, *TILES):
            levers = replace(levers, vae_tile=tile if tile < self._task.resolution else 0)
            peaks = [self._phases.images(levers).peak]
            peaks += [self._phases.samples(levers).peak] if self._task.samples else []
            if max(peaks) <= self._vram:
                break
        return levers

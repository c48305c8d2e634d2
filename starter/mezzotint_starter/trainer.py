"""Training loop: AdamW, learning rate schedule, weight averaging (EMA), and checkpoints.

On several devices, a process for each computes its share of every batch; torch's DistributedDataParallel averages the
gradients. The first process writes the state.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from mezzotint.training.distributed import Processes
from mezzotint.training.sharding import replicated
from mezzotint_starter.progress import Progress
from mezzotint_starter.state import load_tensors, save_tensors

MOMENTS = ("exp_avg", "exp_avg_sq")
LossFunction = Callable[[], Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSchedule:
    """Length and learning rate schedule of a phase.

    Each batch is split over `parts` threads, each with single-threaded operations: on a few shared cores that is
    several times faster than multi-threaded operations, which synchronize hundreds of times per step.
    """

    phase: str
    steps: int
    peak_lr: float
    parts: int = 1
    warm_up: int = 100
    decay_share: float = 0.4
    ema_decay: float = 0.998
    betas: tuple[float, float] = (0.9, 0.98)
    save_seconds: float = 120.0


def learning_rate(schedule: TrainingSchedule, step: int) -> float:
    """Return the learning rate of a step: linear warm-up, plateau, then cosine decay to one hundredth."""
    rise = min(1.0, (step + 1) / max(1, min(schedule.warm_up, schedule.steps // 5)))
    falling = schedule.steps * schedule.decay_share
    along = max(0.0, step - (schedule.steps - falling)) / max(1.0, falling)
    return schedule.peak_lr * rise * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1.0, along))))


class Trainer:
    """A network, its optimizer and its moving average, without frozen weights; `step` is the number of steps taken."""

    def __init__(self, network: nn.Module, schedule: TrainingSchedule) -> None:
        self.network, self.schedule, self.step = network, schedule, 0
        self.parameters = {name: value for name, value in network.named_parameters() if value.requires_grad}
        self.averages = {name: value.detach().clone() for name, value in self.parameters.items()}
        self.optimizer = torch.optim.AdamW(
            self.parameters.values(), lr=schedule.peak_lr, betas=schedule.betas, weight_decay=0.01
        )
        self.pool = ThreadPoolExecutor()
        self.processes = Processes.of_environment()
        self._shared = replicated(network, some_unused=True) if self.processes.count > 1 else None

    def train_step(self, losses: Sequence[LossFunction]) -> float:
        """Take one optimizer step on the mean of the losses, each computed in its own thread; return that mean.

        Of several processes, each has one loss.
        """
        if self._shared is not None:
            return self._shared_step(losses[0])
        found = list(self.pool.map(self._gradients, losses)) if len(losses) > 1 else [self._gradients(losses[0])]
        for place, value in enumerate(self.parameters.values()):
            given = [each for _, gradients in found if (each := gradients[place]) is not None]
            value.grad = torch.stack(given).mean(dim=0) if given else None
        self._optimizer_step()
        return sum(loss for loss, _ in found) / len(found)

    def _shared_step(self, loss: LossFunction) -> float:
        self.optimizer.zero_grad()
        value: Tensor = self._shared(loss)  # type: ignore[misc]  # there is one
        # A loss may pass through other networks, whose weights get no gradients.
        torch.autograd.backward(value, inputs=list(self.parameters.values()))
        self._optimizer_step()
        return self.processes.total(float(value.detach())) / self.processes.count

    def _gradients(self, loss: LossFunction) -> tuple[float, tuple[Tensor | None, ...]]:
        value = loss()
        gradients = torch.autograd.grad(value, list(self.parameters.values()), allow_unused=True)
        return float(value.detach()), gradients

    def _optimizer_step(self) -> None:
        nn.utils.clip_grad_norm_(self.parameters.values(), 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.schedule, self.step)
        self.optimizer.step()
        self.step += 1
        self._update_averages()

    @torch.no_grad()
    def _update_averages(self) -> None:
        keep = min(self.schedule.ema_decay, self.step / (self.step + 10))
        values = [value.detach() for value in self.parameters.values()]
        torch._foreach_lerp_(list(self.averages.values()), values, 1 - keep)

    @torch.no_grad()
    def take_averages(self) -> None:
        """Replace the network's weights with the moving average, at the end of training."""
        for name, value in self.parameters.items():
            value.copy_(self.averages[name])

    @torch.no_grad()
    def swap_averages(self) -> None:
        """Swap weights and averages: once before drawing samples, and again before training continues."""
        for name, value in self.parameters.items():
            kept = value.detach().clone()
            value.copy_(self.averages[name])
            self.averages[name] = kept

    def tensors(self) -> dict[str, Tensor]:
        """Return all tensors needed to resume: weights, averages and both Adam moments."""
        held: dict[str, Tensor] = {f"weight.{name}": value for name, value in self.parameters.items()}
        held |= {f"average.{name}": value for name, value in self.averages.items()}
        for name, value in self.parameters.items():
            kept = self.optimizer.state.get(value, {})
            held |= {f"{moment}.{name}": kept[moment] for moment in MOMENTS if moment in kept}
        return held

    @torch.no_grad()
    def restore(self, tensors: dict[str, Tensor], step: int) -> None:
        """Restore the state that `tensors` returned after `step` steps."""
        self.step = step
        for name, value in self.parameters.items():
            value.copy_(tensors[f"weight.{name}"])
            self.averages[name].copy_(tensors[f"average.{name}"])
            if f"exp_avg.{name}" in tensors:
                moments = {moment: tensors[f"{moment}.{name}"].to(value.device) for moment in MOMENTS}
                self.optimizer.state[value] = {"step": torch.tensor(float(step)), **moments}


def train(
    trainer: Trainer, state: Path, loss_at: Callable[[int, slice], Tensor], after: Callable[[], None] = lambda: None
) -> None:
    """Run a phase to its end, resuming from its state file.

    `loss_at` returns the loss of a step over a slice of its batch; `after` is called after each step.
    """

    def advance(step: int) -> float:
        return trainer.train_step(shard_losses(loss_at, step, trainer.schedule.parts))

    train_together({"": trainer}, state, advance, after)
    trainer.take_averages()


def train_together(
    trainers: Mapping[str, Trainer],
    state: Path,
    advance: Callable[[int], float],
    after: Callable[[], None] = lambda: None,
) -> None:
    """Run a phase of several networks in lockstep; `advance` takes one step and returns the first network's loss."""
    leader = next(iter(trainers.values()))
    restore_state(trainers, state)
    progress = Progress(leader.schedule.phase, leader.schedule.steps, first=leader.step)
    saved = time.monotonic()
    while leader.step < leader.schedule.steps:
        progress.advance(leader.step, advance(leader.step))
        if time.monotonic() - saved > leader.schedule.save_seconds:
            save_state(trainers, state)
            saved = time.monotonic()
        after()
    save_state(trainers, state)


def shard_losses(loss_at: Callable[[int, slice], Tensor], step: int, parts: int) -> list[LossFunction]:
    """Return one loss function for each interleaved shard of a step's batch; of several processes, this one's."""
    processes = Processes.of_environment()
    if processes.count > 1:
        return [partial(loss_at, step, slice(processes.rank, None, processes.count))]
    return [partial(loss_at, step, slice(part, None, parts)) for part in range(parts)]


def save_state(trainers: Mapping[str, Trainer], state: Path) -> None:
    """Save the trainers' states to one file, in the first process."""
    if not Processes.of_environment().is_first:
        return
    tensors = {prefix + name: value for prefix, each in trainers.items() for name, value in each.tensors().items()}
    save_tensors(state, tensors, {"step": next(iter(trainers.values())).step}, keep_previous=True)


def restore_state(trainers: Mapping[str, Trainer], state: Path) -> None:
    """Restore the trainers from the state file, if it exists."""
    held = load_tensors(state)
    if held is None:
        return
    tensors, numbers = held
    for prefix, trainer in trainers.items():
        own = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
        trainer.restore(own, numbers["step"])

"""The training loop: optimizer steps on batches that depend on the step alone, so that a resumed run is the same."""

import hashlib
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mezzotint.errors import MezzotintError, ModelRefused
from mezzotint.families.family import Conditioning, Family, LoadedModel
from mezzotint.families.guidance import guide
from mezzotint.families.text.conditionings import half_of, moved, shape_of
from mezzotint.training.adapters.adapter import Adapter
from mezzotint.training.averages import MovingAverage, evaluated
from mezzotint.training.distillation import Consistency, Imitation
from mezzotint.training.distributed import ALONE, Processes, whole
from mezzotint.training.objective import Ask, Asked, Objective
from mezzotint.training.optimizers import set_rate
from mezzotint.training.sharding import spread
from mezzotint.training.state import load_state, save_state
from mezzotint.training_protocol import OptimizerName, RateSchedule, Shard

_CLIP = 1.0  # norm of the gradients
_WARM_UP = 0.05  # share of the steps
_VALIDATION_LEVELS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedImage:
    """An encoded image with one of its captions."""

    latents: Tensor  # (c, h, w), on the CPU
    conditioning: Conditioning  # (1, ...), on the CPU
    mask: Tensor | None = None  # (1, h, w): weights of the loss
    noise: Tensor | None = None  # (c, h, w), if it is always the same
    teacher: Conditioning | None = None  # that of the teacher, with guidance; (2, ...), on the CPU

    @property
    def shape(self) -> Hashable:
        """A key that is equal for images that can be in one pass."""
        taught = None if self.teacher is None else shape_of(self.teacher)
        return self.latents.shape, shape_of(self.conditioning), self.mask is None, taught


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Length of the training, and the learning rate at each step."""

    steps: int
    peak: float
    schedule: RateSchedule
    optimizer: OptimizerName
    ema: float = 0.0
    accumulate: int = 1
    seed: int = 0
    shard: Shard = "none"

    def at(self, step: int) -> float:
        """Learning rate of a step, from 0: a linear warm-up, then constant or a cosine down to a tenth."""
        warm_up = max(1, round(self.steps * _WARM_UP))
        if step < warm_up:
            return self.peak * (step + 1) / warm_up
        if self.schedule == "constant":
            return self.peak
        along = (step - warm_up) / max(1, self.steps - warm_up)
        return self.peak * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * along)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pass:
    """Images of equal shape that go through the network together."""

    images: list[TrainedImage]
    noise: Tensor
    levels: Tensor
    weight: float  # of each image's loss


BatchAt = Callable[[int], Sequence[TrainedImage]]  # by number of the batch, from 0


class Trainer:
    """An adapter, its optimizer and its average; `step` is the number of steps taken."""

    def __init__(
        self,
        family: Family,
        model: LoadedModel,
        objective: Objective | Consistency | Imitation,
        adapter: Adapter,
        rates: Rates,
        processes: Processes = ALONE,
    ) -> None:
        self._family, self._model, self._objective = family, model, objective
        self.adapter, self.rates, self.step, self._processes = adapter, rates, 0, processes
        self.is_settled = True  # whether all numbers are those after a step, so that they can be saved
        network = model.networks[family.denoiser_component]
        self._devices = spread(rates.shard, processes, adapter, network, model.device)
        self._optimizer = self._devices.optimizer(rates.optimizer, rates.peak)
        self._scaler = torch.amp.GradScaler(model.device.type, enabled=model.dtype == torch.float16)
        self._average = MovingAverage(adapter.parameters(), rates.ema) if rates.ema else None

    def train_step(self, batch_at: BatchAt) -> float:
        """Take an optimizer step; returns the mean loss. Raises MezzotintError if that is not finite."""
        end, total = (self.step + 1) * self.rates.accumulate, 0.0
        with self.adapter.attached():
            for number in range(self.step * self.rates.accumulate, end):
                passes = self._passes(batch_at(number), number)
                for each in passes:
                    with self._devices.exchanging(is_last=number == end - 1 and each is passes[-1]):
                        total += self._accumulate(each)
        loss = self._processes.total(total) / self.rates.accumulate
        if not math.isfinite(loss):
            raise MezzotintError(
                f"the loss of step {self.step + 1} is {loss}: training stopped before it spoils the LoRA; lower the "
                "learning rate, or use --dtype float32; what was saved is kept"
            )
        self._optimizer_step()
        return loss

    def validation_loss(
        self, images_now: Callable[[], Sequence[TrainedImage]], at_once: int = _VALIDATION_LEVELS
    ) -> float:
        """Mean loss of images, as they are encoded now, at fixed noise and noise levels, `at_once` in each pass."""
        levels, total = self._objective.spread(_VALIDATION_LEVELS), 0.0
        with self.adapter.attached(), self.averaged(), torch.no_grad():
            images = images_now()
            for place, image in enumerate(images):
                generator = _generator(0, "validation", place)
                noise = torch.randn(_VALIDATION_LEVELS, *image.latents.shape, generator=generator)
                for first in range(0, _VALIDATION_LEVELS, at_once):
                    some = levels[first : first + at_once]
                    total += float(self._losses([image] * len(some), noise[first : first + at_once], some).sum())
        return total / _VALIDATION_LEVELS / len(images)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Context manager: the parameters are as they are to be used: whole, and their average if one is kept."""
        average: AbstractContextManager[None] = nullcontext()
        if self._average is not None:
            average = self._average.applied()
        elif self.rates.optimizer == "schedule-free":
            average = evaluated(self._optimizer, self.adapter.parameters())
        self.is_settled = False
        with average, self._devices.gathered():
            yield
        self.is_settled = True

    def save(self, path: Path, numbers: dict[str, Any]) -> None:
        """Write everything needed to go on; the first process does, with the help of the others."""
        tensors, states = self._devices.state(self._optimizer)
        named = self.adapter.named()
        tensors |= {f"parameter.{name}": whole(value) for name, value in named.items()}
        if self._average is not None:
            averages = zip(named, self._average.values, strict=True)
            tensors |= {f"average.{name}": whole(value) for name, value in averages}
        if self._scaler.is_enabled():
            states["scaler"] = self._scaler.state_dict()
        if self._processes.is_first:
            save_state(path, tensors, {**numbers, **states, "step": self.step})

    def restore(self, path: Path) -> dict[str, Any]:
        """Go on from what `save` wrote; returns its numbers. Raises ModelRefused for the state of another training."""
        tensors, numbers = load_state(path)
        named = self.adapter.named()
        shapes = {name: tensors.get(f"parameter.{name}") for name in named}
        if any(each is None or each.shape != named[name].shape for name, each in shapes.items()):
            raise ModelRefused(f"{path}: the state of a training with other layers or another rank")
        for place, (name, parameter) in enumerate(named.items()):
            self._devices.set(parameter, tensors[f"parameter.{name}"])
            if self._average is not None:
                self._devices.set(self._average.values[place], tensors[f"average.{name}"])
        self._devices.restore(self._optimizer, (tensors, numbers))
        if "scaler" in numbers:
            self._scaler.load_state_dict(numbers["scaler"])
        self.step = int(numbers["step"])
        return numbers

    def _passes(self, batch: Sequence[TrainedImage], number: int) -> list[_Pass]:
        """This process's share of a batch, one pass for each shape, as many in every process.

        Noise is drawn for the whole batch, so that it does not depend on how many processes there are.
        """
        generator = _generator(self.rates.seed, "step", number)
        levels = self._objective.draw(len(batch), generator)
        noise = [torch.randn(image.latents.shape, generator=generator) for image in batch]
        noise = [drawn if image.noise is None else image.noise for image, drawn in zip(batch, noise, strict=True)]
        groups: dict[Hashable, list[int]] = {}
        for place, image in enumerate(batch):
            groups.setdefault(image.shape, []).append(place)
        passes: list[_Pass] = []
        for turn, group in enumerate(groups.values()):
            own = self._processes.share(group, number + turn)
            places = own or group[:1]  # with a weight of 0, for the others wait for this process
            passes.append(
                _Pass(
                    images=[batch[place] for place in places],
                    noise=torch.stack([noise[place] for place in places]),
                    levels=levels[places],
                    weight=1 / len(batch) if own else 0.0,
                )
            )
        return passes

    def _accumulate(self, each: _Pass) -> float:
        """Add the gradients of a pass to those of the step; returns its part of the loss."""
        losses = self._devices.run(lambda: self._losses(each.images, each.noise, each.levels))
        loss = losses.sum() * each.weight
        share = self._processes.count / self.rates.accumulate  # the processes' gradients are averaged, not added up
        self._scaler.scale(loss * share).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def _losses(self, images: Sequence[TrainedImage], noise: Tensor, levels: Tensor) -> Tensor:
        """Loss of each image; all of the same shape."""
        clean = torch.stack([image.latents for image in images])
        masks = [image.mask for image in images if image.mask is not None]
        mask = torch.stack(masks) if masks else None
        return self._objective.losses(self._asked(images), clean, noise, levels, mask)

    def _asked(self, images: Sequence[TrainedImage]) -> Asked:
        trained = self._ask([image.conditioning for image in images])

        def averaged(sample: Tensor, timesteps: Tensor) -> Tensor:
            with torch.no_grad(), nullcontext() if self._average is None else self._average.applied():
                return trained(sample, timesteps)

        def original(sample: Tensor, timesteps: Tensor) -> Tensor:
            with torch.no_grad(), self.adapter.detached():
                return trained(sample, timesteps)

        def teacher(sample: Tensor, timesteps: Tensor) -> Tensor:
            taught = self._family.join([image.teacher or image.conditioning for image in images])
            with torch.no_grad(), self.adapter.detached():
                if not taught.guided:
                    return self._ask([taught])(sample, timesteps)
                halves = [self._ask([half_of(taught, half)])(sample, timesteps) for half in (0, 1)]
            how = taught.sampling
            return guide(torch.cat(halves), how.guidance_scale or 0.0, how.guidance_rescale or 0.0)

        return Asked(trained=trained, averaged=averaged, original=original, teacher=teacher)

    def _ask(self, conditionings: Sequence[Conditioning]) -> Ask:
        device = self._model.device
        conditioning = moved(self._family.join(conditionings), device)

        def ask(sample: Tensor, timesteps: Tensor) -> Tensor:
            return self._family.predict(self._model, sample.to(device), timesteps.to(device), conditioning).cpu()

        return ask

    def _optimizer_step(self) -> None:
        parameters, self.is_settled = self.adapter.parameters(), False
        self._scaler.unscale_(self._optimizer)
        nn.utils.clip_grad_norm_(parameters, _CLIP)
        set_rate(self._optimizer, self.rates.at(self.step))
        self._scaler.step(self._optimizer)
        self._scaler.update()
        self._optimizer.zero_grad(set_to_none=True)
        self.step += 1
        if self._average is not None:
            self._average.update(self.step)
        self.is_settled = True


def _generator(seed: int, what: str, number: int) -> torch.Generator:
    """Random numbers of a step; on the CPU, whatever the device."""
    digest = hashlib.sha256(f"{seed} {what} {number}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "little"))

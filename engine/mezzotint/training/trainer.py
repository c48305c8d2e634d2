"""The training loop: optimizer steps on batches that depend on the step alone, so that a resumed run is the same."""

import hashlib
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mezzotint.errors import MezzotintError
from mezzotint.families.family import Conditioning, Family, LoadedModel
from mezzotint.families.text.conditionings import moved, shape_of
from mezzotint.training.adapters.adapter import Adapter
from mezzotint.training.objective import Objective
from mezzotint.training.optimizers import build_optimizer
from mezzotint.training.state import load_state, optimizer_state, restore_optimizer, save_state
from mezzotint.training_protocol import OptimizerName, RateSchedule

_CLIP = 1.0  # norm of the gradients
_WARM_UP = 0.05  # share of the steps
_VALIDATION_LEVELS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedImage:
    """An encoded image with one of its captions."""

    latents: Tensor  # (c, h, w), on the CPU
    conditioning: Conditioning  # (1, ...), on the CPU
    mask: Tensor | None = None  # (1, h, w): weights of the loss

    @property
    def shape(self) -> Hashable:
        """A key that is equal for images that can be in one pass."""
        return self.latents.shape, shape_of(self.conditioning), self.mask is None


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

    def at(self, step: int) -> float:
        """Learning rate of a step, from 0: a linear warm-up, then constant or a cosine down to a tenth."""
        warm_up = max(1, round(self.steps * _WARM_UP))
        if step < warm_up:
            return self.peak * (step + 1) / warm_up
        if self.schedule == "constant":
            return self.peak
        along = (step - warm_up) / max(1, self.steps - warm_up)
        return self.peak * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * along)))


BatchAt = Callable[[int], Sequence[TrainedImage]]  # by number of the batch, from 0


class Trainer:
    """An adapter, its optimizer and its average; `step` is the number of steps taken."""

    def __init__(
        self, family: Family, model: LoadedModel, objective: Objective, adapter: Adapter, rates: Rates
    ) -> None:
        self._family, self._model, self._objective = family, model, objective
        self.adapter, self.rates, self.step = adapter, rates, 0
        self._optimizer = build_optimizer(rates.optimizer, adapter.groups(), rates.peak)
        self._scaler = torch.amp.GradScaler(model.device.type, enabled=model.dtype == torch.float16)
        self._averages = [each.detach().clone() for each in adapter.parameters()] if rates.ema else []

    def train_step(self, batch_at: BatchAt) -> float:
        """Take an optimizer step; returns the mean loss. Raises MezzotintError if that is not finite."""
        total = 0.0
        with self.adapter.attached():
            for part in range(self.rates.accumulate):
                number = self.step * self.rates.accumulate + part
                total += self._accumulate(batch_at(number), _generator(self.rates.seed, "step", number))
        loss = total / self.rates.accumulate
        if not math.isfinite(loss):
            raise MezzotintError(
                f"the loss of step {self.step + 1} is {loss}: training stopped before it spoils the LoRA; lower the "
                "learning rate, or use --dtype float32; what was saved is kept"
            )
        self._optimizer_step()
        return loss

    def validation_loss(self, images_now: Callable[[], Sequence[TrainedImage]]) -> float:
        """Mean loss of images, as they are encoded now, at fixed noise and noise levels."""
        levels, total = self._objective.spread(_VALIDATION_LEVELS), 0.0
        with self.adapter.attached(), self.averaged(), torch.no_grad():
            images = images_now()
            for place, image in enumerate(images):
                generator = _generator(0, "validation", place)
                noise = torch.randn(_VALIDATION_LEVELS, *image.latents.shape, generator=generator)
                total += float(self._losses([image] * _VALIDATION_LEVELS, noise, levels).mean())
        return total / len(images)

    def averaged(self) -> "_Swapped":
        """Context manager: the parameters are their moving average, if there is one."""
        return _Swapped(self.adapter.parameters(), self._averages)

    def save(self, path: Path, numbers: dict[str, Any]) -> None:
        """Write everything needed to go on."""
        tensors, states = optimizer_state(self._optimizer)
        names = list(self.adapter.named())
        tensors |= {f"parameter.{name}": value for name, value in self.adapter.named().items()}
        tensors |= {f"average.{name}": value for name, value in zip(names, self._averages, strict=False)}
        if self._scaler.is_enabled():
            states["scaler"] = self._scaler.state_dict()
        save_state(path, tensors, {**numbers, **states, "step": self.step})

    def restore(self, path: Path) -> dict[str, Any]:
        """Go on from what `save` wrote; returns its numbers. Raises ModelRefused for the state of another training."""
        from mezzotint.errors import ModelRefused

        tensors, numbers = load_state(path)
        named = self.adapter.named()
        shapes = {name: tensors.get(f"parameter.{name}") for name in named}
        if any(each is None or each.shape != named[name].shape for name, each in shapes.items()):
            raise ModelRefused(f"{path}: the state of a training with other layers or another rank")
        for place, (name, parameter) in enumerate(named.items()):
            parameter.data.copy_(tensors[f"parameter.{name}"])
            if self._averages:
                self._averages[place].copy_(tensors[f"average.{name}"])
        restore_optimizer(self._optimizer, tensors, numbers)
        if "scaler" in numbers:
            self._scaler.load_state_dict(numbers["scaler"])
        self.step = int(numbers["step"])
        return numbers

    def _accumulate(self, batch: Sequence[TrainedImage], generator: torch.Generator) -> float:
        """Add the gradients of a batch's mean loss, one pass for each shape; returns the loss."""
        levels = self._objective.draw(len(batch), generator)
        noise = [torch.randn(image.latents.shape, generator=generator) for image in batch]
        groups: dict[Hashable, list[int]] = {}
        for place, image in enumerate(batch):
            groups.setdefault(image.shape, []).append(place)
        total = 0.0
        for places in groups.values():
            losses = self._losses(
                [batch[place] for place in places], torch.stack([noise[place] for place in places]), levels[places]
            )
            loss = losses.sum() / len(batch)
            self._scaler.scale(loss / self.rates.accumulate).backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        return total

    def _losses(self, images: Sequence[TrainedImage], noise: Tensor, levels: Tensor) -> Tensor:
        """Loss of each image; all of the same shape."""
        device, objective = self._model.device, self._objective
        clean = torch.stack([image.latents for image in images])
        sample = objective.mixed(clean, noise, levels).to(device)
        conditioning = moved(self._family.join([image.conditioning for image in images]), device)
        predicted = self._family.predict(self._model, sample, objective.timesteps(levels).to(device), conditioning)
        masks = [image.mask for image in images if image.mask is not None]
        mask = torch.stack(masks) if masks else None
        return objective.loss(predicted.cpu(), objective.target(clean, noise, levels), levels, mask)

    def _optimizer_step(self) -> None:
        parameters = self.adapter.parameters()
        self._scaler.unscale_(self._optimizer)
        nn.utils.clip_grad_norm_(parameters, _CLIP)
        for group in self._optimizer.param_groups:
            group["lr"] = self.rates.at(self.step) * group["share"]
        self._scaler.step(self._optimizer)
        self._scaler.update()
        self._optimizer.zero_grad(set_to_none=True)
        self.step += 1
        if self._averages:
            keep = min(self.rates.ema, self.step / (self.step + 10))
            with torch.no_grad():
                torch._foreach_lerp_(self._averages, [each.detach() for each in parameters], 1 - keep)


class _Swapped:
    """Exchanges parameters and their averages while it is entered."""

    def __init__(self, parameters: list[Tensor], averages: list[Tensor]) -> None:
        self._pairs = list(zip(parameters, averages, strict=False))

    def __enter__(self) -> None:
        self._exchange()

    def __exit__(self, *_: object) -> None:
        self._exchange()

    def _exchange(self) -> None:
        for place, (parameter, other) in enumerate(self._pairs):
            self._pairs[place] = (parameter, parameter.data)
            parameter.data = other


def _generator(seed: int, what: str, number: int) -> torch.Generator:
    """Random numbers of a step; on the CPU, whatever the device."""
    digest = hashlib.sha256(f"{seed} {what} {number}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "little"))

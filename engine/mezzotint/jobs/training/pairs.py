"""Pairs of noise and the image that a model makes of it, to teach the model to make it in few steps.

Trained on such pairs, a flow model's paths from noise to image become straight (reflow, arXiv 2209.03003), so that few
steps follow them; made with guidance, the pairs also teach what guidance adds (arXiv 2210.03142), at half the work.
Models that predict noise or velocity learn from the images with new noise (`training/distillation.py`).
"""

import hashlib
import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from mezzotint.errors import MezzotintError
from mezzotint.families.family import Conditioning, Family, LoadedModel
from mezzotint.families.text.conditionings import moved, shape_of
from mezzotint.protocol import Cascade, GenerateRequest, IsCancelled, ModelRef, Sampling, Stage
from mezzotint.stages.denoise import denoise
from mezzotint.stages.prompts import prompt_inputs
from mezzotint.stages.schedule import plan_schedules
from mezzotint.stages.setup import CascadeSetup, Find, set_up
from mezzotint.training.state import load_state, save_state
from mezzotint.training.trainer import TrainedImage

_IN_FILE = 64  # pairs
_SAMPLER = "dpmpp_2m"  # without noise of its own, so that each noise leads to one image


class TeacherPairs:
    """Pair number n is made of prompt n, over and over, and of noise that depends on n alone."""

    def __init__(
        self,
        folder: Path,
        family: Family,
        find: Find,
        ref: ModelRef,
        prompts: Sequence[str],
        *,
        side: int,
        count: int,
        guided: bool = False,
        renews_noise: bool = False,
    ) -> None:
        """`guided`: what learns of the pairs is guided, too.

        `renews_noise`: images are trained with new noise each time, and the teacher is asked about them.
        """
        self._folder, self._family, self._count = folder, family, count
        self._guided, self._renews_noise = guided, renews_noise
        self.prompts = tuple(prompts)
        self._setup = _setup(find, ref, side)
        self._teacher: list[Conditioning] = []
        self._student: list[Conditioning] = []
        self._latents = torch.empty(0)

    def encode(self, model: LoadedModel, on_done: Callable[[int, int], None]) -> None:
        """Encode the prompts, with and without guidance, while the text encoders are in memory."""
        stage = self._setup.stages[0]
        plain = replace(prompt_inputs(stage, ()), guidance_scale=1.0)
        with torch.no_grad():
            for place, prompt in enumerate(self.prompts):
                guided = replace(prompt_inputs(stage, ()), prompt=prompt)
                found = replace(self._family.encode(model, guided), sampling=stage.sampling)
                self._teacher.append(moved(found, torch.device("cpu")))
                found = self._family.encode(model, replace(plain, prompt=prompt))
                self._student.append(moved(found, torch.device("cpu")))
                on_done(place + 1, len(self.prompts))

    def make(self, model: LoadedModel, batch: int, on_done: Callable[[int, int], None], cancelled: IsCancelled) -> None:
        """Make the pairs that are not on disk yet; raises Cancelled between two batches."""
        parts = []
        for first in range(0, self._count, _IN_FILE):
            numbers = range(first, min(first + _IN_FILE, self._count))
            path = self._folder / f"{first:06}.safetensors"
            try:
                parts.append(load_state(path)[0]["latents"])
            except MezzotintError:
                parts.append(self._made(model, numbers, batch, cancelled))
                save_state(path, {"latents": parts[-1]}, {})
            on_done(numbers.stop, self._count)
        self._latents = torch.cat(parts)

    def batch(self, number: int, size: int) -> list[TrainedImage]:
        """A batch of pairs in random order, a function of its number alone."""
        digest = hashlib.sha256(json.dumps(["pairs", number]).encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "little"))
        return [self.pair(int(each)) for each in torch.randint(self._count, (size,), generator=generator)]

    def pair(self, number: int, *, guided: bool | None = None) -> TrainedImage:
        """A pair as the trainer takes it; `guided`: other than usual."""
        latents, prompt = self._latents[number], number % len(self._teacher)
        known = self._teacher if (self._guided if guided is None else guided) else self._student
        conditioning = known[prompt]
        if self._renews_noise:
            return TrainedImage(latents=latents, conditioning=conditioning, teacher=self._teacher[prompt])
        return TrainedImage(latents=latents, conditioning=conditioning, noise=_noise(number, latents.shape))

    def _made(self, model: LoadedModel, numbers: Sequence[int], batch: int, cancelled: IsCancelled) -> Tensor:
        groups: dict[Hashable, list[int]] = {}
        for number in numbers:
            groups.setdefault(shape_of(self._teacher[number % len(self._teacher)]), []).append(number)
        made: dict[int, Tensor] = {}
        for group in groups.values():
            for first in range(0, len(group), batch):
                part = group[first : first + batch]
                made |= dict(zip(part, self._together(model, part, cancelled), strict=True))
        return torch.stack([made[number] for number in numbers])

    def _together(self, model: LoadedModel, numbers: Sequence[int], cancelled: IsCancelled) -> Tensor:
        stage, factor = self._setup.stages[0], model.sources.vae_factor
        shape = model.sources.latent_channels, stage.height // factor, stage.width // factor
        conditionings = [self._teacher[number % len(self._teacher)] for number in numbers]
        with torch.no_grad():
            schedule = plan_schedules(self._setup, model.device)[0]
            noise = torch.stack([_noise(number, shape) for number in numbers]).to(model.device)
            return denoise(
                self._family,
                model,
                schedule,
                moved(self._family.join(conditionings), model.device),
                noise * getattr(schedule.scheduler, "init_noise_sigma", 1.0),
                [torch.Generator() for _ in numbers],
                estimates=False,
                on_step=lambda *_: None,
                cancelled=cancelled,
            ).latents.cpu()


def _noise(number: int, shape: Sequence[int]) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(number))


def _setup(find: Find, ref: ModelRef, side: int) -> CascadeSetup:
    stage = Stage(model=ref, width=side, height=side, sampling=Sampling(sampler=_SAMPLER))
    request = GenerateRequest(prompt="", cascade=Cascade(stages=(stage,)))
    return set_up(request, find, ref, lambda _: (0, 0))

"""Sample images during a training, made with the networks that are in memory for it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from mezzotint.families.family import Conditioning, Family, LoadedModel
from mezzotint.families.loading.networks import load_components
from mezzotint.families.text.conditionings import moved
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Stage
from mezzotint.stages.denoise import denoise
from mezzotint.stages.images.decode import to_image
from mezzotint.stages.prompts import prompt_inputs
from mezzotint.stages.schedule import initial_noise, plan_schedules
from mezzotint.stages.setup import CascadeSetup, Find, set_up
from mezzotint.training.encoding import Words


class Sampler:
    """Makes an image of each prompt, always from the same noise."""

    def __init__(
        self, family: Family, model: LoadedModel, find: Find, ref: ModelRef, prompts: tuple[str, ...], side: int
    ) -> None:
        self._family, self._model = family, model
        self._setups = [_setup(prompt, find, ref, side) for prompt in prompts]
        self.conditionings: list[Conditioning] = []  # of the prompts, on the CPU

    @property
    def prompts(self) -> int:
        """Number of images."""
        return len(self._setups)

    def encode(self, words: Words = ()) -> None:
        """Encode the prompts, with words that are learned, while the text encoders are in memory."""
        self.conditionings = []
        with torch.no_grad():
            for setup in self._setups:
                stage = setup.stages[0]
                inputs = replace(prompt_inputs(stage, ()), inversions=words)
                found = replace(self._family.encode(self._model, inputs), sampling=stage.sampling)
                self.conditionings.append(moved(found, torch.device("cpu")))

    def make(self, number: int, seed: int, cancelled: Callable[[], bool]) -> torch.Tensor:
        """Latents of a prompt's image."""
        setup, model = self._setups[number], self._model
        stage, generator = setup.stages[0], torch.Generator().manual_seed(seed)
        factor = model.sources.vae_factor
        shape = (1, model.sources.latent_channels, stage.height // factor, stage.width // factor)
        with torch.no_grad():
            schedule = plan_schedules(setup, model.device)[0]
            return denoise(
                self._family,
                model,
                schedule,
                moved(self.conditionings[number], model.device),
                initial_noise(schedule, shape, generator, model.device),
                [generator],
                estimates=False,
                on_step=lambda *_: None,
                cancelled=cancelled,
            ).latents.cpu()

    def save(self, latents: Sequence[torch.Tensor], paths: Sequence[Path], cancelled: Callable[[], bool]) -> None:
        """Decode latents and write the images, with the VAE in memory only meanwhile."""
        model = self._model
        load_components(model, ["vae"], on_bytes=lambda *_: None, cancelled=cancelled, notify=lambda _: None)
        try:
            for each, path in zip(latents, paths, strict=True):
                with torch.no_grad():
                    image = to_image(model, each.to(model.device))
                image.save(path)
        finally:
            model.networks.pop("vae", None)


def _setup(prompt: str, find: Find, ref: ModelRef, side: int) -> CascadeSetup:
    request = GenerateRequest(prompt=prompt, cascade=Cascade(stages=(Stage(model=ref, width=side, height=side),)))
    return set_up(request, find, ref, lambda _: (0, 0))

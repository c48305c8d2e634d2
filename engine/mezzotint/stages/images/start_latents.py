"""The initial latents of a stage, the preserved part of an image, and the extra inputs of inpainting networks."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from PIL import Image

from mezzotint.families.family import LoadedModel
from mezzotint.images.canvas import fit
from mezzotint.stages.images.inpaint_canvas import InpaintCanvas
from mezzotint.stages.images.input_images import InputImages
from mezzotint.stages.images.latent_mask import LatentMask
from mezzotint.stages.images.masked_image import MaskedImage, all_hidden
from mezzotint.stages.schedule import StageSchedule, add_noise, initial_noise
from mezzotint.stages.setup import CascadeSetup

# Encodes an image with a model's VAE; a `hidden` part becomes grey.
ToLatents = Callable[..., torch.Tensor]


class StartLatents:
    """Prepares the latents for the images of one job."""

    def __init__(self, setup: CascadeSetup, models: Sequence[LoadedModel], to_latents: ToLatents) -> None:
        self._setup, self._models, self._to_latents = setup, models, to_latents

    def begin(
        self, schedule: StageSchedule, given: InputImages, generator: torch.Generator
    ) -> tuple[LatentMask | None, torch.Tensor]:
        """The latent mask and the first stage's initial latents `(1, c, h, w)`.

        A network with the masked image as extra input starts from pure noise if it runs all of its steps.
        """
        if given.canvas is None:
            return None, self.latents(schedule, given.init, generator)
        if self._setup.stages[0].sources.takes_mask and self._setup.strength == 1:
            return None, self.latents(schedule, None, generator)
        keep, asked = self.keep(0, given.canvas, None, generator), self._setup.images.inpaint
        return keep, keep.first(schedule, generator, from_noise=asked is not None and asked.fill == "noise")

    def latents(self, schedule: StageSchedule, init: Image.Image | None, generator: torch.Generator) -> torch.Tensor:
        """The first stage's initial latents `(1, c, h, w)`, from an image or pure noise."""
        stage, model = self._setup.stages[0], self._models[0]
        if init is not None:
            fitted = fit(init, stage.width, stage.height, Image.Resampling.LANCZOS)
            clean = self._to_latents(model, fitted, generator)
            if stage.sources.takes_mask:
                clean = clean.contiguous()  # as in diffusers: rounding in convolutions depends on the layout
            return add_noise(schedule, clean, generator)
        factor = stage.sources.vae_factor
        shape = (1, stage.sources.latent_channels, stage.height // factor, stage.width // factor)
        return initial_noise(schedule, shape, generator, model.device)

    def keep(
        self, index: int, canvas: InpaintCanvas, before: LatentMask | None, generator: torch.Generator
    ) -> LatentMask:
        """The latent mask of a stage: the previous stage's, or encoded again if the latents differ."""
        stage, model = self._setup.stages[index], self._models[index]
        if before is not None and self._setup.transitions[index - 1].space == "latent":
            last = self._setup.stages[index - 1]
            if (last.width, last.height) == (stage.width, stage.height):
                return replace(before, gradual=False)
        sheet = canvas.sheet((stage.width, stage.height))

        def encode(image: Image.Image) -> torch.Tensor:
            return self._to_latents(model, image, generator)

        keep = LatentMask.of(sheet, encode, generator, stage.sources.vae_factor)
        return replace(keep, gradual=False) if index else keep  # edges were blended in the first stage

    def seen(self, index: int, canvas: InpaintCanvas | None, generator: torch.Generator) -> MaskedImage | None:
        """Extra inputs of an inpainting network; None if the stage's denoiser is not one."""
        stage, model = self._setup.stages[index], self._models[index]
        if not stage.sources.takes_mask:
            return None
        size = (stage.width, stage.height)

        def encode(image: Image.Image, hidden: Image.Image) -> torch.Tensor:
            return self._to_latents(model, image, generator, hidden)

        sheet = all_hidden(size) if canvas is None else canvas.sheet(size)
        return MaskedImage.of(sheet, encode, stage.sources.vae_factor, stage.sources.mask_channels)

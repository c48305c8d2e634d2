"""The initial latents of a stage, the preserved part of an image, and the extra inputs of inpainting networks."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from PIL import Image

from mezzotint.families.family import LoadedModel
from mezzotint.images.canvas import fit
from mezzotint.stages.image_spec import Variation
from mezzotint.stages.images.enlarged import Enlarging
from mezzotint.stages.images.inpaint_canvas import InpaintCanvas
from mezzotint.stages.images.input_images import InputImages
from mezzotint.stages.images.latent_mask import LatentMask
from mezzotint.stages.images.low_resolution import LowResolution
from mezzotint.stages.images.masked_image import MaskedImage, all_hidden
from mezzotint.stages.images.stage_start import StageStart
from mezzotint.stages.refining import condition_size
from mezzotint.stages.schedule import StageSchedule, add_noise, initial_noise
from mezzotint.stages.setup import CascadeSetup

# Encodes an image with a model's VAE; a `hidden` part becomes grey.
ToLatents = Callable[..., torch.Tensor]


class StartLatents:
    """Prepares what the stages of one job start from, image by image."""

    def __init__(
        self, setup: CascadeSetup, models: Sequence[LoadedModel], to_latents: ToLatents, enlarging: Enlarging
    ) -> None:
        self._setup, self._models, self._to_latents, self._enlarging = setup, models, to_latents, enlarging

    def first(
        self, schedule: StageSchedule, inputs: InputImages, generator: torch.Generator, variation: Variation | None
    ) -> StageStart:
        """What the first stage starts from, for one image; only its noise is varied."""
        latent_mask, latents = self._begin(schedule, inputs, generator, variation)
        return StageStart(
            latents=latents,
            latent_mask=latent_mask,
            masked_image=self._masked_image(0, inputs.canvas, generator),
            low_resolution=None if inputs.init is None else self._shrunk(schedule, inputs.init, generator),
        )

    def later(
        self,
        index: int,
        schedule: StageSchedule,
        latents: torch.Tensor,
        inputs: InputImages,
        before: StageStart,
        smaller: torch.Tensor,
        generator: torch.Generator,
    ) -> StageStart:
        """What a later stage starts from, for one image: `latents` `(1, c, h, w)` from the previous stage's result.

        `smaller`: the previous stage's clean latents.
        """
        latent_mask = None
        if inputs.canvas is not None:
            latent_mask = self._latent_mask(index, inputs.canvas, before.latent_mask, generator)
            latents = latent_mask.entering(schedule, latents)
        refines = self._setup.transitions[index - 1].refines
        return StageStart(
            latents=latents,
            latent_mask=latent_mask,
            masked_image=self._masked_image(index, inputs.canvas, generator),
            low_resolution=self._low_resolution(index, schedule, smaller, generator) if refines else None,
        )

    def _low_resolution(
        self, index: int, schedule: StageSchedule, clean: torch.Tensor, generator: torch.Generator
    ) -> LowResolution:
        """The input of a conditional refiner from clean latents `(1, c, h, w)`."""
        noise = self._setup.stages[index].sampling.condition_noise or 0.0
        return LowResolution.of(clean.to(self._models[index].device), noise, schedule.levels, generator)

    def _shrunk(self, schedule: StageSchedule, init: Image.Image, generator: torch.Generator) -> LowResolution | None:
        """The input of a conditional refiner from an image; None if the first stage's denoiser is not one."""
        stage, model = self._setup.stages[0], self._models[0]
        if not stage.sources.detected.conditional_refiner:
            return None
        size = condition_size((stage.width, stage.height), stage.family.multiple(stage.sources))
        clean = self._to_latents(model, fit(init, *size, Image.Resampling.LANCZOS), generator)
        return self._low_resolution(0, schedule, clean, generator)

    def _begin(
        self, schedule: StageSchedule, inputs: InputImages, generator: torch.Generator, variation: Variation | None
    ) -> tuple[LatentMask | None, torch.Tensor]:
        """The latent mask and the first stage's initial latents `(1, c, h, w)`.

        A network with the image as another input starts from pure noise if it runs all of its steps.
        """
        sources = self._setup.stages[0].sources
        if (sources.takes_mask or sources.detected.conditional_refiner) and self._setup.strength == 1:
            return None, self._latents(schedule, None, generator, variation)
        if inputs.canvas is None:
            return None, self._latents(schedule, inputs.init, generator, variation)
        mask = self._latent_mask(0, inputs.canvas, None, generator, variation)
        inpaint = self._setup.images.inpaint
        return mask, mask.first(schedule, generator, from_noise=inpaint is not None and inpaint.fill == "noise")

    def _latents(
        self,
        schedule: StageSchedule,
        init: Image.Image | None,
        generator: torch.Generator,
        variation: Variation | None,
    ) -> torch.Tensor:
        """The first stage's initial latents `(1, c, h, w)`, from an image or pure noise."""
        stage, model = self._setup.stages[0], self._models[0]
        if init is not None:
            size, upscaler = (stage.width, stage.height), self._setup.init_upscaler
            if upscaler is None:
                fitted = fit(init, *size, Image.Resampling.LANCZOS)
            else:
                fitted = self._enlarging.fitted(init, size, upscaler, model)
            clean = self._to_latents(model, fitted, generator)
            if stage.sources.takes_mask:
                clean = clean.contiguous()  # as in diffusers: rounding in convolutions depends on the layout
            return add_noise(schedule, clean, generator, variation)
        factor = stage.sources.vae_factor
        shape = (1, stage.sources.latent_channels, stage.height // factor, stage.width // factor)
        return initial_noise(schedule, shape, generator, model.device, variation)

    def _latent_mask(
        self,
        index: int,
        canvas: InpaintCanvas,
        before: LatentMask | None,
        generator: torch.Generator,
        variation: Variation | None = None,
    ) -> LatentMask:
        """The latent mask of a stage: the previous stage's, or encoded again if the latents differ."""
        stage, model = self._setup.stages[index], self._models[index]
        if before is not None and self._setup.transitions[index - 1].space == "latent":
            last = self._setup.stages[index - 1]
            if (last.width, last.height) == (stage.width, stage.height):
                return replace(before, gradual=False)
        crop = canvas.crop_at((stage.width, stage.height))

        def encode(image: Image.Image) -> torch.Tensor:
            return self._to_latents(model, image, generator)

        mask = LatentMask.of(crop, encode, generator, stage.sources.vae_factor, variation)
        return replace(mask, gradual=False) if index else mask  # edges were blended in the first stage

    def _masked_image(self, index: int, canvas: InpaintCanvas | None, generator: torch.Generator) -> MaskedImage | None:
        """Extra inputs of an inpainting network; None if the stage's denoiser is not one."""
        stage, model = self._setup.stages[index], self._models[index]
        if not stage.sources.takes_mask:
            return None
        size = (stage.width, stage.height)

        def encode(image: Image.Image, hidden: Image.Image) -> torch.Tensor:
            return self._to_latents(model, image, generator, hidden)

        crop = all_hidden(size) if canvas is None else canvas.crop_at(size)
        return MaskedImage.of(crop, encode, stage.sources.vae_factor, stage.sources.mask_channels)

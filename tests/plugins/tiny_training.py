"""A tiny model ready to be trained, and encoded images with captions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mezzotint.catalog.catalog import Catalog
from mezzotint.families.family import LoadedModel, PromptInputs
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import load_components
from mezzotint.families.model_sources import sources_of
from mezzotint.protocol import ModelRef
from mezzotint.quantization.policy import Choice
from mezzotint.training.factors import Factors, trainable_layers
from mezzotint.training.objective import objective_of
from mezzotint.training.trainer import Rates, TrainedImage, Trainer

SIDE = 64


class TinyTraining:
    """A model in memory, and some images with random latents."""

    def __init__(self, folder: Path, *, scheme: Any = None, images: int = 8) -> None:
        found = Catalog.standard().find(ModelRef(id=str(folder)))
        self.family = family_of(found.detected.family)
        choices: Mapping[str, Any] = {} if scheme is None else {self.family.denoiser_component: Choice(scheme=scheme)}
        self.model = LoadedModel(
            sources=sources_of(found.checkpoint, found.detected),
            device=torch.device("cpu"),
            dtype=torch.float32,
            quantization=choices,
        )
        names = [name for name in self.model.sources.components if name != "vae"]
        load_components(self.model, names, on_bytes=lambda *_: None, cancelled=lambda: False)
        self.network = self.model.networks[self.family.denoiser_component]
        self.network.requires_grad_(False)
        self.images = [self._image(number) for number in range(images)]

    def _image(self, number: int) -> TrainedImage:
        generator, side = torch.Generator().manual_seed(number), SIDE // self.model.sources.vae_factor
        inputs = PromptInputs(
            prompt=f"a house and {number} trees",
            negative_prompt="",
            width=SIDE,
            height=SIDE,
            guidance_scale=1.0,
            clip_skip=0,
            embeddings=(),
        )
        with torch.no_grad():
            conditioning = self.family.encode(self.model, inputs)
        latents = torch.randn(self.model.sources.latent_channels, side, side, generator=generator)
        return TrainedImage(latents=latents, conditioning=conditioning)

    def trainer(self, *, rank: int = 4, **rates: Any) -> Trainer:
        """A trainer with fresh factors."""
        objective = objective_of(self.family, self.model.sources, SIDE, SIDE, levels="uniform", weighting="min-snr")
        factors = Factors(self.network, trainable_layers(self.network), rank=rank, alpha=rank, seed=0)
        usual = {"steps": 20, "peak": 1e-2, "schedule": "constant", "optimizer": "adamw"}
        return Trainer(self.family, self.model, objective, factors, Rates(**usual | rates))

    def batch(self, number: int, size: int = 4) -> list[TrainedImage]:
        """A batch of the images, in turn."""
        return [self.images[(number * size + place) % len(self.images)] for place in range(size)]

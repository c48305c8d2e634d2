"""A tiny model ready to be trained, and encoded images with captions."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from mezzotint.catalog.catalog import Catalog
from mezzotint.families.family import Conditioning, LoadedModel, PromptInputs
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import load_components
from mezzotint.families.model_sources import sources_of
from mezzotint.protocol import ModelRef, Sampling
from mezzotint.quantization.policy import Choice
from mezzotint.training.adapters.layers import LayerChoice
from mezzotint.training.adapters.networks import NetworkAdapter
from mezzotint.training.distributed import ALONE, Processes
from mezzotint.training.objective import objective_of
from mezzotint.training.trainer import Rates, TrainedImage, Trainer

SIDE = 64


class TinyTraining:
    """A model in memory, and some images with random latents."""

    def __init__(self, folder: Path, *, scheme: Any = None, images: int = 8, guidance: float = 1.0) -> None:
        """`guidance`: of a teacher; 1: there is none."""
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
        load_components(self.model, names, on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None)
        self.network = self.model.networks[self.family.denoiser_component]
        for network in self.model.networks.values():
            network.requires_grad_(False)
        self.images = [self._image(number, guidance) for number in range(images)]

    def _image(self, number: int, guidance: float) -> TrainedImage:
        generator, side = torch.Generator().manual_seed(number), SIDE // self.model.sources.vae_factor
        with torch.no_grad():
            conditioning = self.conditioning(number)
            teacher = None if guidance == 1 else self.conditioning(number, guidance=guidance)
        latents = torch.randn(self.model.sources.latent_channels, side, side, generator=generator)
        return TrainedImage(latents=latents, conditioning=conditioning, teacher=teacher)

    def conditioning(self, number: int, words: tuple[Any, ...] = (), guidance: float = 1.0) -> Conditioning:
        """The caption of an image, encoded now, with gradients if they are enabled."""
        inputs = PromptInputs(
            prompt=f"a house and {number} trees beside a zibble",
            negative_prompt="",
            width=SIDE,
            height=SIDE,
            guidance_scale=guidance,
            clip_skip=0,
            embeddings=(),
            inversions=words,
            gradients=True,
        )
        return replace(self.family.encode(self.model, inputs), sampling=Sampling(guidance_scale=guidance))

    def adapter(self, *, rank: int = 4, alpha: float | None = None, choice: Any = None, **how: Any) -> NetworkAdapter:
        """Fresh layers; `choice`: further fields of the choice of layers; `text`: whether encoders are trained."""
        text, how = how.pop("text", False), {"seed": 0} | how
        chosen = LayerChoice(rank=rank, alpha=rank if alpha is None else alpha, **choice or {})
        encoders = [name for name in self.model.networks if name.startswith("text_encoder")] if text else []
        choices = {self.family.denoiser_component: chosen}
        choices |= dict.fromkeys(encoders, LayerChoice(rank=rank, alpha=chosen.alpha))
        return NetworkAdapter(self.model.networks, choices, **how)

    def trainer(self, adapter: Any = None, *, rank: int = 4, processes: Processes = ALONE, **rates: Any) -> Trainer:
        """A trainer of an adapter, or of fresh LoRAs."""
        objective = objective_of(self.family, self.model.sources, SIDE, SIDE, levels="uniform", weighting="min-snr")
        usual = {"steps": 20, "peak": 1e-2, "schedule": "constant", "optimizer": "adamw"}
        adapter = self.adapter(rank=rank) if adapter is None else adapter
        return Trainer(self.family, self.model, objective, adapter, Rates(**usual | rates), processes)

    def batch(self, number: int, size: int = 4) -> list[TrainedImage]:
        """A batch of the images, in turn."""
        return [self.images[each] for each in self._places(number, size)]

    def batch_now(self, number: int, size: int = 2, words: tuple[Any, ...] = ()) -> list[TrainedImage]:
        """The same with captions that are encoded now."""
        return [
            replace(self.images[each], conditioning=self.conditioning(each, words))
            for each in self._places(number, size)
        ]

    def _places(self, number: int, size: int) -> list[int]:
        return [(number * size + place) % len(self.images) for place in range(size)]

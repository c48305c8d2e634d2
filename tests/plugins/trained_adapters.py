"""Adapters trained for a few steps, written, and what networks compute with the file, here and in diffusers."""

from pathlib import Path
from typing import Any

import torch
from tiny_training import TinyTraining

from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.lora.adapters import Adapters, FittingLora
from mezzotint.families.lora.description import Description
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import LayerIndex, fit
from mezzotint.families.lora.writing import write_lora
from mezzotint.training.adapters.adapter import Adapter
from mezzotint.training.adapters.networks import NetworkAdapter
from mezzotint.training.trainer import TrainedImage, Trainer

STEPS = 3


def trained(tiny: TinyTraining, adapter: Adapter | None = None) -> Trainer:
    """Train for some steps that change what the network computes a lot."""
    trainer = tiny.trainer(adapter, steps=STEPS, peak=3e-2)
    for _ in range(STEPS):
        trainer.train_step(lambda number: _batch(tiny, trainer, number))
    return trainer


def _batch(tiny: TinyTraining, trainer: Trainer, number: int) -> list[TrainedImage]:
    if trainer.adapter.changes_text:
        return tiny.batch_now(number, words=trainer.adapter.words)
    return tiny.batch(number, 2)


def write(tiny: TinyTraining, adapter: NetworkAdapter, path: Path) -> Path:
    """Write what was trained in float32."""
    networks = {
        component: {name: layer.written() for name, layer in layers.items()}
        for component, layers in adapter.layers.items()
    }
    write_lora(path, networks, tiny.family.name, Description(title="a"), dtype=torch.float32)
    return path


def predicted(tiny: TinyTraining, pipeline: Any = None, words: tuple[Any, ...] = ()) -> torch.Tensor:
    """What the networks predict for an image with its caption, or those of a pipeline in their place."""
    own = dict(tiny.model.networks)
    if pipeline is not None:
        tiny.model.networks.update({name: getattr(pipeline, name) for name in own})
    try:
        with torch.no_grad():
            latents = tiny.images[0].latents[None]
            return tiny.family.predict(tiny.model, latents, torch.tensor([500.0]), tiny.conditioning(0, words))
    finally:
        tiny.model.networks.update(own)


def read_back(tiny: TinyTraining, path: Path) -> Adapters:
    """Apply the file to the networks as at generation; `let_go` of the result puts them back."""
    networks = {name: each for name, each in tiny.model.networks.items() if isinstance(each, torch.nn.Module)}
    denoiser, family = tiny.family.denoiser_component, tiny.family
    original = family.original if isinstance(family, FlowFamily) else None
    if original is not None:
        original = original.of(networks[denoiser].config)
    file = open_lora(path)
    found = fit(file, LayerIndex(networks, denoiser, original))
    assert not found.missing and not found.misshapen and not file.unknown
    adapters, fitting = Adapters(networks), FittingLora(file=file, fit=found)
    adapters.hold([fitting], lambda: False)
    adapters.apply([(fitting, 1.0)])
    return adapters

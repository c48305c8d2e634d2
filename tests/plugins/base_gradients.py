"""Gradients of a tiny training's factors, with the levers that change where weights and activations are."""

from contextlib import ExitStack

import torch

from mezzotint.memory.blocks import blocks_of, order_of
from mezzotint.memory.device import open_device
from mezzotint.training.checkpointing import apply_checkpointing
from mezzotint.training.streamed_base import streamed_base


def gradients(tiny, mode, choice=None, *, streamed=0, offloading=None, steps=2, after_step=lambda base: None):
    """The gradients that several passes add up to, of factors that are not zero."""
    trainer, levels = tiny.trainer(tiny.adapter(choice=choice)), torch.tensor([0.3, 0.7])
    levels = levels if trainer._objective.abar is None else (levels * 1000).long()
    for number, each in enumerate(trainer.adapter.parameters()):
        each.data = torch.randn(each.shape, generator=torch.Generator().manual_seed(number)) * 0.05
    trainer.adapter.to(tiny.model.device)
    with ExitStack() as stack:
        base = None
        if streamed:
            device = open_device(tiny.model.device)
            stack.callback(device.close)
            base = stack.enter_context(streamed_base(tiny.network, ordered(tiny), streamed, device))
        stack.callback(apply_checkpointing(tiny.network, mode, offloading))
        stack.enter_context(trainer.adapter.attached())
        for step in range(steps):
            generator = torch.Generator().manual_seed(step)
            noise = [torch.randn(each.latents.shape, generator=generator) for each in tiny.images]
            trainer._losses(tiny.images, torch.stack(noise), levels).sum().backward()
            after_step(base)
    return [each.grad.clone() for each in trainer.adapter.parameters()]


def ordered(tiny):
    """The blocks in execution order."""
    image = tiny.images[0]

    def run():
        with torch.no_grad():
            tiny.family.predict(tiny.model, image.latents[None], torch.tensor([500.0]), image.conditioning)

    return order_of(tiny.network, blocks_of(tiny.network), run)


def bigger(found):
    """Whether no gradient is zero."""
    return all(bool(each.any()) for each in found)

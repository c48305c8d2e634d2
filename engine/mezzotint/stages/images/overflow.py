"""Autoencoders whose activations overflow float16 while they work: scaled down, else in float32, and asked again."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

import torch

from mezzotint.errors import ImageOverflowed
from mezzotint.families.family import LoadedModel
from mezzotint.families.loading.float16_vae import can_scale, is_scaled, scale_activations, widen

T = TypeVar("T")


def within_range(
    model: LoadedModel,
    make: Callable[[], T],
    notify: Callable[[str, str], None],
    off_the_device: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> T:
    """Return what the VAE makes, changed as often as it overflows; raises ImageOverflowed if nothing is left to change.

    `off_the_device`: a context in which the VAE is where its weights are kept.
    """
    while True:
        try:
            return make()
        except ImageOverflowed:
            if next(model.networks["vae"].parameters()).dtype != torch.float16:
                raise
        with off_the_device():
            done = _change(model)
        model.lowered = True  # no longer as its files and the dtype say
        notify("vae_overflowed", f"the VAE overflows in float16: {done}")


def _change(model: LoadedModel) -> str:
    """Extend the range of the VAE; returns what was done."""
    vae, source = model.networks["vae"], model.sources.components["vae"]
    scales = can_scale(source.class_name, source.config) and not is_scaled(vae)
    sources = (scale_activations if scales else widen)(vae, model.on_disk.get("vae", {}))
    model.on_disk |= {"vae": sources} if sources else {}
    return "its activations are scaled down" if scales else "it computes in float32"

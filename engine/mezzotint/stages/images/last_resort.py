"""Decoding of last resort: a small decoder, on the CPU, where not even the VAE's smallest tiles fit on the device."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from PIL import Image

from mezzotint.checkpoints.plain_text import plain
from mezzotint.families.autoencoder_space import latent_layout
from mezzotint.families.family import LoadedModel
from mezzotint.families.preview_decoder.reading import PreviewDecoder, read_preview_decoder
from mezzotint.memory.accounting import uncounted
from mezzotint.stages.images.decode import image_of
from mezzotint.stages.images.preview_decoders import found_decoder
from mezzotint.stages.setup import CascadeSetup


class LastResort:
    """Decodes the latents of models for which it was taken, by their small decoders."""

    def __init__(
        self, setup: CascadeSetup, models: Sequence[LoadedModel], known: Mapping[int, PreviewDecoder | None]
    ) -> None:
        """`known`: the decoders of stages' previews; others are looked for only when they are needed."""
        self._setup, self._models, self._known = setup, models, known
        self._taken: dict[int, PreviewDecoder] = {}

    def take(self, model: LoadedModel) -> str | None:
        """Have the small decoder decode from now on; returns what was done, None if there is no decoder."""
        decoder = None if id(model) in self._taken else self._found(model)
        if decoder is None:
            return None
        self._taken[id(model)] = decoder
        return f"the image is decoded by the small decoder {_named(decoder.path)}, which is less exact than the VAE"

    def image(self, model: LoadedModel, latents: torch.Tensor) -> Image.Image | None:
        """Decode latents `(1, c, h, w)` to an image; None unless the small decoder was taken for this model."""
        decoder = self._taken.get(id(model))
        if decoder is None:
            return None
        patch = decoder.patch(latent_layout(model.sources.components["vae"].config)) or 1
        with uncounted():  # the CPU may stand for a card
            decoder.network.float()
            return image_of(decoder.pixels(latents.cpu(), patch, decoder.tile(latents, patch, None)))

    def _found(self, model: LoadedModel) -> PreviewDecoder | None:
        stage = next(index for index, each in enumerate(self._models) if each is model)
        known = self._known.get(stage)
        if known is not None:
            return read_preview_decoder(known.path)  # previews have theirs on the device, in the job's dtype
        return found_decoder(self._setup.stages[stage], lambda *_: None)


def _named(path: Path) -> str:
    return plain(Path(path.parent.name, path.name), 200)

"""Captions and images as the denoiser takes them, encoded once before the training."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor

from mezzotint.errors import Cancelled
from mezzotint.families.autoencoder import encode_pixels
from mezzotint.families.family import Conditioning, CutText, Family, LoadedModel, PromptInputs
from mezzotint.families.loading.networks import load_components
from mezzotint.families.text.conditionings import moved
from mezzotint.families.text.cut_texts import cut_notices, noting_cuts
from mezzotint.families.text.textual_inversion import Inversion
from mezzotint.training_protocol import PhaseName

EncodeText = Callable[[str, tuple[int, int], float], Conditioning]
OnPhase = Callable[[PhaseName], None]
Words = tuple[Inversion, ...]
CPU = torch.device("cpu")
_SHOWN = 3  # captions that were cut


class Encoders:
    """A model's text encoders and VAE, in memory only while they are used."""

    def __init__(
        self,
        family: Family,
        model: LoadedModel,
        cancelled: Callable[[], bool],
        *,
        text_on_cpu: bool = False,
        on_phase: OnPhase = lambda _: None,
    ) -> None:
        """`text_on_cpu`: run the text encoders there, because they do not fit on the model's device.

        `on_phase` is called before text encoders or VAE are loaded to encode.
        """
        self._family, self._model, self._cancelled, self._on_phase = family, model, cancelled, on_phase
        self._text_device = CPU if text_on_cpu else model.device
        self._cut: dict[CutText, None] = {}

    @property
    def model(self) -> LoadedModel:
        """The model that they belong to."""
        return self._model

    def cut_captions(self) -> list[str]:
        """Lines for captions that were too long to be encoded whole: the first, and how many more there are."""
        lines = list(cut_notices(tuple(self._cut), "a caption"))
        more = [f"{len(lines) - _SHOWN} more captions are too long"] if len(lines) > _SHOWN else []
        return lines[:_SHOWN] + more

    @contextmanager
    def text(self) -> Iterator[EncodeText]:
        """Context manager: a function from a text, an image size and a guidance scale to conditioning, on the CPU."""

        def encode(text: str, size: tuple[int, int], guidance_scale: float) -> Conditioning:
            self._raise_if_cancelled()
            with torch.no_grad(), noting_cuts(self._family, self._model) as readings:
                made = moved(self._family.encode(self._model, _inputs(text, size, guidance_scale)), CPU)
            self._cut |= dict.fromkeys(readings.cut_texts())
            return made

        self._on_phase("text")
        with self._loaded("text_encoder", "tokenizer", device=self._text_device):
            yield encode

    def load_text(self) -> None:
        """Load what encodes texts, to stay in memory while it is trained or reads what is trained."""
        names = self._names("text_encoder", "tokenizer")
        load_components(self._model, names, on_bytes=lambda *_: None, cancelled=self._cancelled, notify=lambda _: None)
        for name in names:
            if name in self._model.networks:
                self._model.networks[name].requires_grad_(False)

    def encode_now(self, text: str, size: tuple[int, int], guidance_scale: float, words: Words) -> Conditioning:
        """Conditioning with gradients, on the model's device, by encoders that are in memory."""
        inputs = replace(_inputs(text, size, guidance_scale), inversions=words, gradients=True)
        return self._family.encode(self._model, inputs)

    @contextmanager
    def vae(self) -> Iterator[Callable[[Tensor, int], Tensor]]:
        """Context manager: a function from pixels `(3, h, w)` and a seed to latents `(c, h', w')`, on the CPU."""

        def encode(pixels: Tensor, seed: int) -> Tensor:
            self._raise_if_cancelled()
            with torch.no_grad():
                generator = torch.Generator().manual_seed(seed)
                network = self._model.networks["vae"].float()  # in 16 bits some VAEs overflow
                return encode_pixels(network, pixels[None], generator, self._model.vae_tile)[0].cpu()

        self._on_phase("images")
        with self._loaded("vae", device=self._model.device):
            yield encode

    @contextmanager
    def _loaded(self, *prefixes: str, device: torch.device) -> Iterator[None]:
        own, self._model.device = self._model.device, device
        names = self._names(*prefixes)
        try:
            load_components(
                self._model, names, on_bytes=lambda *_: None, cancelled=self._cancelled, notify=lambda _: None
            )
            yield
        finally:
            self._model.device = own
            for name in names:
                self._model.networks.pop(name, None)

    def _names(self, *prefixes: str) -> list[str]:
        return [name for name in self._model.sources.components if name.startswith(prefixes)]

    def _raise_if_cancelled(self) -> None:
        if self._cancelled():
            raise Cancelled("stopped before the first step; nothing was trained")


def _inputs(text: str, size: tuple[int, int], guidance_scale: float) -> PromptInputs:
    return PromptInputs(
        prompt=text,
        negative_prompt="",
        width=size[0],
        height=size[1],
        guidance_scale=guidance_scale,
        clip_skip=0,
        embeddings=(),
    )

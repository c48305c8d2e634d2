"""Contact sheets during training: the same two dozen prompts from the same noise."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from diffusers import PixArtSigmaPipeline
from PIL import Image

from mezzotint.benchmarks.postcards.contact_sheet import contact_sheet
from mezzotint.training.distributed import Processes
from mezzotint_starter.export import GUIDANCE_SCALE, STEPS
from mezzotint_starter.networks import TOKENS
from mezzotint_starter.trainer import Trainer

PROMPTS = (
    "a red house by the sea at dusk",
    "a blue boat on the sea by day",
    "a yellow tent in the mountains at night",
    "a green tree in a meadow by day",
    "a white lighthouse on the coast at night",
    "a pink balloon over the desert at dawn",
    "an orange car in the desert by day",
    "a purple castle in the forest at night",
    "a black house in the snow",
    "red boat, night, snow",
    "a tiny white house in the distance, mountains, dusk",
    "a big red tree in a meadow at dawn",
    "a blue car on the left in the forest",
    "a yellow balloon on the right at dusk",
    "a brown tent in the rain",
    "a big orange lighthouse at sunset",
    "a green castle in the desert",
    "a white boat at dawn",
    "snowy forest at night with a red tent",
    "a purple balloon",
    "mountains at dawn",
    "a house",
    "blue tree, dunes, noon",
    "a pink castle by the sea in the rain",
)


def draw_samples(
    pipeline: PixArtSigmaPipeline,
    prompts: Sequence[str],
    *,
    seed: int = 7,
    guidance_scale: float = GUIDANCE_SCALE,
    steps: int = STEPS,
    side: int | None = None,
) -> list[Image.Image]:
    """Generate one image per prompt, each from its own seed, of the transformer's own size if `side` is None."""
    side = side or pipeline.transformer.config.sample_size * pipeline.vae_scale_factor
    generators = [torch.Generator().manual_seed(seed + number) for number in range(len(prompts))]
    images: list[Image.Image] = pipeline(
        list(prompts),
        height=side,
        width=side,
        use_resolution_binning=False,
        clean_caption=False,
        num_inference_steps=steps,
        guidance_scale=guidance_scale,
        max_sequence_length=TOKENS,
        generator=generators,
    ).images
    return images


Draw = Callable[[Sequence[str]], list[Image.Image]]


def save_sheet(draw: Draw, path: Path, prompts: Sequence[str] | None = None) -> None:
    """Generate the prompts, or PROMPTS, and write their contact sheet, in the first process."""
    if not Processes.of_environment().is_first:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    contact_sheet(draw(prompts or PROMPTS)).save(path)


class SampleLogger:
    """Writes a contact sheet of samples from the averaged weights, every few minutes of a phase."""

    def __init__(
        self, *, folder: Path, name: str, minutes: float, draw: Draw, prompts: Sequence[str] | None = None
    ) -> None:
        self._prompts = prompts
        self._folder, self._name, self._minutes, self._draw = folder, name, minutes, draw
        self._saved_at = time.monotonic()

    def after(self, trainer: Trainer) -> None:
        """Write a contact sheet if one is due; call after each step."""
        if not trainer.processes.is_first or time.monotonic() - self._saved_at <= self._minutes * 60:
            return
        trainer.swap_averages()
        trainer.network.eval()
        save_sheet(self._draw, self._folder / f"{self._name}-{trainer.step:06}.png", self._prompts)
        trainer.network.train()
        trainer.swap_averages()
        self._saved_at = time.monotonic()

"""The task of a job, as planning sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from mezzotint.memory.footprints.footprint import ModelFootprint
from mezzotint.memory.planning.savings import NO_SAVINGS, Savings
from mezzotint.protocol import Quantization

DType: TypeAlias = Literal["float32", "bfloat16", "float16"]

REFINER_START = 0.8  # default fraction of the steps that a base model runs before its refiner


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTask:
    """One model at one size for a number of steps."""

    model: ModelFootprint
    width: int  # pixels
    height: int
    steps: int  # run by this stage
    guided: bool  # with a second pass for the negative prompt
    batch: int = 1  # images denoised together
    references: tuple[tuple[int, int], ...] = ()  # sizes of reference images as passed to the denoiser, in pixels
    savings: Savings = NO_SAVINGS
    tile: int = 0  # side in pixels of the tiles that are denoised one by one in each step; 0: the whole image
    latent_channels: int = 4
    control_shares: Mapping[str, float] = field(default_factory=dict, hash=False)  # of the steps, by control network
    more_text: int = 0  # tokens beyond those of a prompt: of regions and image prompts
    more_positions: float = 0.0  # latent pixels that they take as much memory and time as, in joint attention


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A job: its stages and the requested settings."""

    stages: tuple[StageTask, ...]
    count: int = 1  # number of images
    quantization: Quantization = "auto"  # of the denoisers; models stored quantized request their scheme
    text_quantization: Quantization = "auto"
    dtype: DType = "bfloat16"
    vae_tile: int | None = None  # pixels; 0: no tiling; None: chosen by the plan
    upscaling: int = 0  # bytes of upscalers and other networks of no model, which run where images are decoded


def task_of(
    models: Sequence[ModelFootprint],
    *,
    width: int | None = None,
    height: int | None = None,
    steps: int | None = None,
    quantization: Quantization = "auto",
    text_quantization: Quantization = "auto",
    dtype: DType = "bfloat16",
    references: Sequence[Sequence[tuple[int, int]]] = (),
    savings: Savings = NO_SAVINGS,
) -> Task:
    """Return a task that runs models in sequence at one size: the first runs four fifths of the steps, the rest share.

    `references`: for each model the sizes of reference images as passed to it.
    """
    first = models[0]
    total = first.steps if steps is None else steps
    later = len(models) - 1
    rest = max(later, round(total * (1 - REFINER_START))) if later else 0
    shares = [max(1, total - rest), *(max(1, rest * (i + 1) // later - rest * i // later) for i in range(later))]
    return Task(
        stages=tuple(
            StageTask(
                model=model,
                width=width or first.width,
                height=height or first.height,
                steps=share,
                guided=model.guided,
                references=tuple(shown),
                savings=replace(savings, family=model.family),
            )
            for model, share, shown in zip(models, shares, references or [()] * len(models), strict=True)
        ),
        quantization=quantization,
        text_quantization=text_quantization,
        dtype=dtype,
    )

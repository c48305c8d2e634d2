"""What is to be done, as planning sees it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mezzotint.memory.footprints.footprint import ModelFootprint
from mezzotint.protocol import Quantization

Numbers: TypeAlias = Literal["float32", "bfloat16", "float16"]

HAND_OVER = 0.8  # the part of the steps that a base model takes before its refiner, where nothing is said


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTask:
    """One model at one size for a number of forward passes."""

    model: ModelFootprint
    width: int  # pixels
    height: int
    steps: int  # that it takes itself
    guided: bool  # a second pass for the negative prompt
    batch: int = 1  # images that are denoised together
    references: tuple[tuple[int, int], ...] = ()  # sizes of reference images as the denoiser is shown them, in pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A job: its stages, and what was asked for."""

    stages: tuple[StageTask, ...]
    count: int = 1  # images, one after another
    quantization: Quantization = "auto"  # of the denoisers; what is stored quantized is asked for by its scheme
    text_quantization: Quantization = "auto"
    dtype: Numbers = "bfloat16"
    vae_tile: int | None = None  # pixels; 0: whole; None: as the plan has it


def task_of(
    models: Sequence[ModelFootprint],
    *,
    width: int | None = None,
    height: int | None = None,
    steps: int | None = None,
    quantization: Quantization = "auto",
    text_quantization: Quantization = "auto",
    dtype: Numbers = "bfloat16",
    references: Sequence[Sequence[tuple[int, int]]] = (),
) -> Task:
    """Models one after another at one size: the first takes four fifths of the steps, the others share the rest.

    `references`: for each of them the sizes of reference images as it is shown them.
    """
    first = models[0]
    total = first.steps if steps is None else steps
    later = len(models) - 1
    rest = max(later, round(total * (1 - HAND_OVER))) if later else 0
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
            )
            for model, share, shown in zip(models, shares, references or [()] * len(models), strict=True)
        ),
        quantization=quantization,
        text_quantization=text_quantization,
        dtype=dtype,
    )

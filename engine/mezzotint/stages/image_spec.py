"""What an image is made from."""

from collections.abc import Sequence
from dataclasses import dataclass

from mezzotint.families.family import Conditioning
from mezzotint.stages.images.input_images import InputImages


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSpec:
    """Everything that determines one image of a loaded cascade."""

    seed: int
    conditionings: Sequence[Conditioning]  # one per stage
    inputs: InputImages

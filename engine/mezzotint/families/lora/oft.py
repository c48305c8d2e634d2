"""OFT layers of a LoRA file: which outputs or inputs of a weight they rotate (arXiv 2306.07280).

kohya's scripts and LyCORIS rotate the outputs. peft and OneTrainer rotate the inputs, of a convolution with its window.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mezzotint.families.lora.keys import Part

LARGEST_BLOCK = 4096  # inverted whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """The outputs or inputs that are rotated: `count` groups of `size`; one group of inputs may be for all."""

    of_inputs: bool
    count: int
    size: int

    def fits(self, shape: Sequence[int]) -> bool:
        """Whether a weight of that shape has as many."""
        if not self.of_inputs:
            return shape[0] == self.count * self.size
        inputs = math.prod(shape[1:])
        return inputs % self.size == 0 and self.count in (1, inputs // self.size)

    @property
    def meant_for(self) -> str:
        """The weight that it fits, in words."""
        some = "a multiple of " if self.of_inputs and self.count == 1 else ""
        return f"a weight with {some}{self.count * self.size} {'inputs' if self.of_inputs else 'outputs'}"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the weight as far as it is known; 0 where it is not."""
        if not self.of_inputs:
            return self.count * self.size, 0
        return 0, 0 if self.count == 1 else self.count * self.size


def is_oft(parts: Iterable[Part]) -> bool:
    """Whether these are parts of an OFT layer."""
    return any(part.startswith("oft_") or part in ("rescale", "scaled_oft") for part in parts)


def rotated_by(shapes: Mapping[Part, tuple[int, ...]]) -> Rotated:
    """What a layer rotates; raises KeyError naming a missing part, ValueError if the tensors do not fit together."""
    if "oft_R" in shapes:
        count, numbers = shapes["oft_R"]
        size = (1 + math.isqrt(1 + 8 * numbers)) // 2
        if size * (size - 1) // 2 != numbers or shapes.keys() - {"oft_R", "scaled_oft"}:
            raise ValueError(numbers)
        return Rotated(of_inputs=True, count=count, size=size)
    count, size, others = shapes["oft_diag" if "oft_diag" in shapes else "oft_blocks"]
    allowed = {"oft_diag"} if "oft_diag" in shapes else {"oft_blocks", "rescale"}
    if size != others or shapes.keys() - allowed or math.prod(shapes.get("rescale", (count * size,))) != count * size:
        raise ValueError(shapes)
    return Rotated(of_inputs=False, count=count, size=size)
